/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "data/prom.h"
#include "support/tight.h"

static void numbers(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool good, whole;
		uint64_t u64;
	} cases[] = {
		{ "0", true, true, 0 },
		{ "-0", true, true, 0 },
		{ "0.0", true, true, 0 },
		{ "1.34217728E8", true, true, 134217728 },
		{ "5.24288E7", true, true, 52428800 },
		{ "1e3", true, true, 1000 },
		{ "1000e-3", true, true, 1 },
		{ "+7", true, true, 7 },
		{ "18446744073709551615", true, true, UINT64_MAX },
		{ "1.8446744073709551615e19", true, true, UINT64_MAX },
		{ "18446744073709551616", true, false, 0 },
		{ "9007199254740993", true, true, 9007199254740993ull },
		{ "00000000000000000000000012", true, true, 12 },
		{ "1.5", true, false, 0 },
		{ "-1", true, false, 0 },
		{ "1e400", true, false, 0 },
		{ "1e-400", true, false, 0 },
		{ "0e99999999999999999999", true, true, 0 },
		{ "NaN", true, false, 0 },
		{ "+Inf", true, false, 0 },
		{ "-Infinity", true, false, 0 },
		{ "", false, false, 0 },
		{ "-", false, false, 0 },
		{ ".", false, false, 0 },
		{ "1e", false, false, 0 },
		{ "1.34E", false, false, 0 },
		{ "0x10", false, false, 0 },
		{ "1 ", false, false, 0 },
		{ "1,5", false, false, 0 },
		{ "nane", false, false, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str text = tight_of(str_of(cases[i].text));
		double value = 0;
		bool whole = false;
		uint64_t u64 = 0;
		bool good = prom_number(text, &value, &whole, &u64);
		if (good != cases[i].good || (good && (whole != cases[i].whole || u64 != cases[i].u64)))
			fail_msg("'%s'", cases[i].text);
		tight_free(text);
	}
}

static void values(void **state)
{
	(void)state;
	double value;
	bool whole;
	uint64_t u64;
	assert_true(prom_number(STR("NaN"), &value, &whole, &u64) && isnan(value));
	assert_true(prom_number(STR("-Inf"), &value, &whole, &u64) && isinf(value) && value < 0);
	assert_true(prom_number(STR("1e400"), &value, &whole, &u64) && isinf(value));
	assert_true(prom_number(STR("-2.5e-1"), &value, &whole, &u64) && value == -0.25);
}

static void lines(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum prom_kind kind;
		size_t n_labels;
	} cases[] = {
		{ "", PROM_COMMENT, 0 },
		{ "# HELP a b", PROM_COMMENT, 0 },
		{ "#junk", PROM_COMMENT, 0 },
		{ "a 1", PROM_SAMPLE, 0 },
		{ "a\t1\r", PROM_SAMPLE, 0 },
		{ "a{} 1", PROM_SAMPLE, 0 },
		{ "a{b=\"c\",} 1.0E8", PROM_SAMPLE, 1 },
		{ "a{b=\"c\"}1", PROM_SAMPLE, 1 },
		{ "a { b = \"c\" , d = \"\" } 1 1700000000000", PROM_SAMPLE, 2 },
		{ "a{b=\"x\\\"y}\\\\\"} 1", PROM_SAMPLE, 1 },
		{ "a_total{b=\"c\"} 5 1.7e9 # {trace=\"x\"} 0.5 1.7e9", PROM_SAMPLE, 1 },
		{ "a 1 # {trace=\"x\"} 1", PROM_SAMPLE, 0 },
		{ "a", PROM_BAD, 0 },
		{ "a ", PROM_BAD, 0 },
		{ "1a 1", PROM_BAD, 0 },
		{ "a-b 1", PROM_BAD, 0 },
		{ "a{b=\"c\" 1", PROM_BAD, 0 },
		{ "a{b=c} 1", PROM_BAD, 0 },
		{ "a{b=\"c\\\"} 1", PROM_BAD, 0 },
		{ "a{=\"c\"} 1", PROM_BAD, 0 },
		{ "a{b=\"c\" d=\"e\"} 1", PROM_BAD, 0 },
		{ "a{,} 1", PROM_BAD, 0 },
		{ "a 1 2 3", PROM_BAD, 0 },
		{ "a 1 x", PROM_BAD, 0 },
		{ "<html>", PROM_BAD, 0 },
		{ "a 0x10", PROM_BAD, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str line = tight_of(str_of(cases[i].line));
		struct prom_sample sample;
		const char *why = NULL;
		enum prom_kind kind = prom_line(line, &sample, &why);
		if (kind != cases[i].kind || (kind == PROM_SAMPLE && sample.n_labels != cases[i].n_labels))
			fail_msg("'%s': %d", cases[i].line, (int)kind);
		assert_int_equal(why != NULL, kind == PROM_BAD);
		tight_free(line);
	}
}

static void nul_and_labels_past_the_cap(void **state)
{
	(void)state;
	struct prom_sample sample;
	assert_int_equal(prom_line(STR("a\0b 1"), &sample, NULL), PROM_BAD);
	char line[4096] = "a{";
	size_t at = 2;
	for (int i = 0; i < PROM_LABELS_MAX + 1; i++)
		at += (size_t)snprintf(line + at, sizeof line - at, "l%d=\"x\",", i);
	(void)snprintf(line + at, sizeof line - at, "} 1");
	assert_int_equal(prom_line(str_of(line), &sample, NULL), PROM_BAD);
}

static void labels_and_escapes(void **state)
{
	(void)state;
	struct prom_sample sample;
	struct str raw;
	char text[16];
	assert_int_equal(prom_line(STR("a{x=\"1\",y=\"l\\n\\\"q\\\"\\\\\\z\"} 1"), &sample, NULL), PROM_SAMPLE);
	assert_true(prom_label(&sample, STR("y"), &raw));
	assert_false(prom_label(&sample, STR("z"), &raw));
	struct str plain = prom_unescape(text, sizeof text, raw);
	assert_string_equal(text, "l\n\"q\"\\\\z");
	assert_int_equal(plain.len, strlen(text));
	(void)prom_unescape(text, 3, raw);
	assert_string_equal(text, "l\n");
}

static void pages(void **state)
{
	(void)state;
	static const struct {
		const char *page;
		size_t samples, bad;
		bool truncated, eof, fails;
	} cases[] = {
		{ "", 0, 0, false, false, false },
		{ "\n\n", 0, 0, false, false, false },
		{ "a 1\nb 2\n", 2, 0, false, false, false },
		/* The last line may have lost digits: it is no sample. */
		{ "a 1\nb 2", 1, 0, true, false, false },
		{ "a 1\n# EOF\nb 2\n", 1, 0, false, true, false },
		{ "a 1\n# EOF", 1, 0, false, true, false },
		{ "a 1\nbroken\nb 2\n", 2, 1, false, false, false },
		{ "\xef\xbb\xbf"
		  "a 1\n",
		  1, 0, false, false, false },
		{ "<!DOCTYPE html>\n<html>\n", 0, 2, false, false, true },
		{ "{\"a\": 1}\n", 0, 1, false, false, true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str page = tight_of(str_of(cases[i].page));
		struct prom prom;
		struct prom_sample sample;
		struct err err = { 0 };
		size_t n = 0;
		prom_start(&prom, page);
		while (prom_next(&prom, &sample))
			n++;
		int status = prom_end(&prom, &err);
		if (n != cases[i].samples || prom.n_bad != cases[i].bad || prom.truncated != cases[i].truncated ||
		    prom.eof_seen != cases[i].eof || (status < 0) != cases[i].fails)
			fail_msg("page %zu: %zu samples, %zu bad", i, n, prom.n_bad);
		assert_int_equal(err.kind, cases[i].fails ? ERR_MALFORMED : ERR_NONE);
		tight_free(page);
	}
}

static void a_real_page(void **state)
{
	(void)state;
	struct str page = tight_read("tests/fixtures/engine/flink120-raw-head.prom");
	struct prom prom;
	struct prom_sample sample;
	struct str line, lines_left = page;
	size_t n = 0, n_meta = 0;
	prom_start(&prom, page);
	while (prom_next(&prom, &sample)) {
		assert_true(sample.n_labels > 0);
		n++;
	}
	while (str_line(&lines_left, &line))
		n_meta += str_starts(line, STR("# "));
	assert_int_equal(prom_end(&prom, NULL), 0);
	assert_int_equal(prom.n_bad, 0);
	assert_true(n > 10);
	assert_int_equal(n + n_meta, 40);
	tight_free(page);
}

static void kinds_of_bodies(void **state)
{
	(void)state;
	assert_string_equal(prom_looks_like(STR("  <html>")), "HTML");
	assert_string_equal(prom_looks_like(STR("<?xml?>")), "XML");
	assert_string_equal(prom_looks_like(STR("[1]")), "JSON");
	assert_string_equal(prom_looks_like(STR("\x1f\x8b")), "binary data");
	assert_null(prom_looks_like(STR("# HELP")));
	assert_null(prom_looks_like(STR("")));
}

static void prefix(struct str text)
{
	struct prom prom;
	struct prom_sample sample;
	prom_start(&prom, text);
	while (prom_next(&prom, &sample))
		assert_true(sample.name.len > 0);
	assert_true(prom_end(&prom, NULL) <= 0);
}

static void every_prefix(void **state)
{
	(void)state;
	struct str page = tight_read("tests/fixtures/engine/flink120-raw-head.prom");
	tight_prefixes(page, 1500, prefix);
	tight_free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(values),
		cmocka_unit_test(lines),
		cmocka_unit_test(nul_and_labels_past_the_cap),
		cmocka_unit_test(labels_and_escapes),
		cmocka_unit_test(pages),
		cmocka_unit_test(a_real_page),
		cmocka_unit_test(kinds_of_bodies),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
