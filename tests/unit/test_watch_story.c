/* SPDX-License-Identifier: Apache-2.0 */
/* What has moved and what has happened, from one reading to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "support/watchkit.h"

static struct story *story;

static int set_up(void **state)
{
	(void)state;
	story = calloc(1, sizeof *story);
	return !story;
}

static int tear_down(void **state)
{
	(void)state;
	free(story);
	return 0;
}

static void feed(const struct snapshot *s, unsigned second)
{
	struct reading *r = watchkit_reading(s, NULL, second);
	story_feed(story, r);
	free(r);
}

static bool told(const char *part)
{
	const struct story_event *event;
	for (size_t i = 0; (event = story_event(story, i)); i++)
		if (strstr(event->text, part))
			return true;
	return false;
}

static void it_moves(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	struct reading *r = NULL;
	for (unsigned second = 0; second <= 120; second += 10, shape.heap += 1) {
		struct snapshot *s = snap_new(&shape);
		free(r);
		r = watchkit_reading(s, NULL, second);
		story_feed(story, r);
		struct signed_qty since = story_since_start(story, r, OWNER_JAVA_HEAP);
		struct signed_qty minute = story_last_minute(story, r, OWNER_JAVA_HEAP);
		assert_true(since.known);
		assert_int_equal(since.bytes, (int64_t)(second / 10) * MIB);
		/* Before there is a minute nothing is said of it. */
		assert_int_equal(minute.known, second >= 50);
		if (second >= 60)
			assert_int_equal(minute.bytes, 6 * MIB);
		snap_free(s);
	}
	assert_int_equal(story_since_start(story, r, STORY_FLOOR).bytes, 12 * MIB);
	assert_false(story_since_start(story, r, OWNER_HUGETLB).known);
	free(r);
}

/* It shrinks, and one that could not be read at first begins when it can. */
static void unread_is_not_zero(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	struct snapshot *s = snap_new(&shape);
	struct reading *r = watchkit_reading(s, NULL, 0);
	r->ledger.lines[OWNER_JAVA_HEAP].bytes = (struct qty){ 0 };
	story_feed(story, r);
	assert_false(story_since_start(story, r, OWNER_JAVA_HEAP).known);
	free(r);
	feed(s, 10);
	snap_free(s);
	shape.heap -= 5;
	s = snap_new(&shape);
	r = watchkit_reading(s, NULL, 20);
	story_feed(story, r);
	assert_int_equal(story_since_start(story, r, OWNER_JAVA_HEAP).bytes, -5 * MIB);
	free(r);
	snap_free(s);
}

static void events(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.max = limit_set(2 * GIB);
	s->cgroup.events.oom_kill = count_of(3);
	feed(s, 0);
	assert_true(told("watching process 42"));
	size_t before = story->n_events;
	feed(s, 2);
	assert_int_equal(story->n_events, before); /* nothing has happened */
	s->cgroup.max = limit_set(3 * GIB);
	feed(s, 4);
	assert_true(told("the limit was changed from 2.00 GiB to 3.00 GiB"));
	s->cgroup.max = (struct limit){ 0 };
	feed(s, 6);
	assert_false(told("to unread"));
	s->cgroup.max = limit_set(3 * GIB);
	feed(s, 8);
	assert_false(told("from unread"));
	s->cgroup.events.oom_kill = count_of(4);
	feed(s, 10);
	assert_true(told("oom_kill (3 to 4)"));
	feed(NULL, 12);
	assert_true(told("process 42 has ended"));
	before = story->n_events;
	feed(NULL, 14);
	assert_int_equal(story->n_events, before);
	s->process.pid = 77;
	s->cgroup.events.oom_kill = count_of(0); /* another container's */
	feed(s, 16);
	assert_true(told("another one: process 77"));
	snap_free(s);
}

/* A pid that is used again, between two readings. */
static void another_life_of_one_number(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	feed(s, 0);
	s->process.start_ticks += 100;
	feed(s, 2);
	assert_true(told("process 42 has ended"));
	assert_true(told("another one: process 42"));
	snap_free(s);
}

static void findings_open_and_clear(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.max = limit_set(860 * MIB);
	feed(s, 0);
	assert_true(told("freeboard-low: "));
	s->cgroup.max = limit_set(8 * GIB);
	feed(s, 2);
	assert_true(told("freeboard-low is no longer so"));
	snap_free(s);
}

static void the_oldest_events_go(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * STORY_EVENTS_MAX; i++)
		story_tell(story, (struct wall){ i }, SEVERITY_NONE, "event %d", i);
	assert_int_equal(story->n_events, STORY_EVENTS_MAX);
	assert_string_equal(story_event(story, 0)->text, "event 299");
	assert_string_equal(story_event(story, STORY_EVENTS_MAX - 1)->text, "event 200");
	assert_null(story_event(story, STORY_EVENTS_MAX));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(it_moves),
					    TEST(unread_is_not_zero),
					    TEST(events),
					    TEST(another_life_of_one_number),
					    TEST(findings_open_and_clear),
					    TEST(the_oldest_events_go) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
