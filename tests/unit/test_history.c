/* SPDX-License-Identifier: Apache-2.0 */
/* What a history keeps, when it throws it away, and what it makes of it. Times are the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/course.h"

/* A scan a minute while native memory grows by so much an hour. */
static void grow(struct course *sc, uint64_t seconds, double from_mib, double mib_an_hour)
{
	for (uint64_t s = 0; s < seconds; s += MINUTE, sc->now_s += MINUTE) {
		set_native(sc, from_mib + mib_an_hour * (double)s / HOUR);
		scan(sc);
	}
}

static void a_leak_is_followed(void **state)
{
	(void)state;
	struct course *sc = begin();
	assert_int_equal(look(sc)->forecast.kind, FORECAST_INCONCLUSIVE); /* before any tick */
	grow(sc, 5 * MINUTE, 300, 120);
	assert_int_equal(look(sc)->owners[OWNER_NATIVE_OTHER].kind, TREND_TOO_FEW);
	assert_int_equal(sc->view.forecast.kind, FORECAST_INCONCLUSIVE);
	grow(sc, 55 * MINUTE, 310, 120);
	const struct history_view *v = look(sc);
	assert_int_equal(v->owners[OWNER_NATIVE_OTHER].kind, TREND_GROWING);
	assert_int_equal(v->owners[OWNER_JAVA_HEAP].kind, TREND_FLAT);
	assert_int_equal(v->native_pool.kind, TREND_GROWING);
	assert_int_equal(v->floor.kind, TREND_GROWING);
	assert_int_equal(v->threads.kind, TREND_FLAT);
	assert_int_equal(v->scans, 60);
	assert_int_equal(v->span_ms, HOUR * 1000);
	assert_int_equal(v->forecast.kind, FORECAST_REACHES);
	assert_int_equal(v->forecast.owner, OWNER_NATIVE_OTHER);
	double truth = (double)sc->l->freeboard_bytes.bytes / MIB / 120 * HOUR;
	assert_true((double)v->forecast.earliest_s < truth && truth < (double)v->forecast.latest_s);
	/* Between two fits the time left falls as time passes. */
	uint64_t left = v->forecast.likely_s;
	sc->now_s += 30;
	assert_int_equal(look(sc)->forecast.likely_s, left - 30);
	end(sc);
}

/* A JVM whose owners are all too small to need trends of their own: its floor needs one. */
static void too_few_samples_foretell_nothing(void **state)
{
	(void)state;
	struct course *sc = begin();
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (sc->l->lines[owner].bytes.bytes > 8 * MIB)
			sc->l->lines[owner].bytes.bytes = 8 * MIB;
	scan(sc);
	assert_int_equal(look(sc)->forecast.kind, FORECAST_INCONCLUSIVE);
	for (int minute = 1; minute < TREND_POINTS_MIN - 1; minute++) {
		sc->now_s += MINUTE;
		scan(sc);
		assert_int_equal(look(sc)->forecast.kind, FORECAST_INCONCLUSIVE);
	}
	sc->now_s += MINUTE;
	scan(sc);
	assert_int_equal(look(sc)->forecast.kind, FORECAST_NOT_GROWING);
	end(sc);
}

static void windows_are_cut(void **state)
{
	(void)state;
	enum { LIMIT, PROCESS, GAP, NO_GAP, CUTS };
	for (int cut = LIMIT; cut < CUTS; cut++) {
		struct course *sc = begin();
		grow(sc, HOUR, 300, 60);
		assert_int_equal(look(sc)->native_pool.kind, TREND_GROWING);
		if (cut == LIMIT)
			sc->l->limit = limit_set(5 * GIB);
		if (cut == PROCESS)
			sc->s->process.start_ticks += 360000;
		if (cut == GAP)
			sc->now_s += 301 - MINUTE;
		if (cut == NO_GAP)
			sc->now_s += 300 - MINUTE;
		tick(sc);
		const struct history_view *v = look(sc);
		assert_int_equal(v->native_pool.kind, cut == NO_GAP ? TREND_GROWING : TREND_TOO_FEW);
		assert_int_equal(v->scans, cut == NO_GAP ? 60 : 0);
		assert_int_equal(v->span_ms, cut == NO_GAP ? HOUR * 1000 + 240000 : 0);
		assert_int_equal(v->limit_changed_s_ago.known, cut == LIMIT);
		assert_int_equal(v->settling_s > 0, cut == PROCESS);
		if (cut == LIMIT) {
			assert_int_equal(v->limit_before.bytes, 4 * GIB);
			sc->now_s += 40;
			assert_int_equal(look(sc)->limit_changed_s_ago.n, 40);
		}
		end(sc);
	}
}

/* A limit that could not be read once has not changed. */
static void an_unread_limit_is_none(void **state)
{
	(void)state;
	struct course *sc = begin();
	struct limit limit = sc->l->limit;
	grow(sc, 10 * MINUTE, 300, 0);
	sc->l->limit = (struct limit){ 0, LIMIT_UNREAD };
	grow(sc, 2 * MINUTE, 300, 0);
	sc->l->limit = limit;
	grow(sc, 2 * MINUTE, 300, 0);
	assert_false(look(sc)->limit_changed_s_ago.known);
	assert_int_equal(sc->view.scans, 14);
	end(sc);
}

/* A window begins when the start has settled: 15 minutes, on the clock that the kernel started the process by. */
static void a_start_settles(void **state)
{
	(void)state;
	struct course *sc = begin();
	sc->s->process.start_ticks = (BEGIN - 300) * 100;
	scan(sc);
	assert_int_equal(look(sc)->settling_s, 601);
	assert_int_equal(sc->view.scans, 0);
	assert_int_equal(sc->view.events[EVENT_JVM_START], 1);
	sc->now_s += 299;
	tick(sc);
	sc->now_s += 300;
	tick(sc);
	assert_int_equal(look(sc)->settling_s, 2);
	sc->now_s += 1;
	scan(sc);
	assert_int_equal(look(sc)->settling_s, 0);
	assert_int_equal(sc->view.scans, 1);
	end(sc);
}

static void what_the_engine_does_settles(void **state)
{
	(void)state;
	struct course *sc = begin();
	struct engine_context *context = &sc->s->engine.context;
	grow(sc, 10 * MINUTE, 300, 0);
	assert_int_equal(look(sc)->settling_s, 0);
	context->restarts = count_of(0);
	tick(sc); /* the first page: nothing has happened */
	assert_int_equal(look(sc)->settling_s, 0);
	context->restarts = count_of(1);
	tick(sc);
	assert_int_equal(look(sc)->settling_s, 601);
	sc->now_s += 60;
	context->rebalancing = TRISTATE_TRUE; /* shorter than what goes on */
	tick(sc);
	assert_int_equal(look(sc)->settling_s, 541);
	context->rebalancing = TRISTATE_FALSE;
	context->restoring = TRISTATE_TRUE;
	grow(sc, 2 * HOUR, 300, 0); /* a restore lasts as long as it lasts */
	assert_true(look(sc)->settling_s > 500);
	context->restoring = TRISTATE_FALSE;
	grow(sc, 11 * MINUTE, 300, 0);
	assert_int_equal(look(sc)->settling_s, 0);
	assert_int_equal(sc->view.events[EVENT_RESTART], 1);
	assert_int_equal(sc->view.events[EVENT_REBALANCE], 1);
	/* A page without tasks and then with some again: they were started. A page that was not read says nothing. */
	context->restarts.known = false;
	sc->s->metrics_read = false;
	tick(sc);
	context->restarts = count_of(1);
	tick(sc);
	assert_int_equal(look(sc)->events[EVENT_RESTART], 1);
	sc->s->metrics_read = true;
	context->restarts.known = false;
	tick(sc);
	context->restarts = count_of(1);
	tick(sc);
	assert_int_equal(look(sc)->events[EVENT_RESTART], 2);
	end(sc);
}

/* A job that restarts all the time never settles: it is judged all the same after an hour. */
static void a_crash_loop_is_judged(void **state)
{
	(void)state;
	struct course *sc = begin();
	for (uint64_t i = 0; i < 13; i++, sc->now_s += 290) {
		sc->s->engine.context.restarts = count_of(i);
		tick(sc);
		if (i > 0)
			assert_true(look(sc)->settling_s > 0);
	}
	sc->s->engine.context.restarts = count_of(14);
	sc->now_s += 200;
	tick(sc);
	assert_int_equal(look(sc)->settling_s, 0);
	end(sc);
}

/* Each restart leaves 80 MiB; what comes with it and goes again does not count. */
static void steps_are_measured(void **state)
{
	(void)state;
	for (int leaks = 0; leaks < 2; leaks++) {
		struct course *sc = begin();
		double level = 300;
		sc->s->engine.context.restarts = count_of(0);
		grow(sc, 40 * MINUTE, level, 0);
		for (uint64_t i = 1; i <= 4; i++) {
			sc->s->engine.context.restarts = count_of(i);
			level += leaks ? 80 : 0;
			grow(sc, 20 * MINUTE, level + 150, 0); /* a restore's buffers */
			grow(sc, 20 * MINUTE, level, 0);
		}
		const struct steps *steps = &look(sc)->steps[EVENT_RESTART];
		assert_int_equal(steps->n, 4);
		assert_int_equal(steps->alike, leaks);
		if (leaks) {
			assert_int_equal(steps->height_bytes, 80 * MIB);
			assert_int_equal(steps->left, (uint64_t)sc->l->freeboard_bytes.bytes / ((uint64_t)80 * MIB));
			assert_int_equal(sc->view.steps_share_bp[EVENT_RESTART], 10000);
		}
		end(sc);
	}
}

/* Peaks of 100 MiB in one slot of twelve; what grows steadily is none. */
static void spikes_are_told_from_growth(void **state)
{
	(void)state;
	struct course *sc = begin();
	for (uint64_t s = 0; s < 30 * MINUTE; s += 5, sc->now_s += 5) {
		set_native(sc, 300 + (double)s / 60 + (s % 60 == 0 ? 100 : 0));
		tick(sc);
	}
	uint64_t spike = look(sc)->spike_bytes;
	assert_true(spike > 95 * MIB && spike < 105 * MIB);
	end(sc);
	sc = begin();
	for (uint64_t s = 0; s < 30 * MINUTE; s += 5, sc->now_s += 5) {
		set_native(sc, 300 + (double)s / 6);
		tick(sc);
	}
	assert_true(look(sc)->spike_bytes < 4 * MIB);
	end(sc);
}

/* An attach that failed once makes the JVM's own memory unread, and native-other larger: that is no growth. */
static void another_set_of_owners(void **state)
{
	(void)state;
	struct course *sc = begin();
	struct ledger_line *other = &sc->l->lines[OWNER_JVM_OTHER];
	sc->l->listed[OWNER_JVM_OTHER] = true;
	other->bytes = qty_measured(50 * MIB);
	grow(sc, 30 * MINUTE, 300, 0);
	other->bytes = (struct qty){ 0 };
	grow(sc, 4 * MINUTE, 350, 0);
	other->bytes = qty_measured(50 * MIB);
	grow(sc, 30 * MINUTE, 300, 0);
	assert_int_equal(look(sc)->owners[OWNER_NATIVE_OTHER].kind, TREND_FLAT);
	assert_int_equal(sc->view.owners[OWNER_NATIVE_OTHER].last_bytes, 300 * MIB);
	uint64_t before = sc->view.owners[OWNER_NATIVE_OTHER].span_ms;
	assert_int_equal(before, 63 * MINUTE * 1000);
	/* For good: the owners' windows begin anew, the floor's goes on. */
	other->bytes = (struct qty){ 0 };
	grow(sc, 15 * MINUTE, 350, 0);
	assert_int_equal(look(sc)->owners[OWNER_NATIVE_OTHER].span_ms, 10 * MINUTE * 1000);
	assert_int_equal(sc->view.floor.span_ms, 78 * MINUTE * 1000);
	end(sc);
}

/* Of several sources of one figure the best counts, alone: they differ, and a change would be a step. */
static void sources_do_not_mix(void **state)
{
	(void)state;
	struct course *sc = begin();
	sc->s->perf.metaspace_used_bytes = qty_measured(60 * MIB);
	sc->s->perf.class_space_used_bytes = qty_measured(10 * MIB);
	sc->s->perf.classes_loaded = count_of(12000);
	sc->s->perf.classes_unloaded = count_of(2000);
	grow(sc, 10 * MINUTE, 300, 0);
	assert_int_equal(look(sc)->metaspace.last_bytes, 70 * MIB);
	assert_int_equal(sc->view.classes.last_bytes, 10000);
	/* Metrics come: another figure, a new window. */
	sc->s->engine.gauges.metaspace_used_bytes = qty_measured(90 * MIB);
	grow(sc, 10 * MINUTE, 300, 0);
	assert_int_equal(look(sc)->metaspace.first_bytes, 90 * MIB);
	/* They stay away for a while: nothing is put in their place. */
	sc->s->engine.gauges.metaspace_used_bytes = (struct qty){ 0 };
	grow(sc, 10 * MINUTE, 300, 0);
	assert_int_equal(look(sc)->metaspace.last_bytes, 90 * MIB);
	assert_int_equal(sc->view.metaspace.span_ms, 9 * MINUTE * 1000);
	end(sc);
}

static void rates(void **state)
{
	(void)state;
	struct course *sc = begin();
	struct count *refaults = &sc->s->cgroup.stat.workingset_refault_file;
	struct rocksdb_claim *claim = &sc->s->engine.rocksdb;
	for (uint64_t i = 0; i < 60; i++, sc->now_s += 5) {
		*refaults = count_of(i < 30 ? 7000 : 7000 + (i - 29) * 600);
		claim->cache_hits = count_of(i * 3000);
		claim->cache_misses = count_of(i * 1000);
		tick(sc);
		look(sc);
		assert_int_equal(sc->view.refaults_per_s.known, i >= 4);
		if (i >= 4 && i < 30)
			assert_int_equal(sc->view.refaults_per_s.n, 0);
	}
	assert_int_equal(sc->view.refaults_per_s.n, 120);
	assert_int_equal(sc->view.cache_miss_bp.n, 2500);
	*refaults = count_of(3); /* another cgroup */
	tick(sc);
	assert_false(look(sc)->refaults_per_s.known);
	end(sc);
}

/* What comes and goes with the day is no trend, once a day was seen. */
static void a_cycle_of_a_day(void **state)
{
	(void)state;
	struct course *sc = begin();
	enum trend_kind kinds[60];
	for (uint64_t hour = 0; hour < 60; hour++) {
		/* A saw: 12 hours up by 120 MiB, 12 hours down. */
		double up = hour % 24 < 12 ? (double)(hour % 24) : (double)(24 - hour % 24);
		grow(sc, HOUR, 300 + 10 * up, hour % 24 < 12 ? 10 : -10);
		kinds[hour] = look(sc)->owners[OWNER_NATIVE_OTHER].kind;
	}
	assert_int_equal(kinds[6], TREND_GROWING); /* nobody can know */
	for (uint64_t hour = 26; hour < 60; hour++)
		assert_true(kinds[hour] == TREND_FLAT || kinds[hour] == TREND_SHRINKING ||
			    kinds[hour] == TREND_DECELERATING);
	end(sc);
}

/* A leak that begins after a quiet day is seen within the two hours of the brief window where it is urgent. */
static void a_leak_that_begins_late(void **state)
{
	(void)state;
	struct course *sc = begin();
	grow(sc, 24 * HOUR, 300, 0);
	assert_int_equal(look(sc)->forecast.kind, FORECAST_NOT_GROWING);
	grow(sc, 2 * HOUR, 300, 600);
	assert_int_equal(look(sc)->owners[OWNER_NATIVE_OTHER].kind, TREND_GROWING);
	assert_int_equal(sc->view.forecast.kind, FORECAST_REACHES);
	/* And its end is: it has not grown for two hours. */
	grow(sc, 4 * HOUR, 1500, 0);
	assert_int_not_equal(look(sc)->owners[OWNER_NATIVE_OTHER].kind, TREND_GROWING);
	assert_int_not_equal(sc->view.forecast.kind, FORECAST_REACHES);
	end(sc);
}

/* A cache grows to its capacity, and not to the budget that could hold more of it. */
static void a_cache_ends_at_its_capacity(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct course *sc = begin();
		struct ledger_line *cache = &sc->l->lines[OWNER_ROCKSDB_BLOCK_CACHE];
		sc->l->listed[OWNER_ROCKSDB_BLOCK_CACHE] = true;
		cache->bound = limit_set(1340 * MIB);
		if (known)
			sc->s->engine.rocksdb.cache_capacity_bytes = qty_measured(1000 * MIB);
		for (uint64_t s = 0; s < HOUR; s += MINUTE, sc->now_s += MINUTE) {
			cache->bytes = qty_measured((800 + s / 36) * MIB); /* 100 MiB an hour, to 900 */
			sc->l->freeboard_bytes = (struct signed_qty){ 200 * MIB, true };
			scan(sc);
		}
		assert_int_equal(look(sc)->owners[OWNER_ROCKSDB_BLOCK_CACHE].kind, TREND_GROWING);
		assert_int_equal(sc->view.forecast.kind, known ? FORECAST_NOT_GROWING : FORECAST_REACHES);
		end(sc);
	}
}

/* Scans as an agent makes them of what moves, every 15 s; `step` MiB more at once, or `mib_a_scan` each time. */
static const struct history_view *hurry(struct course *sc, double from_mib, double step, double mib_a_scan, int scans)
{
	for (int i = 1; i <= 3 * scans; i++) {
		sc->now_s += 5;
		set_native(sc, from_mib + (i > 3 * scans / 2 ? step : 0) + mib_a_scan * i / 3);
		if (i % 3 == 0)
			scan(sc);
		else
			tick(sc);
		(void)look(sc);
	}
	return &sc->view;
}

/* 10 % of 4 GiB a minute: an hour of points a minute would show it when it is over. A step is not growth. */
static void what_is_fast_is_seen_in_time(void **state)
{
	(void)state;
	struct course *sc = begin();
	grow(sc, 2 * HOUR, 1800, 0);
	const struct history_view *v = hurry(sc, 1800, 0, 102.4, 5); /* 75 s */
	assert_int_equal(v->forecast.kind, FORECAST_REACHES);
	assert_int_equal(v->forecast.owner, OWNER_NATIVE_OTHER);
	double truth = (double)sc->l->freeboard_bytes.bytes / MIB / 102.4 * 15;
	assert_true(fabs((double)v->forecast.likely_s - truth) < truth / 4);
	end(sc);
	sc = begin();
	grow(sc, 2 * HOUR, 1800, 0);
	assert_int_not_equal(hurry(sc, 1800, 600, 0.1, 6)->forecast.kind, FORECAST_REACHES);
	end(sc);
}

/* What fell and comes back, to where it was an hour ago, is no growth, however fast it is. */
static void what_fills_again_is_no_growth(void **state)
{
	(void)state;
	struct course *sc = begin();
	grow(sc, 2 * HOUR, 2400, 0);
	grow(sc, 5 * MINUTE, 1800, 0);
	assert_int_not_equal(hurry(sc, 1800, 0, 102.4, 5)->forecast.kind, FORECAST_REACHES);
	end(sc);
}

/* A restart moves the floor once; a checkpoint comes again. */
static void a_spike_comes_again(void **state)
{
	(void)state;
	for (int again = 0; again < 2; again++) {
		struct course *sc = begin();
		for (int i = 0; i < 720; i++, sc->now_s += 5) {
			bool high = again ? i % 12 == 5 : i < 300;
			set_native(sc, high ? 700 : 300);
			tick(sc);
		}
		scan(sc);
		(void)look(sc);
		assert_int_equal(sc->view.spike_bytes, again ? 400 * MIB : 0);
		end(sc);
	}
}

/* A heap that grew and arenas that stay, each in ten minutes of its own; and one peak of three, wherever it lies by now. */
static void what_stays_or_was_once_is_no_spike(void **state)
{
	(void)state;
	struct course *sc = begin();
	for (uint64_t s = 0; s < 60 * MINUTE; s += 5, sc->now_s += 5) {
		double steps = (s > 32 * MINUTE ? 40 : 0) + (s > 43 * MINUTE ? 60 : 0);
		double peak = s > 25 * MINUTE && s <= 28 * MINUTE ? 50 : 0;
		set_native(sc, 300 + (double)s / 30 + steps + peak);
		tick(sc);
		if (s % 15 == 0)
			scan(sc);
		if (s > 45 * MINUTE)
			assert_true(look(sc)->spike_bytes < 8 * MIB);
	}
	end(sc);
}

/* Without engine metrics native-other may hold what was set aside for it: only the excess goes on. */
static void a_soft_bound_saturates(void **state)
{
	(void)state;
	static const struct {
		uint64_t managed_mib;
		enum forecast_kind kind;
	} table[] = { { 850, FORECAST_NOT_GROWING }, { 100, FORECAST_REACHES } };
	for (size_t i = 0; i < 2; i++) {
		struct course *sc = begin();
		snap_flink(sc->s, 500 * MIB, table[i].managed_mib * MIB, 100 * MIB, 100 * MIB, 100 * MIB, 2 * GIB);
		sc->s->engine.backend = BACKEND_ROCKSDB;
		sc->l->listed[OWNER_ROCKSDB_BLOCK_CACHE] = true; /* unread: its bytes stand in native-other */
		for (uint64_t s = 0; s < HOUR; s += MINUTE, sc->now_s += MINUTE) {
			set_native(sc, 600 + (double)s / 36);
			sc->l->freeboard_bytes = (struct signed_qty){ 600 * MIB, true };
			scan(sc);
		}
		const struct history_view *v = look(sc);
		assert_true(qty_known(v->native_soft_bound_bytes));
		assert_true(v->native_soft_bound_bytes.bytes >= table[i].managed_mib * MIB);
		assert_int_equal(v->forecast.kind, table[i].kind);
		/* With its metrics read there is nothing to excuse. */
		sc->l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes = qty_measured(0);
		sc->now_s += 2 * MINUTE;
		sc->l->listed[OWNER_DIRECT_BUFFERS] = false;
		scan(sc);
		assert_false(qty_known(look(sc)->native_soft_bound_bytes));
		end(sc);
	}
}

/* Nothing read, clocks that stand still, figures at the end of their type: no answer, no harm. */
static void extremes(void **state)
{
	(void)state;
	struct course *sc = begin();
	struct ledger *empty = calloc(1, sizeof *empty);
	struct snapshot *nothing = calloc(1, sizeof *nothing);
	struct ledger *ledger = sc->l;
	struct snapshot *snapshot = sc->s;
	sc->l = empty;
	sc->s = nothing;
	grow(sc, 0, 0, 0);
	for (int i = 0; i < 20; i++, sc->now_s += MINUTE)
		scan(sc);
	assert_int_equal(look(sc)->forecast.kind, FORECAST_INCONCLUSIVE);
	assert_int_equal(sc->view.native_pool.kind, TREND_TOO_FEW);
	sc->s = snapshot;
	sc->l = ledger;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		sc->l->listed[owner] = true;
		sc->l->lines[owner].bytes = qty_measured(UINT64_MAX);
		sc->l->lines[owner].bound = limit_set(UINT64_MAX);
	}
	sc->l->floor_bytes = qty_measured(UINT64_MAX);
	sc->l->freeboard_bytes = (struct signed_qty){ INT64_MIN, true };
	sc->s->process.start_ticks = UINT64_MAX;
	for (int i = 0; i < 200; i++, sc->now_s += i % 3 == 0 ? 0 : MINUTE) {
		sc->l->lines[OWNER_NATIVE_OTHER].bytes.bytes = i % 2 ? 0 : UINT64_MAX;
		sc->s->engine.context.restarts = count_of((uint64_t)i / 4);
		scan(sc);
		look(sc);
	}
	assert_int_not_equal(sc->view.forecast.kind, FORECAST_KIND_COUNT);
	free(empty);
	free(nothing);
	end(sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leak_is_followed),
		cmocka_unit_test(too_few_samples_foretell_nothing),
		cmocka_unit_test(windows_are_cut),
		cmocka_unit_test(an_unread_limit_is_none),
		cmocka_unit_test(a_start_settles),
		cmocka_unit_test(what_the_engine_does_settles),
		cmocka_unit_test(a_crash_loop_is_judged),
		cmocka_unit_test(steps_are_measured),
		cmocka_unit_test(spikes_are_told_from_growth),
		cmocka_unit_test(another_set_of_owners),
		cmocka_unit_test(sources_do_not_mix),
		cmocka_unit_test(rates),
		cmocka_unit_test(a_cycle_of_a_day),
		cmocka_unit_test(a_leak_that_begins_late),
		cmocka_unit_test(a_cache_ends_at_its_capacity),
		cmocka_unit_test(what_is_fast_is_seen_in_time),
		cmocka_unit_test(what_fills_again_is_no_growth),
		cmocka_unit_test(a_spike_comes_again),
		cmocka_unit_test(what_stays_or_was_once_is_no_spike),
		cmocka_unit_test(a_soft_bound_saturates),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
