/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet, a real store and the collector's own rules over both; time is what the test says it is. For cmocka. */
#ifndef BANKFULL_TESTS_FLEETWORLD_H
#define BANKFULL_TESTS_FLEETWORLD_H

#include "collector/fleet_read.h"
#include "collector/own_rules.h"
#include "support/scratch.h"

#define WORLD_T0 ((struct wall){ INT64_C(1764489600000) })

struct world {
	struct scratch scratch;
	struct store *store;
	struct fleet *fleet;
	struct own_rules *rules;
	int64_t ms; /* since WORLD_T0 */
	int64_t mono_ms;
};

struct world_open_of {
	int64_t agent;
	const char *rule;
	unsigned n;
	char title[160], text[4096];
};

void world_must(int rc, const struct err *err); /* fails the test with what `err` says */
/* All of it anew from what is stored; the fleet is empty until fleet_load(). */
void world_open(struct world *w);
void world_close(struct world *w);
int world_setup(void **state);
int world_teardown(void **state);

struct wall world_wall(const struct world *w);
/* Time goes on, and the rules are asked. */
void world_step(struct world *w, int64_t seconds);
/* A minute at a time; agents that are told to speak do so at each. */
void world_minutes(struct world *w, unsigned n, const int64_t *speaking, size_t n_speaking);

int64_t world_connect(struct world *w, unsigned n);
void world_say(struct world *w, int64_t agent);
/* An open `freeboard-low`, received `after_ms` later than now. */
void world_put_finding(struct world *w, int64_t agent, const char *id, int64_t after_ms);

/* Open in the store; and the fleet says the same. */
unsigned world_n_open(struct world *w, int64_t agent, const char *rule, struct world_open_of *ret_open);

#endif
