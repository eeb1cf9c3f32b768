/* SPDX-License-Identifier: Apache-2.0 */
/* Which finding comes first, which are its consequences, and that one change is left to make now. */
#include "rules/rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/text.h"
#include "support/snap.h"

static struct verdict *verdict;
static struct snapshot *snapshot;
static struct ledger *ledger;
static struct rule_input input;

static int set_up(void **state)
{
	(void)state;
	verdict = calloc(1, sizeof *verdict);
	snapshot = snap_new(&snap_plain);
	snapshot->cgroup.max = limit_set(2 * GIB);
	ledger = snap_ledger(snapshot);
	input = (struct rule_input){ .snapshot = snapshot, .ledger = ledger };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(verdict);
	free(ledger);
	snap_free(snapshot);
	return 0;
}

static struct finding *add(const char *rule, enum severity severity, uint64_t excess_bytes, enum knob knob,
			   enum turn turn)
{
	struct finding *f = &verdict->findings[verdict->n_findings++];
	assert_non_null(rules_find(str_of(rule))); /* a test of a rule that is not there tests nothing */
	memset(f, 0, sizeof *f);
	f->rule = rule;
	f->severity = severity;
	f->owner = -1;
	f->excess_bytes = excess_bytes;
	finding_title(f, "title of %s", rule);
	finding_change(f, "change of %s", rule);
	finding_turn(f, knob, turn);
	return f;
}

static const struct finding *at(size_t place, const char *rule)
{
	assert_true(place < verdict->n_findings);
	assert_string_equal(verdict->findings[place].rule, rule);
	return &verdict->findings[place];
}

static void is(const struct finding *f, const char *root, enum change_when when)
{
	if (root)
		assert_string_equal(f->root, root);
	else
		assert_null(f->root);
	assert_int_equal(f->when, when);
}

static void consequences_stand_below_their_root(void **state)
{
	(void)state;
	add("freeboard-low", SEVERITY_CRITICAL, 0, KNOB_LIMIT, TURN_UP);
	add("limit-above-process-size", SEVERITY_INFO, 0, KNOB_LIMIT, TURN_DOWN);
	add("rocksdb-over-budget", SEVERITY_WARNING, 600, KNOB_OVERHEAD, TURN_UP);
	add("pressure-stall", SEVERITY_WARNING, 0, KNOB_LIMIT, TURN_UP);
	rank_run(&input, verdict);
	is(at(0, "rocksdb-over-budget"), NULL, CHANGE_NOW);
	is(at(1, "freeboard-low"), "rocksdb-over-budget", CHANGE_WITH_ROOT);
	is(at(2, "pressure-stall"), "rocksdb-over-budget", CHANGE_WITH_ROOT); /* of freeboard-low, and so of its root */
	is(at(3, "limit-above-process-size"), NULL, CHANGE_LATER);
	assert_int_equal(verdict->worst, SEVERITY_CRITICAL);
	assert_non_null(strstr(verdict->headline, "Title of rocksdb-over-budget; the container can grow "));
}

static void the_cause_that_accounts_for_most_is_the_root(void **state)
{
	(void)state;
	add("freeboard-low", SEVERITY_CRITICAL, 0, KNOB_LIMIT, TURN_UP);
	add("tmpfs-charged", SEVERITY_WARNING, 300, KNOB_FILES, TURN_SET);
	add("other-process", SEVERITY_WARNING, 700, KNOB_APPLICATION, TURN_SET);
	rank_run(&input, verdict);
	is(at(0, "other-process"), NULL, CHANGE_NOW);
	is(at(1, "freeboard-low"), "other-process", CHANGE_WITH_ROOT);
	is(at(2, "tmpfs-charged"), NULL, CHANGE_LATER);
}

static void a_notice_is_not_blamed_for_a_warning(void **state)
{
	(void)state;
	add("freeboard-low", SEVERITY_WARNING, 0, KNOB_LIMIT, TURN_UP);
	add("tmpfs-charged", SEVERITY_NOTICE, 300, KNOB_FILES, TURN_SET);
	add("swap-in-use", SEVERITY_NOTICE, 0, KNOB_SWAP, TURN_SET);
	rank_run(&input, verdict);
	is(at(0, "freeboard-low"), NULL, CHANGE_NOW);
	is(at(1, "swap-in-use"), "freeboard-low", CHANGE_WITH_ROOT);
	is(at(2, "tmpfs-charged"), NULL, CHANGE_LATER);
}

static void a_change_that_undoes_the_first_is_held(void **state)
{
	(void)state;
	add("rocksdb-over-budget", SEVERITY_WARNING, 600, KNOB_PROCESS_SIZE, TURN_UP);
	add("limit-below-process-size", SEVERITY_WARNING, 100, KNOB_PROCESS_SIZE, TURN_DOWN);
	rank_run(&input, verdict);
	is(at(0, "rocksdb-over-budget"), NULL, CHANGE_NOW);
	is(at(1, "limit-below-process-size"), NULL, CHANGE_HELD);
}

/* To see more is no help to a container that is about to be killed: there the relief goes first. */
static void relief_before_sight(void **state)
{
	(void)state;
	add("freeboard-low", SEVERITY_CRITICAL, 0, KNOB_LIMIT, TURN_UP);
	add("native-unexplained", SEVERITY_WARNING, 900, KNOB_SIGHT, TURN_SET);
	rank_run(&input, verdict);
	is(at(0, "native-unexplained"), NULL, CHANGE_LATER);
	is(at(1, "freeboard-low"), "native-unexplained", CHANGE_NOW);
	verdict->n_findings = 0;
	add("freeboard-low", SEVERITY_WARNING, 0, KNOB_LIMIT, TURN_UP); /* little room is reason enough */
	add("native-unexplained", SEVERITY_WARNING, 900, KNOB_SIGHT, TURN_SET);
	rank_run(&input, verdict);
	is(at(0, "native-unexplained"), NULL, CHANGE_LATER);
	is(at(1, "freeboard-low"), "native-unexplained", CHANGE_NOW);
	verdict->n_findings = 0;
	add("demand-over-limit", SEVERITY_WARNING, 0, KNOB_LIMIT, TURN_UP); /* room is still there */
	add("native-unexplained", SEVERITY_WARNING, 900, KNOB_SIGHT, TURN_SET);
	rank_run(&input, verdict);
	is(at(0, "native-unexplained"), NULL, CHANGE_NOW);
	is(at(1, "demand-over-limit"), "native-unexplained", CHANGE_WITH_ROOT);
}

static void the_gravest_family_first_then_the_table(void **state)
{
	(void)state;
	add("access-degraded", SEVERITY_NOTICE, 0, KNOB_SIGHT, TURN_SET);
	add("page-cache-benign", SEVERITY_INFO, 0, KNOB_NONE, TURN_SET);
	add("heap-pressure", SEVERITY_WARNING, 0, KNOB_HEAP, TURN_UP);
	add("metrics-missing", SEVERITY_INFO, 0, KNOB_SIGHT, TURN_SET);
	add("direct-near-limit", SEVERITY_CRITICAL, 0, KNOB_DIRECT, TURN_UP);
	rank_run(&input, verdict);
	at(0, "direct-near-limit");
	at(1, "heap-pressure");
	at(2, "access-degraded");
	at(3, "page-cache-benign");
	at(4, "metrics-missing");
}

static void nothing_to_rank(void **state)
{
	(void)state;
	rank_run(&input, verdict);
	assert_int_equal(verdict->worst, SEVERITY_NONE);
	assert_non_null(strstr(verdict->headline, "Nothing to do: the container can grow "));
	assert_non_null(strstr(verdict->headline, "the largest owner is java-heap "));
}

/* What is said where limit, room or composition are not known. */
static void headlines_say_what_is_not_known(void **state)
{
	(void)state;
	ledger->limit.kind = LIMIT_NONE;
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "no limit is known"));
	ledger->limit = limit_set(GIB);
	ledger->freeboard_bytes.known = false;
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "the room below the limit of 1.00 GiB could not be read"));
	ledger->freeboard_bytes = (struct signed_qty){ -5 * MIB, true };
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "the container is 5.0 MiB past its limit"));
	ledger->freeboard_bytes.bytes = 7 * MIB;
	ledger->freeboard_level = FREEBOARD_PROCESSES;
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "can grow at most 7.0 MiB more"));
	ledger->freeboard_level = FREEBOARD_POD;
	snapshot->pod_limit = limit_set(GIB);
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "the pod can grow 7.0 MiB more"));
	memset(ledger->listed, 0, sizeof ledger->listed);
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "No composition could be read"));
}

static void a_headline_that_tells_the_room_says_whom_to_blame(void **state)
{
	(void)state;
	add("freeboard-low", SEVERITY_CRITICAL, 0, KNOB_LIMIT, TURN_UP)->owner = OWNER_JAVA_HEAP;
	rank_run(&input, verdict);
	assert_non_null(strstr(verdict->headline, "Title of freeboard-low; to blame first: java-heap "));
	assert_null(strstr(verdict->headline, "can grow"));
	verdict->findings[0].owner = -1;
	finding_title(&verdict->findings[0], "memory.max is passed");
	rank_run(&input, verdict);
	assert_string_equal(verdict->headline, "memory.max is passed."); /* a name is not capitalised */
}

/* The table of causes names rules that exist, and no rule is its own cause, however long the way round. */
static void causes_have_no_circle(void **state)
{
	(void)state;
	for (size_t i = 0; i < rule_count; i++) {
		bool reached[FINDINGS_MAX] = { false };
		reached[i] = true;
		for (size_t round = 0; round < rule_count; round++)
			for (size_t a = 0; a < rule_count; a++)
				for (size_t b = 0; reached[a] && b < rule_count; b++)
					if (rank_explains(rule_table[a].name, rule_table[b].name)) {
						assert_true(b != i);
						reached[b] = true;
					}
	}
	assert_false(rank_explains("freeboard-low", "freeboard-low"));
	assert_true(rank_explains("rocksdb-unbounded", "oom-kill"));
}

static void contradictions(void **state)
{
	(void)state;
	struct finding *a = add("freeboard-low", SEVERITY_WARNING, 0, KNOB_LIMIT, TURN_UP);
	struct finding *b = add("limit-above-process-size", SEVERITY_NOTICE, 0, KNOB_LIMIT, TURN_DOWN);
	assert_true(rank_contradicts(a, b));
	b->turns[0].turn = TURN_SET;
	assert_false(rank_contradicts(a, b));
	b->turns[0] = (struct knob_turn){ KNOB_HEAP, TURN_DOWN };
	assert_false(rank_contradicts(a, b));
	finding_turn(a, KNOB_HEAP, TURN_UP); /* the second knob counts too */
	assert_true(rank_contradicts(a, b));
}

/* Who grows is the cause of the end that is foretold, if it is the one that the forecast names. */
static void a_forecast_follows_from_its_grower(void **state)
{
	(void)state;
	add("limit-forecast", SEVERITY_WARNING, 300, KNOB_LIMIT, TURN_UP)->owner = OWNER_NATIVE_OTHER;
	add("native-growth", SEVERITY_WARNING, 300, KNOB_SIGHT, TURN_SET)->owner = OWNER_NATIVE_OTHER;
	add("metaspace-growth", SEVERITY_WARNING, 900, KNOB_APPLICATION, TURN_SET)->owner = OWNER_METASPACE;
	rank_run(&input, verdict);
	is(at(0, "metaspace-growth"), NULL, CHANGE_NOW);
	is(at(1, "native-growth"), NULL, CHANGE_LATER);
	is(at(2, "limit-forecast"), "native-growth", CHANGE_WITH_ROOT);
	/* A version that leaks is nearer the cause, but no leak of the heap is. */
	add("known-leak", SEVERITY_WARNING, 0, KNOB_VERSION, TURN_SET)->owner = OWNER_JAVA_HEAP;
	rank_run(&input, verdict);
	assert_null(rules_finding(verdict, "native-growth")->root);
	for (size_t i = 0; i < verdict->n_findings; i++)
		if (strcmp(verdict->findings[i].rule, "known-leak") == 0)
			verdict->findings[i].owner = OWNER_NATIVE_OTHER;
	rank_run(&input, verdict);
	assert_string_equal(rules_finding(verdict, "native-growth")->root, "known-leak");
	assert_string_equal(rules_finding(verdict, "limit-forecast")->root, "known-leak");
	assert_true(rank_explains("limit-forecast", "freeboard-low") && rank_explains("step-growth", "native-growth"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(consequences_stand_below_their_root),
		TEST(the_cause_that_accounts_for_most_is_the_root),
		TEST(a_notice_is_not_blamed_for_a_warning),
		TEST(a_change_that_undoes_the_first_is_held),
		TEST(relief_before_sight),
		TEST(the_gravest_family_first_then_the_table),
		TEST(nothing_to_rank),
		TEST(headlines_say_what_is_not_known),
		TEST(a_headline_that_tells_the_room_says_whom_to_blame),
		TEST(causes_have_no_circle),
		TEST(contradictions),
		TEST(a_forecast_follows_from_its_grower),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
