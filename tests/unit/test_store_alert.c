/* SPDX-License-Identifier: Apache-2.0 */
/* Alerts in the store: they come back as they were, one of a key is active, and old ones go with what was told of them. */
#include "collector/store_alert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/alerts_parts.h"
#include "support/alertkit.h"
#include "support/scratch.h"

struct desk {
	struct scratch scratch;
	struct store *store;
};

static void must(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->message);
}

static int setup(void **state)
{
	struct desk *d = test_calloc(1, sizeof *d);
	struct err err;
	d->scratch = scratch_new();
	must(store_open(d->scratch.path, &(struct store_options){ 0 }, &d->store, &err), &err);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;
	auto_buf struct buf report = { .cap = 4096 };
	struct err err;
	store_close(d->store);
	if (store_check(d->scratch.path, &report, &err) < 0)
		fail_msg("%s: %s", err.message, report.ptr);
	scratch_done(&d->scratch);
	test_free(d);
	return 0;
}

static struct alert make(const char *workload, int64_t started_ms)
{
	struct alert alert = { .severity = SEVERITY_WARNING, .started = alertkit_wall(started_ms), .pending = true };
	str_copy(alert.cluster, sizeof alert.cluster, STR("prod"));
	str_copy(alert.namespace_, sizeof alert.namespace_, STR("ns"));
	str_copy(alert.workload, sizeof alert.workload, str_of(workload));
	str_copy(alert.rule, sizeof alert.rule, STR("oom-kill"));
	alert.start_order = 1;
	return alert;
}

static int put(struct desk *d, struct alert *alert)
{
	struct err err;
	must(store_begin(d->store, &err), &err);
	int rc = store_alert_put(d->store, alert, STR("{}"), &alert->row, &err);
	if (rc < 0) {
		store_rollback(d->store);
		return rc;
	}
	must(store_commit(d->store, &err), &err);
	return 0;
}

static void tell(struct desk *d, const struct alert *alert, const char *receiver, enum alert_edge told)
{
	const struct alert_delivery delivery = { .told = told, .told_at = alertkit_wall(7), .repeats = 3 };
	struct err err;
	must(store_begin(d->store, &err), &err);
	must(store_delivery_put(d->store, alert->row, receiver, &delivery, &err), &err);
	must(store_commit(d->store, &err), &err);
}

struct seen {
	struct alert alerts[16];
	size_t n;
	char receivers[64];
	struct alert_delivery delivery;
};

static bool see(void *context, const struct alert *alert, struct str text)
{
	struct seen *seen = context;
	assert_true(str_eq(text, STR("{}")));
	seen->alerts[seen->n++] = *alert;
	return seen->n < 16;
}

static void see_delivery(void *context, struct str receiver, const struct alert_delivery *delivery)
{
	struct seen *seen = context;
	size_t len = strlen(seen->receivers);
	(void)snprintf(seen->receivers + len, sizeof seen->receivers - len, "%.*s ", (int)receiver.len, receiver.ptr);
	seen->delivery = *delivery;
}

static struct seen *look(struct desk *d, enum store_alerts_of which)
{
	static struct seen seen;
	struct err err;
	seen = (struct seen){ .n = 0 };
	must(store_each_alert(d->store, which, 16, see, &seen, &err), &err);
	return &seen;
}

static void they_come_back(void **state)
{
	struct desk *d = *state;
	struct err err;
	struct alert alert = make("w", 1000);
	assert_int_equal(put(d, &alert), 0);
	assert_int_not_equal(alert.row, 0);
	tell(d, &alert, "am", ALERT_EDGE_BEGUN);
	tell(d, &alert, "am", ALERT_EDGE_FIRING);
	struct seen *seen = look(d, STORE_ALERTS_OPEN);
	assert_int_equal(seen->n, 1);
	const struct alert *back = &seen->alerts[0];
	assert_int_equal(back->row, alert.row);
	assert_string_equal(back->cluster, "prod");
	assert_string_equal(back->namespace_, "ns");
	assert_string_equal(back->workload, "w");
	assert_string_equal(back->rule, "oom-kill");
	assert_int_equal(back->severity, SEVERITY_WARNING);
	assert_int_equal(back->started.ms, alert.started.ms);
	assert_int_equal(back->ended.ms, 0);
	assert_int_equal(back->start_order, 1);
	assert_true(back->pending);
	must(store_each_delivery(d->store, alert.row, see_delivery, seen, &err), &err);
	assert_string_equal(seen->receivers, "am ");
	assert_int_equal(seen->delivery.told, ALERT_EDGE_FIRING);
	assert_int_equal(seen->delivery.told_at.ms, alertkit_wall(7).ms);
	assert_int_equal(seen->delivery.repeats, 3);
}

static void one_of_a_key_is_active(void **state)
{
	struct desk *d = *state;
	struct alert first = make("w", 1000), second = make("w", 2000);
	assert_int_equal(put(d, &first), 0);
	assert_true(put(d, &second) < 0);
	first.ended = alertkit_wall(3000);
	first.end_order = 2;
	assert_int_equal(put(d, &first), 0);
	second.row = 0;
	assert_int_equal(put(d, &second), 0);
	assert_int_equal(look(d, STORE_ALERTS_OPEN)->n, 2); /* the first is still to be told */
	first.pending = false;
	assert_int_equal(put(d, &first), 0);
	assert_int_equal(look(d, STORE_ALERTS_OPEN)->n, 1);
	assert_int_equal(look(d, STORE_ALERTS_OVER)->n, 1);
}

static void old_ones_go_with_what_was_told(void **state)
{
	struct desk *d = *state;
	struct err err;
	bool more = true;
	struct alert over = make("a", 1000), owed = make("b", 1000), active = make("c", 1000);
	over.ended = owed.ended = alertkit_wall(2000);
	over.end_order = owed.end_order = 2;
	over.pending = false;
	assert_int_equal(put(d, &over) + put(d, &owed) + put(d, &active), 0);
	tell(d, &over, "am", ALERT_EDGE_RESOLVED);
	tell(d, &active, "am", ALERT_EDGE_FIRING);
	for (int i = 0; i < 100 && more; i++)
		must(store_keep(d->store, alertkit_wall(INT64_C(366) * 86400000), &more, &err), &err);
	assert_false(more);
	assert_int_equal(look(d, STORE_ALERTS_OVER)->n, 0);
	assert_int_equal(look(d, STORE_ALERTS_OPEN)->n, 2); /* what is owed or active stays, however old */
							    /* teardown checks that no delivery is left behind */
}

/* An alert of which nobody is told is an alert all the same, before and after a restart. */
static void what_nobody_is_told_of_is_stored(void **state)
{
	struct desk *d = *state;
	struct err err = { 0 };
	struct alertconf *conf = alertkit_conf("  default: []\n");
	const struct alert_group group = alertkit_group("w", "oom-kill", SEVERITY_CRITICAL, 4);
	struct alerts alerts = { .conf = conf, .store = d->store };
	must(alert_book_init(&alerts.book, conf, &err), &err);
	must(alert_book_look(&alerts.book, &group, 1, alertkit_mono(0), alertkit_wall(0), &err), &err);
	must(alert_save(&alerts, &err), &err);
	alert_book_done(&alerts.book);
	must(alert_book_init(&alerts.book, conf, &err), &err);
	must(alert_load(&alerts, alertkit_mono(0), alertkit_wall(1000), &err), &err);
	assert_int_equal(alerts.book.n_active, 1);
	const struct alert *alert = alerts.book.active[0];
	assert_int_equal(alert->severity, SEVERITY_CRITICAL);
	assert_int_equal(alert->figures.n_pods, 4);
	assert_string_equal(alert->figures.title, "a title of oom-kill");
	assert_string_equal(alert->figures.worst[3].pod, "p-3");
	alert_book_done(&alerts.book);
	alertconf_free(conf);
}

/* A batch that fails: rows that were given in it are none, and all is tried again. */
static void a_batch_that_fails(void **state)
{
	struct desk *d = *state;
	struct err err = { 0 };
	struct alertconf *conf = alertkit_conf("");
	const struct alert_group groups[] = { alertkit_group("a", "oom-kill", SEVERITY_CRITICAL, 1),
					      alertkit_group("w", "oom-kill", SEVERITY_CRITICAL, 1) };
	struct alerts alerts = { .conf = conf, .store = d->store };
	must(alert_book_init(&alerts.book, conf, &err), &err);
	must(alert_book_look(&alerts.book, groups, 2, alertkit_mono(0), alertkit_wall(0), &err), &err);
	struct alert in_the_way = make("w", 0); /* one of this very key is active already */
	(void)snprintf(in_the_way.cluster, sizeof in_the_way.cluster, "default");
	assert_int_equal(put(d, &in_the_way), 0);
	assert_true(alert_save(&alerts, &err) < 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(alerts.book.active[i]->row, 0); /* of the first, which had one, it was taken back */
		assert_true(alerts.book.active[i]->unsaved);
	}
	in_the_way.ended = alertkit_wall(1);
	in_the_way.end_order = 2;
	assert_int_equal(put(d, &in_the_way), 0);
	must(alert_save(&alerts, &err), &err);
	assert_int_not_equal(alerts.book.active[0]->row, 0);
	assert_int_not_equal(alerts.book.active[1]->row, 0);
	alert_book_done(&alerts.book);
	alertconf_free(conf);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(they_come_back),
		TEST(one_of_a_key_is_active),
		TEST(old_ones_go_with_what_was_told),
		TEST(what_nobody_is_told_of_is_stored),
		TEST(a_batch_that_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
