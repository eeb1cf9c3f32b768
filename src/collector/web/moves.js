/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in another order: the collector says where each stood before (docs/live.md, `moves`), a page has the whole window, as
 * if all of it had come again. Rows that stay are the same objects. Pure.
 */

const ABOVE = ['total', 'matching', 'summary', 'facets'];

/* One a subscription. */
export function makeWindow()
{
	let kept = null;
	return (message) => {
		if (message.type === 'fleet') {
			kept = { ...message, rows: [...message.rows] };
			return message;
		}
		if (message.type !== 'rows' || !kept)
			return message;
		const { order, ...rest } = message;
		if (order)
			kept.rows = order.map((at) => (at === null ? null : kept.rows[at]));
		for (const [at, row] of message.rows)
			kept.rows[at] = row;
		for (const member of ABOVE)
			if (member in message)
				kept[member] = message[member];
		if (!order)
			return message;
		const { facets, ...whole } = kept;
		return { ...whole, ...rest, type: 'fleet', rows: [...kept.rows] };
	};
}
