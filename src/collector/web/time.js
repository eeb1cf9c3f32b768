/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stretch of time a page shows: in the address, so that a link shows the same. ?last=1h follows the present;
 * ?from=&to= (milliseconds) stands still. Times are local with their zone said, or UTC with ?utc=1.
 */
import { h, replace } from './dom.js';
import { iso } from './format.js';
import { isUtc, now } from './now.js';

const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const PRESETS = [['15m', 15 * MINUTE, '15 min'], ['1h', HOUR, '1 h'], ['6h', 6 * HOUR, '6 h'], ['24h', DAY, '24 h'],
	['48h', 2 * DAY, '48 h'], ['7d', 7 * DAY, '7 d'], ['30d', 30 * DAY, '30 d']];
const DEFAULT_LAST = '1h';
const SHORTEST = 10000;
/* Steps that divide minutes and hours: neighbouring views then fall on the same points. */
const STEPS = [0, 2000, 5000, 10000, 15000, 30000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
	HOUR, 2 * HOUR, 6 * HOUR];

function pick(text)
{
	const n = Number(text);
	return text !== null && text !== '' && Number.isFinite(n) && n > 0 ? Math.floor(n) : null;
}

/* {from, to, live, last} by the address; what is malformed there is the default. A stretch that is chosen leaves `last`: back to it. */
export function rangeOf(params, now)
{
	const from = pick(params.get('from')), to = pick(params.get('to'));
	if (from !== null && from < (to ?? now))
		return { from, to: Math.max(to ?? now, from + SHORTEST), live: false, last: null };
	const last = PRESETS.find(([key]) => key === params.get('last')) ?? PRESETS.find(([key]) => key === DEFAULT_LAST);
	return { from: now - last[1], to: now, live: true, last: last[0] };
}

/* The shortest range of the control that reaches so far back. */
export const presetFor = (ms) => (PRESETS.find(([, size]) => size >= ms) ?? PRESETS.at(-1))[0];

/* One point for every other pixel, on a small screen for each: holes are found between points. */
export function stepFor(range, width)
{
	const fine = (range.to - range.from) / Math.max(300, Math.min(2000, width / 2));
	return STEPS.find((step) => step >= fine) ?? Math.ceil(fine / DAY) * DAY;
}

const two = (n) => String(n).padStart(2, '0');

function parts(ms)
{
	const d = new Date(ms);
	return isUtc() ? [d.getUTCFullYear(), d.getUTCMonth() + 1, d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()] :
		[d.getFullYear(), d.getMonth() + 1, d.getDate(), d.getHours(), d.getMinutes(), d.getSeconds()];
}

/* The zone as an offset: names of zones are ambiguous. */
export function zone(ms = Date.now())
{
	if (isUtc())
		return 'UTC';
	const minutes = -new Date(ms).getTimezoneOffset();
	const size = Math.abs(minutes);
	return minutes ? `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}` : 'UTC';
}

/* "14:02:11", with the date where it is not today's. */
export function stamp(ms, { whole = false } = {})
{
	if (ms === null || ms === undefined)
		return 'unread';
	const [year, month, day, hour, minute, second] = parts(ms);
	const date = `${year}-${two(month)}-${two(day)}`;
	const time = `${two(hour)}:${two(minute)}:${two(second)}`;
	const now = parts(Date.now());
	return whole || year !== now[0] || month !== now[1] || day !== now[2] ? `${date} ${time}` : time;
}

export function when(ms)
{
	if (ms === null || ms === undefined)
		return h('span', { class: 'unread' }, 'unread');
	return h('time', { datetime: iso(ms), title: `${stamp(ms, { whole: true })} ${zone(ms)}` }, stamp(ms));
}

/* <input type=datetime-local> speaks without a zone; it is read in the zone that the page shows. */
function toField(ms)
{
	const [year, month, day, hour, minute, second] = parts(ms);
	return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`;
}

function fromField(text)
{
	const ms = Date.parse(isUtc() ? text + 'Z' : text);
	return Number.isNaN(ms) ? null : ms;
}

function custom(ctx, range, changed)
{
	const field = (ms) => h('input', { type: 'datetime-local', step: 1, value: toField(ms), required: true });
	const from = field(range.from), to = field(range.to), problem = h('p', { class: 'problem', role: 'alert' });
	return h('form', { class: 'range', on: { submit: (event) => {
		event.preventDefault();
		const a = fromField(from.value), b = fromField(to.value);
		if (!(a < b))
			replace(problem, 'The beginning has to be before the end.');
		else
			changed({ from: a, to: b, last: null });
	} } }, h('label', null, 'From ', from), h('label', null, `to (${zone()}) `, to), h('button', { type: 'submit' }, 'Show'), problem);
}

/* The control of a page. changed() is called after the address has; paint() shows what changed by other means. */
export function rangeControl(ctx, changed)
{
	const element = h('div', { class: 'range', role: 'group', aria: { label: 'Time range' } });
	let open = false;

	function set(params)
	{
		ctx.setParams(params);
		open = false;
		paint();
		changed();
	}

	function button(key, text, pressed, click)
	{
		return h('button', { type: 'button', data: { key }, aria: { pressed }, on: { click } }, text);
	}

	function paint()
	{
		const range = rangeOf(ctx.params, now());
		const held = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
		const follow = (last) => set({ last, from: null, to: null });
		replace(element,
			h('span', { class: 'range-presets' }, PRESETS.map(([key, , text]) => button(key, text, range.last === key, () => follow(key)))),
			button('custom', range.live ? 'From … to …' : `${stamp(range.from)} to ${stamp(range.to)}`, !range.live, () => { open = !open; paint(); }),
			button('utc', 'UTC', isUtc(), () => set({ utc: isUtc() ? null : 1 })),
			h('span', { class: 'muted' }, zone() === 'UTC' ? '' : `${zone()}, `, range.live ? 'follows the present' : 'stands still'),
			range.live ? null : button('live', 'Back to the present', null, () => set({ from: null, to: null })),
			open ? custom(ctx, range, set) : null);
		if (held)
			element.querySelector(`[data-key="${held}"]`)?.focus();
	}
	paint();
	return { element, paint };
}
