/* SPDX-License-Identifier: Apache-2.0 */
import { h } from './dom.js';
import { SEVERITY_SIGNS, severityRank } from './format.js';

/* A severity as a shape, a word and a colour; null: nothing is open. */
export function severityMark(severity, { none = 'nothing open' } = {})
{
	const key = Object.hasOwn(SEVERITY_SIGNS, severity ?? '') ? severity : 'none';
	return h('span', { class: `sev sev-${key}` },
		h('span', { aria: { hidden: 'true' } }, SEVERITY_SIGNS[key]), ' ', key === 'none' ? none : key);
}

/* What is to be acted on first: what somebody silenced is known already. */
export function gravestFirst(items)
{
	return items.toSorted((a, b) => !!a.silenced - !!b.silenced || severityRank(a.severity) - severityRank(b.severity));
}
