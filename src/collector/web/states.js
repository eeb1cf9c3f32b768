/* SPDX-License-Identifier: Apache-2.0 */
/* What stands where data would: loading, nothing there, an error; each says what to do next. */
import { h, prose } from './dom.js';
import { link } from './router.js';

/* A place that says it is being filled, without a spinner that turns at 3 a.m. */
export function loading(what)
{
	return h('p', { class: 'state', role: 'status' }, `Loading ${what} …`);
}

export function empty(title, ...more)
{
	return h('section', { class: 'state' }, h('h2', null, title), more);
}

const ADVICE = {
	0: 'The collector does not answer. Check that it runs and that this machine reaches it; what was shown before stays until then.',
	403: 'You may not do this. An operator may; the role belongs to the token you are logged in with.',
	404: 'It is not there, or it is not among the namespaces you may see. Pods are forgotten a day after they were last heard of; ' +
		'their findings and post-mortems stay for a year.',
	429: 'Too many requests. Wait a minute.',
	503: 'The collector has no room or its store is busy. Its log says which; try again in a minute.',
};

/* A whole page, or a part of it, that cannot be shown. again: called by the button. */
export function failure(error, again)
{
	const advice = ADVICE[error.status ?? -1] ?? 'The collector may have been updated since this page was loaded: try again, which loads it anew.';
	return h('section', { class: 'state failure', role: 'alert' },
		h('h1', null, error.status === 404 ? 'Not here' : 'This cannot be shown'),
		h('p', null, prose(error.message)),
		h('p', null, advice),
		h('p', { class: 'actions' },
			again ? h('button', { type: 'button', on: { click: again } }, 'Try again') : null,
			h('a', { href: link('') }, 'To the fleet')));
}
