/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "kernel/cgfile.h"
#include "support/tight.h"

static void one_number(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		bool ok;
		uint64_t bytes;
	} cases[] = {
		{ STR("0\n"), true, 0 },
		{ STR("419430400\n"), true, 419430400 },
		{ STR("18446744073709551615\n"), true, UINT64_MAX },
		{ STR("18446744073709551616\n"), false, 0 },
		{ STR("max\n"), false, 0 },
		{ STR(""), false, 0 },
		{ STR("\n"), false, 0 },
		{ STR("12"), false, 0 },
		{ STR("12\n13\n"), false, 0 },
		{ STR("-1\n"), false, 0 },
		{ STR(" 1\n"), false, 0 },
		{ STR("1\0\n"), false, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct str text = tight_of(cases[i].text);
		struct qty q = { 77, QTY_INFERRED };
		struct err err = { 0 };
		assert_int_equal(cgfile_parse_bytes(text, &q, &err), cases[i].ok ? 0 : -EBADMSG);
		assert_int_equal(q.bytes, cases[i].ok ? cases[i].bytes : 77);
		assert_int_equal(err.kind, cases[i].ok ? ERR_NONE : ERR_MALFORMED);
		tight_free(text);
	}
}

static void number_or_max(void **state)
{
	(void)state;
	struct limit limit = { 0 };
	assert_int_equal(cgfile_parse_limit(STR("max\n"), &limit, NULL), 0);
	assert_int_equal(limit.kind, LIMIT_NONE);
	assert_int_equal(cgfile_parse_limit(STR("314572800\n"), &limit, NULL), 0);
	assert_int_equal(limit.kind, LIMIT_SET);
	assert_int_equal(limit.bytes, 314572800);
	static const struct str bad[] = { STR("maximum\n"), STR("max"), STR("Max\n"), STR("max\nmax\n"), STR("\n") };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(cgfile_parse_limit(bad[i], &limit, NULL), -EBADMSG);
	assert_int_equal(limit.bytes, 314572800);
}

static void events(void **state)
{
	(void)state;
	struct cgroup_events events = { 0 };
	assert_int_equal(cgfile_parse_events(STR("low 0\nhigh 3\nmax 17\noom 2\noom_kill 1\noom_group_kill 1\n"),
					     &events, NULL),
			 0);
	assert_int_equal(events.max.n, 17);
	assert_int_equal(events.oom_group_kill.n, 1);
	assert_int_equal(cgfile_parse_events(STR("low 0\nhigh 3\nmax 17\noom 2\noom_kill 1\nsock_throttled 5\n"),
					     &events, NULL),
			 0);
	assert_false(events.oom_group_kill.known); /* before 5.17 */
	assert_int_equal(cgfile_parse_events(STR("max 17\nmax 18\n"), &events, NULL), -EBADMSG);
	assert_int_equal(cgfile_parse_events(STR(""), &events, NULL), -EBADMSG);
}

static void pressure(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/cgfile/pressure-high");
	struct cgroup_pressure p;
	assert_int_equal(cgfile_parse_pressure(text, &p, NULL), 0);
	assert_int_equal(p.some.avg10_bp, 1234);
	assert_int_equal(p.some.avg60_bp, 10000);
	assert_int_equal(p.some.avg300_bp, 5);
	assert_int_equal(p.some.total_us, 123456789);
	assert_int_equal(p.full.avg300_bp, 9999);
	assert_int_equal(p.full.total_us, UINT64_MAX);
	tight_free(text);
	static const struct str bad[] = {
		STR(""),
		STR("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
		STR("some avg10=100.01 avg60=0.00 avg300=0.00 total=0\n"),
		STR("some avg10=0.0 avg60=0.00 avg300=0.00 total=0\n"),
		STR("some avg10=0.000 avg60=0.00 avg300=0.00 total=0\n"),
		STR("some avg10=nan avg60=0.00 avg300=0.00 total=0\n"),
		STR("some avg10=0.00 avg60=0.00 avg300=0.00 total=-1\n"),
		STR("some avg10=0.00 avg60=0.00 avg300=0.00 total=0 x\n"),
		STR("some avg10=0.00 avg60=0.00 avg300=0.00\n"),
		STR("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
	};
	p.some.total_us = 77;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(cgfile_parse_pressure(bad[i], &p, NULL), -EBADMSG);
	assert_int_equal(p.some.total_us, 77);
}

static void procs(void **state)
{
	(void)state;
	struct count n = { 0 };
	bool member = false;
	assert_int_equal(cgfile_parse_procs(STR("1\n0\n0\n42\n"), 42, &n, &member, NULL), 0);
	assert_int_equal(n.n, 4);
	assert_true(member);
	assert_int_equal(cgfile_parse_procs(STR("1\n0\n420\n"), 42, &n, &member, NULL), 0);
	assert_false(member);
	assert_int_equal(cgfile_parse_procs(STR("0\n"), 0, &n, &member, NULL), 0);
	assert_false(member); /* 0 is nobody we see */
	assert_int_equal(cgfile_parse_procs(STR(""), 42, &n, &member, NULL), 0);
	assert_true(n.known);
	assert_int_equal(n.n, 0);
	assert_int_equal(cgfile_parse_procs(STR("1\nx\n"), 42, &n, &member, NULL), -EBADMSG);
	assert_int_equal(cgfile_parse_procs(STR("1\n4"), 42, &n, &member, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number), cmocka_unit_test(number_or_max), cmocka_unit_test(events),
		cmocka_unit_test(pressure),   cmocka_unit_test(procs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
