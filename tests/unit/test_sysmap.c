/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "jvm/sysmap.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static bool has(const struct jvm_regions *regions, const char *category)
{
	for (size_t i = 0; i < regions->n; i++)
		if (strcmp(regions->items[i].category, category) == 0)
			return true;
	return false;
}

static void answers(void **state)
{
	static const char *const cases[] = { "jdk25-g1/system_map_raw.txt",     "jdk25-g1/system_map.txt",
					     "jdk25-parallel/system_map.txt",   "jdk25-serial/system_map.txt",
					     "jdk25-shenandoah/system_map.txt", "jdk25-zgc/system_map.txt" };
	static const char *const categories[] = { "Java Heap",          "Class",       "Metaspace", "Code", "GC",
						  "Shared class space", "Thread Stack" };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[96];
		auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
		struct err err = { 0 };
		(void)snprintf(path, sizeof path, DIR "%s", cases[i]);
		struct str text = tight_read(path);
		if (sysmap_parse(text, &regions, &err) < 0)
			fail_msg("%s: %s", path, err.message);
		for (size_t j = 0; j < sizeof categories / sizeof categories[0]; j++)
			if (!has(&regions, categories[j]))
				fail_msg("%s: no %s", path, categories[j]);
		assert_false(has(&regions, "-"));
		for (size_t j = 1; j < regions.n; j++)
			assert_true(regions.items[j - 1].range.end <= regions.items[j].range.start);
		tight_free(text);
	}
}

/* Reduced and raw say the same. */
static void reduced_is_enough(void **state)
{
	auto_(jvm_regions_done) struct jvm_regions raw = { 0 };
	auto_(jvm_regions_done) struct jvm_regions reduced = { 0 };
	struct err err = { 0 };
	(void)state;
	struct str a = tight_read(DIR "jdk25-g1/system_map_raw.txt"), b = tight_read(DIR "jdk25-g1/system_map.txt");
	assert_int_equal(sysmap_parse(a, &raw, &err), 0);
	assert_int_equal(sysmap_parse(b, &reduced, &err), 0);
	assert_int_equal(raw.n, reduced.n);
	for (size_t i = 0; i < raw.n; i++)
		assert_memory_equal(&raw.items[i].range, &reduced.items[i].range, sizeof raw.items[i].range);
	tight_free(a);
	tight_free(b);
}

static void follows_the_header(void **state)
{
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	struct err err = { 0 };
	(void)state;
	assert_int_equal(
		sysmap_parse(
			STR("from to vsize info file\n0x1000-0x2000 4096 META -\n0x2000-0x3000 4096 NOVEL -\n"
			    "0x3000-0x4000 4096 STACK-7-main -\n0x4000-0x5000 4096 CODE,GC -\n0x5000-0x6000 4096 - -\n"),
			&regions, &err),
		0);
	assert_int_equal(regions.n, 4);
	assert_string_equal(regions.items[0].category, "Metaspace");
	assert_string_equal(regions.items[1].category, "NOVEL");
	assert_string_equal(regions.items[2].category, "Thread Stack");
	assert_string_equal(regions.items[3].category, "Code");
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		enum err_kind kind;
	} cases[] = {
		{ "", ERR_UNSUPPORTED },
		{ "Not supported on this platform\n", ERR_UNSUPPORTED },
		{ "0x1000-0x2000 4096 rw-p\n", ERR_MALFORMED },
		{ "0x2000-0x1000 4096 rw-p 1 0 4K com GC -\n", ERR_MALFORMED },
		{ "0x2000 4096 rw-p 1 0 4K com GC -\n", ERR_MALFORMED },
		{ "0x11111111111111111-0x2 4096 rw-p 1 0 4K com GC -\n", ERR_MALFORMED },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_regions regions = { 0 };
		struct err err = { 0 };
		struct str text = tight_of(str_of(cases[i].text));
		if (sysmap_parse(text, &regions, &err) >= 0)
			fail_msg("taken: %s", cases[i].text);
		assert_int_equal(err.kind, cases[i].kind);
		assert_null(regions.items);
		tight_free(text);
	}
}

static void parse_prefix(struct str prefix)
{
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	struct err err = { 0 };
	if (sysmap_parse(prefix, &regions, &err) < 0)
		assert_int_not_equal(err.kind, ERR_NONE);
}

static void prefixes(void **state)
{
	(void)state;
	struct str text = tight_read(DIR "jdk25-zgc/system_map.txt");
	tight_prefixes(text, 500, parse_prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers), cmocka_unit_test(reduced_is_enough), cmocka_unit_test(follows_the_header),
		cmocka_unit_test(refused), cmocka_unit_test(prefixes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
