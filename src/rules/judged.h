/* SPDX-License-Identifier: Apache-2.0 */
/* The limit that a rule judges by, and the share of it that a threshold stands for. Internal to src/rules. */
#ifndef RULES_JUDGED_H
#define RULES_JUDGED_H

#include "rules/rules.h"

/* The limit that is judged, the words for it, and where it was read. */
struct judged_limit {
	uint64_t bytes;
	const char *name, *setting, *where;
	bool is_pod;
};

/* The container's limit; false where there is none. */
bool judged_container(const struct ledger *ledger, struct judged_limit *ret_limit);

/* The limit that the freeboard was measured against. */
bool judged_freeboard(const struct rule_input *input, struct judged_limit *ret_limit);

/* Says in `finding` that no limit is known. */
void judged_missing(struct finding *finding);

/* What `threshold`, a share, is of `bytes`. */
uint64_t judged_share(const struct rule_input *input, enum threshold threshold, uint64_t bytes);

/* The larger of a share of the limit and a number of bytes: what `share` and `floor` ask for together. */
uint64_t judged_both(const struct rule_input *input, enum threshold share, enum threshold floor, uint64_t limit);

/* The level in force. */
static inline uint64_t judged_level(const struct rule_input *input, enum threshold threshold)
{
	return input->thresholds->raise[threshold];
}

#endif
