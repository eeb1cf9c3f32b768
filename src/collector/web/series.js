/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a series of the API to what a chart draws. PURE: no elements, no clock.
 *
 * Nothing is made up: where there was no sample there is none, and where no composition is near, the kernel's groups
 * stand instead of owners. Between two scans owners are drawn along a straight line, as any two points are, and `scan`
 * of the row says that it lies between. What the owners of a row leave of its charge is a band of its own.
 */
import { byRank, GROUPS, REST } from './owners.js';

/* Scans are rarer than samples, by a budget: half a minute, or many. Further apart, a line between them would guess. */
const SCANS_APART_MS = 900000;
/* The newest rows have no scan after them yet: the last one holds for so long, and its age is said. */
const SCAN_HOLDS_MS = 600000;

function rowOf(point)
{
	return { at: point.received_ms, limit: point.limit_bytes, charge: point.charge_bytes, floor: point.floor_bytes,
		freeboard: point.freeboard_bytes, groups: point.groups ?? {}, owners: point.owners, bands: null, scan: null, start: false };
}

/* One that either scan does not know is unread there, not 0: it cannot be drawn between. */
function between(a, b, share)
{
	return Object.fromEntries(Object.keys(a).filter((id) => b[id] !== undefined).map((id) => [id, a[id] + (b[id] - a[id]) * share]));
}

export const sumOf = (bands) => Object.values(bands).reduce((sum, n) => sum + n, 0);

function withRest(bands, charge)
{
	const sum = sumOf(bands);
	return charge > sum ? { ...bands, [REST]: charge - sum } : bands;
}

function groupsOf(row)
{
	const bands = Object.fromEntries(GROUPS.filter((group) => row.groups[group]).map((group) => [`group:${group}`, row.groups[group]]));
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
		const after = scans[next], before = scans[next - 1];
		let owners = null;
		if (after === row) {
			owners = row.owners;
			row.scan = { at: row.at, kind: 'here' };
		} else if (before && after && after.at - before.at <= SCANS_APART_MS) {
			owners = between(before.owners, after.owners, (row.at - before.at) / (after.at - before.at));
			row.scan = { at: before.at, to: after.at, kind: 'between' };
		} else if (before && !after && row.at - before.at <= SCAN_HOLDS_MS) {
			owners = before.owners;
			row.scan = { at: before.at, kind: 'held' };
		}
		row.bands = owners ? withRest(owners, row.charge) : groupsOf(row);
	}
}

/* Why there is one, the agent declares at once when it comes back. */
function holesOf({ holes, gaps = [] })
{
	return holes.map(({ from_ms: from, to_ms: to }) => ({ from, to,
		reason: gaps.find((gap) => gap.received_ms >= from && gap.received_ms <= to + 120000)?.reason ?? null }));
}

/*
 * {rows, bands, holes, most}: bands are the ids that occur, as stacked; a row with `start` is not joined to the one before.
 * Points before `from` only tell who held what when it begins.
 */
export function model(series, from = 0)
{
	let rows = series.points.map(rowOf);
	const holes = holesOf(series);
	const ids = new Set();
	let begin = 0, most = 0;
	for (let i = 1; i <= rows.length; i++) {
		if (i < rows.length)
			rows[i].start = holes.some((hole) => hole.from >= rows[i - 1].at && hole.to <= rows[i].at);
		if (i === rows.length || rows[i].start) {
			attribute(rows.slice(begin, i));
			begin = i;
		}
	}
	rows = rows.filter((row) => row.at >= from);
	for (const row of rows) {
		for (const [id, n] of Object.entries(row.bands ?? {}))
			if (n > 0)
				ids.add(id);
		most = Math.max(most, row.limit ?? 0, row.charge ?? 0, row.floor ?? 0);
	}
	return { rows, bands: [...ids].sort(byRank), holes: holes.filter((hole) => hole.to >= from), most };
}

/* Adds a sample of the stream at the end of a series; false: it is no newer than what is there. */
export function append(series, sample, owners)
{
	const last = series.points.at(-1);
	if (last && sample.received_ms <= last.received_ms)
		return false;
	if (last && sample.received_ms - last.received_ms > 3 * Math.max(series.step_ms, sample.interval_ms ?? 0, 10000))
		series.holes.push({ from_ms: last.received_ms, to_ms: sample.received_ms });
	series.points.push({ ...sample, owners });
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
