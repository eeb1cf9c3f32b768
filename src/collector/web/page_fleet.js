/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet: which job is in danger, who fills its pods, what to do. Only the rows in sight are subscribed to, so ten
 * thousand pods cost what one screen costs.
 */
import { h, name, replace } from './dom.js';
import { count, percentBp, plural, roughly } from './format.js';
import { aged, columnsOf } from './fleet_columns.js';
import { badFilter, noAgents, noMatch } from './fleet_empty.js';
import { makeFilters, makeTiles } from './fleet_filter.js';
import { queryOf, readQuery, request, sameQuery, sortName, writeQuery } from './fleet_query.js';
import { makeTable } from './fleet_table.js';
import { subscribe } from './live.js';
import { put } from './parts.js';
import { link } from './router.js';
import { loading } from './states.js';

/* Whoever comes back from a pod finds the page as it was, at once; the next message brings it up to date. */
let kept = null; /* {query, fleet, y} */

/* While somebody aims at a row, none moves under the pointer; but no longer than that an order stays true. */
const AIM_MS = 1000;
const HOLD_MS = 3000;

let critical = null; /* pods, as last heard */

const page = {
	title: () => (critical ? `${count(critical)} critical, fleet` : 'Fleet'),
	mount(root, ctx)
	{
		return new FleetPage(root, ctx);
	},
};
export default page;

class FleetPage {
	constructor(root, ctx)
	{
		this.ctx = ctx;
		this.query = readQuery(ctx.params);
		this.fleet = null; /* the newest "fleet" message, its rows kept up to date by "rows" */
		this.heard = 0;    /* by performance.now() */
		this.lostAt = 0; /* the connection, by Date.now() */
		this.aimed = 0;
		this.held = null; /* a fleet that waits until nobody aims: {message, since} */
		this.window = [0, 60];
		const change = (make) => this.change(make(this.query));
		this.tiles = makeTiles(change);
		this.filters = makeFilters(change);
		this.table = makeTable({
			caption: 'Workloads', sort: (key) => this.sortBy(key), ask: (from, n) => this.ask(from, n) });
		this.headline = h('p', { class: 'headline' });
		this.matching = h('p', { class: 'matching muted' });
		this.note = h('div');
		root.append(h('h1', { class: 'unseen' }, 'Fleet'), this.headline, this.tiles.element, this.filters.element, this.matching,
			this.table.element, this.note);
		this.listen();
		this.show();
		if (kept && sameQuery(kept.query, this.query)) {
			this.take(kept.fleet, kept.heard);
			window.scrollTo(0, kept.y);
			this.table.later();
		}
		this.live = subscribe(request(this.query, ...this.window), {
			message: (m, sent) => this.message(m, queryOf(sent)),
			state: (state, since) => {
				this.lostAt = state === 'lost' ? since : 0;
			},
		});
	}

	listen()
	{
		const signal = this.ctx.signal;
		this.table.element.addEventListener('pointermove', () => {
			this.aimed = performance.now();
		}, { signal, passive: true });
		/* A row is a link for its whole width, but a text in it can be selected and other links in it go elsewhere. */
		this.table.element.addEventListener('click', (event) => {
			if (event.target.closest('a, button') || !window.getSelection().isCollapsed)
				return;
			event.target.closest('tr')?.querySelector('a[data-main]')?.click();
		}, { signal });
		document.getElementById('main').addEventListener('moverow', (event) => {
			event.preventDefault();
			this.table.moveFocus(event.detail);
		}, { signal });
		this.clock = setInterval(() => this.tick(), 1000);
	}

	/* Ages go on, also while nothing is heard. */
	tick()
	{
		if (this.held && !this.isAiming())
			this.release();
		else if (this.fleet)
			this.showRows();
	}

	ask(from, n)
	{
		this.window = [from, n];
		this.live?.update(request(this.query, from, n));
	}

	change(query)
	{
		this.query = query;
		this.ctx.setParams(writeQuery(query));
		this.requery();
	}

	update(ctx)
	{
		const query = readQuery(ctx.params);
		if (sameQuery(query, this.query))
			return;
		this.query = query;
		this.requery();
	}

	requery()
	{
		this.held = null;
		this.show();
		const top = this.table.element.getBoundingClientRect().top;
		if (top < 0)
			window.scrollBy(0, top - 60);
		this.window = [0, 60];
		this.table.askAgain();
	}

	sortBy(key)
	{
		const again = this.query.sort === key;
		this.change({ ...this.query, sort: key, descending: again && !this.query.descending });
	}

	isAiming()
	{
		const now = performance.now();
		return this.held ? now - this.aimed < AIM_MS && now - this.held.since < HOLD_MS : now - this.aimed < AIM_MS;
	}

	message(m, query)
	{
		if (m.type === 'fleet') {
			m.query = query;
			if (this.fleet && sameQuery(this.fleet.query, query) && this.fleet.from === m.from && this.isAiming())
				this.held = { message: m, since: this.held?.since ?? performance.now() };
			else
				this.take(m, performance.now());
		} else if (m.type === 'rows') {
			this.takeRows(m);
		} else if (m.type === 'error') {
			replace(this.note, badFilter(m.message, () => this.clear()));
		}
	}

	takeRows(m)
	{
		const fleet = this.held?.message ?? this.fleet;
		if (!fleet)
			return;
		for (const [index, row] of m.rows ?? [])
			fleet.rows[index] = row;
		for (const member of ['at_ms', 'total', 'matching', 'summary', 'facets'])
			if (m[member] !== undefined)
				fleet[member] = m[member];
		this.heard = performance.now();
		stamp((m.rows ?? []).map(([, row]) => row), m.at_ms, this.heard);
		if (this.held)
			return;
		this.showRows();
		if (m.summary || m.facets || m.matching !== undefined)
			this.show();
		else
			this.showHeadline(); /* it is of the first row, which may be among them */
	}

	release()
	{
		const { message } = this.held;
		this.held = null;
		this.take(message, performance.now());
	}

	take(m, heard)
	{
		m.facets ??= this.fleet?.facets;
		this.held = null;
		this.fleet = m;
		this.heard = heard;
		stamp(m.rows.filter((row) => row.at === undefined), m.at_ms, heard);
		this.show();
		this.showRows();
	}

	clear()
	{
		this.change({ ...readQuery(new URLSearchParams()), view: this.query.view });
	}

	show()
	{
		const { fleet, query } = this;
		const isAnswer = fleet && sameQuery(fleet.query, query); /* else it is of the query before */
		this.tiles.update(fleet?.summary, query);
		this.filters.update(query, fleet?.facets);
		/* Columns are of the rows that are there, which may still be those of the other view. */
		const { view } = fleet?.query ?? query;
		this.table.setColumns(columnsOf(view), query);
		this.table.setCaption(view === 'pods' ? 'Pods' : 'Workloads');
		this.table.element.setAttribute('aria-busy', String(!isAnswer));
		if (!fleet) {
			this.table.element.hidden = true;
			replace(this.note, loading('the fleet'));
			return;
		}
		const filtered = Object.keys(query.filter).length > 0;
		const none = isAnswer && fleet.matching === 0;
		this.table.element.hidden = none;
		this.filters.element.hidden = this.tiles.element.hidden = fleet.summary.pods === 0;
		replace(this.note, !none ? null : fleet.summary.pods === 0 ? noAgents() : noMatch(query, () => this.clear()));
		replace(this.matching, filtered ? `${count(fleet.matching)} of ${plural(fleet.total, query.view.slice(0, -1))} match` : null);
		this.showHeadline();
		this.sayCritical(fleet.summary.critical);
	}

	/* One sentence: who is first, when, by whom. It needs the list in its order of danger, from its first row. */
	showHeadline()
	{
		const { fleet } = this;
		const { query } = fleet;
		if (query.sort !== 'danger' || query.descending)
			put(this.headline, h('span', { class: 'muted' }, `Sorted by ${sortName(query)}. `),
				h('a', { href: link('', writeQuery({ ...query, sort: 'danger', descending: false })) }, 'What is in danger first'));
		else if (!fleet.from)
			put(this.headline, headline(fleet.rows[0], fleet));
	}

	sayCritical(n)
	{
		if (critical === n)
			return;
		if (critical !== null)
			this.ctx.announce(`${plural(n, 'pod')} critical`);
		critical = n;
		this.ctx.setTitle(page.title());
	}

	showRows()
	{
		const { fleet } = this;
		const now = performance.now();
		const silent = this.lostAt ? Date.now() - this.lostAt : 0;
		this.table.setModel({
			matching: fleet.matching,
			get: (i) => {
				const row = fleet.rows[i - fleet.from];
				return row ? aged(row, now - row.at, silent) : null;
			},
		});
	}

	unmount()
	{
		clearInterval(this.clock);
		this.table.close();
		this.live.close();
		kept = this.fleet ? { query: this.fleet.query, fleet: this.fleet, heard: this.heard, y: window.scrollY } : null;
	}
}

/* A row's age counts from the message that brought it: by the collector's clock what it says, by ours how long ago. */
function stamp(rows, at_ms, heard)
{
	for (const row of rows) {
		row.sent_ms = at_ms;
		row.at = heard;
	}
}

function place(row)
{
	return row.pods === undefined ? h('a', { href: link('pods/' + row.id) }, name(row.pod ?? `agent ${row.id}`)) :
		h('a', { href: link('workloads/' + row.id) }, row.workload === null ? '(no workload)' : name(row.workload));
}

function headline(row, fleet)
{
	if (!row)
		return null;
	const scope = fleet.matching < fleet.total ? ' (of what is shown)' : '';
	if (row.state !== 'connected' && row.likely_s === null)
		return ['Nothing here is heard of any more', scope, '.'];
	const old = row.state === 'connected' ? '' : ` (${row.state}: last heard ${roughly(row.age_ms / 1000)} before)`;
	const findingLink = row.finding ? h('a', { href: link('findings/' + row.finding.id) }, 'what to do') : null;
	if (row.likely_s !== null)
		return [h('strong', null, place(row)), ' reaches its limit in ', h('strong', null, 'about ' + roughly(row.likely_s)),
			row.grows === null ? '' : [': ', h('strong', null, name(row.grows)), ' grows'], scope, old, '. ', findingLink];
	if (row.severity === 'critical' || row.severity === 'warning')
		return [h('strong', null, place(row)), ': ', row.finding ? name(row.finding.title, 200) : row.severity, row.silenced ? ' (silenced)' : '',
			scope, old, '. ', findingLink];
	return ['No pod is forecast to reach its limit', row.freeboard_bp === null ? '' :
		[`; the least freeboard is ${percentBp(row.freeboard_bp)}, of `, place(row),
			row.forecast === 'inconclusive' ? ', whose forecast is not known yet' : ''], scope, '.'];
}
