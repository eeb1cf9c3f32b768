/* SPDX-License-Identifier: Apache-2.0 */
/* The top of a pod's page: who it is, the one thing to act on, and the figures that say how near the end is. */
import { h, name, prose, s } from './dom.js';
import { ago, bytes, duration, LEVELS, percentBp, timeToLimit } from './format.js';
import { link } from './router.js';
import { gravestFirst, severityMark } from './severity.js';
import { changeBlock, dueFirst, ownerMark, rulePage, silenceButton, silencedNote } from './finding_view.js';
import { crumbs, dim, head, known, note, tile } from './parts.js';
import { stamp, when } from './time.js';

/* As docs/live.md has it: gone without a connection; stale when nothing was heard for three intervals and half a minute. */
export function podState(pod, age)
{
	return !pod.connected ? 'gone' : pod.sample && age > Math.max(30000, 3 * (pod.sample.interval_ms ?? 10000)) ? 'stale' : 'connected';
}

export function podHeader(pod, age)
{
	const { subject } = pod;
	const state = podState(pod, age);
	return head(crumbs(subject, [subject.workload ?? 'no workload', pod.workload_id && link(`workloads/${pod.workload_id}`)]), name(subject.pod ?? pod.agent_id, 80),
		h('span', { class: `badge state-${state}` }, state, state === 'gone' && pod.said_bye ? ', it said bye' : '', state === 'connected' ? '' : `, last heard ${age === null ? stamp(pod.since_ms) : ago(age)}`),
		[subject.role, pod.engine_version, pod.jdk && `JDK ${pod.jdk}`, subject.node, ...subject.jobs].filter(Boolean).map((text) => name(text, 40)));
}

/* What, by when, what to change: the gravest that nobody silenced, and the cause it names. wholes: Map(id, item). */
export function podHeadline(ctx, pod, wholes, state, done)
{
	const open = gravestFirst(pod.findings);
	const first = open[0];
	const forecast = pod.sample?.forecast;
	if (!first)
		return h('section', { class: `act edge-${state === 'connected' ? 'ok' : 'warning'}`, aria: { label: 'What to do' } }, h('p', { class: 'act-title' },
			state === 'connected' ? severityMark(null, { none: pod.sample ? 'No finding is open' : 'No sample yet' }) : 'Nobody watches this pod now: what stands below is of when it was last heard.'),
		state === 'connected' || pod.said_bye ? null : note('It went without a word. If the pod still runs, look at its agent; if not, its end may have a post-mortem.'));
	const root = wholes.get(first.id)?.finding?.root;
	const cause = root && open.find((finding) => finding.rule === root);
	const whole = dueFirst(wholes.get(first.id)?.finding, wholes.get(cause?.id)?.finding);
	return h('section', { class: `act edge-${first.severity}`, aria: { label: 'What to do' } },
		h('p', { class: 'act-title' }, severityMark(first.severity), ' ', h('a', { href: link(`findings/${first.id}`) }, prose(first.title))),
		silencedNote(first.silenced),
		cause ? h('p', null, 'Because: ', h('a', { href: link(`findings/${cause.id}`) }, prose(cause.title))) : null,
		state === 'connected' && forecast?.kind === 'reaches' ? h('p', null, h('strong', null, `The limit is reached in ${timeToLimit(forecast.likely_s, forecast.earliest_s, forecast.latest_s)}`),
			forecast.owner ? [', by the growth of ', ownerMark(forecast.owner)] : null, '.') : null,
		whole ? changeBlock(whole, pod.subject) : null,
		h('p', { class: 'actions' }, silenceButton(ctx, pod.subject, first, done), dim('rule ', rulePage(first.rule)), dim('since ', when(first.opened_ms))));
}

const OUTLOOKS = { inconclusive: ['not known yet', 'too few samples: in the first 15 minutes of a JVM only what fills the room soon is told'], 'not-growing': ['not in sight', 'the floor does not grow'], decelerating: ['not in sight', 'the growth slows down'] };

function timeTile({ forecast })
{
	if (!forecast)
		return tile('Time to limit', null, 'no forecast was made');
	const [text, meaning] = OUTLOOKS[forecast.kind] ?? [];
	const { likely_s: likely, earliest_s: earliest, latest_s: latest } = forecast;
	const range = earliest === null && latest === null ? '' : `${earliest === null ? 'now' : duration(earliest)} to ${latest === null ? 'beyond a month' : duration(latest)}`;
	return tile('Time to limit', text ?? (likely === null ? 'beyond a month' : duration(likely)), meaning ?? range);
}

/* The limit as a bar: what cannot be reclaimed, what can, and what is free. */
function gauge({ limit_bytes: limit, floor_bytes: floor, charge_bytes: charge })
{
	if (!limit || floor === null)
		return null;
	const most = Math.max(limit, charge ?? 0, floor), x = (n) => n / most * 1000;
	const part = (kind, n) => s('rect', { class: `gauge-${kind}`, y: 3, width: x(n), height: 16 });
	return h('div', { class: 'gauge' }, s('svg', { viewBox: '0 0 1000 22', preserveAspectRatio: 'none', role: 'img',
		aria: { label: `floor ${bytes(floor)}, charge ${bytes(charge)}, limit ${bytes(limit)}` } }, part('free', limit), part('charge', charge ?? floor), part('floor', floor),
	s('line', { class: 'gauge-limit', x1: x(limit), x2: x(limit), y1: 0, y2: 22 })),
	note([['floor', 'floor: cannot be reclaimed'], ['charge', 'reclaimable'], ['free', 'free'], ['limit', 'limit']].map(([kind, text]) => h('span', { class: `key-${kind}` }, text))));
}

export function podFigures({ sample })
{
	if (!sample)
		return note('The agent has sent no sample yet. It does within its interval, once it has found its JVM.');
	const share = (n) => (known(n) && sample.limit_bytes ? `${(n / sample.limit_bytes * 100).toFixed(1)} % of the limit` : '');
	const { limit_bytes: limit, floor_bytes: floor, charge_bytes: charge, expected_bytes: expected } = sample;
	return h('section', { aria: { label: 'Figures' } }, h('dl', { class: 'figure-tiles' },
		tile('Freeboard', sample.freeboard_bytes, sample.freeboard_bp === null ? '' : `${percentBp(sample.freeboard_bp)} `, LEVELS[sample.freeboard_level ?? 'unread']),
		timeTile(sample), tile('Floor', floor, share(floor)), tile('Charge', charge, share(charge)),
		tile('Limit', sample.no_limit ? 'none' : limit, sample.limit_told ? 'as told, not read from the cgroup' : 'memory.max'),
		tile('Expected demand', expected, share(expected))), gauge(sample));
}
