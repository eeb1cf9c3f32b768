/* SPDX-License-Identifier: Apache-2.0 */
import { h } from './dom.js';
import { SEVERITY_SIGNS } from './format.js';

/* A severity as a shape, a word and a colour; null: nothing is open. */
export function severityMark(severity, { none = 'nothing open' } = {})
{
	const key = Object.hasOwn(SEVERITY_SIGNS, severity ?? '') ? severity : 'none';
	return h('span', { class: `sev sev-${key}` },
		h('span', { aria: { hidden: 'true' } }, SEVERITY_SIGNS[key]), ' ', key === 'none' ? none : key);
}
