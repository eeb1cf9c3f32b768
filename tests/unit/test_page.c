/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown as the pages of rules use it, laid out; and the pages that the program carries. */
#include "cli/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "rules/collector_rules.h"
#include "rules/pages.h"
#include "rules/rules.h"

enum { CAP = 256 * 1024 };

static struct buf render(const char *markdown, bool color, unsigned columns)
{
	struct buf out = { .cap = CAP };
	struct paint p = { &out, color, columns };
	page_render(&p, str_of(markdown));
	assert_false(buf_failed(&out));
	return out;
}

static const struct {
	const char *markdown, *text;
} table[] = {
	{ "", "" },
	{ "\n\n", "" },
	{ "# Title\n\nWords.\n", "Title\n\nWords.\n" },
	{ "## A `b` *c*\n", "A `b` c\n" },
	{ "One\ntwo\n  three\n\nfour\n", "One two three\n\nfour\n" },
	{ "**Meaning.** It *is* so, **very**: 2 * 3, `a*b` \\*\n", "Meaning. It is so, very: 2 * 3, `a*b` *\n" },
	{ "kept: snake_case, `x_y`, <tag>, # no\n", "kept: snake_case, `x_y`, <tag>, # no\n" },
	{ "See [the ledger](../ledger.md) and [it](https://x.y/z).\n", "See the ledger and it (https://x.y/z).\n" },
	{ "No link: a[0] (b), [c], `[d](e)`, [f](g\n", "No link: a[0] (b), [c], `[d](e)`, [f](g\n" },
	{ "- one\n- two\n  more\n\n- three\n", "- one\n- two more\n\n- three\n" },
	{ "1. one\n2. two\n", "1. one\n2. two\n" },
	{ "Text\n- item\n", "Text\n- item\n" },
	{ "- an item that goes on for longer than forty columns do\n",
	  "- an item that goes on for longer than\n  forty columns do\n" },
	{ "A line of exactly forty columns, it end.\n", "A line of exactly forty columns, it end.\n" },
	{ "A line of forty-one columns, so it breaks\n", "A line of forty-one columns, so it\nbreaks\n" },
	{ "a-word-that-is-longer-than-a-line-of-forty-columns-is x\n",
	  "a-word-that-is-longer-than-a-line-of-for\nty-columns-is x\n" },
	{ "```\ncode *as it is*\n\n     more\n```\nText\n", "    code *as it is*\n\n         more\nText\n" },
	{ "Say:\n\n    rules: {a: *b}\n\nso.\n", "Say:\n\n    rules: {a: *b}\n\nso.\n" },
	{ "| a | b |\n|---|---|\n| 1 | `x` |\n| 22 | *y* |\n\nT\n", "a   b\n--  ---\n1   `x`\n22  y\n\nT\n" },
	{ "| a | b |\n|---|---|\n| 1 | x \\| y |\n", "a  b\n-  -----\n1  x | y\n" },
	{ "| a | b |\n|---|---|\n| 1 | |\n| | 2 |\n", "a  b\n-  -\n1\n   2\n" },
	{ "| name | what it is |\n|:--|--:|\n| one | words that need more than one line of forty |\n| two | x |\n",
	  "name  what it is\n----  ----------------------------------\none   words that need more than one line\n      of forty\ntwo   x\n" },
	{ "\xc3\xa9\xc3\xa9 | \x1b[2J\n", "\xc3\xa9\xc3\xa9 | \\x1b[2J\n" },
	{ "| \xc3\xa9 | b |\n|---|---|\n| 1 | 2 |\n", "\xc3\xa9  b\n-  -\n1  2\n" },
};

static void markdown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf out = render(table[i].markdown, false, 40);
		assert_string_equal(buf_str(&out).ptr, table[i].text);
	}
}

static void tones(void **state)
{
	(void)state;
	auto_buf struct buf out = render("# T\n\n**Needs** a limit\n\n| a |\n|---|\n| 1 |\n", true, 80);
	assert_string_equal(out.ptr, "\033[1mT\n\033[0m\n\033[1mNeeds\033[0m a limit\n\n\033[1ma\n\033[0m-\n1\n");
}

/* Every prefix of every text ends well, and nothing is wider than asked for. */
static void prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		for (size_t len = 0; len <= strlen(table[i].markdown); len++) {
			char *copy = strndup(table[i].markdown, len);
			auto_buf struct buf out = render(copy, true, 40);
			assert_true(out.len <= out.cap);
			free(copy);
		}
}

/* The file, so that nothing was lost on the way; and laid out within its columns, with no mark left over. */
static void pages(void **state)
{
	(void)state;
	static char file[64 * 1024];
	assert_true(page_count > 0);
	for (size_t i = 0; i < page_count; i++) {
		char path[128];
		(void)snprintf(path, sizeof path, "docs/rules/%s.md", page_table[i].name);
		FILE *stream = fopen(path, "r");
		assert_non_null(stream);
		size_t len = fread(file, 1, sizeof file - 1, stream);
		(void)fclose(stream);
		file[len] = '\0';
		assert_string_equal(page_table[i].text, file);
		assert_true(rules_find(str_of(page_table[i].name)) || collector_rule_find(str_of(page_table[i].name)));
		assert_ptr_equal(page_find(page_table[i].name), &page_table[i]);
		for (unsigned columns = PAINT_COLUMNS_MIN; columns <= PAINT_COLUMNS_MAX; columns += 20) {
			auto_buf struct buf out = render(page_table[i].text, false, columns);
			struct str rest = buf_str(&out), line;
			assert_false(str_has(rest, STR("**")));
			assert_false(str_has(rest, STR("](")));
			assert_false(str_has(rest, STR("\n\n\n")));
			while (str_line(&rest, &line))
				/* What is to be copied is not wrapped. */
				if ((line.len > columns && !str_starts(line, STR("    "))) || str_ends(line, STR(" ")))
					fail_msg("%s: '%.*s'", page_table[i].name, (int)line.len, line.ptr);
		}
	}
	assert_null(page_find("no-such-rule"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markdown),
		cmocka_unit_test(tones),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
