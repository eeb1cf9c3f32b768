/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making elements. What came from outside becomes text nodes and nothing else, and a name that came from outside
 * stands in an element of its own (<bdi>), so that a right-to-left mark in it turns nothing around it.
 */
const SVG = 'http://www.w3.org/2000/svg';

/* Places of this very page or origin alone: no scheme, so no javascript: and no other host. */
function isOwnPlace(href)
{
	return /^(#|\?|\/(?![/\\])|$)/.test(href);
}

function setProp(element, key, value)
{
	if (value === null || value === undefined || value === false)
		return;
	if (key === 'on') {
		for (const [type, listener] of Object.entries(value))
			element.addEventListener(type, listener);
	} else if (key === 'aria' || key === 'data') {
		for (const [name, v] of Object.entries(value))
			if (v !== null && v !== undefined)
				element.setAttribute(`${key}-${name}`, String(v));
	} else if (key === 'style') { /* by the CSSOM, which the policy allows; a style attribute it does not */
		for (const [name, v] of Object.entries(value))
			element.style.setProperty(name, v);
	} else if (key === 'value') {
		element.value = value;
	} else if (key === 'href' && !isOwnPlace(String(value))) {
		throw new TypeError('a link leads out of this site');
	} else {
		element.setAttribute(key, value === true ? '' : String(value));
	}
}

function fill(element, props, children)
{
	for (const [key, value] of Object.entries(props ?? {}))
		setProp(element, key, value);
	element.append(...flat(children));
	return element;
}

function flat(children)
{
	return children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);
}

/* h('a', {href: '#/', class: 'x', on: {click: f}, aria: {label: 'y'}}, 'text', [child, null]) */
export function h(tag, props, ...children)
{
	return fill(document.createElement(tag), props, children);
}

/* The same for SVG. */
export function s(tag, props, ...children)
{
	return fill(document.createElementNS(SVG, tag), props, children);
}

export function replace(node, ...children)
{
	node.replaceChildren(...flat(children));
	return node;
}

/* Control, format (direction marks, zero width) and line-separating characters, and halves of surrogate pairs. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/* Makes visible what would not be: U+202E becomes the seven letters ⟨U+202E⟩. */
export function visible(text)
{
	return String(text).replace(INVISIBLE, (c) =>
		`⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/* Both ends of a name say more than its beginning alone: pods differ in the last letters. */
export function middle(text, max)
{
	const points = Array.from(text);
	if (points.length <= max)
		return text;
	const tail = Math.floor((max - 1) / 2);
	return points.slice(0, max - 1 - tail).join('') + '…' + points.slice(points.length - tail).join('');
}

/* A name of somebody else's: isolated, visible, cut in the middle, whole in its tooltip. null: "unread". */
export function name(text, max = 64)
{
	if (text === null || text === undefined)
		return h('span', { class: 'unread' }, 'unread');
	const whole = visible(text);
	const cut = middle(whole, max);
	return h('bdi', { class: 'name', title: cut === whole ? null : middle(whole, 4096) }, cut);
}

/*
 * The same in a place of unknown width: the style sheet cuts the head and keeps the tail, and the whole can be selected
 * and searched. The place must lay out blocks, for an inline element has no width to be cut to.
 */
export function fitted(text, max = 128, keep = 10)
{
	const whole = visible(text);
	const cut = Array.from(middle(whole, max));
	const tail = cut.length > 2 * keep ? cut.splice(-keep) : [];
	return h('bdi', { class: 'name fitted', title: middle(whole, 4096) }, h('span', null, cut.join('')),
		tail.length ? h('span', { class: 'tail' }, tail.join('')) : null);
}

/* Texts of messages: longer than a name, else the same. */
export function prose(text)
{
	return name(text, 1024);
}
