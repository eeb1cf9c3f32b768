/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that several of HotSpot's answers share. Each takes its token off the front of `*rest`, or takes nothing. Pure. */
#ifndef JVM_TAKE_H
#define JVM_TAKE_H

#include "bankfull/quantity.h"
#include "base/str.h"

/*
 * Digits and one of: nothing, B, K, KB, Kb, M, MB, G, GB (units are 1024-based): "83K", "120036Kb", "1048576". False past u64.
 */
bool take_size(struct str *rest, uint64_t *ret_bytes);

/* "0x00000000f0000000" */
bool take_address(struct str *rest, uint64_t *ret_address);

/* "[0x1, 0x2)", "[0x1,0x2,0x3)", "[0x1 - 0x2]": two to four ascending addresses; their number, or 0. */
unsigned take_addresses(struct str *rest, uint64_t ret_at[4]);

#endif
