/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes, as it changes: one WebSocket a tab, subprotocol bankfull.live.v1 (docs/live.md).
 *
 * One subscription a connection; who subscribes takes the connection over. A lost connection is made again, with full
 * jitter so that a restarted collector does not meet all its viewers at once, and the subscription is asked for again.
 * Whoever shows data keeps showing it meanwhile, and says how old it is: state("lost", since).
 */
import { get } from './api.js';
import { makeWindow } from './moves.js';

const PROTOCOL = 'bankfull.live.v1';
const FIRST_MS = 500;
const MOST_MS = 15000;
/* One that ends sooner was no connection: the next wait is longer still. */
const STABLE_MS = 10000;
/* A quiet fleet sends a frame each 10 s; without any the subscription is asked for again, which has an answer unless the
 * line is dead. */
const QUIET_MS = 25000;
const ANSWER_MS = 8000;
/* Ten requests a second are granted. */
const SEND_MS = 125;
const TOO_FAST_MS = 1000;
/* From one page to the next the connection is kept; a page that shows nothing live lets it go. */
const IDLE_MS = 3000;
const TOKEN_GONE = 4401;

let socket = null;
let current = null; /* the subscription that has the connection: {request, handlers, sent, window, n} */
let state = 'idle'; /* nobody subscribes | connecting | live | lost */
let since = Date.now();
let attempts = 0;
let number = 0;
let openedAt = 0;
let heardAt = 0;
let askedAt = 0; /* and not answered yet; to open a connection counts as asking. 0: nothing is due */
let sentAt = 0;
const timers = { retry: 0, send: 0, idle: 0 };
const watchers = new Set();

function later(name, callback, ms)
{
	clearTimeout(timers[name]);
	timers[name] = setTimeout(callback, ms);
}

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

/* At once, but not more often than the collector takes it: who drags a scroll bar asks with each frame. */
function send()
{
	clearTimeout(timers.send);
	const wait = sentAt + SEND_MS - Date.now();
	if (wait > 0) {
		later('send', send, wait);
		return;
	}
	if (!current || socket?.readyState !== WebSocket.OPEN)
		return;
	current.n = ++number;
	current.sent = current.request;
	current.window = makeWindow();
	askedAt = sentAt = Date.now();
	const moves = current.sent.subscribe === 'fleet' ? { moves: true } : {};
	socket.send(JSON.stringify({ ...current.sent, ...moves, n: current.n }));
}

function onMessage(event)
{
	heardAt = Date.now();
	askedAt = 0;
	let message;
	try {
		message = JSON.parse(event.data);
	} catch {
		return; /* not ours; the next one may be */
	}
	if (!current || (message.n ?? current.n) !== current.n)
		return; /* of a subscription that has been replaced */
	setState('live');
	if (message.type === 'error' && message.code === 'too-fast')
		later('send', send, TOO_FAST_MS);
	else
		current.handlers.message(current.window(message), current.sent);
}

function lost(gone, code)
{
	if (socket !== gone)
		return;
	socket = null;
	askedAt = 0;
	if (!current) {
		setState('idle');
		return;
	}
	setState('lost'); /* and stays so, from the moment it was, until something is heard again */
	if (openedAt && Date.now() - openedAt > STABLE_MS)
		attempts = 0;
	openedAt = 0;
	later('retry', connect, Math.random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempts, 10)));
	/* A refused upgrade does not say why; the API does, and leads to the login if that is what is missing. */
	if (code === TOKEN_GONE || attempts % 5 === 1)
		get('/me').catch(() => {});
}

function connect()
{
	clearTimeout(timers.retry);
	if (socket || !current)
		return;
	attempts++;
	askedAt = Date.now();
	const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
	const mine = new WebSocket(`${scheme}//${location.host}/api/v1/live`, PROTOCOL);
	socket = mine;
	if (state === 'idle')
		setState('connecting');
	mine.addEventListener('open', () => {
		openedAt = heardAt = Date.now();
		sentAt = 0;
		send();
	});
	mine.addEventListener('message', onMessage);
	mine.addEventListener('close', (event) => lost(mine, event.code));
}

function giveUp()
{
	const dead = socket;
	dead?.close();
	lost(dead, 0);
}

/* A path that swallows packets ends no connection: whoever waits for an answer gives up on it here. */
setInterval(() => {
	const now = Date.now();
	if (!current || !socket)
		return;
	if (askedAt && now - askedAt > ANSWER_MS)
		giveUp();
	else if (!askedAt && now - heardAt > QUIET_MS)
		send();
}, 2000);

/* The network came back, or the laptop was opened: no need to wait for the backoff. */
for (const type of ['online', 'focus'])
	window.addEventListener(type, connect);

function letGo()
{
	if (current)
		return;
	giveUp();
	setState('idle');
}

/* For the page's header: told at once and at each change. */
export function watchState(watcher)
{
	watchers.add(watcher);
	watcher(state, since);
	return () => watchers.delete(watcher);
}

/*
 * request: {subscribe: "fleet", ...} without n. handlers: {message(m, request), state?(s, sinceMs)}; the request is the
 * one that the message answers, which may be the one before the latest update().
 */
export function subscribe(request, handlers)
{
	const mine = { request, handlers, sent: null, n: -1 };
	current = mine;
	clearTimeout(timers.idle);
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
			clearTimeout(timers.retry);
			later('idle', letGo, IDLE_MS);
		},
	};
}
