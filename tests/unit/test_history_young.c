/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a JVM that is minutes old, and right after its limit was changed: only what fills the room soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "support/course.h"

enum { SCAN_S = 30 };

/* A container of 1 GiB whose JVM starts now. What stands still holds 300 MiB of it. */
static struct course *start(void)
{
	struct course *sc = begin();
	sc->s->process.start_ticks = BEGIN * 100;
	sc->l->limit = limit_set(1 * GIB);
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		sc->l->lines[owner].bytes.bytes = 0;
	sc->l->lines[OWNER_JAVA_HEAP].bytes = qty_measured(250 * MIB);
	sc->l->lines[OWNER_JAVA_HEAP].bound = limit_set(400 * MIB);
	sc->l->lines[OWNER_NATIVE_OTHER].bytes = qty_measured(50 * MIB);
	sc->l->native_pool_bytes = qty_measured(50 * MIB);
	sc->l->floor_bytes = qty_measured(300 * MIB);
	sc->l->freeboard_bytes = (struct signed_qty){ 724 * (int64_t)MIB, true };
	return sc;
}

static void set(struct course *sc, enum owner owner, double mib)
{
	int64_t moved = (int64_t)(mib * MIB) - (int64_t)sc->l->lines[owner].bytes.bytes;
	sc->l->listed[owner] = true;
	sc->l->lines[owner].bytes = qty_measured((uint64_t)(mib * MIB));
	if (owner >= OWNER_ROCKSDB_BLOCK_CACHE && owner <= OWNER_NATIVE_OTHER)
		sc->l->native_pool_bytes.bytes += (uint64_t)moved;
	sc->l->floor_bytes.bytes += (uint64_t)moved;
	sc->l->freeboard_bytes.bytes -= moved;
}

/* When the forecast first said who, and how far off it was then; 0: never while there was room. */
struct told {
	double left_s, said_s;
	int owner;
};

/* `step` moves the figures to what they are `s` seconds after the start. */
static struct told follow(struct course *sc, void (*step)(struct course *, double s), double pace_mib_s)
{
	struct told told = { .owner = -1 };
	for (int s = 0; sc->l->freeboard_bytes.bytes > 0 && s < 3600; s += 5, sc->now_s += 5) {
		step(sc, s);
		if (s % SCAN_S == 0)
			scan(sc);
		else
			tick(sc);
		const struct forecast *f = &look(sc)->forecast;
		if (f->kind != FORECAST_REACHES || told.owner >= 0)
			continue;
		told.owner = f->owner;
		told.said_s = (double)f->likely_s;
		told.left_s = (double)sc->l->freeboard_bytes.bytes / MIB / pace_mib_s;
	}
	return told;
}

#define THREE_PERCENT (1024 * 0.03 / 60) /* of the limit, in MiB a second */
#define TEN_PERCENT   (1024 * 0.1 / 60)

static void leaks_slowly(struct course *sc, double s)
{
	set(sc, OWNER_NATIVE_OTHER, 50 + THREE_PERCENT * s);
}

static void leaks_fast(struct course *sc, double s)
{
	set(sc, OWNER_NATIVE_OTHER, 50 + TEN_PERCENT * s);
}

static void grows_elsewhere(struct course *sc, double s)
{
	set(sc, OWNER_OTHER_PROCESSES, 10 + THREE_PERCENT * s);
}

/* Memtables are claimed in blocks, once a minute, before they are filled; the pool is a line. */
static void trades(struct course *sc, double s)
{
	double pool = 50 + THREE_PERCENT * s, claim = 30.8 * (1 + floor(s / 60)), taken = claim < pool ? claim : pool;
	set(sc, OWNER_ROCKSDB_MEMTABLES, taken);
	set(sc, OWNER_NATIVE_OTHER, pool - taken);
}

/* Managed memory of 230 MiB: what iterators pin passes it. */
static void is_pinned(struct course *sc, double s)
{
	sc->l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound = limit_set(230 * MIB);
	set(sc, OWNER_ROCKSDB_BLOCK_CACHE, 47);
	set(sc, OWNER_ROCKSDB_MEMTABLES, 20 + TEN_PERCENT * s);
}

/* The same within its budget. */
static void fills_its_budget(struct course *sc, double s)
{
	is_pinned(sc, s < 105 ? s : 105);
}

/* Who grows from the start is named while there is time: the figures of part 5, 20 and 3 minutes at 1 and 10 %, between. */
static void a_leak_from_the_start(void **state)
{
	(void)state;
	static const struct {
		void (*step)(struct course *, double);
		double pace_mib_s, left_s;
		int owner;
	} table[] = {
		{ leaks_slowly, THREE_PERCENT, 8.1 * 60, OWNER_NATIVE_OTHER },
		{ leaks_fast, TEN_PERCENT, 3 * 60, OWNER_NATIVE_OTHER },
		{ grows_elsewhere, THREE_PERCENT, 8.1 * 60, OWNER_OTHER_PROCESSES },
		{ trades, THREE_PERCENT, 8.1 * 60, OWNER_ROCKSDB_MEMTABLES },
		{ is_pinned, TEN_PERCENT, 3 * 60, OWNER_ROCKSDB_MEMTABLES },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct course *sc = start();
		struct told told = follow(sc, table[i].step, table[i].pace_mib_s);
		assert_int_equal(told.owner, table[i].owner);
		assert_true(told.left_s >= table[i].left_s);
		assert_true(fabs(told.said_s - told.left_s) < told.left_s / 4);
		end(sc);
	}
}

static void heap_fills(struct course *sc, double s)
{
	double more = 150 * (s < 600 ? s / 600 : 1);
	set(sc, OWNER_JAVA_HEAP, 250 + more);
}

/* Classes are loaded and code is compiled for minutes, ever slower. */
static void warms_up(struct course *sc, double s)
{
	set(sc, OWNER_METASPACE, 20 + 80 * (1 - exp(-s / 120)));
	set(sc, OWNER_NATIVE_OTHER, 50 + 200 * (1 - exp(-s / 90)));
	heap_fills(sc, s);
}

static void steps_up(struct course *sc, double s)
{
	set(sc, OWNER_NATIVE_OTHER, s < 200 ? 50 : 400);
}

/* Two collections of a pod that otherwise stands still, 22 minutes after its start. */
static void steps_up_late(struct course *sc, double s)
{
	set(sc, OWNER_JAVA_HEAP, s < 1330 ? 250 : 290);
	set(sc, OWNER_NATIVE_OTHER, (s < 1410 ? 600 : 680) + s / 2000);
}

/* What a start brings with it is no forecast, in the first minutes and later. */
static void a_start_is_no_leak(void **state)
{
	(void)state;
	void (*const table[])(struct course *, double) = { heap_fills, warms_up, steps_up, steps_up_late,
							   fills_its_budget };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct course *sc = start();
		struct told told = follow(sc, table[i], 1);
		assert_int_equal(told.owner, -1);
		assert_true(look(sc)->forecast.kind == FORECAST_NOT_GROWING ||
			    look(sc)->forecast.kind == FORECAST_DECELERATING);
		end(sc);
	}
}

static int shrink_at_s;

static void leaks_while_the_limit_falls(struct course *sc, double s)
{
	set(sc, OWNER_NATIVE_OTHER, 50 + 0.1 * s);
	if (s == shrink_at_s) {
		sc->l->limit = limit_set(500 * MIB);
		sc->l->freeboard_bytes.bytes -= 524 * (int64_t)MIB;
	}
}

/* The pace of before goes on below another limit: within a minute of the change. */
static void a_limit_that_is_lowered(void **state)
{
	(void)state;
	struct course *sc = start();
	shrink_at_s = 1200;
	double left_s = (500 - 300 - 120) / 0.1;
	struct told told = follow(sc, leaks_while_the_limit_falls, 0.1);
	assert_int_equal(told.owner, OWNER_NATIVE_OTHER);
	assert_true(told.left_s >= left_s - 60 && told.left_s <= left_s);
	end(sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leak_from_the_start),
		cmocka_unit_test(a_start_is_no_leak),
		cmocka_unit_test(a_limit_that_is_lowered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
