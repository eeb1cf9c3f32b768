/* SPDX-License-Identifier: Apache-2.0 */
/* The shell: header, banner, keys, and the table of pages. */
import { ApiError, get } from './api.js';
import { replace } from './dom.js';
import { start } from './router.js';
import { listenToKeys } from './keys.js';
import { header, shellState } from './shell.js';
import { failure } from './states.js';

/* Loaded when first shown: who looks at the fleet waits for the fleet alone. */
const PAGES = {
	fleet: () => import('./page_fleet.js'),
	workloads: () => import('./page_workload.js'),
	pods: () => import('./page_pod.js'),
	findings: () => import('./page_finding.js'),
	postmortems: () => import('./page_postmortem.js'),
	silences: () => import('./page_silences.js'),
	alerts: () => import('./page_alerts.js'),
};

const main = document.getElementById('main');
const announcer = document.getElementById('announcer');

function announce(text)
{
	/* The same text twice is said once, unless the element was empty between. */
	replace(announcer);
	requestAnimationFrame(() => replace(announcer, text));
}

const shell = header(document.getElementById('top'), document.getElementById('banner'));

/* A skip link that set the address would navigate away from the page. */
document.querySelector('.skip').addEventListener('click', (event) => {
	event.preventDefault();
	main.focus();
});

listenToKeys(document, main);
shellState(shell);
start(main, PAGES, {
	announce,
	shown: (page) => shell.setPage(page),
	failed: (root, error, again) => replace(root, failure(error, again)),
});

get('/me').then((me) => shell.setMe(me), (error) => {
	/* A collector that does not know who one is yet, or does not answer: the page says what it can. */
	if (!(error instanceof ApiError))
		throw error;
});
