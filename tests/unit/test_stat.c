/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel/stat.h"
#include "support/tight.h"
#include "sys/file.h"
#include "sys/proc.h"

#define REST " 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0 12345 1 1 18446744073709551615 1\n"

static void names(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		const char *name;
		char state;
	} cases[] = {
		{ STR("42 (java) S" REST), "java", 'S' }, { STR("42 (foo) Z ) R" REST), "foo) Z ", 'R' },
		{ STR("42 (a\nb) D" REST), "a\nb", 'D' }, { STR("42 () R" REST), "", 'R' },
		{ STR("42 (() R" REST), "(", 'R' },       { STR("42 () 1 42) R" REST), ") 1 42", 'R' },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct proc_stat stat;
		struct str text = tight_of(cases[i].text);
		assert_int_equal(stat_parse(text, &stat, NULL), 0);
		assert_string_equal(stat.name, cases[i].name);
		assert_int_equal(stat.state, cases[i].state);
		assert_int_equal(stat.pid, 42);
		assert_int_equal(stat.parent_pid, 1);
		assert_int_equal(stat.n_threads, 7);
		assert_int_equal(stat.start_ticks, 12345);
		tight_free(text);
	}
}

static void refuses(void **state)
{
	(void)state;
	static const struct str bad[] = {
		STR(""),
		STR("\n"),
		STR("42\n"),
		STR("42 (java\n"),
		STR("42 (java)\n"),
		STR("42 (java) \n"),
		STR("42 (java) S\n"),
		STR("42 (java) SS 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0 12345\n"),
		STR("42 (java) S 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0\n"),
		STR("42 (java) S 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0 x\n"),
		STR("42 (java) S 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0 18446744073709551616\n"),
		STR("99999999999 (java) S" REST),
		STR("-1 (java) S" REST),
		STR("42 (ja\0va) S" REST),
		STR("42 (java) S 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0 12345"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct proc_stat stat = { .pid = 77 };
		struct str text = tight_of(bad[i]);
		if (stat_parse(text, &stat, NULL) != -EBADMSG)
			fail_msg("case %zu: not refused", i);
		assert_int_equal(stat.pid, 77);
		tight_free(text);
	}
}

static void myself(void **state)
{
	(void)state;
	auto_close int proc = -1;
	auto_close int me = -1;
	struct err err = { 0 };
	struct process_id id;
	assert_int_equal(proc_root_open("/proc", &proc, &err), 0);
	assert_int_equal(proc_open(proc, getpid(), &me, &err), 0);
	assert_int_equal(procid_read(me, &id, &err), 0);
	assert_int_equal(id.pid, getpid());
	assert_int_equal(procid_same(me, &id, &err), 0);
	id.start_ticks--;
	assert_int_equal(procid_same(me, &id, &err), -ESRCH);
	assert_int_equal(err.kind, ERR_GONE);
}

static void prefix(struct str text)
{
	struct proc_stat stat;
	assert_int_equal(stat_parse(text, &stat, NULL), -EBADMSG);
}

static void every_prefix(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/procstat/linux-6.1");
	struct proc_stat stat;
	tight_prefixes(text, text.len, prefix);
	assert_int_equal(stat_parse(text, &stat, NULL), 0);
	assert_int_equal(stat.start_ticks, 577);
	assert_true(stat.start_stack != 0);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(refuses),
		cmocka_unit_test(myself),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
