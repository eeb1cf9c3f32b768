/* SPDX-License-Identifier: Apache-2.0 */
/* Versions as jars carry them, and which of two is the older. Internal to src/rules. */
#ifndef RULES_VERSION_H
#define RULES_VERSION_H

#include "bankfull/engine.h"

enum { VERSION_PARTS = 4 };

struct version {
	uint32_t parts[VERSION_PARTS]; /* what is not written is 0: 4.3 is 4.3.0 */
	/* -SNAPSHOT: built from a branch on the way to this version, so that nobody knows which of its fixes it has. */
	bool snapshot;
	/* Confluent's numbering (8.3.1-ccs): the line is that of the Kafka it builds on, the patches are its own. */
	bool own_patches;
};

/*
 * At least two numbers, or it is no version. A release candidate is its release: it is cut when the fixes are in.
 * What a vendor appends (-cp1, -csa1.2.0.0, -vvr-8.0, -amzn-0) says what was added to the release that is named.
 */
bool version_parse(const char *text, struct version *ret_version);

/* Below 0: a is older. Number by number, so that 1.9 is older than 1.20; a snapshot is older than its release. */
int version_compare(const struct version *a, const struct version *b);

/* The engine's version is at least `major`; unread where it has none that can be parsed. */
enum tristate version_from(const struct engine_state *engine, uint32_t major);

#endif
