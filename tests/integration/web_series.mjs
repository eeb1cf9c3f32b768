// SPDX-License-Identifier: Apache-2.0
// Run by web_series.sh: node web_series.mjs DIR
import { pathToFileURL } from 'node:url';
import { checks, same } from './web_checks.mjs';

const [dir] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${dir}/${name}`));
const { append, model, nearest, sumOf } = await load('series.js');
const { marksOf } = await load('marks.js');
const { byRank, look, REST } = await load('owners.js');
const { rangeOf, stamp, stepFor, zone } = await load('time.js');
const { setUtc } = await load('now.js');
const { start } = await load('router.js');
const { timelineOf } = await load('postmortem_parts.js');
const { classText, findingText } = await load('finding_view.js');

const T = 1764489600000, MIN = 60000;
const point = (at, more) => ({ received_ms: at, limit_bytes: 1000, charge_bytes: 500, floor_bytes: 400, freeboard_bytes: 600, groups: {}, owners: null, ...more });
const series = (points, more) => ({ points, holes: [], gaps: [], step_ms: 0, ...more });
const groups = { anon: 300, file: 100, kernel: 0, shmem: null };

/* --- who is drawn ------------------------------------------------------------------------------ */
const scans = model(series([point(T, { owners: { 'java-heap': 100, gc: 10 } }), point(T + 10000, { groups }), point(T + 20000, { owners: { gc: 30, 'java-heap': 200 } }),
	point(T + 30000, { groups })]));
same('between two scans owners lie on a line, after the last one they hold, and each says so', [
	[scans.rows.map((row) => row.scan), [{ at: T, kind: 'here' }, { at: T, to: T + 20000, kind: 'between' }, { at: T + 20000, kind: 'here' }, { at: T + 20000, kind: 'held' }]],
	[scans.rows.map((row) => row.bands['java-heap']), [100, 150, 200, 200]], [scans.rows.map((row) => row.bands.gc), [10, 20, 30, 30]]]);
same('what owners leave of the charge is a band', [[scans.rows.map((row) => row.bands[REST]), [390, 330, 270, 270]],
	[model(series([point(T, { owners: { gc: 700 } })])).rows[0].bands, { gc: 700 }, 'owners past the charge'],
	[model(series([point(T, { owners: { gc: 7 }, charge_bytes: null })])).rows[0].bands, { gc: 7 }, 'an unread charge has no rest']]);
same('bands are in the order of the ledger, the rest on top', [[scans.bands, ['java-heap', 'gc', REST]],
	[['sockets', REST, 'gc', 'group:file', 'of-a-later-version', 'java-heap', 'group:anon'].sort(byRank), ['java-heap', 'gc', 'sockets', 'of-a-later-version', 'group:anon', 'group:file', REST]]]);
same('an owner that one of two scans does not know is not drawn between them', [
	[model(series([point(T, { owners: { gc: 10, vmalloc: 5 } }), point(T + 1), point(T + 2, { owners: { gc: 20, tmpfs: 5 } })])).rows[1].bands, { gc: 15, [REST]: 485 }]]);
same('without a scan near the groups stand there, not nothing and no owner', [
	[model(series([point(T, { groups })])).rows[0].bands, { 'group:anon': 300, 'group:file': 100, [REST]: 100 }],
	[model(series([point(T, { owners: { gc: 1 } }), point(T + 601000, { groups })])).rows[1].scan, null, 'a scan of eleven minutes ago'],
	[model(series([point(T, { owners: { gc: 1 } }), point(T + 8 * MIN, { groups }), point(T + 16 * MIN, { owners: { gc: 1 } })])).rows[1].scan, null, 'two scans sixteen minutes apart'],
	[model(series([point(T)])).rows[0].bands, null, 'nothing is known']]);
const holed = model(series([point(T, { owners: { gc: 1 } }), point(T + 10000, { groups }), point(T + 70000, { groups }), point(T + 80000, { owners: { gc: 1 } })],
	{ holes: [{ from_ms: T + 10000, to_ms: T + 70000 }], gaps: [{ reason: 'old', received_ms: T }, { reason: 'spool-full', received_ms: T + 71000 }] }));
same('nothing reaches over a hole, and why it is there is said', [[holed.rows.map((row) => row.start), [false, false, true, false]],
	[holed.rows.map((row) => row.scan?.kind ?? null), ['here', 'held', null, 'here']], [holed.holes, [{ from: T + 10000, to: T + 70000, reason: 'spool-full' }]],
	[model(series([point(T), point(T + 99000)], { holes: [{ from_ms: T, to_ms: T + 99000 }] })).holes[0].reason, null]]);
const led = model(series([point(T, { owners: { gc: 1 }, charge_bytes: 9000 }), point(T + 10000, { groups }), point(T + 20000, { groups })]), T + 10000);
same('a scan before the range says who holds what at its beginning, and is not drawn', [[led.rows.map((row) => [row.at - T, row.scan.kind]), [[10000, 'held'], [20000, 'held']]], [led.most, 1000], [led.bands, ['gc', REST]]]);
same('nothing is a model, too', [[model(series([])), { rows: [], bands: [], holes: [], most: 0 }]]);

/* Whatever comes: a row's bands and its charge agree, or the owners say more than it. */
let seed = 7;
const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
const wrong = [];
for (let round = 0; round < 300; round++) {
	const points = [], holes = [];
	for (let at = T, i = 0; i < 60; i++) {
		const apart = random(20) ? 1000 + random(9000) : 40000 + random(2000000);
		if (i && apart >= 40000)
			holes.push({ from_ms: at, to_ms: at + apart });
		at += apart;
		points.push(point(at, { charge_bytes: random(9) ? 1 + random(1000) : null, groups: random(3) ? { anon: random(500), sock: random(9) } : {},
			owners: random(4) ? null : { gc: random(300), tmpfs: random(300), 'java-heap': random(300) } }));
	}
	const { rows, bands } = model(series(points, { holes }));
	rows.forEach((row, i) => {
		const sum = row.bands ? Math.round(sumOf(row.bands) * 1000) / 1000 : null;
		if ((row.bands && row.charge !== null && sum < row.charge) || (row.bands?.[REST] && sum !== row.charge) || (row.start && !holes.some((hole) => hole.to_ms === row.at)) ||
			Object.entries(row.bands ?? {}).some(([id, n]) => n < 0 || (n > 0 && !bands.includes(id))) || (points[i].owners && row.scan?.kind !== 'here'))
			wrong.push([row, round, i]);
	});
}
same('18,000 random rows close against their charge', [[wrong[0] ?? null, null]]);

const grows = series([point(T)], { step_ms: 2000 });
same('a live sample is added once, and after a silence there is a hole', [
	[append(grows, { received_ms: T + 10000, interval_ms: 10000 }, null), true], [append(grows, { received_ms: T + 10000 }, null), false], [append(grows, { received_ms: T + 50000, interval_ms: 10000 }, { gc: 1 }), true],
	[grows.points.length, 3], [grows.holes, [{ from_ms: T + 10000, to_ms: T + 50000 }]]]);
const five = [0, 10, 20, 40, 80].map((at) => ({ at }));
same('the nearest row is found', [[[-5, 0, 4, 6, 29, 31, 59, 61, 900].map((at) => nearest(five, at)), [0, 0, 0, 1, 2, 3, 3, 4, 4]]]);
same('an owner that is not known has a look, and no other one\'s', [[look('of-a-later-version').paint, 'residual'], [look('group:anon').group, 'anon'], [look('toString').paint, 'residual']]);

/* --- marks --------------------------------------------------------------------------------------- */
const range = { from: T, to: T + 100 * MIN };
const event = (at, kind, value = null, before = null) => ({ at_ms: T + at * MIN, kind, value, before });
const marks = (events, more) => marksOf({ events, postmortems: [], rows: [], range, ...more }).map(({ at, to, kind, label }) => [(at - T) / MIN, to === undefined ? null : (to - T) / MIN, kind, label]);
same('checkpoints are as long as they took, one that runs reaches to the end', [
	[marks([event(5, 'checkpoint-start'), event(6, 'checkpoint-end', MIN), event(90, 'checkpoint-start')]), [[5, 6, 'checkpoint', 'checkpoint'], [90, 100, 'checkpoint', 'checkpoint']]],
	[marks([event(1, 'checkpoint-end', 3 * MIN)]), [[-2, 1, 'checkpoint', 'checkpoint']], 'begun before the range'], [marks([event(-9, 'checkpoint-end', MIN)]), [], 'all before it']]);
same('what happened is said with what it was before', [
	[marks([event(3, 'limit', 1 << 30, 1 << 29), event(2, 'limit', null, 1 << 30), event(1, 'oom-kill', 2, 1), event(0, 'of-a-later-version', 1)]).map((mark) => mark[3]),
		['OOM kill, oom_kill is 2', 'limit 1.00 GiB → none', 'limit 512.0 MiB → 1.00 GiB']]]);
same('a resize is seen in the rows where events are not told', [
	[marks(null, { rows: [{ at: T, limit: 1 << 30 }, { at: T + MIN, limit: null }, { at: T + 2 * MIN, limit: 1 << 30 }, { at: T + 3 * MIN, limit: 1 << 29 }] }), [[3, null, 'limit', 'limit 1.00 GiB → 512.0 MiB']]]]);
same('a death has its place and its link', [[marksOf({ events: [], rows: [], range, postmortems: [{ id: '5:a/b', died_ms: T + 1, title: null, cause: 'exit' }, { id: 'x', died_ms: null }] }),
	[{ at: T + 1, kind: 'postmortem', label: 'died: exit', href: '#/postmortems/5%3Aa/b' }]]]);

/* --- time ------------------------------------------------------------------------------------------ */
const asked = (text) => {
	const { from, to, live } = rangeOf(new URLSearchParams(text), T);
	return [T - from, T - to, live];
};
same('a range is what the address says, or the last hour', [[asked(''), [60 * MIN, 0, true]], [asked('last=6h'), [360 * MIN, 0, true]], [asked('last=evil'), [60 * MIN, 0, true]],
	[asked(`from=${T - 5 * MIN}&to=${T - MIN}`), [5 * MIN, MIN, false]], [asked(`from=${T - MIN}&to=${T - 5 * MIN}`), [60 * MIN, 0, true], 'the wrong way round'],
	[asked('from=x&to=-3'), [60 * MIN, 0, true]], [asked(`from=${T - MIN}`), [MIN, 0, false]], [asked(`from=${T - 9}&to=${T}`), [9, 9 - 10000, false], 'not shorter than ten seconds']]);
same('steps are fine enough for the screen, and no finer', [[stepFor({ from: 0, to: 15 * MIN }, 800), 5000], [stepFor({ from: 0, to: 60 * MIN }, 1000), 10000], [stepFor({ from: 0, to: 360 * MIN }, 300), 120000],
	[stepFor({ from: 0, to: 30 * 1440 * MIN }, 2000), 60 * MIN], [stepFor({ from: 0, to: 4000 * 1440 * MIN }, 100) >= 86400000, true]]);
same('times are of the zone that is said', [[stamp(T, { whole: true }), '2025-11-30 09:00:00'], [zone(T), 'UTC+01:00'], [zone(Date.UTC(2026, 6, 1)), 'UTC+02:00'], [stamp(null), 'unread']]);
setUtc(true);
same('and UTC where that is asked for', [[stamp(T, { whole: true }), '2025-11-30 08:00:00'], [zone(T), 'UTC']]);

/* --- from page to page ---------------------------------------------------------------------------- */
const listeners = {}, addresses = [], contexts = [], zones = [];
Object.assign(globalThis, { location: { hash: '#/pods/1?utc=1' }, document: { title: '' }, history: { replaceState: (a, b, address) => addresses.push(address) },
	window: { addEventListener: (type, listener) => { listeners[type] = listener; }, scrollTo: () => {} } });
const page = { title: () => 'x', mount: (root, ctx) => {
	contexts.push(ctx);
	zones.push(zone(T));
	return { unmount: () => {}, update: () => zones.push(zone(T)) };
} };
const visit = (hash) => {
	location.hash = hash;
	return listeners.hashchange();
};
await start({ querySelector: () => null, replaceChildren: () => {} }, { pods: async () => ({ default: page }), alerts: async () => ({ default: page }) },
	{ announce: () => {}, shown: () => {}, failed: (root, error) => { throw error; } });
await visit('#/pods/1');
await visit('#/pods/1?utc=1');
await visit('#/alerts');
contexts[1].setParams({ utc: 1 });
zones.push(zone(T));
same('a page shows UTC where its own address says so', [[zones, ['UTC', 'UTC+01:00', 'UTC', 'UTC+01:00', 'UTC']]]);
contexts[0].setParams({ q: 'typed just before' });
contexts[0].setTitle('old');
same('a page that was left changes neither the address nor the title', [[addresses, ['#/alerts?utc=1']], [document.title, 'x - Bankfull']]);
setUtc(true);

/* --- post-mortems and findings ------------------------------------------------------------------------ */
const part = (...samples) => ({ timeline: samples.map(([s, more]) => ({ wall_ms: T + s * 1000, limit_bytes: 1000, charge_bytes: 1, groups_bytes: { anon: 1 }, ...more })) });
const timeline = timelineOf({ inferred: false, bodies: [{}, null, part([20, {}], [30, { limit_bytes: 'none' }], [40, {}]), part([0, { composition: { owners_bytes: { gc: 9 } } }], [10, {}], [400, {}])] });
same('a timeline is in order whatever parts are here, and what is missing is a hole', [
	[timeline.points.map((p) => (p.received_ms - T) / 1000), [0, 10, 20, 30, 40, 400]], [timeline.holes, [{ from_ms: T + 40000, to_ms: T + 400000 }]],
	[timeline.points.map((p) => p.limit_bytes), [1000, 1000, 1000, null, 1000, 1000]], [timeline.points[0].owners, { gc: 9 }], [timelineOf({ bodies: [null] }).points, []],
	[timelineOf({ inferred: true, bodies: [{ limit_bytes: 7, timeline: [{ wall_ms: T }] }] }).points[0].limit_bytes, 7, 'an inferred one']]);
const text = findingText({ severity: 'critical', title: 'evil\u202e\u001b[31m', subject: { cluster: null, namespace: 'a\nb', workload: 'w', pod: 'p' }, rule: 'r', opened_ms: T, open: true,
	finding: { observation: 'seen', change: 'do', change_when: 'now', competing_causes: ['x\u001by'], evidence: { a_bytes: 1024, b_bp: 50, c_s: 61, n: 3 } } }, 'https://here/#/findings/1');
same('a finding as text has no character that acts', [[/[\u0000-\u0009\u000b-\u001f\u202e]/.test(text), false], [text.split('\n')[0], '[critical] evil⟨U+202E⟩⟨U+001B⟩[31m'], [text.split('\n')[1], 'a⟨U+000A⟩b / w / p'],
	[text.includes('Change now: do'), true], [['a_bytes: 1.0 KiB', 'b_bp: 0.5 %', 'c_s: 1 min 1 s', 'n: 3'].every((line) => text.includes(`- ${line}\n`)), true]]);
const guaranteed = { labels: { qos: 'Guaranteed' } }, raise = { change: "raise the container's memory limit to 2.0 GiB" };
same('a Guaranteed pod is told that its request goes with its limit', [[classText(raise, guaranteed).includes('change its request to the same'), true],
	[[{ change: 'lower state.backend.rocksdb.memory.managed' }, { change: null }].map((found) => classText(found, guaranteed)), [null, null], 'where no limit changes'],
	[[{ labels: { qos: 'Burstable' } }, { labels: {} }, {}, undefined].map((subject) => classText(raise, subject)), [null, null, null, null], 'nor of another class, or none that is known'],
	[findingText({ severity: 'warning', title: 't', subject: { ...guaranteed, cluster: null, namespace: 'a', workload: 'w', pod: 'p' }, rule: 'r', opened_ms: T, open: true, finding: { ...raise, change_when: 'now' } },
		'https://here/').includes('becomes Burstable'), true]]);
process.exit(checks.bad);
