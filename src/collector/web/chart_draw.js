/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is painted on the canvas of a memory chart. The library scales, ticks and zooms; it stacks all series or none
 * and joins across what is missing, so bands, lines and holes are drawn here, from the rows of series.js.
 */
import { colour, fill } from './owners.js';

/* Stretches of rows that may be joined. Owners and groups are not one picture: where one ends, it is led to the next. */
function* stretches(rows)
{
	const kind = (row) => (!row.bands ? null : row.scan ? 'owners' : 'groups');
	let stretch = [];
	for (const row of rows) {
		const last = stretch.at(-1);
		if (last && (row.start || kind(row) !== kind(last))) {
			if (!row.start && kind(row))
				stretch.push({ at: row.at, bands: last.bands, scan: last.scan });
			yield stretch;
			stretch = [];
		}
		if (kind(row))
			stretch.push(row);
	}
	if (stretch.length)
		yield stretch;
}

function paintBand(ctx, stretch, id, bottom, x, y)
{
	/* A lone sample is as wide as a hair, not nothing. */
	const lone = stretch.length === 1 ? 1 : 0;
	const top = stretch.map((row, i) => bottom[i] + (row.bands[id] ?? 0));
	ctx.beginPath();
	ctx.moveTo(x(stretch[0].at) - lone, y(bottom[0]));
	stretch.forEach((row, i) => ctx.lineTo(x(row.at) + (i ? 0 : -lone), y(top[i])));
	for (let i = stretch.length - 1; i >= 0; i--)
		ctx.lineTo(x(stretch[i].at) + lone, y(bottom[i]));
	ctx.closePath();
	ctx.fillStyle = fill(id);
	ctx.fill();
	/* A line of the ground between neighbours, where it does not swallow the band. */
	if (stretch.some((row) => y(0) - y(row.bands[id] ?? 0) > 4))
		ctx.stroke();
	return top;
}

function paintBands(ctx, model, hidden, raised, x, y)
{
	ctx.lineWidth = 0.6;
	ctx.strokeStyle = colour('--bg');
	for (const stretch of stretches(model.rows)) {
		let bottom = stretch.map(() => 0);
		for (const id of model.bands) {
			if (hidden.has(id) || !stretch.some((row) => row.bands[id]))
				continue;
			ctx.globalAlpha = raised && raised !== id ? 0.25 : 1;
			bottom = paintBand(ctx, stretch, id, bottom, x, y);
		}
	}
	ctx.globalAlpha = 1;
}

/* A hole is a place where nothing is known: hatched, so that it is no low value and no paper. */
function paintHoles(ctx, area, holes, x)
{
	ctx.save();
	ctx.strokeStyle = colour('--line-strong');
	ctx.globalAlpha = 0.45;
	ctx.lineWidth = 1;
	for (const hole of holes) {
		const left = Math.max(area.x, x(hole.from)), right = Math.min(area.x + area.w, x(hole.to));
		if (right - left < 1)
			continue;
		ctx.save();
		ctx.beginPath();
		ctx.rect(left, area.y, right - left, area.h);
		ctx.clip();
		ctx.beginPath();
		for (let at = left - area.h; at < right; at += 9) {
			ctx.moveTo(at, area.y + area.h);
			ctx.lineTo(at + area.h, area.y);
		}
		ctx.stroke();
		ctx.restore();
	}
	ctx.restore();
}

/* steps: a limit holds until it is changed. A value that is unread ends the line. */
function paintLine(ctx, rows, key, { x, y, steps = false })
{
	ctx.beginPath();
	let pen = false;
	for (let i = 0; i < rows.length; i++) {
		const value = rows[i][key];
		if (value === null || value === undefined) {
			pen = false;
			continue;
		}
		if (!pen || rows[i].start) {
			ctx.moveTo(x(rows[i].at) - 1, y(value));
		} else if (steps) {
			ctx.lineTo(x(rows[i].at), y(rows[i - 1][key]));
		}
		ctx.lineTo(x(rows[i].at), y(value));
		pen = true;
	}
	ctx.stroke();
}

export const LINES = {
	limit: { label: 'limit', width: 2.25, dash: [], paint: '--limit', steps: true },
	charge: { label: 'charge', width: 1.75, dash: [], paint: '--fg' },
	floor: { label: 'floor', width: 1.75, dash: [5, 3], paint: '--fg' },
};

/* A halo in the colour of the ground, so that a line is seen on any band. */
function paintLines(ctx, model, hidden, x, y)
{
	ctx.lineJoin = 'round';
	for (const [key, line] of Object.entries(LINES)) {
		if (hidden.has(key))
			continue;
		ctx.setLineDash([]);
		ctx.strokeStyle = colour('--bg');
		ctx.lineWidth = line.width + 2.5;
		paintLine(ctx, model.rows, key, { x, y, steps: line.steps });
		ctx.setLineDash(line.dash);
		ctx.strokeStyle = colour(line.paint);
		ctx.lineWidth = line.width;
		paintLine(ctx, model.rows, key, { x, y, steps: line.steps });
	}
	ctx.setLineDash([]);
}

/* Marks: a sign in the lane above, a thin line through the plot for those that divide times. */
export const MARKS = {
	'oom-kill': { sign: '✕', paint: '--critical', line: true, text: 'OOM kill' },
	postmortem: { sign: '✖', paint: '--critical', line: true, text: 'death' },
	'jvm-start': { sign: '▶', paint: '--fg', line: true, text: 'JVM started' },
	'jvm-end': { sign: '■', paint: '--fg', line: true, text: 'JVM ended' },
	limit: { sign: '⇕', paint: '--limit', line: false, text: 'limit changed' },
	restart: { sign: '↻', paint: '--warning', line: true, text: 'job restarted' },
	checkpoint: { sign: null, paint: '--accent', line: false, text: 'checkpoint' },
	'agent-start': { sign: '△', paint: '--muted', line: false, text: 'agent started' },
	'agent-lost': { sign: '▽', paint: '--muted', line: false, text: 'agent lost' },
	'agent-bye': { sign: '▽', paint: '--muted', line: false, text: 'agent said bye' },
};
const OTHER_MARK = { sign: '◇', paint: '--muted', line: false, text: 'event' };

export function markLook(kind)
{
	return MARKS[kind] ?? OTHER_MARK;
}

function paintMarkLines(ctx, area, marks, x)
{
	ctx.save();
	ctx.lineWidth = 1;
	ctx.setLineDash([2, 3]);
	for (const mark of marks) {
		const shown = markLook(mark.kind);
		const at = x(mark.at);
		if (!shown.line || at < area.x || at > area.x + area.w)
			continue;
		ctx.strokeStyle = colour(shown.paint);
		ctx.beginPath();
		ctx.moveTo(at, area.y);
		ctx.lineTo(at, area.y + area.h);
		ctx.stroke();
	}
	ctx.restore();
}

export function paintPlot(ctx, area, { model, marks, hidden, raised }, scale)
{
	const { x, y } = scale;
	ctx.save();
	ctx.beginPath();
	ctx.rect(area.x, area.y, area.w, area.h);
	ctx.clip();
	paintHoles(ctx, area, model.holes, x);
	paintBands(ctx, model, hidden, raised, x, y);
	paintMarkLines(ctx, area, marks, x);
	paintLines(ctx, model, hidden, x, y);
	ctx.restore();
}

/* The lane of marks: checkpoints as bars, the rest as signs; what would lie on another one is left to the read-out. */
export function paintLane(canvas, area, width, marks, x)
{
	const ratio = window.devicePixelRatio || 1, height = 20;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const ctx = canvas.getContext('2d');
	ctx.scale(ratio, ratio);
	ctx.clearRect(0, 0, width, height);
	ctx.font = '13px sans-serif';
	ctx.textAlign = 'center';
	ctx.textBaseline = 'alphabetic';
	let taken = -20;
	for (const mark of [...marks].sort((a, b) => a.at - b.at)) {
		const shown = markLook(mark.kind);
		const from = x(mark.at), to = mark.to ? x(mark.to) : from;
		if (to < area.x || from > area.x + area.w)
			continue;
		ctx.fillStyle = colour(shown.paint);
		if (!shown.sign) {
			const left = Math.max(area.x, from);
			ctx.fillRect(left, 16, Math.max(1.5, Math.min(area.x + area.w, to) - left), 3);
		} else if (from - taken >= 12) {
			ctx.fillText(shown.sign, from, 13);
			taken = from;
		}
	}
}
