/* SPDX-License-Identifier: Apache-2.0 */
/* One finding, whole, in the order in which an incident channel wants it. */
import { get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { plural } from './format.js';
import { now } from './now.js';
import { link } from './router.js';
import { severityMark } from './severity.js';
import { failure } from './states.js';
import { copyButton, findingBody, findingText, ownerMark, rulePage, silenceButton, silencedNote } from './finding_view.js';
import { badge, coming, crumbs, dim, head, note, put } from './parts.js';
import { presetFor, when } from './time.js';

const REFRESH_MS = 15000;
/* What led to it and what came of it: shown in the pod's chart. */
const BEFORE_MS = 1800000, AFTER_MS = 600000;

function paint(ctx, body, item, again)
{
	const { subject, opened_ms: opened, updated_ms: updated, cleared_ms: cleared, open } = item;
	const title = item.title ?? item.rule;
	const pod = (params) => link(`pods/${item.pod}`, { ...params, w: item.workload_id });
	ctx.setTitle(title);
	put(body, head(item.pod === null ? crumbs(subject, ['the collector itself']) : crumbs(subject, [subject.workload], [subject.pod ?? 'pod', pod()]),
		[severityMark(item.severity), ' ', prose(title)],
		badge(open ? 'open' : 'cleared'), h('span', null, 'rule ', rulePage(item.rule)), ownerMark(item.owner),
		item.pod === null ? null : h('a', { href: pod(open ? { last: presetFor(now() - opened + BEFORE_MS) } : { from: opened - BEFORE_MS, to: (cleared ?? updated) + AFTER_MS }) }, 'The pod at that time')),
	note('Opened ', when(opened), updated !== opened ? [`; updated, ${plural(item.updates, 'state')} in all, the latest `, when(updated)] : null, open ? null : ['; cleared ', when(cleared)], '.'),
	silencedNote(item.silenced),
	h('section', { class: `act edge-${item.severity}` }, findingBody(item, 'h2')),
	h('p', { class: 'actions' }, copyButton(ctx, () => findingText(item, location.href)), silenceButton(ctx, subject, item, again), dim('id ', name(item.id, 64))));
}

export default {
	title: () => 'Finding',
	mount(root, ctx)
	{
		const body = h('div', { class: 'page' }, coming('The finding'));
		let shown = false;
		root.append(body);
		async function load()
		{
			try {
				const item = await get(`/findings/${ctx.id}`, null, { signal: ctx.signal });
				shown = true;
				paint(ctx, body, item, load);
			} catch (error) {
				if (error.name !== 'AbortError' && !shown)
					replace(body, failure(error, load));
			}
		}
		load();
		const timer = setInterval(load, REFRESH_MS);
		return { unmount: () => clearInterval(timer) };
	},
};
