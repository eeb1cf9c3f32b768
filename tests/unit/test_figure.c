/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/figure.h"

static void unread_is_not_zero(void **state)
{
	(void)state;
	char text[UNITS_TEXT_CAP];
	assert_string_equal(figure_qty(text, (struct qty){ 0 }), "unread");
	assert_string_equal(figure_qty(text, qty_measured(0)), "0 B");
	assert_string_equal(figure_qty(text, qty_of(3 << 20, QTY_INFERRED)), "3.0 MiB");
	assert_string_equal(figure_signed(text, (struct signed_qty){ 7, false }), "unread");
	assert_string_equal(figure_signed(text, (struct signed_qty){ 0, true }), "0 B");
	assert_string_equal(figure_signed(text, (struct signed_qty){ -(3 << 20), true }), "-3.0 MiB");
	assert_string_equal(figure_limit(text, (struct limit){ 0 }), "unread");
	assert_string_equal(figure_limit(text, (struct limit){ 0, LIMIT_NONE }), "none");
	assert_string_equal(figure_limit(text, limit_set(0)), "0 B");
	assert_string_equal(figure_limit(text, limit_set(3 << 20)), "3.0 MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(unread_is_not_zero) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
