/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/take.h"
#include "support/tight.h"

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		const char *rest; /* NULL: refused */
	} cases[] = {
		{ "83K,", 83 << 10, "," },
		{ "120036Kb x", 120036 << 10, " x" },
		{ "12KB", 12 << 10, "" },
		{ "5", 5, "" },
		{ "5B", 5, "" },
		{ "3M)", 3 << 20, ")" },
		{ "2GB", 2ul << 30, "" },
		{ "18446744073709551615", UINT64_MAX, "" },
		{ "18446744073709551616", 0, NULL },
		{ "18014398509481984K", 0, NULL },
		{ "17179869184G", 0, NULL },
		{ "", 0, NULL },
		{ "K", 0, NULL },
		{ "-1", 0, NULL },
		{ "1 K", 1, " K" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct str text = tight_of(str_of(cases[i].text)), rest = text;
		uint64_t bytes = 0;
		assert_int_equal(take_size(&rest, &bytes), cases[i].rest != NULL);
		assert_int_equal(bytes, cases[i].bytes);
		assert_true(str_eq(rest, cases[i].rest ? str_of(cases[i].rest) : text));
		tight_free(text);
	}
}

static void addresses(void **state)
{
	static const struct {
		const char *text;
		unsigned n;
	} cases[] = {
		{ "[0x1, 0x2)", 2 },
		{ "[0x1,0x2,0x3)", 3 },
		{ "[0x1 - 0x2] reserved", 2 },
		{ "[0x1, 0x2, 0x3, 0x4)", 4 },
		{ "[0x1, 0x1)", 2 },
		{ "[0x2, 0x1)", 0 },
		{ "[0x1)", 0 },
		{ "[0x1, 0x2, 0x3, 0x4, 0x5)", 0 },
		{ "0x1, 0x2)", 0 },
		{ "[0x1; 0x2)", 0 },
		{ "[0x1, 0x2", 0 },
		{ "[0x1, 0x11111111111111111)", 0 },
		{ "[0x, 0x2)", 0 },
		{ "", 0 },
		{ "[", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct str text = tight_of(str_of(cases[i].text)), rest = text;
		uint64_t at[4];
		assert_int_equal(take_addresses(&rest, at), cases[i].n);
		if (cases[i].n == 0)
			assert_true(str_eq(rest, text));
		tight_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(addresses) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
