/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "base/limits.h"
#include "data/js.h"
#include "support/tight.h"

static void reads(void **state)
{
	(void)state;
	struct str text = tight_of(STR(
		"{\"z\":1,\"a\":{\"b\":[1,2.0,-3,1.5,true,null,\"\\u00e9x\"]},\"big\":9223372036854775807,\"real\":1.8e19}"));
	auto_js struct js *root = NULL;
	uint64_t u64;
	int64_t i64;
	double real;
	struct str s;
	assert_int_equal(js_parse(text, 4096, &root, NULL), 0);
	tight_free(text);
	const struct js *list = js_path(root, "a.b");
	assert_int_equal(js_kind(list), JS_ARRAY);
	assert_int_equal(js_len(list), 7);
	assert_true(js_u64(js_at(list, 0), &u64) && u64 == 1);
	assert_true(js_u64(js_at(list, 1), &u64) && u64 == 2);
	assert_false(js_u64(js_at(list, 2), &u64));
	assert_true(js_i64(js_at(list, 2), &i64) && i64 == -3);
	assert_false(js_u64(js_at(list, 3), &u64));
	assert_false(js_i64(js_at(list, 3), &i64));
	assert_true(js_double(js_at(list, 3), &real) && real == 1.5);
	assert_int_equal(js_kind(js_at(list, 5)), JS_NULL);
	assert_false(js_u64(js_at(list, 5), &u64));
	assert_true(js_str(js_at(list, 6), &s) && str_eq(s, STR("\xc3\xa9x")));
	assert_null(js_at(list, 7));
	assert_true(js_u64(js_get(root, "big"), &u64) && u64 == INT64_MAX);
	assert_true(js_u64(js_get(root, "real"), &u64) && u64 == 18000000000000000000ull);
	/* The wrong kind, and nothing, are both "not there". */
	assert_null(js_get(list, "x"));
	assert_null(js_path(root, "a.b.c"));
	assert_int_equal(js_kind(NULL), JS_ABSENT);
	assert_int_equal(js_len(NULL), 0);
	assert_false(js_str(root, &s));
	struct js_iter iter = { 0 };
	const struct js *value;
	assert_true(js_each(root, &iter, &s, &value) && str_eq(s, STR("z")));
	assert_true(js_each(root, &iter, &s, &value) && str_eq(s, STR("a")));
	assert_true(js_each(root, &iter, &s, &value) && js_each(root, &iter, &s, &value));
	assert_false(js_each(root, &iter, &s, &value));
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum err_kind kind;
	} cases[] = {
		{ "", ERR_MALFORMED },
		{ "{", ERR_MALFORMED },
		{ "{} x", ERR_MALFORMED },
		{ "{\"a\":1,\"a\":2}", ERR_MALFORMED },
		{ "{\"a\":\"\\u0000\"}", ERR_MALFORMED },
		{ "{\"a\":\"\xff\"}", ERR_MALFORMED },
		{ "[18446744073709551616]", ERR_MALFORMED },
		{ "[1e400]", ERR_MALFORMED },
		{ "[NaN]", ERR_MALFORMED },
		{ "<html><body>", ERR_MALFORMED },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", ERR_LIMIT },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str text = tight_of(str_of(cases[i].text));
		struct js *root = (struct js *)(uintptr_t)7;
		struct err err = { 0 };
		assert_true(js_parse(text, 4096, &root, &err) < 0);
		if (err.kind != cases[i].kind)
			fail_msg("'%s': %s", cases[i].text, err.message);
		assert_ptr_equal(root, (void *)(uintptr_t)7);
		tight_free(text);
	}
}

static void messages_hold_no_text(void **state)
{
	(void)state;
	struct js *root;
	struct err err = { 0 };
	assert_true(js_parse(STR("{\"password\": canary}"), 4096, &root, &err) < 0);
	assert_null(strstr(err.message, "canary"));
	assert_true(js_parse(STR("{\"canary\":1,\"canary\":1}"), 4096, &root, &err) < 0);
	assert_null(strstr(err.message, "canary"));
}

static void caps(void **state)
{
	(void)state;
	struct js *root;
	struct err err = { 0 };
	assert_int_equal(js_parse(STR("[1,2]"), 4, &root, &err), -EFBIG);
	auto_buf struct buf many = { .cap = 1 << 20 };
	(void)buf_putc(&many, '[');
	for (int i = 0; i < JS_VALUES_MAX; i++)
		(void)buf_puts(&many, "1,");
	(void)buf_puts(&many, "1]");
	assert_int_equal(js_parse(buf_str(&many), many.len, &root, &err), -EFBIG);
	assert_non_null(strstr(err.message, "values"));
}

static void writes(void **state)
{
	(void)state;
	auto_buf struct buf buf = { .cap = 4096 };
	struct js_out out;
	js_out_start(&out, &buf, 0);
	js_out_object(&out);
	js_out_key(&out, "z");
	js_out_u64(&out, UINT64_MAX);
	js_out_key(&out, "a");
	js_out_array(&out);
	js_out_i64(&out, INT64_MIN);
	js_out_bool(&out, false);
	js_out_null(&out);
	js_out_text(&out, NULL);
	js_out_str(&out, STR("q\"\\\n\t\x01\x1b[0m\x7f\xc2\x9b\xff\xc3\xa9"));
	js_out_object(&out);
	js_out_object_end(&out);
	js_out_number(&out, STR("1.25"));
	js_out_number(&out, STR("1.34E8"));
	js_out_number(&out, STR("NaN"));
	js_out_number(&out, STR("01"));
	js_out_array_end(&out);
	js_out_object_end(&out);
	assert_int_equal(js_out_end(&out, NULL), 0);
	assert_string_equal(
		buf.ptr,
		"{\"z\":18446744073709551615,\"a\":[-9223372036854775808,false,null,null,"
		"\"q\\\"\\\\\\n\\t\\u0001\\u001b[0m\\u007f\\u009b\\ufffd\xc3\xa9\",{},1.25,1.34E8,null,null]}");
	struct js *root;
	assert_true(js_parse(buf_str(&buf), 4096, &root, NULL) < 0 || (js_free(root), true));
}

static void writes_lines(void **state)
{
	(void)state;
	auto_buf struct buf buf = { .cap = 4096 };
	struct js_out out;
	js_out_start(&out, &buf, 2);
	js_out_object(&out);
	js_out_key(&out, "a");
	js_out_array(&out);
	js_out_array_end(&out);
	js_out_key(&out, "b");
	js_out_array(&out);
	js_out_u64(&out, 1);
	js_out_array_end(&out);
	js_out_object_end(&out);
	assert_int_equal(js_out_end(&out, NULL), 0);
	assert_string_equal(buf.ptr, "{\n  \"a\": [],\n  \"b\": [\n    1\n  ]\n}");
}

static void writes_what_was_read(void **state)
{
	(void)state;
	static const char text[] =
		"{\"a\":[1,-2,9223372036854775807,0.5,true,false,null,\"x\\u001by\"],\"b\":{\"c\":{}},\"d\":[]}";
	static const char *const texts[] = { text, "{}", "[]", "[[[1]]]" };
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		auto_buf struct buf buf = { .cap = 4096 };
		auto_js struct js *root = NULL;
		struct err err;
		struct js_out out;
		assert_int_equal(js_parse(str_of(texts[i]), 4096, &root, &err), 0);
		js_out_start(&out, &buf, 0);
		js_out_value(&out, root);
		assert_int_equal(js_out_end(&out, NULL), 0);
		assert_string_equal(buf.ptr, texts[i]);
	}
}

static void misuse_is_an_error(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		auto_buf struct buf buf = { .cap = 4096 };
		struct js_out out;
		struct err err = { 0 };
		js_out_start(&out, &buf, 0);
		if (i == 0) {
			js_out_object(&out); /* never ended */
		} else if (i == 1) {
			js_out_object(&out);
			js_out_u64(&out, 1); /* without a key */
			js_out_object_end(&out);
		} else if (i == 2) {
			js_out_array(&out);
			js_out_key(&out, "a");
			js_out_array_end(&out);
		} else if (i == 3) {
			js_out_array(&out);
			js_out_object_end(&out);
		} else if (i == 4) {
			js_out_u64(&out, 1);
			js_out_u64(&out, 2);
		} else {
			for (int k = 0; k < JS_OUT_DEPTH_MAX + 1; k++)
				js_out_array(&out);
			for (int k = 0; k < JS_OUT_DEPTH_MAX + 1; k++)
				js_out_array_end(&out);
		}
		assert_true(js_out_end(&out, &err) < 0);
	}
	auto_buf struct buf small = { .cap = 4 };
	struct js_out out;
	js_out_start(&out, &small, 0);
	js_out_text(&out, "longer");
	assert_int_equal(js_out_end(&out, NULL), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(messages_hold_no_text),
		cmocka_unit_test(caps),
		cmocka_unit_test(writes),
		cmocka_unit_test(writes_lines),
		cmocka_unit_test(writes_what_was_read),
		cmocka_unit_test(misuse_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
