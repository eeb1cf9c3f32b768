/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a series of the API to what a chart draws. PURE: no elements, no clock.
 *
 * Nothing is made up: where there was no sample there is none, and where no composition is near, the kernel's groups
 * stand instead of owners. Between two scans close to each other owners are drawn along a straight line, as any two
 * points are, and `scan` of the row says that it lies between them. What the owners of a row leave of its charge is
 * a band of its own.
 */
import { byRank, GROUPS, REST } from './owners.js';

/* Scans are rarer than samples, by a budget: half a minute, or many. Further apart, a line between them would guess. */
const SCANS_APART_MS = 15 * 60 * 1000;
/* The newest rows have no scan after them yet: the last one holds for so long, and its age is said. */
const SCAN_HOLDS_MS = 10 * 60 * 1000;

/* A row: {at, samples, limit, charge, chargeMax, floor, floorMax, freeboard, bands: {id: bytes}|null, scan, start: bool} */
function rowOf(point)
{
	const charge = point.charge_bytes;
	return {
		at: point.received_ms, samples: point.samples ?? 1, limit: point.limit_bytes, charge,
		chargeMax: point.charge_max_bytes ?? charge, floor: point.floor_bytes,
		floorMax: point.floor_max_bytes ?? point.floor_bytes, freeboard: point.freeboard_bytes,
		groups: point.groups ?? {}, owners: point.owners, bands: null, scan: null, start: false,
	};
}

function between(a, b, share)
{
	const owners = {};
	for (const id of new Set([...Object.keys(a), ...Object.keys(b)])) {
		/* One that the other scan does not know is unread there, not 0: it cannot be drawn between. */
		if (a[id] !== undefined && b[id] !== undefined)
			owners[id] = a[id] + (b[id] - a[id]) * share;
	}
	return owners;
}

function withRest(owners, charge)
{
	const bands = { ...owners };
	const sum = Object.values(bands).reduce((total, n) => total + n, 0);
	if (charge !== null && charge !== undefined && charge > sum)
		bands[REST] = charge - sum;
	return bands;
}

function groupsAsBands(row)
{
	const bands = {};
	for (const group of GROUPS)
		if (row.groups[group])
			bands[`group:${group}`] = row.groups[group];
	return Object.keys(bands).length ? withRest(bands, row.charge) : null;
}

/* Owners of each row of one stretch without a hole. */
function attribute(rows)
{
	const scans = rows.filter((row) => row.owners);
	let next = 0;
	for (const row of rows) {
		while (next < scans.length && scans[next].at < row.at)
			next++;
		const after = scans[next];
		const before = after?.at === row.at ? after : scans[next - 1];
		if (before && before.at === row.at) {
			row.scan = { at: row.at, kind: 'here' };
			row.bands = withRest(row.owners, row.charge);
		} else if (before && after && after.at - before.at <= SCANS_APART_MS) {
			row.scan = { at: before.at, to: after.at, kind: 'between' };
			row.bands = withRest(between(before.owners, after.owners, (row.at - before.at) / (after.at - before.at)), row.charge);
		} else if (before && !after && row.at - before.at <= SCAN_HOLDS_MS) {
			row.scan = { at: before.at, kind: 'held' };
			row.bands = withRest(before.owners, row.charge);
		} else {
			row.bands = groupsAsBands(row);
		}
	}
}

/* Why there is nothing in a hole, as far as the agent has declared it: the gap is told at once when it comes back. */
function reasonOf(hole, gaps)
{
	const told = gaps.find((gap) => gap.received_ms >= hole.from_ms && gap.received_ms <= hole.to_ms + 120000);
	return told?.reason ?? null;
}

/*
 * The API tells holes of three steps and more; of a step of hours that is a day. Folded points begin with their first
 * sample and so lie less than two steps apart, unless a whole step had none: that is a hole too.
 */
function holesOf(series, gaps)
{
	const holes = (series.holes ?? []).map((hole) => ({ from: hole.from_ms, to: hole.to_ms, reason: reasonOf(hole, gaps) }));
	const step = series.step_ms ?? 0;
	if (step < 60000)
		return holes;
	const { points } = series;
	for (let i = 1; i < points.length; i++) {
		const from_ms = points[i - 1].received_ms, to_ms = points[i].received_ms;
		if (to_ms - from_ms > 2 * step + 60000 && !isIn(holes, from_ms, to_ms))
			holes.push({ from: from_ms, to: to_ms, reason: reasonOf({ from_ms, to_ms }, gaps) });
	}
	return holes.sort((a, b) => a.from - b.from);
}

function isIn(holes, from, to)
{
	return holes.some((hole) => hole.from >= from && hole.to <= to);
}

/*
 * {rows, bands, holes, most}: bands are the ids that occur, in the order of the ledger; a row with `start` is not
 * joined to the one before.
 */
export function model(series)
{
	const rows = series.points.map(rowOf);
	const gaps = series.gaps ?? [];
	const holes = holesOf(series, gaps);
	let begin = 0;
	const ids = new Set();
	for (let i = 0; i <= rows.length; i++) {
		if (i < rows.length && i > 0)
			rows[i].start = isIn(holes, rows[i - 1].at, rows[i].at);
		if (i === rows.length || rows[i].start) {
			attribute(rows.slice(begin, i));
			begin = i;
		}
	}
	let most = 0;
	for (const row of rows) {
		for (const id of Object.keys(row.bands ?? {}))
			if (row.bands[id] > 0)
				ids.add(id);
		most = Math.max(most, row.limit ?? 0, row.charge ?? 0, row.floor ?? 0);
	}
	/* Groups first, as they lie below where they occur; the rest on top of all. */
	const bands = [...ids].sort((a, b) => (a === REST) - (b === REST) || a.startsWith('group:') - b.startsWith('group:') || byRank(a, b));
	return { rows, bands, holes, most, step: series.step_ms };
}

/* A sample of the live stream, or of a post-mortem's timeline, as a point of a series. */
export function pointOfSample(sample, owners)
{
	return { ...sample, owners: owners ?? null, samples: 1 };
}

/* Adds a point at the end of a series; false: it is no newer than what is there. interval_ms: as planned. */
export function append(series, point, interval_ms)
{
	const last = series.points.at(-1);
	if (last && point.received_ms <= last.received_ms)
		return false;
	const wide = 3 * Math.max(series.step_ms ?? 0, interval_ms ?? 10000);
	if (last && point.received_ms - last.received_ms > wide)
		series.holes.push({ from_ms: last.received_ms, to_ms: point.received_ms });
	series.points.push(point);
	return true;
}

/* The row nearest to a time, by halving. */
export function nearest(rows, at)
{
	let low = 0, high = rows.length - 1;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (rows[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && at - rows[low - 1].at < rows[low].at - at ? low - 1 : low;
}
