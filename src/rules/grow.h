/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that give one part of a JVM's memory more, and say who pays: not the parts beside it. Internal to src/rules.
 */
#ifndef RULES_GROW_H
#define RULES_GROW_H

#include "rules/judged.h"

/* In MiB, rounded up. */
unsigned long long grow_mib(uint64_t bytes);

/* A quarter of `bytes` in steps of 64 MiB, and no less than one: the step of a bounded change. */
uint64_t grow_step(uint64_t bytes);

/*
 * `more` bytes fit below the limit beside what is expected, and leave the room that freeboard-low asks for. False
 * where limit or expectation is unread.
 */
bool grow_fits(const struct rule_input *input, uint64_t more);

/* The role in the names of Flink's options: "taskmanager" or "jobmanager"; NULL where it is not Flink. */
const char *grow_role(const struct snapshot *snapshot);

/* One part: the end of its option behind "taskmanager.memory.", the JVM's own flag, and the knob that both turn. */
struct grow_part {
	const char *option, *flag;
	enum knob knob;
};

/*
 * Raises a part from `now` by `more`. In Flink by its option, with process size and limit by as much, for the heap
 * would pay otherwise; elsewhere by the flag, with the limit where there is no room below it.
 */
void grow_part(const struct rule_input *input, struct finding *finding, const struct grow_part *part, uint64_t now,
	       uint64_t more);

#endif
