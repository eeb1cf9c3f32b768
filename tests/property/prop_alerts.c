/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts through any order of findings, receivers that come and go, and restarts, clean ones and others, on a real store.
 * What a receiver hears, with repetitions of the same edge of the same alert taken as one (they may come after a crash):
 *
 *   - no edge of an alert after its end;
 *   - after all is over and everybody was reached, each alert that was told firing was told resolved;
 *   - then of no workload and rule anything goes on there;
 *   - what was stored is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/alerts_parts.h"
#include "support/alertkit.h"
#include "support/prng.h"
#include "support/scratch.h"

enum { WORKLOADS = 4, RULES = 2, KEYS = WORKLOADS * RULES, RECEIVERS = 3, STEPS = 400, ROUNDS = 12, ALERTS = 2000 };

static const char *const workloads[WORKLOADS] = { "a", "b", "c", "d" };
static const char *const rules[RULES] = { "freeboard-low", "oom-kill" };

struct life {
	enum severity found[KEYS]; /* now; NONE: not found */
	int64_t now_ms;
	struct scratch scratch;
	struct store *store;
	struct alertconf *conf;
	struct alerts alerts;
	bool up[RECEIVERS];
	enum alert_edge heard[RECEIVERS][ALERTS]; /* by row */
	int64_t open[RECEIVERS][KEYS];            /* rows that fire there, of each key; 0: none */
	size_t n_told;
};

static void must(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->message);
}

static void start(struct life *l)
{
	struct err err = { 0 };
	must(store_open(l->scratch.path, &(struct store_options){ 0 }, &l->store, &err), &err);
	l->alerts = (struct alerts){ .conf = l->conf, .store = l->store };
	must(alert_book_init(&l->alerts.book, l->conf, &err), &err);
	must(alert_load(&l->alerts, alertkit_mono(l->now_ms), alertkit_wall(l->now_ms), &err), &err);
}

static void stop(struct life *l, bool cleanly)
{
	struct err err = { 0 };
	if (cleanly)
		must(alert_save(&l->alerts, &err), &err);
	alert_book_done(&l->alerts.book);
	store_close(l->store);
}

static int key_of(const struct alert *alert)
{
	for (int k = 0; k < KEYS; k++)
		if (strcmp(alert->workload, workloads[k / RULES]) == 0 && strcmp(alert->rule, rules[k % RULES]) == 0)
			return k;
	fail_msg("an alert of nobody");
	return 0;
}

/* Receiver 2 wants no resolved: of it the end alone may be missing. */
static void hear(struct life *l, unsigned receiver, const struct alert_item *item)
{
	const struct alert *alert = item->alert;
	assert_in_range(alert->row, 1, ALERTS - 1);
	enum alert_edge *heard = &l->heard[receiver][alert->row];
	int64_t *open = &l->open[receiver][key_of(alert)];
	if (*heard == ALERT_EDGE_RESOLVED && item->edge == ALERT_EDGE_FIRING)
		fail_msg("receiver %u hears that alert %d fires after its end", receiver, (int)alert->row);
	if (item->again)
		assert_int_equal(*heard, ALERT_EDGE_FIRING);
	*heard = item->edge;
	l->n_told++;
	if (item->edge == ALERT_EDGE_FIRING && l->conf->receivers[receiver].send_resolved)
		*open = alert->row > *open ? alert->row : *open;
	/* One that followed it goes on. */
	if (item->edge == ALERT_EDGE_RESOLVED && *open == alert->row)
		*open = 0;
}

static void tell(struct life *l, unsigned receiver)
{
	struct alert_item items[ALERT_BATCH_MAX];
	size_t most = l->conf->receivers[receiver].type == RECEIVER_WEBHOOK ? 1 : ALERT_BATCH_MAX, n;
	while (l->up[receiver] && (n = alert_due(&l->alerts.book, receiver, alertkit_mono(l->now_ms), items, most)) > 0)
		for (size_t i = 0; i < n; i++) {
			hear(l, receiver, &items[i]);
			alert_told(&l->alerts.book, receiver, &items[i], alertkit_mono(l->now_ms),
				   alertkit_wall(l->now_ms));
		}
}

static void look(struct life *l)
{
	struct alert_group groups[KEYS];
	struct err err = { 0 };
	size_t n = 0;
	for (int k = 0; k < KEYS; k++)
		if (l->found[k] != SEVERITY_NONE)
			groups[n++] = alertkit_group(workloads[k / RULES], rules[k % RULES], l->found[k], 2);
	must(alert_book_look(&l->alerts.book, groups, n, alertkit_mono(l->now_ms), alertkit_wall(l->now_ms), &err),
	     &err);
	alert_begin(&l->alerts.book, alertkit_mono(l->now_ms));
	must(alert_save(&l->alerts, &err), &err);
}

static void step(struct life *l, struct prng *prng)
{
	static const enum severity severities[] = { SEVERITY_NONE, SEVERITY_NONE, SEVERITY_WARNING, SEVERITY_CRITICAL };
	l->now_ms += (int64_t)prng_below(prng, 60000);
	if (prng_one_in(prng, 2))
		l->found[prng_below(prng, KEYS)] = severities[prng_below(prng, 4)];
	if (prng_one_in(prng, 10))
		l->up[prng_below(prng, RECEIVERS)] ^= true;
	for (size_t i = 0; i < l->alerts.book.n_active; i++)
		if (prng_one_in(prng, 30))
			l->alerts.book.active[i]->silenced ^= true;
	look(l);
	for (unsigned r = 0; r < RECEIVERS; r++)
		tell(l, r);
	if (prng_one_in(prng, 15)) {
		stop(l, prng_one_in(prng, 2));
		start(l);
	}
}

static void finish(struct life *l)
{
	memset(l->found, 0, sizeof l->found);
	for (unsigned r = 0; r < RECEIVERS; r++)
		l->up[r] = true;
	for (int i = 0; i < 8; i++) {
		l->now_ms += 120000;
		look(l);
		for (unsigned r = 0; r < RECEIVERS; r++)
			tell(l, r);
	}
	assert_int_equal(l->alerts.book.n_active, 0);
	for (size_t i = 0; i < l->alerts.book.n_ended; i++)
		assert_false(l->alerts.book.ended[i]->pending);
	for (unsigned r = 0; r < RECEIVERS; r++)
		for (int row = 1; row < ALERTS; row++)
			if (l->heard[r][row] == ALERT_EDGE_FIRING && l->conf->receivers[r].send_resolved)
				fail_msg("receiver %u never hears that alert %d is over", r, row);
	for (unsigned r = 0; r < RECEIVERS; r++)
		for (int k = 0; k < KEYS; k++)
			assert_int_equal(l->open[r][k], 0);
}

static void whatever_happens(void **state)
{
	(void)state;
	struct prng prng = prng_start("prop_alerts");
	auto_free struct life *l = malloc(sizeof *l);
	size_t n_told = 0;
	for (int round = 0; round < ROUNDS; round++) {
		auto_buf struct buf report = { .cap = 4096 };
		struct err err = { 0 };
		memset(l, 0, sizeof *l);
		l->scratch = scratch_new();
		l->conf = alertkit_conf("    - {name: quiet, type: webhook, url: 'http://x', send-resolved: false}\n"
					"  hold: 1m\n  repeat: 10m\n");
		for (unsigned r = 0; r < RECEIVERS; r++)
			l->up[r] = true;
		start(l);
		for (int i = 0; i < STEPS; i++)
			step(l, &prng);
		finish(l);
		stop(l, true);
		if (store_check(l->scratch.path, &report, &err) < 0)
			fail_msg("%s: %s", err.message, report.ptr);
		alertconf_free(l->conf);
		scratch_done(&l->scratch);
		n_told += l->n_told;
	}
	assert_true(n_told > 1000); /* or it proved nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
