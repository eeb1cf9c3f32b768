/* SPDX-License-Identifier: Apache-2.0 */
/* What of the fleet is asked for, between the page's address and the live protocol. Pure. */

/* [name in the address, name in the filter]; ns is short, for people type it. */
export const FILTERS = [['q', 'q'], ['ns', 'namespace'], ['cluster', 'cluster'], ['engine', 'engine'], ['role', 'role'],
	['severity', 'severity'], ['state', 'state'], ['workload', 'workload'], ['job', 'job']];
export const SORTS = [['danger', 'time to limit'], ['freeboard', 'freeboard'], ['severity', 'severity'], ['name', 'name'],
	['namespace', 'namespace'], ['charge', 'charge, largest first'], ['heard', 'longest silent']];
export const ROLES = ['taskmanager', 'jobmanager', 'streams', 'jvm'];
export const STATES = ['connected', 'stale', 'gone'];

export function readQuery(params)
{
	const filter = {};
	for (const [key, member] of FILTERS)
		if (params.get(key))
			filter[member] = params.get(key);
	const sort = params.get('sort');
	return {
		view: params.get('view') === 'pods' ? 'pods' : 'workloads',
		filter,
		sort: SORTS.some(([key]) => key === sort) ? sort : 'danger',
		descending: params.get('desc') === '1',
	};
}

/* For setParams(): what is as it is by default does not stand in the address. */
export function writeQuery(query)
{
	const params = Object.fromEntries(FILTERS.map(([key, member]) => [key, query.filter[member] ?? null]));
	return {
		...params,
		view: query.view === 'pods' ? 'pods' : null,
		sort: query.sort === 'danger' ? null : query.sort,
		desc: query.descending ? '1' : null,
	};
}

export function request(query, from, count)
{
	return { subscribe: 'fleet', ...query, from, count };
}

export function sortName({ sort, descending })
{
	const [, text] = SORTS.find(([key]) => key === sort);
	return descending ? `${text}, the other way round` : text;
}

/* The query that a request, or a message that answers it, is of. */
export function queryOf({ view, filter, sort, descending })
{
	return { view, filter, sort, descending };
}

export function sameQuery(a, b)
{
	return JSON.stringify(writeQuery(a)) === JSON.stringify(writeQuery(b));
}
