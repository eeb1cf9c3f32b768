/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Silencing or acknowledging, from wherever something is wrong. The dialog says before it is done what it would cover
 * now; who may not do it reads why. The browser keeps the focus inside, closes it by Escape, and gives the focus back.
 */
import { get, post } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { SEVERITIES, clock, duration, plural } from './format.js';
import { now } from './now.js';

const FIELDS = ['cluster', 'namespace', 'workload', 'pod', 'rule'];
const SPANS = [['1h', '1 hour', 3600], ['4h', '4 hours', 4 * 3600], ['1d', '1 day', 86400], ['7d', '7 days', 7 * 86400]];
const PREVIEW_MS = 250;

/* A name as a pattern that means it alone. */
function literal(text)
{
	return text.replace(/[*?[\\]/g, '\\$&');
}

/* What an acknowledgement needs: one alert, by its names. The names of what has none are "". */
function alertOf(matchers)
{
	if (!matchers.rule || matchers.namespace === undefined || matchers.workload === undefined)
		return null;
	const { cluster, rule, severity } = matchers;
	const alert = { namespace: matchers.namespace ?? '', workload: matchers.workload ?? '', rule };
	return { ...alert, ...(cluster ? { cluster } : {}), ...(severity ? { severity } : {}) };
}

export function matchersText(matchers)
{
	return Object.entries(matchers).map(([key, value], i) =>
		[i ? ', ' : null, h('span', { class: 'muted' }, key, ' '), value === '' ? h('em', null, 'none') : name(value, 80)]);
}

function radio(group, value, text, checked, on)
{
	return h('label', null, h('input', { type: 'radio', name: group, value, checked, on: { change: on } }), text);
}

class SilenceDialog {
	constructor(ctx, matchers, done)
	{
		Object.assign(this, { ctx, done });
		this.alert = alertOf(matchers);
		this.inputs = new Map(FIELDS.map((field) => [field, h('input', { name: field, maxlength: 253, spellcheck: 'false',
			autocomplete: 'off', value: matchers[field] ? literal(matchers[field]) : '', on: { input: () => this.look() } })]));
		this.severity = h('select', { name: 'severity', on: { change: () => this.look() } },
			h('option', { value: '' }, 'any'), SEVERITIES.map((s) => h('option', { value: s, selected: s === matchers.severity }, s)));
		this.reason = h('input', { name: 'reason', required: true, maxlength: 200, autocomplete: 'off' });
		this.custom = h('input', { type: 'datetime-local', name: 'until', aria: { label: 'Until' }, hidden: true });
		this.covers = h('p', { class: 'covers', role: 'status' });
		this.problem = h('p', { class: 'problem', role: 'alert' });
		this.save = h('button', { class: 'primary', type: 'submit' }, 'Silence');
		this.what = h('div', null);
		this.kind = 'silence';
		this.span = '4h';
		this.element = this.build();
	}

	build()
	{
		const kinds = this.alert ? h('fieldset', { class: 'choices' }, h('legend', null, 'What'),
			radio('kind', 'silence', 'Silence: nobody is told', true, () => this.setKind('silence')),
			radio('kind', 'acknowledgement', 'Acknowledge: I am at it; ends when it is resolved', false, () => this.setKind('acknowledgement'))) : null;
		const spans = h('fieldset', { class: 'choices' }, h('legend', null, 'For'),
			SPANS.map(([id, text]) => radio('span', id, text, id === this.span, () => this.setSpan(id))),
			radio('span', 'custom', 'until', false, () => this.setSpan('custom')), this.custom);
		this.setKind('silence');
		return h('dialog', { class: 'silence', aria: { labelledby: 'silence-title' }, on: { close: () => this.element.remove() } },
			h('form', { on: { submit: (event) => this.submit(event) } },
				h('h2', { id: 'silence-title' }, this.alert ? 'Silence or acknowledge' : 'Silence'),
				kinds, this.what,
				h('label', { class: 'field' }, h('span', { class: 'field-label' }, 'Why nobody needs to be told'), this.reason),
				spans, this.covers, this.problem,
				h('p', { class: 'actions' }, this.save,
					h('button', { type: 'button', on: { click: () => this.element.close() } }, 'Cancel'))));
	}

	setKind(kind)
	{
		this.kind = kind;
		this.save.textContent = kind === 'silence' ? 'Silence' : 'Acknowledge';
		replace(this.what, kind === 'silence' ? [
			h('div', { class: 'matchers' },
				FIELDS.map((field) => h('label', { class: 'field' }, h('span', { class: 'field-label' }, field), this.inputs.get(field))),
				h('label', { class: 'field' }, h('span', { class: 'field-label' }, 'severity'), this.severity)),
			h('p', { class: 'muted' }, 'Names or patterns (* ? [a-z]); an empty field means any.')] :
			h('p', null, matchersText(this.alert)));
		if (this.element)
			this.look();
	}

	setSpan(id)
	{
		this.span = id;
		this.custom.hidden = id !== 'custom';
		this.custom.required = id === 'custom';
		if (id === 'custom' && !this.custom.value) {
			const at = new Date(now() + 4 * 3600e3);
			this.custom.value = new Date(at - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
		}
	}

	matchers()
	{
		if (this.kind === 'acknowledgement')
			return this.alert;
		const given = [...this.inputs].map(([field, input]) => [field, input.value.trim()]).filter(([, value]) => value);
		return { ...Object.fromEntries(given), ...(this.severity.value ? { severity: this.severity.value } : {}) };
	}

	until()
	{
		const span = SPANS.find(([id]) => id === this.span);
		return span ? now() + span[2] * 1000 : new Date(this.custom.value).getTime();
	}

	look()
	{
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.preview(), PREVIEW_MS);
	}

	async preview()
	{
		this.asking?.abort();
		this.asking = new AbortController();
		try {
			const p = await post('/silences/preview', { kind: this.kind, matchers: this.matchers() }, { signal: this.asking.signal });
			this.save.disabled = !p.allowed;
			if (p.problem !== null) {
				replace(this.covers, prose(p.problem));
				return;
			}
			const grave = ['critical', 'warning'].filter((s) => p.severities[s]).map((s) => `${p.severities[s]} ${s}`).join(', ');
			replace(this.covers, `Covers now: ${plural(p.pods, 'pod')}, ${plural(p.findings, 'open finding')}${grave ? ` (${grave})` : ''}`,
				p.allowed ? null : '. It must name one of your namespaces.');
		} catch (error) {
			if (error.name === 'AbortError')
				return;
			replace(this.covers, prose(error.message));
		}
	}

	async submit(event)
	{
		event.preventDefault();
		this.save.disabled = true;
		replace(this.problem);
		try {
			const made = await post('/silences', { kind: this.kind, matchers: this.matchers(), reason: this.reason.value, until_ms: this.until() });
			this.ctx.announce(`${made.kind === 'silence' ? 'Silenced' : 'Acknowledged'} until ${clock(made.until_ms)}`);
			this.element.close();
			this.done?.(made);
		} catch (error) {
			replace(this.problem, prose(error.message));
			this.save.disabled = false;
		}
	}
}

/* Why somebody may not, and who may. */
function refusal(me)
{
	const element = h('dialog', { class: 'silence', aria: { labelledby: 'silence-title' }, on: { close: () => element.remove() } },
		h('h2', { id: 'silence-title' }, 'Silence'),
		h('p', null, 'You are ', name(me.name, 40), ', with the role viewer: you see, and an operator silences. Ask one, or log in with an operator\'s token.'),
		h('form', { method: 'dialog' }, h('button', null, 'Close')));
	return element;
}

/*
 * matchers: of what it is about, by their names ({cluster, namespace, workload, pod, rule, severity}, what is known of
 * them); {} for one that is written from scratch. done(silence): when it was made.
 */
export async function openSilence(ctx, matchers, done)
{
	let me;
	try {
		me = await get('/me');
	} catch (error) {
		ctx.announce(error.message);
		return;
	}
	const dialog = me.role === 'operator' ? new SilenceDialog(ctx, matchers, done) : null;
	const element = dialog?.element ?? refusal(me);
	document.body.append(element);
	element.showModal();
	if (dialog) {
		dialog.reason.focus();
		dialog.preview();
	}
	ctx.signal?.addEventListener('abort', () => element.close());
}

/* "3 h left" of one that is active. */
export function left(silence)
{
	return `${duration(Math.max(0, silence.until_ms - now()) / 1000)} left`;
}
