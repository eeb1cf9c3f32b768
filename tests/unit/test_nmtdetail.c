/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "jvm/nmt.h"
#include "jvm/nmtdetail.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static uint64_t bytes_of(const struct jvm_regions *regions, const char *category)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < regions->n; i++)
		if (strcmp(regions->items[i].category, category) == 0)
			sum += regions->items[i].range.end - regions->items[i].range.start;
	return sum;
}

static void ascending(const struct jvm_regions *regions)
{
	for (size_t i = 0; i < regions->n; i++) {
		assert_true(regions->items[i].range.start < regions->items[i].range.end);
		if (i > 0)
			assert_true(regions->items[i - 1].range.end <= regions->items[i].range.start);
	}
}

/* What the map says of a category is what the summary of the same moment says; stacks count whole. */
static void agrees_with_summary(void **state)
{
	static const char *const cases[] = { "jdk17-g1",         "jdk17-parallel", "jdk17-serial",   "jdk17-shenandoah",
					     "jdk17-zgc",        "jdk25-g1",       "jdk25-parallel", "jdk25-serial",
					     "jdk25-shenandoah", "jdk25-zgc" };
	static const char *const categories[] = { "Java Heap", "Code", "Shared class space", "Safepoint" };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[96];
		auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
		struct jvm_nmt nmt;
		struct err err = { 0 };
		(void)snprintf(path, sizeof path, DIR "%s/nmt_detail.txt", cases[i]);
		struct str text = tight_read(path);
		if (nmtdetail_parse(text, &regions, &err) < 0)
			fail_msg("%s: %s", path, err.message);
		ascending(&regions);
		(void)snprintf(path, sizeof path, DIR "%s/nmt.txt", cases[i]);
		struct str summary = tight_read(path);
		assert_int_equal(nmt_parse(summary, &nmt, &err), 0);
		for (size_t j = 0; j < sizeof categories / sizeof categories[0]; j++) {
			uint64_t told = qty_or(nmt_find(&nmt, categories[j])->mmap_committed_bytes, 0);
			uint64_t mapped = bytes_of(&regions, categories[j]);
			/* Of ZGC's heap the views without committed parts count whole: 4 GiB each, two on 17. */
			if (j == 0 && strstr(cases[i], "zgc"))
				told = (strstr(cases[i], "17") ? told + (8ull << 30) : 4ull << 30);
			/* The JVM ran on between the two: code may have grown. */
			if (mapped < told || mapped > told + 65536)
				fail_msg("%s: %s: map %llu, summary %llu", cases[i], categories[j],
					 (unsigned long long)mapped, (unsigned long long)told);
		}
		assert_int_equal(bytes_of(&regions, "Thread Stack"), nmt.stack_reserved_bytes.bytes);
		tight_free(text);
		tight_free(summary);
	}
}

static void call_stacks_are_no_ranges(void **state)
{
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	struct err err = { 0 };
	(void)state;
	struct str text = tight_read(DIR "jdk17-g1/nmt_detail_raw.txt");
	assert_int_equal(nmtdetail_parse(text, &regions, &err), 0);
	ascending(&regions);
	assert_true(regions.n > 5);
	assert_true(bytes_of(&regions, "Java Heap") >= 50 << 20);
	tight_free(text);
}

static void small(void **state)
{
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	struct err err = { 0 };
	(void)state;
	assert_int_equal(
		nmtdetail_parse(STR("Native Memory Tracking:\n\n[0x1 - 0x2] before the map\nVirtual memory map:\n\n"
				    "[0x1000 - 0x9000] reserved 32768 for Code from\n    [0x00007f]frame()+0x12\n"
				    "\t[0x2000 - 0x3000] committed 4096 from\n\t[0x3000 - 0x4000] committed 4096 from\n"
				    "[0xa000 - 0xb000] reserved and committed 4096 for GC from\n"
				    "\t[0xa000 - 0xb000] committed 4096 from\n"
				    "[0xc000 - 0xd000] reserved 4096 for Thread Stack from\n"
				    "\t[0xc000 - 0xc100] committed 256\n"
				    "Details:\n[0xe000 - 0xf000] reserved and committed 4096 for GC from\n"),
				&regions, &err),
		0);
	assert_int_equal(regions.n, 3);
	assert_int_equal(regions.items[0].range.start, 0x2000);
	assert_int_equal(regions.items[0].range.end, 0x4000);
	assert_string_equal(regions.items[1].category, "GC");
	assert_string_equal(regions.items[2].category, "Thread Stack");
	assert_int_equal(regions.items[2].range.end, 0xd000);
}

static void refused(void **state)
{
#define MAP "Virtual memory map:\n"
	static const struct {
		const char *text;
		enum err_kind kind;
	} cases[] = {
		{ "", ERR_UNSUPPORTED },
		{ "Native memory tracking is not enabled\n", ERR_UNSUPPORTED },
		{ "Detail tracking is not enabled\n", ERR_UNSUPPORTED },
		{ MAP "[0x2 - 0x1] reserved 1 for A from\n", ERR_MALFORMED },
		{ MAP "[0x1 - 0x11111111111111111] reserved 1 for A from\n", ERR_MALFORMED },
		{ MAP "[0x1 - 0x2] reserved for A from\n", ERR_MALFORMED },
		{ MAP "[0x1 - 0x2] reserved 1\n", ERR_MALFORMED },
		{ MAP "[0x1 - 0x2] imagined 1 for A from\n", ERR_MALFORMED },
		{ MAP "[0x10 - 0x20] reserved 16 for A from\n [0x18 - 0x28] committed 16 from\n", ERR_MALFORMED },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_regions regions = { 0 };
		struct err err = { 0 };
		struct str text = tight_of(str_of(cases[i].text));
		if (nmtdetail_parse(text, &regions, &err) >= 0)
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
	if (nmtdetail_parse(prefix, &regions, &err) == 0)
		ascending(&regions);
}

static void prefixes(void **state)
{
	(void)state;
	struct str text = tight_read(DIR "jdk17-g1/nmt_detail.txt");
	tight_prefixes(text, 500, parse_prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_summary),
		cmocka_unit_test(call_stacks_are_no_ranges),
		cmocka_unit_test(small),
		cmocka_unit_test(refused),
		cmocka_unit_test(prefixes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
