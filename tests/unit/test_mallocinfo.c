/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jvm/mallocinfo.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static void answers(void **state)
{
	static const char *const cases[] = { DIR "jdk25-g1/native_heap_info.txt", DIR "jdk25-zgc/native_heap_info.txt",
					     DIR "jdk25-epsilon/native_heap_info.txt" };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_malloc info;
		struct err err = { 0 };
		struct str text = tight_read(cases[i]);
		assert_int_equal(mallocinfo_parse(text, &info, &err), 0);
		assert_int_equal(info.in_use_bytes.bytes + info.free_bytes.bytes, info.system_bytes.bytes);
		/* 20 direct buffers of 1 MiB have mappings of their own. */
		assert_true(info.mmapped_bytes.bytes >= 20 << 20);
		assert_true(info.system_bytes.bytes > 1 << 20 && info.system_bytes.bytes < 64 << 20);
		tight_free(text);
	}
}

#define TOTALS                                                                                                             \
	"<heap nr=\"0\">\n<total type=\"rest\" count=\"1\" size=\"9\"/>\n<system type=\"current\" size=\"9\"/>\n</heap>\n" \
	"<total type=\"fast\" count=\"0\" size=\"10\"/>\n<total type=\"rest\" count=\"1\" size=\"20\"/>\n"

static void totals_only(void **state)
{
	struct jvm_malloc info;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(mallocinfo_parse(STR("<malloc version=\"1\">\n" TOTALS
					      "<system type=\"current\" size=\"100\"/>\n</malloc>\n"),
					  &info, &err),
			 0);
	assert_int_equal(info.in_use_bytes.bytes, 70);
	assert_int_equal(info.free_bytes.bytes, 30);
	assert_false(qty_known(info.mmapped_bytes));
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		enum err_kind kind;
	} cases[] = {
		{ "", ERR_UNSUPPORTED },
		{ "Error: musl\n", ERR_UNSUPPORTED },
		{ "<malloc version=\"1\">\n</malloc>\n", ERR_MALFORMED },
		{ "<malloc version=\"1\">\n" TOTALS "<system type=\"current\" size=\"100\"/>\n", ERR_MALFORMED },
		{ "<malloc version=\"1\">\n" TOTALS "</malloc>\n", ERR_MALFORMED },
		{ "<malloc version=\"1\">\n" TOTALS "<system type=\"current\" size=\"-1\"/>\n</malloc>\n",
		  ERR_MALFORMED },
		{ "<malloc version=\"1\">\n" TOTALS
		  "<system type=\"current\" size=\"18446744073709551616\"/>\n</malloc>\n",
		  ERR_MALFORMED },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_malloc info, before;
		struct err err = { 0 };
		memset(&info, 0x5a, sizeof info);
		before = info;
		struct str text = tight_of(str_of(cases[i].text));
		if (mallocinfo_parse(text, &info, &err) >= 0)
			fail_msg("taken: %s", cases[i].text);
		assert_int_equal(err.kind, cases[i].kind);
		assert_memory_equal(&info, &before, sizeof info);
		tight_free(text);
	}
}

static void parse_prefix(struct str prefix)
{
	struct jvm_malloc info;
	struct err err = { 0 };
	if (mallocinfo_parse(prefix, &info, &err) < 0)
		assert_int_not_equal(err.kind, ERR_NONE);
}

static void prefixes(void **state)
{
	(void)state;
	struct str text = tight_read(DIR "jdk25-g1/native_heap_info.txt");
	tight_prefixes(text, 1000, parse_prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(totals_only),
					    cmocka_unit_test(refused), cmocka_unit_test(prefixes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
