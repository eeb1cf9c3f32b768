/* SPDX-License-Identifier: Apache-2.0 */
/* Beside the chart: what stands under its cursor, in the order in which it is stacked; each line switches its series. */
import { h, prose, replace, s } from './dom.js';
import { bytes, duration, UNREAD } from './format.js';
import { LINES, markLook } from './chart_draw.js';
import { label, swatch } from './owners.js';
import { stamp, zone } from './time.js';

function lineSwatch(line)
{
	return s('svg', { class: 'swatch', width: 12, height: 12, viewBox: '0 0 12 12', aria: { hidden: 'true' } },
		s('line', { x1: 0, x2: 12, y1: 6, y2: 6, 'stroke-dasharray': line.dash.length ? '4 2' : null,
			style: { stroke: `var(${line.paint})`, 'stroke-width': line.width } }));
}

function share(n, whole)
{
	return n === null || n === undefined || !whole ? '' : `${(n / whole * 100).toFixed(n / whole < 0.0995 ? 1 : 0)} %`;
}

/* What the owners of a row rest on. */
function scanNote(row)
{
	if (!row?.bands)
		return row ? 'Nothing is known of who held it.' : '';
	if (!row.scan)
		return 'No scan of the mappings near: the kernel\'s groups.';
	if (row.scan.kind === 'between')
		return `Between the scans of ${stamp(row.scan.at)} and ${stamp(row.scan.to)}.`;
	return row.scan.kind === 'held' ? `Owners as scanned ${duration((row.at - row.scan.at) / 1000)} before.` : 'Owners as scanned then.';
}

function holeText(hole)
{
	return [`No samples from ${stamp(hole.from)} to ${stamp(hole.to)}`,
		hole.reason ? [': the agent declared ', prose(hole.reason)] : ': nobody said why', '.'];
}

/* {toggle(id), raise(id|null)} -> {element, setBands(model, hidden), show({row, hole, at, latest, marks})} */
export function readout({ toggle, raise })
{
	const time = h('p', { class: 'readout-time' });
	const note = h('p', { class: 'readout-note muted' });
	const body = h('tbody');
	const events = h('ul', { class: 'readout-marks' });
	const element = h('div', { class: 'readout', role: 'group', aria: { label: 'Read-out and legend' } },
		time, h('table', null, h('thead', { class: 'unseen' }, h('tr', null, ['what', 'bytes', 'of the charge'].map((t) => h('th', { scope: 'col' }, t)))), body),
		note, events);
	const cells = new Map();
	let known = '';

	function rowFor(id, picture, text, hidden)
	{
		const button = h('button', { type: 'button', class: 'series', aria: { pressed: !hidden.has(id) }, title: 'Show or hide', on: {
			click: () => {
				toggle(id);
				button.setAttribute('aria-pressed', String(!hidden.has(id)));
			} } }, picture, ' ', text);
		const size = h('td', { class: 'n' }), part = h('td', { class: 'n muted' });
		cells.set(id, { size, part });
		return h('tr', { on: { pointerenter: () => raise(id in LINES ? null : id), pointerleave: () => raise(null) } },
			h('th', { scope: 'row' }, button), size, part);
	}

	return {
		element,
		setBands(model, hidden)
		{
			const ids = [...model.bands].reverse();
			const key = ids.join(' ');
			if (key === known && body.firstChild)
				return;
			known = key;
			cells.clear();
			replace(body, Object.entries(LINES).map(([id, line]) => rowFor(id, lineSwatch(line), line.label, hidden)),
				ids.map((id) => rowFor(id, swatch(id), label(id), hidden)));
		},
		show({ row, hole, at, latest, marks })
		{
			replace(time, at === null ? 'No samples in this range.' : [stamp(at), h('span', { class: 'muted' }, ` ${zone(at)}${latest ? ', the latest' : ''}`)]);
			for (const [id, { size, part }] of cells) {
				const n = id in LINES ? row?.[id] : row?.bands?.[id];
				replace(size, row && id in LINES ? (id === 'limit' && n === null ? 'none' : bytes(n)) : n === undefined ? '' : bytes(n));
				replace(part, id === 'charge' ? '' : id === 'floor' || id === 'limit' ? '' : share(n, row?.charge));
				size.classList.toggle('unread', size.textContent === UNREAD);
			}
			const over = row?.bands && row.charge !== null ? Object.values(row.bands).reduce((sum, n) => sum + n, 0) - row.charge : 0;
			replace(note, hole ? holeText(hole) : scanNote(row),
				over > 1 ? ` The owners exceed the charge by ${bytes(over)}: a claim is too high, or they were read at another moment.` : null);
			replace(events, marks.slice(0, 8).map((mark) => h('li', null, markLook(mark.kind).sign ?? '▬', ' ', mark.label ?? markLook(mark.kind).text,
				' ', h('span', { class: 'muted' }, stamp(mark.at), mark.to ? ` for ${duration((mark.to - mark.at) / 1000)}` : ''))));
		},
	};
}
