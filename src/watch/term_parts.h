/* SPDX-License-Identifier: Apache-2.0 */
/* What terminfo says of $TERM. Apart, for term.h of ncurses defines words such as `columns`. Internal to src/watch. */
#ifndef WATCH_TERM_PARTS_H
#define WATCH_TERM_PARTS_H

#include <stddef.h>

#include "base/err.h"

/* newterm(3) prints and exits on some failures: UNSUPPORTED where it would, or where the cursor cannot be moved. */
int term_look_up(struct err *err) __attribute__((warn_unused_result));

/* The bytes that leave the alternate screen and show the cursor, of the terminal that is open. Returns how many. */
size_t term_way_back(char *dest, size_t cap);

#endif
