/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published leaks of Flink and Kafka Streams: in which versions, under what condition, and what helps. Only leaks whose
 * versions are sourced and whose condition one reading can tell something of; docs/rules/known-leak.md lists the others.
 * Internal to src/rules.
 */
#ifndef RULES_LEAKTABLE_H
#define RULES_LEAKTABLE_H

#include <stddef.h>

#include "rules/rules.h"
#include "rules/version.h"

/* What one reading says of a leak's condition. */
enum leak_answer {
	LEAK_ABSENT = 0, /* it cannot leak here */
	LEAK_UNREAD,     /* the setting or metric that decides was not read */
	LEAK_LATENT,     /* it leaks with events (restarts, rebalances) that one reading does not show */
	LEAK_PRESENT,
};

enum leak_kind { LEAK_NATIVE = 0, LEAK_HEAP };

struct leak {
	const char *id; /* the issue, as its project names it */
	enum engine engine;
	const char *from; /* inclusive */
	const char *fixed_in;
	bool released; /* a release of it was known when this was written */
	enum leak_kind kind;
	enum leak_answer (*condition)(const struct rule_input *input);
	const char *wants;  /* what tells the condition, for who has to read it */
	const char *what;   /* one sentence: what is leaked, and when */
	const char *watch;  /* what goes up with it */
	const char *change; /* what helps without an upgrade; NULL: only the upgrade */
	enum knob knob;     /* that `change` turns */
};

extern const struct leak leak_table[];
extern const size_t leak_count;

/* The engine's version lies in the leak's range. */
bool leak_covers(const struct leak *leak, enum engine engine, const struct version *version);

#endif
