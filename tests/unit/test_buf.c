/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"

static void an_empty_one_is_usable(void **state)
{
	(void)state;
	struct buf buf = { .cap = 10 };
	assert_int_equal(buf_str(&buf).len, 0);
	assert_string_equal(buf_str(&buf).ptr, "");
	buf_clear(&buf);
	buf_done(&buf);
	buf_done(&buf);
	assert_int_equal(buf.cap, 10);
	assert_false(buf_failed(&buf));
}

static void appends(void **state)
{
	(void)state;
	auto_buf struct buf buf = { .cap = 100 };
	assert_true(buf_puts(&buf, "a"));
	assert_true(buf_putc(&buf, '\0'));
	assert_true(buf_add(&buf, STR("bc")));
	assert_true(buf_add(&buf, (struct str){ NULL, 0 }));
	assert_true(buf_printf(&buf, "%d-%s", 42, "x"));
	assert_true(str_eq(buf_str(&buf), STR("a\0bc42-x")));
	assert_int_equal(buf.ptr[buf.len], '\0'); /* always followed by a NUL that is not counted */
	buf_clear(&buf);
	assert_int_equal(buf.len, 0);
	assert_string_equal(buf.ptr, "");
	char *at = buf_grow(&buf, 5);
	assert_non_null(at);
	memcpy(at, "hello", 5);
	buf_grown(&buf, 3);
	assert_string_equal(buf.ptr, "hel");
}

static void the_cap_is_exact_and_sticky(void **state)
{
	(void)state;
	auto_buf struct buf buf = { .cap = 4 };
	assert_true(buf_puts(&buf, "1234"));
	assert_true(buf_puts(&buf, ""));
	assert_false(buf_putc(&buf, '5'));
	assert_true(buf_failed(&buf));
	assert_false(buf_puts(&buf, "")); /* sticky: one check at the end of a chain is enough */
	assert_true(str_eq(buf_str(&buf), STR("1234")));
	buf_clear(&buf);
	assert_false(buf_failed(&buf));
	assert_false(buf_printf(&buf, "%s", "12345"));
	assert_int_equal(buf.len, 0);
	buf_clear(&buf);
	assert_null(buf_grow(&buf, SIZE_MAX)); /* no sum wraps */
	buf_clear(&buf);
	assert_true(buf_puts(&buf, "12"));
	assert_null(buf_grow(&buf, SIZE_MAX - 1));
	struct buf none = { 0 };
	assert_false(buf_putc(&none, 'x'));
	assert_null(none.ptr);
}

static void it_grows(void **state)
{
	(void)state;
	auto_buf struct buf buf = { .cap = 1 << 20 };
	for (unsigned i = 0; i < 100000; i++)
		assert_true(buf_putc(&buf, (char)('a' + i % 26)));
	assert_int_equal(buf.len, 100000);
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(buf.ptr[i], 'a' + i % 26);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_is_usable),
		cmocka_unit_test(appends),
		cmocka_unit_test(the_cap_is_exact_and_sticky),
		cmocka_unit_test(it_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
