/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet without rows: why, and what to do next. */
import { h, name } from './dom.js';
import { empty } from './states.js';

/* The usual ports of a collector: people on 8481, agents on 8480 (docs/collector.md); else one listener serves both. */
function agentUrl()
{
	const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
	const port = location.port === '8481' ? '8480' : location.port;
	return `${scheme}://${location.hostname}${port ? ':' + port : ''}/agent`;
}

export function noAgents()
{
	const secured = location.protocol === 'https:';
	const command = `bankfull agent --collector ${agentUrl()}${secured ? ' --token-file /run/secrets/bankfull/token' : ''}`;
	return empty('No agent has reported yet',
		h('p', null, 'Start one beside a Flink or Kafka Streams process; it finds the JVM by itself and appears here within seconds:'),
		h('pre', { class: 'command', tabindex: 0, aria: { label: 'Command that starts an agent' } }, command),
		h('p', null, 'Its log says what it sees and, where it cannot reach this collector, why. ',
			h('a', { href: '/docs/agent' }, 'How to run the agent'), ' · ', h('a', { href: '/docs/collector' }, 'how to run the collector')));
}

export function noMatch(query, clear)
{
	const parts = Object.entries(query.filter);
	return empty('Nothing matches these filters',
		h('ul', { class: 'terms' }, parts.map(([member, value]) => h('li', null, `${member === 'q' ? 'search' : member}: `, name(value)))),
		h('p', null, h('button', { type: 'button', class: 'primary', on: { click: clear } }, 'Clear filters')));
}

export function badFilter(message, clear)
{
	return empty('The address asks for something that is not known',
		h('p', null, name(message, 300)),
		h('p', null, h('button', { type: 'button', class: 'primary', on: { click: clear } }, 'Clear filters')));
}
