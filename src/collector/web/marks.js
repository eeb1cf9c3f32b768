/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on the time axis. PURE: from the events of the API, post-mortems, and the rows themselves. */
import { bytes } from './format.js';
import { link } from './router.js';

const TEXT = {
	'jvm-start': () => 'the JVM started',
	'jvm-end': () => 'the JVM ended',
	limit: (e) => `limit ${e.before === null ? '' : `${bytes(e.before)} → `}${bytes(e.value)}`,
	restart: (e) => (e.value === null ? 'the job restarted' : `restart ${e.value} of the job`),
	'agent-start': () => 'the agent started',
	'agent-lost': () => 'the agent was lost',
	'agent-bye': () => 'the agent said bye',
	'oom-kill': (e) => (e.value === null ? 'OOM kill' : `OOM kill (oom_kill is ${e.value})`),
};

/* Checkpoints come as two edges; one whose begin or end lies outside reaches to the edge of the range. */
function checkpoints(events, range)
{
	const bars = [];
	let begun = null;
	for (const event of events) {
		if (event.kind === 'checkpoint-start') {
			begun = event.at_ms;
		} else if (event.kind === 'checkpoint-end') {
			bars.push({ at: begun ?? range.from, to: event.at_ms, kind: 'checkpoint', label: 'checkpoint' });
			begun = null;
		}
	}
	if (begun !== null)
		bars.push({ at: begun, to: range.to, kind: 'checkpoint', label: 'checkpoint, running' });
	return bars;
}

function limitsOf(rows)
{
	const marks = [];
	for (let i = 1; i < rows.length; i++) {
		const before = rows[i - 1].limit, value = rows[i].limit;
		if (before !== null && value !== null && before !== value)
			marks.push({ at: rows[i].at, kind: 'limit', label: TEXT.limit({ before, value }) });
	}
	return marks;
}

/* events: null where the collector does not tell them; then resizes are still seen in the rows. */
export function marksOf({ events, postmortems, rows, range })
{
	const sorted = [...(events ?? [])].sort((a, b) => a.at_ms - b.at_ms);
	const marks = sorted.filter((event) => TEXT[event.kind]).map((event) => ({ at: event.at_ms, kind: event.kind,
		label: TEXT[event.kind]({ before: event.before ?? null, value: event.value ?? null }) }));
	marks.push(...checkpoints(sorted, range));
	if (!sorted.some((event) => event.kind === 'limit'))
		marks.push(...limitsOf(rows));
	for (const post of postmortems ?? [])
		if (post.died_ms !== null)
			marks.push({ at: post.died_ms, kind: 'postmortem', label: post.title ?? `died: ${post.cause}`, href: link(`postmortems/${post.id}`) });
	return marks.filter((mark) => (mark.to ?? mark.at) >= range.from && mark.at <= range.to);
}
