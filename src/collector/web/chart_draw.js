/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is painted on the canvas of a memory chart. The library scales, ticks and zooms; it stacks all series or none
 * and joins across what is missing, so bands, lines and holes are drawn here, from the rows of series.js.
 */
import { colour, fill } from './owners.js';

/* Stretches of rows that may be joined. Owners and groups are not one picture: where one ends it is led to the next. */
function stretchesOf(rows)
{
	const kind = (row) => (!row.bands ? 0 : row.scan ? 1 : 2);
	const stretches = [];
	let last = null;
	for (const row of rows) {
		const joined = last && kind(last) && !row.start;
		if (joined && kind(row) && kind(row) !== kind(last))
			stretches.at(-1).push({ ...last, at: row.at });
		if (kind(row) && !(joined && kind(row) === kind(last)))
			stretches.push([]);
		if (kind(row))
			stretches.at(-1).push(row);
		last = row;
	}
	return stretches;
}

/* Returns the upper edge: the lower one of the next band. */
function paintBand(ctx, stretch, id, bottom, { x, y })
{
	const lone = stretch.length === 1 ? 1 : 0; /* as wide as a hair, not nothing */
	const top = stretch.map((row, i) => bottom[i] + (row.bands[id] ?? 0));
	ctx.beginPath();
	stretch.forEach((row, i) => ctx.lineTo(x(row.at) - lone, y(top[i])));
	for (let i = stretch.length - 1; i >= 0; i--) {
		ctx.lineTo(x(stretch[i].at) + lone, y(lone ? top[i] : bottom[i]));
		if (lone)
			ctx.lineTo(x(stretch[i].at) + lone, y(bottom[i]));
	}
	if (lone)
		ctx.lineTo(x(stretch[0].at) - lone, y(bottom[0]));
	ctx.closePath();
	ctx.fillStyle = fill(id);
	ctx.fill();
	/* A line of the ground between neighbours, where it does not swallow the band. */
	if (stretch.some((row) => y(0) - y(row.bands[id] ?? 0) > 4))
		ctx.stroke();
	return top;
}

function paintBands(ctx, { model, hidden, raised }, scale)
{
	ctx.lineWidth = 0.6;
	ctx.strokeStyle = colour('--bg');
	for (const stretch of stretchesOf(model.rows)) {
		let bottom = stretch.map(() => 0);
		for (const id of model.bands) {
			if (hidden.has(id) || !stretch.some((row) => row.bands[id]))
				continue;
			ctx.globalAlpha = raised && raised !== id ? 0.25 : 1;
			bottom = paintBand(ctx, stretch, id, bottom, scale);
		}
	}
	ctx.globalAlpha = 1;
}

/* A hole is a place where nothing is known: hatched, so that it is no low value and no paper. */
function paintHoles(ctx, area, holes, x)
{
	ctx.strokeStyle = colour('--line');
	ctx.lineWidth = 2;
	for (const { from, to } of holes) {
		const left = Math.max(area.x, x(from)), right = Math.min(area.x + area.w, x(to));
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
}

export const LINES = {
	limit: { width: 2.25, dash: [], paint: '--limit', steps: true }, /* it holds until it is changed */
	charge: { width: 1.75, dash: [], paint: '--fg' },
	floor: { width: 1.75, dash: [5, 3], paint: '--fg' },
};

/* A value that is unread ends the line. */
function paintLine(ctx, rows, key, steps, { x, y })
{
	let pen = null;
	ctx.beginPath();
	for (const row of rows) {
		const value = row[key] ?? null;
		if (value !== null) {
			if (pen === null || row.start)
				ctx.moveTo(x(row.at) - 1, y(value));
			else if (steps)
				ctx.lineTo(x(row.at), y(pen));
			ctx.lineTo(x(row.at), y(value));
		}
		pen = value;
	}
	ctx.stroke();
}

/* With a halo of the ground, so that a line is seen on any band. */
function paintLines(ctx, { model, hidden }, scale)
{
	for (const [key, { width, dash, paint, steps }] of Object.entries(LINES))
		for (const halo of hidden.has(key) ? [] : [true, false]) {
			ctx.setLineDash(halo ? [] : dash);
			ctx.strokeStyle = colour(halo ? '--bg' : paint);
			ctx.lineWidth = halo ? width + 2.5 : width;
			paintLine(ctx, model.rows, key, steps, scale);
		}
	ctx.setLineDash([]);
}

/* A sign in the lane above the plot, and a line through it for what divides times. */
const MARKS = {
	'oom-kill': ['✕', '--critical', true], postmortem: ['✖', '--critical', true], 'jvm-start': ['▶', '--fg', true], 'jvm-end': ['■', '--fg', true],
	limit: ['⇕', '--limit'], restart: ['↻', '--warning', true], checkpoint: ['', '--accent'], 'agent-start': ['△', '--muted'],
	'agent-lost': ['▽', '--muted'], 'agent-bye': ['▽', '--muted'],
};
export function markLook(kind)
{
	const [sign, paint, line] = MARKS[kind] ?? ['◇', '--muted'];
	return { sign, paint, line };
}

function paintMarks(ctx, area, marks, x)
{
	ctx.lineWidth = 1;
	ctx.setLineDash([2, 3]);
	for (const { at, kind } of marks) {
		const { paint, line } = markLook(kind);
		if (!line)
			continue;
		ctx.strokeStyle = colour(paint);
		ctx.beginPath();
		ctx.moveTo(x(at), area.y);
		ctx.lineTo(x(at), area.y + area.h);
		ctx.stroke();
	}
	ctx.setLineDash([]);
}

export function paintPlot(ctx, area, view, scale)
{
	ctx.save();
	ctx.beginPath();
	ctx.rect(area.x, area.y, area.w, area.h);
	ctx.clip();
	paintHoles(ctx, area, view.model.holes, scale.x);
	paintBands(ctx, view, scale);
	paintMarks(ctx, area, view.marks, scale.x);
	paintLines(ctx, view, scale);
	ctx.restore();
}

/* Checkpoints as bars, the rest as signs; one that would lie on another is left to the read-out and the list. */
const LANE_HEIGHT = 20, SIGN_WIDTH = 12;
export function paintLane(canvas, area, width, marks, x)
{
	const ratio = window.devicePixelRatio || 1;
	canvas.width = Math.round(width * ratio);
	canvas.height = LANE_HEIGHT * ratio;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${LANE_HEIGHT}px`;
	const ctx = canvas.getContext('2d');
	ctx.scale(ratio, ratio);
	ctx.font = '13px sans-serif';
	ctx.textAlign = 'center';
	let taken = -SIGN_WIDTH;
	for (const mark of marks) {
		const { sign, paint } = markLook(mark.kind);
		const from = Math.max(area.x, x(mark.at)), to = Math.min(area.x + area.w, x(mark.to ?? mark.at));
		ctx.fillStyle = colour(paint);
		if (!sign) {
			ctx.fillRect(from, 16, Math.max(1.5, to - from), 3);
		} else if (from - taken >= SIGN_WIDTH) {
			ctx.fillText(sign, from, 13);
			taken = from;
		}
	}
}
