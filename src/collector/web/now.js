/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's clock. A browser's may be an hour or a day off, and until when something is silenced is judged by the
 * collector's: each answer of /me tells it. And whether times are written in UTC: the router says so for each page.
 */
const LATENCY_MS = 2000; /* a difference as small as this may be the way here */

let ahead = 0;

export function learn(now_ms)
{
	const difference = now_ms - Date.now();
	ahead = Math.abs(difference) < LATENCY_MS ? 0 : difference;
}

/* A page opened with ?utc=1 shows UTC everywhere on it. */
let utc = false;

export function setUtc(on)
{
	utc = on;
}

export function isUtc()
{
	return utc;
}

export function now()
{
	return Date.now() + ahead;
}
