/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in each column of the fleet. `fields` are the members of a row (docs/live.md) that the cell is made of:
 * it is made anew when one of them changes, and not otherwise.
 */
import { fitted, h, name } from './dom.js';
import { bytes, duration, LEVELS, percentBp, plural, roughly, roughRange, UNREAD } from './format.js';
import { swatch } from './owners.js';
import { link } from './router.js';
import { severityMark } from './severity.js';
import { sparkline } from './spark.js';

const sub = (...children) => h('span', { class: 'sub' }, children);
const main = (...children) => h('span', { class: 'fig' }, children);
const unread = () => h('span', { class: 'unread' }, UNREAD);

/* Dots between what is there. */
function dotted(...parts)
{
	return parts.filter(Boolean).flatMap((part, i) => (i ? [' · ', part] : [part]));
}

function severity(row)
{
	return [
		severityMark(row.severity, { none: 'none' }),
		sub(row.silenced ? h('span', { class: 'tag' }, 'silenced') : row.findings > 1 ? plural(row.findings, 'finding') : null),
	];
}

/* Ten seconds are two of an agent's samples: younger is as good as now, and a column that counts seconds is unrest. */
const FRESH_S = 15;

function stateTag(row)
{
	if (row.state === 'connected')
		return row.urgent ? h('span', { class: 'tag tag-urgent', title: 'Near its limit: it samples once a second' }, 'urgent') : null;
	return h('span', { class: 'tag tag-stale' }, `${row.state} ${duration(row.age_s)}`);
}

/* A death of the last day: its post-mortem stands on the workload's page. */
const RECENT_S = 86400;

function deathTag(row)
{
	return row.died_s === null ? null : h('span', { class: 'tag tag-died' }, `died ${duration(row.died_s)} ago`);
}

function workloadName(row)
{
	const text = row.workload === null ? '(no workload)' : row.workload;
	return [
		h('a', { class: 'main', href: link('workloads/' + row.id), data: { main: '' } }, fitted(text)),
		sub(dotted(stateTag(row), row.namespace === null ? null : name(row.namespace, 28), deathTag(row), row.engine ? name(row.engine, 28) : row.role)),
	];
}

function assertedTag(row)
{
	return row.asserted ? h('span', { class: 'tag', title: 'An agent of its node says so; Kubernetes has not confirmed it' }, 'asserted') : null;
}

function podName(row)
{
	return [
		h('a', { class: 'main', href: link('pods/' + row.id), data: { main: '' } }, fitted(row.pod ?? `agent ${row.id}`)),
		sub(dotted(stateTag(row), assertedTag(row), row.namespace === null ? null : name(row.namespace, 28), row.workload === null ? null :
			h('a', { href: link('workloads/' + row.workload_id), tabindex: -1 }, name(row.workload, 28)))),
	];
}

/* Without a time: what the forecast says instead. That too little was seen is no good news, and does not read as such. */
const OUTLOOKS = { 'not-growing': 'not growing', decelerating: 'slowing down', inconclusive: 'not known yet' };
const SOON_S = 1800; /* to be looked at before anything else is begun */

function timeTo(row)
{
	const { likely_s, earliest_s, latest_s } = row;
	if (likely_s === null)
		return [main(h('span', { class: 'muted' }, OUTLOOKS[row.forecast] ?? '–')),
			sub(earliest_s === null ? '' : `${roughly(earliest_s)} at the earliest`)];
	const range = earliest_s === null ? '' : latest_s ? roughRange(earliest_s, latest_s) : `${roughly(earliest_s)} or more`;
	return [main(h('strong', { class: likely_s < SOON_S ? 'ttl soon' : 'ttl' }, roughly(likely_s))), sub(range)];
}

/* As freeboard-low of src/rules/thresholds.c: below these it is a finding. */
const LOW_BP = 1000;
const LEAST_BP = 300;

function share(part, whole)
{
	return whole > 0 && part !== null ? Math.min(100, Math.max(0, part * 100 / whole)) : 0;
}

function freeboard(row)
{
	if (row.freeboard === null)
		return [main(unread()), sub(row.no_limit ? 'no limit is set' : row.limit === null ? 'no limit was read' : 'limit ' + bytes(row.limit))];
	const low = row.freeboard_bp < LEAST_BP ? ' least' : row.freeboard_bp < LOW_BP ? ' low' : '';
	const title = `floor ${bytes(row.floor)}, charge with page cache ${bytes(row.charge)}, limit ${bytes(row.limit)}: ` +
		`freeboard is ${percentBp(row.freeboard_bp)} ${LEVELS[row.level] ?? ''}`;
	return [
		main(h('strong', null, bytes(row.freeboard))),
		h('span', { class: 'bar' + low, title },
			h('span', { class: 'bar-charge', style: { width: share(row.charge, row.limit) + '%' } }),
			h('span', { class: 'bar-floor', style: { width: share(row.floor, row.limit) + '%' } })),
		sub(row.level === 'pod' ? `${percentBp(row.freeboard_bp)}, pod’s limit` : `${percentBp(row.freeboard_bp)} of ${bytes(row.limit)}`),
	];
}

function owner(row)
{
	if (row.owner === null)
		return [main(unread()), sub('no scan yet')];
	const grows = row.grows === null ? null : sub(row.grows === row.owner ? 'and grows' : ['grows: ', name(row.grows, 24)]);
	return [main(swatch(row.owner), ' ', h('span', { class: 'owner' }, name(row.owner, 28))), sub(bytes(row.owner_bytes)), grows];
}

function finding(row)
{
	if (!row.finding)
		return sub('nothing open');
	return h('a', { class: 'finding', href: link('findings/' + row.finding.id), title: row.finding.rule },
		name(row.finding.title ?? row.finding.rule, 180));
}

function pods(row)
{
	return [
		main(plural(row.pods, 'pod')),
		sub(dotted(row.stale ? h('strong', null, `${row.stale} stale`) : null,
			row.versions > 1 ? `${row.versions} versions` : row.agent_version ? name(row.agent_version, 10) : null)),
	];
}

function version(row)
{
	return [main(row.agent_version === null ? unread() : name(row.agent_version, 12)), sub(row.jdk === null ? '' : ['JDK ', name(row.jdk, 10)])];
}

function heard(row)
{
	return [main(row.state === 'connected' && row.age_s < FRESH_S ? 'now' : `${duration(row.age_s)} ago`),
		sub(row.state === 'connected' ? '' : row.state)];
}

const WHO = ['id', 'workload', 'workload_id', 'namespace', 'engine', 'role', 'state', 'urgent', 'stale_s', 'died_s'];

/* sort: what the column's head asks for; docs/live.md says which way each goes by itself. */
const COLUMNS = [
	{ id: 'sev', label: 'Severity', sort: 'severity', fields: ['severity', 'silenced', 'findings'], cell: severity },
	{ id: 'name', view: 'workloads', label: 'Workload', sort: 'name', fields: WHO, cell: workloadName },
	{ id: 'name', view: 'pods', label: 'Pod', sort: 'name', fields: ['pod', 'asserted', ...WHO], cell: podName },
	{ id: 'ttl', label: 'Time to limit', sort: 'danger', fields: ['likely_s', 'earliest_s', 'latest_s', 'forecast'], cell: timeTo },
	{ id: 'free', label: 'Freeboard', sort: 'freeboard', fields: ['freeboard', 'freeboard_bp', 'limit', 'no_limit', 'floor', 'charge', 'level'],
		cell: freeboard },
	{ id: 'owner', label: 'Filled by', fields: ['owner', 'owner_bytes', 'grows'], cell: owner },
	{ id: 'finding', label: 'Worst finding', fields: ['finding_id', 'finding_title'], cell: finding },
	{ id: 'spark', label: 'Last hour', fields: ['spark'], cell: (row) => sparkline(row.spark) },
	{ id: 'extra', view: 'workloads', label: 'Pods', fields: ['pods', 'stale', 'versions', 'agent_version'], cell: pods },
	{ id: 'extra', view: 'pods', label: 'Agent', fields: ['agent_version', 'jdk'], cell: version },
	{ id: 'heard', label: 'Heard', sort: 'heard', fields: ['state', 'heard_s'], cell: heard },
];

export function columnsOf(view)
{
	return COLUMNS.filter((column) => !column.view || column.view === view);
}

/*
 * What a row is `silent_ms` after anything was heard of the collector, and `passed_ms` after the row was sent. A row of
 * a pod that is connected is not sent again while it stays the same, so only silence makes it older; what is stale or
 * gone gets older in any case.
 */
export function aged(row, passed_ms, silent_ms)
{
	const age_s = Math.floor((row.age_ms + (row.state === 'connected' ? silent_ms : passed_ms)) / 1000);
	const coarse = age_s < FRESH_S ? 0 : age_s < 120 ? age_s - age_s % 5 : age_s - age_s % 60;
	const died_s = row.last_postmortem_ms ? Math.max(0, Math.floor((row.sent_ms + passed_ms - row.last_postmortem_ms) / 60000) * 60) : Infinity;
	return { ...row, died_s: died_s < RECENT_S ? died_s : null, age_s: coarse, heard_s: coarse, stale_s: row.state === 'connected' ? 0 : coarse,
		finding_id: row.finding?.id, finding_title: row.finding?.title };
}
