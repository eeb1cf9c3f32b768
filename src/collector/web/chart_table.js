/* SPDX-License-Identifier: Apache-2.0 */
/* The same rows as figures, for whoever does not see a picture, or wants to copy. */
import { h } from './dom.js';
import { bytes } from './format.js';
import { label } from './owners.js';
import { stamp, zone } from './time.js';

const ROWS_MAX = 120;

function cell(n)
{
	return h('td', { class: n === null || n === undefined ? 'n unread' : 'n' }, n === undefined ? '' : bytes(n));
}

export function chartTable(model)
{
	const every = Math.max(1, Math.ceil(model.rows.length / ROWS_MAX));
	const rows = model.rows.filter((row, i) => i % every === 0 || row.start || i === model.rows.length - 1);
	const bands = [...model.bands].reverse();
	return h('div', { class: 'scroll', tabindex: 0, role: 'region', aria: { label: 'The chart as a table' } },
		h('table', { class: 'figures' },
			h('caption', null, `Times in ${zone()}. `, every > 1 ? `Every ${every}. of ${model.rows.length} points; zoom in for all.` : `${model.rows.length} points.`),
			h('thead', null, h('tr', null, ['time', 'limit', 'charge', 'floor', 'freeboard', ...bands.map(label)].map((t) => h('th', { scope: 'col' }, t)))),
			h('tbody', null, rows.map((row) => [
				row.start ? h('tr', null, h('td', { colspan: 5 + bands.length, class: 'muted' }, 'no samples')) : null,
				h('tr', null, h('th', { scope: 'row' }, stamp(row.at)), [row.limit, row.charge, row.floor, row.freeboard].map(cell),
					bands.map((id) => cell(row.bands?.[id])))]))));
}
