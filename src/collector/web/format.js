/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures as people read them. One rule for all: null or undefined is "unread", never 0 and never an empty place.
 * Sizes are written as `bankfull report` writes them (src/base/units.c), so that a screen and a ticket agree.
 */
export const UNREAD = 'unread';

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

function known(n)
{
	return n !== null && n !== undefined && Number.isFinite(Number(n));
}

export function bytes(n)
{
	if (!known(n))
		return UNREAD;
	if (n < 0)
		return '−' + bytes(-n);
	let step = 0;
	let value = Number(n);
	while (step < SIZES.length - 1 && value >= (step ? 1023.5 : 1024)) {
		value /= 1024;
		step++;
	}
	if (!step)
		return `${value} B`;
	return `${value.toFixed(value >= 999.95 ? 0 : step < 3 || value >= 99.995 ? 1 : 2)} ${SIZES[step]}`;
}

/* A change: always with its sign. */
export function signedBytes(n)
{
	return known(n) && n > 0 ? '+' + bytes(n) : bytes(n);
}

/* Basis points: 1234 is "12.3 %". */
export function percentBp(bp)
{
	if (!known(bp))
		return UNREAD;
	const percent = bp / 100;
	const text = Math.abs(percent) >= 99.95 ? percent.toFixed(0) : percent.toFixed(1);
	return text.replace('-', '−') + ' %';
}

const SPANS = [[86400, 'd', 3600, 'h'], [3600, 'h', 60, 'min'], [60, 'min', 1, 's']];

/* Seconds: "45 s", "12 min", "3 h 20 min", "2 d 4 h": two units where the first is small, one where it is not. */
export function duration(seconds)
{
	if (!known(seconds))
		return UNREAD;
	const t = Math.max(0, Math.round(seconds));
	for (const [size, unit, minor, minorUnit] of SPANS) {
		if (t < size)
			continue;
		const whole = Math.floor(t / size);
		const rest = Math.floor((t % size) / minor);
		return rest && whole < 10 ? `${whole} ${unit} ${rest} ${minorUnit}` : `${whole} ${unit}`;
	}
	return `${t} s`;
}

/* "just now", "12 s ago", from an age in milliseconds. */
export function ago(ms)
{
	if (!known(ms))
		return UNREAD;
	return ms < 2000 ? 'just now' : `${duration(ms / 1000)} ago`;
}

const two = (n) => String(n).padStart(2, '0');

/* Local time of day; the date too where it is another day. Sortable digits, no locale: two people read the same. */
export function clock(ms)
{
	if (!known(ms))
		return UNREAD;
	const d = new Date(ms);
	const time = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
	return d.toDateString() === new Date().toDateString() ? time : `${date(ms)} ${time}`;
}

export function date(ms)
{
	if (!known(ms))
		return UNREAD;
	const d = new Date(ms);
	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

/* For <time datetime>. */
export function iso(ms)
{
	return known(ms) ? new Date(ms).toISOString() : null;
}

export function count(n)
{
	return known(n) ? String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ' ') : UNREAD;
}

export function plural(n, one, many = one + 's')
{
	return `${count(n)} ${n === 1 ? one : many}`;
}

/* Severities from the gravest; the sign is a shape, so that colour is never the only difference. */
export const SEVERITIES = ['critical', 'warning', 'notice', 'info'];
export const SEVERITY_SIGNS = { critical: '■', warning: '▲', notice: '●', info: '○', none: '✓' };

export function severityRank(severity)
{
	const i = SEVERITIES.indexOf(severity);
	return i < 0 ? SEVERITIES.length : i;
}

/* Whose limit the freeboard is measured against (freeboard_level of the ledger). */
export const LEVELS = {
	container: "of the container's limit",
	pod: "of the pod's limit",
	processes: 'of the limit that was told, by the processes alone',
	unread: 'no limit was read',
};

/*
 * A time that is an estimate: no more digits than it is worth, and none that change with every message. "40 s", "5 min",
 * "1 h 20 min", "3 d".
 */
export function roughly(seconds)
{
	if (!known(seconds))
		return UNREAD;
	const steps = [[60, 5], [3600, 60], [36000, 600], [172800, 3600], [Infinity, 86400]];
	const [, step] = steps.find(([below]) => seconds < below);
	return duration(Math.max(step, Math.round(seconds / step) * step));
}

/* "8 to 20 min", "40 s to 2 min". */
export function roughRange(from, to)
{
	const [a, b] = [roughly(from), roughly(to)];
	const [, number, unit] = /^(\S+) (\S+)$/.exec(a) ?? [];
	return a === b ? a : unit && b.endsWith(' ' + unit) && /^\S+ \S+$/.test(b) ? `${number} to ${b}` : `${a} to ${b}`;
}

/* A forecast as one text: "12 min (8 to 20 min)". */
export function timeToLimit(likely_s, earliest_s, latest_s)
{
	if (!known(likely_s))
		return known(earliest_s) ? `${roughly(earliest_s)} at the earliest` : UNREAD;
	if (known(earliest_s) && known(latest_s))
		return `${roughly(likely_s)} (${roughRange(earliest_s, latest_s)})`;
	return known(earliest_s) ? `${roughly(likely_s)} (${roughly(earliest_s)} at the earliest)` : roughly(likely_s);
}
