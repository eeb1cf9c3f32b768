/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which page is shown is what stands behind # in the address: every view has a link, and Back works.
 *
 * A page module: export default { title(ctx), mount(root, ctx) -> {unmount(), update?(ctx)} }
 *   ctx.id         what is shown, or null
 *   ctx.params     URLSearchParams of the address
 *   ctx.setParams({key: value|null})  changes the address in place; the page is not mounted again
 *   ctx.setTitle(text)                when the page knows its name better
 *   ctx.announce(text)                said by a screen reader
 *   ctx.signal     aborted when the page is left; what the page still says of address and title is then of no account
 * update(ctx) is called when only the parameters have changed; without it the page is mounted again. Times are in UTC where
 * the address says ?utc=1.
 */
import { reload } from './api.js';
import { visible } from './dom.js';
import { setUtc } from './now.js';

const NAME = 'Bankfull';

function parse(hash)
{
	const [path, query] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
	const [page, id] = path.split('/');
	return { page: page || 'fleet', id: id ? decode(id) : null, params: new URLSearchParams(query ?? '') };
}

function decode(text)
{
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/* link('pods/12', {last: '1h'}) -> "#/pods/12?last=1h" */
export function link(path, params)
{
	const query = new URLSearchParams();
	for (const [key, value] of Object.entries(params ?? {}))
		if (value !== null && value !== undefined && value !== '')
			query.set(key, value);
	const text = query.toString();
	const steps = String(path ?? '').replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/');
	return `#/${steps}${text ? '?' + text : ''}`;
}

export function go(hash)
{
	location.hash = hash;
}

let announcer = () => {};

const readZone = (params) => setUtc(params.get('utc') === '1');

function context(route, abort)
{
	const ctx = {
		id: route.id,
		params: route.params,
		signal: abort.signal,
		announce: (text) => announcer(text),
		setTitle: (text) => {
			if (!abort.signal.aborted)
				document.title = text ? `${visible(text)} - ${NAME}` : NAME;
		},
		setParams: (changes) => {
			if (abort.signal.aborted)
				return;
			for (const [key, value] of Object.entries(changes)) {
				ctx.params.delete(key);
				if (value !== null && value !== undefined && value !== '')
					ctx.params.set(key, value);
			}
			readZone(ctx.params);
			const path = route.page === 'fleet' ? '' : route.page + (route.id === null ? '' : '/' + route.id);
			history.replaceState(null, '', link(path, Object.fromEntries(ctx.params)));
		},
	};
	return ctx;
}

/*
 * pages: {name: () => Promise<module>}; shown: called with the page's name after each navigation; failed(root, error,
 * again): shows what to do when a page cannot be had.
 */
export function start(root, pages, { announce, shown, failed })
{
	let current = null; /* {page, id, ctx, view, module, abort} */
	let turn = 0;
	announcer = announce;

	function leave()
	{
		if (!current)
			return;
		current.abort.abort();
		try {
			current.view?.unmount?.();
		} catch (error) {
			console.error(error);
		}
		current = null;
	}

	/* Screen readers go on from where the focus is: the heading. At the first page the browser's own start is better. */
	function focusHeading(first)
	{
		const heading = root.querySelector('h1');
		if (!heading || first)
			return;
		heading.setAttribute('tabindex', '-1');
		heading.focus({ preventScroll: true });
	}

	async function show(first)
	{
		const mine = ++turn;
		const route = parse(location.hash);
		if (current?.page === route.page && current.id === route.id && current.view?.update) {
			const ctx = current.ctx;
			ctx.params = route.params;
			readZone(ctx.params);
			ctx.setTitle(current.module.title(ctx));
			current.view.update(ctx);
			shown(route.page);
			return;
		}
		leave();
		const abort = new AbortController();
		try {
			const load = Object.hasOwn(pages, route.page) ? pages[route.page] : null;
			if (!load)
				throw Object.assign(new Error('there is no such page'), { status: 404 });
			const module = (await load()).default;
			if (mine !== turn)
				return;
			const ctx = context(route, abort);
			readZone(ctx.params);
			root.replaceChildren();
			if (!first)
				window.scrollTo(0, 0); /* before the page, which may know better where it was left */
			ctx.setTitle(module.title(ctx));
			current = { page: route.page, id: route.id, ctx, module, abort, view: null };
			current.view = module.mount(root, ctx);
		} catch (error) {
			if (mine !== turn)
				return;
			if (!error.status) /* ours: a page that throws */
				console.error(error);
			document.title = NAME;
			/* A module that cannot be had: the collector is another version than this page, or away. Both a reload mends. */
			failed(root, error, error.status ? null : reload);
		}
		shown(route.page);
		focusHeading(first);
	}
	window.addEventListener('hashchange', () => show(false));
	return show(true);
}
