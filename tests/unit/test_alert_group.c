/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings of a real fleet make one alert. */
#include "collector/alert_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fleetfill.h"

struct scene {
	struct fleet *fleet;
	struct alert_group *groups;
	size_t n, left_out;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof *s);
	struct err err;
	s->groups = calloc(ALERT_GROUPS_MAX, sizeof *s->groups);
	assert_int_equal(fleet_new(&s->fleet, &err), 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	fleet_free(s->fleet);
	free(s->groups);
	free(s);
	return 0;
}

static void add_pod(struct scene *s, unsigned n)
{
	static struct wire_hello hello;
	static struct wire_sample sample;
	struct err err;
	char id[32];
	(void)snprintf(id, sizeof id, "uid-%u", n);
	fleetfill_hello(&hello, n);
	fleetfill_sample(&sample, n);
	assert_int_equal(fleet_connected(s->fleet, n + 1, id, &hello, 0, FLEETFILL_NOW, &err), 0);
	fleet_sample(s->fleet, n + 1, &sample, FLEETFILL_NOW);
}

static void find(struct scene *s, int64_t agent, const char *id, const char *rule, enum severity severity)
{
	static struct wire_finding finding;
	struct err err;
	fleetfill_finding(&finding, 0);
	finding.severity = severity;
	finding.edge = WIRE_OPENED;
	(void)snprintf(finding.id, sizeof finding.id, "%s", id);
	(void)snprintf(finding.rule, sizeof finding.rule, "%s", rule);
	(void)snprintf(finding.title, sizeof finding.title, "%s of %d", rule, (int)agent);
	assert_int_equal(fleet_finding(s->fleet, agent, &finding, FLEETFILL_NOW, &err), 0);
}

static void group(struct scene *s, alert_silenced_fn *silenced, const void *context)
{
	const struct alert_grouping how = { "home", SEVERITY_WARNING, silenced, context };
	s->n = alert_groups(s->fleet, &how, s->groups, &s->left_out);
	for (size_t i = 1; i < s->n; i++) {
		const struct alert_group *a = &s->groups[i - 1], *b = &s->groups[i];
		const char *const x[4] = { a->cluster, a->namespace_, a->workload, a->rule };
		const char *const y[4] = { b->cluster, b->namespace_, b->workload, b->rule };
		assert_true(alert_key_compare(x, y) < 0);
	}
}

static void pods_of_one_workload_are_one_alert(void **state)
{
	struct scene *s = *state;
	char id[32];
	for (unsigned i = 0; i < 2 * FLEETFILL_PER_WORKLOAD; i++) {
		add_pod(s, i);
		(void)snprintf(id, sizeof id, "f-%u", i);
		find(s, i + 1, id, "freeboard-low", i == 7 ? SEVERITY_CRITICAL : SEVERITY_WARNING);
	}
	group(s, NULL, NULL);
	assert_int_equal(s->n, 2);
	const struct alert_group *first = &s->groups[0], *second = &s->groups[1];
	assert_string_equal(first->workload, "job-0");
	assert_int_equal(first->severity, SEVERITY_CRITICAL);
	assert_int_equal(first->figures.n_pods, FLEETFILL_PER_WORKLOAD);
	assert_int_equal(first->figures.n_workload_pods, FLEETFILL_PER_WORKLOAD);
	assert_int_equal(first->figures.n_worst, ALERT_WORST_MAX);
	/* The critical one first, then those with the least left: freeboard shrinks with the number. */
	assert_string_equal(first->figures.worst[0].pod, "job-0-taskmanager-1-7");
	assert_string_equal(first->figures.worst[1].pod, "job-0-taskmanager-1-49");
	assert_string_equal(first->figures.worst[4].pod, "job-0-taskmanager-1-46");
	assert_string_equal(first->figures.title, "freeboard-low of 8");
	assert_int_equal(second->severity, SEVERITY_WARNING);
	assert_string_equal(second->figures.worst[0].pod, "job-1-taskmanager-1-49");
}

static void rules_are_alerts_of_their_own(void **state)
{
	struct scene *s = *state;
	add_pod(s, 0);
	find(s, 1, "a", "thread-growth", SEVERITY_WARNING);
	find(s, 1, "b", "freeboard-low", SEVERITY_CRITICAL);
	find(s, 1, "c", "page-cache-benign", SEVERITY_INFO);
	find(s, 1, "d", "managed-idle", SEVERITY_NOTICE);
	/* Two of one rule are one pod of one alert. */
	find(s, 1, "e", "rocksdb-over-budget", SEVERITY_WARNING);
	find(s, 1, "f", "rocksdb-over-budget", SEVERITY_CRITICAL);
	group(s, NULL, NULL);
	assert_int_equal(s->n, 3);
	assert_string_equal(s->groups[0].rule, "freeboard-low");
	assert_string_equal(s->groups[1].rule, "rocksdb-over-budget");
	assert_int_equal(s->groups[1].figures.n_pods, 1);
	assert_int_equal(s->groups[1].figures.n_worst, 1);
	assert_int_equal(s->groups[1].severity, SEVERITY_CRITICAL);
	assert_int_equal(s->groups[1].figures.worst[0].severity, SEVERITY_CRITICAL);
	assert_string_equal(s->groups[2].rule, "thread-growth");
}

static void the_silent_keep_theirs_and_those_that_left_do_not(void **state)
{
	struct scene *s = *state;
	add_pod(s, 0);
	add_pod(s, 1);
	find(s, 1, "a", "freeboard-low", SEVERITY_WARNING);
	find(s, 2, "b", "freeboard-low", SEVERITY_WARNING);
	fleet_disconnected(s->fleet, 1, true, FLEETFILL_NOW);
	fleet_disconnected(s->fleet, 2, false, FLEETFILL_NOW);
	group(s, NULL, NULL);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->groups[0].figures.n_pods, 1);
	assert_int_equal(s->groups[0].figures.worst[0].agent, 2);
}

static void the_collectors_own(void **state)
{
	struct scene *s = *state;
	find(s, 0, "a", "store-filling", SEVERITY_CRITICAL);
	group(s, NULL, NULL);
	assert_int_equal(s->n, 1);
	assert_string_equal(s->groups[0].cluster, "home");
	assert_string_equal(s->groups[0].namespace_, "");
	assert_string_equal(s->groups[0].workload, ALERT_OWN_WORKLOAD);
	assert_int_equal(s->groups[0].figures.n_pods, 1);
	assert_int_equal(s->groups[0].figures.worst[0].agent, 0);
}

static bool is_quiet(const void *context, const struct fleet_pod *pod, const struct fleet_finding *finding)
{
	(void)finding;
	return pod->agent == *(const int64_t *)context || *(const int64_t *)context == -1;
}

static void silenced_pods_are_left_out_of_the_others(void **state)
{
	struct scene *s = *state;
	int64_t quiet = 2;
	for (unsigned i = 0; i < 3; i++)
		add_pod(s, i);
	find(s, 1, "a", "freeboard-low", SEVERITY_WARNING);
	find(s, 2, "b", "freeboard-low", SEVERITY_CRITICAL);
	find(s, 3, "c", "freeboard-low", SEVERITY_WARNING);
	group(s, is_quiet, &quiet);
	assert_int_equal(s->groups[0].severity, SEVERITY_WARNING);
	assert_int_equal(s->groups[0].figures.n_pods, 2);
	assert_false(s->groups[0].figures.silenced);
	assert_int_equal(s->groups[0].figures.n_worst, 2);
	/* All of them: it is still there, and nobody is to be told. */
	quiet = -1;
	group(s, is_quiet, &quiet);
	assert_int_equal(s->n, 1);
	assert_true(s->groups[0].figures.silenced);
	assert_int_equal(s->groups[0].severity, SEVERITY_CRITICAL);
	assert_int_equal(s->groups[0].figures.n_pods, 3);
}

static void unknown_figures_stand_behind_known_ones(void **state)
{
	struct scene *s = *state;
	static struct wire_sample sample;
	add_pod(s, 0);
	add_pod(s, 1);
	fleetfill_sample(&sample, 0);
	sample.freeboard_bytes.known = false;
	fleet_sample(s->fleet, 1, &sample, FLEETFILL_NOW);
	find(s, 1, "a", "freeboard-low", SEVERITY_WARNING);
	find(s, 2, "b", "freeboard-low", SEVERITY_WARNING);
	group(s, NULL, NULL);
	assert_int_equal(s->groups[0].figures.worst[0].agent, 2);
	assert_false(s->groups[0].figures.worst[1].freeboard_bytes.known);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_of_one_workload_are_one_alert),
		TEST(rules_are_alerts_of_their_own),
		TEST(the_silent_keep_theirs_and_those_that_left_do_not),
		TEST(the_collectors_own),
		TEST(silenced_pods_are_left_out_of_the_others),
		TEST(unknown_figures_stand_behind_known_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
