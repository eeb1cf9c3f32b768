/* SPDX-License-Identifier: Apache-2.0 */
/* One pod: what to act on, how near its limit, who filled it, and what happened. */
import { get } from './api.js';
import { h, prose, replace } from './dom.js';
import { subscribe } from './live.js';
import { now } from './now.js';
import { link } from './router.js';
import { gravestFirst } from './severity.js';
import { failure } from './states.js';
import { stacked } from './chart.js';
import { marksOf } from './marks.js';
import { arrive, badge, card, coming, dim, list, note, put, rowLink } from './parts.js';
import { append, model } from './series.js';
import { rangeControl, rangeOf, stepFor, when } from './time.js';
import { findingFold } from './finding_view.js';
import { podFigures, podHeader, podHeadline, podState } from './pod_head.js';
import { agentFacts, budgetTable, contextFacts, holesList, ledgerTable, marksList, pressureFacts } from './pod_tables.js';

/* A live series is asked for anew now and then: the collector folds points by its own clock, and events come with it. */
const REFRESH_MS = 60000;
/* Without the stream the pod is asked for, rarely: what is shown ages meanwhile, and says so. */
const POLL_MS = 15000;
/* After a death its post-mortem comes in parts, within seconds. */
const LOOK_MS = 5000;
const EVENT_PAGES = 4;
/* Of a scan before the range, so that its first rows have owners too. */
const LEAD_MS = 600000;

class PodPage {
	constructor(root, ctx)
	{
		Object.assign(this, { ctx, pod: null, wholes: new Map(), folds: new Map(), series: null, events: null, posts: [], marks: [],
			died: null, loadedAt: 0, askedAt: 0, lookedAt: 0, turn: 0 });
		const parts = this.parts = Object.fromEntries(['head', 'death', 'headline', 'figures', 'findings', 'ledger', 'budgets', 'context', 'marks', 'gaps', 'posts', 'pressure',
			'agent'].map((key) => [key, h('div')]));
		this.control = rangeControl(ctx, () => this.loadSeries());
		this.canvas = h('div');
		this.problem = h('p', { class: 'problem', role: 'alert' });
		this.top = h('div', { class: 'page' }, parts.head, parts.death, parts.headline, parts.figures, card('Who fills it', this.control.element, this.problem, this.canvas));
		this.living = [card('Findings', parts.findings), card('Ledger', parts.ledger), card('Budgets and what is there', parts.budgets), card('What the engine is doing', parts.context),
			card('Pressure and events', parts.pressure), card('Agent', parts.agent)];
		const [findings, ledger, budgets, context, pressure, agent] = this.living;
		this.lower = h('div', { class: 'columns' }, h('div', { class: 'column' }, findings, ledger), h('div', { class: 'column side' }, budgets, context, pressure,
			card('Restarts, resizes, deaths', parts.marks), card('Gaps', parts.gaps), card('Post-mortems', parts.posts), agent));
		this.body = h('div', { class: 'page' });
		root.append(this.body);
		this.start();
	}

	get(path, params)
	{
		return get(path, params, { signal: this.ctx.signal });
	}

	async start()
	{
		const { ctx } = this;
		put(this.body, coming('The pod'));
		try {
			this.take(await this.get(`/pods/${ctx.id}`).catch((error) => this.past(error)));
		} catch (error) {
			if (error.name !== 'AbortError')
				replace(this.body, failure(error, () => this.start()));
			return;
		}
		for (const node of [this.parts.headline, this.parts.figures, ...this.living])
			node.hidden = !!this.pod.past;
		this.lower.classList.toggle('columns', !this.pod.past);
		this.paintHead();
		arrive(this.body, this.top, this.lower);
		this.chart = stacked(this.canvas, { label: 'Memory of this pod by owner, against its limit',
			onRange: (from, to) => this.setRange({ from, to: Math.min(to, Math.ceil(this.now())) }), onReset: () => this.setRange({ from: null, to: null }) });
		this.live = this.pod.past ? null : subscribe({ subscribe: 'pod', pod: ctx.id }, { message: (m) => this.onMessage(m), state: (state) => { this.line = state; } });
		this.timer = setInterval(() => this.tick(), 1000);
		this.paint();
		this.loadSeries();
		this.loadPosts();
	}

	setRange(params)
	{
		this.ctx.setParams(params);
		this.control.paint();
		this.loadSeries();
	}

	/* One not heard of for a day: its samples are there, and its workload (?w=) knows its name. */
	async past(error)
	{
		if (error.status !== 404)
			throw error;
		const { id, params } = this.ctx, w = params.get('w');
		await this.get(`/pods/${id}/samples`, { step: '1h' });
		const found = w ? (await this.get(`/workloads/${w}/pods`, { past: true, limit: 1000 })).items.find((item) => item.id === id) : null;
		return { id, past: true, workload_id: w, subject: found?.subject ?? { pod: `pod ${id}`, jobs: [], labels: {} }, agent_id: null, agent_version: null, connected: false,
			said_bye: false, since_ms: found?.last_seen_ms ?? null, clock_offset_ms: null, sample: null, composition: null, findings: [], findings_left_out: 0, last_postmortem_ms: null };
	}

	/* A pod as the API or the stream has it. */
	take(pod)
	{
		const before = this.pod;
		this.pod = pod;
		this.takenAt = performance.now();
		this.ctx.setTitle(pod.subject.pod ?? 'Pod');
		if (before?.sample?.pid && pod.sample && pod.sample.pid !== before.sample.pid) { /* none, or the next one already */
			this.died = this.now();
			this.ctx.announce('The watched process is gone');
			this.loadPosts();
		} else if (before && pod.last_postmortem_ms !== before.last_postmortem_ms) {
			this.loadPosts();
		}
		this.loadFindings();
	}

	/* The collector's clock as of now: its figure when this came, and what has passed here since. */
	age()
	{
		return this.pod.sample ? this.pod.sample.age_ms + performance.now() - this.takenAt : null;
	}

	now()
	{
		return this.pod.sample ? this.pod.sample.received_ms + this.age() : now();
	}

	range()
	{
		return rangeOf(this.ctx.params, this.now());
	}

	onMessage(message)
	{
		if (message.type === 'gone') {
			this.pod = { ...this.pod, connected: false };
		} else if (message.type === 'pod') {
			this.take(message.pod);
			this.extend();
		} else {
			return;
		}
		this.paint();
	}

	/* The newest sample, at the end of a chart that follows the present; with its owners where it was a scan. */
	extend()
	{
		const { series, pod: { sample, composition } } = this;
		if (!series || !sample || !this.range().live)
			return;
		const scanned = composition && composition.age_ms <= sample.age_ms + 1500;
		if (append(series, sample, scanned ? Object.fromEntries(composition.owners.map((row) => [row.owner, row.bytes])) : null))
			this.drawChart();
	}

	/* The texts of the gravest: they say what to change. */
	async loadFindings()
	{
		for (const open of gravestFirst(this.pod.findings).slice(0, 4)) {
			const had = this.wholes.get(open.id);
			if (had && had.stamp === open.updated_ms && had.severity === open.severity)
				continue;
			try {
				this.wholes.set(open.id, { ...await this.get(`/findings/${open.id}`), stamp: open.updated_ms });
				this.paint();
			} catch {
				return; /* the list of findings says what is wrong when one is opened */
			}
		}
	}

	async loadSeries()
	{
		const range = this.range();
		const turn = ++this.turn;
		this.loadedAt = performance.now();
		const step = stepFor(range, this.chart.width());
		const between = { from: Math.floor(range.from) - (step < 60000 ? LEAD_MS : 0), to: Math.ceil(range.to) + (range.live ? 60000 : 0) };
		try {
			const [series, events] = await Promise.all([this.get(`/pods/${this.ctx.id}/samples`, { ...between, step: String(step) }),
				this.allEvents(between).catch(() => null)]);
			if (turn !== this.turn)
				return;
			Object.assign(this, { series, events });
			replace(this.problem);
			this.drawChart();
			this.paint();
		} catch (error) {
			if (error.name !== 'AbortError' && turn === this.turn)
				replace(this.problem, 'The series could not be loaded: ', prose(error.message));
		}
	}

	/* In pages; a month of checkpoints is cut off where their bars would cover the axis anyway. */
	async allEvents({ from, to })
	{
		const events = [];
		for (let page = 0, next = from; page < EVENT_PAGES && next !== null; page++) {
			const { items, next_ms } = await this.get(`/pods/${this.ctx.id}/events`, { from: next, to });
			events.push(...items);
			next = next_ms;
		}
		return events;
	}

	async loadPosts()
	{
		const { namespace, pod } = this.pod.subject;
		this.lookedAt = performance.now();
		try {
			const { items } = await this.get('/postmortems', { namespace, pod, limit: 50 });
			this.posts = items.filter((post) => post.pod === this.pod.id);
			this.paint();
		} catch {
			/* who waits for one asks again */
		}
	}

	async poll()
	{
		this.askedAt = performance.now();
		try {
			this.onMessage({ type: 'pod', pod: await this.get(`/pods/${this.ctx.id}`) });
		} catch {
			/* its age says it; and again in a while */
		}
	}

	drawChart()
	{
		const range = this.range();
		this.model = model(this.series, range.from);
		this.marks = marksOf({ events: this.events, postmortems: this.posts, rows: this.model.rows, range });
		this.chart.update({ model: this.model, marks: this.marks, range });
		this.drawnTo = range.to;
	}

	/* Time has gone on by a pixel of the chart: an hour is some 4 s a pixel, a month is an hour. */
	isBehind()
	{
		const { from, to } = this.range();
		return to - this.drawnTo >= (to - from) / this.chart.width();
	}

	tick()
	{
		const now = performance.now(), { pod } = this;
		if (this.range().live && now - this.loadedAt > REFRESH_MS)
			this.loadSeries();
		else if (this.range().live && this.series && this.isBehind())
			this.drawChart();
		if (!pod.past && this.line !== 'live' && now - Math.max(this.takenAt, this.askedAt) > POLL_MS)
			this.poll();
		if (this.died && !this.post() && now - this.lookedAt > LOOK_MS)
			this.loadPosts();
		this.paintHead();
	}

	/* Of the death that was watched, or of the last one where no process is watched now. */
	post()
	{
		return this.posts.find((post) => !this.died || post.received_ms >= this.died - 60000) ?? null;
	}

	paintHead()
	{
		const { pod, died } = this;
		const age = this.age();
		this.body.classList.toggle('page-stale', podState(pod, age) !== 'connected');
		put(this.parts.head, podHeader(pod, age));
		const post = this.post();
		const dead = died || pod.sample?.pid === null || post?.died_ms + 5000 >= pod.sample?.taken_ms;
		put(this.parts.death, dead ? h('section', { class: 'act edge-critical', role: 'status' },
			h('p', { class: 'act-title' }, died ? ['The watched process is gone since ', when(died), pod.sample?.pid ? '; another one runs.' : '.'] : 'No process is watched in this pod now.'),
			post ? h('p', null, 'Post-mortem: ', h('a', { href: link(`postmortems/${post.id}`) }, prose(post.title ?? post.cause))) :
				note(died ? 'Its post-mortem has not come yet; it is linked here when it does.' : 'No post-mortem of it is known.')) : null);
	}

	paint()
	{
		const { pod, parts, posts } = this;
		if (!this.chart)
			return;
		const { sample, composition } = pod;
		const rows = pod.ledger ?? composition?.owners;
		const age = composition ? composition.age_ms + performance.now() - this.takenAt : null;
		const its = pod.workload_id ? h('a', { href: link(`workloads/${pod.workload_id}`) }, 'its workload') : 'its workload';
		this.paintHead();
		put(parts.headline, podHeadline(this.ctx, pod, this.wholes, podState(pod, this.age()), () => this.poll()));
		put(parts.figures, podFigures(pod));
		this.paintFindings();
		put(parts.ledger, ledgerTable(rows, { residual: composition?.residual_bytes, charge: sample?.charge_bytes, budgets: pod.budgets, age }));
		put(parts.budgets, budgetTable(pod.budgets, rows));
		put(parts.context, contextFacts(sample?.context));
		put(parts.pressure, sample ? pressureFacts(sample) : note('No sample yet.'));
		put(parts.marks, marksList(this.marks));
		put(parts.gaps, holesList(this.model?.holes ?? []));
		put(parts.posts, posts.length ? list(posts.slice(0, 10).map((post) => [dim(when(post.died_ms)), ' ', rowLink(`postmortems/${post.id}`, prose(post.title ?? post.cause)),
			post.inferred ? [' ', badge('inferred')] : null])) : note('None of this pod. Those of pods before it stand under ', its, '.'));
		put(parts.agent, agentFacts(pod, this.age()));
	}

	/* One that is open stays so when it is updated; what has not changed is not touched. */
	paintFindings()
	{
		const { pod, parts } = this;
		const folds = gravestFirst(pod.findings).map((open) => {
			const key = `${open.updated_ms} ${open.severity} ${open.silenced?.id}`;
			const had = this.folds.get(open.id);
			return [open.id, had?.key === key ? had : { key, fold: findingFold(open, async (id) => this.wholes.get(id) ?? this.get(`/findings/${id}`), had?.fold.open) }];
		});
		const nodes = folds.map(([, { fold }]) => fold);
		if (pod.findings_left_out || !nodes.length)
			nodes.push(note(nodes.length ? `and ${pod.findings_left_out} more` : 'None is open.'));
		if (nodes.length !== parts.findings.children.length || nodes.some((node, i) => node !== parts.findings.children[i] && node.tagName === 'DETAILS'))
			replace(parts.findings, nodes);
		this.folds = new Map(folds);
	}

	unmount()
	{
		clearInterval(this.timer);
		this.live?.close();
		this.chart?.destroy();
	}

	update(ctx)
	{
		this.control.paint();
		if (this.chart)
			this.loadSeries();
	}
}

export default {
	title: () => 'Pod',
	mount: (root, ctx) => new PodPage(root, ctx),
};
