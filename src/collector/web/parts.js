/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that the pages share. A number is bytes, null is unread, undefined an empty place. */
import { h, name, replace } from './dom.js';
import { bytes, UNREAD } from './format.js';
import { link } from './router.js';
import { loading } from './states.js';

export const known = (n) => n !== null && n !== undefined;
export const note = (...content) => h('p', { class: 'muted' }, content);
export const dim = (...content) => h('span', { class: 'muted' }, content);
export const badge = (...content) => h('span', { class: 'badge' }, content);
export const card = (title, ...content) => h('section', { class: 'card' }, h('h2', null, title), content);
export const list = (items) => h('ul', { class: 'events' }, items.map((item) => h('li', null, item)));

function value(v)
{
	return typeof v === 'number' ? bytes(v) : v === null ? h('span', { class: 'unread' }, UNREAD) : v ?? '';
}

/* heads: with '#' before it a column of figures, with '~' one of long texts, with '!' a head that is only heard. rows: of cells, the first one names the row. */
export function table(heads, rows, caption = null)
{
	const figure = (i) => ({ '#': 'n', '~': 'long' })[heads[i][0]] ?? null;
	const text = (head) => (head[0] === '!' ? h('span', { class: 'unseen' }, head.slice(1)) : head.replace(/^[#~]/, ''));
	return h('div', { class: 'scroll', tabindex: 0, role: 'group', aria: { label: caption ?? heads.map((head) => head.replace(/^[#~!]/, '')).join(', ') } }, h('table', { class: 'figures' },
		h('thead', null, h('tr', null, heads.map((head, i) => h('th', { scope: 'col', class: figure(i) }, text(head))))),
		h('tbody', null, rows.map((row) => h('tr', null, heads.map((_, i) => (i ? h('td', { class: figure(i) }, value(row[i])) : h('th', { scope: 'row' }, value(row[i])))))))));
}

/* [[title, value], ...]; undefined: not of this one. */
export function facts(rows)
{
	return h('dl', { class: 'facts-list' }, rows.filter(([, v]) => v !== undefined).map(([title, v]) => [h('dt', null, title), h('dd', null, value(v))]));
}

/* A figure, then what it is, then what it means. */
export function tile(title, v, ...meaning)
{
	return h('div', { class: 'figure-tile' }, h('dt', null, title), h('dd', null, value(v)), h('dd', { class: 'figure-note muted' }, meaning));
}

/*
 * Fills a place anew if that changes anything. Nothing is replaced under a keyboard: who stands in it keeps his place until
 * he leaves; but a heading that has the focus because its page has come hands it to the next one, and who asks to try again
 * (states.js) waits for what comes.
 */
export function put(node, ...content)
{
	const next = h('div', null, content);
	const same = next.childNodes.length === node.childNodes.length && [...next.childNodes].every((child, i) => child.isEqualNode(node.childNodes[i]));
	const focused = node.contains(document.activeElement);
	if (same || (focused && !document.activeElement.matches('h1, .state button')))
		return;
	replace(node, ...next.childNodes);
	if (focused)
		node.querySelector('h1')?.focus({ preventScroll: true });
}

/* The same for a page that has come: it is replaced in any case. */
export function arrive(node, ...content)
{
	const focused = node.contains(document.activeElement);
	replace(node, ...content);
	if (focused)
		node.querySelector('h1')?.focus({ preventScroll: true });
}

/* While a page has nothing to show it has a heading, for the focus. */
export const coming = (what) => [h('h1', { class: 'unseen', tabindex: -1 }, what), loading(what)];

/* A link of a list that j and k go along. */
export function rowLink(path, text, params)
{
	return h('a', { href: link(path, params), data: { row: '' } }, text);
}

/* Fleet / cluster / namespace / and what the caller adds: [text or null, href or null]. */
export function crumbs({ cluster, namespace }, ...more)
{
	const steps = [[cluster], [namespace, link('', { ns: namespace })], ...more].filter(([text]) => known(text));
	return h('nav', { class: 'crumbs', aria: { label: 'Where this is' } }, h('a', { href: link('') }, 'Fleet'),
		steps.map(([text, href]) => [' / ', href ? h('a', { href }, name(text, 48)) : name(text, 48)]));
}

export const head = (trail, title, ...line) => h('div', { class: 'page-head' }, trail, h('h1', { tabindex: -1 }, title), h('p', { class: 'facts' }, line));
