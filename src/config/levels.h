/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of thresholds as the configuration writes them: one value, and what several may not say against each other.
 * Internal to src/config: ruleconf.h is the way in.
 */
#ifndef CONFIG_LEVELS_H
#define CONFIG_LEVELS_H

#include "data/yml.h"
#include "rules/thresholds.h"

/* A typing error, not a choice: ten times the whole, more memory than any machine has, more than anybody counts. */
enum { LEVEL_SHARE_MAX = 100000, LEVEL_COUNT_MAX = 1000000 };
#define LEVEL_BYTES_MAX (UINT64_C(1) << 50)

/* The lines that said a level; 0: none did. */
struct level_lines {
	unsigned raise[THRESHOLD_COUNT], clear[THRESHOLD_COUNT];
};

/* "12.5%", "64MiB" or "3", by kind. USAGE. */
int levels_parse(enum threshold_kind kind, struct str text, uint64_t *ret_level, struct err *err)
	__attribute__((warn_unused_result));

/* `key` is what stands below the rule: "warning", "warning-clear". */
int levels_take(struct thresholds *levels, struct level_lines *lines, const char *rule, struct str key,
		const struct yml_entry *entry, struct err *err) __attribute__((warn_unused_result));

/* Fills in the levels of clearing that were not said, then looks for what contradicts itself; "name:line: ". */
int levels_finish(struct thresholds *levels, const struct level_lines *lines, const char *name, struct err *err)
	__attribute__((warn_unused_result));

#endif
