/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jvm/vmversion.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static void answers(void **state)
{
	static const struct {
		const char *path, *jdk;
		int major;
	} cases[] = { { DIR "jdk17-g1/version.txt", "17.0.15", 17 }, { DIR "jdk25-zgc/version.txt", "25.0.3", 25 } };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct vmversion version;
		struct err err = { 0 };
		struct str text = tight_read(cases[i].path);
		assert_int_equal(vmversion_parse(text, &version, &err), 0);
		assert_int_equal(version.major, cases[i].major);
		assert_string_equal(version.jdk, cases[i].jdk);
		assert_true(strncmp(version.vm, "OpenJDK 64-Bit Server VM version", 32) == 0);
		tight_free(text);
	}
}

static void majors(void **state)
{
	static const struct {
		const char *text;
		int major;
	} cases[] = { { "17.0.15+6", 17 },
		      { "25-ea", 25 },
		      { "1.8.0_402", 8 },
		      { "8.0", 8 },
		      { "11", 11 },
		      { "1", 1 },
		      { "", 0 },
		      { "x", 0 },
		      { "0", 0 },
		      { "99999", 0 },
		      { "1.99999999999999999999", 1 } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(vmversion_major(str_of(cases[i].text)), cases[i].major);
}

static void jdk8_and_refused(void **state)
{
	struct vmversion version;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(vmversion_parse(STR("OpenJDK 64-Bit Server VM version 25.402-b06\nJDK 8.0_402\n"), &version,
					 &err),
			 0);
	assert_int_equal(version.major, 8);
	assert_true(vmversion_parse(STR("hello\n"), &version, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(majors),
					    cmocka_unit_test(jdk8_and_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
