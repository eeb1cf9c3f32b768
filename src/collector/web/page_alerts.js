/* SPDX-License-Identifier: Apache-2.0 */
/* What calls people now, who was told of it or why nobody was, and what lately ended. */
import { get } from './api.js';
import { h, name, prose, replace } from './dom.js';
import { bytes, percentBp, plural, severityRank } from './format.js';
import { rulePage, silenceButton, silencedNote } from './finding_view.js';
import { link } from './router.js';
import { badge, card, dim, head, note, put, rowLink, table } from './parts.js';
import { severityMark } from './severity.js';
import { failure, loading } from './states.js';
import { when } from './time.js';

const REFRESH_MS = 5000;
const ENDED_MOST = 50;

/* A state of a delivery in words that say what follows from it. */
const STATES = {
	waiting: () => 'is told in a moment, with all pods at once',
	due: () => 'is being told',
	told: (d) => ['was told ', when(d.told_ms), d.repeats ? `, and ${plural(d.repeats, 'time')} again` : null],
	silenced: () => 'is not told: it is silenced',
	excused: () => 'needs not be told: it was over before, or is silenced, or would not be taken',
	failing: (d) => ['is not reached (', plural(d.tries, 'try', 'tries'), '): ', prose(d.last_error ?? '')],
};

function deliveryItem(delivery)
{
	const bad = delivery.state === 'failing';
	return h('li', null, name(delivery.receiver, 40), ' ',
		h('span', { class: bad ? 'problem' : 'muted' }, (STATES[delivery.state] ?? (() => delivery.state))(delivery)));
}

/* Why somebody was told, or nobody. */
function reason(alert)
{
	if (alert.deliveries.length)
		return note(alert.route === null ? 'Told by default: no route is about it.' : `Told by route ${alert.route} of the configuration.`);
	return note(alert.route === null ? 'Nobody is told: there is no receiver for it by default.' :
		`Nobody is told: route ${alert.route} of the configuration names no receiver.`);
}

function worstRow(worst)
{
	const pod = name(worst.pod, 64);
	return [worst.id === null ? pod : h('a', { href: link(`pods/${worst.id}`) }, pod),
		[bytes(worst.freeboard), ' ', dim(percentBp(worst.freeboard_bp))], severityMark(worst.severity)];
}

function place(alert)
{
	const workload = name(alert.workload ?? 'no workload', 48);
	return [alert.namespace === null ? null : [name(alert.namespace, 40), ' / '],
		alert.workload_id === null ? workload : rowLink(`workloads/${alert.workload_id}`, workload)];
}

function activeCard(ctx, alert)
{
	return h('section', { class: `act edge-${alert.severity}` },
		h('p', { class: 'act-title' }, severityMark(alert.severity), ' ', h('strong', null, rulePage(alert.rule)), ' at ', place(alert), ' ',
			badge(`${alert.pods} of ${plural(alert.workload_pods, 'pod')}`), alert.pods_silenced ? [' ', badge('pods silenced')] : null),
		h('p', null, prose(alert.title), ' ', dim('since ', when(alert.started_ms))),
		silencedNote(alert.silenced),
		alert.worst.length ? table(['Worst pods', '#Freeboard', 'Severity'], alert.worst.map(worstRow), 'Worst pods') : null,
		alert.pods > alert.worst.length ? note('and ', plural(alert.pods - alert.worst.length, 'more pod', 'more pods'), '.') : null,
		reason(alert), h('ul', { class: 'events' }, alert.deliveries.map(deliveryItem)),
		h('p', { class: 'actions' }, silenceButton(ctx, alert, alert.rule)));
}

function endedRow(alert)
{
	const told = alert.deliveries.filter((d) => d.state === 'told').map((d, i) => [i ? ', ' : '', name(d.receiver, 40)]);
	return [severityMark(alert.severity), rulePage(alert.rule), place(alert), when(alert.started_ms), when(alert.ended_ms),
		told.length ? told : dim('nobody')];
}

function receiverRow(r)
{
	const state = { idle: r.told === null ? 'no trouble is known' : 'nothing is due', due: 'something is due', failing: 'not reached' }[r.state] ?? r.state;
	const who = [name(r.receiver, 40), r.type, r.state === 'failing' ? h('strong', { class: 'problem' }, state) : state];
	return r.told === null ? who : [...who, String(r.queue), String(r.told), r.dropped ? h('strong', null, String(r.dropped)) : '0',
		r.last_error === null ? '' : prose(r.last_error)];
}

function receivers(list)
{
	if (!list.length)
		return [h('p', null, 'Nobody is called: no receiver is configured for what you may see. What would be told is shown here all the same.'),
			note('The shortest way is to start the collector with ', h('code', null, '--alertmanager URL'), '; receivers and routes are described in ',
				h('a', { href: '/docs/alerts.html' }, 'the documentation'), '.')];
	// Who is limited to namespaces is not told how much others are called.
	const totals = list[0].told === null ? [] : ['#Due', '#Told', '#Dropped', '~Last error'];
	return table(['Receiver', 'Type', 'State', ...totals], list.map(receiverRow), 'Receivers');
}

class Page {
	constructor(root, ctx)
	{
		this.ctx = ctx;
		this.active = h('div', { class: 'page' }, loading('alerts'));
		this.ended = h('div', null);
		this.who = h('div', null);
		this.line = h('span', { role: 'status' });
		root.append(h('div', { class: 'page' }, head(null, 'Alerts', this.line), this.active, card('Receivers', this.who),
			card('Lately ended', this.ended)));
		this.timer = setInterval(() => this.load(), REFRESH_MS);
		this.load();
	}

	async load()
	{
		try {
			const { signal } = this.ctx;
			const [active, ended] = await Promise.all([get('/alerts', { active: true, limit: 200 }, { signal }),
				get('/alerts', { active: false, limit: ENDED_MOST }, { signal })]);
			this.paint(active, ended);
			this.painted = true;
		} catch (error) {
			if (error.name === 'AbortError')
				return;
			if (!this.painted)
				replace(this.active, failure(error, () => this.load()));
			else
				replace(this.line, prose(error.message));
		}
	}

	paint(active, ended)
	{
		const n = active.items.length;
		replace(this.line, n ? `${active.next === null ? '' : 'more than '}${plural(n, 'alert')} active` : 'nothing calls anybody now');
		const worst = active.items.toSorted((a, b) => severityRank(a.severity) - severityRank(b.severity));
		put(this.active, n ? worst.map((alert) => activeCard(this.ctx, alert)) :
			note('A workload that is in danger stands here, once for each rule, however many of its pods have it.'));
		put(this.who, receivers(active.receivers));
		put(this.ended, ended.items.length ?
			table(['Severity', 'Rule', 'Workload', 'From', 'To', 'Told'], ended.items.map(endedRow), 'Lately ended') : note('None has ended lately.'));
	}
}

export default {
	title: () => 'Alerts',
	mount(root, ctx)
	{
		const page = new Page(root, ctx);
		return { unmount: () => clearInterval(page.timer) };
	},
};
