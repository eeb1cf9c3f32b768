/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "data/yml_tree.h"
#include "support/tight.h"

static struct str piece(const struct yml_tree *tree, unsigned node)
{
	const struct yml_node *at = yml_at(tree, node);
	return (struct str){ tree->text.ptr + at->start, at->end - at->start };
}

static void marks_are_bytes(void **state)
{
	(void)state;
	struct str text = tight_of(STR("\xc3\xa4: \xe2\x82\xac # \xc3\xb6\r\n"
				       "map:\r\n"
				       "  list:\r\n"
				       "  - a\r\n"
				       "  - {b: [c, \"d\"]}\r\n"
				       "\r\n"
				       "  # behind\r\n"
				       "none:\r\n"
				       "text: |\r\n"
				       "  two\r\n"
				       "  lines\r\n"
				       "last: \"q\"\r\n"));
	auto_yml_tree struct yml_tree tree = { 0 };
	assert_int_equal(yml_tree_parse(text, "t", &tree, NULL), 0);
	assert_int_equal(tree.n_documents, 1);
	unsigned root = tree.documents[0], map = yml_get(&tree, root, "map", NULL);
	static const struct {
		const char *key, *text;
		unsigned line;
	} want[] = {
		{ "\xc3\xa4", "\xe2\x82\xac", 1 },
		{ "map", "list:\r\n  - a\r\n  - {b: [c, \"d\"]}", 3 },
		{ "none", "", 8 },
		{ "text", "|\r\n  two\r\n  lines\r\n", 9 },
		{ "last", "\"q\"", 12 },
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		unsigned value = yml_get(&tree, root, want[i].key, NULL);
		assert_true(str_eq(piece(&tree, value), str_of(want[i].text)));
		assert_int_equal(yml_at(&tree, value)->line, want[i].line);
	}
	assert_true(yml_is_null(&tree, yml_get(&tree, root, "none", NULL)));
	assert_false(yml_is_null(&tree, yml_get(&tree, root, "last", NULL)));
	unsigned list = yml_get(&tree, map, "list", NULL);
	assert_int_equal(yml_at(&tree, list)->n, 2);
	assert_int_equal(yml_at(&tree, list)->column, 2);
	assert_true(yml_at(&tree, yml_at(&tree, yml_at(&tree, list)->first)->next)->flow);
	tight_free(text);
}

static void follows_aliases_and_merges(void **state)
{
	(void)state;
	struct str text = STR("base: &base {a: 1, b: 2}\n"
			      "other: &other {b: 3, c: 4}\n"
			      "one: {<<: *base, a: 5}\n"
			      "both: {<<: [*other, *base]}\n"
			      "same: *base\n"
			      "---\n"
			      "second: 1\n");
	auto_yml_tree struct yml_tree tree = { 0 };
	assert_int_equal(yml_tree_parse(text, "t", &tree, NULL), 0);
	assert_int_equal(tree.n_documents, 2);
	static const struct {
		const char *map, *key, *merged, *own;
	} want[] = {
		{ "one", "a", "5", "5" },  { "one", "b", "2", "" },   { "one", "c", "", "" },
		{ "both", "b", "3", "" },  { "both", "a", "1", "" },  { "both", "c", "4", "" },
		{ "same", "a", "1", "1" }, { "base", "b", "2", "2" },
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		unsigned map = yml_get(&tree, tree.documents[0], want[i].map, NULL);
		assert_true(str_eq(yml_text(&tree, yml_tree_merged(&tree, map, want[i].key)), str_of(want[i].merged)));
		assert_true(str_eq(yml_text(&tree, yml_get(&tree, map, want[i].key, NULL)), str_of(want[i].own)));
	}
	assert_true(yml_at(&tree, yml_get(&tree, tree.documents[0], "base", NULL))->used);
	assert_false(yml_at(&tree, yml_get(&tree, tree.documents[0], "one", NULL))->used);
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *text, *part;
		enum err_kind kind;
	} cases[] = {
		{ "a: 1\nb: 2\na: 3\n", "t:3: the key 'a' stands already on line 1", ERR_MALFORMED },
		{ "? [a]\n: b\n", "t:1: a key must be plain text", ERR_MALFORMED },
		{ "a: *b\n", "t:1: an alias whose anchor stands nowhere before it", ERR_MALFORMED },
		{ "a: &a 1\n---\nb: *a\n", "t:3: an alias whose", ERR_MALFORMED },
		{ "a: &a [*a]\n", "t:1: an alias within its own anchor", ERR_MALFORMED },
		{ "a: 1\rb: 2\n", "t:1: a CR that no LF follows", ERR_MALFORMED },
		{ "a:\n\t- b\n", "t:2: ", ERR_MALFORMED },
		{ "a: {{ .Values.x }}\n", "t:1: ", ERR_MALFORMED },
		{ "a: \"open\n", "t:", ERR_MALFORMED },
		{ "a: \xff\n", "t:", ERR_MALFORMED },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "t:1: nested too deeply", ERR_LIMIT },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct yml_tree tree = { 0 };
		struct err err = { 0 };
		assert_true(yml_tree_parse(str_of(cases[i].text), "t", &tree, &err) < 0);
		assert_null(tree.nodes);
		if (err.kind != cases[i].kind || !str_has(str_of(err.message), str_of(cases[i].part)))
			fail_msg("case %zu: %s", i, err.message);
	}
}

static void caps(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 16 * 1024 * 1024 };
	struct yml_tree tree = { 0 };
	struct err err = { 0 };
	for (int i = 0; i < YML_TREE_NODES_MAX; i++)
		(void)buf_puts(&text, "- a\n");
	assert_true(yml_tree_parse(buf_str(&text), "t", &tree, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_clear(&text);
	for (int i = 0; i <= YML_TREE_ANCHORS_MAX; i++)
		(void)buf_printf(&text, "- &a%d b\n", i);
	assert_true(yml_tree_parse(buf_str(&text), "t", &tree, &err) < 0);
	assert_true(str_has(str_of(err.message), STR("anchors")));
	buf_clear(&text);
	while (text.len <= YML_TREE_TEXT_MAX)
		(void)buf_puts(&text, "# nothing but comments, and a lot of them\n");
	assert_true(yml_tree_parse(buf_str(&text), "t", &tree, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(yml_tree_parse(STR(""), "t", &tree, NULL), 0);
	assert_int_equal(tree.n_documents, 0);
	yml_tree_done(&tree);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_bytes),
		cmocka_unit_test(follows_aliases_and_merges),
		cmocka_unit_test(refuses),
		cmocka_unit_test(caps),
	};
	return cmocka_run_group_tests_name("yml_tree", tests, NULL, NULL);
}
