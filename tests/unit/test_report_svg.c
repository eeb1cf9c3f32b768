/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a report: its words and figures, what is unread, and names that somebody else chose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/esc.h"
#include "cli/report.h"
#include "cli/svg.h"
#include "rules/rules.h"
#include "support/snap.h"

enum { CAP = 1 << 20 };

/* Valid UTF-8 of characters that XML has, every '<' and '&' one of ours. */
static void check_text(const struct buf *out)
{
	for (struct str rest = buf_str(out); rest.len;) {
		size_t len = esc_utf8_len(rest);
		assert_true(len > 0);
		unsigned char c = (unsigned char)rest.ptr[0];
		if ((c < 0x20 && c != '\n') || c == 0x7f)
			fail_msg("control byte %d", c);
		if (c == '&')
			assert_true(str_starts(rest, STR("&amp;")) || str_starts(rest, STR("&lt;")) ||
				    str_starts(rest, STR("&gt;")) || str_starts(rest, STR("&quot;")));
		rest = str_skip(rest, len);
	}
	static const char *const never[] = { "<script", "<image", "<a ",    "href",
					     "onload",  "nan\"",  "(null)", "\xef\xbf\xbe" };
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
		if (strstr(out->ptr, never[i]))
			fail_msg("'%s' in the picture", never[i]);
}

/* The picture of a snapshot, after `bend` had its way with the books. */
static char *picture_of(const struct snapshot *s, void (*bend)(struct ledger *, struct verdict *))
{
	struct ledger *l = snap_ledger(s);
	struct verdict *v = calloc(1, sizeof *v);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
	struct buf out = { .cap = CAP };
	struct err err = { 0 };
	rules_run(&input, v);
	if (bend)
		bend(l, v);
	assert_int_equal(report_svg(s, l, v, &out, &err), 0);
	check_text(&out);
	free(v);
	free(l);
	return out.ptr;
}

static void has(const char *picture, const char *part)
{
	if (!strstr(picture, part))
		fail_msg("no '%s' in\n%s", part, picture);
}

static struct snapshot *taskmanager(void)
{
	struct snapshot *s = snap_new(&snap_crowded);
	snap_flink(s, 500 * MIB, 300 * MIB, 64 * MIB, 128 * MIB, 192 * MIB, 1728ull * MIB);
	s->cgroup.max = limit_set(900 * MIB);
	return s;
}

static void it_says_what_matters(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	char *picture = picture_of(s, NULL);
	has(picture, ">limit 900.0 MiB</text>");
	has(picture, ">1.07 GiB</text>");
	has(picture, ">floor 837.0 MiB: what cannot be reclaimed</text>");
	has(picture, ">freeboard 63.0 MiB</text>");
	has(picture, "<title>java-heap 400.0 MiB</title>");
	has(picture, ">400.0 MiB of 500.0 MiB, 80 %</text>");
	has(picture, "bound 500.0 MiB; enforced by -Xmx</text>");
	has(picture, ">freeboard-low: ");
	has(picture, ">do first</text>");
	has(picture, "not attributed 0 B, charged 1.07 GiB</text>");
	has(picture,
	    "<desc id=\"desc\">Limit 900.0 MiB, charged 1.07 GiB, floor 837.0 MiB, freeboard 63.0 MiB. Owners: java-heap 400.0 MiB,");
	free(picture);
	snap_free(s);
}

static void unread_is_not_zero(void **state)
{
	(void)state;
	struct snapshot *s = calloc(1, sizeof *s);
	s->process.pid = 42;
	s->is_jvm = true;
	char *picture = picture_of(s, NULL);
	has(picture, ">limit unread</text>");
	has(picture, ">floor unread</text>");
	has(picture, ">unread</text>"); /* the hatched part of the bar */
	has(picture, "No owner could be read.");
	has(picture, "unread, which is not 0: java-heap,");
	has(picture, "time unread");
	assert_null(strstr(picture, "0 B<"));
	assert_null(strstr(picture, "freeboard 0"));
	free(picture);
	snap_free(s);
}

static void much_is_unmapped(struct ledger *l, struct verdict *v)
{
	(void)v;
	l->listed[OWNER_THP_UNMAPPED] = true;
	l->lines[OWNER_THP_UNMAPPED].bytes = qty_of(20 * MIB, QTY_DERIVED);
}

/* What can be reclaimed stands last, so that the line of the floor is where the rest ends. */
static void the_floor_ends_where_reclaim_begins(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	char *picture = picture_of(s, much_is_unmapped);
	const char *tmpfs = strstr(picture, "<title>tmpfs "), *stacks = strstr(picture, "<title>kernel-stacks ");
	const char *unmapped = strstr(picture, "<title>thp-unmapped 20.0 MiB<");
	assert_true(tmpfs && stacks && unmapped);
	assert_true(unmapped > tmpfs && unmapped > stacks);
	free(picture);
	snap_free(s);
}

static void no_limit_is_said(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	s->cgroup.max = (struct limit){ 0, LIMIT_NONE };
	char *picture = picture_of(s, NULL);
	has(picture, ">no limit</text>");
	has(picture, ">of charge</text>");
	assert_null(strstr(picture, ">of limit</text>"));
	free(picture);
	snap_free(s);
}

static void past_the_limit(struct ledger *l, struct verdict *v)
{
	(void)v;
	l->limit = limit_set(500 * MIB);
	l->freeboard_bytes = (struct signed_qty){ -(int64_t)337 * MIB, true };
	l->budgets[0].actual_bytes = qty_measured(12 * GIB);
	l->budgets[1].budget_bytes = 0;
	l->budgets[1].actual_bytes = qty_measured(3 * MIB);
	l->residual_bytes = (struct signed_qty){ -(int64_t)5 * MIB, true };
}

static void what_is_over_is_told(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	char *picture = picture_of(s, past_the_limit);
	has(picture, ">freeboard -337.0 MiB</text>");
	has(picture, ": over by 11.51 GiB</text>");
	has(picture, ">3.0 MiB of 0 B: over by 3.0 MiB</text>");
	has(picture, "not attributed -5.0 MiB, charged");
	assert_null(strstr(picture, "<title>not attributed")); /* less than nothing has no part of the bar */
	free(picture);
	snap_free(s);
}

static void to_the_end_of_numbers(struct ledger *l, struct verdict *v)
{
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		l->listed[owner] = true;
		l->lines[owner].bytes = qty_of(UINT64_MAX, QTY_INFERRED);
		l->lines[owner].bound = limit_set(UINT64_MAX);
	}
	l->limit = limit_set(UINT64_MAX);
	l->charge_bytes = l->floor_bytes = l->expected.bytes = qty_measured(UINT64_MAX);
	l->residual_bytes = (struct signed_qty){ INT64_MAX, true };
	l->freeboard_bytes = (struct signed_qty){ INT64_MIN, true };
	while (l->n_budgets < LEDGER_BUDGETS_MAX)
		l->budgets[l->n_budgets++] =
			(struct ledger_budget){ "jvm-overhead", 1, qty_measured(UINT64_MAX), UINT64_MAX, "-Xmx" };
	memset(v->headline, '<', sizeof v->headline - 1);
	v->worst = SEVERITY_CRITICAL;
	for (v->n_findings = 0; v->n_findings < FINDINGS_MAX; v->n_findings++) {
		struct finding *f = &v->findings[v->n_findings];
		memset(f, 0, sizeof *f);
		f->rule = "freeboard-low";
		f->severity = SEVERITY_CRITICAL;
		memset(f->title, '&', sizeof f->title - 1);
		memset(f->change, '"', sizeof f->change - 1);
	}
}

static void the_largest_is_small_enough(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	char *picture = picture_of(s, to_the_end_of_numbers);
	assert_true(strlen(picture) < 100000);
	has(picture, ">16.00 EiB</text>");
	has(picture, "and 44 more: bankfull report</text>");
	free(picture);
	snap_free(s);
}

static void names_are_text(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	(void)snprintf(s->jdk, sizeof s->jdk, "<script>alert(1)</script>&\"'\n\x1b[2J");
	(void)snprintf(s->container_id, sizeof s->container_id,
		       "a\xef\xbf\xbe\xe2\x80\xae"
		       "b\xff");
	char *picture = picture_of(s, NULL);
	has(picture, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;'\\x0a\\x1b[2J");
	has(picture, "container a\\xef\\xbf");
	free(picture);
	snap_free(s);
}

static void escapes(void **state)
{
	(void)state;
	static const struct {
		const char *text, *shown;
	} table[] = {
		{ "", "" },
		{ "a<b>&\"'", "a&lt;b&gt;&amp;&quot;'" },
		{ "]]>", "]]&gt;" },
		{ "\xef\xbf\xbd", "\xef\xbf\xbd" },
		{ "\xef\xbf\xbf.", "\\xef\\xbf." },
		{ "\xe2\x80\xae\xc2\x85\x7f", "\\xe2\\x80\\xae\\xc2\\x85\\x7f" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf out = { .cap = 256 };
		svg_escaped(&out, str_of(table[i].text));
		assert_true(str_eq(buf_str(&out), str_of(table[i].shown)));
	}
}

static size_t lines_of(const char *text, double width, unsigned most, struct buf *out)
{
	struct svg_font font = { 10, false, "#000000", SVG_START };
	buf_clear(out);
	double end = svg_wrapped(out, 0, 0, width, most, font, text);
	size_t n = 0;
	for (const char *at = buf_str(out).ptr; (at = strstr(at, "<text")); at++)
		n++;
	assert_true(end - 13.5 * (double)n < 0.01 && 13.5 * (double)n - end < 0.01);
	return n;
}

static void words_are_wrapped(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = CAP };
	assert_int_equal(lines_of("", 100, 5, &out), 0);
	assert_int_equal(lines_of("one two", 100, 5, &out), 1);
	assert_int_equal(lines_of("one two three four five", 60, 5, &out), 3); /* ten letters a line */
	assert_non_null(strstr(out.ptr, ">three four</text>"));
	assert_int_equal(lines_of("aaaaaaaaaaaaaaaaaaaaaaaaa", 60, 5, &out),
			 3); /* a word that is wider than the line */
	assert_int_equal(lines_of("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 15, 5, &out), 3);
	assert_int_equal(lines_of("a b c d e f g", 6, 3, &out), 3);
	assert_non_null(strstr(out.ptr, ">c ...</text>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_matters),
		cmocka_unit_test(unread_is_not_zero),
		cmocka_unit_test(the_floor_ends_where_reclaim_begins),
		cmocka_unit_test(no_limit_is_said),
		cmocka_unit_test(what_is_over_is_told),
		cmocka_unit_test(the_largest_is_small_enough),
		cmocka_unit_test(names_are_text),
		cmocka_unit_test(escapes),
		cmocka_unit_test(words_are_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
