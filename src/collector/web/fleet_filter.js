/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles that count and filter, and the form of filters above the fleet. */
import { h, replace, visible } from './dom.js';
import { count, SEVERITIES, SEVERITY_SIGNS } from './format.js';
import { FILTERS, ROLES, SORTS, STATES } from './fleet_query.js';

/* [label, sign, member of the summary, what pressing it changes] */
const TILES = [
	['critical', 'critical', { severity: 'critical' }],
	['warning', 'warning', { severity: 'warning' }],
	['notice', 'notice', { severity: 'notice' }],
	['stale', 'stale', { state: 'stale' }],
	['gone', 'gone', { state: 'gone' }],
	['pods', 'pods', null],
	['workloads', 'workloads', null],
];
const SIGNS = { ...SEVERITY_SIGNS, stale: '◌', gone: '×' };
const HINTS = { critical: 'pods', warning: 'pods', notice: 'pods', stale: 'pods not heard', gone: 'pods without a connection',
	pods: 'as a list of pods', workloads: 'as a list of workloads' };

/* change(function of a query that returns another). */
export function makeTiles(change)
{
	const buttons = TILES.map(([id, label, filter]) => {
		const number = h('span', { class: 'tile-number' }, '–');
		const button = h('button', { type: 'button', class: `tile tile-${id}`, title: HINTS[id], aria: { pressed: 'false' },
			on: { click: () => change((query) => press(query, id, filter)) } },
		h('span', { class: 'tile-label' }, SIGNS[id] ? h('span', { aria: { hidden: 'true' } }, SIGNS[id] + ' ') : null, label), number);
		return { id, filter, number, button };
	});
	return {
		element: h('div', { class: 'tiles', role: 'group', aria: { label: 'The fleet in figures; each narrows the list' } },
			buttons.map((b) => b.button)),
		update(summary, query)
		{
			for (const { id, filter, number, button } of buttons) {
				replace(number, summary ? count(summary[id]) : '–');
				button.classList.toggle('is-zero', summary?.[id] === 0);
				button.setAttribute('aria-pressed', String(filter ? isOn(query, filter) : query.view === id));
			}
		},
	};
}

function isOn(query, filter)
{
	return Object.entries(filter).every(([member, value]) => query.filter[member] === value);
}

function press(query, id, filter)
{
	if (!filter)
		return { ...query, view: id };
	const next = { ...query.filter };
	for (const [member, value] of Object.entries(filter))
		if (query.filter[member] === value)
			delete next[member];
		else
			next[member] = value;
	return { ...query, filter: next };
}

const WAIT_MS = 200; /* a word typed is one question, not one a letter */

function field(label, control, extra = '')
{
	return h('label', { class: 'field' + extra }, h('span', { class: 'field-label' }, label), control);
}

/* Keeps a select's options as they are while they are the same: one that is open would close. */
function setOptions(select, options, value)
{
	const all = value && !options.some(([v]) => v === value) ? [...options, [value, value]] : options;
	const key = JSON.stringify(all);
	if (select.dataset.options !== key) {
		replace(select, all.map(([v, text]) => h('option', { value: v }, visible(text))));
		select.dataset.options = key;
	}
	if (select.value !== (value ?? ''))
		select.value = value ?? '';
}

const OR_WORSE = SEVERITIES.map((s) => [s, s === 'critical' ? s : `${s} or worse`]);
const plain = (values) => values.map((v) => [v, v]);

export function makeFilters(change)
{
	const set = (member, value) => change((query) => {
		const filter = { ...query.filter };
		if (value)
			filter[member] = value;
		else
			delete filter[member];
		return { ...query, filter };
	});
	const select = (member) => h('select', { on: { change: (event) => set(member, event.target.value) } });
	const input = (member, type, hint, most) => {
		let timer = 0;
		return h('input', { type, placeholder: hint, autocomplete: 'off', spellcheck: 'false', maxlength: most, on: {
			input: (event) => {
				clearTimeout(timer);
				timer = setTimeout(() => set(member, event.target.value.trim()), WAIT_MS);
			},
		} });
	};
	const fields = {
		q: input('q', 'search', 'pod, workload, job, node', 120),
		namespace: select('namespace'), cluster: select('cluster'), engine: select('engine'), role: select('role'),
		severity: select('severity'), state: select('state'),
		workload: input('workload', 'text', 'whole name', 120), job: input('job', 'text', 'whole name', 60),
	};
	const cluster = field('Cluster', fields.cluster);
	const sort = h('select', { on: { change: (event) => change((query) => ({ ...query, sort: event.target.value, descending: false })) } },
		SORTS.map(([key, text]) => h('option', { value: key }, text)));
	const clear = h('button', { type: 'button', on: { click: () => change((query) => ({ ...query, filter: {} })) } }, 'Clear filters');
	/* On a small screen the fields are a step away; the style sheet shows them always where there is room. */
	const body = h('div', { class: 'filter-fields', id: 'filter-fields' },
		field('Namespace', fields.namespace), cluster, field('Engine', fields.engine), field('Role', fields.role),
		field('Severity', fields.severity), field('State', fields.state), field('Workload', fields.workload), field('Job', fields.job),
		field('Sorted by', sort));
	const more = h('button', { type: 'button', class: 'filter-more', aria: { expanded: 'false', controls: body.id }, on: {
		click: () => more.setAttribute('aria-expanded', String(body.classList.toggle('is-open'))),
	} }, 'Filters');
	return {
		element: h('form', { class: 'filter', role: 'search', aria: { label: 'Filter the fleet' }, on: { submit: (e) => e.preventDefault() } },
			field('Search', fields.q, ' field-wide'), more, body, clear),
		update(query, facets)
		{
			const f = query.filter;
			const faceted = (member) => setOptions(fields[member], [['', 'all'], ...plain(facets?.[member] ?? [])], f[member]);
			['namespace', 'cluster', 'engine'].forEach(faceted);
			setOptions(fields.role, [['', 'all'], ...plain(ROLES)], f.role);
			setOptions(fields.severity, [['', 'all'], ...OR_WORSE], f.severity);
			setOptions(fields.state, [['', 'all'], ...plain(STATES)], f.state);
			for (const member of ['q', 'workload', 'job'])
				if (document.activeElement !== fields[member] && fields[member].value !== (f[member] ?? ''))
					fields[member].value = f[member] ?? '';
			cluster.hidden = !f.cluster && (facets?.cluster?.length ?? 0) < 2;
			sort.value = query.sort;
			const n = FILTERS.filter(([, member]) => f[member]).length;
			clear.hidden = !n;
			replace(more, n ? `Filters (${n})` : 'Filters');
		},
	};
}
