/* SPDX-License-Identifier: Apache-2.0 */
/* access-degraded: what a missing input costs, and what to do about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "access-degraded";
static const struct snap_shape plain = { .heap = 400, .pool = 100 };

static enum rule_answer ask(const struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	return answer;
}

static void silent_with_everything_read(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&plain);
	struct finding f;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	snap_free(s);
}

static void each_gap_has_its_cost_and_remedy(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		enum err_kind kind;
		enum severity severity;
		const char *cost, *change;
	} table[] = {
		{ "proc/status", ERR_DENIED, SEVERITY_WARNING, "everything", "own uid and gid" },
		{ "proc/smaps", ERR_DENIED, SEVERITY_WARNING, "no composition at all", "own uid and gid" },
		{ "proc/smaps", ERR_MALFORMED, SEVERITY_WARNING, "no composition at all",
		  "remove the cause given for proc/smaps" },
		{ "cgroup/memory.max", ERR_GONE, SEVERITY_WARNING, "limit and freeboard", "--cgroup DIR" },
		{ "cgroup/memory.stat", ERR_GONE, SEVERITY_WARNING, "other-processes", "--cgroup DIR" },
		{ "cgroup/memory.events", ERR_GONE, SEVERITY_NOTICE, "freeboard is an upper bound", "--cgroup DIR" },
		{ "cgroup", ERR_UNSUPPORTED, SEVERITY_NOTICE, "freeboard is an upper bound", "--cgroup DIR" },
		{ "jvm/attach", ERR_UNSUPPORTED, SEVERITY_NOTICE, "exact java-heap", "jvm/attach" },
		{ "jvm/nmt", ERR_UNSUPPORTED, SEVERITY_INFO, "native-other", "-XX:NativeMemoryTracking=summary" },
		{ "http/metrics", ERR_UNSUPPORTED, SEVERITY_NOTICE, "rocksdb lines", "--metrics URL" },
		{ "conf/flink", ERR_GONE, SEVERITY_INFO, "where settings were read", "conf/flink" },
		{ "proc/pagemap", ERR_DENIED, SEVERITY_INFO, "split by size", "own uid and gid" },
		{ "something/new", ERR_IO, SEVERITY_INFO, "what it would have told", "something/new" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snapshot *s = snap_new(&plain);
		struct finding f;
		snap_gap(s, table[i].what, (int)table[i].kind, "the reason");
		assert_int_equal(ask(s, &f), RULE_FIRED);
		judge_whole(&f);
		if (f.severity != table[i].severity || !strstr(f.observation, table[i].cost) ||
		    !strstr(f.change, table[i].change))
			print_error("%s: %s / %s\n", table[i].what, f.observation, f.change);
		assert_int_equal(f.severity, table[i].severity);
		assert_non_null(strstr(f.observation, table[i].cost));
		assert_non_null(strstr(f.change, table[i].change));
		assert_non_null(strstr(f.observation, "the reason"));
		judge_missing(&f, table[i].what);
		assert_int_equal(f.evidence[0].value, 1);
		assert_string_equal(f.title, "1 input could not be read");
		snap_free(s);
	}
}

static void the_gravest_decides(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&plain);
	struct finding f;
	snap_gap(s, "conf/flink", ERR_GONE, "a");
	snap_gap(s, "jvm/nmt", ERR_UNSUPPORTED, "b");
	snap_gap(s, "proc/smaps", ERR_DENIED, "c");
	snap_gap(s, "http/metrics", ERR_TIMEOUT, "d");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_non_null(strstr(f.observation, "proc/smaps: c. It costs: "));
	assert_string_equal(f.title, "4 inputs could not be read");
	snap_free(s);
}

/* As most pods are found: NMT is the one with a row further up, and its lack is the lesser one. */
static void severity_and_text_are_of_the_same_gap(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&plain);
	struct finding f;
	snap_gap(s, "jvm/nmt", ERR_UNSUPPORTED, "b");
	snap_gap(s, "http/metrics", ERR_GONE, "d");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	assert_non_null(strstr(f.observation, "http/metrics: d. It costs: "));
	assert_non_null(strstr(f.change, "--metrics"));
	snap_free(s);
}

static void a_refused_scan_leaves_the_last_one(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&plain);
	s->vmas_read = true;
	snap_gap(s, "proc/smaps", ERR_LIMIT,
		 "not scanned: it would hold the JVM's address space for some 70 ms at once");
	struct finding f;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.observation, "stay those of the last scan"));
	assert_null(strstr(f.observation, "no composition"));
	snap_free(s);
}

static void all_gaps_with_the_longest_reasons(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&plain);
	struct finding f;
	char what[sizeof s->gaps[0].what], reason[sizeof s->gaps[0].reason];
	memset(reason, 'r', sizeof reason);
	reason[sizeof reason - 1] = '\0';
	for (int i = 0; i < GAPS_MAX; i++) {
		(void)snprintf(what, sizeof what, "cgroup/%d-%.60s", i,
			       "a-name-that-is-as-long-as-any-name-may-be-here-or-longer");
		snap_gap(s, what, ERR_IO, reason);
	}
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.n_missing, FINDING_LIST_MAX);
	assert_non_null(strstr(f.observation, "43 more stand in access.reasons."));
	for (size_t i = 0; i < f.n_missing; i++)
		assert_non_null(strstr(f.missing[i], reason));
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent_with_everything_read),
		cmocka_unit_test(each_gap_has_its_cost_and_remedy),
		cmocka_unit_test(the_gravest_decides),
		cmocka_unit_test(severity_and_text_are_of_the_same_gap),
		cmocka_unit_test(a_refused_scan_leaves_the_last_one),
		cmocka_unit_test(all_gaps_with_the_longest_reasons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
