/* SPDX-License-Identifier: Apache-2.0 */
/* Keys for people who do not leave the keyboard. None acts while one types, and none takes a key from the browser. */
import { h, replace } from './dom.js';
import { go, link } from './router.js';

/* [keys, what they do]; g starts a sequence. */
const HELP = [
	['/', 'search in the fleet'],
	['j, k', 'next, previous row'],
	['Enter', 'open the row'],
	['Esc', 'leave a field, close a dialog'],
	['g f', 'fleet'],
	['g a', 'alerts'],
	['g s', 'silences'],
	['?', 'these keys'],
];
const PLACES = { f: '', a: 'alerts', s: 'silences' };
const SEQUENCE_MS = 1500;

function isTyping(target)
{
	return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/* Rows of any page that are reached by j and k: the elements marked data-row that have a link. */
function moveRow(main, step)
{
	const rows = Array.from(main.querySelectorAll('[data-row] a[data-main], a[data-row]'));
	if (!rows.length)
		return;
	const at = rows.indexOf(document.activeElement?.closest('[data-row]')?.querySelector('a[data-main]') ??
		document.activeElement);
	const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
	next.focus();
	next.scrollIntoView({ block: 'nearest' });
}

let dialog = null;

export function showHelp()
{
	dialog ??= document.body.appendChild(h('dialog', { class: 'help', aria: { labelledby: 'help-title' } }));
	replace(dialog,
		h('h2', { id: 'help-title' }, 'Keys'),
		h('dl', { class: 'keys' }, HELP.map(([keys, what]) => [
			h('dt', null, keys.split(/(, | )/).map((k) => (/^(, | )$/.test(k) ? k : h('kbd', null, k)))),
			h('dd', null, what)])),
		h('form', { method: 'dialog' }, h('button', null, 'Close')));
	dialog.showModal();
}

export function listenToKeys(document, main)
{
	let sequence = 0; /* when g was pressed */
	document.addEventListener('keydown', (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
			return;
		if (isTyping(event.target)) {
			if (event.key === 'Escape')
				event.target.blur();
			return;
		}
		if (document.querySelector('dialog[open]'))
			return;
		const now = Date.now();
		if (now - sequence < SEQUENCE_MS && Object.hasOwn(PLACES, event.key)) {
			sequence = 0;
			go(link(PLACES[event.key]));
		} else if (event.key === 'g') {
			sequence = now;
			return;
		} else if (event.key === '?') {
			showHelp();
		} else if (event.key === '/') {
			const search = main.querySelector('input[type=search]');
			if (!search)
				return;
			search.focus();
			search.select();
		} else if (event.key === 'j' || event.key === 'k') {
			const taken = !main.dispatchEvent(new CustomEvent('moverow',
				{ detail: event.key === 'j' ? 1 : -1, cancelable: true }));
			if (!taken)
				moveRow(main, event.key === 'j' ? 1 : -1);
		} else {
			return;
		}
		event.preventDefault();
	});
}
