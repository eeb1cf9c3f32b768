/* SPDX-License-Identifier: Apache-2.0 */
/* The top of a pod's page: who it is, the one thing to act on, and the figures that say how near the end is. */
import { h, name, prose, s } from './dom.js';
import { ago, bytes, duration, LEVELS, percentBp, severityRank, timeToLimit } from './format.js';
import { link } from './router.js';
import { severityMark } from './severity.js';
import { changeBlock, ownerMark, rulePage, silenceButton, silencedNote } from './finding_view.js';
import { when } from './time.js';

/* As docs/live.md has it: gone without a connection; stale when nothing was heard for three intervals and half a minute. */
export function podState(pod, age)
{
	if (!pod.connected)
		return 'gone';
	return pod.sample && age > Math.max(30000, 3 * (pod.sample.interval_ms ?? 10000)) ? 'stale' : 'connected';
}

export function stateBadge(state, age, said_bye)
{
	const heard = state === 'connected' ? '' : age === null ? ', never heard' : `, last heard ${ago(age)}`;
	return h('span', { class: `badge state-${state}` }, state, state === 'gone' && said_bye ? ', it said bye' : '', heard);
}

/* Fleet / cluster / namespace / and what the caller adds: [text or null, href or null]. */
export function crumbs({ cluster, namespace }, ...more)
{
	const steps = [[cluster, null], [namespace, link('', { ns: namespace })], ...more].filter(([text]) => text !== null && text !== undefined);
	return h('nav', { class: 'crumbs', aria: { label: 'Where this is' } }, h('a', { href: link('') }, 'Fleet'),
		steps.map(([text, href]) => [' / ', href ? h('a', { href }, name(text, 48)) : name(text, 48)]));
}

export function podHeader(pod, age)
{
	const { subject } = pod;
	const facts = [subject.role, pod.engine_version, pod.jdk && ['JDK ', name(pod.jdk, 24)], subject.node && ['on ', name(subject.node, 40)],
		subject.jobs.length ? ['job ', subject.jobs.map((job, i) => [i ? ', ' : null, name(job, 40)])] : null].filter(Boolean);
	return h('div', { class: 'page-head' }, crumbs(subject, [subject.workload ?? 'no workload', link(`workloads/${pod.workload_id}`)]),
		h('h1', null, name(subject.pod ?? pod.agent_id, 80)),
		h('p', { class: 'facts' }, stateBadge(podState(pod, age), age, pod.said_bye), facts.map((fact) => h('span', null, typeof fact === 'string' ? name(fact, 40) : fact))));
}

/* The gravest that nobody silenced, and the cause it names if that is open too. wholes: Map(id, item). */
export function chooseFinding(pod, wholes)
{
	const open = [...pod.findings].sort((a, b) => !!a.silenced - !!b.silenced || severityRank(a.severity) - severityRank(b.severity));
	const first = open[0] ?? null;
	const root = first && wholes.get(first.id)?.finding?.root;
	return { first, cause: (root && open.find((finding) => finding.rule === root)) || null };
}

/* What, by when, what to change. */
export function podHeadline(ctx, pod, wholes, state)
{
	const { first, cause } = chooseFinding(pod, wholes);
	const forecast = pod.sample?.forecast;
	const reaches = forecast?.kind === 'reaches';
	if (!first) {
		return h('section', { class: 'act edge-ok', aria: { label: 'What to do' } }, h('p', { class: 'act-title' },
			severityMark(null, { none: pod.sample ? 'No finding is open' : 'No sample yet' })),
		h('p', { class: 'muted' }, state === 'connected' ? 'The rules were asked at the last tick.' : 'As of when it was last heard of.'));
	}
	const whole = wholes.get(cause?.id ?? first.id)?.finding ?? wholes.get(first.id)?.finding;
	const { subject } = pod;
	return h('section', { class: `act edge-${first.severity}`, aria: { label: 'What to do' } },
		h('p', { class: 'act-title' }, severityMark(first.severity), ' ', h('a', { href: link(`findings/${first.id}`) }, prose(first.title))),
		silencedNote(first.silenced),
		cause && cause !== first ? h('p', null, 'Because: ', h('a', { href: link(`findings/${cause.id}`) }, prose(cause.title))) : null,
		reaches ? h('p', null, h('strong', null, `The limit is reached in ${timeToLimit(forecast.likely_s, forecast.earliest_s, forecast.latest_s)}`),
			forecast.owner ? [', by the growth of ', ownerMark(forecast.owner)] : null, '.') : null,
		whole ? changeBlock(whole) : h('p', { class: 'muted' }, 'Loading what to change …'),
		h('p', { class: 'actions' }, silenceButton(ctx, { cluster: subject.cluster, namespace: subject.namespace, workload: subject.workload, rule: first.rule }),
			h('span', { class: 'muted' }, 'rule ', rulePage(first.rule)), h('span', { class: 'muted' }, 'since ', when(first.opened_ms))));
}

export function tile(title, value, ...note)
{
	return h('div', { class: 'figure-tile' }, h('dt', null, title), h('dd', { class: value === 'unread' ? 'unread' : null }, value), h('dd', { class: 'figure-note muted' }, note));
}

const KINDS = {
	inconclusive: 'too few samples to say', 'not-growing': 'the floor does not grow', decelerating: 'the growth slows down', reaches: '',
};

function timeTile(sample)
{
	const forecast = sample.forecast;
	if (!forecast)
		return tile('Time to limit', 'unread', 'no forecast was made');
	if (forecast.kind !== 'reaches')
		return tile('Time to limit', forecast.kind === 'inconclusive' ? 'inconclusive' : 'not in sight', KINDS[forecast.kind] ?? name(forecast.kind, 40));
	const range = [forecast.earliest_s, forecast.latest_s].map((n) => (n === null ? 'beyond a month' : duration(n)));
	return tile('Time to limit', forecast.likely_s === null ? 'beyond a month' : duration(forecast.likely_s), `${range[0]} to ${range[1]}`);
}

/* The limit as a bar: what cannot be reclaimed, what can, and what is free. */
function gauge(sample)
{
	const { limit_bytes: limit, floor_bytes: floor, charge_bytes: charge } = sample;
	if (!limit || floor === null)
		return null;
	const most = Math.max(limit, charge ?? 0, floor), x = (n) => (n / most * 1000).toFixed(1);
	return h('div', { class: 'gauge' }, s('svg', { viewBox: '0 0 1000 22', preserveAspectRatio: 'none', role: 'img',
		aria: { label: `floor ${bytes(floor)}, charge ${bytes(charge)}, limit ${bytes(limit)}` } },
	s('rect', { class: 'gauge-ground', x: 0, y: 3, width: x(limit), height: 16 }),
	s('rect', { class: 'gauge-charge', x: 0, y: 3, width: x(charge ?? floor), height: 16 }),
	s('rect', { class: 'gauge-floor', x: 0, y: 3, width: x(floor), height: 16 }),
	s('line', { class: 'gauge-limit', x1: x(limit), x2: x(limit), y1: 0, y2: 22 })),
	h('p', { class: 'gauge-key muted' }, h('span', { class: 'key-floor' }, 'floor: cannot be reclaimed'), h('span', { class: 'key-charge' }, 'reclaimable'),
		h('span', { class: 'key-free' }, 'free'), h('span', { class: 'key-limit' }, 'limit')));
}

export function podFigures(pod)
{
	const sample = pod.sample;
	if (!sample)
		return h('section', { class: 'card' }, h('p', null, 'The agent has sent no sample yet. It does within its interval, once it has found its JVM.'));
	const share = (n) => (n !== null && sample.limit_bytes ? `${(n / sample.limit_bytes * 100).toFixed(1)} % of the limit` : '');
	return h('section', { aria: { label: 'Figures' } },
		h('dl', { class: 'figure-tiles' },
			tile('Freeboard', bytes(sample.freeboard_bytes), sample.freeboard_bp === null ? '' : percentBp(sample.freeboard_bp), ' ',
				LEVELS[sample.freeboard_level ?? 'unread']),
			timeTile(sample),
			tile('Floor', bytes(sample.floor_bytes), share(sample.floor_bytes)),
			tile('Charge', bytes(sample.charge_bytes), share(sample.charge_bytes)),
			tile('Limit', sample.limit_bytes === null ? 'none or unread' : bytes(sample.limit_bytes), sample.limit_told ? 'as told, not read from the cgroup' : 'memory.max'),
			tile('Expected demand', bytes(sample.expected_bytes), share(sample.expected_bytes))),
		gauge(sample));
}
