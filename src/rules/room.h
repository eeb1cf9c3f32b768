/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the limit leaves room, and the words that ask for more: one answer for every rule, so that no two of them
 * contradict each other. Internal to src/rules.
 */
#ifndef RULES_ROOM_H
#define RULES_ROOM_H

#include "base/sat.h"
#include "rules/judged.h"

/* Up to a multiple of 64 MiB, the step in which limits are advised. */
uint64_t room_round_up(uint64_t bytes);

/* The room below which freeboard-low warns, and below which it is critical. */
uint64_t room_levels(const struct rule_input *input, uint64_t limit, uint64_t *ret_critical);

/*
 * Expected demand. Everything else counts with the highest that an agent has seen resident of it, which a report, whose
 * window is one reading, has not. Unread as the ledger's.
 */
struct qty room_expected(const struct rule_input *input);

/* What demand-over-limit fires by. False while either is unread. */
bool room_demand_is_over(const struct rule_input *input);

/* What freeboard-low fires by. False while the room is unread. */
bool room_is_low(const struct rule_input *input);

/* Either of them fires: nothing may be advised that takes room away. */
bool room_is_lacking(const struct rule_input *input);

/* What to change to give the container more room, in the words of who runs it. */
void room_raise_limit(const struct rule_input *input, const struct judged_limit *limit, struct finding *finding,
		      uint64_t wanted);

/* Memory that the node keeps for the container: its request raised to its limit, and what that does. */
void room_raise_request(const struct rule_input *input, struct finding *finding, const char *effect);

/* A memory.high that does not throttle: by the request, which the kubelet derives it from, or by hand. */
void room_lift_high(const struct rule_input *input, struct finding *finding);

/* No swap for the container, or, where what is swapped would not fit, the room for it. */
void room_end_swap(const struct rule_input *input, struct finding *finding, uint64_t swapped);

/* `limit` as a limit-factor of the process size, in hundredths and rounded up: rounded down, it would give less. `process` > 0. */
unsigned long long room_factor_hundredths(uint64_t limit, uint64_t process);

/* A size as Kubernetes takes it: "4096Mi", or bytes where it is not a whole number of them. Returns dest. */
enum { ROOM_QUANTITY_CAP = 24 };
const char *room_quantity(char dest[ROOM_QUANTITY_CAP], uint64_t bytes);

#endif
