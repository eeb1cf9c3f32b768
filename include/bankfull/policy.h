/* SPDX-License-Identifier: Apache-2.0 */
/* What a collector may set at its agents. */
#ifndef BANKFULL_POLICY_H
#define BANKFULL_POLICY_H

#include <stddef.h>

#include "bankfull/quantity.h"

/* A silence of a whole pod is one of each rule: all of them have room. */
enum { WIRE_LEVELS_MAX = 64, WIRE_SILENCES_MAX = 64 };

/* What a collector may set at an agent, and nothing else: never a URL, a path or a command. */
struct wire_policy {
	uint64_t version;     /* 0: no policy */
	uint32_t interval_ms; /* 0: the agent's own */
	struct wire_level {
		char rule[48], name[32];
		uint64_t raise, clear; /* in the threshold's own unit: bytes, basis points or a count */
	} levels[WIRE_LEVELS_MAX];
	size_t n_levels;
	struct wire_silence {
		char rule[48];
		char reason[200];
		struct wall until;
		bool quiet; /* such findings are sent all the same: the agent alone does not speak of them */
	} silences[WIRE_SILENCES_MAX];
	size_t n_silences;
	size_t n_refused; /* settings that no collector may set, or that are none: left out, to be counted and said */
	char refused[64]; /* the first of them */
};

#endif
