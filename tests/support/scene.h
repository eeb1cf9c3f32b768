/* SPDX-License-Identifier: Apache-2.0 */
/* A rule that needs a history: snapshot, ledger and history of one moment, which a test bends before it asks. */
#ifndef BANKFULL_TESTS_SCENE_H
#define BANKFULL_TESTS_SCENE_H

#include "support/judge.h"
#include "support/snap.h"

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct history_view h;
	struct finding f;
};

enum rule_answer scene_ask(const char *rule, struct scene *sc);
void scene_done(struct scene *sc);

/* Asks, compares, looks whether the finding is whole or the missing inputs are named, and ends the scene. */
void scene_expect(const char *rule, struct scene *sc, enum rule_answer answer, const char *what);

#endif
