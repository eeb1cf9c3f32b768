/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of rules and their evaluation: PURE, depends on base, ledger and the nouns only.
 *
 * A rule looks at a snapshot and its ledger and answers with a finding, with silence, or, where an input is missing,
 * with `inconclusive` and the names of what it wanted. It never passes silently for want of data.
 */
#ifndef RULES_RULES_H
#define RULES_RULES_H

#include "bankfull/finding.h"
#include "base/str.h"
#include "ledger/history.h"
#include "ledger/killed.h"
#include "rules/silence.h"
#include "rules/thresholds.h"

struct rule_input {
	const struct snapshot *snapshot;
	const struct ledger *ledger;
	const struct thresholds *thresholds;
	const struct rule_silences *silences; /* or NULL */
	const enum severity
		*open; /* by rule, FINDINGS_MAX of them: what is open is judged by its clear levels; or NULL */
	const struct history_view *history; /* what an agent knows of the time before; NULL in a report */
	const struct killed *killed;        /* by an agent, of a kill that was survived; or NULL */
};

enum rule_answer { RULE_SILENT = 0, RULE_FIRED, RULE_INCONCLUSIVE };

/* Fills `finding` when fired (`rule` is already set), or its missing[] when inconclusive. */
typedef enum rule_answer rule_fn(const struct rule_input *input, struct finding *finding);

struct rule {
	const char *name;
	const char *meaning; /* one line */
	const char *inputs;  /* what it needs, in words */
	rule_fn *eval;
	bool needs_history; /* judged by an agent alone: in a report it is neither asked nor inconclusive */
	uint16_t
		dwell_s; /* how long a slow rule must fire before it is believed, whatever its severity; 0: by severity */
	uint16_t critical_dwell_s; /* the same where it is critical; 0: as dwell_s */
};

extern const struct rule rule_table[];
extern const size_t rule_count;

/* The row of this name, or NULL. */
const struct rule *rules_find(struct str name);

/* "info" to "critical". False: none of them. */
bool severity_find(struct str name, enum severity *ret_severity);

/* The finding of this rule, or NULL. */
const struct finding *rules_finding(const struct verdict *verdict, const char *rule);

/* The finding whose change is to be made first, or NULL: nothing at warning or above asks for one. */
const struct finding *rules_first_change(const struct verdict *verdict);

void rules_run(const struct rule_input *input, struct verdict *ret_verdict);

#endif
