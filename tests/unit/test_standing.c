/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over time: dwell, levels that hold, edges. */
#include "rules/standing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rules/text.h"
#include "support/snap.h"

static struct standings standings;
static struct verdict *verdict;
static enum standing_edge edges[FINDINGS_MAX];

static int set_up(void **state)
{
	(void)state;
	memset(&standings, 0, sizeof standings);
	verdict = calloc(1, sizeof *verdict);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(verdict);
	return 0;
}

static size_t index_of(const char *rule)
{
	return (size_t)(rules_find(str_of(rule)) - rule_table);
}

/* One step at `second` in which `rule` fires at `severity`, or not at all; what happened to it. */
static enum standing_edge step(const char *rule, unsigned second, enum severity severity, const char *title)
{
	verdict->n_findings = severity != SEVERITY_NONE;
	verdict->findings[0].rule = rule;
	verdict->findings[0].severity = severity;
	finding_title(&verdict->findings[0], "%s", title);
	standing_step(&standings, verdict, (struct mono){ (uint64_t)second * 1000000000 }, edges);
	return edges[index_of(rule)];
}

static const char rule[] = "freeboard-low";

static void critical_opens_at_once(void **state)
{
	(void)state;
	assert_int_equal(step(rule, 10, SEVERITY_CRITICAL, "a"), EDGE_OPENED);
	assert_int_equal(standings.of[index_of(rule)].openings, 1);
	assert_int_equal(standings.of[index_of(rule)].opened.ns, 10000000000);
	assert_int_equal(step(rule, 15, SEVERITY_CRITICAL, "a"), EDGE_NONE);
	assert_int_equal(step(rule, 20, SEVERITY_CRITICAL, "b"), EDGE_UPDATED); /* other figures */
}

static void a_warning_must_last(void **state)
{
	(void)state;
	assert_int_equal(step(rule, 10, SEVERITY_WARNING, "a"), EDGE_NONE);
	assert_int_equal(step(rule, 20, SEVERITY_WARNING, "b"), EDGE_NONE);
	assert_int_equal(step(rule, 25, SEVERITY_WARNING, "c"), EDGE_OPENED);
	/* A peak that passes is none. */
	memset(&standings, 0, sizeof standings);
	assert_int_equal(step(rule, 10, SEVERITY_WARNING, "a"), EDGE_NONE);
	assert_int_equal(step(rule, 20, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 30, SEVERITY_WARNING, "a"), EDGE_NONE);
	assert_int_equal(standings.of[index_of(rule)].openings, 0);
}

static void it_clears_when_quiet_for_a_minute(void **state)
{
	(void)state;
	(void)step(rule, 10, SEVERITY_CRITICAL, "a");
	assert_int_equal(step(rule, 20, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 79, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 80, SEVERITY_NONE, ""), EDGE_CLEARED);
	assert_int_equal(step(rule, 90, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 91, SEVERITY_CRITICAL, "a"), EDGE_OPENED);
	assert_int_equal(standings.of[index_of(rule)].openings, 2); /* another episode */
	/* Quiet, but not for long enough: it was never gone. */
	assert_int_equal(step(rule, 100, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 130, SEVERITY_CRITICAL, "a"), EDGE_NONE);
	assert_int_equal(step(rule, 170, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 229, SEVERITY_NONE, ""), EDGE_NONE);
}

static void severity_moves_with_dwell(void **state)
{
	(void)state;
	(void)step(rule, 0, SEVERITY_WARNING, "a");
	assert_int_equal(step(rule, 15, SEVERITY_WARNING, "a"), EDGE_OPENED);
	assert_int_equal(step(rule, 20, SEVERITY_CRITICAL, "a"), EDGE_UPDATED);
	assert_int_equal(standings.of[index_of(rule)].open, SEVERITY_CRITICAL);
	assert_int_equal(step(rule, 30, SEVERITY_WARNING, "a"), EDGE_NONE);
	assert_int_equal(standings.of[index_of(rule)].open, SEVERITY_CRITICAL);
	assert_int_equal(step(rule, 90, SEVERITY_WARNING, "a"), EDGE_UPDATED);
	assert_int_equal(standings.of[index_of(rule)].open, SEVERITY_WARNING);
	/* What grows worse on its way is not made to wait anew. */
	memset(&standings, 0, sizeof standings);
	(void)step(rule, 0, SEVERITY_NOTICE, "a");
	(void)step(rule, 10, SEVERITY_WARNING, "a");
	assert_int_equal(step(rule, 16, SEVERITY_WARNING, "a"), EDGE_OPENED);
}

static void no_answer_is_no_end(void **state)
{
	(void)state;
	(void)step(rule, 10, SEVERITY_CRITICAL, "a");
	verdict->n_inconclusive = 1;
	verdict->inconclusive[0].rule = rule;
	assert_int_equal(step(rule, 200, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 400, SEVERITY_NONE, ""), EDGE_NONE);
	verdict->n_inconclusive = 0;
	verdict->n_silenced = 1;
	verdict->silenced[0].rule = rule;
	assert_int_equal(step(rule, 600, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(standings.of[index_of(rule)].open, SEVERITY_CRITICAL);
	verdict->n_silenced = 0;
	assert_int_equal(step(rule, 700, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(rule, 760, SEVERITY_NONE, ""), EDGE_CLEARED);
}

static void rules_do_not_mix(void **state)
{
	(void)state;
	(void)step("oom-kill", 10, SEVERITY_CRITICAL, "a");
	assert_int_equal(edges[index_of("oom-kill")], EDGE_OPENED);
	for (size_t i = 0; i < rule_count; i++)
		if (i != index_of("oom-kill"))
			assert_int_equal(edges[i], EDGE_NONE);
}

/* A slow rule asks for its own time, up and down, whatever its severity. */
static void slow_rules_dwell(void **state)
{
	(void)state;
	static const char slow[] = "native-growth";
	unsigned dwell = rule_table[index_of(slow)].dwell_s;
	assert_true(dwell > 60);
	assert_int_equal(step(slow, 10, SEVERITY_CRITICAL, "a"), EDGE_NONE);
	assert_int_equal(step(slow, 9 + dwell, SEVERITY_CRITICAL, "a"), EDGE_NONE);
	assert_int_equal(step(slow, 10 + dwell, SEVERITY_CRITICAL, "a"), EDGE_OPENED);
	assert_int_equal(step(slow, 1000 + dwell, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(slow, 999 + 2 * dwell, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(slow, 1000 + 2 * dwell, SEVERITY_NONE, ""), EDGE_CLEARED);
}

/* What is critical there may have its own: five minutes are more than some have left. */
static void a_slow_rule_hastes_when_critical(void **state)
{
	(void)state;
	static const char forecast[] = "limit-forecast";
	unsigned dwell = rule_table[index_of(forecast)].dwell_s,
		 hasty = rule_table[index_of(forecast)].critical_dwell_s;
	assert_true(hasty > 0 && hasty < dwell);
	assert_int_equal(step(forecast, 10, SEVERITY_CRITICAL, "a"), EDGE_NONE);
	assert_int_equal(step(forecast, 10 + hasty, SEVERITY_CRITICAL, "a"), EDGE_OPENED);
	assert_int_equal(step(forecast, 1000, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(forecast, 999 + dwell, SEVERITY_NONE, ""), EDGE_NONE);
	assert_int_equal(step(forecast, 1000 + dwell, SEVERITY_NONE, ""), EDGE_CLEARED);
}

/* Between raise and clear level what is open stays, at the severity that it has, and what is not stays quiet. */
static void levels_hold_what_is_open(void **state)
{
	(void)state;
	const struct snap_shape shape = { .heap = 400, .pool = 500 };
	struct snapshot *s = snap_new(&shape);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	enum severity open[FINDINGS_MAX];
	size_t at = index_of(rule);
	/* Room of 11 %: below the clear level of a warning (12 %), above its raise level (10 %). */
	s->cgroup.max = limit_set(qty_or(s->cgroup.stat.anon_bytes, 0) / 89 * 100);
	struct ledger *l = snap_ledger(s);
	struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
	rules_run(&input, verdict);
	for (size_t i = 0; i < verdict->n_findings; i++)
		assert_string_not_equal(verdict->findings[i].rule, rule);
	standings.of[at].open = SEVERITY_WARNING;
	standing_open(&standings, open);
	input.open = open;
	rules_run(&input, verdict);
	const struct finding *found = NULL;
	for (size_t i = 0; i < verdict->n_findings; i++)
		if (strcmp(verdict->findings[i].rule, rule) == 0)
			found = &verdict->findings[i];
	assert_non_null(found);
	assert_int_equal(found->severity, SEVERITY_WARNING);
	free(l);
	/* Of 3.5 %: critical would clear at 4 %. A warning is not raised to it; a critical one stays. */
	s->cgroup.max = limit_set(qty_or(s->cgroup.stat.anon_bytes, 0) / 965 * 1000);
	l = snap_ledger(s);
	input.ledger = l;
	rules_run(&input, verdict);
	assert_int_equal(verdict->worst, SEVERITY_WARNING);
	open[at] = SEVERITY_CRITICAL;
	rules_run(&input, verdict);
	assert_int_equal(verdict->worst, SEVERITY_CRITICAL);
	free(l);
	snap_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(critical_opens_at_once),
		TEST(a_warning_must_last),
		TEST(it_clears_when_quiet_for_a_minute),
		TEST(severity_moves_with_dwell),
		TEST(no_answer_is_no_end),
		TEST(rules_do_not_mix),
		TEST(slow_rules_dwell),
		TEST(a_slow_rule_hastes_when_critical),
		TEST(levels_hold_what_is_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
