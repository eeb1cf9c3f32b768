/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chart of memory: who fills the container, against its limit. Owner of dygraphs, which brings axes, ticks, zoom by
 * drag and touch, and a canvas at any density; chart_draw.js paints the rest.
 *
 * It is one focusable element: arrows move a cursor, and what stands under it is a list beside it that a mouse, a
 * finger and a screen reader find alike.
 */
import { h, replace } from './dom.js';
import { bytes } from './format.js';
import { paintLane, paintPlot } from './chart_draw.js';
import { chartTable } from './chart_table.js';
import { readout } from './chart_readout.js';
import { colour } from './owners.js';
import { isUtc } from './now.js';
import { put } from './parts.js';
import { nearest } from './series.js';
import { stamp } from './time.js';

/* Loaded with the first chart. It looks for a module loader first, finds none, and sets window.Dygraph. */
let library = null;
function load()
{
	library ??= import('./dygraph.min.js').then(() => {
		/* Its own legend writes HTML with style attributes, which the policy refuses. Ours is a list. */
		window.Dygraph.PLUGINS = window.Dygraph.PLUGINS.filter((plugin) => plugin !== window.Dygraph.Plugins.Legend);
		return window.Dygraph;
	});
	library.catch(() => { library = null; });
	return library;
}

/* The stack begins at 0, and there is room for the limit: it is what all else is measured against. */
function options({ model, range })
{
	return {
		labels: ['time', 'charge'],
		dateWindow: [range.from, range.to],
		valueRange: [0, Math.max(1 << 20, model.most) * 1.06],
		labelsUTC: isUtc(),
		axes: { x: { drawGrid: false }, y: { axisLabelFormatter: (v) => (v ? bytes(v).replace(/\.0+ /, ' ') : '0'), axisLabelWidth: 64, pixelsPerLabel: 40 } },
		labelsKMG2: true,
		gridLineWidth: 0.5,
		gridLineColor: colour('--line-strong'),
		plotter: () => {},
		highlightCircleSize: 0,
	};
}

/* The library wants two points at least. */
function file({ model, range })
{
	const rows = model.rows.map((row) => [new Date(row.at), row.charge ?? null]);
	return rows.length > 1 ? rows : [[new Date(range.from), null], ...rows, [new Date(range.to), null]];
}

/*
 * stacked(el, {label, onRange(from, to), onReset()}) -> {update({model, marks, range}), width(), destroy()}
 * onRange: somebody chose a stretch; the caller gets its points and calls update.
 */
export function stacked(element, { label, onRange, onReset })
{
	const view = { model: { rows: [], bands: [], holes: [], most: 0 }, marks: [], range: { from: 0, to: 1 }, hidden: new Set(), raised: null };
	let graph = null, cursor = null, gone = false, frame = 0;
	const lane = h('canvas', { class: 'chart-lane', aria: { hidden: true } }), plot = h('div', { class: 'chart-plot' });
	const hair = h('div', { class: 'chart-hair', hidden: true }), said = h('div', { class: 'unseen', aria: { live: 'polite' } });
	const focusable = h('div', { class: 'chart-focus', tabindex: 0, role: 'application', aria: { label, roledescription: 'chart' }, on: {
		keydown: onKey, pointermove: onPointer, pointerdown: onPointer, blur: () => moveTo(null),
		pointerleave: () => focusable === document.activeElement || moveTo(null) } }, lane, plot, hair);
	const list = readout({
		toggle: (id) => { view.hidden.delete(id) || view.hidden.add(id); redraw(); },
		raise: (id) => { view.raised = id; redraw(); },
	});
	const table = h('div', { class: 'chart-table', hidden: true });
	const switcher = h('button', { type: 'button', aria: { pressed: false }, on: { click: () => {
		table.hidden = !table.hidden;
		switcher.setAttribute('aria-pressed', String(!table.hidden));
		showTable();
	} } }, 'Show as table');
	replace(element, h('div', { class: 'chart-body' }, h('div', null, focusable, h('p', { class: 'chart-foot muted' }, switcher,
		' Keys: ← → move, Shift for more, Home and End, + and − zoom, Esc shows all. Drag to zoom.')), list.element), table, said);

	function showTable()
	{
		put(table, table.hidden ? null : chartTable(view.model));
	}

	function underlay(ctx, area, g)
	{
		graph ??= g; /* called from the constructor, too */
		const scale = { x: (at) => graph.toDomXCoord(at), y: (n) => graph.toDomYCoord(n) };
		paintPlot(ctx, area, view, scale);
		paintLane(lane, area, plot.clientWidth, view.marks, scale.x);
		placeHair();
	}

	function redraw()
	{
		graph?.updateOptions(options(view));
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
		frame ||= requestAnimationFrame(() => {
			frame = 0;
			show();
		});
	}

	const holeAt = (at) => view.model.holes.find((hole) => at > hole.from && at < hole.to) ?? null;

	/* Near: within what a finger covers. */
	function marksNear(at)
	{
		const near = (view.range.to - view.range.from) / 80;
		return view.marks.filter((mark) => (mark.to ? at >= mark.at && at <= mark.to : Math.abs(mark.at - at) <= near));
	}

	function show()
	{
		if (!graph || gone)
			return;
		const { rows } = view.model;
		placeHair();
		const latest = cursor === null;
		const hole = latest ? null : holeAt(cursor);
		const row = !rows.length || hole ? null : latest ? rows.at(-1) : rows[nearest(rows, cursor)];
		list.show({ row, hole, at: cursor ?? row?.at ?? null, latest, marks: latest ? [] : marksNear(cursor) });
	}

	function onPointer(event)
	{
		const { rows } = view.model;
		const at = graph?.toDataXCoord(event.clientX - plot.getBoundingClientRect().left);
		if (at >= view.range.from && at <= view.range.to)
			moveTo(holeAt(at) || !rows.length ? at : rows[nearest(rows, at)].at);
	}

	function say(row)
	{
		const largest = Object.entries(row.bands ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 6);
		replace(said, `${stamp(row.at)}: charge ${bytes(row.charge)} of ${bytes(row.limit)}, floor ${bytes(row.floor)}. ` +
			[...largest.map(([id, n]) => `${id} ${bytes(n)}`), ...(row.start ? ['nothing is known of the time just before'] : []),
				...marksNear(row.at).map((mark) => mark.label)].join(', '));
	}

	function onKey(event)
	{
		const { rows } = view.model;
		const { from, to } = view.range;
		if (event.ctrlKey || event.metaKey || event.altKey || !graph)
			return;
		const at = cursor === null ? rows.length : nearest(rows, cursor);
		const page = Math.max(1, Math.round(rows.length / 10)), step = event.shiftKey ? page : 1;
		const move = { ArrowLeft: at - step, ArrowRight: at + step, PageUp: at - page, PageDown: at + page, Home: 0, End: rows.length }[event.key];
		const zoom = { '+': 0.5, '=': 0.5, '-': 2 }[event.key];
		if (move !== undefined && rows.length) {
			const row = rows[Math.max(0, Math.min(rows.length - 1, move))];
			cursor = row.at;
			show();
			say(row);
		} else if (zoom) {
			const about = cursor ?? (from + to) / 2;
			onRange(Math.round(about - (about - from) * zoom), Math.round(about + (to - about) * zoom));
		} else if (event.key === 'Escape') {
			onReset();
		} else {
			return;
		}
		event.preventDefault();
	}

	/* Also after a drag up or down, which would cut the height: that is put back. */
	function onZoom(from, to)
	{
		const { range } = view;
		if (Math.abs(from - range.from) > 1 || Math.abs(to - range.to) > 1)
			onRange(Math.round(from), Math.round(to));
		else
			redraw();
	}

	function make(Dygraph)
	{
		if (gone || graph)
			return;
		graph = new Dygraph(plot, file(view), { ...options(view), underlayCallback: underlay, zoomCallback: onZoom });
		show();
	}

	document.addEventListener('themechange', redraw);
	return {
		update(now)
		{
			Object.assign(view, now);
			view.marks.sort((a, b) => a.at - b.at);
			list.setBands(view.model, view.hidden);
			if (graph)
				graph.updateOptions({ ...options(view), file: file(view) });
			else
				load().then(make).catch(() => replace(plot, 'The chart library could not be loaded. The figures are in the table below.'));
			show();
			showTable();
		},
		width: () => plot.clientWidth || 800,
		destroy()
		{
			gone = true;
			document.removeEventListener('themechange', redraw);
			graph?.destroy();
		},
	};
}
