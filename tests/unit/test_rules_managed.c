/* SPDX-License-Identifier: Apache-2.0 */
/* managed-idle: borders, who uses it, what is not known, where the gain goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "managed-idle";
static const struct snap_shape plain = { .heap = 400, .pool = 100 };

/* State on the heap, a streaming job, Java, with much room. */
static struct snapshot *tm(uint64_t managed, uint64_t process)
{
	struct snapshot *s = snap_new(&plain);
	snap_flink(s, 1664299798, managed, 0, 0, 429496736, process);
	s->engine.backend = BACKEND_HASHMAP;
	s->engine.batch = s->engine.python = TRISTATE_FALSE;
	s->cgroup.max = limit_set(16 * GIB);
	return s;
}

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

/* C39: the default of a TaskManager of 4096m. */
static void default_of_4096m(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(tm(1438814063, 4 * GIB), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	assert_string_equal(f.title, "1.34 GiB of managed memory set aside that nothing uses");
	judge_figure(&f, "managed_bytes", 1438814063);
	judge_figure(&f, "process_size_bytes", 4 * GIB);
	judge_missing(&f, "Managed.Used");
	assert_non_null(strstr(f.change, "managed.fraction: 0.0"));
	assert_non_null(strstr(f.change, "the heap grows from 1.55 GiB to 2.89 GiB"));
	assert_int_equal(f.n_turns, 2);
	assert_int_equal(f.turns[0].knob, KNOB_MANAGED);
	assert_int_equal(f.turns[1].knob, KNOB_HEAP);
}

static void borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t managed, process;
		bool fires;
	} table[] = {
		{ 0, 4 * GIB, false },         { 128 * MIB, GIB, false }, /* 10 % are 102 MiB: 128 are asked for */
		{ 128 * MIB + 1, GIB, true },  { 2 * GIB / 10, 2 * GIB, false }, { 2 * GIB / 10 + 1, 2 * GIB, true },
		{ 20 * GIB, 100 * GIB, true },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		if (ask(tm(table[i].managed, table[i].process), &f) != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			fail_msg("row %zu", i);
	}
}

static void somebody_uses_it(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(GIB, 4 * GIB);
	s->engine.backend = BACKEND_ROCKSDB;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(GIB, 4 * GIB);
	s->engine.backend = BACKEND_FORST;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(GIB, 4 * GIB);
	s->engine.batch = TRISTATE_TRUE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(GIB, 4 * GIB);
	s->engine.python = TRISTATE_TRUE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(GIB, 4 * GIB);
	s->engine.gauges.managed_used_bytes = qty_measured(1);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(GIB, 4 * GIB);
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(GIB, 4 * GIB);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

static void inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(GIB, 4 * GIB);
	s->engine.backend = BACKEND_UNKNOWN;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "state.backend.type");
	judge_missing(&f, "Managed.Used");
	assert_int_equal(f.n_missing, 2);
	s = tm(GIB, 4 * GIB);
	s->engine.batch = s->engine.python = TRISTATE_UNREAD;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "execution.runtime-mode");
	judge_missing(&f, "PyFlink");
	s = tm(GIB, 4 * GIB); /* the gauge answers for both */
	s->engine.batch = s->engine.python = TRISTATE_UNREAD;
	s->engine.gauges.managed_used_bytes = qty_measured(0);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_missing(&f, "whether batch or Python jobs come here");
	assert_non_null(strstr(f.observation, "Managed.Used is 0."));
	s = tm(GIB, 4 * GIB);
	s->engine.flink.managed_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "Flink's budget");
	s = tm(GIB, 4 * GIB); /* used: not even that is missed */
	s->engine.flink.managed_bytes = (struct qty){ 0 };
	s->engine.backend = BACKEND_ROCKSDB;
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

/* A pod that lacks room must not be told to grow its heap. */
static void room_goes_where_it_is_short(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(512 * MIB, 2 * GIB);
	s->cgroup.max = limit_set(520 * MIB); /* 500 in use */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "give its 512m to native memory, not to the heap"));
	assert_non_null(strstr(f.change, "jvm-overhead.min and .max both to 921m"));
	for (size_t i = 0; i < f.n_turns; i++)
		assert_true(f.turns[i].knob != KNOB_HEAP && f.turns[i].knob != KNOB_PROCESS_SIZE);
	s = tm(512 * MIB, 2 * GIB);
	s->cgroup.max = limit_set(520 * MIB);
	s->engine.flink.overhead_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "raise taskmanager.memory.jvm-overhead.min and .max by it"));
}

static void names_the_option_that_is_set(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(GIB, 4 * GIB);
	snap_setting(s, "taskmanager.memory.managed.size", "1gb", "config.yaml:12");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "taskmanager.memory.managed.size: 0m"));
	s = tm(GIB, 4 * GIB);
	snap_setting(s, "taskmanager.memory.managed.size", "1073741824b", "command line"); /* derived */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "taskmanager.memory.managed.fraction: 0.0"));
}

static void extremes(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(UINT64_MAX, 4 * GIB);
	s->engine.flink.heap_bytes = qty_measured(UINT64_MAX);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	s = tm(UINT64_MAX, 4 * GIB);
	s->engine.flink.overhead_bytes = qty_measured(UINT64_MAX);
	s->cgroup.max = limit_set(1);
	s->engine.gauges.managed_used_bytes = qty_measured(0);
	static const char *const keys[] = { "state.backend.type", "taskmanager.memory.managed.size",
					    "taskmanager.memory.managed.fraction", "taskmanager.memory.process.size" };
	for (int i = 0; i < 4; i++)
		snap_setting(s, keys[i], "1", "config.yaml:12");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.n_settings, 4);
	s = tm(GIB, 4 * GIB);
	s->engine.flink.heap_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "the heap grows by 1024m"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_of_4096m),
		cmocka_unit_test(borders),
		cmocka_unit_test(somebody_uses_it),
		cmocka_unit_test(inputs),
		cmocka_unit_test(room_goes_where_it_is_short),
		cmocka_unit_test(names_the_option_that_is_set),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
