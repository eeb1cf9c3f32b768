/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's page: what is known has a series, what is not has none, and it parses as Prometheus text. */
#include "agent/expose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/prom.h"
#include "support/snap.h"

static struct snapshot *s;
static struct ledger *ledger;
static struct aged_mark mark;
static struct history_view view;
static struct standings standings;
static struct budget budget;
static struct slow_counts slow;
static struct outbox_counts outbox;
static struct usage usage;
static struct buf page;
static struct expose_input input;

static int set_up(void **state)
{
	(void)state;
	s = snap_new(&snap_plain);
	s->cgroup.max = limit_set(2 * GIB);
	ledger = snap_ledger(s);
	memset(&view, 0, sizeof view);
	memset(&standings, 0, sizeof standings);
	memset(&outbox, 0, sizeof outbox);
	memset(&usage, 0, sizeof usage);
	aged_keep(s, ledger, &mark);
	budget_start(&budget, 20, 30000, 50, 0);
	page = (struct buf){ .cap = 1 << 20 };
	input = (struct expose_input){ .version = "1\"2",
				       .snapshot = s,
				       .ledger = ledger,
				       .mark = &mark,
				       .history = &view,
				       .standings = &standings,
				       .budget = &budget,
				       .slow = &slow,
				       .outbox = &outbox,
				       .usage = &usage };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snap_free(s);
	free(ledger);
	buf_done(&page);
	return 0;
}

/* Every line is a comment or a sample, and no series comes twice. */
static void make(void)
{
	struct err err = { 0 };
	struct prom prom;
	struct prom_sample sample;
	buf_clear(&page);
	assert_true(expose_metrics(&input, &page));
	prom_start(&prom, buf_str(&page));
	while (prom_next(&prom, &sample))
		;
	assert_int_equal(prom_end(&prom, &err), 0);
	assert_int_equal(prom.n_bad, 0);
	assert_false(prom.truncated);
	struct str rest = buf_str(&page), line;
	while (str_line(&rest, &line)) {
		if (line.ptr[0] == '#')
			continue;
		size_t name = line.len;
		while (name && line.ptr[name - 1] != ' ')
			name--;
		struct str series = { line.ptr, name }, others = rest, other;
		while (str_line(&others, &other))
			if (str_starts(other, series))
				fail_msg("twice: %.*s", (int)series.len, series.ptr);
	}
}

static bool has(const char *text)
{
	char line[300];
	(void)snprintf(line, sizeof line, "\n%s", text);
	return strstr(page.ptr, line) != NULL;
}

static void what_is_known_is_there(void **state)
{
	(void)state;
	char text[200];
	s->age_ms = 1500;
	s->cgroup.events.oom_kill = count_of(3);
	budget.walk_ns_total = 12345678;
	make();
	assert_true(has("bankfull_target_up 1\n"));
	assert_true(has("bankfull_limit_bytes 2147483648\n"));
	(void)snprintf(text, sizeof text, "bankfull_floor_bytes %llu\n", (unsigned long long)ledger->floor_bytes.bytes);
	assert_true(has(text));
	(void)snprintf(text, sizeof text, "bankfull_owner_resident_bytes{owner=\"java-heap\",group=\"anon\"} %llu\n",
		       (unsigned long long)ledger->lines[OWNER_JAVA_HEAP].bytes.bytes);
	assert_true(has(text));
	assert_true(has("bankfull_composition_age_seconds 1.500\n"));
	assert_true(has("bankfull_memory_events_total{event=\"oom_kill\"} 3\n"));
	assert_true(has("bankfull_agent_smaps_walk_seconds_total 0.012345\n"));
	assert_true(has("bankfull_build_info{version=\"1\\\"2\"} 1\n"));
}

static void what_is_unread_is_absent_and_never_zero(void **state)
{
	(void)state;
	snap_no_cgroup(s);
	free(ledger);
	ledger = snap_ledger(s);
	input.ledger = ledger;
	mark.known = false;
	make();
	assert_false(has("bankfull_charge_bytes "));
	assert_false(has("bankfull_limit_bytes "));
	assert_false(has("bankfull_freeboard_bytes "));
	assert_false(has("bankfull_owner_resident_bytes{"));
	assert_false(has("bankfull_composition_age_seconds "));
	assert_false(has("bankfull_group_growth_bytes{"));
	assert_false(has("bankfull_memory_events_total{event=\"oom\"}"));
	assert_false(has("process_open_fds "));
	assert_false(has("bankfull_engine_restarts_total "));
	assert_false(has("bankfull_forecast_seconds{"));
}

static void without_a_target_only_the_agent_speaks(void **state)
{
	(void)state;
	input.snapshot = NULL;
	make();
	assert_true(has("bankfull_agent_ticks_total 0\n"));
	assert_non_null(strstr(page.ptr, "bankfull_target_up 0\n"));
	assert_false(has("bankfull_floor_bytes "));
	assert_false(has("bankfull_target_info{"));
}

static void findings_and_forecast_have_their_series(void **state)
{
	(void)state;
	size_t rule = (size_t)(rules_find(STR("freeboard-low")) - rule_table);
	standings.of[rule].open = SEVERITY_CRITICAL;
	view.forecast = (struct forecast){
		.kind = FORECAST_REACHES, .earliest_s = 60, .likely_s = 120, .latest_s = FORECAST_NEVER
	};
	make();
	assert_true(has("bankfull_finding_open{rule=\"freeboard-low\",severity=\"critical\"} 1\n"));
	assert_true(has("bankfull_forecast_seconds{bound=\"likely\"} 120\n"));
	assert_false(has("bankfull_forecast_seconds{bound=\"latest\"}"));
	ledger->freeboard_bytes = (struct signed_qty){ -4096, true };
	make();
	assert_true(has("bankfull_freeboard_bytes -4096\n"));
}

/* Who watches the agents with Prometheus is silenced by the same silence. */
static void a_silenced_finding_is_not_open(void **state)
{
	(void)state;
	size_t rule = (size_t)(rules_find(STR("freeboard-low")) - rule_table);
	static const struct rule_silences silences = {
		.items = { { .rule = "freeboard-low", .reason = "known", .until.ms = 1000, .quiet = true } }, .n = 1
	};
	standings.of[rule].open = SEVERITY_CRITICAL;
	input.silences = &silences;
	input.now = (struct wall){ 999 };
	make();
	assert_false(has("bankfull_finding_open{rule=\"freeboard-low\""));
	assert_true(has("bankfull_finding_silenced{rule=\"freeboard-low\",severity=\"critical\"} 1\n"));
	input.now = (struct wall){ 1000 };
	make();
	assert_true(has("bankfull_finding_open{rule=\"freeboard-low\",severity=\"critical\"} 1\n"));
	assert_false(has("bankfull_finding_silenced{rule="));
}

/* Of a static token, which says no end, and before any was shown there is no series: 0 would have ended in 1970. */
static void when_its_token_ends(void **state)
{
	(void)state;
	make();
	assert_false(has("bankfull_agent_token_expiry_timestamp_seconds"));
	outbox.token_expires.ms = INT64_C(1796032800250);
	make();
	assert_true(has("# TYPE bankfull_agent_token_expiry_timestamp_seconds gauge\n"));
	assert_true(has("bankfull_agent_token_expiry_timestamp_seconds 1796032800.250\n"));
}

static void a_page_that_does_not_fit_is_told(void **state)
{
	(void)state;
	struct buf small = { .cap = 2000 };
	assert_false(expose_metrics(&input, &small));
	buf_done(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_known_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_unread_is_absent_and_never_zero, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_target_only_the_agent_speaks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(findings_and_forecast_have_their_series, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_silenced_finding_is_not_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(when_its_token_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_page_that_does_not_fit_is_told, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
