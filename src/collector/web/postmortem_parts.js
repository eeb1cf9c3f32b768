/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a post-mortem's page. Its body is what the agent wrote (src/agent/postmortem_json.c) or the collector inferred. */
import { h, name, prose } from './dom.js';
import { bytes, count, duration, percentBp, signedBytes, timeToLimit } from './format.js';
import { ownerMark, rulePage } from './finding_view.js';
import { severityMark } from './severity.js';
import { cell, contextFacts, facts, figures } from './pod_tables.js';
import { stamp, zone } from './time.js';

const known = (n) => n !== null && n !== undefined;
const size = (n) => (known(n) ? bytes(n) : null);

/* --- the last minutes as a series --------------------------------------------------------------- */
function pointOf(sample)
{
	const limit = sample.limit_bytes;
	return { received_ms: sample.wall_ms, samples: 1, limit_bytes: typeof limit === 'number' ? limit : null, charge_bytes: sample.charge_bytes ?? null,
		floor_bytes: sample.floor_bytes ?? null, freeboard_bytes: sample.freeboard_bytes ?? null, groups: sample.groups_bytes ?? {},
		owners: sample.composition?.owners_bytes ?? null };
}

/* Samples of all parts that are here. By the agent's clock, which is the one of the death too. PURE. */
export function timelineOf(item)
{
	const samples = item.bodies.flatMap((body) => body?.timeline ?? []).filter((sample) => sample.wall_ms);
	const points = samples.map(pointOf).sort((a, b) => a.received_ms - b.received_ms);
	const limit = item.bodies[0]?.limit_bytes;
	const usual = points.length > 2 ? points.slice(1).map((point, i) => point.received_ms - points[i].received_ms).sort((a, b) => a - b)[points.length >> 1] : 10000;
	const holes = [];
	points.forEach((point, i) => {
		/* An inferred one has not the limit in each sample, but it was the last one's. */
		if (item.inferred && point.limit_bytes === null)
			point.limit_bytes = typeof limit === 'number' ? limit : null;
		if (i && point.received_ms - points[i - 1].received_ms > Math.max(3 * usual, 45000))
			holes.push({ from_ms: points[i - 1].received_ms, to_ms: point.received_ms });
	});
	return { points, holes, gaps: [], step_ms: 0 };
}

/* --- tables ------------------------------------------------------------------------------------- */
export function grownTable(growth)
{
	if (!growth)
		return h('p', { class: 'muted' }, 'Not known: the recorder held fewer than two samples of this process.');
	const row = (mark, line) => h('tr', null, h('th', { scope: 'row' }, mark), cell(line.from_bytes), cell(line.to_bytes),
		h('td', { class: 'n' }, h('strong', null, signedBytes(line.grown_bytes))));
	const owners = growth.owners ?? [], groups = growth.groups ?? [];
	return h('div', null, h('p', { class: 'muted' }, `From ${stamp(Date.parse(growth.from))} to ${stamp(Date.parse(growth.to))} ${zone(Date.parse(growth.to))}.`),
		owners.length ? figures(['owner', 'from', 'to', 'grown'], owners.map((line) => row(ownerMark(line.owner), line))) :
			h('p', { class: 'muted' }, 'By owner it is not known: there were no two scans. By the kernel\'s groups:'),
		groups.length ? h('details', { open: !owners.length }, h('summary', { class: 'muted' }, 'By group'), figures(['group', 'from', 'to', 'grown'], groups.map((line) => row(line.group, line)))) : null);
}

export function eventsTable(events)
{
	const rows = ['max', 'oom', 'oom_kill', 'oom_group_kill', 'high'];
	if (!events?.before)
		return h('p', { class: 'muted' }, 'memory.events was not read.');
	return h('div', null, figures(['memory.events', 'before', 'after'], rows.map((key) => {
		const before = events.before[key], after = events.after?.[key];
		const rose = known(before) && known(after) && after > before;
		return h('tr', null, h('th', { scope: 'row' }, key), cell(before ?? null, count(before)), h('td', { class: 'n' }, rose ? h('strong', null, count(after)) : events.after ? count(after) : '–'));
	})), events.after ? null : h('p', { class: 'muted' }, 'After the end it could not be read any more: the cgroup was gone.'));
}

export function changedTable(changed)
{
	if (!changed)
		return h('p', { class: 'muted' }, 'There is nothing to compare with: no life before this one was seen.');
	if (!changed.length)
		return h('p', { class: 'muted' }, 'Nothing that is known: limit, image, settings, JDK, kernel and jobs are the same as in the life before.');
	const text = (what, value) => (value === '' || value === null ? h('span', { class: 'muted' }, 'not set') : /limit/.test(what) && /^\d+$/.test(value) ? bytes(Number(value)) : h('code', null, name(value, 80)));
	return figures(['what', 'in the life before', 'in this one'], changed.map((row) => h('tr', null, h('th', { scope: 'row' }, name(row.what, 80)),
		h('td', { class: 'n' }, text(row.what, row.before)), h('td', { class: 'n' }, text(row.what, row.now)))));
}

export function deepReading(deep)
{
	if (!deep)
		return h('p', { class: 'muted' }, 'None was made: it is, once, when a target comes near its limit and there is time.');
	const mappings = deep.mappings, threads = deep.threads;
	return h('div', null, h('p', { class: 'muted' }, `Taken ${stamp(Date.parse(deep.taken))}.`),
		h('h3', null, 'Largest mappings'), mappings ? figures(['name', 'kind', 'resident', 'size'], mappings.map((row) => h('tr', null, h('th', { scope: 'row' }, row.name === null ? h('span', { class: 'muted' }, 'no name') : h('code', null, name(row.name, 48))),
			h('td', { class: 'n' }, row.kind), cell(row.resident_bytes), cell(row.size_bytes)))) : h('p', { class: 'unread' }, 'unread'),
		known(deep.mappings_total) ? h('p', { class: 'muted' }, `of ${count(deep.mappings_total)} mappings`) : null,
		h('h3', null, 'Threads by name'), threads ? figures(['name', 'threads'], threads.map((row) => h('tr', null, h('th', { scope: 'row' }, row.name === null ? 'no name' : h('code', null, name(row.name, 48))), cell(row.count, count(row.count))))) :
			h('p', { class: 'unread' }, 'unread'),
		threads ? h('p', { class: 'muted' }, known(deep.threads_total) ? `of ${count(deep.threads_total)} threads` : 'of more than were looked at') : null);
}

export function openThen(findings)
{
	return findings?.length ? h('ul', { class: 'events' }, findings.map((row) => h('li', null, severityMark(row.severity), ' ', prose(row.title ?? row.rule), ' ', rulePage(row.rule),
		h('span', { class: 'muted' }, row.opened ? ` since ${stamp(Date.parse(row.opened))}` : '')))) :
		h('p', { class: 'muted' }, findings ? 'No finding was open: what happened was not foreseen. That is worth a report to us.' : 'Not known.');
}

export function foretold(body)
{
	const forecast = body.forecast;
	const text = !forecast?.kind ? null : forecast.kind === 'reaches' ? [`the limit in ${timeToLimit(forecast.likely_s, forecast.earliest_s, forecast.latest_s)}`, forecast.owner ? [', by ', ownerMark(forecast.owner)] : null] :
		forecast.kind.replace('-', ' ');
	return h('div', null, facts([['forecast in the last sample', text]]), body.context ? contextFacts(body.context) : h('p', { class: 'muted' }, 'What the engine was doing is not known.'));
}

/* Limit, charge, floor and what the machine had, as last seen. */
export function lastSeen(body)
{
	return facts([['limit', body.limit_bytes === 'none' ? 'none' : size(body.limit_bytes)], ['charge', size(body.charge_bytes)], ['floor', size(body.floor_bytes)], ['highest floor seen', size(body.peak_floor_bytes)],
		['spike at checkpoints', size(body.spike_bytes)], ['pod\'s limit', body.pod_limit_bytes === undefined ? undefined : body.pod_limit_bytes === 'none' ? 'none' : size(body.pod_limit_bytes)], ['pod\'s charge', body.pod_charge_bytes === undefined ? undefined : size(body.pod_charge_bytes)],
		['free on the node', known(body.host_available_bytes) ? `${bytes(body.host_available_bytes)} of ${bytes(body.host_memory_bytes)}` : body.host_available_bytes === undefined ? undefined : null],
		['node under pressure, full', body.node_psi_full_avg10_bp === undefined ? undefined : known(body.node_psi_full_avg10_bp) ? percentBp(body.node_psi_full_avg10_bp) : null],
		['exit status', body.exit_status === undefined ? undefined : known(body.exit_status) ? String(body.exit_status) : null],
		['last seen', known(body.last_seen_ms) ? `${duration(body.last_seen_ms / 1000)} before the end` : undefined]]);
}

export function life(body)
{
	const own = body.life;
	return own ? facts([['image', own.image ? name(own.image, 80) : null], ['engine', own.engine ? name(own.engine, 32) : null], ['JDK', own.jdk ? name(own.jdk, 32) : null], ['kernel', own.kernel ? name(own.kernel, 64) : null],
		['huge pages', own.thp ? name(own.thp, 16) : null], ['jobs', own.jobs?.length ? own.jobs.map((job, i) => [i ? ', ' : '', name(job, 64)]) : 'none known']]) : h('p', { class: 'muted' }, 'Not known.');
}
