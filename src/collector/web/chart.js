/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chart of memory: who fills the container, against its limit. Owner of dygraphs, which brings axes, ticks, zoom by
 * drag and touch, and the canvas at any density; chart_draw.js paints the rest.
 *
 * It is one focusable element: arrows move a cursor, and what stands under it is a list beside it that a mouse, a
 * finger and a screen reader find alike.
 */
import { h, replace } from './dom.js';
import { bytes } from './format.js';
import { markLook, paintLane, paintPlot } from './chart_draw.js';
import { chartTable } from './chart_table.js';
import { readout } from './chart_readout.js';
import { nearest } from './series.js';
import { isUtc, stamp } from './time.js';
import { REST } from './owners.js';

/* Loaded when the first chart is shown. It looks for a module loader first and then sets window.Dygraph. */
let library = null;
function load()
{
	library ??= import('./dygraph.min.js').then((module) => {
		const Dygraph = window.Dygraph ?? module.default;
		/* Its own legend writes HTML with style attributes, which the policy refuses. Ours is a list. */
		Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
		return Dygraph;
	});
	library.catch(() => { library = null; });
	return library;
}

/* Room for the limit and a little above: it is what all else is measured against. */
function valueRange(model)
{
	return [0, Math.max(1, model.most) * 1.06];
}

function options(view)
{
	return {
		labels: ['time', 'charge'],
		dateWindow: [view.range.from, view.range.to],
		valueRange: valueRange(view.model),
		labelsUTC: isUtc(),
		axes: {
			x: { drawGrid: false, axisLabelWidth: 70 },
			y: { axisLabelFormatter: (v) => (v ? bytes(v).replace(/\.0+ /, ' ') : '0'), axisLabelWidth: 64, pixelsPerLabel: 40 },
		},
		labelsKMG2: true,
		gridLineWidth: 0.5,
		plotter: () => {}, /* chart_draw.js */
		highlightCircleSize: 0,
		xRangePad: 0,
	};
}

/* The library wants two points at least. */
function file(view)
{
	const rows = view.model.rows.map((row) => [new Date(row.at), row.charge ?? null]);
	return rows.length > 1 ? rows : [[new Date(view.range.from), null], ...rows, [new Date(view.range.to), null]];
}

/* Marks near the cursor, within what a finger covers. */
function marksNear(view, at)
{
	const near = (view.range.to - view.range.from) / 80;
	return view.marks.filter((mark) => mark.to ? at >= mark.at && at <= mark.to : Math.abs(mark.at - at) <= near);
}

function holeAt(view, at)
{
	return view.model.holes.find((hole) => at > hole.from && at < hole.to) ?? null;
}

/*
 * stacked(el, {label, onRange(from, to), onReset()}) -> {update({model, marks, range}), destroy()}
 * onRange: somebody chose a stretch; the caller asks for its points and calls update.
 */
export function stacked(element, { label, onRange, onReset })
{
	const view = { model: { rows: [], bands: [], holes: [], most: 0 }, marks: [], range: { from: 0, to: 1 }, hidden: new Set(), raised: null };
	let graph = null, cursor = null, gone = false, asTable = false, frame = 0;
	const lane = h('canvas', { class: 'chart-lane', aria: { hidden: 'true' } });
	const plot = h('div', { class: 'chart-plot' });
	const hair = h('div', { class: 'chart-hair', hidden: true });
	const said = h('div', { class: 'unseen', aria: { live: 'polite' } });
	const hint = h('p', { class: 'chart-hint muted' }, 'Keys: ← → move, Shift for more, Home and End, + and − zoom, Esc shows all. Drag to zoom.');
	const focusable = h('div', { class: 'chart-focus', tabindex: 0, role: 'application', aria: { label, roledescription: 'chart' }, on: {
		keydown: onKey, pointermove: onPointer, pointerdown: onPointer,
		pointerleave: () => { if (focusable !== document.activeElement) moveTo(null); },
		blur: () => moveTo(null) } }, lane, plot, hair);
	const list = readout({
		toggle(id)
		{
			if (!view.hidden.delete(id))
				view.hidden.add(id);
			redraw();
		},
		raise(id)
		{
			view.raised = id;
			redraw();
		},
	});
	const table = h('div', { class: 'chart-table', hidden: true });
	const switcher = h('button', { type: 'button', aria: { pressed: false }, on: { click: () => {
		asTable = !asTable;
		switcher.setAttribute('aria-pressed', String(asTable));
		showTable();
	} } }, 'Show as table');
	replace(element, h('div', { class: 'chart-body' }, h('div', { class: 'chart-main' }, focusable, hint), list.element),
		h('p', { class: 'chart-foot' }, switcher), table, said);

	function showTable()
	{
		table.hidden = !asTable;
		replace(table, asTable ? chartTable(view.model) : null);
	}

	function scale()
	{
		return { x: (at) => graph.toDomXCoord(at), y: (n) => graph.toDomYCoord(n) };
	}

	function underlay(ctx, area, g)
	{
		graph ??= g; /* called once from the constructor */
		paintPlot(ctx, area, view, scale());
		paintLane(lane, area, plot.clientWidth, view.marks, scale().x);
		placeHair();
	}

	function redraw()
	{
		graph?.updateOptions({ gridLineColor: getComputedStyle(document.documentElement).getPropertyValue('--line-strong') });
	}

	function placeHair()
	{
		hair.hidden = cursor === null;
		if (cursor !== null)
			hair.style.transform = `translateX(${Math.round(graph.toDomXCoord(cursor))}px)`;
	}

	/* null: nothing is pointed at, and the list shows the newest row. */
	function moveTo(at)
	{
		cursor = at;
		if (frame)
			return;
		frame = requestAnimationFrame(() => {
			frame = 0;
			if (graph && !gone)
				show();
		});
	}

	function show()
	{
		const { rows } = view.model;
		placeHair();
		const hole = cursor === null ? null : holeAt(view, cursor);
		const row = !rows.length || hole ? null : cursor === null ? rows.at(-1) : rows[nearest(rows, cursor)];
		list.show({ row, hole, at: cursor ?? row?.at ?? null, latest: cursor === null, marks: cursor === null ? [] : marksNear(view, cursor) });
	}

	function onPointer(event)
	{
		if (!graph)
			return;
		const x = event.clientX - plot.getBoundingClientRect().left;
		const at = graph.toDataXCoord(x);
		if (at < view.range.from || at > view.range.to)
			return;
		const { rows } = view.model;
		moveTo(holeAt(view, at) || !rows.length ? at : rows[nearest(rows, at)].at);
	}

	function say()
	{
		const { rows } = view.model;
		const row = rows[nearest(rows, cursor)];
		const largest = Object.entries(row.bands ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 6);
		const marks = marksNear(view, cursor).map((mark) => mark.label ?? markLook(mark.kind).text);
		replace(said, `${stamp(row.at)}: charge ${bytes(row.charge)} of ${bytes(row.limit)}, floor ${bytes(row.floor)}. ` +
			largest.map(([id, n]) => `${id === REST ? REST : id.replace('group:', '')} ${bytes(n)}`).join(', ') +
			(row.start ? '. Nothing is known of the time just before' : '') + (marks.length ? `. ${marks.join(', ')}` : ''));
	}

	function zoom(factor)
	{
		const { from, to } = view.range;
		const about = cursor ?? (from + to) / 2;
		onRange?.(Math.round(about - (about - from) * factor), Math.round(about + (to - about) * factor));
	}

	function onKey(event)
	{
		const { rows } = view.model;
		if (event.ctrlKey || event.metaKey || event.altKey || !rows.length || !graph)
			return;
		const at = cursor === null ? rows.length : nearest(rows, cursor);
		const far = event.shiftKey ? Math.max(1, Math.round(rows.length / 10)) : 1;
		const moves = { ArrowLeft: at - far, ArrowRight: at + far, Home: 0, End: rows.length - 1,
			PageUp: at - Math.round(rows.length / 10), PageDown: at + Math.round(rows.length / 10) };
		const zooms = { '+': 0.5, '=': 0.5, '-': 2 };
		if (Object.hasOwn(moves, event.key)) {
			cursor = rows[Math.max(0, Math.min(rows.length - 1, moves[event.key]))].at;
			show();
			say();
		} else if (Object.hasOwn(zooms, event.key)) {
			zoom(zooms[event.key]);
		} else if (event.key === 'Escape') {
			onReset?.();
		} else {
			return;
		}
		event.preventDefault();
	}

	function onZoom(from, to)
	{
		/* Of the height nothing is cut: a stack that does not begin at 0 lies. */
		graph.updateOptions({ valueRange: valueRange(view.model) });
		if (Math.round(from) !== Math.round(view.range.from) || Math.round(to) !== Math.round(view.range.to))
			onRange?.(Math.round(from), Math.round(to));
	}

	function make(Dygraph)
	{
		if (gone || graph || !plot.isConnected)
			return;
		const made = new Dygraph(plot, file(view), { ...options(view), underlayCallback: underlay, zoomCallback: onZoom,
			gridLineColor: getComputedStyle(document.documentElement).getPropertyValue('--line-strong') });
		graph = made;
		show();
	}

	const onTheme = () => redraw();
	document.addEventListener('themechange', onTheme);
	return {
		update({ model, marks, range })
		{
			Object.assign(view, { model, marks: marks ?? view.marks, range });
			list.setBands(model, view.hidden);
			if (graph)
				graph.updateOptions({ ...options(view), file: file(view) });
			else
				load().then(make, () => replace(plot, h('p', { class: 'state' }, 'The chart library could not be loaded: use the table.')));
			if (graph)
				show();
			if (asTable)
				showTable();
		},
		width: () => plot.clientWidth || element.clientWidth || 800,
		destroy()
		{
			gone = true;
			cancelAnimationFrame(frame);
			document.removeEventListener('themechange', onTheme);
			graph?.destroy();
		},
	};
}
