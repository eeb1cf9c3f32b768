/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions on the lines of a ledger. Include after cmocka.h. */
#ifndef BANKFULL_TESTS_LINES_H
#define BANKFULL_TESTS_LINES_H

#include "support/snap.h"

/* The bytes of a line that must be listed and known. */
static inline uint64_t line_bytes(const struct ledger *ledger, enum owner owner)
{
	assert_true(ledger->listed[owner]);
	assert_true(qty_known(ledger->lines[owner].bytes));
	return ledger->lines[owner].bytes.bytes;
}

static inline bool line_unread(const struct ledger *ledger, enum owner owner)
{
	return ledger->listed[owner] && !qty_known(ledger->lines[owner].bytes);
}

#define LINE(ledger, owner, mib) assert_int_equal(line_bytes(ledger, owner), (uint64_t)(mib)*MIB)

#endif
