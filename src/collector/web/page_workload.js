/* SPDX-License-Identifier: Apache-2.0 */
/* One workload: history belongs to it, for its pods change their names at every attempt. */
import { get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { count, percentBp, plural } from './format.js';
import { subscribe } from './live.js';
import { link } from './router.js';
import { failure, loading } from './states.js';
import { gravestFirst, severityMark } from './severity.js';
import { changeBlock, dueFirst, silenceButton, silencedNote } from './finding_view.js';
import { arrive, card, coming, crumbs, head, note, put, tile } from './parts.js';
import { when } from './time.js';
import { alertsList, deaths, findingsByRule, outliers, pastTable, podsTable } from './workload_parts.js';

const PODS_MAX = 200;
/* What the stream of rows does not carry: the sums, the findings, the compositions, what was. */
const SLOW_MS = 20000;

class WorkloadPage {
	constructor(root, ctx)
	{
		Object.assign(this, { ctx, rows: [], matching: 0, lostAt: 0, slowAt: 0, more: {} });
		this.table = podsTable();
		this.parts = Object.fromEntries(['head', 'act', 'figures', 'note', 'past', 'outliers', 'deaths', 'findings', 'alerts'].map((key) => [key, h('div')]));
		this.body = h('div', { class: 'page' });
		root.append(this.body);
		this.start();
	}

	get(path, params)
	{
		return get(path, params, { signal: this.ctx.signal });
	}

	/* cluster, namespace and workload, of those that are known: what is not, no filter can name. */
	filter()
	{
		const { cluster, namespace, workload } = this.workload;
		return Object.fromEntries(Object.entries({ cluster, namespace, workload }).filter(([, value]) => value));
	}

	async start()
	{
		const { ctx, parts } = this;
		put(this.body, coming('The workload'));
		try {
			this.workload = await this.get(`/workloads/${ctx.id}`);
		} catch (error) {
			if (error.name !== 'AbortError')
				replace(this.body, failure(error, () => this.start()));
			return;
		}
		ctx.setTitle(this.workload.workload ?? 'Workload');
		this.paintTop();
		arrive(this.body, parts.head, parts.act, parts.figures, card('Pods', parts.note, this.table.element, parts.past),
			h('div', { class: 'columns' }, h('div', { class: 'column' }, card('Who stands out', parts.outliers), card('Deaths', parts.deaths)),
				h('div', { class: 'column' }, card('Open findings', parts.findings), card('Alerts', parts.alerts))));
		this.request = { view: 'pods', sort: 'danger', from: 0, count: PODS_MAX };
		this.live = subscribe({ subscribe: 'fleet', ...this.request, filter: this.filter() }, { message: (m) => this.onMessage(m), state: (state, since) => { this.lostAt = state === 'lost' ? since : 0; } });
		this.timer = setInterval(() => this.tick(), 1000);
		this.paintPods();
		this.loadSlow();
	}

	onMessage(message)
	{
		/* Its age counts on from here. */
		const arrived = (row) => ({ ...row, at: performance.now(), sent_ms: message.at_ms });
		if (message.type === 'fleet')
			this.frame = message.rows.map(arrived);
		else if (message.type === 'rows' && this.frame)
			for (const [i, row] of message.rows)
				this.frame[i] = arrived(row);
		else
			return;
		this.matching = message.matching ?? this.matching;
		this.rows = this.frame.filter((row) => row.workload_id === this.ctx.id);
		this.paintPods();
	}

	async loadSlow()
	{
		this.slowAt = performance.now();
		const id = this.ctx.id, filter = this.filter();
		/* null: not to be had at the moment, or from this collector; the page says that it is not known. */
		const perhaps = (path, params) => this.get(path, params).catch(() => null);
		const mine = (items) => items?.items.filter(({ subject }) => (subject.workload ?? null) === this.workload.workload && subject.namespace === this.workload.namespace) ?? null;
		const [workload, pods, past, owners, findings, posts, alerts, fleet] = await Promise.all([
			perhaps(`/workloads/${id}`), perhaps('/pods', { ...filter, limit: PODS_MAX }), perhaps(`/workloads/${id}/pods`, { past: true, limit: 200 }), perhaps(`/workloads/${id}/owners`),
			perhaps('/findings', { ...filter, open: true, limit: 300 }), perhaps('/postmortems', { ...filter, limit: 200 }), perhaps('/alerts', filter),
			!this.lostAt ? null : perhaps('/fleet', { ...filter, ...this.request })]);
		if (this.ctx.signal.aborted)
			return;
		this.workload = workload ?? this.workload;
		this.more = { pods: pods?.items.filter((pod) => pod.workload_id === id) ?? [], past: past?.items.filter((item) => !item.present) ?? [], owners, findings: mine(findings), posts: mine(posts),
			alerts: alerts?.items.filter((item) => item.workload_id === id) ?? null };
		if (fleet)
			this.onMessage(fleet);
		this.paint();
		this.loadChange(perhaps);
	}

	/* What to change stands in the finding's whole text, or in that of its cause, where that is open too. */
	async loadChange(perhaps)
	{
		const items = this.more.findings ?? [];
		const first = gravestFirst(items)[0];
		if (!first || (this.change?.id === first.id && this.change.stamp === first.updated_ms))
			return;
		const found = (await perhaps(`/findings/${first.id}`))?.finding;
		const cause = items.find((item) => found?.root && item.rule === found.root && item.pod === first.pod);
		const change = dueFirst(found, cause && (await perhaps(`/findings/${cause.id}`))?.finding);
		if (!change || this.ctx.signal.aborted)
			return;
		this.change = { id: first.id, stamp: first.updated_ms, found: change, cause };
		put(this.parts.act, this.act());
	}

	tick()
	{
		if (performance.now() - this.slowAt > SLOW_MS)
			this.loadSlow();
		this.paintTop();
		this.paintPods();
	}

	paintPods()
	{
		this.table.show(this.rows, this.lostAt ? Date.now() - this.lostAt : 0);
		this.table.element.hidden = !this.rows.length;
		put(this.parts.note, !this.frame ? loading('its pods') : !this.rows.length ? note('No pod of it was heard of within a day. What is known of its past is below.') :
			this.matching > PODS_MAX ? note(`The ${PODS_MAX} nearest to their limit; all ${count(this.matching)} are in `, h('a', { href: link('', { view: 'pods', ns: this.workload.namespace, workload: this.workload.workload }) }, 'the fleet'), '.') : null);
	}

	/* The rows are newer than the sums; they tell where they are all of it. */
	least()
	{
		const w = this.workload;
		const rows = this.matching > PODS_MAX ? [] : this.rows.filter((row) => row.state !== 'gone' && row.freeboard_bp !== null);
		const row = rows.reduce((a, b) => (a && a.freeboard_bp <= b.freeboard_bp ? a : b), null);
		return row ? [row.freeboard, row.freeboard_bp, row.id] : [w.worst_freeboard_bytes, w.worst_freeboard_bp, w.worst_pod];
	}

	paintTop()
	{
		const [freeboard, freeboard_bp, worst] = this.least();
		const w = this.workload, { posts, pods = [] } = this.more;
		const versions = [...new Set(pods.map((pod) => pod.agent_version).filter(Boolean))];
		put(this.parts.head, head(crumbs(w), w.workload === null ? 'Agents that name no workload' : name(w.workload, 96), severityMark(w.severity), w.roles.join(', '),
			h('span', null, `${plural(w.pods, 'pod')}, ${count(w.pods_connected)} connected`), versions.length ? h('span', { class: versions.length > 1 ? 'sev-warning' : null }, 'agents ', name(versions.join(', '), 64)) : null));
		const share = (sum) => (sum.bytes !== null && w.limit.bytes ? `${(sum.bytes / w.limit.bytes * 100).toFixed(0)} % of the limits` : '');
		const last = posts?.[0]?.died_ms ?? w.last_postmortem_ms ?? null;
		put(this.parts.figures, h('dl', { class: 'figure-tiles' },
			tile('Least freeboard', freeboard, freeboard_bp === null ? w.pods_connected ? '' : 'no pod is connected' : `${percentBp(freeboard_bp)} `, worst ? h('a', { href: link(`pods/${worst}`) }, 'of its limit') : null),
			tile('Floors together', w.floor.bytes, share(w.floor)), tile('Limits together', w.limit.bytes, `of ${plural(w.limit.of_pods, 'pod')}`),
			tile('Open findings', count(w.findings.critical + w.findings.warning + w.findings.notice), `${w.findings.critical} critical, ${w.findings.warning} warning, ${w.findings.notice} notice`),
			tile('Last death', last === null ? 'none known' : when(last), posts ? plural(posts.length, 'post-mortem') : '')));
	}

	/* The gravest of its findings, at how many pods: 300 TaskManagers of one job are one thing to act on. */
	act()
	{
		const items = this.more.findings ?? [];
		const first = gravestFirst(items)[0];
		const pods = new Set(items.filter((item) => item.rule === first?.rule).map((item) => item.pod)).size;
		const change = this.change?.id === first?.id ? this.change : null;
		return first ? h('section', { class: `act edge-${first.severity}`, aria: { label: 'What to do' } },
			h('p', { class: 'act-title' }, severityMark(first.severity), ' ', h('a', { href: link(`findings/${first.id}`) }, prose(first.title ?? first.rule))), silencedNote(first.silenced),
			h('p', null, pods > 1 ? `${count(pods)} pods have it; this is of ` : 'One pod has it: ', h('a', { href: link(`pods/${first.pod}`) }, name(first.subject.pod ?? `agent ${first.pod}`, 64)), '.'),
			change?.cause ? h('p', null, 'Because: ', h('a', { href: link(`findings/${change.cause.id}`) }, prose(change.cause.title ?? change.cause.rule))) : null,
			change ? changeBlock(change.found, first.subject) : null,
			h('p', { class: 'actions' }, silenceButton(this.ctx, this.workload, first, () => this.loadSlow()))) : null;
	}

	paint()
	{
		const { parts, more } = this;
		const unknown = () => note('Could not be loaded; it is tried again.');
		/* What somebody opened stays open. */
		const keep = (node, ...content) => {
			const open = node.querySelector('details')?.open;
			put(node, ...content);
			if (open && node.querySelector('details'))
				node.querySelector('details').open = true;
		};
		this.paintTop();
		this.paintPods();
		put(parts.act, this.act());
		keep(parts.past, more.past.length ? h('details', null, h('summary', null, `${plural(more.past.length, 'pod')} before these`), pastTable(more.past, more.posts ?? [], this.ctx.id)) : null);
		keep(parts.outliers, outliers(more.owners, more.pods.filter((pod) => pod.connected && pod.composition)));
		put(parts.findings, more.findings ? findingsByRule(more.findings) : unknown());
		put(parts.deaths, more.posts ? deaths(more.posts, Date.now()) : unknown());
		put(parts.alerts, alertsList(more.alerts));
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
