/* SPDX-License-Identifier: Apache-2.0 */
/* Books between two scans: who owned what at the scan, what is charged now. */
#include "ledger/aged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ledger/reconcile.h"
#include "support/lines.h"

static struct snapshot *s;
static struct ledger *now;
static struct aged_mark mark;

static int set_up(void **state)
{
	(void)state;
	s = snap_new(&snap_plain);
	s->cgroup.max = limit_set(2 * GIB);
	now = snap_ledger(s);
	memset(&mark, 0, sizeof mark);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snap_free(s);
	free(now);
	return 0;
}

static void grow_anon(uint64_t bytes)
{
	s->cgroup.stat.anon_bytes.bytes += bytes;
	s->cgroup.stat.inactive_anon_bytes.bytes += bytes;
	s->cgroup.current_bytes.bytes += bytes;
	s->cgroup.current_after_bytes = s->cgroup.current_bytes;
}

static void growth_is_nobodys_until_the_next_scan(void **state)
{
	(void)state;
	aged_keep(s, now, &mark);
	struct ledger scan = *now;
	grow_anon(64 * MIB);
	recon_run(s, now);
	/* Old mappings against new counters do not fit together. */
	assert_false(now->groups[GROUP_ANON].closed);
	aged_apply(&mark, s, 5000, now);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		assert_int_equal(now->lines[owner].bytes.bytes, scan.lines[owner].bytes.bytes);
		assert_int_equal(now->lines[owner].age_ms, 5000);
		assert_int_equal(now->listed[owner], scan.listed[owner]);
	}
	assert_int_equal(now->floor_bytes.bytes, scan.floor_bytes.bytes + 64 * MIB);
	assert_int_equal(now->freeboard_bytes.bytes, scan.freeboard_bytes.bytes - 64 * (int64_t)MIB);
	assert_int_equal(now->charge_bytes.bytes, scan.charge_bytes.bytes + 64 * MIB);
	assert_int_equal(now->groups[GROUP_ANON].counter_bytes.bytes,
			 scan.groups[GROUP_ANON].counter_bytes.bytes + 64 * MIB);
	assert_true(now->groups[GROUP_ANON].closed);
	assert_int_equal(now->residual_bytes.bytes, scan.residual_bytes.bytes);
	struct signed_qty grown[GROUP_COUNT];
	aged_grown(&mark, now, grown);
	assert_true(grown[GROUP_ANON].known);
	assert_int_equal(grown[GROUP_ANON].bytes, 64 * (int64_t)MIB);
	assert_true(grown[GROUP_FILE].known);
	assert_int_equal(grown[GROUP_FILE].bytes, 0);
	assert_false(grown[GROUP_HUGETLB].known);
}

/* A scan that is refused for ever leaves no line that passes for measured. */
static void what_is_old_is_derived(void **state)
{
	(void)state;
	size_t measured = 0;
	aged_keep(s, now, &mark);
	struct ledger scan = *now;
	for (unsigned i = 0; i < 2; i++) {
		recon_run(s, now);
		aged_apply(&mark, s, i ? AGED_DERIVED_MS + 1 : AGED_DERIVED_MS, now);
		for (int owner = 0; owner < OWNER_COUNT; owner++) {
			enum qty_state was = scan.lines[owner].bytes.state;
			bool turns = i && was == QTY_MEASURED;
			measured += turns;
			assert_int_equal(now->lines[owner].bytes.state, turns ? QTY_DERIVED : was);
			assert_int_equal(now->lines[owner].bytes.bytes, scan.lines[owner].bytes.bytes);
		}
	}
	assert_true(measured > 0);
}

static void without_a_scan_nothing_is_put_in_place(void **state)
{
	(void)state;
	struct ledger before = *now;
	struct signed_qty grown[GROUP_COUNT];
	aged_apply(&mark, s, 5000, now);
	assert_memory_equal(&before, now, sizeof before);
	aged_grown(&mark, now, grown);
	assert_false(grown[GROUP_ANON].known);
}

/* No cgroup: what the process' own counter has moved since the scan. */
static void without_a_cgroup_the_floor_moves_with_the_process(void **state)
{
	(void)state;
	snap_no_cgroup(s);
	s->told_limit = limit_set(2 * GIB);
	s->status.rss_anon_bytes = qty_measured(790 * MIB); /* some MiB low, as it is */
	recon_run(s, now);
	assert_int_equal(now->freeboard_level, FREEBOARD_PROCESSES);
	aged_keep(s, now, &mark);
	struct ledger scan = *now;
	s->status.rss_anon_bytes.bytes += 32 * MIB;
	recon_run(s, now);
	aged_apply(&mark, s, 1000, now);
	assert_int_equal(now->floor_bytes.bytes, scan.floor_bytes.bytes + 32 * MIB);
	assert_int_equal(now->floor_bytes.state, QTY_INFERRED);
	assert_int_equal(now->freeboard_bytes.bytes, scan.freeboard_bytes.bytes - 32 * (int64_t)MIB);
	/* And down again. */
	s->status.rss_anon_bytes.bytes -= 100 * MIB;
	recon_run(s, now);
	aged_apply(&mark, s, 1000, now);
	assert_int_equal(now->floor_bytes.bytes, scan.floor_bytes.bytes - 68 * MIB);
	/* A status that could not be read moves nothing. */
	s->status.rss_anon_bytes = (struct qty){ 0 };
	recon_run(s, now);
	aged_apply(&mark, s, 1000, now);
	assert_int_equal(now->floor_bytes.bytes, scan.floor_bytes.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(growth_is_nobodys_until_the_next_scan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_old_is_derived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_scan_nothing_is_put_in_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_cgroup_the_floor_moves_with_the_process, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
