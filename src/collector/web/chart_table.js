/* SPDX-License-Identifier: Apache-2.0 */
/* The same rows as figures, for whoever does not see a picture, or wants to copy. */
import { label } from './owners.js';
import { note, table } from './parts.js';
import { stamp, zone } from './time.js';

const ROWS_MAX = 120;

export function chartTable({ rows, bands })
{
	const every = Math.max(1, Math.ceil(rows.length / ROWS_MAX));
	const shown = rows.filter((row, i) => i % every === 0 || row.start || i === rows.length - 1);
	const ids = [...bands].reverse();
	return [note(`Times in ${zone()}. `, every > 1 ? `One in ${every} of ${rows.length} points; zoom in for all.` : ''),
		table(['time', '#limit', '#charge', '#floor', '#freeboard', ...ids.map((id) => `#${label(id)}`)], shown.flatMap((row) => [
			...(row.start ? [['no samples']] : []),
			[stamp(row.at), row.limit, row.charge, row.floor, row.freeboard, ...ids.map((id) => row.bands?.[id])]]), 'The chart as a table')];
}
