/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of states, severities, searches and facets; that windows are cuts of the whole, tests/property/prop_view.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/fleet_view.h"
#include "support/fleetfill.h"

static const struct wall t0 = { INT64_C(1764489600000) };

static struct wall later(int64_t ms)
{
	return (struct wall){ t0.ms + ms };
}

static struct fleet *fleet_of(void)
{
	struct fleet *fleet = NULL;
	struct err err;
	assert_int_equal(fleet_new(&fleet, &err), 0);
	return fleet;
}

static void join(struct fleet *fleet, int64_t agent, const char *namespace_, const char *pod, const char *engine)
{
	struct wire_hello hello;
	struct err err;
	fleetfill_hello(&hello, 0);
	str_copy(hello.subject.namespace_, sizeof hello.subject.namespace_, str_of(namespace_));
	str_copy(hello.subject.pod, sizeof hello.subject.pod, str_of(pod));
	str_copy(hello.engine, sizeof hello.engine, str_of(engine));
	assert_int_equal(fleet_connected(fleet, agent, pod, &hello, 0, t0, &err), 0);
}

static void states(void **state)
{
	(void)state;
	static const struct {
		uint32_t interval_ms;
		int64_t silent_ms;
		enum pod_state state;
	} cases[] = {
		{ 0, 0, POD_CONNECTED },           { 0, 29999, POD_CONNECTED },      { 0, 30000, POD_STALE },
		{ 1000, 29999, POD_CONNECTED },    { 1000, 30000, POD_STALE },       { 10000, 29999, POD_CONNECTED },
		{ 10000, 30000, POD_STALE },       { 60000, 179999, POD_CONNECTED }, { 60000, 180000, POD_STALE },
		{ 60000, -500000, POD_CONNECTED }, /* a clock that was set back */
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fleet *fleet = fleet_of();
		struct wire_sample sample;
		join(fleet, 1, "a", "p", "");
		fleetfill_sample(&sample, 0);
		sample.interval_ms = cases[i].interval_ms;
		fleet_sample(fleet, 1, &sample, t0);
		assert_int_equal(pod_state(fleet_find(fleet, 1), later(cases[i].silent_ms)), cases[i].state);
		fleet_disconnected(fleet, 1, false, t0);
		assert_int_equal(pod_state(fleet_find(fleet, 1), later(cases[i].silent_ms)), POD_GONE);
		fleet_free(fleet);
	}
}

static void who_ended_on_purpose_has_no_findings(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of();
	struct wire_finding finding;
	struct err err;
	for (int64_t agent = 1; agent <= 2; agent++) {
		join(fleet, agent, "a", agent == 1 ? "p" : "q", "");
		fleetfill_finding(&finding, 1);
		assert_int_equal(fleet_finding(fleet, agent, &finding, t0, &err), 0);
		assert_int_equal(pod_severity(fleet_find(fleet, agent)), SEVERITY_WARNING);
		fleet_disconnected(fleet, agent, agent == 1, t0);
	}
	assert_int_equal(pod_severity(fleet_find(fleet, 1)), SEVERITY_NONE);
	assert_int_equal(pod_severity(fleet_find(fleet, 2)), SEVERITY_WARNING);
	fleet_free(fleet);
}

static void searches(void **state)
{
	(void)state;
	static const struct {
		const char *q;
		bool found;
	} cases[] = {
		{ "", true },
		{ "Web", true },
		{ "WEB-1", true },
		{ "web-12", false },
		{ "shop", true },
		{ "job-0", true },
		{ "NODE-0.int", true },
		{ "web-1 ", false },
		{ "\xc3\xa9t\xc3\xa9", true }, /* of what is no ASCII, upper and lower case are two letters */
		{ "\xc3\x89t\xc3\xa9", false },
		{ "-1-\xc3", true },
		{ "prod", false },
		{ "silver", false },
	};
	struct fleet *fleet = fleet_of();
	join(fleet, 1, "Shop", "web-1-\xc3\xa9t\xc3\xa9", "flink 1.20.0");
	const struct fleet_pod *pod = fleet_find(fleet, 1);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (view_has_text(pod, cases[i].q) != cases[i].found)
			fail_msg("%s", cases[i].q);
	static const struct {
		const char *wanted;
		bool is;
	} engines[] = { { "", true },
			{ "flink", true },
			{ "flink 1.20.0", true },
			{ "flink 1.20", false },
			{ "flink 1.20.0 ", false },
			{ "fli", false },
			{ "Flink", false } };
	for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
		assert_int_equal(view_is_engine(pod->engine, engines[i].wanted), engines[i].is);
	assert_true(view_is_engine(NULL, ""));
	assert_false(view_is_engine(NULL, "flink"));
	fleet_free(fleet);
}

static void facets_have_an_end(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of();
	struct fleet_index index;
	struct auth_viewer viewer = { .role = AUTH_VIEWER };
	static struct view_facets facets;
	struct err err;
	for (int i = 0; i < 300; i++) {
		char namespace_[16], pod[16], engine[24];
		(void)snprintf(namespace_, sizeof namespace_, "n-%03d", i);
		(void)snprintf(pod, sizeof pod, "p-%d", i);
		(void)snprintf(engine, sizeof engine, "flink 1.%d.0", 299 - i);
		join(fleet, i + 1, namespace_, pod, engine);
	}
	fleet_index_init(&index, fleet);
	assert_int_equal(fleet_index_refresh(&index, t0, &err), 0);
	fleet_view_facets(&index, &viewer, &facets);
	assert_int_equal(facets.n_namespaces, VIEW_FACETS_MAX);
	assert_int_equal(facets.n_engines, VIEW_FACETS_MAX);
	assert_int_equal(facets.n_clusters, 1);
	for (size_t i = 1; i < VIEW_FACETS_MAX; i++) {
		assert_true(strcmp(facets.namespaces[i - 1], facets.namespaces[i]) < 0);
		assert_true(strcmp(facets.engines[i - 1], facets.engines[i]) < 0);
	}
	/* Nothing changed: nothing is looked at; the clock alone can do it. */
	uint64_t version = index.version;
	assert_int_equal(fleet_index_refresh(&index, later(29999), &err), 0);
	assert_int_equal(index.version, version);
	assert_int_equal(fleet_index_refresh(&index, later(30000), &err), 0);
	assert_true(index.version > version);
	assert_int_equal(index.pods[0].state, POD_STALE);
	fleet_index_done(&index);
	fleet_free(fleet);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(states),
		cmocka_unit_test(who_ended_on_purpose_has_no_findings),
		cmocka_unit_test(searches),
		cmocka_unit_test(facets_have_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
