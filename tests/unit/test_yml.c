/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "data/yml.h"
#include "support/tight.h"

static void flattens(void **state)
{
	(void)state;
	struct str text = tight_of(STR("# comment\n"
				       "taskmanager:\n"
				       "  memory:\n"
				       "    process.size: 1728m\n"
				       "  numberOfTaskSlots: 010\n"
				       "taskmanager.host: 'no'\n"
				       "list: [a, {b: c}]\n"
				       "none:\n"
				       "tilde: ~\n"
				       "quoted: \"\"\n"
				       "map: {}\n"
				       "block: |\n"
				       "  two\n"
				       "  lines\n"));
	auto_yml struct yml yml = { 0 };
	assert_int_equal(yml_parse(text, "c.yaml", &yml, NULL), 0);
	tight_free(text);
	static const struct {
		const char *key, *value;
		unsigned line;
		bool empty;
	} want[] = {
		{ "taskmanager.memory.process.size", "1728m", 4, false },
		{ "taskmanager.numberOfTaskSlots", "010", 5, false },
		{ "taskmanager.host", "no", 6, false },
		{ "list[0]", "a", 7, false },
		{ "list[1].b", "c", 7, false },
		{ "none", "", 8, true },
		{ "tilde", "~", 9, false },
		{ "quoted", "", 10, false },
		{ "map", "", 11, true },
		{ "block", "two\nlines\n", 12, false },
	};
	assert_int_equal(yml.n, sizeof want / sizeof *want);
	for (size_t i = 0; i < yml.n; i++) {
		assert_true(str_eq(yml.items[i].key, str_of(want[i].key)));
		assert_true(str_eq(yml.items[i].value, str_of(want[i].value)));
		assert_int_equal(yml.items[i].line, want[i].line);
		assert_int_equal(yml.items[i].empty, want[i].empty);
	}
}

static void empty_documents(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "\n", "# only\n", "---\n", "{}\n", "---\n...\n" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		auto_yml struct yml yml = { 0 };
		assert_int_equal(yml_parse(str_of(texts[i]), "c", &yml, NULL), 0);
		assert_int_equal(yml.n, 0);
	}
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		enum err_kind kind;
		const char *says;
	} cases[] = {
		{ STR("a: 1\n\tb: 2\n"), ERR_MALFORMED, "c.yaml:2: a tab" },
		{ STR("a:\n\tb: 2\n"), ERR_MALFORMED, "a tab" },
		{ STR("a: &x 1\n"), ERR_MALFORMED, "c.yaml:1: an anchor" },
		{ STR("a: *x\n"), ERR_MALFORMED, "c.yaml:1: an alias" },
		{ STR("a: &x [*x]\n"), ERR_MALFORMED, "anchor" },
		{ STR("a: !!int 1\n"), ERR_MALFORMED, "a tag" },
		{ STR("a: 1\nb: 2\na: 3\n"), ERR_MALFORMED, "c.yaml:3: the key 'a' stands already on line 1" },
		{ STR("a: {b: 1}\na.b: 2\n"), ERR_MALFORMED, "c.yaml:2: the key 'a.b' stands already on line 1" },
		{ STR("a: 1\na: {b: 2}\n"), ERR_MALFORMED, "stands already" },
		{ STR("? [a]\n: 1\n"), ERR_MALFORMED, "plain text" },
		{ STR("'': 1\n"), ERR_MALFORMED, "empty key" },
		{ STR("- a\n"), ERR_MALFORMED, "not a list" },
		{ STR("just text\n"), ERR_MALFORMED, "key: value" },
		{ STR("a: 1\n---\nb: 2\n"), ERR_MALFORMED, "second document" },
		{ STR("a: \"\\0\"\n"), ERR_MALFORMED, "NUL" },
		{ STR("a: \x01\n"), ERR_MALFORMED, "c.yaml:1:" },
		{ STR("a: \0\n"), ERR_MALFORMED, "c.yaml:1:" },
		{ STR("a: \xff\n"), ERR_MALFORMED, "c.yaml:1:" },
		{ STR("a: [1\n"), ERR_MALFORMED, "c.yaml:" },
		{ STR("a: 'x\n"), ERR_MALFORMED, "c.yaml:" },
		{ STR("a: b: c\n"), ERR_MALFORMED, "c.yaml:1:" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str text = tight_of(cases[i].text);
		struct yml yml = { .n = 77 };
		struct err err = { 0 };
		int status = yml_parse(text, "c.yaml", &yml, &err);
		if (status >= 0 || err.kind != cases[i].kind || !strstr(err.message, cases[i].says) ||
		    strchr(err.message, '\n'))
			fail_msg("case %zu: %d %s", i, status, err.message);
		assert_int_equal(yml.n, 77);
		tight_free(text);
	}
}

static void deep(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 1 << 20 };
	struct yml yml;
	struct err err = { 0 };
	for (int i = 0; i < 10000; i++)
		(void)buf_puts(&text, "[");
	assert_true(yml_parse(buf_str(&text), "c", &yml, &err) < 0);
	buf_clear(&text);
	(void)buf_puts(&text, "a: ");
	for (int i = 0; i < 10000; i++)
		(void)buf_puts(&text, "{a: ");
	assert_true(yml_parse(buf_str(&text), "c", &yml, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_non_null(strstr(err.message, "16 levels"));
	buf_clear(&text);
	for (int i = 0; i < LIMIT_YAML_DEPTH; i++) {
		for (int k = 0; k < i; k++)
			(void)buf_putc(&text, ' ');
		(void)buf_puts(&text, "a:\n");
	}
	assert_int_equal(yml_parse(buf_str(&text), "c", &yml, &err), 0);
	yml_done(&yml);
}

static void large(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 1 << 20 };
	struct yml yml;
	struct err err = { 0 };
	for (int i = 0; text.len < LIMIT_CONFIG_FILE; i++)
		(void)buf_printf(&text, "key%d: %d\n", i, i);
	assert_true(yml_parse(buf_str(&text), "c", &yml, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	/* As large as may be, with many keys: quick, since duplicates are found by sorting. */
	text.len = LIMIT_CONFIG_FILE - 64;
	while (text.ptr[text.len - 1] != '\n')
		text.len--;
	assert_int_equal(yml_parse(buf_str(&text), "c", &yml, &err), 0);
	assert_true(yml.n > 10000);
	yml_done(&yml);
	/* A long key above many short ones would be written out again and again. */
	buf_clear(&text);
	for (int i = 0; i < 400; i++)
		(void)buf_putc(&text, 'k');
	(void)buf_puts(&text, ":\n");
	for (int i = 0; text.len < LIMIT_CONFIG_FILE - 64; i++)
		(void)buf_printf(&text, " k%d: 1\n", i);
	assert_true(yml_parse(buf_str(&text), "c", &yml, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_clear(&text);
	for (int i = 0; i < YML_KEY_MAX + 1; i++)
		(void)buf_putc(&text, 'k');
	(void)buf_puts(&text, ": 1\n");
	assert_true(yml_parse(buf_str(&text), "c", &yml, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
}

static void prefix(struct str text)
{
	struct yml yml;
	struct err err = { 0 };
	if (yml_parse(text, "c", &yml, &err) == 0)
		yml_done(&yml);
	else
		assert_true(err.message[0] != '\0');
}

static void every_prefix(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fixtures/engine/flink2-config.yaml");
	tight_prefixes(text, 500, prefix);
	tight_free(text);
	tight_prefixes(STR("a: {b: [1, {c: \"x\\n\"}], 'd': |\n  x\n}\n"), 100, prefix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flattens), cmocka_unit_test(empty_documents), cmocka_unit_test(refuses),
		cmocka_unit_test(deep),     cmocka_unit_test(large),           cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
