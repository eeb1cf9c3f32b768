/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name that somebody meant who wrote another: offer every name there is, then ask for the hint.
 *
 *     struct typo typo = { .said = key };
 *     for each name: typo_offer(&typo, name);
 *     "unknown key 'limt'%s", typo_hint(&typo, hint)
 */
#ifndef BASE_TYPO_H
#define BASE_TYPO_H

#include "base/str.h"

/* Two slips: a letter too many, too few or wrong, twice; letters swapped. Names longer than the cap are not compared. */
enum { TYPO_SLIPS_MAX = 2, TYPO_NAME_CAP = 64, TYPO_HINT_CAP = TYPO_NAME_CAP + 24 };

struct typo {
	struct str said;
	const char *meant; /* the nearest so far; NULL: none is near */
	unsigned slips;
};

/* How many letters to insert, remove or replace to get from one to the other; TYPO_SLIPS_MAX + 1 where it is more. */
unsigned typo_slips(struct str a, struct str b);

/* The first of two that are equally near stays. */
void typo_offer(struct typo *typo, const char *name);

/* ": did you mean 'limit'?", or "". Returns dest. */
const char *typo_hint(const struct typo *typo, char dest[TYPO_HINT_CAP]);

#endif
