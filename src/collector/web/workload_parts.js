/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a workload's page: its pods, who stands out, its findings, its deaths. */
import { h, name, prose, replace, s } from './dom.js';
import { bytes, count, duration, plural, severityRank } from './format.js';
import { aged, columnsOf } from './fleet_columns.js';
import { link } from './router.js';
import { severityMark } from './severity.js';
import { ownerMark, rulePage } from './finding_view.js';
import { figures, cell } from './pod_tables.js';
import { byRank, look } from './owners.js';
import { stamp, when } from './time.js';

export const CAUSES = {
	unknown: 'cause not known', 'container-limit': 'killed at its own limit', 'pod-limit': "killed at the pod's limit", node: 'the node was out of memory',
	outside: 'killed from outside: pod or node', sigkill: 'killed by SIGKILL', 'java-oom': 'ended by OutOfMemoryError', exit: 'ended by itself',
};
const GRAVE = new Set(['container-limit', 'pod-limit', 'node', 'outside', 'java-oom']);

/* --- pods ----------------------------------------------------------------------------------- */

/* A row of docs/live.md from a pod of the API, where there is no stream. */
export function rowOfPod(pod)
{
	const sample = pod.sample;
	const owners = [...(pod.composition?.owners ?? [])].sort((a, b) => b.bytes - a.bytes);
	const worst = [...pod.findings].sort((a, b) => severityRank(a.severity) - severityRank(b.severity))[0];
	return { ...pod.subject, id: pod.id, workload_id: pod.workload_id, agent_version: pod.agent_version, jdk: pod.jdk, engine: pod.engine_version,
		state: pod.connected ? 'connected' : 'gone', age_ms: sample?.age_ms ?? Date.now() - pod.heard_ms, severity: worst?.severity ?? null,
		findings: pod.findings.length, finding: worst ?? null, silenced: !!worst?.silenced, limit: sample?.limit_bytes ?? null, charge: sample?.charge_bytes ?? null,
		floor: sample?.floor_bytes ?? null, freeboard: sample?.freeboard_bytes ?? null, freeboard_bp: sample?.freeboard_bp ?? null, level: sample?.freeboard_level ?? null,
		likely_s: sample?.forecast?.likely_s ?? null, earliest_s: sample?.forecast?.earliest_s ?? null, latest_s: sample?.forecast?.latest_s ?? null,
		forecast: sample?.forecast?.kind ?? null, owner: owners[0]?.owner ?? null, owner_bytes: owners[0]?.bytes ?? null,
		grows: sample?.forecast?.owner ?? null, urgent: !!sample?.urgent, spark: null };
}

/* The order that counts: how soon, then how near, then how grave; what is gone stands last. */
export function byDanger(a, b)
{
	const last = (n) => n ?? Infinity;
	return (a.state === 'gone') - (b.state === 'gone') || last(a.likely_s) - last(b.likely_s) || last(a.freeboard_bp) - last(b.freeboard_bp) ||
		severityRank(a.severity) - severityRank(b.severity) || String(a.pod).localeCompare(String(b.pod));
}

/* The fleet's columns, without what is the same in each row. A row is made anew only when something of it changed. */
export function podsTable()
{
	const columns = columnsOf('pods');
	const body = h('tbody');
	const made = new Map();
	const element = h('div', { class: 'scroll' }, h('table', { class: 'figures pods' }, h('caption', { class: 'unseen' }, 'Pods of this workload'),
		h('thead', null, h('tr', null, columns.map((column) => h('th', { scope: 'col' }, column.label)))), body));
	return {
		element,
		show(rows, passed)
		{
			const wanted = [...rows].sort(byDanger).map((row) => {
				const now = { ...aged(row, passed), workload: null, namespace: null };
				const key = JSON.stringify({ ...now, age_ms: 0 });
				let one = made.get(row.id);
				if (one?.key !== key) {
					const cells = columns.map((column) => h('td', { class: `c-${column.id}` }, column.cell(now)));
					one = { key, tr: one?.tr ?? h('tr', { data: { row: '' } }) };
					if (!one.tr.contains(document.activeElement))
						replace(one.tr, cells);
					one.tr.classList.toggle('is-stale', row.state !== 'connected');
					made.set(row.id, one);
				}
				return one.tr;
			});
			if (wanted.some((tr, i) => body.children[i] !== tr) || body.children.length !== wanted.length)
				body.replaceChildren(...wanted);
		},
	};
}

export function pastTable(items, posts)
{
	const death = new Map(posts.map((post) => [post.pod, post]));
	return figures(['pod', 'first seen', 'last seen', 'lived', 'end'], items.map((item) => {
		const post = death.get(item.id);
		return h('tr', null, h('th', { scope: 'row' }, name(item.subject.pod ?? item.id, 64)), h('td', { class: 'n' }, when(item.first_seen_ms)), h('td', { class: 'n' }, when(item.last_seen_ms)),
			cell(item.first_seen_ms, duration((item.last_seen_ms - item.first_seen_ms) / 1000)),
			h('td', { class: 'n' }, post ? h('a', { href: link(`postmortems/${post.id}`) }, CAUSES[post.cause] ?? post.cause) : h('span', { class: 'muted' }, 'no post-mortem')));
	}), 'Pods that are gone');
}

/* --- outliers --------------------------------------------------------------------------------- */
function median(sorted)
{
	const middle = sorted.length >> 1;
	return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* Every pod's bytes by owner: [{owner, values: [{pod, pod_name, bytes}] ascending, median}]. */
export function ownersOf(pods)
{
	const of = new Map();
	for (const pod of pods)
		for (const row of pod.composition?.owners ?? [])
			if (pod.connected)
				of.set(row.owner, [...(of.get(row.owner) ?? []), { pod: pod.id, pod_name: pod.subject.pod, bytes: row.bytes }]);
	return [...of].map(([owner, values]) => {
		values.sort((a, b) => a.bytes - b.bytes);
		return { owner, values, median: median(values.map((v) => v.bytes)) };
	});
}

/* One dot a pod on a line from 0 to the largest; the stroke is the median. */
function strip(row, values)
{
	const most = Math.max(row.max_bytes ?? 0, 1), x = (n) => (4 + n / most * 192).toFixed(1);
	const out = new Set((row.outliers ?? []).map((o) => o.pod));
	return s('svg', { class: 'strip', viewBox: '0 0 200 18', role: 'img', aria: { label: `${plural(row.pods, 'pod')}, median ${bytes(row.median_bytes)}, largest ${bytes(row.max_bytes)}` } },
		s('line', { class: 'strip-axis', x1: 4, x2: 196, y1: 9, y2: 9 }), s('line', { class: 'strip-median', x1: x(row.median_bytes ?? 0), x2: x(row.median_bytes ?? 0), y1: 1, y2: 17 }),
		values.map((v) => s('circle', { cx: x(v.bytes), cy: 9, r: out.has(v.pod) ? 4.5 : 2.6, class: out.has(v.pod) ? 'strip-out' : null, style: { fill: `var(--owner-${look(row.owner).paint})` } },
			s('title', null, `${v.pod_name ?? v.pod}: ${bytes(v.bytes)}`))));
}

/* Who has twice the median and 64 MiB more stands out, where the collector does not say. */
const TIMES = 2, APART = 64 << 20;

function guessed(row)
{
	const most = row.values.at(-1);
	return { owner: row.owner, group: look(row.owner).group, pods: row.values.length, median_bytes: row.median, max_bytes: most.bytes, max_pod: most.pod, max_pod_name: most.pod_name,
		outliers: row.values.length < 3 ? [] : row.values.filter((v) => v.bytes > TIMES * row.median && v.bytes - row.median > APART).map((v) => ({ ...v, times_median_bp: row.median ? v.bytes / row.median * 10000 : null })) };
}

/* told: of /workloads/{id}/owners, or null. */
export function outliersTable(told, pods)
{
	const mine = new Map(ownersOf(pods).map((row) => [row.owner, row]));
	const rows = (told?.owners ?? [...mine.values()].map(guessed)).filter((row) => row.max_bytes > 0);
	const out = rows.filter((row) => row.outliers?.length).sort((a, b) => b.outliers[0].bytes - a.outliers[0].bytes);
	const more = rows.filter((row) => !row.outliers?.length).sort((a, b) => byRank(a.owner, b.owner));
	if (!rows.length)
		return h('p', { class: 'muted' }, 'No composition is known of any connected pod: it comes with the first scan of each.');
	const line = (row) => h('tr', null, h('th', { scope: 'row' }, ownerMark(row.owner)), h('td', { class: 'strip-cell' }, strip(row, mine.get(row.owner)?.values ?? row.outliers ?? [])),
		cell(row.median_bytes), cell(row.max_bytes), h('td', { class: 'who' }, row.outliers?.length ? row.outliers.slice(0, 5).map((o, i) => [i ? h('br') : null,
			h('a', { href: link(`pods/${o.pod}`) }, name(o.pod_name ?? o.pod, 48)), ` ${bytes(o.bytes)}`,
			o.times_median_bp ? h('strong', null, `, ${(o.times_median_bp / 10000).toFixed(1)} × the median`) : null]) : h('span', { class: 'muted' }, 'alike')));
	const table = (list) => figures(['owner', 'each pod', 'median', 'largest', 'stands out'], list.map(line));
	return h('div', null, out.length ? table(out) : h('p', null, rows[0].pods < 3 ? 'Too few pods to say who stands out.' : 'No pod stands out: each owner is much the same in all pods.'),
		h('details', null, h('summary', { class: 'muted' }, `${out.length ? 'The other' : 'All'} ${plural(more.length, 'owner')}`), table(more)));
}

/* --- findings and deaths ------------------------------------------------------------------------ */
export function findingsTable(items)
{
	const rules = new Map();
	for (const item of items)
		rules.set(item.rule, [...(rules.get(item.rule) ?? []), item]);
	const groups = [...rules.values()].map((list) => list.sort((a, b) => severityRank(a.severity) - severityRank(b.severity)))
		.sort((a, b) => severityRank(a[0].severity) - severityRank(b[0].severity) || b.length - a.length);
	if (!groups.length)
		return h('p', { class: 'muted' }, 'None is open.');
	return h('ul', { class: 'by-rule' }, groups.map((list) => h('li', { class: `finding-fold edge-${list[0].severity}` },
		h('p', null, severityMark(list[0].severity), ' ', rulePage(list[0].rule), h('span', { class: 'muted' }, ` at ${plural(new Set(list.map((item) => item.pod)).size, 'pod')}`)),
		h('ul', { class: 'events' }, list.slice(0, 6).map((item) => h('li', { data: { row: '' } }, h('a', { href: link(`findings/${item.id}`), data: { main: '' } }, prose(item.title ?? item.rule)),
			h('span', { class: 'muted' }, ' · ', name(item.subject.pod ?? 'the collector', 40), ' · since ', when(item.opened_ms)), item.silenced ? h('span', { class: 'badge' }, 'silenced') : null))),
		list.length > 6 ? h('p', { class: 'muted' }, `and ${count(list.length - 6)} more pods`) : null)));
}

/* Deaths on a line of time that ends now: a mark in the colour of who grew; what was no matter of memory is hollow. */
export function deathsTimeline(posts, now)
{
	const times = posts.map((post) => post.died_ms ?? post.received_ms).filter(Boolean);
	if (!times.length)
		return h('p', { class: 'muted' }, 'No death of a pod of this workload is known.');
	const from = Math.min(...times), span = Math.max(now - from, 3600000);
	const x = (at) => (12 + (at - from) / span * 976).toFixed(1);
	return h('div', null, s('svg', { class: 'deaths', viewBox: '0 0 1000 34', preserveAspectRatio: 'none', role: 'img', aria: { label: `${plural(times.length, 'death')} since ${stamp(from)}` } },
		s('line', { class: 'strip-axis', x1: 0, x2: 1000, y1: 20, y2: 20 }),
		posts.map((post) => s('rect', { x: x(post.died_ms ?? post.received_ms), y: 6, width: 6, height: 20, class: GRAVE.has(post.cause) ? 'death' : 'death hollow',
			style: { fill: GRAVE.has(post.cause) && post.owner ? `var(--owner-${look(post.owner).paint})` : 'none' } },
		s('title', null, `${stamp(post.died_ms)}: ${post.title ?? post.cause}`)))),
	h('p', { class: 'muted deaths-ends' }, h('span', null, stamp(from)), h('span', null, 'now')),
	figures(['died', 'pod', 'cause', 'grew', 'what'], posts.slice(0, 30).map((post) => h('tr', { data: { row: '' } }, h('th', { scope: 'row' }, when(post.died_ms)),
		h('td', { class: 'n' }, name(post.subject.pod ?? post.pod, 48)), h('td', { class: 'n' }, CAUSES[post.cause] ?? name(post.cause, 24), post.inferred ? [' ', h('span', { class: 'badge' }, 'inferred')] : null),
		h('td', { class: 'n' }, post.owner ? ownerMark(post.owner) : h('span', { class: 'muted' }, 'not known')),
		h('td', { class: 'n text' }, h('a', { href: link(`postmortems/${post.id}`), data: { main: '' } }, prose(post.title ?? 'post-mortem')))))));
}

export function alertsList(items)
{
	if (!items)
		return h('p', { class: 'muted' }, 'Not known: this collector does not tell its alerts.');
	const open = items.filter((item) => item.ended_ms === null);
	return open.length ? h('ul', { class: 'events' }, open.map((item) => h('li', null, severityMark(item.severity), ' ', prose(item.title ?? item.rule), h('span', { class: 'muted' }, ' since ', when(item.started_ms), `, ${plural(item.pods, 'pod')}`),
		item.silenced ? [' ', h('span', { class: 'badge' }, item.silenced.kind === 'acknowledgement' ? 'acknowledged' : 'silenced')] : null,
		h('ul', null, item.deliveries.map((d) => h('li', { class: d.state === 'failing' ? 'sev-critical' : 'muted' }, name(d.receiver, 40), d.state === 'told' ? [': told ', when(d.told_ms)] :
			d.state === 'failing' ? [`: failing after ${plural(d.tries, 'try', 'tries')}: `, prose(d.last_error ?? '?')] : ': due')))))) :
		h('p', { class: 'muted' }, 'No alert is open. Receivers are set under ', h('code', null, 'alerts:'), ', and ', h('a', { href: link('alerts') }, 'the alerts page'), ' has all.');
}

