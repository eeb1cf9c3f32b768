/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding in the order in which an incident channel wants it: what is seen, what to change, what else it may be, how
 * to tell that it worked, the figures it rests on, and what was not known. As elements, and as text to paste.
 */
import { h, name, prose, replace, visible } from './dom.js';
import { bytes, count, duration, percentBp } from './format.js';
import { link } from './router.js';
import { severityMark } from './severity.js';
import { label, swatch } from './owners.js';
import { stamp, when, zone } from './time.js';

/* A name says its unit, as everywhere (docs/report.schema.json). */
export function figure(key, value)
{
	if (/(^|_)bytes(_|$)/.test(key))
		return bytes(value);
	if (/_bp$/.test(key))
		return percentBp(value);
	if (/_s$/.test(key))
		return duration(value);
	return /_ms$/.test(key) ? duration(value / 1000) : count(value);
}

export function rulePage(rule)
{
	return h('a', { href: `/docs/rules/${encodeURIComponent(rule)}` }, name(rule, 40));
}

export function ownerMark(owner)
{
	return owner ? h('span', { class: 'owner' }, swatch(owner), ' ', name(label(owner), 40)) : h('span', { class: 'muted' }, 'the container as a whole');
}

export function silencedNote(silenced)
{
	if (!silenced)
		return null;
	const word = silenced.kind === 'acknowledgement' ? 'acknowledged' : 'silenced';
	return h('p', { class: 'silenced-note' }, h('strong', null, word), ' by ', name(silenced.author ?? '?', 40),
		silenced.until_ms ? [' until ', when(silenced.until_ms)] : null, silenced.reason ? [': ', prose(silenced.reason)] : null);
}

const WHEN = {
	now: 'Change now',
	later: 'Change later, when the first one has been validated',
	'with-root': 'No change of its own: that of its cause is its remedy',
	held: 'No change: it would undo another one that is advised',
};

export function stateLine(item)
{
	const updates = item.updates > 1 ? `, ${item.updates} states` : '';
	return h('p', { class: 'muted' }, item.open ? 'Open since ' : 'Was opened ', when(item.opened_ms),
		item.updated_ms && item.updated_ms !== item.opened_ms ? [', latest state ', when(item.updated_ms)] : null, updates,
		item.open ? null : [', cleared ', when(item.cleared_ms)], '.');
}

function list(title, items, tag = 'ul')
{
	return items?.length ? [h('h3', null, title), h(tag, null, items.map((text) => h('li', null, prose(text))))] : null;
}

function settings(found)
{
	return found.effective_settings?.length ? [h('h3', null, 'Settings in force'), h('div', { class: 'scroll' }, h('table', { class: 'figures' },
		h('thead', null, h('tr', null, ['setting', 'value', 'read in'].map((t) => h('th', { scope: 'col' }, t)))),
		h('tbody', null, found.effective_settings.map((row) => h('tr', null, h('th', { scope: 'row' }, h('code', null, name(row.key, 96))),
			h('td', null, h('code', null, name(row.value, 96))), h('td', { class: 'muted' }, name(row.where, 64)))))))] : null;
}

function evidence(found)
{
	const rows = Object.entries(found.evidence ?? {});
	return rows.length ? [h('h3', null, 'Evidence'), h('div', { class: 'scroll' }, h('table', { class: 'figures' },
		h('caption', { class: 'unseen' }, 'The figures it rests on'),
		h('tbody', null, rows.map(([key, value]) => h('tr', null, h('th', { scope: 'row' }, name(key, 64)), h('td', { class: 'n' }, figure(key, value)),
			h('td', { class: 'n muted' }, figure(key, value) === count(value) ? '' : `${count(value)}${/bytes/.test(key) ? ' B' : ''}`))))))] : null;
}

export function changeBlock(found)
{
	const title = WHEN[found.change_when] ?? 'Change';
	if (!found.change)
		return h('p', { class: 'change none' }, h('strong', null, title), found.root ? [' (', rulePage(found.root), ')'] : null, '.');
	return h('div', { class: 'change' }, h('strong', null, title), h('p', null, prose(found.change)));
}

/* What the whole adds to its line of a list. item: of /findings/{id}. */
export function findingBody(item)
{
	const found = item.finding;
	if (!found)
		return h('p', { class: 'muted' }, 'Its text is no longer kept: only this line is. The rule\'s page says what it means: ', rulePage(item.rule), '.');
	return h('div', { class: 'finding-body' },
		found.observation ? h('p', { class: 'observation' }, prose(found.observation)) : null,
		found.root ? h('p', null, 'A consequence of ', rulePage(found.root), '.') : null,
		changeBlock(found),
		list('What else it may be', found.competing_causes),
		list('How to see that it worked', found.validate),
		settings(found), evidence(found),
		list('What was not known', found.missing));
}

/* A line of a list that opens: the rest is asked for when it does. load(id) -> item. */
export function findingFold(open, load, { expanded = false } = {})
{
	const place = h('div', null, h('p', { class: 'muted' }, 'Loading …'));
	let asked = false;
	const fold = h('details', { class: `finding-fold edge-${open.severity}`, open: expanded, data: { id: open.id, row: '' } },
		h('summary', null, severityMark(open.severity), ' ', h('span', { class: 'finding-title' }, prose(open.title ?? open.rule)),
			open.silenced ? h('span', { class: 'badge' }, open.silenced.kind === 'acknowledgement' ? 'acknowledged' : 'silenced') : null),
		silencedNote(open.silenced), place,
		h('p', { class: 'muted' }, ownerMark(open.owner), ' · since ', when(open.opened_ms), ' · ', rulePage(open.rule), ' · ',
			h('a', { href: link(`findings/${open.id}`), data: { main: '' } }, 'the finding\'s own page')));
	function ask()
	{
		if (!fold.open || asked)
			return;
		asked = true;
		load(open.id).then((item) => replace(place, findingBody(item)),
			(error) => {
				asked = false;
				if (error.name !== 'AbortError')
					replace(place, h('p', { class: 'problem' }, 'It could not be loaded: ', prose(error.message)));
			});
	}
	fold.addEventListener('toggle', ask);
	ask();
	return fold;
}

/* --- as text ------------------------------------------------------------------------------ */
function who(subject)
{
	return [subject.cluster, subject.namespace, subject.workload, subject.pod].filter(Boolean).map(visible).join(' / ') || 'the collector itself';
}

export function findingText(item, url)
{
	const found = item.finding ?? {};
	const lines = [`[${item.severity}] ${visible(item.title ?? item.rule)}`, who(item.subject),
		`${item.open ? 'open since' : 'opened'} ${stamp(item.opened_ms, { whole: true })} ${zone(item.opened_ms)}` +
		(item.cleared_ms ? `, cleared ${stamp(item.cleared_ms, { whole: true })}` : ''), ''];
	const block = (title, items) => {
		if (items?.length)
			lines.push(`${title}:`, ...items.map((text) => `- ${visible(text)}`), '');
	};
	if (found.observation)
		lines.push(visible(found.observation), '');
	if (found.root)
		lines.push(`Consequence of: ${visible(found.root)}`, '');
	if (found.change)
		lines.push(`${WHEN[found.change_when] ?? 'Change'}: ${visible(found.change)}`, '');
	block('What else it may be', found.competing_causes);
	block('How to see that it worked', found.validate);
	block('Settings in force', (found.effective_settings ?? []).map((row) => `${row.key} = ${row.value} (${row.where})`));
	block('Evidence', Object.entries(found.evidence ?? {}).map(([key, value]) => `${key}: ${figure(key, value)}`));
	block('Not known', found.missing);
	lines.push(`Rule: ${visible(item.rule)}`, url);
	return lines.join('\n') + '\n';
}

/* The clipboard API is there on https and localhost alone; selecting a field works everywhere. */
export async function copyText(text)
{
	if (navigator.clipboard) {
		try {
			await navigator.clipboard.writeText(text);
			return true;
		} catch {
			/* not permitted: the other way */
		}
	}
	const field = h('textarea', { class: 'unseen', value: text, aria: { hidden: 'true' } });
	document.body.append(field);
	field.select();
	const done = document.execCommand('copy');
	field.remove();
	return done;
}

export function copyButton(ctx, text)
{
	const button = h('button', { type: 'button', on: { click: async () => {
		const done = await copyText(text());
		const word = done ? 'Copied' : 'It could not be copied';
		replace(button, word);
		ctx.announce(word);
		setTimeout(() => replace(button, 'Copy as text'), 2000);
	} } }, 'Copy as text');
	return button;
}

/* The dialog is another module's and needs a role; it says itself what one may not. */
export function silenceButton(ctx, matchers, text = 'Silence or acknowledge')
{
	return h('button', { type: 'button', on: { click: () => import('./silence_dialog.js').then((module) => module.openSilence(ctx, matchers),
		() => ctx.announce('The dialog could not be loaded')) } }, text);
}
