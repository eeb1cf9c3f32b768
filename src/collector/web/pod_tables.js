/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a pod's page: the books, budgets against what is there, context, events, gaps, and the agent itself. */
import { h, name, prose, s } from './dom.js';
import { ago, bytes, count, duration, percentBp, signedBytes } from './format.js';
import { markLook } from './chart_draw.js';
import { byRank, label, look, REST, swatch } from './owners.js';
import { stamp, when, zone } from './time.js';

const known = (n) => n !== null && n !== undefined;

export function cell(n, text = bytes(n), absent = '')
{
	return n === undefined ? h('td', { class: 'n muted' }, absent) : h('td', { class: known(n) ? 'n' : 'n unread' }, text);
}

export function card(title, ...content)
{
	return h('section', { class: 'card' }, h('h2', null, title), content);
}

export function figures(heads, rows, caption)
{
	return h('div', { class: 'scroll' }, h('table', { class: 'figures' }, caption ? h('caption', { class: 'unseen' }, caption) : null,
		h('thead', null, h('tr', null, heads.map((text, i) => h('th', { scope: 'col', class: i && text !== 'state' ? 'n' : null }, text)))), h('tbody', null, rows)));
}

/* --- the ledger --------------------------------------------------------------------------- */

/* A bar as long as the bytes, with a stroke at what bounds it and one at what was set aside. */
function bar(id, n, { bound, budget, most })
{
	if (!known(n) || !most)
		return null;
	const x = (v) => Math.min(100, v / most * 100).toFixed(2);
	const tick = (v, kind) => (known(v) && v <= most ? s('line', { class: `tick-${kind}`, x1: x(v), x2: x(v), y1: 0, y2: 12 }) : null);
	return s('svg', { class: 'owner-bar', viewBox: '0 0 100 12', preserveAspectRatio: 'none', aria: { hidden: 'true' } },
		s('rect', { x: 0, y: 2, width: x(n), height: 8, style: { fill: `var(--owner-${look(id).paint})` } }), tick(bound, 'bound'), tick(budget, 'budget'));
}

function ledgerRow(row, whole, most)
{
	const unread = !known(row.bytes);
	return h('tr', null,
		h('th', { scope: 'row' }, h('span', { class: 'owner' }, swatch(row.owner), ' ', name(label(row.owner), 40)), ' ', h('span', { class: 'muted' }, row.group ?? '')),
		h('td', { class: 'owner-bar-cell' }, bar(row.owner, row.bytes, { bound: row.bound_bytes, budget: row.budget_bytes, most })),
		cell(row.bytes), h('td', { class: 'n muted' }, unread || !whole ? '' : `${(row.bytes / whole * 100).toFixed(1)} %`),
		cell(row.bound_bytes ?? undefined, undefined, '–'), cell(row.claim_bytes ?? undefined, undefined, '–'), cell(row.budget_bytes ?? undefined, undefined, '–'),
		h('td', { class: row.state === 'measured' ? 'muted' : row.state === 'unread' ? 'unread' : null }, row.state ?? ''));
}

/*
 * rows: {owner, group, bytes, state, bound_bytes?, claim_bytes?, budget_bytes?}. The sum closes against the charge of
 * the moment of the scan; what has moved since is a line of its own, and so the last line is what the tile says.
 */
export function ledgerTable(rows, { residual, charge, budgets, age })
{
	if (!rows?.length)
		return h('p', { class: 'muted' }, 'No composition of the present process yet: it comes with the first scan of the mappings. What the kernel counts is in the chart.');
	const own = new Map();
	for (const budget of budgets ?? [])
		if (budget.owners?.length === 1)
			own.set(budget.owners[0], budget.bytes);
	const lines = rows.filter((row) => row.bytes !== 0 || row.state === 'unread').map((row) => ({ budget_bytes: own.get(row.owner), ...row }))
		.sort((a, b) => byRank(a.owner, b.owner));
	const zeros = rows.length - lines.length;
	const sum = lines.reduce((total, row) => total + (row.bytes ?? 0), 0);
	const then = known(residual) ? sum + residual : null;
	const most = Math.max(...lines.map((row) => row.bytes ?? 0));
	const total = (title, n, text, ...more) => h('tr', { class: 'total' }, h('th', { scope: 'row', colspan: 2 }, title), cell(n, text), h('td', { class: 'n muted' },
		known(n) && then ? `${(n / then * 100).toFixed(1)} %` : ''), h('td', { colspan: 4, class: 'muted' }, more));
	return h('div', null, figures(['owner', '', 'bytes', 'share', 'bound', 'claim', 'budget', 'state'], [
		lines.map((row) => ledgerRow(row, then ?? sum, most)),
		total('owners', sum, undefined, zeros ? `${zeros} more hold nothing` : ''),
		total(REST, residual, signedBytes(residual), 'charge less all owners; signed, never clamped'),
		total('charge at the scan', then, undefined, age === null ? '' : `${ago(age)}`),
		known(charge) && known(then) ? [total('moved since', charge - then, signedBytes(charge - then)), total('charge now', charge)] : null], 'Ledger'),
	h('p', { class: 'muted legend' }, s('svg', { class: 'key', viewBox: '0 0 6 12' }, s('line', { class: 'tick-bound', x1: 3, x2: 3, y1: 0, y2: 12 })), ' bound: it cannot grow past it  ',
		s('svg', { class: 'key', viewBox: '0 0 6 12' }, s('line', { class: 'tick-budget', x1: 3, x2: 3, y1: 0, y2: 12 })), ' budget: set aside by the configuration. ',
		'Claims are what the engine says of itself and may hold reservations.'));
}

/* --- budgets ------------------------------------------------------------------------------ */
export function budgetTable(budgets, ledger)
{
	if (!budgets)
		return h('p', { class: 'muted' }, 'Not known: this agent or collector does not tell budgets.');
	if (!budgets.length)
		return h('p', { class: 'muted' }, 'No configuration was read: there is nothing to hold against. The agent reads Flink\'s from its own command line and configuration file.');
	const most = Math.max(...budgets.map((row) => Math.max(row.bytes ?? 0, row.used_bytes ?? 0)), 1);
	const x = (n) => (n / most * 1000).toFixed(1);
	const of = new Map((ledger ?? []).map((row) => [row.owner, row.bytes]));
	return h('ul', { class: 'budgets' }, budgets.map((row) => {
		const over = known(row.used_bytes) && row.used_bytes > row.bytes;
		let at = 0;
		const parts = known(row.used_bytes) ? (row.owners ?? []).filter((owner) => of.get(owner)).map((owner) => {
			const from = at;
			at += of.get(owner);
			return s('rect', { x: x(from), y: 5, width: x(of.get(owner)), height: 14, style: { fill: `var(--owner-${look(owner).paint})` } }, s('title', null, `${owner} ${bytes(of.get(owner))}`));
		}) : [];
		if (known(row.used_bytes) && !parts.length)
			parts.push(s('rect', { class: 'budget-used', x: 0, y: 5, width: x(row.used_bytes), height: 14 }));
		return h('li', { class: over ? 'over' : null },
			h('p', null, h('strong', null, name(row.budget, 32)), ' ', h('span', { class: known(row.used_bytes) ? null : 'unread' }, bytes(row.used_bytes)), ` of ${bytes(row.bytes)}`,
				over ? h('span', { class: 'sev sev-warning' }, ` ▲ ${bytes(row.used_bytes - row.bytes)} over`) : null),
			s('svg', { class: 'budget-bar', viewBox: '0 0 1000 24', preserveAspectRatio: 'none', role: 'img', aria: { label: `${row.budget}: ${bytes(row.used_bytes)} of ${bytes(row.bytes)}` } },
				s('rect', { class: 'budget-room', x: 0, y: 5, width: x(row.bytes), height: 14 }), parts,
				s('line', { class: 'tick-budget', x1: x(row.bytes), x2: x(row.bytes), y1: 0, y2: 24 })),
			row.owners?.length ? h('p', { class: 'muted owners' }, row.owners.map((owner) => [swatch(owner), ' ', label(owner), of.has(owner) ? ` ${bytes(of.get(owner))}` : '', '  '])) : null);
	}));
}

/* --- facts -------------------------------------------------------------------------------- */
export function facts(rows)
{
	return h('dl', { class: 'facts-list' }, rows.filter(([, value]) => value !== undefined).map(([title, value]) => [h('dt', null, title),
		h('dd', { class: value === null ? 'unread' : null }, value ?? 'unread')]));
}

const yes = (flag) => (flag === null || flag === undefined ? null : flag ? 'yes' : 'no');

export function contextFacts(context)
{
	return facts([['job state', context.job_state === null ? null : name(context.job_state, 40)], ['checkpoint running', yes(context.checkpointing)],
		['restore running', yes(context.restoring)], ['rebalance running', yes(context.rebalancing)],
		['backpressured at most', known(context.backpressured_bp) ? percentBp(context.backpressured_bp) : null],
		['busy at most', known(context.busy_bp) ? percentBp(context.busy_bp) : null],
		['records behind, at most', known(context.records_lag_max) ? count(context.records_lag_max) : null],
		['restarts of the job', known(context.restarts) ? count(context.restarts) : null]]);
}

const ACCESS = { none: 'none: no process was found or it may not be read', status: 'status: sizes, but no mappings', process: 'process: mappings, but no JVM', full: 'full' };

export function agentFacts(pod, age)
{
	const offset = pod.clock_offset_ms;
	const suspect = offset !== null && Math.abs(offset) > 30000;
	return facts([['agent', name(pod.agent_version, 32)], ['identity', name(pod.agent_id, 64)], ['access', pod.sample ? ACCESS[pod.sample.access] ?? null : null],
		['heard', ago(age)], [pod.connected ? 'connected since' : 'not connected since', pod.since_ms === null ? null : when(pod.since_ms)],
		['clock', offset === null ? null : suspect ? h('strong', { class: 'sev-warning' }, `${duration(Math.abs(offset) / 1000)} ${offset > 0 ? 'behind' : 'ahead'}: its times are suspect`) :
			`${count(offset)} ms off`],
		['process', pod.sample ? (pod.sample.pid === null ? 'none now' : `pid ${pod.sample.pid}`) : null],
		['container', name(pod.subject.container, 48)], ['pod uid', pod.subject.pod_uid === null ? null : name(pod.subject.pod_uid, 48)],
		...Object.entries(pod.subject.labels).map(([key, value]) => [name(key, 40), name(value, 40)])]);
}

export function pressureFacts(sample)
{
	const { events } = sample;
	return facts([['memory.events max', known(events.max) ? count(events.max) : null], ['oom', known(events.oom) ? count(events.oom) : null],
		['oom_kill', known(events.oom_kill) ? count(events.oom_kill) : null], ['high', known(events.high) ? count(events.high) : null],
		['pressure, some', known(sample.pressure_some_avg10_bp) ? percentBp(sample.pressure_some_avg10_bp) : null],
		['pressure, full', known(sample.pressure_full_avg10_bp) ? percentBp(sample.pressure_full_avg10_bp) : null],
		['swap', known(sample.swap_bytes) ? bytes(sample.swap_bytes) : null]]);
}

export function marksList(marks)
{
	const shown = marks.filter((mark) => mark.kind !== 'checkpoint').sort((a, b) => b.at - a.at);
	const checkpoints = marks.length - shown.length;
	return h('div', null, shown.length ? h('ol', { class: 'events', reversed: true }, shown.slice(0, 50).map((mark) => h('li', null,
		h('time', { class: 'muted' }, `${stamp(mark.at)} `), markLook(mark.kind).sign ?? '', ' ', mark.href ? h('a', { href: mark.href }, prose(mark.label)) : prose(mark.label ?? markLook(mark.kind).text)))) :
		h('p', { class: 'muted' }, 'No restart, resize or death in this range.'),
	shown.length > 50 ? h('p', { class: 'muted' }, `and ${shown.length - 50} before`) : null,
	checkpoints ? h('p', { class: 'muted' }, `${count(checkpoints)} checkpoints, as bars above the chart.`) : null);
}

export function holesList(holes)
{
	return holes.length ? h('ol', { class: 'events' }, [...holes].reverse().slice(0, 30).map((hole) => h('li', null, `${stamp(hole.from)} to ${stamp(hole.to)} ${zone(hole.from)}, ${duration((hole.to - hole.from) / 1000)}: `,
		hole.reason ? ['declared by the agent, ', prose(hole.reason)] : h('span', { class: 'muted' }, 'nobody said why')))) :
		h('p', { class: 'muted' }, 'None seen in this range.');
}
