/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an alert, and what each receiver is told of it, against a clock that the test moves. */
#include "collector/alert_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/alertkit.h"

enum { S = 1000, MIN = 60 * S };
#define NONE     SEVERITY_NONE
#define WARNING  SEVERITY_WARNING
#define CRITICAL SEVERITY_CRITICAL

struct desk {
	struct alertconf *conf;
	struct alert_book book;
	int64_t row, now_ms;
	char lines[1024];
};

static void open_desk(struct desk *desk, const char *text)
{
	struct err err = { 0 };
	*desk = (struct desk){ .conf = alertkit_conf(text) };
	assert_int_equal(alert_book_init(&desk->book, desk->conf, &err), 0);
}

static void close_desk(struct desk *desk)
{
	alert_book_done(&desk->book);
	alertconf_free(desk->conf);
}

/* One workload "w" and rule "r", at this severity or not found at all. */
static void look(struct desk *desk, int64_t at_ms, enum severity severity)
{
	const struct alert_group group = alertkit_group("w", "r", severity, 3);
	struct err err = { 0 };
	desk->now_ms = at_ms;
	assert_int_equal(alert_book_look(&desk->book, &group, severity == NONE ? 0 : 1, alertkit_mono(at_ms),
					 alertkit_wall(at_ms), &err),
			 0);
	alertkit_save(&desk->book, at_ms, &desk->row);
}

static void told(struct desk *desk, unsigned receiver, const char *expected)
{
	alertkit_save(&desk->book, desk->now_ms, &desk->row);
	alertkit_tell(&desk->book, receiver, desk->now_ms, desk->lines, sizeof desk->lines);
	assert_string_equal(desk->lines, expected);
	alertkit_save(&desk->book, desk->now_ms, &desk->row);
}

static void an_alert_begins_and_ends(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "");
	look(&d, 0, WARNING);
	told(&d, ALERTKIT_HOOK, ""); /* the group wait */
	look(&d, 9 * S, WARNING);
	told(&d, ALERTKIT_HOOK, "");
	look(&d, 10 * S, WARNING);
	told(&d, ALERTKIT_HOOK, "firing w r warning\n");
	told(&d, ALERTKIT_HOOK, "");
	told(&d, ALERTKIT_AM, "firing w r warning\n");
	look(&d, 20 * S, NONE);
	look(&d, 10 * S + 5 * MIN - 1, NONE); /* found last at 10 s; held for five minutes */
	told(&d, ALERTKIT_HOOK, "");
	assert_int_equal(d.book.n_active, 1);
	look(&d, 10 * S + 5 * MIN, NONE);
	assert_int_equal(d.book.n_active, 0);
	told(&d, ALERTKIT_HOOK, "resolved w r warning\n");
	assert_true(d.book.ended[0]->pending);
	told(&d, ALERTKIT_AM, "resolved w r warning\n");
	assert_false(d.book.ended[0]->pending);
	told(&d, ALERTKIT_AM, "");
	close_desk(&d);
}

static void what_flutters_calls_once(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "");
	for (int64_t t = 0; t < 60 * MIN; t += 2 * MIN) {
		look(&d, t, t % (4 * MIN) ? NONE : WARNING);
		told(&d, ALERTKIT_HOOK, t == 2 * MIN ? "firing w r warning\n" : "");
	}
	assert_int_equal(d.book.n_active, 1);
	assert_int_equal(d.book.n_ended, 0);
	close_desk(&d);
}

static void a_severity_that_rises_is_told_before_the_other_ends(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "");
	look(&d, 0, WARNING);
	look(&d, 30 * S, WARNING);
	told(&d, ALERTKIT_HOOK, "firing w r warning\n");
	look(&d, 40 * S, CRITICAL);
	told(&d, ALERTKIT_HOOK, "firing w r critical\nresolved w r warning\n");
	assert_int_equal(d.book.n_active, 1);
	/* It falls again: believed after the hold time alone. */
	look(&d, 60 * S, WARNING);
	look(&d, 4 * MIN, CRITICAL);
	look(&d, 5 * MIN, WARNING);
	look(&d, 10 * MIN - 1, WARNING);
	told(&d, ALERTKIT_HOOK, "");
	look(&d, 10 * MIN, WARNING);
	told(&d, ALERTKIT_HOOK, "firing w r warning\nresolved w r critical\n");
	close_desk(&d);
}

static void what_ends_within_the_group_wait_is_nobodys(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "  hold: 0s\n");
	look(&d, 0, WARNING);
	look(&d, 5 * S, NONE);
	assert_int_equal(d.book.n_ended, 1);
	assert_false(d.book.ended[0]->pending);
	look(&d, 20 * S, NONE);
	told(&d, ALERTKIT_HOOK, "");
	/* A warning that becomes critical within it: the critical one alone. */
	look(&d, 30 * S, WARNING);
	look(&d, 35 * S, CRITICAL);
	told(&d, ALERTKIT_HOOK, "");
	look(&d, 40 * S, CRITICAL);
	told(&d, ALERTKIT_HOOK, "firing w r critical\n");
	close_desk(&d);
}

static void a_receiver_that_was_away_hears_all_once(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "  hold: 0s\n");
	look(&d, 0, WARNING);
	look(&d, 20 * S, WARNING);
	look(&d, 30 * S, NONE); /* began and ended while nobody was reached */
	look(&d, 40 * S, CRITICAL);
	look(&d, 3600 * S, CRITICAL);
	struct wall oldest;
	assert_int_equal(alert_queue(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &oldest), 2);
	assert_int_equal(oldest.ms, alertkit_wall(30 * S).ms);
	told(&d, ALERTKIT_HOOK, "resolved w r warning\nfiring w r critical\n");
	assert_int_equal(alert_queue(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &oldest), 0);
	assert_int_equal(oldest.ms, 0);
	close_desk(&d);
}

static void who_wants_no_resolved_gets_none(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "    - {name: quiet, type: webhook, url: 'http://x', send-resolved: false}\n  hold: 0s\n");
	look(&d, 0, WARNING);
	look(&d, 20 * S, WARNING);
	told(&d, 2, "firing w r warning\n");
	look(&d, 30 * S, NONE);
	told(&d, 2, "");
	/* One that was missed wholly is told late rather than never. */
	look(&d, 40 * S, WARNING);
	look(&d, 60 * S, WARNING);
	look(&d, 70 * S, NONE);
	told(&d, 2, "firing w r warning\n");
	told(&d, 2, "");
	told(&d, ALERTKIT_AM, "resolved w r warning\nresolved w r warning\n");
	told(&d, ALERTKIT_HOOK, "resolved w r warning\nresolved w r warning\n");
	assert_false(d.book.ended[0]->pending);
	assert_false(d.book.ended[1]->pending);
	close_desk(&d);
}

static void silences_hold_new_calls_back(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "  hold: 0s\n  repeat: 10m\n");
	look(&d, 0, WARNING);
	d.book.active[0]->silenced = true;
	look(&d, 20 * S, WARNING);
	told(&d, ALERTKIT_HOOK, "");
	d.book.active[0]->silenced = false;
	told(&d, ALERTKIT_HOOK, "firing w r warning\n");
	/* What was told stays told: no 'resolved' for a silence, and Alertmanager goes on to hear of it; no repetitions. */
	told(&d, ALERTKIT_AM, "firing w r warning\n");
	d.book.active[0]->silenced = true;
	struct alert_item item;
	look(&d, 15 * MIN, WARNING);
	assert_int_equal(alert_due(&d.book, ALERTKIT_AM, alertkit_mono(d.now_ms), &item, 1), 1);
	assert_true(item.again);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &item, 1), 0);
	look(&d, 16 * MIN, NONE);
	told(&d, ALERTKIT_HOOK, "resolved w r warning\n");
	/* One that was silenced all the time is nobody's. */
	look(&d, 20 * MIN, WARNING);
	d.book.active[0]->silenced = true;
	look(&d, 25 * MIN, NONE);
	told(&d, ALERTKIT_HOOK, "");
	close_desk(&d);
}

static void beats_and_repetitions(void **state)
{
	(void)state;
	struct desk d;
	struct alert_item item;
	open_desk(&d, "  repeat: 10m\n");
	look(&d, 0, WARNING);
	look(&d, 10 * S, WARNING);
	told(&d, ALERTKIT_AM, "firing w r warning\n");
	told(&d, ALERTKIT_HOOK, "firing w r warning\n");
	look(&d, 70 * S - 1, WARNING);
	assert_int_equal(alert_due(&d.book, ALERTKIT_AM, alertkit_mono(d.now_ms), &item, 1), 0);
	look(&d, 70 * S, WARNING);
	assert_int_equal(alert_due(&d.book, ALERTKIT_AM, alertkit_mono(d.now_ms), &item, 1), 1);
	assert_true(item.again);
	alert_told(&d.book, ALERTKIT_AM, &item, alertkit_mono(d.now_ms), alertkit_wall(d.now_ms));
	/* A beat is nothing to store. */
	assert_false(d.book.active[0]->deliveries[ALERTKIT_AM].unsaved);
	look(&d, 10 * S + 10 * MIN, WARNING);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &item, 1), 1);
	assert_true(item.again);
	alert_told(&d.book, ALERTKIT_HOOK, &item, alertkit_mono(d.now_ms), alertkit_wall(d.now_ms));
	assert_int_equal(d.book.active[0]->deliveries[ALERTKIT_HOOK].repeats, 1);
	assert_true(d.book.active[0]->deliveries[ALERTKIT_HOOK].unsaved);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &item, 1), 0);
	close_desk(&d);
}

static void what_is_refused_is_dropped_after_three_times(void **state)
{
	(void)state;
	struct desk d;
	struct alert_item item;
	open_desk(&d, "  hold: 0s\n");
	look(&d, 0, WARNING);
	look(&d, 10 * S, WARNING);
	for (int i = 1; i <= ALERT_REFUSALS_MAX; i++) {
		assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &item, 1), 1);
		assert_int_equal(alert_refused(&d.book, ALERTKIT_HOOK, &item, alertkit_mono(d.now_ms)),
				 i == ALERT_REFUSALS_MAX);
	}
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(d.now_ms), &item, 1), 0);
	look(&d, 20 * S, NONE);
	told(&d, ALERTKIT_HOOK, "");
	told(&d, ALERTKIT_AM, "resolved w r warning\n");
	assert_false(d.book.ended[0]->pending);
	close_desk(&d);
}

static void nothing_is_told_before_it_is_stored(void **state)
{
	(void)state;
	struct desk d;
	struct alert_item item;
	struct err err = { 0 };
	const struct alert_group group = alertkit_group("w", "r", WARNING, 1);
	open_desk(&d, "  group-wait: 0s\n  hold: 0s\n");
	assert_int_equal(alert_book_look(&d.book, &group, 1, alertkit_mono(0), alertkit_wall(0), &err), 0);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(0), &item, 1), 0);
	alertkit_save(&d.book, 0, &d.row);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(0), &item, 1), 1);
	d.book.active[0]->deliveries[ALERTKIT_HOOK].unsaved = true; /* begun, and that is not stored */
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(0), &item, 1), 0);
	alertkit_save(&d.book, 0, &d.row);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(0), &item, 1), 1);
	assert_int_equal(alert_book_look(&d.book, NULL, 0, alertkit_mono(S), alertkit_wall(S), &err), 0);
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(S), &item, 1), 0);
	close_desk(&d);
}

/* A restart with other routes: who was told that it fires is told its end, and who is told of it by now is told. */
static void routes_that_changed(void **state)
{
	(void)state;
	struct desk before, after;
	struct err err = { 0 };
	open_desk(&before, "  default: [hook]\n");
	look(&before, 0, WARNING);
	look(&before, 20 * S, WARNING);
	told(&before, ALERTKIT_HOOK, "firing w r warning\n");
	told(&before, ALERTKIT_AM, "");
	open_desk(&after, "  default: [am]\n  hold: 0s\n");
	assert_int_equal(alert_book_restore(&after.book, before.book.active[0], alertkit_mono(0), alertkit_wall(60 * S),
					    &err),
			 0);
	look(&after, S, WARNING);
	told(&after, ALERTKIT_AM, "firing w r warning\n"); /* its group wait was over before */
	told(&after, ALERTKIT_HOOK, "");
	look(&after, 2 * S, NONE);
	told(&after, ALERTKIT_HOOK, "resolved w r warning\n");
	told(&after, ALERTKIT_AM, "resolved w r warning\n");
	close_desk(&before);
	close_desk(&after);
}

/* A clock that was set back: an end is never before its start, and the order of edges stays. */
static void a_clock_that_goes_back(void **state)
{
	(void)state;
	struct desk d;
	struct err err = { 0 };
	const struct alert_group group = alertkit_group("w", "r", WARNING, 1);
	open_desk(&d, "  hold: 0s\n  group-wait: 0s\n");
	look(&d, 100 * MIN, WARNING);
	told(&d, ALERTKIT_HOOK, "firing w r warning\n");
	assert_int_equal(alert_book_look(&d.book, NULL, 0, alertkit_mono(101 * MIN), alertkit_wall(0), &err), 0);
	alertkit_save(&d.book, d.now_ms, &d.row);
	assert_int_equal(d.book.ended[0]->ended.ms, d.book.ended[0]->started.ms);
	assert_int_equal(alert_book_look(&d.book, &group, 1, alertkit_mono(102 * MIN), alertkit_wall(MIN), &err), 0);
	alertkit_save(&d.book, d.now_ms, &d.row);
	d.now_ms = 103 * MIN;
	told(&d, ALERTKIT_HOOK, "resolved w r warning\nfiring w r warning\n");
	close_desk(&d);
}

/* The next alert is not stored yet, the end of the one before is: it waits. */
static void an_end_does_not_overtake_what_is_not_stored(void **state)
{
	(void)state;
	struct desk d;
	struct alert_item items[2];
	open_desk(&d, "");
	look(&d, 0, WARNING);
	look(&d, 10 * S, WARNING);
	told(&d, ALERTKIT_HOOK, "firing w r warning\n");
	look(&d, 20 * S, CRITICAL);
	d.book.active[0]->deliveries[ALERTKIT_HOOK].unsaved = true;
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(20 * S), items, 2), 0);
	d.book.active[0]->deliveries[ALERTKIT_HOOK].unsaved = false;
	assert_int_equal(alert_due(&d.book, ALERTKIT_HOOK, alertkit_mono(20 * S), items, 2), 2);
	close_desk(&d);
}

static void many_workloads_at_once(void **state)
{
	(void)state;
	enum { N = 300 };
	static struct alert_group groups[N];
	static char names[N][16];
	struct desk d;
	struct err err = { 0 };
	struct alert_item items[ALERT_BATCH_MAX];
	open_desk(&d, "");
	for (int i = 0; i < N; i++) {
		(void)snprintf(names[i], sizeof names[i], "w-%03d", i);
		groups[i] = alertkit_group(names[i], "r", WARNING, 1);
	}
	assert_int_equal(alert_book_look(&d.book, groups, N, alertkit_mono(0), alertkit_wall(0), &err), 0);
	alertkit_save(&d.book, d.now_ms, &d.row);
	alertkit_save(&d.book, MIN, &d.row);
	/* In order, and the first of them where there is room for so many. */
	size_t n = 0, got;
	while ((got = alert_due(&d.book, ALERTKIT_AM, alertkit_mono(MIN), items, ALERT_BATCH_MAX)) > 0) {
		for (size_t i = 0; i < got; i++) {
			assert_string_equal(items[i].alert->workload, names[n + i]);
			alert_told(&d.book, ALERTKIT_AM, &items[i], alertkit_mono(MIN), alertkit_wall(MIN));
		}
		n += got;
	}
	assert_int_equal(n, N);
	/* Every other one goes on. */
	for (int i = 0; i < N / 2; i++)
		groups[i] = groups[2 * i];
	for (int64_t t = MIN; t <= 6 * MIN; t += MIN)
		assert_int_equal(alert_book_look(&d.book, groups, N / 2, alertkit_mono(t), alertkit_wall(t), &err), 0);
	assert_int_equal(d.book.n_active, N / 2);
	assert_int_equal(d.book.n_ended, N / 2);
	close_desk(&d);
}

static void what_was_never_told_is_given_up_after_a_week(void **state)
{
	(void)state;
	struct desk d;
	open_desk(&d, "  hold: 0s\n");
	look(&d, 0, WARNING);
	look(&d, 20 * S, NONE);
	assert_int_equal(alert_give_up(&d.book, ALERTKIT_AM, alertkit_wall(20 * S + ALERT_KEEP_MS)), 0);
	assert_int_equal(alert_give_up(&d.book, ALERTKIT_AM, alertkit_wall(20 * S + ALERT_KEEP_MS + 1)), 1);
	assert_true(d.book.ended[0]->pending);
	assert_int_equal(alert_give_up(&d.book, ALERTKIT_HOOK, alertkit_wall(20 * S + ALERT_KEEP_MS + 1)), 1);
	assert_false(d.book.ended[0]->pending);
	close_desk(&d);
}

static void backoff_grows_to_a_minute(void **state)
{
	(void)state;
	static const struct {
		unsigned failures;
		uint64_t most;
	} table[] = { { 0, 1000 }, { 1, 1000 }, { 2, 2000 }, { 6, 32000 }, { 7, 60000 }, { 1000, 60000 } };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		assert_int_equal(alert_backoff_ms(table[i].failures, 0), 250);
		assert_int_equal(alert_backoff_ms(table[i].failures, table[i].most - 250), table[i].most);
		for (uint64_t chance = 1; chance < UINT64_MAX / 3; chance *= 3)
			assert_in_range(alert_backoff_ms(table[i].failures, chance), 250, table[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_alert_begins_and_ends),
		cmocka_unit_test(what_flutters_calls_once),
		cmocka_unit_test(a_severity_that_rises_is_told_before_the_other_ends),
		cmocka_unit_test(what_ends_within_the_group_wait_is_nobodys),
		cmocka_unit_test(a_receiver_that_was_away_hears_all_once),
		cmocka_unit_test(who_wants_no_resolved_gets_none),
		cmocka_unit_test(silences_hold_new_calls_back),
		cmocka_unit_test(beats_and_repetitions),
		cmocka_unit_test(what_is_refused_is_dropped_after_three_times),
		cmocka_unit_test(nothing_is_told_before_it_is_stored),
		cmocka_unit_test(routes_that_changed),
		cmocka_unit_test(a_clock_that_goes_back),
		cmocka_unit_test(an_end_does_not_overtake_what_is_not_stored),
		cmocka_unit_test(many_workloads_at_once),
		cmocka_unit_test(what_was_never_told_is_given_up_after_a_week),
		cmocka_unit_test(backoff_grows_to_a_minute),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
