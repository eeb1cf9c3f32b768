/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding is what a good engineer would write in an incident channel: observation, competing causes
 * and what would tell them apart, the settings that matter, one bounded change, how to validate it, and
 * which inputs were missing. A rule without its inputs is inconclusive and names them.
 */
#ifndef BANKFULL_FINDING_H
#define BANKFULL_FINDING_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"

enum severity {
	SEVERITY_NONE = 0,
	SEVERITY_INFO,
	SEVERITY_NOTICE,
	SEVERITY_WARNING,
	SEVERITY_CRITICAL,
	SEVERITY_COUNT
};
extern const char *const severity_names[SEVERITY_COUNT];

/* Caps that hold the longest text a rule writes whole: tests/unit/test_rules_*.c measure it. */
enum {
	FINDING_TEXT_CAP = 640,
	FINDING_MISSING_CAP = 448,
	FINDING_LIST_MAX = 5,
	FINDING_SETTINGS_MAX = 8,
	FINDING_EVIDENCE_MAX = 12,
	FINDINGS_MAX = 32
};

/* One figure the finding rests on: name and bytes (or a plain number), so that anybody can re-check it. */
struct evidence_figure {
	const char *name;
	int64_t value;
};

struct finding {
	const char *rule; /* stable, kebab-case */
	enum severity severity;
	char title[160];
	char observation[FINDING_TEXT_CAP];
	int owner; /* enum owner, or -1: the container as a whole */
	char competing_causes[FINDING_LIST_MAX][FINDING_TEXT_CAP];
	size_t n_causes;
	struct setting effective_settings[FINDING_SETTINGS_MAX];
	size_t n_settings;
	char change[FINDING_TEXT_CAP];
	char validate[FINDING_LIST_MAX][FINDING_TEXT_CAP];
	size_t n_validate;
	struct evidence_figure evidence[FINDING_EVIDENCE_MAX];
	size_t n_evidence;
	char missing[FINDING_LIST_MAX][FINDING_MISSING_CAP];
	size_t n_missing;
};

/* A rule that could not be judged, and the inputs it wanted. */
struct inconclusive {
	const char *rule;
	char missing[FINDING_LIST_MAX][FINDING_MISSING_CAP];
	size_t n_missing;
};

struct verdict {
	struct finding findings[FINDINGS_MAX]; /* gravest first, then in the order of the table */
	size_t n_findings;
	struct inconclusive inconclusive[FINDINGS_MAX];
	size_t n_inconclusive;
};

#endif
