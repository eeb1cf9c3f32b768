/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector finds by itself, with a fleet and a real store; time is what the test says it is. */
#include "collector/own_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/fleet_load.h"
#include "collector/fleet_read.h"
#include "collector/own_parts.h"
#include "collector/store_read.h"
#include "data/js.h"
#include "rules/collector_rules.h"
#include "support/fleetfill.h"
#include "support/fleetworld.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

static void silent_agents(void **state)
{
	struct world *w = *state;
	int64_t speaks = world_connect(w, 0), silent = world_connect(w, 1), bye = world_connect(w, 2),
		lost = world_connect(w, 3);
	struct world_open_of open;
	world_step(w, 0);
	world_minutes(w, 3, (int64_t[]){ speaks, silent, bye, lost }, 4); /* an interval of 10 s, they say */
	world_say(w, silent);
	world_say(w, lost);
	fleet_disconnected(w->fleet, bye, true, world_wall(w));
	world_step(w, 30);
	world_say(w, speaks);
	/* Its line is given up later than its last word came. */
	fleet_disconnected(w->fleet, lost, false, world_wall(w));
	world_step(w, 30);
	assert_int_equal(world_n_open(w, silent, "agent-silent", NULL), 0);
	assert_int_equal(world_n_open(w, lost, "agent-silent", NULL), 0);
	world_say(w, speaks);
	world_step(w, 1);
	assert_int_equal(world_n_open(w, lost, "agent-silent", NULL), 1);
	assert_int_equal(world_n_open(w, bye, "agent-silent", NULL), 0);
	assert_int_equal(world_n_open(w, speaks, "agent-silent", NULL), 0);
	assert_int_equal(world_n_open(w, silent, "agent-silent", &open), 1);
	assert_non_null(strstr(open.title, "nothing heard of it for "));
	auto_js struct js *root = NULL;
	struct err err;
	int64_t ms;
	world_must(js_parse(str_of(open.text), sizeof open.text, &root, &err), &err);
	assert_true(js_i64(js_path(root, "finding.evidence.silent_ms"), &ms));
	assert_in_range(ms, 60001, 200000);

	/* Its next word clears it; another silence is another finding. */
	world_say(w, silent);
	world_say(w, speaks);
	world_step(w, 1);
	assert_int_equal(world_n_open(w, silent, "agent-silent", NULL), 0);
	world_minutes(w, 3, &speaks, 1);
	assert_int_equal(world_n_open(w, silent, "agent-silent", NULL), 1);
	/* It is not said again at each step. */
	world_minutes(w, 5, &speaks, 1);
	assert_int_equal(world_n_open(w, silent, "agent-silent", NULL), 1);
	/* After a day whoever is not there is forgotten, and what was open ends with it; a connection that is there is not. */
	w->ms += 24 * 3600 * 1000;
	w->mono_ms += 24 * 3600 * 1000;
	world_minutes(w, 1, &speaks, 1);
	assert_int_equal(world_n_open(w, silent, "agent-silent", NULL), 1);
	assert_int_equal(world_n_open(w, lost, "agent-silent", NULL), 0);
}

/* Three of its own intervals, where they are long. */
static void slow_agents_have_time(void **state)
{
	struct world *w = *state;
	static struct wire_sample sample;
	int64_t slow = world_connect(w, 0);
	world_step(w, 0);
	world_step(w, 200);
	fleetfill_sample(&sample, 0);
	sample.interval_ms = 60000;
	fleet_sample(w->fleet, slow, &sample, world_wall(w));
	world_step(w, 180);
	assert_int_equal(world_n_open(w, slow, "agent-silent", NULL), 0);
	world_step(w, 1);
	assert_int_equal(world_n_open(w, slow, "agent-silent", NULL), 1);
}

static void a_jump_of_the_clock_is_no_silence(void **state)
{
	struct world *w = *state;
	int64_t agent = world_connect(w, 0);
	world_step(w, 0);
	world_minutes(w, 4, &agent, 1);
	w->ms += 3600 * 1000;
	world_step(w, 5);
	assert_int_equal(world_n_open(w, agent, "agent-silent", NULL), 0);
	/* Nobody speaks after it: then it is one, once judgement is back. */
	world_step(w, 170);
	assert_int_equal(world_n_open(w, agent, "agent-silent", NULL), 0);
	world_step(w, 10);
	assert_int_equal(world_n_open(w, agent, "agent-silent", NULL), 1);
}

static void a_restart_forgets_nothing(void **state)
{
	struct world *w = *state;
	int64_t agent = world_connect(w, 0);
	struct err err;
	world_step(w, 0);
	world_minutes(w, 4, NULL, 0);
	assert_int_equal(world_n_open(w, agent, "agent-silent", NULL), 1);
	world_close(w);
	world_open(w);
	world_must(fleet_load(w->fleet, w->store, world_wall(w), &err), &err);
	const struct fleet_pod *pod = fleet_find(w->fleet, agent);
	assert_non_null(pod);
	assert_true(pod->restored);
	assert_string_equal(pod->subject.workload, "job-0");
	assert_int_equal(pod->findings.n, 1);
	world_minutes(w, 5, NULL, 0);
	assert_int_equal(world_n_open(w, agent, "agent-silent", NULL), 1);
	/* It comes back: the old one is cleared, though another collector opened it. */
	(void)world_connect(w, 0);
	world_step(w, 1);
	assert_int_equal(world_n_open(w, agent, "agent-silent", NULL), 0);
}

/* More of them at once than one step takes. */
static void many_at_once(void **state)
{
	struct world *w = *state;
	enum { N = 1200 };
	static int64_t agents[N];
	unsigned open = 0;
	for (unsigned i = 0; i < N; i++)
		agents[i] = world_connect(w, i);
	world_step(w, 0);
	world_minutes(w, 3, NULL, 0);
	for (unsigned i = 0; i < N; i++)
		open += world_n_open(w, agents[i], "agent-silent", NULL);
	assert_in_range(open, 1, N - 1);
	world_minutes(w, 3, NULL, 0);
	open = 0;
	for (unsigned i = 0; i < N; i += 7)
		open += world_n_open(w, agents[i], "agent-silent", NULL);
	assert_int_equal(open, (N + 6) / 7);
}

static void lost_access(void **state)
{
	struct world *w = *state;
	static struct wire_sample sample;
	struct err err;
	struct world_open_of open;
	int64_t agent = world_connect(w, 0);
	fleetfill_sample(&sample, 0);
	sample.access = ACCESS_STATUS;
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
	world_step(w, 1);
	assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 0); /* it never had more */
	sample.access = ACCESS_FULL;
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
	world_step(w, 1);
	sample.pid = 0; /* no target at all is no loss of access */
	sample.access = ACCESS_NONE;
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
	world_step(w, 1);
	assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 0);
	sample.pid = 18;
	sample.access = ACCESS_STATUS;
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
	world_step(w, 60);
	assert_int_equal(world_n_open(w, agent, "agent-access-lost", &open), 1);
	assert_string_equal(open.title, "it could read 'full' and reads 'status' now");
	/* After a restart it is still known what was lost. */
	world_close(w);
	world_open(w);
	world_must(fleet_load(w->fleet, w->store, world_wall(w), &err), &err);
	(void)world_connect(w, 0);
	sample.access = ACCESS_PROCESS;
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
	world_step(w, 1);
	assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 1);
	sample.access = ACCESS_FULL;
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
	world_step(w, 1);
	assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 0);
}

/* Each restart of a container began with a warning: the first sample of a JVM comes before its first scan. */
static void a_jvm_that_has_just_come_has_lost_nothing(void **state)
{
	struct world *w = *state;
	static struct wire_sample sample;
	int64_t agent = world_connect(w, 0);
	const struct fleet_pod *pod = fleet_find(w->fleet, agent);
	fleetfill_sample(&sample, 0);
	sample.head.epoch = pod->epoch;
	/* The next one may come so soon that no sample says that there was none. */
	for (int seen = 1; seen >= 0; seen--) {
		sample.access = ACCESS_FULL;
		fleet_sample(w->fleet, agent, &sample, world_wall(w));
		world_step(w, 100);
		assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 0);
		int pid = sample.pid;
		sample.pid = 0;
		if (seen)
			fleet_sample(w->fleet, agent, &sample, world_wall(w));
		sample.pid = pid + 100;
		sample.access = ACCESS_STATUS;
		fleet_sample(w->fleet, agent, &sample, world_wall(w));
		world_step(w, 5);
		assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 0);
		fleet_sample(w->fleet, agent, &sample, world_wall(w));
		world_step(w, 60);
		assert_int_equal(world_n_open(w, agent, "agent-access-lost", NULL), 1);
	}
}

/* Open in the store, of an agent that this collector has never heard of. */
static void the_store_is_swept(void **state)
{
	struct world *w = *state;
	int64_t agent = world_connect(w, 0);
	world_put_finding(w, agent, "f", 0);
	world_close(w);
	world_open(w);
	w->ms += 2 * 24 * 3600 * 1000;
	world_step(w, 0);
	world_minutes(w, 2, NULL, 0);
	assert_int_equal(world_n_open(w, agent, "freeboard-low", NULL), 1);
	world_minutes(w, 2, NULL, 0);
	assert_int_equal(world_n_open(w, agent, "freeboard-low", NULL), 0);
}

/* --- the disk, as numbers ---------------------------------------------------------------------------------------- */

static void the_disk_fills(void **state)
{
	(void)state;
	static const struct {
		uint64_t used, room, cap;
		enum severity open, want;
	} rows[] = {
		{ MIB, 100 * GIB, 0, SEVERITY_NONE, SEVERITY_NONE },
		{ 90 * GIB, 10 * GIB, 0, SEVERITY_NONE, SEVERITY_NONE },
		{ 91 * GIB, 9 * GIB, 0, SEVERITY_NONE, SEVERITY_WARNING },
		{ 90 * GIB, 10 * GIB, 0, SEVERITY_WARNING, SEVERITY_WARNING }, /* not yet clear */
		{ 85 * GIB, 15 * GIB, 0, SEVERITY_WARNING, SEVERITY_NONE },
		{ 98 * GIB, 2 * GIB, 0, SEVERITY_NONE, SEVERITY_CRITICAL },
		{ 96 * GIB, 4 * GIB, 0, SEVERITY_CRITICAL, SEVERITY_CRITICAL },
		{ 94 * GIB, 6 * GIB, 0, SEVERITY_CRITICAL, SEVERITY_WARNING },
		{ MIB, 300 * MIB, 0, SEVERITY_NONE, SEVERITY_NONE },
		{ MIB, 200 * MIB, 0, SEVERITY_NONE, SEVERITY_WARNING }, /* somebody else fills it */
		{ MIB, 20 * MIB, 0, SEVERITY_NONE, SEVERITY_CRITICAL },
		{ 9 * GIB, 100 * GIB, 10 * GIB, SEVERITY_NONE,
		  SEVERITY_NONE }, /* near its cap: that is what it is for */
		{ UINT64_MAX / 2, UINT64_MAX / 2, 0, SEVERITY_NONE, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct store_counts counts = { .file_bytes = rows[i].used,
					       .disk_free_bytes = rows[i].room,
					       .disk_cap_bytes = rows[i].cap };
		struct pace pace = { .n = 0 };
		struct filling filling;
		filling_judge(&counts, &pace, rows[i].open, &filling);
		if (filling.severity != rows[i].want || (rows[i].want && !filling.title[0]))
			fail_msg("row %zu: %d '%s'", i, filling.severity, filling.title);
	}
}

static void the_pace(void **state)
{
	(void)state;
	struct pace pace = { .n = 0 };
	struct filling filling;
	struct store_counts counts = { .disk_free_bytes = 23 * GIB };
	for (unsigned minute = 0; minute < 200; minute++) {
		uint64_t used = GIB + minute * (GIB / 60); /* a GiB an hour */
		struct mono at = { (uint64_t)minute * 60 * 1000000000 };
		pace_push(&pace, at, used, 0);
		pace_push(&pace, (struct mono){ at.ns + 1000 }, used * 2, 0); /* too soon: dropped */
		if (minute < 10)
			assert_int_equal(pace_per_day(&pace), 0);
	}
	assert_int_equal(pace.n, PACE_POINTS);
	assert_in_range(pace_per_day(&pace), 23 * GIB + GIB / 2, 24 * GIB);
	filling_judge(&counts, &pace, SEVERITY_NONE, &filling);
	assert_int_equal(filling.severity, SEVERITY_WARNING);
	assert_string_equal(filling.title, "at the pace of the last hour the store's disk is full in 23 h");
	counts.disk_free_bytes = 30 * GIB;
	filling_judge(&counts, &pace, SEVERITY_NONE, &filling);
	assert_int_equal(filling.severity, SEVERITY_NONE);
	filling_judge(&counts, &pace, SEVERITY_WARNING, &filling);
	assert_int_equal(filling.severity, SEVERITY_WARNING);
	/* A cap ends it before the disk does; what that costs is said when it happens. */
	counts = (struct store_counts){ .disk_free_bytes = 23 * GIB, .disk_cap_bytes = 10 * GIB };
	filling_judge(&counts, &pace, SEVERITY_NONE, &filling);
	assert_int_equal(filling.severity, SEVERITY_NONE);
	pace_push(&pace, (struct mono){ UINT64_C(200) * 60 * 1000000000 }, 9 * GIB, 5);
	filling_judge(&counts, &pace, SEVERITY_NONE, &filling);
	assert_int_equal(filling.severity, SEVERITY_WARNING);
	assert_string_equal(filling.title,
			    "the cap of 10.00 GiB does not hold what retention asks for: the oldest goes early");
}

static void receivers_that_are_not_reached(void **state)
{
	(void)state;
	enum { MIN = 60000 };
	static const struct {
		struct alerts_trouble troubles[2];
		size_t n, n_receivers;
		enum severity severity;
		const char *title;
	} rows[] = {
		{ { { 0 } }, 0, 0, SEVERITY_NONE, "" },
		{ { { "a", 4 * MIN, false, "" } }, 1, 2, SEVERITY_NONE, "" },
		{ { { "a", 5 * MIN, false, "" } },
		  1,
		  2,
		  SEVERITY_WARNING,
		  "'a' of alerts has not been reached for 5 min" },
		{ { { "a", 5 * MIN, false, "" } }, 1, 1, SEVERITY_CRITICAL, "'a' of alerts" },
		{ { { "a", 0, true, "" }, { "b", 9 * MIN, false, "" } }, 2, 2, SEVERITY_WARNING, "'a' would not take" },
		{ { { "a", 6 * MIN, true, "" }, { "b", 9 * MIN, false, "" } }, 2, 2, SEVERITY_CRITICAL, "for 6 min" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct delivery delivery = { .n = rows[i].n, .n_receivers = rows[i].n_receivers };
		struct delivery_verdict verdict;
		memcpy(delivery.troubles, rows[i].troubles, sizeof rows[i].troubles);
		delivery_judge(&delivery, &verdict);
		assert_int_equal(verdict.severity, rows[i].severity);
		if (!strstr(verdict.title, rows[i].title))
			fail_msg("row %zu: %s", i, verdict.title);
	}
}

static void a_receiver_that_fails_is_found_and_ends(void **state)
{
	struct world *w = *state;
	struct alerts_trouble trouble = { .receiver = "oncall", .failing_ms = 300000 };
	struct world_open_of open;
	own_rules_delivery(w->rules, &trouble, 1, 2);
	world_step(w, 5);
	assert_int_equal(world_n_open(w, 0, "alert-delivery-failing", &open), 1);
	assert_non_null(strstr(open.title, "'oncall'"));
	world_step(w, 5);
	assert_int_equal(world_n_open(w, 0, "alert-delivery-failing", NULL), 1);
	own_rules_delivery(w->rules, NULL, 0, 2);
	world_step(w, 5);
	assert_int_equal(world_n_open(w, 0, "alert-delivery-failing", NULL), 0);
}

/* No text is cut, and every rule has words. */
static void words_fit(void **state)
{
	(void)state;
	static struct finding whole;
	static struct fleet_pod pod;
	struct pace pace = { .n = 0 };
	static struct delivery delivery;
	const struct own_sight sight = { &pace, &delivery, WORLD_T0 };
	memset(delivery.troubles[0].last_error, 'x', sizeof delivery.troubles[0].last_error - 1);
	delivery.n = delivery.n_receivers = 1;
	pod.latest.interval_ms = UINT32_MAX;
	pod.best_access = ACCESS_PROCESS;
	for (unsigned i = 0; i < COLLECTOR_RULE_COUNT; i++) {
		struct wire_finding finding = { .severity = SEVERITY_WARNING };
		(void)snprintf(finding.rule, sizeof finding.rule, "%s", collector_rule_table[i].name);
		memset(finding.title, 'x', sizeof finding.title - 1);
		own_whole(&finding, i >= COLLECTOR_RULE_STORE ? NULL : &pod, &sight, &whole);
		assert_string_equal(whole.rule, collector_rule_table[i].name);
		assert_in_range(strlen(whole.observation), 100, FINDING_TEXT_CAP - 2);
		assert_true(whole.change[0] && whole.n_causes > 0 && whole.n_validate > 0 && whole.n_evidence > 0);
		for (size_t c = 0; c < whole.n_causes; c++)
			assert_in_range(strlen(whole.competing_causes[c]), 20, FINDING_TEXT_CAP - 2);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silent_agents),
		TEST(slow_agents_have_time),
		TEST(a_receiver_that_fails_is_found_and_ends),
		cmocka_unit_test(receivers_that_are_not_reached),
		TEST(a_jump_of_the_clock_is_no_silence),
		TEST(a_restart_forgets_nothing),
		TEST(many_at_once),
		TEST(lost_access),
		TEST(a_jvm_that_has_just_come_has_lost_nothing),
		TEST(the_store_is_swept),
		cmocka_unit_test(the_disk_fills),
		cmocka_unit_test(the_pace),
		cmocka_unit_test(words_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
