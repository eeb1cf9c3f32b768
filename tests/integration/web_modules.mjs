// SPDX-License-Identifier: Apache-2.0
// Run by web_modules.sh: node web_modules.mjs DIR SIZES
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { checks, same } from './web_checks.mjs';

const [dir, sizes] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${dir}/${name}`));
const f = await load('format.js');
const d = await load('dom.js');
const q = await load('fleet_query.js');
const s = await load('spark.js');
const m = await load('moves.js');

const table = fs.readFileSync(sizes, 'utf8').trim().split('\n').map((line) => /^(\S+) (.*)$/.exec(line).slice(1));
same(`${table.length} sizes read as src/base/units.c writes them`,
	table.length > 100 ? table.map(([n, text]) => [f.bytes(Number(n)).replace('−', '-'), text, n]) : [[table.length, 'more', 'rows']]);

const n = await load('now.js');
const hour = 3600000, near = (ms, there) => Math.abs(ms - there) < 1000;
same('time is the collector’s, where the browser’s is another', [0, hour, -hour, 24 * hour, -24 * hour, 0].map((off) => {
	n.learn(Date.now() + off);
	return [near(n.now(), Date.now() + off), true, off];
}));
n.learn(Date.now() + 1500);
same('what the way here takes is no difference', [[near(n.now(), Date.now()), true]]);

const FORMATS = [f.bytes, f.signedBytes, f.percentBp, f.duration, f.roughly, f.ago, f.clock, f.date, f.count];
same('what was not read is said to be, by every format', FORMATS.flatMap((format) =>
	[null, undefined, NaN].map((n) => [format(n), f.UNREAD, `${format.name}(${n})`])));
same('a zero is a zero', [[f.bytes(0), '0 B'], [f.signedBytes(0), '0 B'], [f.percentBp(0), '0.0 %'], [f.duration(0), '0 s'], [f.count(0), '0']]);
same('a change has its sign', [[f.signedBytes(1024), '+1.0 KiB'], [f.signedBytes(-1024), '−1.0 KiB'], [f.percentBp(-50), '−0.5 %']]);
same('a time has two units where the first is small', [
	[f.duration(59), '59 s'], [f.duration(61), '1 min 1 s'], [f.duration(600), '10 min'], [f.duration(620), '10 min'],
	[f.duration(3600), '1 h'], [f.duration(12000), '3 h 20 min'], [f.duration(187200), '2 d 4 h'], [f.duration(-5), '0 s']]);
same('an estimate has no digits that it is not worth', [
	[f.roughly(1), '5 s'], [f.roughly(42), '40 s'], [f.roughly(59), '1 min'], [f.roughly(61), '1 min'], [f.roughly(81), '1 min'],
	[f.roughly(725), '12 min'], [f.roughly(4000), '1 h 10 min'], [f.roughly(7100), '2 h'], [f.roughly(200000), '2 d']]);
same('a range is one text', [
	[f.roughRange(500, 1200), '8 to 20 min'], [f.roughRange(40, 130), '40 s to 2 min'], [f.roughRange(600, 610), '10 min'],
	[f.timeToLimit(720, 480, 1200), '12 min (8 to 20 min)'], [f.timeToLimit(720, null, null), '12 min'],
	[f.timeToLimit(null, 3600, null), '1 h at the earliest'], [f.timeToLimit(null, null, null), 'unread']]);
same('the gravest severity is first, none is last', [
	[['notice', null, 'critical', 'info', 'warning'].sort((a, b) => f.severityRank(a) - f.severityRank(b)),
		['critical', 'warning', 'notice', 'info', null]]]);

same('what turns, hides or breaks a text is made visible', [
	[d.visible('a\u202egpj.exe'), 'a⟨U+202E⟩gpj.exe'], [d.visible('\u0000\u001b[31m\n'), '⟨U+0000⟩⟨U+001B⟩[31m⟨U+000A⟩'],
	[d.visible('\u2066x\u2069\u200b\ufeff'), '⟨U+2066⟩x⟨U+2069⟩⟨U+200B⟩⟨U+FEFF⟩'], [d.visible('\ud800x'), '⟨U+D800⟩x'],
	[d.visible('\u2028\u2029\u0085'), '⟨U+2028⟩⟨U+2029⟩⟨U+0085⟩'],
	[d.visible('žluťoučký 木 <b> 😀'), 'žluťoučký 木 <b> 😀']]);
same('a long name is cut in its middle, never within a character', [
	[d.middle('abcdefghij', 10), 'abcdefghij'], [d.middle('abcdefghijk', 10), 'abcde…hijk'], [d.middle('😀😀😀😀😀', 3), '😀…😀'],
	[Array.from(d.middle('x'.repeat(4096), 64)).length, 64]]);

const win = m.makeWindow();
const [one, two, three] = [{ id: '1' }, { id: '2' }, { id: '3' }];
win({ type: 'fleet', n: 4, at_ms: 1, total: 9, matching: 9, from: 0, facets: {}, rows: [one, two] });
const stay = win({ type: 'rows', n: 4, at_ms: 2, rows: [[1, { id: '2', x: 1 }]] });
const went = win({ type: 'rows', n: 4, at_ms: 3, matching: 8, order: [1, null, 0], rows: [[1, three]] });
same('rows in another order are the window that they amount to', [
	[stay, { type: 'rows', n: 4, at_ms: 2, rows: [[1, { id: '2', x: 1 }]] }],
	[went.rows, [{ id: '2', x: 1 }, three, one]], [went.rows[2] === one, true],
	[{ ...went, rows: 0 }, { type: 'fleet', n: 4, at_ms: 3, total: 9, matching: 8, from: 0, rows: 0 }],
	[win({ type: 'rows', order: [], rows: [], facets: { engine: [] } }).facets, { engine: [] }],
	[m.makeWindow()({ type: 'pod', n: 1 }), { type: 'pod', n: 1 }]]);

const read = (text) => q.readQuery(new URLSearchParams(text));
const written = (query) => new URLSearchParams(Object.entries(q.writeQuery(query)).filter(([, v]) => v)).toString();
same('an address and a query are the same thing twice', [
	'', 'view=pods', 'ns=shop&view=pods&sort=charge&desc=1', 'q=a%26b%3D%3Cscript%3E&severity=warning&state=stale', 'job=x&workload=y&role=jvm&engine=flink&cluster=c',
].map((text) => [Object.fromEntries(new URLSearchParams(written(read(text)))), Object.fromEntries(new URLSearchParams(text)), text]).map(([a, b, c]) =>
	[Object.entries(a).sort(), Object.entries(b).sort(), c]));
same('an unknown word of an address is the default, and nothing else is asked for', [
	[q.request(read('view=x&sort=y&desc=2&evil=z'), 0, 60),
		{ subscribe: 'fleet', view: 'workloads', filter: {}, sort: 'danger', descending: false, from: 0, count: 60 }]]);
same('queries are told apart by what they ask', [
	[q.sameQuery(read('ns=a&q=b'), read('q=b&ns=a')), true], [q.sameQuery(read('ns=a'), read('ns=b')), false],
	[q.sameQuery(read('desc=1'), read('')), false]]);

same('a sparkline has 64 steps and gaps', [
	[s.sparkValues('0-_.'), [0, 62 / 63, 1, null]], [s.sparkValues(null), []], [s.sparkValues('09AZaz').map((v) => v * 63), [0, 9, 10, 35, 36, 61]]]);
process.exit(checks.bad);
