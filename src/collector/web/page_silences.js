/* SPDX-License-Identifier: Apache-2.0 */
/* What is silent, why, by whom and until when; what was; and who did what. */
import { del, get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { badge, card, dim, table } from './parts.js';
import { left, matchersText, openSilence } from './silence_dialog.js';
import { failure, loading } from './states.js';
import { when } from './time.js';

const REFRESH_MS = 10000;
const PAGE = 50;
const KINDS = { silence: 'silence', acknowledgement: 'acknowledged' };

/* Pressed twice it is done: one slip of a finger calls nobody at night. */
function endButton(silence, end)
{
	let sure = false;
	const button = h('button', { type: 'button', class: 'end', on: {
		click: () => {
			if (sure)
				return end(silence, button);
			sure = true;
			button.textContent = 'Really end it?';
		},
		blur: () => {
			sure = false;
			button.textContent = 'End now';
		} } }, 'End now');
	return button;
}

const ACTIVE = ['What', '~Covers', '~Why', 'Who', 'Until'];
function activeRow(silence, end)
{
	return [[badge(KINDS[silence.kind] ?? silence.kind), end ? h('div', null, endButton(silence, end)) : null], matchersText(silence.matchers), prose(silence.reason),
		name(silence.author, 40), [when(silence.until_ms), h('div', { class: 'muted' }, left(silence))]];
}

const ENDED = ['What', '~Covered', '~Why', 'Who', 'From', 'Ended'];
function endedRow(silence)
{
	const how = { expired: 'it expired', resolved: 'nothing is open any more' }[silence.ended_by];
	return [h('span', { class: 'badge state-gone' }, KINDS[silence.kind] ?? silence.kind), matchersText(silence.matchers), prose(silence.reason), name(silence.author, 40),
		when(silence.created_ms), [when(silence.ended_ms), h('div', { class: 'muted' }, how ?? ['by ', name(silence.ended_by, 40)])]];
}

const DEEDS = ['When', 'Who', 'What', '~About', '~Why'];
function deedRow(deed)
{
	const about = deed.after ?? deed.before;
	return [when(deed.at_ms), [name(deed.who, 40), h('div', { class: 'muted' }, name(deed.peer, 48))], name(deed.what, 40),
		about?.matchers ? matchersText(about.matchers) : '', about?.reason ? prose(about.reason) : ''];
}

/* A list that is read when it is opened, page by page. */
function pages(summary, path, params, heads, row, none)
{
	const place = h('div', null);
	const more = h('button', { type: 'button', hidden: true, on: { click: () => load() } }, 'More');
	const state = h('p', { class: 'muted', role: 'status' });
	let items = [], cursor = null, begun = false;
	async function load()
	{
		const mine = items;
		try {
			const list = await get(path, { ...params, limit: PAGE, cursor });
			if (mine !== items)
				return; /* it was begun anew meanwhile */
			items.push(...list.items);
			cursor = list.next;
			paint();
			replace(state, items.length || cursor ? null : none);
		} catch (error) {
			replace(state, prose(error.message));
		}
	}
	function paint()
	{
		replace(place, table(heads, items.map(row), summary));
		more.hidden = cursor === null;
	}
	const element = h('details', { class: 'card', on: { toggle: () => {
		if (element.open && !begun)
			anew();
	} } }, h('summary', null, summary), place, state, more);
	function anew()
	{
		begun = element.open;
		items = [];
		cursor = null;
		paint();
		if (begun)
			load();
	}
	return { element, anew };
}

class Page {
	constructor(root, ctx)
	{
		this.ctx = ctx;
		this.active = h('div', null, loading('silences'));
		this.head = h('p', { class: 'actions' });
		this.rest = h('div', { class: 'page' });
		this.problem = h('p', { class: 'problem', role: 'alert' });
		root.append(h('div', { class: 'page' }, h('div', { class: 'page-head' }, h('h1', null, 'Silences')), this.head, this.problem,
			card('Active', this.active), this.rest));
		this.start();
		this.timer = setInterval(() => this.load(), REFRESH_MS);
	}

	async start()
	{
		try {
			this.me = await get('/me', null, { signal: this.ctx.signal });
		} catch (error) {
			if (error.name !== 'AbortError')
				replace(this.active, failure(error, () => this.start()));
			return;
		}
		const may = this.me.role === 'operator';
		replace(this.head, may ?
			h('button', { class: 'primary', type: 'button', on: { click: () => openSilence(this.ctx, this.scratch(), () => this.changed()) } }, 'New silence') :
			dim('Your role is viewer: an operator makes silences and ends them.'));
		this.lists = [
			pages('Ended', '/silences', { active: false }, ENDED, endedRow, 'None has ended yet.'),
			may ? pages('Who did what', '/audit', {}, DEEDS, deedRow, 'Nothing was done yet.') : null].filter(Boolean);
		replace(this.rest, this.lists.map((list) => list.element));
		await this.load(true);
	}

	/* Whoever has one namespace means it. */
	scratch()
	{
		return this.me.namespaces?.length === 1 ? { namespace: this.me.namespaces[0] } : {};
	}

	async load(force = false)
	{
		try {
			const list = await get('/silences', { active: true, limit: 1000 }, { signal: this.ctx.signal });
			if (!force && this.active.contains(document.activeElement))
				return; /* a button that somebody is about to press stays */
			const end = this.me?.role === 'operator' ? (silence, button) => this.end(silence, button) : null;
			replace(this.active, list.items.length ?
				table(ACTIVE, list.items.map((s) => activeRow(s, end)), 'Active silences') :
				h('p', null, 'Nothing is silenced. A finding that somebody knows of can be silenced where it is shown, or here by what it is about.'));
			replace(this.problem);
		} catch (error) {
			if (error.name !== 'AbortError')
				replace(this.problem, prose(error.message));
		}
	}

	changed()
	{
		for (const list of this.lists)
			list.anew();
		return this.load(true);
	}

	async end(silence, button)
	{
		button.disabled = true;
		try {
			await del(`/silences/${silence.id}`);
			this.ctx.announce('It has ended');
			await this.changed();
		} catch (error) {
			button.disabled = false;
			replace(this.problem, prose(error.message));
		}
	}
}

export default {
	title: () => 'Silences',
	mount(root, ctx)
	{
		const page = new Page(root, ctx);
		return { unmount: () => clearInterval(page.timer) };
	},
};
