/* SPDX-License-Identifier: Apache-2.0 */
/* other-process. */
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

static const char rule[] = "other-process";
static const char weights[] = "taskmanager.memory.managed.consumer-weights";

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

/* `mib` MiB of other processes in a container of `limit_mib`. */
static struct snapshot *beside(unsigned mib, uint64_t limit_mib)
{
	const struct snap_shape shape = { .heap = 300, .pool = 50, .others = mib };
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(limit_mib * MIB);
	s->cgroup.n_procs = count_of(4);
	s->engine.python = TRISTATE_FALSE;
	return s;
}

/* The same beside a TaskManager with 1000 MiB of managed memory. */
static struct snapshot *workers(unsigned mib, enum tristate python, enum state_backend backend)
{
	struct snapshot *s = beside(mib, 4000);
	const uint64_t m = MIB;
	snap_flink(s, 1000 * m, 1000 * m, 200 * m, 300 * m, 400 * m, 3600 * m);
	s->engine.python = python;
	s->engine.backend = backend;
	return s;
}

static void levels(void **state)
{
	(void)state;
	static const struct {
		unsigned mib;
		uint64_t limit_mib;
		enum severity severity; /* NONE: silent */
	} table[] = {
		{ 0, 1000, SEVERITY_NONE },      { 64, 1000, SEVERITY_NONE },    /* just the bytes */
		{ 65, 1000, SEVERITY_NOTICE },   { 100, 2000, SEVERITY_NONE },   /* just 5 % */
		{ 101, 2000, SEVERITY_NOTICE },  { 200, 2000, SEVERITY_NOTICE }, /* just 10 % */
		{ 201, 2000, SEVERITY_WARNING }, { 60, 100, SEVERITY_NONE },     /* much of it, but few bytes */
		{ 900, 100000, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(beside(table[i].mib, table[i].limit_mib), &f);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (answer != RULE_FIRED)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, table[i].severity);
		judge_figure(&f, "other_processes_bytes", table[i].mib * (uint64_t)MIB);
		assert_true(f.excess_bytes == table[i].mib * (uint64_t)MIB);
		assert_int_equal(f.owner, OWNER_OTHER_PROCESSES);
		assert_non_null(strstr(f.title, "3 other processes in the container hold "));
	}
}

static void counts_them(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = beside(300, 1000);
	s->cgroup.n_procs = count_of(2);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.title, "1 other process in the container holds 300.0 MiB"));
	assert_non_null(strstr(f.change, "resources.limits.memory of 384Mi")); /* 375 in steps of 64 */
	s = beside(300, 1000);
	s->cgroup.target_is_member = false; /* the JVM is elsewhere: all four are others */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.title, "4 other processes"));
	s = beside(300, 1000);
	s->cgroup.n_procs.known = false;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(strncmp(f.title, "other processes in the container hold ", 38), 0);
}

/* Flink's PYTHON weight is 30 of 100 beside RocksDB on managed memory, all of it alone, 30 of 170 with batch operators. */
static void python_has_its_share(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(workers(300, TRISTATE_TRUE, BACKEND_ROCKSDB), &f), RULE_SILENT); /* just the share */
	assert_int_equal(ask(workers(500, TRISTATE_TRUE, BACKEND_ROCKSDB), &f), RULE_SILENT); /* just 5 % past it */
	assert_int_equal(ask(workers(501, TRISTATE_TRUE, BACKEND_ROCKSDB), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_figure(&f, "other_processes_bytes", 501 * (uint64_t)MIB);
	judge_figure(&f, "python_share_bytes", 300 * (uint64_t)MIB);
	assert_true(f.excess_bytes == 201 * (uint64_t)MIB);
	assert_non_null(strstr(f.title, "against 300.0 MiB that Flink sets aside for Python"));
	assert_non_null(strstr(f.change, "jvm-overhead.min and .max both to 704m (304m more than now)"));
	assert_int_equal(f.turns[0].knob, KNOB_OVERHEAD);
	assert_int_equal(ask(workers(700, TRISTATE_TRUE, BACKEND_ROCKSDB), &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE); /* just 10 % past it */
	assert_int_equal(ask(workers(701, TRISTATE_TRUE, BACKEND_ROCKSDB), &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);

	assert_int_equal(ask(workers(1200, TRISTATE_TRUE, BACKEND_HASHMAP), &f), RULE_SILENT);
	assert_int_equal(ask(workers(1201, TRISTATE_TRUE, BACKEND_HASHMAP), &f), RULE_FIRED);
	judge_figure(&f, "python_share_bytes", 1000 * (uint64_t)MIB);

	struct snapshot *s = workers(1200, TRISTATE_TRUE, BACKEND_ROCKSDB); /* RocksDB lives elsewhere */
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = workers(1200, TRISTATE_TRUE, BACKEND_ROCKSDB);
	s->engine.rocksdb_fixed_per_slot_bytes = qty_measured(GIB);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = workers(600, TRISTATE_TRUE, BACKEND_ROCKSDB);
	s->engine.batch = TRISTATE_TRUE;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_figure(&f, "python_share_bytes", 1000 * (uint64_t)MIB * 30 / 170);

	s = workers(1200, TRISTATE_TRUE, BACKEND_HASHMAP); /* a JobManager shares nothing out */
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_true(f.excess_bytes == 1200 * (uint64_t)MIB);
}

static void python_weights_are_read(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = workers(700, TRISTATE_TRUE, BACKEND_ROCKSDB);
	snap_setting(s, weights, "OPERATOR:70,STATE_BACKEND:50,PYTHON:50", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_SILENT); /* a share of 500 */
	s = workers(701, TRISTATE_TRUE, BACKEND_ROCKSDB);
	snap_setting(s, weights, "OPERATOR:70,STATE_BACKEND:50,PYTHON:50", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_figure(&f, "python_share_bytes", 500 * (uint64_t)MIB);
	assert_string_equal(f.effective_settings[1].key, weights);
	s = workers(701, TRISTATE_TRUE, BACKEND_ROCKSDB); /* nothing for anybody */
	snap_setting(s, weights, "STATE_BACKEND:0,PYTHON:0", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_figure(&f, "python_share_bytes", 0);
	s = workers(700, TRISTATE_TRUE, BACKEND_ROCKSDB);
	snap_setting(s, weights, "STATE_BACKEND:99999999999999999999,PYTHON:99999999999999999999", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

/* Where nobody knows whether they are Python workers, what would be within their share is no warning. */
static void python_unknown(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(workers(700, TRISTATE_UNREAD, BACKEND_HASHMAP), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_missing(&f, "PyFlink");
	judge_figure(&f, "python_share_bytes", 1000 * (uint64_t)MIB);
	assert_non_null(strstr(f.change, "PyFlink's workers stay"));
	assert_int_equal(ask(workers(700, TRISTATE_UNREAD, BACKEND_ROCKSDB), &f), RULE_FIRED); /* past it */
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_int_equal(f.n_missing, 0);
	assert_non_null(strstr(f.competing_causes[0], "Python workers"));
	assert_int_equal(ask(workers(700, TRISTATE_FALSE, BACKEND_HASHMAP), &f), RULE_FIRED); /* certainly none */
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_null(strstr(f.competing_causes[0], "Python"));
	/* Python's weight was written down: the only sign. */
	struct snapshot *s = workers(700, TRISTATE_FALSE, BACKEND_HASHMAP);
	snap_setting(s, weights, "OPERATOR:70,STATE_BACKEND:70,PYTHON:30", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_missing(&f, "PyFlink");
}

static void without_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = beside(300, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");
	s = beside(64, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = beside(300, 1000);
	snap_no_cgroup(s);
	s->told_limit = limit_set(GIB);
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat");
	s = beside(300, 1000);
	s->vmas_read = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "smaps");
	assert_int_equal(f.n_missing, 1);
	s = beside(300, 1000); /* alone: nobody to be told apart */
	s->vmas_read = false;
	s->cgroup.n_procs = count_of(1);
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

/* Extremes come from files that others write; the longest texts are whole. */
static void extremes(void **state)
{
	(void)state;
	struct finding f;
	for (int python = TRISTATE_UNREAD; python <= TRISTATE_TRUE; python++) {
		struct snapshot *s = workers(300, (enum tristate)python, BACKEND_UNKNOWN);
		s->cgroup.stat.anon_bytes = qty_measured(UINT64_MAX);
		s->cgroup.n_procs = count_of(INT64_MAX);
		s->engine.flink.managed_bytes = qty_measured(UINT64_MAX - 5);
		s->engine.flink.overhead_bytes = qty_measured(UINT64_MAX);
		s->cgroup.max = limit_set(UINT64_MAX - 1);
		char value[80];
		memset(value, 'x', sizeof value);
		memcpy(value, "PYTHON:30", 9);
		value[sizeof value - 1] = '\0';
		snap_setting(s, weights, value, "config.yaml:3");
		assert_int_equal(ask(s, &f), RULE_FIRED);
		judge_whole(&f);
	}
	struct snapshot *s = beside(300, 0);
	s->cgroup.n_procs = count_of(0);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	assert_int_equal(ask(beside(300, 0), &f), RULE_FIRED);
	judge_whole(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(counts_them),
		cmocka_unit_test(python_has_its_share),
		cmocka_unit_test(python_weights_are_read),
		cmocka_unit_test(python_unknown),
		cmocka_unit_test(without_inputs),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
