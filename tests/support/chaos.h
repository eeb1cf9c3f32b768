/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots at random: any input may be missing, and with `wild` any figure may be anything a u64 can hold. */
#ifndef BANKFULL_TESTS_CHAOS_H
#define BANKFULL_TESTS_CHAOS_H

#include "bankfull/snapshot.h"
#include "support/prng.h"

/* snap_free() it. Mappings are ascending and no more is resident in one than it is large, as the parser promises. */
struct snapshot *chaos_new(struct prng *prng, bool wild);

/* Write garbage behind everything that is marked unread: whoever looks there gives himself away. */
void chaos_garbage(struct prng *prng, struct snapshot *snapshot);

/* Another order of what has none: NMT's categories, pagemap's answers, settings, gaps. */
void chaos_shuffle(struct prng *prng, struct snapshot *snapshot);

/* The anonymous bytes of all mappings, as the ledger must own them. */
uint64_t chaos_anon(const struct snapshot *snapshot);

#endif
