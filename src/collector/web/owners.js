/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owners of the ledger in its order (docs/ledger.md), and how each looks: the same everywhere, light or dark.
 *
 * There are more owners than colours that people tell apart, also those who see fewer. So an owner has a colour
 * (--owner-NAME of app.css) and, where a neighbour in the stack may look alike, a hatch over it.
 */
import { s } from './dom.js';

const PLAIN = '', UP = '/', DOWN = '\\', CROSS = 'x', LEVEL = '-', POST = '|', DOTS = '.';

const TABLE = [
	['java-heap', 'anon', PLAIN], ['metaspace', 'anon', PLAIN], ['code-cache', 'anon', UP], ['jvm-cds', 'anon', DOTS],
	['thread-stacks', 'anon', LEVEL], ['gc', 'anon', DOWN], ['jvm-other', 'anon', CROSS], ['direct-buffers', 'anon', PLAIN],
	['managed-unsafe', 'anon', UP], ['rocksdb-block-cache', 'anon', PLAIN], ['rocksdb-memtables', 'anon', UP],
	['rocksdb-table-readers', 'anon', CROSS], ['allocator-retained', 'anon', DOWN], ['native-other', 'anon', PLAIN],
	['library-data', 'anon', LEVEL], ['other-processes', 'anon', PLAIN], ['thp-unmapped', 'anon', UP],
	['zgc-heap', 'shmem', UP], ['tmpfs', 'shmem', PLAIN], ['shared-maps', 'shmem', DOWN], ['mapped-files', 'file', UP],
	['page-cache', 'file', PLAIN], ['kernel-stacks', 'kernel', LEVEL], ['page-tables', 'kernel', POST],
	['slab-reclaimable', 'kernel', DOTS], ['slab-unreclaimable', 'kernel', PLAIN], ['percpu', 'kernel', UP],
	['vmalloc', 'kernel', DOWN], ['kernel-other', 'kernel', CROSS], ['sockets', 'sock', PLAIN], ['hugetlb', 'hugetlb', CROSS],
];

export const GROUPS = ['anon', 'shmem', 'file', 'kernel', 'sock', 'hugetlb'];
export const OWNERS = TABLE.map(([owner]) => owner);
/* What no owner was found for: a band and a line like an owner's, never left out. */
export const REST = 'not attributed';

const LOOKS = new Map(TABLE.map(([owner, group, hatch], rank) => [owner, { group, hatch, rank, paint: owner }]));
/* A group as a whole, where no composition says more, in the colour of a member. */
const GROUP_PAINT = { anon: 'jvm-other', shmem: 'tmpfs', file: 'page-cache', kernel: 'slab-unreclaimable', sock: 'sockets', hugetlb: 'hugetlb' };
const NO_LOOK = { group: null, hatch: CROSS, rank: 99, paint: 'residual' };

/* {group, hatch, rank, paint} of an owner, of "group:anon", or of the rest. An owner of a later version has the rest's. */
export function look(id)
{
	if (id.startsWith('group:')) {
		const group = id.slice(6);
		return { group, hatch: DOTS, rank: GROUPS.indexOf(group), paint: GROUP_PAINT[group] ?? 'residual' };
	}
	return LOOKS.get(id) ?? NO_LOOK;
}

export function byRank(a, b)
{
	return look(a).rank - look(b).rank;
}

export function label(id)
{
	return id.startsWith('group:') ? `${id.slice(6)}, as a whole` : id;
}

/* Lines of a hatch in a square of 8: [x1, y1, x2, y2], so that canvas and SVG draw the same. */
const STROKES = {
	[UP]: [[-2, 10, 10, -2], [-2, 2, 2, -2], [6, 10, 10, 6]],
	[DOWN]: [[-2, -2, 10, 10], [-2, 6, 2, 10], [6, -2, 10, 2]],
	[LEVEL]: [[0, 2, 8, 2], [0, 6, 8, 6]],
	[POST]: [[2, 0, 2, 8], [6, 0, 6, 8]],
	[DOTS]: [[1, 2, 3, 2], [5, 6, 7, 6]],
};
STROKES[CROSS] = [...STROKES[UP], ...STROKES[DOWN]];

export function colour(name)
{
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
}

/* A canvas fill of an owner. Made anew when the theme changes: forget(). */
const fills = new Map();
export function fill(id)
{
	const { paint, hatch } = look(id);
	const key = paint + hatch;
	if (!fills.has(key)) {
		const ratio = 2;
		const tile = document.createElement('canvas');
		tile.width = tile.height = 8 * ratio;
		const ctx = tile.getContext('2d');
		ctx.scale(ratio, ratio);
		ctx.fillStyle = colour(`--owner-${paint}`);
		ctx.fillRect(0, 0, 8, 8);
		ctx.strokeStyle = colour('--owner-hatch');
		ctx.lineWidth = 1.1;
		for (const [x1, y1, x2, y2] of STROKES[hatch] ?? []) {
			ctx.beginPath();
			ctx.moveTo(x1, y1);
			ctx.lineTo(x2, y2);
			ctx.stroke();
		}
		const pattern = ctx.createPattern(tile, 'repeat');
		pattern.setTransform(new DOMMatrix().scale(1 / ratio));
		fills.set(key, pattern);
	}
	return fills.get(key);
}
document.addEventListener('themechange', () => fills.clear());

/* A square of an owner's colour and hatch, for legends, tables and bars; the name stands beside it. */
export function swatch(id, width = 12)
{
	const { paint, hatch } = look(id);
	const tiles = [];
	for (let x = 0; x < width; x += 8)
		for (let y = 0; y < 12; y += 8)
			tiles.push(...(STROKES[hatch] ?? []).map(([x1, y1, x2, y2]) =>
				s('line', { x1: x1 + x, y1: y1 + y, x2: x2 + x, y2: y2 + y })));
	return s('svg', { class: 'swatch', width, height: 12, viewBox: `0 0 ${width} 12`, aria: { hidden: true } },
		s('rect', { width, height: 12, style: { fill: `var(--owner-${paint})` } }), tiles);
}
