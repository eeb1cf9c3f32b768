/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections `rules` and `silences` of the configuration: levels of thresholds, and findings that somebody does not
 * want to hear of. docs/configuration.md is their manual.
 *
 *     rules:
 *       freeboard-low:
 *         warning: 15%           the level at which it is raised
 *         warning-clear: 18%     the level at which an open finding is cleared
 *     silences:
 *       - rule: page-cache-benign
 *         reason: "the batch jobs fill it every night, known"
 *         until: 2026-12-31
 *
 * Where only the level of raising is given, that of clearing keeps its proportion to it. What is wrong is refused
 * whole, with "FILE:LINE: what, and what to do": names that are not there, values that are none, said twice, levels
 * that contradict each other, silences that have ended or would never end.
 *
 * Pure: the clock is `now`. It judges the file, not the findings: a silence that has ended at `now` is refused even
 * where an older capture is replayed, while rules_run() asks whether one is in force when the snapshot was taken.
 * Depends on base, data, rules and the nouns.
 */
#ifndef CONFIG_RULECONF_H
#define CONFIG_RULECONF_H

#include "base/typo.h"
#include "config/levels.h"
#include "data/yml.h"
#include "rules/rules.h"

struct ruleconf {
	struct thresholds thresholds;
	struct rule_silences silences;
	struct level_lines said; /* the lines of the file that said a level */
};

/* The levels of the table, and no silence: what holds without a configuration. */
void ruleconf_init(struct ruleconf *ret_conf);

/* Does the key belong to these sections? Every other is left alone. */
bool ruleconf_is_key(struct str key);

/* `name` is the file's, for messages. USAGE. */
int ruleconf_parse(const struct yml *yml, const char *name, struct wall now, struct ruleconf *ret_conf, struct err *err)
	__attribute__((warn_unused_result));

/*
 * For a program that runs for months and must start again with the file it has: a silence that has ended is read and
 * has no effect, and how long one lasts is not judged.
 */
int ruleconf_parse_standing(const struct yml *yml, const char *name, struct ruleconf *ret_conf, struct err *err)
	__attribute__((warn_unused_result));

/* ": did you mean 'freeboard-low'?", or "". Returns dest. */
const char *ruleconf_rule_hint(struct str said, char dest[TYPO_HINT_CAP]);

#endif
