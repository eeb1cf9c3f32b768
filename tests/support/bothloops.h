/* SPDX-License-Identifier: Apache-2.0 */
/* A test of the network runs on both kinds of loop: `static enum loop_kind kind` is the file's, and set before each. */
#ifndef BANKFULL_TESTS_BOTHLOOPS_H
#define BANKFULL_TESTS_BOTHLOOPS_H

#include "net/loop.h"

#define BOTH(test)                               \
	static void test##_on_poll(void **state) \
	{                                        \
		(void)state;                     \
		kind = LOOP_POLL;                \
		test();                          \
	}                                        \
	static void test##_on_uv(void **state)   \
	{                                        \
		(void)state;                     \
		kind = LOOP_UV;                  \
		test();                          \
	}
#define TESTS(test) cmocka_unit_test(test##_on_poll), cmocka_unit_test(test##_on_uv)

#endif
