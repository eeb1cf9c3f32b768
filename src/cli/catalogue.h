/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of rules with the levels in force. Pure: bytes out. */
#ifndef CLI_CATALOGUE_H
#define CLI_CATALOGUE_H

#include "cli/paint.h"
#include "config/ruleconf.h"

/* "above 10 % of the limit": when it is raised by the levels in force. Returns dest. */
enum { CATALOGUE_TEXT_CAP = 128 };
const char *catalogue_raised(char dest[CATALOGUE_TEXT_CAP], const struct ruleconf *conf, enum threshold threshold);

/* Did the configuration move one of its two levels? */
bool catalogue_changed(const struct ruleconf *conf, enum threshold threshold);

/* The silence of this rule, or NULL. */
const struct rule_silence *catalogue_silence(const struct ruleconf *conf, const char *rule);

/* For people. `config`: the file that levels and silences were read from, or NULL. */
void catalogue_table(const struct ruleconf *conf, const char *config, struct paint *p);

/* As docs/rules.schema.json says. */
int catalogue_json(const struct ruleconf *conf, struct buf *out, struct err *err) __attribute__((warn_unused_result));

#endif
