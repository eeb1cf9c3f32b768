/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations for tests: from text, and levels written out as one. */
#ifndef BANKFULL_TESTS_CONFYAML_H
#define BANKFULL_TESTS_CONFYAML_H

#include "base/buf.h"
#include "config/ruleconf.h"

/* What `bankfull report --config f` makes of the text at `now_ms`. */
int confyaml_parse(const char *text, int64_t now_ms, struct ruleconf *ret_conf, struct err *err);

/* Every level as the section `rules` says it. */
void confyaml_write(const struct thresholds *levels, struct buf *out);

/* Fails unless every level is cleared on the quiet side of where it is raised. */
void confyaml_sound(const struct thresholds *levels);

#endif
