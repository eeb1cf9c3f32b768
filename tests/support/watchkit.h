/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of the terminal view, from snapshots as an agent would show them. For cmocka. */
#ifndef BANKFULL_TESTS_WATCHKIT_H
#define BANKFULL_TESTS_WATCHKIT_H

#include "support/snap.h"
#include "watch/story.h"

/* What the agent sees of `s` (NULL: no target) at this second. `h` NULL: no history yet. */
struct reading *watchkit_reading(const struct snapshot *s, const struct history_view *h, unsigned second);

/* A TaskManager near its limit, with findings, in a container that throttles. snap_free(). */
struct snapshot *watchkit_crowded(void);

#endif
