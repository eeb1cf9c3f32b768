/* SPDX-License-Identifier: Apache-2.0 */
/* Beside the chart: what stands under its cursor, in the order in which it is stacked; each line switches its series. */
import { h, prose, replace, s } from './dom.js';
import { bytes, duration } from './format.js';
import { LINES, markLook } from './chart_draw.js';
import { label, swatch } from './owners.js';
import { dim, note } from './parts.js';
import { sumOf } from './series.js';
import { stamp, zone } from './time.js';

function lineSwatch({ dash, paint, width })
{
	return s('svg', { class: 'swatch', width: 12, height: 12, aria: { hidden: true } }, s('line', { x1: 0, x2: 12, y1: 6, y2: 6,
		'stroke-dasharray': dash.length ? '4 2' : null, style: { stroke: `var(${paint})`, 'stroke-width': width } }));
}

/* What the owners of a row rest on. */
function scanNote(row)
{
	if (!row?.bands)
		return row ? 'Nothing is known of who held it.' : '';
	if (!row.scan)
		return 'No scan of the mappings near: the kernel’s groups.';
	const { kind, at, to } = row.scan;
	return kind === 'between' ? `Between the scans of ${stamp(at)} and ${stamp(to)}.` :
		kind === 'held' ? `Owners as scanned ${duration((row.at - at) / 1000)} before.` : 'Owners as scanned then.';
}

function overNote(row)
{
	const over = row?.bands && row.charge !== null ? sumOf(row.bands) - row.charge : 0;
	return over > 1 ? ` The owners exceed the charge by ${bytes(over)}: a claim is too high, or they were read at another moment.` : null;
}

/* {toggle(id), raise(id|null)} -> {element, setBands(model, hidden), show({row, hole, at, latest, marks})} */
export function readout({ toggle, raise })
{
	const time = h('p', { class: 'readout-time' }), body = h('tbody'), said = note(), marks = h('ul', { class: 'events' });
	const element = h('div', { class: 'readout', role: 'group', aria: { label: 'Read-out and legend' } }, time, h('table', null,
		h('thead', { class: 'unseen' }, h('tr', null, ['series', 'bytes', 'of the charge'].map((t) => h('th', { scope: 'col' }, t)))), body), said, marks);
	const cells = new Map();
	let shown = null;

	function line(id, picture, hidden)
	{
		const button = h('button', { type: 'button', class: 'series', aria: { pressed: !hidden.has(id) }, title: 'Show or hide', on: { click: () => {
			toggle(id);
			button.setAttribute('aria-pressed', String(!hidden.has(id)));
		} } }, picture, ' ', label(id));
		const size = h('td', { class: 'n' }), part = h('td', { class: 'n muted' });
		cells.set(id, { size, part });
		return h('tr', { on: { pointerenter: () => raise(id in LINES ? null : id), pointerleave: () => raise(null) } }, h('th', { scope: 'row' }, button), size, part);
	}

	return {
		element,
		setBands(model, hidden)
		{
			const key = model.bands.join(' ');
			if (key === shown)
				return;
			shown = key;
			cells.clear();
			replace(body, Object.entries(LINES).map(([id, look]) => line(id, lineSwatch(look), hidden)),
				[...model.bands].reverse().map((id) => line(id, swatch(id), hidden)));
		},
		show({ row, hole, at, latest, marks: near })
		{
			replace(time, at === null ? 'No samples in this range.' : [stamp(at), dim(` ${zone(at)}${latest ? ', the latest' : ''}`)]);
			const whole = row?.charge ?? sumOf(row?.bands ?? {}); /* without a cgroup: of what is known */
			for (const [id, { size, part }] of cells) {
				const own = id in LINES;
				const n = own ? row?.[id] : row?.bands?.[id];
				replace(size, !row || n === undefined ? '' : id === 'limit' && n === null ? 'none or unread' : bytes(n));
				const share = !own && n > 0 ? n / whole * 100 : null;
				replace(part, share === null ? '' : `${share.toFixed(share < 10 ? 1 : 0)} %`);
			}
			replace(said, hole ? [`No samples from ${stamp(hole.from)} to ${stamp(hole.to)}: `, hole.reason ? ['the agent declared ', prose(hole.reason)] : 'nobody said why', '.'] :
				[scanNote(row), overNote(row)]);
			replace(marks, near.slice(0, 8).map((mark) => h('li', null, markLook(mark.kind).sign || '▬', ' ', prose(mark.label), ' ',
				dim(stamp(mark.at), mark.to ? ` for ${duration((mark.to - mark.at) / 1000)}` : ''))));
		},
	};
}
