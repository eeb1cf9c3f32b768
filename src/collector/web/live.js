/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes, as it changes: one WebSocket a tab, subprotocol bankfull.live.v1 (docs/live.md).
 *
 * One subscription a connection; who subscribes takes the connection over. A lost connection is made again, with full
 * jitter so that a restarted collector does not meet all its viewers at once, and the subscription is asked for again.
 * Whoever shows data keeps showing it meanwhile, and says how old it is: state("lost", since).
 */
import { get } from './api.js';

const PROTOCOL = 'bankfull.live.v1';
const FIRST_MS = 500;
const MOST_MS = 15000;
/* A quiet fleet sends nothing: then the subscription is asked for again, which has an answer unless the line is dead. */
const QUIET_MS = 25000;
const ANSWER_MS = 8000;
/* From one page to the next the connection is kept; a page that shows nothing live lets it go. */
const IDLE_MS = 3000;

let socket = null;
let current = null; /* the subscription that has the connection */
let state = 'idle'; /* nobody subscribes | connecting | live | lost */
let since = Date.now();
let attempts = 0;
let number = 0;
let heard = 0;
let asked = 0;
let retry = 0;
let idle = 0;
const watchers = new Set();

function setState(next)
{
	if (next === state)
		return;
	state = next;
	since = Date.now();
	for (const watcher of watchers)
		watcher(state, since);
	current?.handlers.state?.(state, since);
}

function send()
{
	if (!current || socket?.readyState !== WebSocket.OPEN)
		return;
	current.n = ++number;
	asked = Date.now();
	socket.send(JSON.stringify({ ...current.request, n: current.n }));
}

function onMessage(event)
{
	heard = Date.now();
	asked = 0;
	let message;
	try {
		message = JSON.parse(event.data);
	} catch {
		return; /* not ours; the next one may be */
	}
	if (message.n !== undefined && message.n !== null && message.n !== current?.n)
		return; /* of a subscription that has been replaced */
	setState('live');
	current?.handlers.message(message);
}

function lost(gone)
{
	if (socket !== gone)
		return;
	socket = null;
	clearTimeout(retry);
	if (!current) {
		setState('idle');
		return;
	}
	setState('lost'); /* and stays so, from the moment it was, until something is heard again */
	const most = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempts, 10));
	retry = setTimeout(connect, Math.random() * most);
	/* A refused upgrade does not say why; the API does, and leads to the login if that is what is missing. */
	if (attempts === 1 || attempts % 5 === 0)
		get('/me').catch(() => {});
}

function connect()
{
	clearTimeout(retry);
	if (socket || !current)
		return;
	attempts++;
	asked = Date.now(); /* to open it counts as asking */
	const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
	const mine = new WebSocket(`${scheme}//${location.host}/api/v1/live`, PROTOCOL);
	socket = mine;
	if (state === 'idle')
		setState('connecting');
	mine.addEventListener('open', () => {
		attempts = 0;
		heard = Date.now();
		send();
	});
	mine.addEventListener('message', onMessage);
	mine.addEventListener('close', () => lost(mine));
}

/* A path that swallows packets ends no connection: whoever waits for an answer gives up on it here. */
setInterval(() => {
	const now = Date.now();
	if (!current || !socket)
		return;
	if (asked && now - asked > ANSWER_MS) {
		const dead = socket;
		dead.close();
		lost(dead);
	} else if (!asked && now - heard > QUIET_MS) {
		send();
	}
}, 2000);

/* The network came back, or the laptop was opened: no need to wait for the backoff. */
for (const type of ['online', 'focus'])
	window.addEventListener(type, () => {
		if (!socket && current)
			connect();
	});

function letGo()
{
	if (current)
		return;
	const gone = socket;
	gone?.close();
	if (gone)
		lost(gone);
	else
		setState('idle');
}

/* For the page's header: told at once and at each change. */
export function watchState(watcher)
{
	watchers.add(watcher);
	watcher(state, since);
	return () => watchers.delete(watcher);
}

/* request: {subscribe: "fleet", ...} without n. handlers: {message(m), state?(s, sinceMs)}. */
export function subscribe(request, handlers)
{
	const mine = { request, handlers, n: 0 };
	current = mine;
	clearTimeout(idle);
	if (socket)
		handlers.state?.(state, since);
	if (socket?.readyState === WebSocket.OPEN)
		send();
	else
		connect();
	return {
		update(next)
		{
			mine.request = next;
			if (current === mine)
				send();
		},
		close()
		{
			if (current !== mine)
				return;
			current = null;
			clearTimeout(retry);
			clearTimeout(idle);
			idle = setTimeout(letGo, IDLE_MS);
		},
	};
}
