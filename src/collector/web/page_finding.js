/* SPDX-License-Identifier: Apache-2.0 */
/* One finding, whole, in the order in which an incident channel wants it. */
import { get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { link } from './router.js';
import { severityMark } from './severity.js';
import { failure, loading } from './states.js';
import { copyButton, findingBody, findingText, ownerMark, rulePage, silenceButton, silencedNote, stateLine } from './finding_view.js';
import { crumbs } from './pod_head.js';
import { setUtc } from './time.js';

const REFRESH_MS = 15000;
/* What led to it and what came of it: shown in the pod's chart. */
const BEFORE_MS = 30 * 60000, AFTER_MS = 10 * 60000;

function podLink(item)
{
	const end = item.cleared_ms ?? item.updated_ms ?? item.opened_ms;
	return item.pod === null || item.opened_ms === null ? null :
		h('a', { href: link(`pods/${item.pod}`, item.open ? { last: '6h' } : { from: item.opened_ms - BEFORE_MS, to: end + AFTER_MS }) }, 'The pod at that time');
}

function paint(ctx, body, item)
{
	const { subject } = item;
	ctx.setTitle(item.title ?? item.rule);
	const where = item.pod === null ? [['the collector itself', null]] : [[subject.workload, null], [subject.pod ?? 'pod', link(`pods/${item.pod}`)]];
	replace(body, h('div', { class: 'page-head' }, crumbs(subject, ...where),
		h('h1', null, severityMark(item.severity), ' ', prose(item.title ?? item.rule)),
		h('p', { class: 'facts' }, h('span', { class: `badge ${item.open ? 'state-stale' : 'state-gone'}` }, item.open ? 'open' : 'cleared'),
			h('span', null, 'rule ', rulePage(item.rule)), h('span', null, ownerMark(item.owner)), podLink(item)),
		stateLine(item), silencedNote(item.silenced)),
	h('section', { class: `act edge-${item.severity}` }, findingBody(item)),
	h('p', { class: 'actions' }, copyButton(ctx, () => findingText(item, location.href)),
		item.pod === null ? null : silenceButton(ctx, { cluster: subject.cluster, namespace: subject.namespace, workload: subject.workload, rule: item.rule }),
		h('span', { class: 'muted' }, 'id ', name(item.id, 64))));
}

export default {
	title: () => 'Finding',
	mount(root, ctx)
	{
		const body = h('div', { class: 'page' }, loading('the finding'));
		root.append(body);
		setUtc(ctx.params.get('utc') === '1');
		let shown = null;
		async function load()
		{
			try {
				const item = await get(`/findings/${ctx.id}`, null, { signal: ctx.signal });
				const key = JSON.stringify(item);
				if (key === shown || (shown && body.contains(document.activeElement)))
					return;
				shown = key;
				paint(ctx, body, item);
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
