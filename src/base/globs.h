/* SPDX-License-Identifier: Apache-2.0 */
/* Several patterns in one text, with a comma between: base/glob.h says what each may be. For what is asked seldom: each is taken apart anew. */
#ifndef BASE_GLOBS_H
#define BASE_GLOBS_H

#include "base/err.h"
#include "base/str.h"

/* USAGE: none, or one that is no pattern. */
int globs_check(struct str patterns, struct err *err) __attribute__((warn_unused_result));
bool globs_match(struct str patterns, struct str text);

#endif
