/* SPDX-License-Identifier: Apache-2.0 */
/* A tick as a message, and when it is urgent. */
#include "agent/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "agent/scan.h"
#include "support/snap.h"

static struct snapshot *s;
static struct ledger *ledger;
static struct urgency urgency;
static bool first;

static int set_up(void **state)
{
	(void)state;
	s = snap_new(&snap_plain);
	ledger = snap_ledger(s);
	memset(&urgency, 0, sizeof urgency);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snap_free(s);
	free(ledger);
	return 0;
}

/* One step with this freeboard, in percent of a limit of 1 GiB, and this many max events so far. */
static bool step(unsigned second, int percent, uint64_t max)
{
	ledger->limit = limit_set(GIB);
	ledger->freeboard_bytes = (struct signed_qty){ (int64_t)GIB / 100 * percent + 1000, true };
	s->cgroup.events.max = count_of(max);
	return urgency_step(&urgency, (struct mono){ (uint64_t)second * 1000000000 }, s, ledger, &first);
}

static void near_the_limit_is_urgent_until_well_away(void **state)
{
	(void)state;
	assert_false(step(1, 10, 0));
	assert_false(step(2, 3, 0));
	assert_true(step(3, 2, 0));
	assert_true(first);
	assert_true(step(4, 4, 0));
	assert_false(first); /* once an episode */
	assert_false(step(5, 6, 0));
	assert_false(step(6, 4, 0));
	assert_true(step(7, -5, 0));
	assert_true(first);
	assert_int_equal(urgency.begun_total, 2);
}

static void near_the_pods_limit_is_urgent_too(void **state)
{
	(void)state;
	ledger->freeboard_level = FREEBOARD_POD;
	s->pod_limit = limit_set(GIB);
	assert_false(step(1, 10, 0));
	ledger->limit = (struct limit){ .kind = LIMIT_NONE };
	ledger->freeboard_bytes.bytes = (int64_t)GIB / 100;
	assert_true(urgency_step(&urgency, (struct mono){ 2000000000 }, s, ledger, &first));
	assert_true(first);
}

static void the_first_max_event_is_urgent_for_a_minute(void **state)
{
	(void)state;
	assert_false(step(1, 50, 700)); /* counted before we came */
	assert_true(step(2, 50, 701));
	assert_true(first);
	assert_true(step(61, 50, 701));
	assert_false(step(63, 50, 701));
}

/* Page cache at the limit counts all day. */
static void a_healthy_pod_at_its_limit_is_calm(void **state)
{
	(void)state;
	uint64_t max = 0;
	(void)step(1, 40, max);
	unsigned urgent = 0;
	for (unsigned second = 2; second < 3600; second++)
		urgent += step(second, 40, ++max);
	assert_in_range(urgent, 1, 70);
	/* But not where there is little room. */
	assert_true(step(3600, 8, ++max));
	assert_true(first);
}

static void an_unknown_freeboard_is_no_reason_to_be_calm(void **state)
{
	(void)state;
	ledger->limit = (struct limit){ 0 };
	ledger->freeboard_bytes = (struct signed_qty){ 0 };
	s->cgroup.events.max = count_of(1);
	assert_false(urgency_step(&urgency, (struct mono){ 1 }, s, ledger, &first));
	s->cgroup.events.max = count_of(2);
	assert_true(urgency_step(&urgency, (struct mono){ 2 }, s, ledger, &first));
	s->cgroup.events.max = (struct count){ 0 };
	assert_false(urgency_step(&urgency, (struct mono){ 200000000000 }, s, ledger, &first));
}

static void a_sample_holds_what_is_known(void **state)
{
	(void)state;
	struct aged_mark mark;
	struct wire_sample sample;
	s->cgroup.events.oom_kill = count_of(2);
	s->cgroup.pressure.full = (struct cgroup_pressure_line){ .avg10_bp = 1234, .known = true };
	s->cgroup.pressure.some = (struct cgroup_pressure_line){ 0 };
	aged_keep(s, ledger, &mark);
	struct sample_input input = { .snapshot = s,
				      .ledger = ledger,
				      .mark = &mark,
				      .scan_age_ms = 7000,
				      .interval_ms = 5000,
				      .mono_ms = 99,
				      .wall = { 1000 } };
	sample_make(&input, &sample);
	assert_int_equal(sample.pid, s->process.pid);
	assert_int_equal(sample.head.mono_ms, 99);
	assert_int_equal(sample.interval_ms, 5000);
	assert_int_equal(sample.floor_bytes.bytes, ledger->floor_bytes.bytes);
	assert_int_equal(sample.groups[GROUP_ANON].bytes, ledger->groups[GROUP_ANON].counter_bytes.bytes);
	assert_int_equal(sample.events.oom_kill.n, 2);
	assert_int_equal(sample.full_avg10_bp.n, 1234);
	assert_false(sample.some_avg10_bp.known);
	assert_false(sample.has_composition);
	assert_false(qty_known(sample.owners[OWNER_JAVA_HEAP]));
	assert_int_equal(sample.forecast.owner, -1);
	assert_string_equal(sample.forecast.kind, "");
	input.with_composition = true;
	sample_make(&input, &sample);
	assert_true(sample.has_composition);
	assert_int_equal(sample.composition_age_ms, 7000);
	assert_int_equal(sample.owners[OWNER_JAVA_HEAP].bytes, ledger->lines[OWNER_JAVA_HEAP].bytes.bytes);
	mark.known = false; /* none was ever made */
	sample_make(&input, &sample);
	assert_false(sample.has_composition);
}

static void a_forecast_out_of_sight_is_unknown(void **state)
{
	(void)state;
	struct aged_mark mark = { 0 };
	struct wire_sample sample;
	auto_free struct history_view *view = calloc(1, sizeof *view);
	view->forecast = (struct forecast){ .kind = FORECAST_REACHES,
					    .earliest_s = 60,
					    .likely_s = 600,
					    .latest_s = FORECAST_NEVER,
					    .owner = OWNER_NATIVE_OTHER };
	struct sample_input input = { .snapshot = s, .ledger = ledger, .mark = &mark, .history = view };
	sample_make(&input, &sample);
	assert_string_equal(sample.forecast.kind, forecast_kind_names[FORECAST_REACHES]);
	assert_int_equal(sample.forecast.likely_s.n, 600);
	assert_false(sample.forecast.latest_s.known);
	assert_int_equal(sample.forecast.owner, OWNER_NATIVE_OTHER);
}

static void our_own_cpu_is_parsed(void **state)
{
	(void)state;
	uint64_t quota = 7;
	assert_true(own_cpu_parse_max(STR("max 100000\n"), &quota));
	assert_int_equal(quota, 0);
	assert_true(own_cpu_parse_max(STR("5000 100000\n"), &quota));
	assert_int_equal(quota, 5000000);
	assert_false(own_cpu_parse_max(STR(""), &quota));
	assert_false(own_cpu_parse_max(STR("much 100000\n"), &quota));
	assert_false(own_cpu_parse_max(STR("18446744073709551615 100000\n"), &quota));
	struct count n = own_cpu_parse_throttled(STR("usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1\n"));
	assert_true(n.known);
	assert_int_equal(n.n, 4);
	assert_false(own_cpu_parse_throttled(STR("usage_usec 5\n")).known);
}

/* What the lines are compared with: only of owners that there are, and what is unread is said to be. */
static void the_books_come_with_the_composition(void **state)
{
	(void)state;
	struct aged_mark mark;
	struct wire_sample sample;
	ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE] = true;
	ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE] = (struct ledger_line){ .owner = OWNER_ROCKSDB_BLOCK_CACHE,
									 .bound = limit_set(3 * MIB),
									 .claim_bytes = qty_measured(2 * MIB) };
	ledger->listed[OWNER_ROCKSDB_MEMTABLES] = false;
	ledger->lines[OWNER_ROCKSDB_MEMTABLES].bound = limit_set(5);
	ledger->listed[OWNER_METASPACE] = true;
	ledger->lines[OWNER_METASPACE].bound = (struct limit){ .kind = LIMIT_NONE };
	ledger->legal.bytes = qty_of(77, QTY_INFERRED);
	s->engine.backend = BACKEND_HASHMAP;
	s->engine.batch = TRISTATE_FALSE;
	s->engine.gauges.managed_used_bytes = qty_measured(0);
	s->engine.gauges.network_total_bytes = qty_measured(3 * MIB);
	s->engine.flink.network_bytes = qty_measured(4 * MIB);
	s->engine.flink.framework_off_heap_bytes = qty_measured(5 * MIB);
	s->engine.streams.n_instances = count_of(6);
	ledger->n_budgets = 2;
	ledger->budgets[0] =
		(struct ledger_budget){ "managed", 9 * MIB, { 0 }, (uint64_t)3 << OWNER_ROCKSDB_BLOCK_CACHE, NULL };
	ledger->budgets[1] =
		(struct ledger_budget){ "metaspace", MIB, qty_of(8, QTY_DERIVED), 1 << OWNER_METASPACE, "-X" };
	aged_keep(s, ledger, &mark);
	struct sample_input input = { .snapshot = s, .ledger = ledger, .mark = &mark };
	sample_make(&input, &sample);
	assert_false(sample.has_books);
	input.with_composition = true;
	sample_make(&input, &sample);
	const struct wire_books *b = &sample.books;
	assert_true(sample.has_books);
	assert_int_equal(b->bounds[OWNER_ROCKSDB_BLOCK_CACHE].bytes, 3 * MIB);
	assert_int_equal(b->bounds[OWNER_ROCKSDB_MEMTABLES].kind, LIMIT_UNREAD);
	assert_int_equal(b->bounds[OWNER_METASPACE].kind, LIMIT_NONE);
	assert_int_equal(b->claims[OWNER_ROCKSDB_BLOCK_CACHE].bytes, 2 * MIB);
	assert_true(b->unread >> OWNER_ROCKSDB_BLOCK_CACHE & 1);
	assert_false(b->unread >> OWNER_ROCKSDB_MEMTABLES & 1);
	assert_int_equal(b->legal_bytes.bytes, 77);
	assert_int_equal(b->legal_bytes.state, QTY_INFERRED);
	assert_int_equal(b->n_budgets, 2);
	assert_string_equal(b->budgets[0].name, "managed");
	assert_int_equal(b->budgets[0].bytes.bytes, 9 * MIB);
	assert_false(qty_known(b->budgets[0].used_bytes));
	assert_true(b->budgets[0].owners == (uint64_t)1 << OWNER_ROCKSDB_BLOCK_CACHE);
	assert_int_equal(b->budgets[1].used_bytes.bytes, 8);
	assert_int_equal(b->engine.backend, BACKEND_HASHMAP);
	assert_int_equal(b->engine.batch, TRISTATE_FALSE);
	assert_int_equal(b->engine.python, TRISTATE_UNREAD);
	assert_true(qty_known(b->engine.managed_reserved_bytes) && b->engine.managed_reserved_bytes.bytes == 0);
	assert_int_equal(b->engine.network_pool_bytes.bytes, 3 * MIB);
	assert_int_equal(b->engine.network_bytes.bytes, 4 * MIB);
	assert_int_equal(b->engine.framework_off_heap_bytes.bytes, 5 * MIB);
	assert_false(qty_known(b->engine.task_off_heap_bytes));
	assert_int_equal(b->engine.streams_instances.n, 6);
}

static bool told(struct books_told *lately, uint64_t second, bool anew, const struct wire_sample *full)
{
	struct wire_sample sample = *full;
	sample.head.mono_ms = second * 1000;
	sample_thin(lately, anew, &sample);
	assert_true(sample.has_books == (sample.books.n_budgets > 0)); /* not told is not there */
	return sample.has_books;
}

static void books_are_told_again_when_they_must(void **state)
{
	(void)state;
	struct books_told lately = { 0 };
	struct wire_sample full = { .pid = 7, .start_ticks = 1, .has_composition = true, .has_books = true };
	full.books.n_budgets = 1;
	full.books.budgets[0] = (struct wire_budget){ "heap", qty_measured(1), qty_measured(1), 1 };
	assert_true(told(&lately, 10, false, &full)); /* the first */
	assert_false(told(&lately, 11, false, &full));
	full.books.claims[3] = qty_measured(9); /* what moves all the time is no reason */
	full.books.budgets[0].used_bytes = qty_measured(2);
	full.books.bounds[3] = limit_set(1);
	assert_true(told(&lately, 12, false, &full));
	full.books.bounds[3] = limit_set(2);
	full.books.budgets[0].used_bytes = qty_measured(3);
	assert_false(told(&lately, 13, false, &full));
	assert_true(told(&lately, 14, true, &full)); /* another session */
	full.books.budgets[0].bytes = qty_measured(2);
	assert_true(told(&lately, 15, false, &full));
	full.books.engine.managed_reserved_bytes = qty_measured(0);
	full.books.engine.backend = BACKEND_HASHMAP;
	assert_true(told(&lately, 15, false, &full));
	assert_false(told(&lately, 15, false, &full));
	full.books.engine.managed_reserved_bytes = qty_measured(5); /* somebody takes it now */
	assert_true(told(&lately, 15, false, &full));
	full.books.engine.managed_reserved_bytes = qty_measured(6); /* and moves all the time */
	assert_false(told(&lately, 15, false, &full));
	full.books.unread = 4;
	assert_true(told(&lately, 16, false, &full));
	full.start_ticks = 2;
	assert_true(told(&lately, 17, false, &full));
	assert_false(told(&lately, 17 + 299, false, &full));
	assert_true(told(&lately, 17 + 300, false, &full));
	full.has_composition = full.has_books = false;
	full.books.n_budgets = 0;
	assert_false(told(&lately, 9999, true, &full));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(near_the_limit_is_urgent_until_well_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(near_the_pods_limit_is_urgent_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_max_event_is_urgent_for_a_minute, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_healthy_pod_at_its_limit_is_calm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_unknown_freeboard_is_no_reason_to_be_calm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sample_holds_what_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_books_come_with_the_composition, set_up, tear_down),
		cmocka_unit_test(books_are_told_again_when_they_must),
		cmocka_unit_test_setup_teardown(a_forecast_out_of_sight_is_unknown, set_up, tear_down),
		cmocka_unit_test(our_own_cpu_is_parsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
