/* SPDX-License-Identifier: Apache-2.0 */
/* One pod: what to act on, how near its limit, who filled it, and what happened. */
import { get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { severityRank } from './format.js';
import { subscribe } from './live.js';
import { link } from './router.js';
import { failure, loading } from './states.js';
import { stacked } from './chart.js';
import { marksOf } from './marks.js';
import { append, model, pointOfSample } from './series.js';
import { rangeControl, rangeOf, setUtc, stepFor, when } from './time.js';
import { findingFold } from './finding_view.js';
import { podFigures, podHeader, podHeadline, podState } from './pod_head.js';
import { agentFacts, budgetTable, card, contextFacts, holesList, ledgerTable, marksList, pressureFacts } from './pod_tables.js';

/* A live series is asked for anew now and then: the collector folds points by its own clock, and marks come with it. */
const REFRESH_MS = 60000;
const PAINT_MS = 1000;
const POLL_MS = 15000;

function ownersOf(pod)
{
	return Object.fromEntries((pod.composition?.owners ?? []).map((row) => [row.owner, row.bytes]));
}

class PodPage {
	constructor(root, ctx)
	{
		this.ctx = ctx;
		this.root = root;
		this.pod = null;
		this.wholes = new Map(); /* findings whose text is here, by id */
		this.series = null;
		this.events = null;
		this.posts = [];
		this.died = null; /* when the process was seen to be gone, while watched */
		this.folds = new Map();
		this.looked = 0;
		this.askedAt = 0;
		setUtc(ctx.params.get('utc') === '1');
		this.parts = Object.fromEntries(['head', 'death', 'headline', 'figures', 'chart', 'lower'].map((key) => [key, h('div', { class: `pod-${key}` })]));
		this.control = rangeControl(ctx, () => this.loadSeries());
		this.canvas = h('div');
		this.problem = h('p', { class: 'problem', role: 'alert' });
		replace(this.parts.chart, h('section', { class: 'card chart-card' }, h('h2', null, 'Who fills it'), this.control.element, this.problem, this.canvas));
		this.body = h('div', { class: 'page' }, loading('the pod'));
		root.append(this.body);
		this.start();
	}

	async start()
	{
		try {
			this.taken(await get(`/pods/${this.ctx.id}`, null, { signal: this.ctx.signal }));
		} catch (error) {
			if (error.name !== 'AbortError')
				replace(this.body, failure(error, () => { replace(this.body, loading('the pod')); this.start(); }));
			return;
		}
		replace(this.body, Object.values(this.parts));
		this.chart = stacked(this.canvas, { label: 'Memory of this pod by owner, against its limit',
			onRange: (from, to) => this.setRange({ from, to, last: null }), onReset: () => this.setRange({ from: null, to: null, last: '1h' }) });
		this.live = subscribe({ subscribe: 'pod', pod: this.ctx.id }, { message: (m) => this.onMessage(m), state: (s) => { this.lineState = s; } });
		this.timer = setInterval(() => this.tick(), PAINT_MS);
		await Promise.all([this.loadSeries(), this.loadPosts()]);
	}

	/* Without the stream the pod is asked for, rarely: what is shown ages meanwhile, and says so. */
	async poll()
	{
		this.askedAt = performance.now();
		try {
			this.onMessage({ type: 'pod', pod: await get(`/pods/${this.ctx.id}`, null, { signal: this.ctx.signal }) });
		} catch {
			/* its age says it; and again in a while */
		}
	}

	setRange(params)
	{
		this.ctx.setParams(params);
		this.control.paint();
		this.loadSeries();
	}

	/* A pod as the API or the stream has it. */
	taken(pod)
	{
		const before = this.pod;
		this.pod = pod;
		this.takenAt = performance.now();
		this.ctx.setTitle(pod.subject.pod ?? 'Pod');
		if (before?.sample?.pid && !pod.sample?.pid && pod.connected)
			this.onDeath();
		if (before && pod.last_postmortem_ms !== before.last_postmortem_ms)
			this.loadPosts();
		if (this.died && pod.sample?.pid)
			this.died = null; /* another one runs in it; its post-mortem stays linked */
		this.loadFindings();
	}

	/* The collector's clock as of now: its figure when this came, and what has passed here since. */
	age()
	{
		return this.pod.sample ? this.pod.sample.age_ms + (performance.now() - this.takenAt) : null;
	}

	now()
	{
		return this.pod?.sample ? this.pod.sample.received_ms + this.age() : Date.now();
	}

	onDeath()
	{
		this.died = this.now();
		this.ctx.announce('The watched process is gone');
		/* It is told in parts, and within seconds: until it is here, look. */
		this.loadPosts();
	}

	onMessage(message)
	{
		if (message.type === 'gone') {
			this.pod = { ...this.pod, connected: false };
			this.paint();
		} else if (message.type === 'pod') {
			const composed = this.pod?.composition && message.pod.composition ? this.now() - this.pod.composition.age_ms : 0;
			this.taken(message.pod);
			this.extend(composed);
			this.paint();
		} else if (message.type === 'error') {
			replace(this.problem, 'Live updates: ', prose(message.message ?? message.code));
		}
	}

	/* The newest sample at the end of a chart that follows the present. */
	extend()
	{
		const { pod, series } = this;
		if (!series || !pod.sample || !rangeOf(this.ctx.params, this.now()).live)
			return;
		const fresh = pod.composition && pod.sample.age_ms + 1500 >= pod.composition.age_ms;
		if (append(series, pointOfSample(pod.sample, fresh ? ownersOf(pod) : null), pod.sample.interval_ms))
			this.drawChart();
	}

	async loadFindings()
	{
		const gravest = [...this.pod.findings].sort((a, b) => severityRank(a.severity) - severityRank(b.severity)).slice(0, 4);
		for (const open of gravest) {
			const had = this.wholes.get(open.id);
			if (had && had.updated_ms >= (open.updated_ms ?? 0) && had.severity === open.severity)
				continue;
			try {
				this.wholes.set(open.id, await get(`/findings/${open.id}`, null, { signal: this.ctx.signal }));
				this.paint();
			} catch {
				return; /* the list of findings says what is wrong when it is opened */
			}
		}
	}

	async loadSeries()
	{
		const range = rangeOf(this.ctx.params, this.now());
		const step = stepFor(range, this.chart?.width() ?? 800);
		const turn = this.turn = (this.turn ?? 0) + 1;
		this.loadedAt = performance.now();
		try {
			const params = { from: Math.floor(range.from), to: Math.ceil(range.to) + (range.live ? 60000 : 0), step: String(step) };
			const [series, events] = await Promise.all([get(`/pods/${this.ctx.id}/samples`, params, { signal: this.ctx.signal }),
				get(`/pods/${this.ctx.id}/events`, { from: params.from, to: params.to }, { signal: this.ctx.signal }).catch((error) => {
					if (error.name === 'AbortError')
						throw error;
					return null;
				})]);
			if (turn !== this.turn)
				return;
			this.series = series;
			this.events = events?.items ?? null;
			replace(this.problem);
			this.drawChart();
			this.paint();
		} catch (error) {
			if (error.name !== 'AbortError' && turn === this.turn)
				replace(this.problem, 'The series could not be loaded: ', prose(error.message));
		}
	}

	async loadPosts()
	{
		const { subject } = this.pod;
		try {
			const list = await get('/postmortems', { namespace: subject.namespace, pod: subject.pod, limit: 50 }, { signal: this.ctx.signal });
			this.posts = list.items.filter((post) => post.pod === this.pod.id);
			this.paint();
		} catch {
			/* the next tick that needs it asks again */
		}
	}

	drawChart()
	{
		const range = rangeOf(this.ctx.params, this.now());
		this.model = model(this.series);
		this.marks = marksOf({ events: this.events, postmortems: this.posts, rows: this.model.rows, range });
		this.chart?.update({ model: this.model, marks: this.marks, range });
	}

	tick()
	{
		const range = rangeOf(this.ctx.params, this.now());
		const late = performance.now() - (this.loadedAt ?? 0);
		if (range.live && late > REFRESH_MS)
			this.loadSeries();
		else if (range.live && this.series)
			this.drawChart();
		if (this.lineState !== 'live' && performance.now() - Math.max(this.takenAt, this.askedAt) > POLL_MS)
			this.poll();
		if (this.died && !this.post() && ++this.looked % 5 === 0)
			this.loadPosts();
		this.paintHead();
	}

	/* The post-mortem of the death that was watched. Both times are the agent's and may be off. */
	post()
	{
		return this.posts.find((post) => post.received_ms >= this.died - 60000) ?? null;
	}

	paintHead()
	{
		const age = this.age();
		const state = podState(this.pod, age);
		this.body.classList.toggle('page-stale', state !== 'connected');
		replace(this.parts.head, podHeader(this.pod, age));
		if (this.died || (this.pod.sample && this.pod.sample.pid === null)) {
			const post = this.died ? this.post() : this.posts[0];
			replace(this.parts.death, h('section', { class: 'act edge-critical', role: 'status' }, h('p', { class: 'act-title' },
				this.died ? ['The watched process is gone since ', when(this.died), '.'] : 'No process is watched in this pod now.'),
			post ? h('p', null, 'Post-mortem: ', h('a', { href: link(`postmortems/${post.id}`) }, prose(post.title ?? post.cause))) :
				h('p', { class: 'muted' }, this.died ? 'Its post-mortem has not come yet; it is linked here when it does.' : 'No post-mortem of it is known.')));
		} else {
			replace(this.parts.death);
		}
	}

	paint()
	{
		if (!this.pod || !this.chart || !this.root.isConnected)
			return;
		const { pod } = this;
		this.paintHead();
		/* Nothing below is replaced under a keyboard: who stands in it keeps his place until he leaves. */
		const busy = (node) => node.contains(document.activeElement);
		const state = podState(pod, this.age());
		if (!busy(this.parts.headline))
			replace(this.parts.headline, podHeadline(this.ctx, pod, this.wholes, state));
		replace(this.parts.figures, podFigures(pod));
		if (!busy(this.parts.lower))
			this.paintLower();
	}

	findingFolds()
	{
		const { pod } = this;
		const open = [...pod.findings].sort((a, b) => severityRank(a.severity) - severityRank(b.severity));
		const kept = new Map();
		for (const finding of open) {
			const key = `${finding.id} ${finding.updated_ms} ${finding.severity} ${finding.silenced?.id ?? ''}`;
			kept.set(key, this.folds.get(key) ?? findingFold(finding, async (id) => this.wholes.get(id) ?? get(`/findings/${id}`, null, { signal: this.ctx.signal }),
				{ expanded: [...this.folds.entries()].some(([old, fold]) => old.startsWith(`${finding.id} `) && fold.open) }));
		}
		this.folds = kept;
		return open.length ? [...kept.values()] : h('p', { class: 'muted' }, 'None is open.');
	}

	paintLower()
	{
		const { pod } = this;
		const { sample, composition } = pod;
		const rows = pod.ledger ?? composition?.owners;
		const age = composition ? composition.age_ms + (performance.now() - this.takenAt) : null;
		replace(this.parts.lower, h('div', { class: 'columns' },
			h('div', { class: 'column wide' },
				card('Findings', this.findingFolds(), pod.findings_left_out ? h('p', { class: 'muted' }, `and ${pod.findings_left_out} more, under `, h('a', { href: link(`workloads/${pod.workload_id}`) }, 'its workload'), '.') : null),
				card('Ledger', ledgerTable(rows, { residual: composition?.residual_bytes ?? null, charge: sample?.charge_bytes ?? null, budgets: pod.budgets, age }))),
			h('div', { class: 'column' },
				card('Budgets and what is there', budgetTable(pod.budgets, rows)),
				card('What the engine is doing', sample ? contextFacts(sample.context) : h('p', { class: 'muted' }, 'Not known yet.')),
				card('Restarts, resizes, deaths', marksList(this.marks ?? [])),
				card('Gaps', holesList(this.model?.holes ?? [])),
				card('Pressure and events', sample ? pressureFacts(sample) : h('p', { class: 'muted' }, 'Not known yet.')),
				card('Post-mortems', this.posts.length ? h('ul', { class: 'events' }, this.posts.slice(0, 10).map((post) => h('li', null, when(post.died_ms), ' ',
					h('a', { href: link(`postmortems/${post.id}`) }, prose(post.title ?? post.cause)), post.inferred ? h('span', { class: 'badge' }, 'inferred') : null))) :
					h('p', { class: 'muted' }, 'None of this pod. Pods that were replaced have theirs under ', h('a', { href: link(`workloads/${pod.workload_id}`) }, name(pod.subject.workload, 40)), '.')),
				card('Agent', agentFacts(pod, this.age())))));
	}

	unmount()
	{
		clearInterval(this.timer);
		this.live?.close();
		this.chart?.destroy();
	}

	update(ctx)
	{
		setUtc(ctx.params.get('utc') === '1');
		this.control.paint();
		this.loadSeries();
	}
}

export default {
	title: () => 'Pod',
	mount: (root, ctx) => new PodPage(root, ctx),
};
