/* SPDX-License-Identifier: Apache-2.0 */
/* One workload: history belongs to it, for its pods change their names at every attempt. */
import { get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { bytes, count, percentBp, plural, severityRank } from './format.js';
import { subscribe } from './live.js';
import { link } from './router.js';
import { failure, loading } from './states.js';
import { severityMark } from './severity.js';
import { silenceButton } from './finding_view.js';
import { crumbs, tile } from './pod_head.js';
import { card } from './pod_tables.js';
import { setUtc, when } from './time.js';
import { alertsList, deathsTimeline, findingsTable, outliersTable, pastTable, podsTable, rowOfPod } from './workload_parts.js';

const PODS_MAX = 200;
const PAINT_MS = 1000;
/* What the stream does not carry: the sums, the findings, the compositions. */
const SLOW_MS = 20000;

/* Of a list that may not exist here, or fail: null, and the page says that it is not known. */
function perhaps(promise)
{
	return promise.catch((error) => {
		if (error.name === 'AbortError')
			throw error;
		return null;
	});
}

class WorkloadPage {
	constructor(root, ctx)
	{
		this.ctx = ctx;
		setUtc(ctx.params.get('utc') === '1');
		this.rows = [];
		this.known = {};
		this.body = h('div', { class: 'page' }, loading('the workload'));
		root.append(this.body);
		this.table = podsTable();
		this.parts = Object.fromEntries(['head', 'act', 'figures', 'podsNote', 'past', 'outliers', 'findings', 'deaths', 'alerts'].map((key) => [key, h('div')]));
		this.start();
	}

	async start()
	{
		const { ctx } = this;
		try {
			this.workload = await get(`/workloads/${ctx.id}`, null, { signal: ctx.signal });
		} catch (error) {
			if (error.name !== 'AbortError')
				replace(this.body, failure(error, () => { replace(this.body, loading('the workload')); this.start(); }));
			return;
		}
		ctx.setTitle(this.workload.workload ?? 'Workload');
		const { parts } = this;
		replace(this.body, parts.head, parts.act, parts.figures,
			card('Pods', parts.podsNote, this.table.element, parts.past),
			h('div', { class: 'columns' }, h('div', { class: 'column wide' }, card('Who stands out', parts.outliers), card('Deaths', parts.deaths)),
				h('div', { class: 'column' }, card('Open findings', parts.findings), card('Alerts', parts.alerts))));
		this.paintTop();
		const { cluster, namespace, workload } = this.workload;
		const filter = Object.fromEntries(Object.entries({ cluster, namespace, workload }).filter(([, value]) => value));
		this.live = subscribe({ subscribe: 'fleet', view: 'pods', filter, sort: 'danger', from: 0, count: PODS_MAX }, {
			message: (m) => this.onMessage(m), state: (state) => { this.lineState = state; } });
		this.timer = setInterval(() => this.tick(), PAINT_MS);
		await this.loadSlow();
	}

	onMessage(message)
	{
		if (message.type === 'fleet') {
			this.frame = message.rows;
			this.matching = message.matching;
		} else if (message.type === 'rows' && this.frame) {
			for (const [i, row] of message.rows)
				this.frame[i] = row;
			this.matching = message.matching ?? this.matching;
		} else {
			return;
		}
		this.rows = this.frame.filter((row) => row.workload_id === this.ctx.id);
		this.heardAt = performance.now();
		this.dirty = true;
	}

	async loadSlow()
	{
		this.slowAt = performance.now();
		const { ctx } = this;
		const { cluster, namespace, workload } = this.workload;
		const options = { signal: ctx.signal };
		const filter = { cluster, namespace, workload };
		const mine = (item) => item.subject.workload === workload && item.subject.namespace === namespace;
		try {
			const [fresh, pods, past, owners, findings, posts, alerts] = await Promise.all([
				get(`/workloads/${ctx.id}`, null, options), get('/pods', { ...filter, limit: PODS_MAX }, options),
				perhaps(get(`/workloads/${ctx.id}/pods`, { past: true, limit: 100 }, options)), perhaps(get(`/workloads/${ctx.id}/owners`, null, options)),
				perhaps(get('/findings', { ...filter, open: true, limit: 300 }, options)), perhaps(get('/postmortems', { ...filter, limit: 200 }, options)),
				perhaps(get('/alerts', null, options))]);
			this.workload = fresh;
			this.pods = pods.items.filter((pod) => pod.workload_id === ctx.id);
			this.more = pods.next !== null;
			this.known = { past: past?.items.filter((item) => item.present === false) ?? null, owners, findings: findings?.items.filter(mine) ?? null,
				posts: posts?.items.filter(mine) ?? null, alerts: alerts?.items.filter((item) => item.workload_id === ctx.id) ?? null };
			this.paint();
		} catch (error) {
			if (error.name === 'AbortError')
				return;
			replace(this.parts.podsNote, h('p', { class: 'problem', role: 'alert' }, prose(error.message)));
		}
	}

	tick()
	{
		if (performance.now() - this.slowAt > SLOW_MS)
			this.loadSlow();
		if (this.frame && this.lineState === 'live' ? this.dirty : true)
			this.paintPods();
		this.dirty = false;
	}

	paintPods()
	{
		const live = this.frame && this.lineState === 'live';
		const rows = this.frame ? this.rows : (this.pods ?? []).map(rowOfPod);
		const passed = performance.now() - (this.frame ? this.heardAt : this.slowAt);
		this.table.show(rows, live ? 0 : passed);
		this.table.element.hidden = !rows.length;
		replace(this.parts.podsNote, !rows.length ? h('p', { class: 'muted' }, 'No pod of it was heard of within a day. Its findings and post-mortems are below.') :
			this.matching > PODS_MAX || this.more ? h('p', { class: 'muted' }, `The ${PODS_MAX} nearest to their limit; all are in `,
				h('a', { href: link('', { view: 'pods', ns: this.workload.namespace, workload: this.workload.workload }) }, 'the fleet'), '.') : null);
	}

	paintTop()
	{
		const w = this.workload;
		const versions = new Set((this.pods ?? []).map((pod) => pod.agent_version).filter(Boolean));
		replace(this.parts.head, h('div', { class: 'page-head' }, crumbs(w), h('h1', null, w.workload === null ? 'Agents that name no workload' : name(w.workload, 96)),
			h('p', { class: 'facts' }, severityMark(w.severity), w.roles.map((role) => h('span', null, role)), h('span', null, `${plural(w.pods, 'pod')}, ${count(w.pods_connected)} connected`),
				versions.size ? h('span', { class: versions.size > 1 ? 'sev-warning' : null }, versions.size > 1 ? 'agents of ' : 'agent ', [...versions].map((v, i) => [i ? ', ' : '', name(v, 24)])) : null)));
		const share = (sum) => (sum.bytes !== null && w.limit.bytes ? `${(sum.bytes / w.limit.bytes * 100).toFixed(0)} % of the limits` : '');
		replace(this.parts.figures, h('section', { aria: { label: 'Figures' } }, h('dl', { class: 'figure-tiles' },
			tile('Least freeboard', bytes(w.worst_freeboard_bytes), w.worst_freeboard_bp === null ? '' : `${percentBp(w.worst_freeboard_bp)} `,
				w.worst_pod ? h('a', { href: link(`pods/${w.worst_pod}`) }, 'that pod') : null),
			tile('Floors together', bytes(w.floor.bytes), share(w.floor)),
			tile('Limits together', bytes(w.limit.bytes), `of ${plural(w.limit.of_pods, 'pod')}`),
			tile('Open findings', count(w.findings.critical + w.findings.warning), `${w.findings.critical} critical, ${w.findings.warning} warning, ${w.findings.notice} notice`),
			tile('Last death', w.last_postmortem_ms === null && !this.known.posts?.length ? 'none known' : when(w.last_postmortem_ms ?? this.known.posts[0].received_ms),
				this.known.posts ? plural(this.known.posts.length, 'post-mortem') : ''))));
	}

	/* The gravest of its findings, at how many pods: 300 TaskManagers of one job are one thing to act on. */
	paintAct()
	{
		const w = this.workload;
		const first = [...(this.known.findings ?? [])].sort((a, b) => severityRank(a.severity) - severityRank(b.severity))[0];
		if (!first) {
			replace(this.parts.act);
			return;
		}
		const pods = new Set(this.known.findings.filter((item) => item.rule === first.rule).map((item) => item.pod)).size;
		replace(this.parts.act, h('section', { class: `act edge-${first.severity}`, aria: { label: 'What to do' } },
			h('p', { class: 'act-title' }, severityMark(first.severity), ' ', h('a', { href: link(`findings/${first.id}`) }, prose(first.title ?? first.rule))),
			h('p', null, `${plural(pods, 'pod has', 'pods have')} it; this one: `, h('a', { href: link(`pods/${first.pod}`) }, name(first.subject.pod, 64)), '.'),
			h('p', { class: 'actions' }, silenceButton(this.ctx, { cluster: w.cluster, namespace: w.namespace, workload: w.workload, rule: first.rule }))));
	}

	paint()
	{
		const { parts, known } = this;
		this.paintTop();
		if (!parts.act.contains(document.activeElement))
			this.paintAct();
		this.paintPods();
		const put = (node, ...content) => {
			if (!node.contains(document.activeElement))
				replace(node, ...content);
		};
		const unknown = () => h('p', { class: 'problem' }, 'Could not be loaded; it is tried again.');
		const open = parts.past.querySelector('details')?.open ?? false;
		put(parts.past, known.past?.length ? h('details', { open }, h('summary', null, `${plural(known.past.length, 'pod')} before these`), pastTable(known.past, known.posts ?? [])) :
			known.past ? h('p', { class: 'muted' }, 'No pod before these is known.') : null);
		const others = parts.outliers.querySelector('details')?.open ?? false;
		put(parts.outliers, outliersTable(known.owners, this.pods));
		if (others && parts.outliers.querySelector('details'))
			parts.outliers.querySelector('details').open = true;
		put(parts.findings, known.findings ? findingsTable(known.findings) : unknown());
		put(parts.deaths, known.posts ? deathsTimeline(known.posts, Date.now()) : unknown());
		put(parts.alerts, alertsList(known.alerts));
	}

	unmount()
	{
		clearInterval(this.timer);
		this.live?.close();
	}
}

export default {
	title: () => 'Workload',
	mount: (root, ctx) => new WorkloadPage(root, ctx),
};
