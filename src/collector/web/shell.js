/* SPDX-License-Identifier: Apache-2.0 */
/* The header: where one is, who one is, and whether what is shown is live. */
import { logOut } from './api.js';
import { h, name, replace } from './dom.js';
import { clock, duration } from './format.js';
import { showHelp } from './keys.js';
import { watchState } from './live.js';
import { link } from './router.js';

const LINKS = [['fleet', 'Fleet', link('')], ['alerts', 'Alerts', link('alerts')],
	['silences', 'Silences', link('silences')], ['docs', 'Docs', '/docs/']];
const THEMES = ['auto', 'light', 'dark'];

function themeSwitch()
{
	const theme = window.bankfullTheme;
	const select = h('select', { id: 'theme', aria: { label: 'Theme' },
		on: { change: (event) => theme.set(event.target.value) } },
		THEMES.map((t) => h('option', { value: t, selected: t === theme.get() }, `◐ ${t}`)));
	return h('label', { class: 'theme' }, h('span', { class: 'unseen' }, 'Theme'), select);
}

function who(me)
{
	if (!me)
		return null;
	const scope = me.namespaces ? `namespaces ${me.namespaces.join(', ')}` : 'all namespaces';
	return me.open ?
		h('span', { class: 'me', title: 'No login: this collector listens on loopback alone' }, 'open on loopback') :
		h('span', { class: 'me', title: `${me.role}, ${scope}` }, name(me.name, 24), ` (${me.role})`);
}

function logoutButton(me)
{
	return me.open ? null : h('button', { class: 'plain', type: 'button', on: { click: logOut } }, 'Log out');
}

export function header(top, banner)
{
	const nav = LINKS.map(([page, text, href]) => h('a', { href, data: { page } }, text));
	const cluster = h('span', { class: 'cluster' });
	const live = h('span', { class: 'live', data: { state: 'idle' }, title: 'Whether what is shown is as of now' });
	const me = h('span', { class: 'who' });
	replace(top,
		h('a', { class: 'brand', href: link('') }, 'Bankfull'), cluster,
		h('nav', { aria: { label: 'Pages' } }, nav),
		h('span', { class: 'right' }, live, me, themeSwitch(),
			h('button', { class: 'plain', type: 'button', title: 'Keys', on: { click: showHelp } }, '?', h('span', { class: 'unseen' }, ': keys'))));
	return {
		banner,
		live,
		setPage(page)
		{
			for (const a of nav)
				if (a.dataset.page === page)
					a.setAttribute('aria-current', 'page');
				else
					a.removeAttribute('aria-current');
		},
		setMe(value)
		{
			replace(cluster, value.cluster ? name(value.cluster, 32) : null);
			replace(me, who(value), logoutButton(value));
		},
	};
}

const WORDS = { idle: '', live: 'live', connecting: 'connecting', lost: 'lost' };

/*
 * A banner as well as the word in the header, once it has lasted: what is shown is old, and nobody who reads a figure
 * at the bottom of a long table sees the header.
 */
const BANNER_MS = 3000;

export function shellState(shell)
{
	let state = 'idle';
	let since = Date.now();
	let wasLive = false;
	function paint()
	{
		const age = Date.now() - since;
		shell.live.dataset.state = state;
		replace(shell.live, state === 'lost' ? `lost for ${duration(age / 1000)}` : WORDS[state]);
		const show = (state === 'lost' || state === 'connecting') && age >= BANNER_MS;
		shell.banner.hidden = !show;
		document.body.classList.toggle('stale', show);
		if (show && shell.banner.dataset.state !== state)
			replace(shell.banner, state === 'lost' && wasLive ?
				`The connection to the collector was lost at ${clock(since)}. What you see is what was known then; it is being tried again.` :
				'The collector is not reached yet; it is being tried again.');
		shell.banner.dataset.state = show ? state : '';
	}
	watchState((next, at) => {
		state = next;
		since = at;
		wasLive ||= next === 'live';
		paint();
	});
	setInterval(paint, 1000);
}
