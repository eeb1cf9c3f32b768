/* SPDX-License-Identifier: Apache-2.0 */
/* Events in the store: once each, found again by kind, and gone when they are old. */
#include "collector/store_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "support/scratch.h"
#include "support/storekit.h"

#define DAY_MS   INT64_C(86400000)
#define START_MS INT64_C(1700000000000)

static const struct wall t0 = { START_MS };

struct fixture {
	struct scratch scratch;
	struct store *store;
	int64_t agent;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct wire_hello hello = storekit_hello(1);
	f = (struct fixture){ .scratch = scratch_new() };
	OK(store_open(f.scratch.path, NULL, &f.store, err));
	OK(store_begin(f.store, err));
	OK(store_agent(f.store, "a", &hello, t0, &f.agent, err));
	OK(store_commit(f.store, err));
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf report = { .cap = 65536 };
	struct err why = { 0 };
	store_close(f->store);
	if (store_check(f->scratch.path, &report, &why) < 0)
		fail_msg("%s\n%s", why.message, report.ptr);
	scratch_done(&f->scratch);
	return 0;
}

static void put(struct fixture *f, enum event_kind kind, int64_t at_ms, int64_t value, int64_t before)
{
	const struct event event = { kind, { START_MS + at_ms }, value, before };
	OK(store_begin(f->store, err));
	OK(store_event(f->store, f->agent, &event, (struct wall){ START_MS + 400 * DAY_MS }, err));
	OK(store_commit(f->store, err));
}

static bool note(void *context, const struct event_mark *mark)
{
	struct buf *line = context;
	(void)buf_printf(line, "%d%s@%lld(%lld %lld) ", (int)mark->kind, mark->is_end ? "e" : "",
			 (long long)(mark->at.ms - START_MS), (long long)mark->value, (long long)mark->before);
	return true;
}

static const char *between(struct fixture *f, int64_t from_ms, int64_t to_ms)
{
	static char text[4096];
	auto_buf struct buf line = { .cap = sizeof text - 1 };
	OK(store_each_event(f->store, f->agent, (struct wall){ START_MS + from_ms }, (struct wall){ START_MS + to_ms },
			    note, &line, err));
	str_copy(text, sizeof text, buf_str(&line));
	return text;
}

static void once_each(void **state)
{
	struct fixture *f = *state;
	put(f, HAPPENED_LIMIT, 10, 5, 4);
	put(f, HAPPENED_LIMIT, 10, 5, 4);
	put(f, HAPPENED_JVM_SEEN, 10, 7, 9); /* not shown */
	put(f, HAPPENED_CHECKPOINT, 20, 0, 0);
	put(f, HAPPENED_OOM_KILL, 25, 1, 0);
	assert_string_equal(between(f, 0, 100), "2@10(5 4) 3@20(0 0) 8@25(1 0) ");
	put(f, HAPPENED_CHECKPOINT, 20, 30, 0); /* it has ended */
	put(f, HAPPENED_CHECKPOINT, 20, 0, 0);  /* told again by whom was not heard: it still has */
	assert_string_equal(between(f, 0, 100), "2@10(5 4) 3@20(30 0) 8@25(1 0) 3e@50(30 0) ");
	/* Its end alone, its start alone, and the edges of the range. */
	assert_string_equal(between(f, 26, 51), "3e@50(30 0) ");
	assert_string_equal(between(f, 20, 25), "3@20(30 0) ");
	assert_string_equal(between(f, 26, 50), "");
}

static void the_last_of_a_kind(void **state)
{
	struct fixture *f = *state;
	struct event last = { .value = 77 };
	bool found = true;
	OK(store_event_last(f->store, f->agent, HAPPENED_JVM_START, &last, &found, err));
	assert_false(found);
	assert_int_equal(last.value, 77);
	put(f, HAPPENED_JVM_START, 30, 8, 80);
	put(f, HAPPENED_JVM_START, 20, 7, 70);
	put(f, HAPPENED_JVM_END, 40, 8, 0);
	OK(store_event_last(f->store, f->agent, HAPPENED_JVM_START, &last, &found, err));
	assert_true(found);
	assert_int_equal(last.at.ms - START_MS, 30);
	assert_int_equal(last.value, 8);
	assert_int_equal(last.before, 80);
}

static void found_again(void **state)
{
	struct fixture *f = *state;
	put(f, HAPPENED_AGENT_LOST, 10, 0, 0);
	put(f, HAPPENED_AGENT_LOST, 90, 0, 0);
	put(f, HAPPENED_AGENT_BYE, 95, 0, 0);
	OK(store_begin(f->store, err));
	OK(store_event_found(f->store, f->agent, (struct wall){ START_MS + 90 }, err));
	OK(store_event_found(f->store, f->agent + 1, (struct wall){ START_MS }, err));
	OK(store_commit(f->store, err));
	assert_string_equal(between(f, 0, 100), "6@10(0 0) 7@95(0 0) ");
}

/* Of a clock that is ahead, and of one that says nothing. */
static void dated_by_what_was_heard(void **state)
{
	struct fixture *f = *state;
	static const int64_t said[] = { START_MS + 5000, 0, START_MS - 5 };
	OK(store_begin(f->store, err));
	for (size_t i = 0; i < 3; i++) {
		const struct event event = { (enum event_kind)(HAPPENED_AGENT_START + i), { said[i] }, 0, 0 };
		OK(store_event(f->store, f->agent, &event, t0, err));
	}
	OK(store_commit(f->store, err));
	assert_string_equal(between(f, -10, 10000), "7@-5(0 0) 5@0(0 0) 6@0(0 0) ");
}

static void keep(struct fixture *f, int64_t now_ms)
{
	bool more = true;
	for (unsigned i = 0; more && i < 1000; i++)
		OK(store_keep(f->store, (struct wall){ START_MS + now_ms }, &more, err));
	assert_false(more);
}

/* Checkpoints go with the samples, the others with the minutes. */
static void old_ones_go(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 250; i++)
		put(f, HAPPENED_CHECKPOINT, i, 1000, 0);
	put(f, HAPPENED_CHECKPOINT, DAY_MS, 0, 0);
	put(f, HAPPENED_LIMIT, 5, 5, 4);
	put(f, HAPPENED_LIMIT, DAY_MS, 6, 5);
	keep(f, 2 * DAY_MS + 1000);
	assert_string_equal(between(f, 0, 2 * DAY_MS), "2@5(5 4) 2@86400000(6 5) 3@86400000(0 0) ");
	keep(f, 30 * DAY_MS + 10);
	assert_string_equal(between(f, 0, 2 * DAY_MS), "2@86400000(6 5) ");
	/* An agent stays while there is something of it. */
	keep(f, 390 * DAY_MS);
	struct store_counts counts;
	OK(store_count(f->store, &counts, err));
	assert_int_equal(counts.n_agents, 0);
	assert_string_equal(between(f, 0, 2 * DAY_MS), "");
}

/* What docs/store.md says of their size: checkpoints are the many. */
static void a_checkpoint_is_small(void **state)
{
	enum { N = 20000 };
	struct fixture *f = *state;
	struct store_counts before, after;
	OK(store_count(f->store, &before, err));
	OK(store_begin(f->store, err));
	for (int64_t i = 0; i < N; i++) {
		struct event event = { HAPPENED_CHECKPOINT, { START_MS + i * 60000 }, 0, 0 };
		OK(store_event(f->store, f->agent, &event, (struct wall){ START_MS + 400 * DAY_MS }, err));
		event.value = 4321;
		OK(store_event(f->store, f->agent, &event, (struct wall){ START_MS + 400 * DAY_MS }, err));
	}
	OK(store_commit(f->store, err));
	OK(store_count(f->store, &after, err));
	uint64_t each = (after.used_bytes - before.used_bytes) / N;
	print_message("# %llu bytes a checkpoint\n", (unsigned long long)each);
	assert_in_range(each, 10, 80);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(once_each),   WITH(the_last_of_a_kind),    WITH(found_again), WITH(dated_by_what_was_heard),
		WITH(old_ones_go), WITH(a_checkpoint_is_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
