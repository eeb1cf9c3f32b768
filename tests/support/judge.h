/* SPDX-License-Identifier: Apache-2.0 */
/* One rule over a snapshot and a ledger, and what must hold for every finding whatever it says. */
#ifndef BANKFULL_TESTS_JUDGE_H
#define BANKFULL_TESTS_JUDGE_H

#include "rules/rules.h"

/* The answer of the rule of this name with the default thresholds; `ret` has its finding, or its missing inputs. */
enum rule_answer judge(const char *rule, const struct snapshot *snapshot, const struct ledger *ledger,
		       struct finding *ret);

/* The same with what an agent knows of the time before. */
enum rule_answer judge_over_time(const char *rule, const struct snapshot *snapshot, const struct ledger *ledger,
				 const struct history_view *history, struct finding *ret);

/*
 * A fired finding is whole: title, observation, a cause, a change and a validation for the steady state and one for
 * failure or restore; no text fills its buffer, so none was cut; sentences end as sentences.
 */
void judge_whole(const struct finding *finding);

/* `bytes`, as people read it, stands in the title or observation, and under `name` in the evidence. */
void judge_figure(const struct finding *finding, const char *name, uint64_t bytes);

/* `part` stands in `text`. */
void judge_holds(const char *text, const char *part);

/* One of the missing inputs holds `part`. */
void judge_missing(const struct finding *finding, const char *part);

#endif
