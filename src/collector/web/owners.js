/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owners of the ledger in its order (docs/ledger.md), and how each looks, the same everywhere. There are more than
 * colours that people tell apart: a neighbour that may look alike has a hatch over its --owner-NAME of app.css.
 */
import { s } from './dom.js';

const MEMBERS = {
	anon: ['java-heap', 'metaspace', 'code-cache', 'jvm-cds', 'thread-stacks', 'gc', 'jvm-other', 'direct-buffers', 'managed-unsafe',
		'rocksdb-block-cache', 'rocksdb-memtables', 'rocksdb-table-readers', 'allocator-retained', 'native-other', 'library-data',
		'other-processes', 'thp-unmapped'],
	shmem: ['zgc-heap', 'tmpfs', 'shared-maps'],
	file: ['mapped-files', 'page-cache'],
	kernel: ['kernel-stacks', 'page-tables', 'slab-reclaimable', 'slab-unreclaimable', 'percpu', 'vmalloc', 'kernel-other'],
	sock: ['sockets'],
	hugetlb: ['hugetlb'],
};
const HATCHES = {
	'code-cache': '/', 'jvm-cds': '.', 'thread-stacks': '-', gc: '\\', 'jvm-other': 'x', 'managed-unsafe': '/', 'rocksdb-memtables': '/',
	'rocksdb-table-readers': 'x', 'allocator-retained': '\\', 'library-data': '-', 'thp-unmapped': '/', 'zgc-heap': '/', 'shared-maps': '\\',
	'mapped-files': '/', 'kernel-stacks': '-', 'page-tables': '-', 'slab-reclaimable': '.', percpu: '/', vmalloc: '\\', 'kernel-other': 'x', hugetlb: 'x',
};
export const GROUPS = Object.keys(MEMBERS);
/* What no owner was found for: a band and a line like an owner's, never left out. */
export const REST = 'not attributed';

const LOOKS = new Map(GROUPS.flatMap((group) => MEMBERS[group].map((owner) => [owner, { group, hatch: HATCHES[owner], paint: owner }])));
const RANKS = [...LOOKS.keys()];
/* A group as a whole, where no composition says more, in the colour of a member. */
const WHOLE = { anon: 'jvm-other', shmem: 'tmpfs', file: 'page-cache', kernel: 'slab-unreclaimable', sock: 'sockets', hugetlb: 'hugetlb' };

/* {group, hatch, paint} of an owner, of "group:anon", or of the rest; an owner of a later version has the rest's. */
export function look(id)
{
	const group = id.startsWith('group:') ? id.slice(6) : null;
	return group ? { group, hatch: '.', paint: WHOLE[group] ?? 'residual' } : LOOKS.get(id) ?? { group: null, hatch: 'x', paint: 'residual' };
}

export function byRank(a, b)
{
	const rank = (id) => (id.startsWith('group:') ? 100 + GROUPS.indexOf(id.slice(6)) : RANKS.includes(id) ? RANKS.indexOf(id) : 99);
	return (a === REST) - (b === REST) || rank(a) - rank(b);
}

export const label = (id) => (id.startsWith('group:') ? `${id.slice(6)}, as a whole` : id);
export const paintOf = (id) => `var(--owner-${look(id).paint})`;

/* Lines of a hatch in a square of 8, [x1, y1, x2, y2]: canvas and SVG draw the same. */
const UP = [[-2, 10, 10, -2], [-2, 2, 2, -2], [6, 10, 10, 6]], DOWN = [[-2, -2, 10, 10], [-2, 6, 2, 10], [6, -2, 10, 2]];
const STROKES = { '/': UP, '\\': DOWN, x: [...UP, ...DOWN], '-': [[0, 2, 8, 2], [0, 6, 8, 6]], '.': [[1, 2, 3, 2], [5, 6, 7, 6]] };

export function colour(property)
{
	return getComputedStyle(document.documentElement).getPropertyValue(property).trim() || '#888';
}

/* A canvas fill of an owner, one a theme. */
const fills = new Map();
export function fill(id)
{
	const { paint, hatch } = look(id);
	const key = `${paint} ${document.documentElement.dataset.theme}`;
	if (!fills.has(key)) {
		const tile = document.createElement('canvas');
		tile.width = tile.height = 16; /* twice the size: sharp on dense screens */
		const ctx = tile.getContext('2d');
		ctx.scale(2, 2);
		ctx.fillStyle = colour(`--owner-${paint}`);
		ctx.fillRect(0, 0, 8, 8);
		ctx.strokeStyle = colour('--owner-hatch');
		ctx.beginPath();
		for (const [x1, y1, x2, y2] of STROKES[hatch] ?? []) {
			ctx.moveTo(x1, y1);
			ctx.lineTo(x2, y2);
		}
		ctx.stroke();
		const pattern = ctx.createPattern(tile, 'repeat');
		pattern.setTransform(new DOMMatrix().scale(0.5));
		fills.set(key, pattern);
	}
	return fills.get(key);
}

/* A square of an owner's colour and hatch; its name stands beside it. */
export function swatch(id)
{
	const strokes = STROKES[look(id).hatch] ?? [];
	return s('svg', { class: 'swatch', width: 12, height: 12, viewBox: '0 0 8 8', aria: { hidden: true } },
		s('rect', { width: 8, height: 8, style: { fill: paintOf(id) } }), strokes.map(([x1, y1, x2, y2]) => s('line', { x1, y1, x2, y2 })));
}
