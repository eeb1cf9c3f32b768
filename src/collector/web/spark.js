/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last hour of one row: the floor as a part of the limit, a minute a step. The text is docs/live.md's `spark`:
 * 0-9A-Za-z-_ for 0 to 63 of 63, '.' where no sample was taken. A gap is drawn as a gap.
 */
import { s } from './dom.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';
const MOST = DIGITS.length - 1;

/* [share of the limit or null], oldest first. */
export function sparkValues(text)
{
	return Array.from(text ?? '', (c) => {
		const digit = DIGITS.indexOf(c);
		return digit < 0 ? null : digit / MOST;
	});
}

function paths(values, width, height)
{
	const step = width / Math.max(1, values.length - 1);
	const y = (v) => (1 + (1 - v) * (height - 2)).toFixed(1);
	let line = '';
	let area = '';
	for (let i = 0; i < values.length; i++) {
		if (values[i] === null)
			continue;
		let end = i;
		while (end + 1 < values.length && values[end + 1] !== null)
			end++;
		const points = [];
		for (let k = i; k <= end; k++)
			points.push(`${(k * step).toFixed(1)} ${y(values[k])}`);
		if (points.length === 1) /* one lone minute is seen, too */
			points.unshift(`${(i * step - 2).toFixed(1)} ${y(values[i])}`);
		line += `M${points.join('L')}`;
		area += `M${(i * step).toFixed(1)} ${height}L${points.join('L')}L${(end * step).toFixed(1)} ${height}Z`;
		i = end;
	}
	return { line, area };
}

function describe(values)
{
	const known = values.filter((v) => v !== null).map((v) => Math.round(v * 100));
	if (!known.length)
		return 'no sample in the last hour';
	return `last hour: floor at ${known[0]} % of the limit, now ${known.at(-1)} %, at most ${Math.max(...known)} %`;
}

const WIDTH = 120;
const HEIGHT = 32;

/* An SVG that fills its place; the line at the top is the limit. */
export function sparkline(text)
{
	const values = sparkValues(text);
	const { line, area } = paths(values, WIDTH, HEIGHT);
	const label = describe(values);
	return s('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img',
		aria: { label } },
	s('title', null, label),
	s('path', { class: 'spark-limit', d: `M0 1H${WIDTH}` }),
	s('path', { class: 'spark-area', d: area }),
	s('path', { class: 'spark-line', d: line }));
}
