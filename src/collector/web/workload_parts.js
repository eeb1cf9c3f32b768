/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a workload's page: its pods, who stands out, its findings, its deaths, its alerts. */
import { h, name, prose, replace, s } from './dom.js';
import { bytes, count, duration, plural } from './format.js';
import { aged, columnsOf } from './fleet_columns.js';
import { link } from './router.js';
import { gravestFirst, severityMark } from './severity.js';
import { ownerMark, rulePage, silencedBadge } from './finding_view.js';
import { byRank, paintOf } from './owners.js';
import { badge, dim, known, list, note, rowLink, table } from './parts.js';
import { stamp, when } from './time.js';

const CAUSES = {
	unknown: 'cause not known', 'container-limit': 'killed at its own limit', 'pod-limit': 'killed at the pod’s limit', node: 'the node was out of memory',
	outside: 'killed from outside: pod or node', sigkill: 'killed by SIGKILL', 'java-oom': 'ended by OutOfMemoryError', exit: 'ended by itself',
};
export const causeText = (cause) => CAUSES[cause] ?? name(cause, 32);

/* A row that is moved does not lose the focus with it. */
function reorder(body, rows)
{
	const focused = body.contains(document.activeElement) ? document.activeElement : null;
	body.replaceChildren(...rows);
	if (focused && body.contains(focused))
		focused.focus({ preventScroll: true });
}

/* The fleet's columns. Rows come in order; one is made anew only when something of it has changed. */
export function podsTable()
{
	const columns = columnsOf('pods');
	const body = h('tbody', { role: 'rowgroup' });
	const made = new Map();
	const element = h('div', { class: 'scroll pods-place', tabindex: 0, role: 'group', aria: { label: 'Pods' } }, h('table', { class: 'figures pods', role: 'table' },
		h('thead', null, h('tr', null, columns.map(({ id, label }) => h('th', { scope: 'col', class: `c-${id}` }, label)))), body));
	return {
		element,
		show(rows, silent_ms)
		{
			const wanted = rows.map((row) => {
				const now = { ...aged(row, performance.now() - row.at, silent_ms), at: 0, sent_ms: 0, age_ms: 0, workload: null, namespace: null };
				const key = JSON.stringify(now);
				const one = made.get(row.id) ?? { tr: h('tr', { role: 'row' }) };
				made.set(row.id, one);
				if (one.key !== key && !one.tr.contains(document.activeElement)) {
					one.key = key;
					replace(one.tr, columns.map((column) => h('td', { class: `c-${column.id}`, role: 'cell' }, column.cell(now))));
					one.tr.dataset.row = '';
					one.tr.classList.toggle('stale-row', row.state !== 'connected');
				}
				return one.tr;
			});
			const there = new Set(rows.map((row) => row.id));
			for (const id of made.keys())
				if (!there.has(id))
					made.delete(id);
			if (wanted.length !== body.children.length || wanted.some((tr, i) => body.children[i] !== tr))
				reorder(body, wanted);
		},
	};
}

export function pastTable(items, posts, w)
{
	const death = new Map(posts.map((post) => [post.pod, post]));
	return table(['pod', 'first seen', 'last seen', 'lived', 'end'], items.map(({ id, subject, first_seen_ms: first, last_seen_ms: last }) => [
		rowLink(`pods/${id}`, name(subject.pod ?? id, 64), { from: first, to: last, w }), when(first), when(last), duration((last - first) / 1000),
		death.has(id) ? h('a', { href: link(`postmortems/${death.get(id).id}`) }, causeText(death.get(id).cause)) : dim('no post-mortem')]), 'Pods that are gone');
}

/* --- who stands out ----------------------------------------------------------------------------- */

/* One dot a pod on a line from 0 to the largest; the stroke is the median. */
function strip({ owner, role, max_bytes: most, median_bytes: median, outliers }, pods)
{
	const x = (n) => 4 + n / Math.max(most, 1) * 192;
	const out = new Set(outliers.map((one) => one.pod));
	const dots = pods.filter((pod) => pod.subject.role === role).flatMap(({ id, subject, composition }) => composition.owners.filter((row) => row.owner === owner).map((row) => ({ pod: id, pod_name: subject.pod, bytes: row.bytes })));
	return s('svg', { class: 'strip', viewBox: '0 0 200 18', role: 'img', aria: { label: `median ${bytes(median)}, largest ${bytes(most)}` } }, s('line', { class: 'axis', x1: 4, x2: 196, y1: 9, y2: 9 }),
		s('line', { class: 'median', x1: x(median), x2: x(median), y1: 1, y2: 17 }), (dots.length ? dots : outliers).map((dot) => s('circle', { cx: x(Math.min(dot.bytes, most)), cy: 9, r: out.has(dot.pod) ? 4.5 : 2.6,
			class: out.has(dot.pod) ? 'out' : null, style: { fill: paintOf(owner) } }, s('title', null, `${dot.pod_name ?? dot.pod}: ${bytes(dot.bytes)}`))));
}

/* told: of /workloads/{id}/owners; pods: those whose compositions are known, for the dots. */
export function outliers(told, pods)
{
	if (!told)
		return note('Not known: this collector does not compare pods.');
	const rows = told.owners.filter((row) => row.max_bytes > 0).sort((a, b) => byRank(a.owner, b.owner));
	const out = rows.filter((row) => row.outliers.length).sort((a, b) => b.max_bytes - a.max_bytes), rest = rows.filter((row) => !row.outliers.length);
	if (!rows.length)
		return note('No composition of a connected pod is known: it comes with the first scan of each.');
	const roles = new Set(rows.map((row) => row.role)).size;
	const lines = (some) => table(['owner', 'each pod', '#median', '#largest', '~stands out'], some.map((row) => [[ownerMark(row.owner), roles > 1 ? dim(` of ${row.role}s`) : null], strip(row, pods), row.median_bytes, row.max_bytes,
		row.outliers.length ? row.outliers.slice(0, 5).map((one) => h('div', null, h('a', { href: link(`pods/${one.pod}`) }, name(one.pod_name ?? one.pod, 48)), ` ${bytes(one.bytes)}`,
			known(one.times_median_bp) ? h('strong', null, `, ${(one.times_median_bp / 10000).toFixed(1)} × the median`) : null)) : dim('alike')]));
	return [out.length ? lines(out) : note('No pod stands out: each owner is much the same in all pods, or there are too few to say.'),
		rest.length ? h('details', null, h('summary', null, `${out.length ? 'The other' : 'All'} ${plural(rest.length, 'owner')}`), lines(rest)) : null];
}

/* --- findings, deaths, alerts ---------------------------------------------------------------------- */
export function findingsByRule(items)
{
	const rules = new Map();
	for (const item of gravestFirst(items))
		rules.set(item.rule, [...(rules.get(item.rule) ?? []), item]);
	return rules.size ? [...rules.values()].map((some) => h('section', { class: `finding-fold edge-${some[0].severity}` },
		h('p', null, severityMark(some[0].severity), ' ', rulePage(some[0].rule), dim(` at ${plural(new Set(some.map((item) => item.pod)).size, 'pod')}`)),
		list(some.slice(0, 6).map((item) => [rowLink(`findings/${item.id}`, prose(item.title ?? item.rule)), dim(' · ', name(item.subject.pod ?? 'the collector', 40), ' · since ', when(item.opened_ms)),
			silencedBadge(item.silenced)])), some.length > 6 ? note(`and ${count(some.length - 6)} more`) : null)) : note('None is open.');
}

/* Deaths on a line of time that ends now, in the colour of who grew; what was no matter of memory is hollow. */
export function deaths(posts, now)
{
	const timed = posts.filter((post) => post.died_ms ?? post.received_ms);
	if (!timed.length)
		return note('No death of a pod of this workload is known.');
	const at = (post) => post.died_ms ?? post.received_ms;
	const from = Math.min(...timed.map(at)), span = Math.max(now - from, 3600000);
	return [s('svg', { class: 'deaths', viewBox: '0 0 1000 34', preserveAspectRatio: 'none', role: 'img', aria: { label: `${plural(timed.length, 'death')} since ${stamp(from)}` } },
		s('line', { class: 'axis', x1: 0, x2: 1000, y1: 17, y2: 17 }), timed.map((post) => s('rect', { x: 6 + (at(post) - from) / span * 980, y: 6, width: 7, height: 22,
			style: { fill: post.owner && !['exit', 'sigkill', 'unknown'].includes(post.cause) ? paintOf(post.owner) : 'var(--bg)' } }, s('title', null, `${stamp(at(post))}: ${post.title ?? post.cause}`)))),
	h('p', { class: 'muted deaths-ends' }, h('span', null, stamp(from)), h('span', null, 'now')),
	table(['died', 'pod', 'cause', 'grew', '~what'], timed.slice(0, 30).map((post) => [when(at(post)), name(post.subject.pod ?? post.pod, 48),
		[causeText(post.cause), post.inferred ? [' ', badge('inferred')] : null], post.owner ? ownerMark(post.owner) : dim('not known'), rowLink(`postmortems/${post.id}`, prose(post.title ?? 'post-mortem'))]), 'Deaths')];
}

export function alertsList(items)
{
	if (!items)
		return note('Not known: this collector does not tell its alerts.');
	const open = items.filter((item) => item.ended_ms === null);
	return open.length ? list(open.map((item) => [severityMark(item.severity), ' ', prose(item.title ?? item.rule), dim(' since ', when(item.started_ms), `, ${plural(item.pods, 'pod')}`), silencedBadge(item.silenced),
		list(item.deliveries.map((one) => [name(one.receiver, 40), one.state === 'told' ? [' told ', when(one.told_ms)] : one.state === 'failing' ?
			h('span', { class: 'sev-critical' }, ` not reached, ${one.tries} tries: `, prose(one.last_error ?? '?')) : ` ${one.state}`]))])) :
		note('No alert is open. ', h('a', { href: link('alerts') }, 'All alerts'));
}
