/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding in the order in which an incident channel wants it: what is seen, what to change, what else it may be, how
 * to tell that it worked, the figures it rests on, and what was not known. As elements, and as text to paste.
 */
import { h, name, prose, replace, visible } from './dom.js';
import { bytes, count, duration, percentBp } from './format.js';
import { severityMark } from './severity.js';
import { label, swatch } from './owners.js';
import { badge, dim, note, rowLink, table } from './parts.js';
import { stamp, when, zone } from './time.js';

/* A name says its unit, as everywhere (docs/report.schema.json). */
function figure(key, n)
{
	return /bytes/.test(key) ? bytes(n) : /_bp$/.test(key) ? percentBp(n) : /_m?s$/.test(key) ? duration(/_ms$/.test(key) ? n / 1000 : n) : count(n);
}

export const rulePage = (rule) => h('a', { href: `/docs/rules/${encodeURIComponent(rule)}` }, name(rule, 40));

export function ownerMark(owner)
{
	return owner ? h('span', { class: 'owner' }, swatch(owner), ' ', name(label(owner), 40)) : dim('the container as a whole');
}

const silencedWord = (silenced) => (silenced.kind === 'acknowledgement' ? 'acknowledged' : 'silenced');
export const silencedBadge = (silenced) => (silenced ? [' ', badge(silencedWord(silenced))] : null);
export function silencedNote(silenced)
{
	return silenced ? note(h('strong', null, silencedWord(silenced)), ' by ', name(silenced.author ?? '?', 40),
		silenced.until_ms ? [' until ', when(silenced.until_ms)] : null, silenced.reason ? [': ', prose(silenced.reason)] : null) : null;
}

const WHEN = {
	now: 'Change now',
	later: 'Change later, when the first one has been validated',
	'with-root': 'No change of its own: that of its cause is its remedy',
	held: 'No change: it would undo another one that is advised',
};
const changeTitle = (found) => WHEN[found.change_when] ?? 'Change';

/* Of a finding and its open cause (null: not loaded, or none): whose change is due now, else the cause's. */
export const dueFirst = (own, cause) => [cause, own].find((found) => found?.change_when === 'now') ?? cause ?? own;

/* Guaranteed is a pod whose requests are its limits; who adds the sidecar tells the class as a label. */
export const classText = (found, subject) => (subject?.labels?.qos === 'Guaranteed' && /\blimit\b/.test(found.change ?? '') ?
	'The pod is Guaranteed: where the limit of memory changes, change its request to the same, or the pod becomes Burstable.' : null);

export function changeBlock(found, subject)
{
	const text = classText(found, subject);
	return h('div', { class: 'change' }, h('strong', null, changeTitle(found)), found.change ? h('p', null, prose(found.change)) : found.root ? [': ', rulePage(found.root)] : null, text ? note(text) : null);
}

/* What the whole adds to its line of a list. item: of /findings/{id}; heading: the level below that of its title. */
export function findingBody(item, heading = 'h3')
{
	const found = item.finding;
	if (!found)
		return note('Its text is no longer kept. What it means: ', rulePage(item.rule), '.');
	const points = (title, items) => (items?.length ? [h(heading, null, title), h('ul', null, items.map((text) => h('li', null, prose(text))))] : null);
	const figures = Object.entries(found.evidence ?? {});
	return h('div', { class: 'finding-body' },
		found.observation ? h('p', null, prose(found.observation)) : null,
		found.root ? h('p', null, 'A consequence of ', rulePage(found.root), '.') : null,
		changeBlock(found, item.subject),
		points('What else it may be', found.competing_causes),
		points('How to see that it worked', found.validate),
		found.effective_settings?.length ? [h(heading, null, 'Settings in force'), table(['setting', 'value', 'read in'], found.effective_settings.map((row) =>
			[h('code', null, name(row.key, 96)), h('code', null, name(row.value, 96)), name(row.where, 64)]))] : null,
		figures.length ? [h(heading, null, 'Evidence'), table(['figure', '#value', '#exactly'], figures.map(([key, n]) => [name(key, 64), figure(key, n), count(n)]))] : null,
		points('What was not known', found.missing));
}

/* A line of a list that opens: the rest is asked for when it does. load(id) -> item. */
export function findingFold(open, load, expanded)
{
	const place = h('div', null, note('Loading …'));
	let asked = false;
	const fold = h('details', { class: `finding-fold edge-${open.severity}`, open: expanded },
		h('summary', null, severityMark(open.severity), ' ', h('strong', null, prose(open.title ?? open.rule)), silencedBadge(open.silenced)),
		silencedNote(open.silenced), place,
		note(ownerMark(open.owner), ' · since ', when(open.opened_ms), ' · ', rulePage(open.rule), ' · ', rowLink(`findings/${open.id}`, 'the finding’s own page')));
	async function ask()
	{
		if (!fold.open || asked)
			return;
		asked = true;
		try {
			replace(place, findingBody(await load(open.id)));
		} catch (error) {
			asked = false;
			replace(place, note('It could not be loaded: ', prose(error.message)));
		}
	}
	fold.addEventListener('toggle', ask);
	ask();
	return fold;
}

/* --- as text ------------------------------------------------------------------------------ */
export function whoText({ cluster, namespace, workload, pod })
{
	return [cluster, namespace, workload, pod].filter(Boolean).map(visible).join(' / ') || 'the collector itself';
}

export const stampText = (ms) => `${stamp(ms, { whole: true })} ${zone(ms)}`;

export function findingText(item, url)
{
	const found = item.finding ?? {};
	const block = (title, items) => (items?.length ? [`${title}:`, ...items.map((text) => `- ${visible(text)}`), ''] : []);
	const line = (text) => (text ? [visible(text), ''] : []);
	return [`[${item.severity}] ${visible(item.title ?? item.rule)}`, whoText(item.subject),
		`opened ${stampText(item.opened_ms)}${item.open ? ', still open' : `, cleared ${stampText(item.cleared_ms)}`}`, '',
		...line(found.observation), ...line(found.root && `Consequence of: ${found.root}`),
		...line(found.change && `${changeTitle(found)}: ${found.change}`), ...line(classText(found, item.subject)),
		...block('What else it may be', found.competing_causes), ...block('How to see that it worked', found.validate),
		...block('Settings in force', found.effective_settings?.map((row) => `${row.key} = ${row.value} (${row.where})`)),
		...block('Evidence', Object.entries(found.evidence ?? {}).map(([key, n]) => `${key}: ${figure(key, n)}`)),
		...block('Not known', found.missing), `Rule: ${visible(item.rule)}`, url, ''].join('\n');
}

/* The clipboard's own interface is there on https and localhost alone; selecting a field works everywhere. */
async function copyText(text)
{
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const field = h('textarea', { class: 'unseen', value: text, aria: { label: 'text to copy' } });
		document.body.append(field);
		field.select();
		const done = document.execCommand('copy');
		field.remove();
		return done;
	}
}

export function copyButton(ctx, text)
{
	const button = h('button', { type: 'button', on: { click: async () => {
		const word = await copyText(text()) ? 'Copied' : 'It could not be copied';
		replace(button, word);
		ctx.announce(word);
		setTimeout(() => replace(button, 'Copy as text'), 2000);
	} } }, 'Copy as text');
	return button;
}

/* about: {rule, severity} of what is to be silenced; done: called when it is. The dialog says itself what one may not. */
export function silenceButton(ctx, { cluster, namespace, workload }, { rule, severity }, done)
{
	return h('button', { type: 'button', on: { click: () => import('./silence_dialog.js').then(
		(module) => module.openSilence(ctx, { cluster, namespace, workload, rule, severity }, done), () => ctx.announce('The dialog could not be loaded')) } }, 'Silence or acknowledge');
}
