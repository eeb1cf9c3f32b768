/* SPDX-License-Identifier: Apache-2.0 */
/* A death: why, who grew, what was known before, and what would have been enough. What is not known is said. */
import { get } from './api.js';
import { h, name, prose, replace, visible } from './dom.js';
import { bytes, count, plural } from './format.js';
import { link } from './router.js';
import { failure, loading } from './states.js';
import { stacked } from './chart.js';
import { copyButton, ownerMark } from './finding_view.js';
import { crumbs } from './pod_head.js';
import { card, ledgerTable } from './pod_tables.js';
import { changedTable, deepReading, eventsTable, foretold, grownTable, lastSeen, life, openThen, timelineOf } from './postmortem_parts.js';
import { model } from './series.js';
import { look } from './owners.js';
import { setUtc, stamp, when, zone } from './time.js';
import { CAUSES } from './workload_parts.js';

const known = (n) => n !== null && n !== undefined;
const REFRESH_MS = 3000;

function ordinal(n)
{
	const tens = n % 100, ones = n % 10;
	return `${count(n)}${tens > 10 && tens < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][ones] ?? 'th'}`;
}

function verdict(item, body)
{
	const grown = body.growth?.owners?.[0];
	return h('section', { class: 'act edge-critical', aria: { label: 'Verdict' } },
		h('p', { class: 'act-title' }, CAUSES[item.cause] ?? name(item.cause, 32), known(body.confidence_pct) && body.confidence_pct > 0 ? h('span', { class: 'muted' }, `, ${body.confidence_pct} % sure`) : null),
		item.inferred ? h('p', null, h('span', { class: 'badge' }, 'inferred'), ' No agent wrote this. The collector did, from what it held: the stream ended near the limit, and nothing came of it afterwards.') : null,
		body.why ? h('p', null, prose(body.why), '.') : null,
		item.owner ? h('p', null, h('strong', null, 'Grew most: '), ownerMark(item.owner), grown && grown.owner === item.owner ? ` by ${bytes(grown.grown_bytes)}, to ${bytes(grown.to_bytes)}` : null, '.') :
			h('p', { class: 'muted' }, 'Who grew is not known.'),
		known(body.deaths) ? h('p', null, `The ${ordinal(body.deaths)} death of this workload that its agent has seen`, known(body.deaths_same_owner) ? `, the ${ordinal(body.deaths_same_owner)} with this cause and owner` : '', '.') : null,
		known(body.missing) ? h('p', { class: 'muted' }, 'What would have made it certain: ', prose(body.missing), '.') : null,
		body.access ? h('p', { class: 'muted' }, 'What the agent could not see: ', prose(body.access), '.') : null);
}

/* The change is that of the findings; the figure here is what the limit would have had to be. */
function whatToChange(item, body)
{
	return card('What to change',
		known(body.survivable_limit_bytes) ? h('p', null, 'A limit of ', h('strong', null, bytes(body.survivable_limit_bytes)), ' would have been enough: the highest floor seen, its spike at checkpoints, and 5 %. It buys time, where something leaks.') :
			h('p', { class: 'muted' }, 'Which limit would have been enough is not known.'),
		h('h3', null, 'Open when it died'), openThen(body.findings));
}

function composition(item, body)
{
	if (body.composition)
		return ledgerTable(body.composition.lines.map((line) => ({ group: look(line.owner).group, ...line })), { residual: body.composition.residual_bytes, charge: null, budgets: null, age: body.composition.age_ms });
	if (body.owners)
		return ledgerTable(Object.entries(body.owners).map(([owner, n]) => ({ owner, group: look(owner).group, bytes: n, state: null })), { residual: known(body.charge_bytes) ? body.charge_bytes - Object.values(body.owners).reduce((sum, n) => sum + n, 0) : null, charge: null, budgets: null, age: null });
	return h('p', { class: 'muted' }, 'None was known: no scan of this process had been made.');
}

function postText(item, body)
{
	const { subject } = item;
	const lines = [`[death] ${visible(item.title ?? item.cause)}`, [subject.cluster, subject.namespace, subject.workload, subject.pod].filter(Boolean).map(visible).join(' / '),
		`died ${stamp(item.died_ms, { whole: true })} ${zone(item.died_ms)}`, '', `${CAUSES[item.cause] ?? visible(item.cause)}${item.inferred ? ' (inferred by the collector)' : ''}${body.why ? `: ${visible(body.why)}` : ''}`];
	for (const row of body.growth?.owners ?? [])
		lines.push(`- ${visible(row.owner)}: ${bytes(row.from_bytes)} -> ${bytes(row.to_bytes)}`);
	lines.push(`limit ${bytes(body.limit_bytes)}, charge ${bytes(body.charge_bytes)}, floor ${bytes(body.floor_bytes)}`);
	if (known(body.survivable_limit_bytes))
		lines.push(`a limit of ${bytes(body.survivable_limit_bytes)} would have been enough`);
	lines.push(location.href);
	return lines.join('\n') + '\n';
}

function paint(ctx, root, item, drawn)
{
	const { subject } = item;
	const body = item.bodies[0] ?? {};
	ctx.setTitle(item.title ?? 'Post-mortem');
	const range = drawn.series.points.length ? { from: drawn.series.points[0].received_ms, to: Math.max(drawn.series.points.at(-1).received_ms, item.died_ms ?? 0) + 5000 } : null;
	replace(root, h('div', { class: 'page-head' },
		crumbs(subject, [subject.workload, null], [subject.pod ?? 'pod', link(`pods/${item.pod}`, range ? { from: range.from - 600000, to: range.to + 600000 } : {})]),
		h('h1', null, prose(item.title ?? `A death: ${item.cause}`)),
		h('p', { class: 'facts' }, item.inferred ? h('span', { class: 'badge' }, 'inferred') : null, h('span', null, 'died ', when(item.died_ms), h('span', { class: 'muted' }, ` ${zone(item.died_ms ?? Date.now())}, by the agent's clock`)),
			known(item.pid) ? h('span', null, `pid ${item.pid}`) : null, subject.node ? h('span', null, 'on ', name(subject.node, 40)) : null),
		item.whole ? null : h('p', { class: 'problem' }, `${item.parts_here} of ${plural(item.parts, 'part')} ${item.parts_here === 1 ? 'has' : 'have'} arrived. What is below is of those; the page looks for the rest.`)),
	item.bodies[0] ? verdict(item, body) : h('section', { class: 'act edge-critical' }, h('p', { class: 'act-title' }, CAUSES[item.cause] ?? name(item.cause, 32)),
		h('p', { class: 'muted' }, 'The part that holds the verdict is not here.')),
	h('p', { class: 'actions' }, copyButton(ctx, () => postText(item, body))),
	card('The last minutes', range ? drawn.place : h('p', { class: 'muted' }, 'No timeline: it comes in parts of its own, and none is here. The pod\'s chart may have more.')),
	h('div', { class: 'columns' }, h('div', { class: 'column wide' }, card('Who grew', body.growth !== undefined || !item.inferred ? grownTable(body.growth) : h('p', { class: 'muted' }, 'The collector did not measure it; the chart shows what it held.')),
		card('Last known ledger', composition(item, body))),
	h('div', { class: 'column' }, whatToChange(item, body), card('Last seen', lastSeen(body)), item.inferred ? null : card('Events', eventsTable(body.events)),
		item.inferred ? null : card('What it was doing', foretold(body)), item.inferred ? null : card('What had changed', changedTable(body.changed)),
		item.inferred ? null : card('Deeper reading', deepReading(body.deep)), item.inferred ? null : card('This life', life(body)))));
	if (range)
		drawn.show(item, range);
}

export default {
	title: () => 'Post-mortem',
	mount(root, ctx)
	{
		const body = h('div', { class: 'page' }, loading('the post-mortem'));
		root.append(body);
		setUtc(ctx.params.get('utc') === '1');
		let chart = null, timer = 0;
		const drawn = {
			place: h('div'),
			series: { points: [], holes: [] },
			show(item, whole)
			{
				const built = model(drawn.series);
				const marks = item.died_ms ? [{ at: item.died_ms, kind: 'postmortem', label: item.title ?? 'death' }] : [];
				let range = whole;
				const update = () => chart.update({ model: built, marks, range });
				chart ??= stacked(drawn.place, { label: 'The last minutes by owner, against the limit',
					onRange: (from, to) => { range = { from, to }; update(); }, onReset: () => { range = whole; update(); } });
				update();
			},
		};
		async function load()
		{
			try {
				const item = await get(`/postmortems/${ctx.id}`, null, { signal: ctx.signal });
				drawn.series = timelineOf(item);
				chart?.destroy();
				chart = null;
				paint(ctx, body, item, drawn);
				if (!item.whole)
					timer = setTimeout(load, REFRESH_MS);
			} catch (error) {
				if (error.name !== 'AbortError')
					replace(body, failure(error, load));
			}
		}
		load();
		return {
			unmount()
			{
				clearTimeout(timer);
				chart?.destroy();
			},
		};
	},
};
