/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell patterns of people who may be anybody: `*`, `?`, `[a-z]`, `[!a]`, `[[:digit:]]`, a backslash before what is meant as it
 * is. As fnmatch(3) has them in the C locale without flags, but of bounded cost: fnmatch tries the rest of a pattern
 * at each byte, and takes 150 us for the worst of 253 bytes against a name as long. Here a pattern is taken apart once,
 * into few parts, and each is a memcmp(3) or a look into a set.
 *
 * Not taken, where fnmatch would guess: a '[' that is not closed, a backslash at the end, [=x=] and [.x.].
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "base/err.h"
#include "base/str.h"

enum { GLOB_LEN_MAX = 255, GLOB_PARTS_MAX = 16, GLOB_SETS_MAX = 4 };

struct glob {
	uint8_t n_parts, n_sets;
	struct glob_part {
		uint8_t kind, at, len; /* inside of the pattern, or the set's place */
	} parts[GLOB_PARTS_MAX];
	uint8_t sets[GLOB_SETS_MAX][32]; /* a bit for each byte that is in it */
};

/* Does it have signs that mean more than themselves? */
bool glob_is(struct str pattern);
/* USAGE: no pattern, or one of too many parts. */
int glob_parse(struct str pattern, struct glob *ret_glob, struct err *err) __attribute__((warn_unused_result));
/* `pattern` is what `glob` was parsed from. At most GLOB_PARTS_MAX looks at each byte of `text`. */
bool glob_match(const struct glob *glob, const char *pattern, struct str text);

#endif
