/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/crc32.h"

/* Bit by bit, as ISO 3309 defines it. */
static uint32_t by_bits(const uint8_t *bytes, size_t len)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

/* The check value that every catalogue of CRCs gives. */
static void check_value(void **state)
{
	(void)state;
	assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_add(0, "", 0), 0);
}

static void as_by_bits_at_any_length_and_cut(void **state)
{
	uint8_t bytes[200];
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 167 + i / 7);
	for (size_t from = 0; from < 9; from++)
		for (size_t len = 0; from + len <= sizeof bytes; len++) {
			uint32_t want = by_bits(bytes + from, len);
			assert_int_equal(crc32_add(0, bytes + from, len), want);
			size_t cut = len * 5 / 8;
			assert_int_equal(crc32_add(crc32_add(0, bytes + from, cut), bytes + from + cut, len - cut),
					 want);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_value),
		cmocka_unit_test(as_by_bits_at_any_length_and_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
