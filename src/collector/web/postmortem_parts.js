/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a post-mortem's page. Its body is what the agent wrote (src/agent/postmortem_json.c) or the collector inferred. */
import { h, name, prose } from './dom.js';
import { bytes, count, duration, percentBp, signedBytes, timeToLimit } from './format.js';
import { ownerMark, rulePage } from './finding_view.js';
import { severityMark } from './severity.js';
import { ledgerTable } from './pod_tables.js';
import { look } from './owners.js';
import { dim, facts, known, list, note, table } from './parts.js';
import { sumOf } from './series.js';
import { stamp } from './time.js';

const at = (text) => (text ? stamp(Date.parse(text)) : 'unread');
const code = (text, max = 64) => h('code', null, name(text, max));
const limitOf = (limit) => (typeof limit === 'number' ? limit : null);

/* Samples of all parts that are here, as a series; by the agent's clock, which is the one of the death too. PURE. */
export function timelineOf(item)
{
	const points = item.bodies.flatMap((body) => body?.timeline ?? []).filter((sample) => sample.wall_ms).map((sample) => ({
		received_ms: sample.wall_ms,
		/* An inferred one has no limit in each sample: it was the last one's. */
		limit_bytes: limitOf(sample.limit_bytes ?? (item.inferred ? item.bodies[0].limit_bytes : null)),
		charge_bytes: sample.charge_bytes ?? null, floor_bytes: sample.floor_bytes ?? null, freeboard_bytes: sample.freeboard_bytes ?? null,
		groups: sample.groups_bytes ?? {}, owners: sample.composition?.owners_bytes ?? null,
	})).sort((a, b) => a.received_ms - b.received_ms);
	const apart = points.slice(1).map((point, i) => point.received_ms - points[i].received_ms);
	const usual = [...apart].sort((a, b) => a - b)[apart.length >> 1];
	const holes = apart.flatMap((ms, i) => (ms > Math.max(3 * usual, 45000) ? [{ from_ms: points[i].received_ms, to_ms: points[i + 1].received_ms }] : []));
	return { points, holes, step_ms: 0 };
}

export function grown(growth)
{
	if (!growth)
		return note('Not known: fewer than two samples of this process were recorded.');
	const lines = (key, mark) => table([key, '#from', '#to', '#grown'], growth[`${key}s`].map((row) => [mark(row[key]), row.from_bytes, row.to_bytes, h('strong', null, signedBytes(row.grown_bytes))]));
	return [note(`From ${at(growth.from)} to ${at(growth.to)}.`), growth.owners?.length ? lines('owner', ownerMark) : note('By owner it is not known: there were no two scans.'),
		growth.groups?.length ? lines('group', (group) => name(group, 24)) : null];
}

export function lastLedger({ composition, owners, charge_bytes: charge })
{
	const rows = composition?.lines ?? Object.entries(owners ?? {}).map(([owner, n]) => ({ owner, bytes: n }));
	const residual = composition ? composition.residual_bytes : known(charge) && owners ? charge - sumOf(owners) : null;
	return rows.length ? ledgerTable(rows.map((row) => ({ group: look(row.owner).group, ...row })), { residual, age: composition?.age_ms ?? null }) :
		note('None was known: no scan of this process had been made.');
}

/* The change is that of the findings; the figure is what the limit would have had to be. */
export function whatToChange({ survivable_limit_bytes: enough, findings })
{
	return [known(enough) ? h('p', null, 'A limit of ', h('strong', null, bytes(enough)), ' would have been enough: the highest floor seen, its spike at checkpoints, and 5 %. Where something leaks it buys time alone.') :
		note('Which limit would have been enough is not known.'), h('h3', null, 'Open when it died'),
	findings?.length ? list(findings.map((row) => [severityMark(row.severity), ' ', prose(row.title ?? row.rule), ' ', rulePage(row.rule), dim(` since ${at(row.opened)}`)])) :
		note(findings ? 'No finding was open: it was not foreseen.' : 'Not known.')];
}

/* undefined: not in this body at all; null: it was asked for and is not known. */
export function lastSeen(body)
{
	const via = (key, text) => (known(body[key]) ? text(body[key]) : body[key]);
	const limit = (key) => via(key, (n) => (n === 'none' ? 'none' : n));
	return facts([['limit', limit('limit_bytes')], ['charge', body.charge_bytes], ['floor', body.floor_bytes], ['highest floor seen', body.peak_floor_bytes], ['spike at checkpoints', body.spike_bytes],
		['pod’s limit', limit('pod_limit_bytes')], ['pod’s charge', body.pod_charge_bytes], ['free on the node', via('host_available_bytes', (n) => `${bytes(n)} of ${bytes(body.host_memory_bytes)}`)],
		['node’s pressure, full', via('node_psi_full_avg10_bp', percentBp)], ['heap, after a collection', via('heap_full_pct', (n) => `${n} % full`)],
		['metaspace', via('metaspace_full_pct', (n) => `${n} % full`)], ['asked to stop with its pod', via('stop_asked', (yes) => (yes ? 'yes' : 'no'))],
		['exit status', via('exit_status', String)], ['last seen', via('last_seen_ms', (ms) => `${duration(ms / 1000)} before the end`)]]);
}

export function events({ events: read })
{
	if (!read?.before || Object.values(read.before).every((n) => n === null))
		return note('memory.events was not read.');
	const figure = (n) => (known(n) ? count(n) : null);
	return [table(['memory.events', '#before', '#after'], ['max', 'oom', 'oom_kill', 'oom_group_kill', 'high'].map((key) => {
		const before = read.before[key], after = read.after?.[key];
		return [key, figure(before), after > before ? h('strong', null, count(after)) : figure(after)];
	})), read.after ? null : note('After the end it could not be read: the cgroup was gone.')];
}

export function changed({ changed: changes })
{
	if (!changes?.length)
		return note(changes ? 'Nothing that is known: limit, image, settings, JDK, kernel and jobs are as in the life before.' : 'There is nothing to compare with: no life before this one was seen.');
	const text = (row, key) => (!row[key] ? dim('not set') : /limit/.test(row.what) && /^\d+$/.test(row[key]) ? bytes(Number(row[key])) : code(row[key], 80));
	return list(changes.map((row) => [name(row.what, 96), ': ', text(row, 'before'), ' → ', text(row, 'now')]));
}

export function deepReading({ deep })
{
	if (!deep)
		return note('None was made: it is, once, when a target comes near its limit and there is time.');
	const { mappings, threads } = deep;
	return [note(`Taken ${at(deep.taken)}.`),
		mappings ? table(['mapping', 'kind', '#resident', '#size'], mappings.map((row) => [row.name === null ? dim('no name') : code(row.name), name(row.kind, 16), row.resident_bytes, row.size_bytes])) : note('mappings: unread'),
		known(deep.mappings_total) ? note(`of ${count(deep.mappings_total)} mappings`) : null,
		threads ? table(['threads named', '#how many'], threads.map((row) => [row.name === null ? dim('no name') : code(row.name), count(row.count)])) : note('threads: unread'),
		threads ? note(`of ${known(deep.threads_total) ? count(deep.threads_total) : 'more than were looked at'}`) : null];
}

export function foretold({ forecast })
{
	const text = forecast?.kind === 'reaches' ? [`the limit in ${timeToLimit(forecast.likely_s, forecast.earliest_s, forecast.latest_s)}`, forecast.owner ? [', by ', ownerMark(forecast.owner)] : null] : forecast?.kind || null;
	return facts([['the last forecast said', text]]);
}

export function life({ life: own })
{
	const text = (key) => [key, own[key] ? name(own[key], 96) : null];
	return own ? facts([...['image', 'engine', 'jdk', 'kernel', 'thp'].map(text), ['jobs', own.jobs?.length ? own.jobs.map((job) => [name(job, 64), ' ']) : null]]) : note('Not known.');
}
