/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of any number of rows of which only those in sight exist. The rows stand at their places in a body that is as
 * high as all of them would be, so that the page's own scroll bar, Find, Page Down and a touch scroll as ever. It is a
 * real table with its roles said once more, for the style sheet lays it out as a grid, and that would take them away.
 */
import { h, replace } from './dom.js';

const AROUND = 4;         /* rows made beyond what is seen ... */
const ASK_AROUND = 20;    /* ... and asked for, so that a small scroll finds them there */
const ASK_MOST = 200;     /* docs/live.md */

function signature(column, row)
{
	return column.fields.map((field) => row[field]).join('\u0001');
}

function makeRow(columns)
{
	const cells = columns.map((column) => h('td', { role: 'cell', class: 'c-' + column.id }));
	return { element: h('tr', { role: 'row', data: { row: '' } }, cells), cells, signatures: [], index: -1 };
}

function fillRow(shown, columns, row)
{
	columns.forEach((column, i) => {
		const now = signature(column, row);
		if (shown.signatures[i] === now)
			return;
		shown.signatures[i] = now;
		replace(shown.cells[i], column.cell(row));
	});
	shown.element.classList.toggle('is-stale', row.state !== 'connected');
	shown.element.classList.toggle('is-silenced', row.silenced);
	shown.element.dataset.severity = row.severity ?? 'none';
}

/* sort(key): a head was pressed. ask(from, count): these are wanted now. */
export function makeTable({ caption, sort, ask })
{
	const head = h('tr', { role: 'row', aria: { rowindex: 1 } });
	const body = h('tbody', { role: 'rowgroup' });
	const text = h('caption', { class: 'unseen' }, caption);
	const table = h('table', { class: 'fleet', role: 'table' }, text, h('thead', { role: 'rowgroup' }, head), body);
	const shown = new Map(); /* key -> what makeRow() made */
	let columns = [];
	let headed = null; /* what the head was made for */
	let rowHeight = 0;
	let model = { matching: 0, get: () => null };
	let asked = { from: 0, count: 0 };
	let focusAt = -1; /* a row that has not arrived yet and gets the focus when it has */

	function measure()
	{
		rowHeight = parseFloat(getComputedStyle(table).getPropertyValue('--row-height')) || 52;
	}

	/* [first, last) of the rows that are in sight. */
	function sight()
	{
		const top = body.getBoundingClientRect().top;
		const first = Math.floor(-top / rowHeight);
		const last = Math.ceil((window.innerHeight - top) / rowHeight);
		return [Math.min(Math.max(0, first), model.matching), Math.min(Math.max(0, last), model.matching)];
	}

	function askFor(first, last)
	{
		/* Still inside what was asked for: nothing to do, but at the table's ends there is no more to ask. */
		const end = asked.from + asked.count;
		const spare = ASK_AROUND / 4;
		if (first >= asked.from + (asked.from ? spare : 0) && (last + spare <= end || last >= model.matching && last <= end))
			return;
		const from = Math.max(0, first - ASK_AROUND);
		asked = { from, count: Math.min(ASK_MOST, Math.max(60, last - from + ASK_AROUND)) };
		ask(asked.from, asked.count);
	}

	/* Rows in order of their places, so that Tab and a screen reader go as the eye does; moved without losing the focus. */
	function put(wanted)
	{
		const focused = document.activeElement;
		let next = body.firstElementChild;
		for (const { element } of wanted) {
			if (element === next)
				next = next.nextElementSibling;
			else if (body.moveBefore && element.parentNode === body)
				body.moveBefore(element, next);
			else
				body.insertBefore(element, next);
		}
		if (focused !== document.activeElement && body.contains(focused))
			focused.focus({ preventScroll: true });
	}

	function render()
	{
		if (!rowHeight)
			measure();
		body.style.height = `${model.matching * rowHeight}px`;
		const [first, last] = sight();
		const wanted = [];
		const keep = new Set();
		for (let i = Math.max(0, first - AROUND); i < Math.min(model.matching, last + AROUND); i++) {
			const row = model.get(i);
			const key = row ? row.id : `#${i}`;
			if (keep.has(key))
				continue;
			keep.add(key);
			const one = shown.get(key) ?? makeRow(columns);
			shown.set(key, one);
			if (one.index !== i) {
				one.index = i;
				one.element.style.top = `${i * rowHeight}px`;
				one.element.setAttribute('aria-rowindex', i + 2);
			}
			if (row)
				fillRow(one, columns, row);
			else
				one.element.setAttribute('aria-busy', 'true');
			wanted.push(one);
		}
		for (const [key, one] of shown)
			if (!keep.has(key)) {
				one.element.remove();
				shown.delete(key);
			}
		put(wanted);
		table.setAttribute('aria-rowcount', model.matching + 1);
		askFor(first, last);
		if (focusAt >= 0)
			focusRow(focusAt);
	}

	function forget()
	{
		shown.clear();
		replace(body);
	}

	function focusedIndex()
	{
		const element = document.activeElement?.closest?.('tr');
		for (const one of shown.values())
			if (one.element === element)
				return one.index;
		return -1;
	}

	/* The focus on the row's link, which may have to come first. */
	function focusRow(index)
	{
		focusAt = index;
		for (const one of shown.values()) {
			const anchor = one.index === index ? one.element.querySelector('a[data-main]') : null;
			if (!anchor)
				continue;
			focusAt = -1;
			anchor.focus({ preventScroll: true });
			one.element.scrollIntoView({ block: 'nearest' });
			return;
		}
	}

	function moveFocus(step)
	{
		const [first] = sight();
		const at = focusedIndex();
		const index = Math.min(model.matching - 1, Math.max(0, at < 0 ? first : at + step));
		if (index < 0)
			return;
		const top = body.getBoundingClientRect().top + index * rowHeight;
		if (top < 0 || top > window.innerHeight)
			window.scrollBy(0, top - window.innerHeight / 2);
		focusAt = index;
		render();
	}

	let frame = 0;
	function later()
	{
		frame ||= requestAnimationFrame(() => {
			frame = 0;
			render();
		});
	}
	function resized()
	{
		measure();
		for (const one of shown.values())
			one.index = -1;
		later();
	}
	window.addEventListener('scroll', later, { passive: true });
	window.addEventListener('resize', resized);

	return {
		element: table,
		moveFocus,
		later,
		setCaption(value)
		{
			replace(text, value);
		},
		setColumns(next, order)
		{
			if (columns.length !== next.length || columns.some((c, i) => c !== next[i])) {
				columns = next;
				headed = null;
				forget();
			}
			/* Not with each frame: a button that is exchanged between the press and the release is not clicked. */
			const wanted = `${order.sort} ${order.descending}`;
			if (headed === wanted)
				return;
			headed = wanted;
			table.setAttribute('aria-colcount', columns.length);
			const pressed = head.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
			replace(head, columns.map((column) => {
				const sorted = column.sort && column.sort === order.sort;
				return h('th', { role: 'columnheader', scope: 'col', class: 'c-' + column.id,
					aria: { sort: sorted ? (order.descending ? 'descending' : 'ascending') : null } },
				column.sort ?
					h('button', { type: 'button', class: 'plain', data: { sort: column.sort },
						on: { click: () => sort(column.sort) } }, column.label,
					h('span', { class: 'arrow', aria: { hidden: 'true' } }, sorted ? (order.descending ? ' ▼' : ' ▲') : '')) :
					column.label);
			}));
			if (pressed)
				head.querySelector(`[data-sort="${pressed}"]`)?.focus({ preventScroll: true });
		},
		/* {matching, get(i) -> row or null} */
		setModel(next)
		{
			model = next;
			render();
		},
		/* The window belongs to another subscription now: ask again from where one stands. */
		askAgain()
		{
			asked = { from: 0, count: 0 };
			const [first, last] = rowHeight ? sight() : [0, 0];
			askFor(first, Math.max(last, first + 1));
		},
		close()
		{
			cancelAnimationFrame(frame);
			window.removeEventListener('scroll', later);
			window.removeEventListener('resize', resized);
		},
	};
}
