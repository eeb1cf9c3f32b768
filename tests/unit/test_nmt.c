/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "jvm/nmt.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static struct jvm_nmt parse_file(const char *path)
{
	struct jvm_nmt nmt;
	struct err err = { 0 };
	struct str text = tight_read(path);
	if (nmt_parse(text, &nmt, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	tight_free(text);
	return nmt;
}

static void check(const struct jvm_nmt *nmt, const char *name, uint64_t committed, uint64_t malloc_bytes, uint64_t mmap)
{
	const struct nmt_category *category = nmt_find(nmt, name);
	assert_non_null(category);
	assert_int_equal(category->committed_bytes.bytes, committed);
	assert_int_equal(qty_or(category->malloc_bytes, 0), malloc_bytes);
	assert_int_equal(qty_or(category->mmap_committed_bytes, 0), mmap);
}

/* Every category's parts add up to what it says it has committed; the categories to the total. */
static void check_sums(const char *path)
{
	struct jvm_nmt nmt = parse_file(path);
	uint64_t total = 0;
	for (size_t i = 0; i < nmt.n_categories; i++) {
		const struct nmt_category *c = &nmt.categories[i];
		uint64_t sum =
			qty_or(c->malloc_bytes, 0) + qty_or(c->arena_bytes, 0) + qty_or(c->mmap_committed_bytes, 0);
		total += c->committed_bytes.bytes;
		if (strcmp(c->name, "Thread") == 0)
			sum += nmt.stack_committed_bytes.bytes;
		if (strcmp(c->name, "Native Memory Tracking") == 0)
			assert_true(sum <= c->committed_bytes.bytes); /* and its own headers */
		else if (sum != c->committed_bytes.bytes)
			fail_msg("%s: %s: %llu is not %llu", path, c->name, (unsigned long long)sum,
				 (unsigned long long)c->committed_bytes.bytes);
	}
	if (total != nmt.total_committed_bytes.bytes)
		fail_msg("%s: the total is %llu off", path,
			 (unsigned long long)(nmt.total_committed_bytes.bytes - total));
}

static void parts_add_up(void **state)
{
	static const char *const cases[] = { "jdk17-g1",         "jdk17-parallel", "jdk17-serial",   "jdk17-shenandoah",
					     "jdk17-zgc",        "jdk25-g1",       "jdk25-parallel", "jdk25-serial",
					     "jdk25-shenandoah", "jdk25-zgc" };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[96];
		(void)snprintf(path, sizeof path, DIR "%s/nmt.txt", cases[i]);
		check_sums(path);
	}
}

static void jdk17(void **state)
{
	(void)state;
	struct jvm_nmt nmt = parse_file(DIR "jdk17-g1/nmt.txt");
	check(&nmt, "Other", 20971520, 20971520, 0);
	assert_int_equal(nmt.n_threads.n, 20);
	assert_int_equal(nmt.class_space_reserved_bytes.bytes, 1 << 30);
	assert_int_equal(nmt.metadata_reserved_bytes.bytes, 64 << 20);
	assert_true(nmt.metadata_used_bytes.bytes > 0 &&
		    nmt.metadata_used_bytes.bytes < nmt.metadata_committed_bytes.bytes);
	assert_true(nmt.n_classes.known);
	assert_null(nmt_find(&nmt, "Heap"));
}

static void jdk25(void **state)
{
	(void)state;
	struct jvm_nmt nmt = parse_file(DIR "jdk25-g1/nmt.txt");
	check(&nmt, "Other", 20971520, 20971520, 0);
	assert_non_null(nmt_find(&nmt, "GCCardSet"));
	assert_non_null(nmt_find(&nmt, "Shared class space"));
	assert_true(nmt.stack_committed_bytes.bytes > 0);
	assert_true(nmt.n_threads.n > 10);
}

static void constructed(void **state)
{
	(void)state;
	struct jvm_nmt nmt = parse_file(DIR "jdk11-constructed/nmt.txt");
	check(&nmt, "Class", 7884507, 109787, 7774720);
	assert_int_equal(nmt.class_space_used_bytes.bytes, 622480);
	assert_int_equal(nmt.metadata_used_bytes.bytes, 5990184);
	check(&nmt, "Arena Chunk", 182376, 182376, 0);
	nmt = parse_file(DIR "jdk21-constructed/nmt.txt");
	check(&nmt, "Shared class space", 13320192, 0, 13320192);
	assert_int_equal(nmt.stack_committed_bytes.bytes, 846848);
	assert_int_equal(nmt.n_threads.n, 18);
}

/* scale=KB says the same within a KiB an item. */
static void other_scales(void **state)
{
	(void)state;
	struct jvm_nmt nmt = parse_file(DIR "jdk17-g1/nmt_kb.txt");
	assert_int_equal(nmt_find(&nmt, "Other")->committed_bytes.bytes, 20480 * 1024);
	assert_int_equal(nmt.class_space_reserved_bytes.bytes, 1 << 30);
	nmt = parse_file(DIR "jdk25-g1/nmt_kb.txt");
	assert_int_equal(nmt_find(&nmt, "Other")->malloc_bytes.bytes, 20480 * 1024);
}

/* The summary that `detail` starts with. */
static void detail_starts_with_summary(void **state)
{
	(void)state;
	struct jvm_nmt nmt = parse_file(DIR "jdk17-g1/nmt_detail_raw.txt");
	check(&nmt, "Other", 20971520, 20971520, 0);
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		enum err_kind kind;
	} cases[] = {
		{ "Native memory tracking is not enabled\n", ERR_UNSUPPORTED },
		{ "Native Memory Tracking has been shutdown by user\n", ERR_UNSUPPORTED },
		{ "", ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\n", ERR_MALFORMED },
		{ "Total: reserved=1, committed=\n- A (reserved=1, committed=1)\n", ERR_MALFORMED },
		{ "Total: reserved=99999999999999999999, committed=1\n", ERR_MALFORMED },
		{ "Total: reserved=18446744073709551615KB, committed=1\n", ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\nTotal: reserved=1, committed=1\n", ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\n- A (reserved=1, committed=1)\n- A (reserved=1, committed=1)\n",
		  ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\n- A (reserved=1, comm", ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\n- A (reserved=1, committed=1)\n(malloc=x #1)\n", ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\n-  (reserved=1, committed=1)\n", ERR_MALFORMED },
		{ "Total: reserved=1, committed=1\n- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA (reserved=1, committed=1)\n",
		  ERR_MALFORMED },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_nmt nmt, before;
		struct err err = { 0 };
		memset(&nmt, 0x5a, sizeof nmt);
		before = nmt;
		struct str text = tight_of(str_of(cases[i].text));
		assert_true(nmt_parse(text, &nmt, &err) < 0);
		if (err.kind != cases[i].kind)
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_memory_equal(&nmt, &before, sizeof nmt);
		tight_free(text);
	}
}

static void says_how_to_turn_it_on(void **state)
{
	struct jvm_nmt nmt;
	struct err err = { 0 };
	(void)state;
	assert_true(nmt_parse(STR("Native memory tracking is not enabled\n"), &nmt, &err) < 0);
	assert_non_null(strstr(err.message, "-XX:NativeMemoryTracking=summary"));
}

static void unknown_lines_are_skipped(void **state)
{
	struct jvm_nmt nmt;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(nmt_parse(STR("Total: reserved=7, committed=5, peak=9\n   new: 1\n"
				       "-   Brand New (reserved=7, committed=5, purple=3)\n"
				       "     (malloc=5 tag=Brand New #1 @9) (at peak)\n     (frobs #4)\n"),
				   &nmt, &err),
			 0);
	check(&nmt, "Brand New", 5, 5, 0);
}

static void too_many_categories(void **state)
{
	auto_buf struct buf text = { .cap = 1 << 16 };
	struct jvm_nmt nmt;
	struct err err = { 0 };
	(void)state;
	(void)buf_puts(&text, "Total: reserved=1, committed=1\n");
	for (int i = 0; i <= NMT_CATEGORIES_MAX; i++)
		(void)buf_printf(&text, "- C%d (reserved=1, committed=1)\n", i);
	assert_true(nmt_parse(buf_str(&text), &nmt, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

static void parse_prefix(struct str prefix)
{
	struct jvm_nmt nmt;
	struct err err = { 0 };
	if (nmt_parse(prefix, &nmt, &err) < 0)
		assert_int_not_equal(err.kind, ERR_NONE);
}

static void prefixes(void **state)
{
	(void)state;
	struct str text = tight_read(DIR "jdk25-g1/nmt.txt");
	tight_prefixes(text, 2000, parse_prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(jdk17),
		cmocka_unit_test(jdk25),
		cmocka_unit_test(constructed),
		cmocka_unit_test(other_scales),
		cmocka_unit_test(detail_starts_with_summary),
		cmocka_unit_test(refused),
		cmocka_unit_test(says_how_to_turn_it_on),
		cmocka_unit_test(unknown_lines_are_skipped),
		cmocka_unit_test(too_many_categories),
		cmocka_unit_test(prefixes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
