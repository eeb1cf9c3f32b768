/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is fed, at whatever times: what history says stays within what can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "ledger/history.h"
#include "ledger/reconcile.h"
#include "support/chaos.h"
#include "support/prng.h"
#include "support/snap.h"

#define CHECK(what)                                               \
	do {                                                      \
		if (!(what))                                      \
			fail_msg("step %d: " #what, step_number); \
	} while (0)

static int step_number;

static void sound(const struct history_view *v)
{
	const struct forecast *f = &v->forecast;
	CHECK(f->earliest_s <= f->likely_s && f->likely_s <= f->latest_s);
	CHECK(f->kind != FORECAST_REACHES || f->likely_s <= FORECAST_HORIZON_S);
	CHECK(f->owner >= -1 && f->owner < OWNER_COUNT);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct trend *t = &v->owners[owner];
		CHECK(t->kind < TREND_KIND_COUNT);
		CHECK(t->kind != TREND_GROWING || t->slope > 0);
	}
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
		CHECK(v->steps[kind].n <= STEP_EVENTS_MAX);
		CHECK(v->steps_share_bp[kind] <= 10000);
		CHECK(!v->steps[kind].alike || v->steps[kind].n >= 3);
	}
	CHECK(!v->cache_miss_bp.known || v->cache_miss_bp.n <= 10000);
	CHECK(v->settling_s <= 3601);
}

/* The time to the next tick: mostly some seconds, sometimes none, hours, or far too long. */
static uint64_t pause_ns(struct prng *prng)
{
	if (prng_one_in(prng, 200))
		return prng_below(prng, 86400) * 1000000000;
	return prng_one_in(prng, 10) ? 0 : prng_below(prng, 90) * 1000000000;
}

static void events(struct prng *prng, struct engine_context *context)
{
	context->restarts = prng_one_in(prng, 20) ? (struct count){ 0 } : count_of(context->restarts.n);
	if (prng_one_in(prng, 30))
		context->restarts = count_of(prng_below(prng, 50));
	context->rebalancing = (enum tristate)prng_below(prng, 3);
	context->restoring = prng_one_in(prng, 50) ? TRISTATE_TRUE : TRISTATE_FALSE;
	context->checkpointing = (enum tristate)prng_below(prng, 3);
}

static void history_stays_sound(void **state)
{
	(void)state;
	struct prng prng = prng_start("history_stays_sound");
	struct ledger *l = malloc(sizeof *l);
	struct history *history = malloc(history_size());
	static struct trend_space space;
	static struct history_view view;
	struct engine_context context = { 0 };
	struct mono now = { prng_below(&prng, UINT64_MAX / 4) };
	struct snapshot *s = snap_new(&snap_crowded);
	history_start(history);
	for (step_number = 0; step_number < 6000; step_number++) {
		if (prng_one_in(&prng, 100)) { /* another snapshot, as wild as it may be */
			snap_free(s);
			s = prng_one_in(&prng, 2) ? chaos_new(&prng, prng_one_in(&prng, 2)) : snap_new(&snap_crowded);
			s->process.start_ticks = prng_one_in(&prng, 4) ? prng_u64(&prng) : 1000;
		}
		if (prng_one_in(&prng, 20))
			s->cgroup.max = limit_set(prng_size(&prng, true));
		s->status.n_threads = count_of(prng_below(&prng, 1000));
		s->cgroup.stat.workingset_refault_file = count_of(prng_below(&prng, 1 << 20));
		s->engine.rocksdb.cache_hits = count_of(prng_size(&prng, true));
		s->engine.rocksdb.cache_misses = count_of(prng_size(&prng, true));
		s->engine.gauges.metaspace_used_bytes =
			prng_one_in(&prng, 3) ? (struct qty){ 0 } : qty_measured(prng_size(&prng, true));
		s->metrics_read = prng_one_in(&prng, 2);
		events(&prng, &context);
		recon_run(s, l);
		if (prng_one_in(&prng, 4))
			l->lines[prng_below(&prng, OWNER_COUNT)].bytes = qty_measured(prng_size(&prng, true));
		history_tick(history, now, s, l, &context);
		if (prng_one_in(&prng, 3))
			history_scan(history, now, s, l);
		if (prng_one_in(&prng, 3)) {
			history_look(history, now, s, l, &space, &view);
			sound(&view);
		}
		now.ns += pause_ns(&prng);
	}
	snap_free(s);
	free(history);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(history_stays_sound) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
