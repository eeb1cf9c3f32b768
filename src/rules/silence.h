/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Silences: a rule that somebody has looked at and does not want to hear of, why, and until when. A silenced finding
 * is not gone: the report names it.
 */
#ifndef RULES_SILENCE_H
#define RULES_SILENCE_H

#include <stddef.h>

#include "bankfull/quantity.h"

enum { SILENCES_MAX = 64, SILENCE_REASON_CAP = 200 };

struct rule_silence {
	const char *rule; /* of the table */
	char reason[SILENCE_REASON_CAP];
	struct wall until; /* silent before it */
	unsigned line;     /* of the file that said so */
	bool quiet;        /* raised all the same, for who shows it as silenced; whoever asks is to be still about it */
};

struct rule_silences {
	struct rule_silence items[SILENCES_MAX];
	size_t n;
};

/* The silence of this rule in force at `now`, or NULL. `silences` may be NULL. */
const struct rule_silence *silence_find(const struct rule_silences *silences, const char *rule, struct wall now);

#endif
