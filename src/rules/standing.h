/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings over time: PURE. A finding opens when its rule has fired for a while, is updated when its severity or words
 * change, and clears when the rule has been quiet for a while; between raise and clear level it stays as it is.
 *
 * The caller runs the rules with `open` of the last step (rules_run() then judges what is open by its clear levels),
 * and gives the verdict here. Times come from the caller.
 */
#ifndef RULES_STANDING_H
#define RULES_STANDING_H

#include "rules/rules.h"

enum standing_edge { EDGE_NONE = 0, EDGE_OPENED, EDGE_UPDATED, EDGE_CLEARED, EDGE_COUNT };

/* One rule. */
struct standing {
	enum severity open;   /* SEVERITY_NONE: not open */
	enum severity wanted; /* what the last verdict asked for */
	struct mono since;    /* since when it has asked for that */
	struct mono opened;
	uint32_t openings; /* how often it has opened: names one episode */
	uint64_t words;    /* hash of title and change, to see that they moved */
};

struct standings {
	struct standing of[FINDINGS_MAX]; /* in the order of rule_table */
};

/* How long a severity must last before it is believed: what kills at once is believed at once. */
struct mono standing_dwell(enum severity severity);

/* How long a rule must be quiet, or less grave, before that is believed. */
extern const struct mono standing_clear_dwell;

/* The severities that are open, by rule, as rules_run() takes them. */
void standing_open(const struct standings *standings, enum severity ret_open[FINDINGS_MAX]);

/* Takes one verdict; ret_edges says by rule what happened. A rule that is inconclusive or silenced stays as it was. */
void standing_step(struct standings *standings, const struct verdict *verdict, struct mono now,
		   enum standing_edge ret_edges[FINDINGS_MAX]);

#endif
