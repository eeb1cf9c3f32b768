/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on the time axis. PURE: from the events of the API, post-mortems, and the rows themselves. */
import { bytes } from './format.js';
import { link } from './router.js';

const limitText = (n) => (n === null ? 'none' : bytes(n));
const TEXT = {
	'jvm-start': () => 'the JVM started',
	'jvm-end': () => 'the JVM ended',
	limit: (value, before) => `limit ${limitText(before)} → ${limitText(value)}`,
	restart: (value) => `the job restarted${value === null ? '' : `, ${value} in all`}`,
	'agent-start': () => 'the agent started',
	'agent-lost': () => 'the agent was lost',
	'agent-bye': () => 'the agent said bye',
	'oom-kill': (value) => `OOM kill${value === null ? '' : `, oom_kill is ${value}`}`,
};

/* Checkpoints come as two edges, the second with its duration; one that runs reaches to the end of the range. */
function checkpoints(events, range)
{
	const ended = events.filter((event) => event.kind === 'checkpoint-end').map(({ at_ms, value }) => ({ at: at_ms - (value ?? 0), to: at_ms }));
	const last = events.findLast((event) => event.kind.startsWith('checkpoint'));
	if (last?.kind === 'checkpoint-start')
		ended.push({ at: last.at_ms, to: range.to });
	return ended.map((bar) => ({ ...bar, kind: 'checkpoint', label: 'checkpoint' }));
}

/* events: null where the collector does not tell them; resizes are seen in the rows all the same. */
export function marksOf({ events, postmortems, rows, range })
{
	const sorted = [...(events ?? [])].sort((a, b) => a.at_ms - b.at_ms);
	const marks = checkpoints(sorted, range);
	for (const { kind, at_ms, value = null, before = null } of sorted)
		if (TEXT[kind])
			marks.push({ at: at_ms, kind, label: TEXT[kind](value, before) });
	if (!sorted.some((event) => event.kind === 'limit'))
		rows.forEach(({ at, limit }, i) => {
			const before = rows[i - 1]?.limit ?? null;
			if (before !== null && limit !== null && before !== limit)
				marks.push({ at, kind: 'limit', label: TEXT.limit(limit, before) });
		});
	for (const post of postmortems)
		if (post.died_ms !== null)
			marks.push({ at: post.died_ms, kind: 'postmortem', label: post.title ?? `died: ${post.cause}`, href: link(`postmortems/${post.id}`) });
	return marks.filter((mark) => (mark.to ?? mark.at) >= range.from && mark.at <= range.to);
}
