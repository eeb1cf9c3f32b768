/* SPDX-License-Identifier: Apache-2.0 */
/* A death: why, who grew, what was known before, and what would have been enough. What is not known is said. */
import { get } from './api.js';
import { h, name, prose, replace, visible } from './dom.js';
import { bytes, count, plural } from './format.js';
import { link } from './router.js';
import { failure } from './states.js';
import { stacked } from './chart.js';
import { copyButton, ownerMark, stampText, whoText } from './finding_view.js';
import { arrive, badge, card, coming, crumbs, dim, head, known, note } from './parts.js';
import { contextFacts } from './pod_tables.js';
import { changed, deepReading, events, foretold, grown, lastLedger, lastSeen, life, timelineOf, whatToChange } from './postmortem_parts.js';
import { model } from './series.js';
import { when, zone } from './time.js';
import { causeText } from './workload_parts.js';

const REFRESH_MS = 3000;
const AROUND_MS = 600000;
const SHORTEST_MS = 60000;

function nth(n)
{
	const tens = n % 100;
	return `${count(n)}${tens > 10 && tens < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'}`;
}

/* What its API server told of the same death: the last of the bodies, with --kube-pods. */
function kubernetesSays(item)
{
	const told = item.bodies.find((one) => one?.kubernetes)?.kubernetes;
	if (!told)
		return null;
	const said = [told.pod_reason, told.reason, known(told.exit_code) ? `exit status ${told.exit_code}` : null].filter(Boolean).join(', ');
	return h('p', null, badge('kubernetes'), ' ', prose(said), told.pod_message ? [': ', prose(told.pod_message)] : null,
		told.effect === 'confirms' ? '. It confirms the verdict' : told.effect === 'corrects' ? ['. It makes ', causeText(told.cause_before), ' ', causeText(item.cause)] : null, '.');
}

function verdict(item, body)
{
	const most = body.growth?.owners?.find((row) => row.owner === item.owner);
	return h('section', { class: 'act edge-critical', aria: { label: 'Verdict' } },
		h('p', { class: 'act-title' }, causeText(item.cause), body.confidence_pct ? dim(`, ${body.confidence_pct} % sure`) : null),
		item.inferred ? h('p', null, badge('inferred'), ' No agent wrote this: the collector did, from what it held.') : null,
		item.bodies[0] ? null : note('The part that holds the verdict is not here.'),
		body.why ? h('p', null, prose(body.why), '.') : null,
		kubernetesSays(item),
		h('p', null, 'Grew most: ', item.owner ? [ownerMark(item.owner), most ? ` by ${bytes(most.grown_bytes)}, to ${bytes(most.to_bytes)}` : null] : 'not known', '.'),
		known(body.deaths) ? h('p', null, `The ${nth(body.deaths)} death of this workload that its agent has seen`, known(body.deaths_same_owner) ? `, the ${nth(body.deaths_same_owner)} with this cause and owner` : '', '.') : null,
		body.missing ? note('What would have made it certain: ', prose(body.missing), '.') : null,
		body.access ? note('What the agent could not see: ', prose(body.access), '.') : null);
}

function text(item, body)
{
	return [`[death] ${visible(item.title ?? item.cause)}`, whoText(item.subject), `died ${stampText(item.died_ms)}`, '',
		`Cause: ${visible(item.cause)}${item.inferred ? ', inferred by the collector' : ''}${body.why ? `: ${visible(body.why)}` : ''}`,
		...(body.growth?.owners ?? []).map((row) => `- ${visible(row.owner)} ${bytes(row.from_bytes)} -> ${bytes(row.to_bytes)}`),
		`Limit ${bytes(body.limit_bytes)}, charge ${bytes(body.charge_bytes)}, floor ${bytes(body.floor_bytes)}`,
		...(known(body.survivable_limit_bytes) ? [`A limit of ${bytes(body.survivable_limit_bytes)} would have been enough`] : []), location.href, ''].join('\n');
}

function paint(ctx, root, item, place, range)
{
	const { subject, inferred } = item;
	const body = item.bodies[0] ?? {};
	const title = item.title ?? `a death: ${item.cause}`;
	ctx.setTitle(title);
	const own = (...cards) => (inferred ? null : cards); /* of which an inferred one knows nothing */
	arrive(root, head(crumbs(subject, [subject.workload], [subject.pod ?? 'pod', link(`pods/${item.pod}`, { w: item.workload_id, ...range && { from: range.from - AROUND_MS, to: range.to + AROUND_MS } })]), prose(title),
		inferred ? badge('inferred') : null, h('span', null, 'died ', when(item.died_ms), ` ${zone(item.died_ms ?? Date.now())} by the agent’s clock`), known(item.pid) ? `pid ${item.pid}` : null,
		subject.node ? name(subject.node, 40) : null),
	item.whole ? null : h('p', { class: 'problem', role: 'status' }, `${item.parts_here} of ${plural(item.parts, 'part')} ${item.parts_here === 1 ? 'has' : 'have'} arrived; the page looks for the rest.`),
	verdict(item, body), h('p', { class: 'actions' }, copyButton(ctx, () => text(item, body))),
	card('The last minutes', range ? place : note('No timeline is here. The pod’s chart may have more.')),
	h('div', { class: 'columns' },
		h('div', { class: 'column' }, own(card('Who grew', grown(body.growth))), card('Last known ledger', lastLedger(body))),
		h('div', { class: 'column side' }, card('What to change', whatToChange(body)), card('Last seen', lastSeen(body)),
			own(card('Events', events(body)), card('What it was doing', foretold(body), contextFacts(body.context)), card('What had changed', changed(body)), card('Deeper reading', deepReading(body)), card('This life', life(body))))));
}

export default {
	title: () => 'Post-mortem',
	mount(root, ctx)
	{
		const body = h('div', { class: 'page' }, coming('The post-mortem'));
		root.append(body);
		let chart = null, timer = 0, shown = '';
		function draw(item, series, place, whole)
		{
			const built = model(series);
			const marks = known(item.died_ms) ? [{ at: item.died_ms, kind: 'postmortem', label: 'the death' }] : [];
			const show = (from, to) => chart.update({ model: built, marks, range: { from, to } });
			chart = stacked(place, { label: 'The last minutes by owner, against the limit', onRange: show, onReset: () => show(whole.from, whole.to) });
			show(whole.from, whole.to);
		}
		async function load()
		{
			try {
				const item = await get(`/postmortems/${ctx.id}`, null, { signal: ctx.signal });
				if (!item.whole)
					timer = setTimeout(load, REFRESH_MS);
				const now = JSON.stringify(item);
				if (now === shown)
					return;
				shown = '';
				const series = timelineOf(item), place = h('div'), { points } = series;
				const end = points.length ? Math.max(points.at(-1).received_ms, item.died_ms ?? 0) + 5000 : 0;
				const range = end ? { from: Math.min(points[0].received_ms, end - SHORTEST_MS), to: end } : null;
				chart?.destroy();
				chart = null;
				paint(ctx, body, item, place, range);
				if (range)
					draw(item, series, place, range);
				shown = now;
			} catch (error) {
				if (error.name === 'AbortError')
					return;
				if (shown)
					timer = setTimeout(load, REFRESH_MS); /* what is there stays, and the rest is looked for again */
				else
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
