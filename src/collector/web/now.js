/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's clock. A browser's may be an hour or a day off, and until when something is silenced is judged by the
 * collector's: each answer of /me tells it.
 */
const LATENCY_MS = 2000; /* a difference as small as this may be the way here */

let ahead = 0;

export function learn(now_ms)
{
	const difference = now_ms - Date.now();
	ahead = Math.abs(difference) < LATENCY_MS ? 0 : difference;
}

export function now()
{
	return Date.now() + ahead;
}
