/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes went with a kill that the watched process survived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/killed.h"
#include "support/snap.h"

enum { UNREAD = -1 };

/* A tick: the count, and where the books were closed what two owners hold, MiB. */
static void step(struct killed *killed, int oom_kill, int heap, int others)
{
	static struct ledger ledger;
	struct cgroup_events events = { 0 };
	if (oom_kill != UNREAD)
		events.oom_kill = count_of((uint64_t)oom_kill);
	ledger.lines[OWNER_JAVA_HEAP].bytes = qty_measured((uint64_t)heap * MIB);
	ledger.lines[OWNER_OTHER_PROCESSES].bytes = qty_measured((uint64_t)others * MIB);
	killed_step(killed, &events, &ledger, heap > 0);
}

static void a_worker_was_killed(void **state)
{
	(void)state;
	struct killed killed = { 0 };
	step(&killed, 2, 100, 200);
	step(&killed, 2, 110, 300); /* the last scan before it */
	step(&killed, 3, 0, 0);     /* seen at a tick without a scan */
	assert_false(killed.known);
	step(&killed, 3, 100, 1);
	assert_true(killed.known);
	assert_int_equal(killed.owner, OWNER_OTHER_PROCESSES);
	assert_int_equal(killed.fell_bytes, 299 * MIB);
	/* What falls later did not go with it. */
	step(&killed, 3, 10, 1);
	assert_int_equal(killed.owner, OWNER_OTHER_PROCESSES);
	/* The next one is another one. */
	step(&killed, 4, 4, 1);
	assert_int_equal(killed.owner, OWNER_JAVA_HEAP);
	assert_int_equal(killed.fell_bytes, 6 * MIB);
}

static void nothing_is_made_up(void **state)
{
	(void)state;
	struct killed killed = { 0 };
	step(&killed, 7, 100, 300); /* killed before we came */
	step(&killed, 7, 100, 1);
	assert_false(killed.known);
	step(&killed, 8, 100, 1); /* nobody fell */
	assert_false(killed.known);
	step(&killed, UNREAD, 100, 300);
	step(&killed, 9, 100, 1); /* whether it rose is not known */
	assert_false(killed.known);
	struct killed first = { 0 };
	step(&first, 0, 0, 0);
	step(&first, 1, 100, 300); /* no scan before it */
	step(&first, 1, 100, 1);
	assert_false(first.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_was_killed),
		cmocka_unit_test(nothing_is_made_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
