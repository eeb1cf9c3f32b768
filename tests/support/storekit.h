/* SPDX-License-Identifier: Apache-2.0 */
/* What store tests and the store's bench feed a store with: agents, and samples that move as those of a busy JVM do. */
#ifndef BANKFULL_TESTS_STOREKIT_H
#define BANKFULL_TESTS_STOREKIT_H

#include "collector/store_read.h"
#include "support/prng.h"

/* A hello of "ns/pod-<n>" with two jobs and a label. */
struct wire_hello storekit_hello(unsigned n);
struct wire_epoch storekit_epoch(unsigned n);

/* The first sample of agent `n`: 25 owners, four groups, all measured. */
struct wire_sample storekit_sample(unsigned n);
/* The next one, `interval_ms` on: some owners move by pages, some by bytes, many stay; groups and charge follow. */
void storekit_next(struct prng *prng, struct wire_sample *sample, uint32_t interval_ms);

struct wire_finding storekit_finding(uint64_t seq, const char *id, enum wire_edge edge);
struct wire_postmortem storekit_death(uint64_t seq, const char *id, unsigned part, unsigned parts, int64_t died_ms);

/* A call that must not fail, with an `err` of its own; of cmocka's tests. */
#define OK(call)                                                 \
	do {                                                     \
		struct err err_ = { 0 };                         \
		struct err *err = &err_;                         \
		if ((call) < 0)                                  \
			fail_msg("%s: %s", #call, err_.message); \
	} while (0)

#endif
