/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/err.h"

static void kinds_have_names_and_negative_errnos(void **state)
{
	(void)state;
	for (int kind = ERR_NONE; kind < ERR_KIND_COUNT; kind++) {
		struct err err;
		assert_non_null(err_kind_names[kind]);
		assert_int_equal(err_kind_find(err_kind_names[kind]), kind);
		assert_true(err_set(&err, (enum err_kind)kind, "x") < 0);
		assert_true(err_set(NULL, (enum err_kind)kind, "x") < 0);
		assert_int_equal(err.kind, kind);
	}
	assert_int_equal(err_kind_find("nonsense"), ERR_NONE);
	assert_int_equal(err_kind_find(""), ERR_NONE);
}

static void errno_decides_the_kind(void **state)
{
	(void)state;
	static const struct {
		int errnum;
		enum err_kind kind;
	} table[] = {
		{ ENOENT, ERR_GONE },
		{ ESRCH, ERR_GONE },
		{ ENODEV, ERR_GONE },
		{ EACCES, ERR_DENIED },
		{ EPERM, ERR_DENIED },
		{ ENOSYS, ERR_UNSUPPORTED },
		{ EOPNOTSUPP, ERR_UNSUPPORTED },
		{ ETIMEDOUT, ERR_TIMEOUT },
		{ EAGAIN, ERR_TIMEOUT },
		{ EFBIG, ERR_LIMIT },
		{ E2BIG, ERR_LIMIT },
		{ ENOMEM, ERR_NOMEM },
		{ EIO, ERR_IO },
		{ EISDIR, ERR_UNSUPPORTED },
		{ ENOTDIR, ERR_UNSUPPORTED },
		{ ELOOP, ERR_UNSUPPORTED },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct err err;
		assert_int_equal(err_sys(&err, table[i].errnum, "open %s", "x"), -table[i].errnum);
		assert_int_equal(err.kind, table[i].kind);
		assert_int_equal(err.errnum, table[i].errnum);
		assert_memory_equal(err.message, "open x: ", 8);
		assert_string_equal(err.message + 8, strerror(table[i].errnum));
		assert_int_equal(err_sys(NULL, table[i].errnum, "x"), -table[i].errnum);
	}
	assert_int_equal(err_sys(NULL, 0, "no errno"), -EIO); /* never 0: that would be success */
	assert_int_equal(err_sys(NULL, -5, "no errno"), -EIO);
}

static void wrap_puts_a_clause_before(void **state)
{
	(void)state;
	struct err err;
	(void)err_set(&err, ERR_MALFORMED, "no number after '%s'", "reserved=");
	err_wrap(&err, "line %d", 7);
	err_wrap(&err, "nmt");
	assert_string_equal(err.message, "nmt: line 7: no number after 'reserved='");
	assert_int_equal(err.kind, ERR_MALFORMED);
	err_wrap(NULL, "x");
}

static void long_messages_are_cut_at_their_end(void **state)
{
	(void)state;
	struct err err;
	char text[2 * sizeof err.message];
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	(void)err_set(&err, ERR_IO, "%s", text);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	err_wrap(&err, "first");
	assert_memory_equal(err.message, "first: aaa", 10);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	err_wrap(&err, "%s", text);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	(void)err_sys(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_names_and_negative_errnos),
		cmocka_unit_test(errno_decides_the_kind),
		cmocka_unit_test(wrap_puts_a_clause_before),
		cmocka_unit_test(long_messages_are_cut_at_their_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
