/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a pod's page: the books, budgets against what is there, and the facts around them. */
import { h, name, prose, s } from './dom.js';
import { ago, bytes, count, duration, percentBp, signedBytes } from './format.js';
import { markLook } from './chart_draw.js';
import { ownerMark } from './finding_view.js';
import { byRank, label, paintOf, REST, swatch } from './owners.js';
import { dim, facts, known, list, note, table } from './parts.js';
import { stamp, when } from './time.js';

function tick(kind, x)
{
	return s('line', { class: `tick-${kind}`, x1: x, x2: x, y1: 0, y2: 24 });
}

/* As long as the bytes are, with a stroke at what bounds them and one at what was set aside. */
function bar({ owner, bytes: n, bound_bytes: bound, budget_bytes: budget }, most)
{
	const at = (v, kind) => (known(v) && v <= most ? tick(kind, v / most * 100) : null);
	return known(n) && most ? s('svg', { class: 'owner-bar', viewBox: '0 0 100 24', preserveAspectRatio: 'none', aria: { hidden: true } },
		s('rect', { y: 4, width: n / most * 100, height: 16, style: { fill: paintOf(owner) } }), at(bound, 'bound'), at(budget, 'budget')) : '';
}

/*
 * rows: {owner, group, bytes, state, bound_bytes?, claim_bytes?, budget_bytes?}. The sum closes against the charge of
 * the moment of the scan; what has moved since is a line of its own, and so the last line is what the tile says.
 */
export function ledgerTable(rows, { residual, charge, budgets, age })
{
	if (!rows?.length)
		return note('No composition of the present process yet: it comes with the first scan of the mappings. What the kernel counts is in the chart.');
	const own = new Map((budgets ?? []).filter((budget) => budget.owners?.length === 1).map((budget) => [budget.owners[0], budget.bytes]));
	const lines = rows.filter((row) => row.bytes !== 0).map((row) => ({ budget_bytes: own.get(row.owner), ...row })).sort((a, b) => byRank(a.owner, b.owner));
	const sum = lines.reduce((total, row) => total + (row.bytes ?? 0), 0);
	const then = known(residual) ? sum + residual : null;
	const most = Math.max(...lines.map((row) => row.bytes ?? 0));
	const share = (n) => (known(n) && sum ? `${(n / (then ?? sum) * 100).toFixed(1)} %` : '');
	const zeros = rows.length - lines.length;
	const bold = (text) => h('strong', null, text);
	return [table(['owner', '!as a bar', '#bytes', '#share', '#bound', '#claim', '#budget', 'state'], [
		...lines.map((row) => [[ownerMark(row.owner), h('span', { class: 'muted group' }, ` ${row.group ?? ''}`)], bar(row, most), row.bytes ?? null, share(row.bytes), row.bound_bytes ?? (row.unbounded ? 'none' : '–'), row.claim_bytes ?? '–',
			row.budget_bytes ?? '–', row.state === 'measured' ? dim(row.state) : row.state]),
		[bold('owners'), '', bold(bytes(sum)), share(sum)],
		[bold(REST), '', known(residual) ? signedBytes(residual) : null, share(residual)],
		[[bold('charge at the scan'), age === null ? '' : dim(`, ${ago(age)}`)], '', then, share(then)],
		...(known(charge) && known(then) ? [[bold('moved since'), '', signedBytes(charge - then)], [bold('charge now'), '', charge]] : [])], 'Ledger'),
	note(s('svg', { class: 'key', viewBox: '0 0 6 24' }, tick('bound', 3)), ' bound: it cannot grow past it. ', s('svg', { class: 'key', viewBox: '0 0 6 24' }, tick('budget', 3)),
		' budget: set aside by the configuration. Claims are what the engine says of itself and may hold reservations. ', zeros ? `${zeros} more ${zeros > 1 ? 'owners hold' : 'owner holds'} nothing.` : '')];
}

/* A budget's bar is its owners, one beside the other, against what was set aside for them. */
export function budgetTable(budgets, ledger)
{
	if (!budgets?.length)
		return note(budgets ? 'No configuration was read, so there is nothing to hold against.' : 'Not known: agent or collector do not tell budgets.');
	const most = Math.max(...budgets.flatMap((row) => [row.bytes ?? 0, row.used_bytes ?? 0]), 1), x = (n) => n / most * 1000;
	const of = new Map((ledger ?? []).map((row) => [row.owner, row.bytes ?? 0]));
	const part = (from, n, props) => s('rect', { x: x(from), y: 5, width: x(n), height: 14, ...props });
	return budgets.map((row) => {
		const over = row.used_bytes > row.bytes;
		const owners = (row.owners ?? []).filter((owner) => of.get(owner));
		let at = 0;
		return h('div', { class: 'budget' }, h('p', null, h('strong', null, name(row.budget, 32)), ` ${bytes(row.used_bytes)} of ${bytes(row.bytes)}`,
			over ? h('span', { class: 'sev sev-warning' }, ` ▲ ${bytes(row.used_bytes - row.bytes)} over`) : null),
		s('svg', { class: 'budget-bar', viewBox: '0 0 1000 24', preserveAspectRatio: 'none', role: 'img', aria: { label: `${row.budget}: ${bytes(row.used_bytes)} of ${bytes(row.bytes)}` } },
			part(0, row.bytes ?? 0, { class: 'gauge-free' }), owners.map((owner) => part((at += of.get(owner)) - of.get(owner), of.get(owner), { style: { fill: paintOf(owner) } })),
			tick('budget', x(row.bytes ?? 0))),
		note(owners.map((owner) => [h('span', { class: 'owner' }, swatch(owner), ` ${label(owner)} ${bytes(of.get(owner))}`), ' \u2002'])));
	});
}

const counted = (n) => (known(n) ? count(n) : null);
const percent = (bp) => (known(bp) ? percentBp(bp) : null);
const yes = (flag) => (known(flag) ? (flag ? 'yes' : 'no') : null);

export function contextFacts(context)
{
	return context ? facts([['job state', known(context.job_state) ? name(context.job_state, 40) : null], ['checkpoint running', yes(context.checkpointing)],
		['restore running', yes(context.restoring)], ['rebalance running', yes(context.rebalancing)], ['backpressured at most', percent(context.backpressured_bp)],
		['busy at most', percent(context.busy_bp)], ['records behind', counted(context.records_lag_max)], ['restarts of the job', counted(context.restarts)]]) :
		note('What the engine was doing is not known.');
}

export function agentFacts(pod, age)
{
	const offset = pod.clock_offset_ms, { subject, sample } = pod;
	const text = (v, max = 48) => (known(v) ? name(v, max) : null);
	return facts([['agent', text(pod.agent_version)], ['identity', text(pod.agent_id, 64)], ['access', sample?.access ?? null], ['heard', ago(age)],
		[pod.connected ? 'connected since' : 'gone since', when(pod.since_ms)],
		['clock', offset === null ? null : Math.abs(offset) > 30000 ? h('strong', { class: 'sev-warning' }, `${duration(Math.abs(offset) / 1000)} ${offset > 0 ? 'behind' : 'ahead'}: its times are suspect`) : `${count(offset)} ms off`],
		['process', sample ? (sample.pid === null ? 'none now' : `pid ${sample.pid}`) : null], ['container', text(subject.container)], ['pod uid', text(subject.pod_uid)],
		...(subject.asserted ? [['pod and uid', h('span', { class: 'tag' }, 'asserted by an agent of its node')]] : []),
		...Object.entries(subject.labels).map(([key, v]) => [name(key, 40), name(v, 40)])]);
}

export function pressureFacts(sample)
{
	return facts([...['max', 'oom', 'oom_kill', 'high'].map((key) => [`memory.events ${key}`, counted(sample.events[key])]), ['pressure, some', percent(sample.pressure_some_avg10_bp)],
		['pressure, full', percent(sample.pressure_full_avg10_bp)], ['swap', sample.swap_bytes]]);
}

export function marksList(marks)
{
	const shown = marks.filter((mark) => mark.kind !== 'checkpoint').reverse();
	const checkpoints = marks.length - shown.length;
	return [shown.length ? list(shown.slice(0, 50).map((mark) => [dim(stamp(mark.at)), ' ', markLook(mark.kind).sign, ' ', mark.href ? h('a', { href: mark.href }, prose(mark.label)) : prose(mark.label)])) :
		note('No restart, resize or death in this range.'), checkpoints ? note(`${count(checkpoints)} checkpoints, as bars above the chart.`) : null];
}

export function holesList(holes)
{
	return holes.length ? list([...holes].reverse().slice(0, 30).map(({ from, to, reason }) => [`${stamp(from)} to ${stamp(to)}, ${duration((to - from) / 1000)}: `,
		reason ? ['declared by the agent, ', prose(reason)] : dim('nobody said why')])) : note('None seen in this range.');
}
