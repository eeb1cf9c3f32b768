/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal. term.c is the one owner of ncurses. What it changed it gives back: on term_close(), on a stop, and, as far
 * as a signal handler can, when the program falls.
 */
#ifndef WATCH_TERM_H
#define WATCH_TERM_H

#include "base/err.h"
#include "watch/screen.h"

/* The locale of the environment writes UTF-8. Sets LC_CTYPE. */
bool term_utf8(void);

/* UNSUPPORTED: $TERM is unknown here, or such a terminal cannot move its cursor; nothing was changed. */
int term_open(bool color, struct err *err) __attribute__((warn_unused_result));
void term_close(void);

/* Of the terminal behind standard output; 80 x 24 where it does not say. */
void term_size(unsigned *ret_columns, unsigned *ret_rows);
/* The size has changed: what is painted next is painted whole. */
void term_resized(void);
void term_paint(const struct screen *screen);

/* The next key (enum press, or a character), PRESS_NOTHING when there is none. Never blocks. */
int term_key(void);

/* The terminal as it was, while this process stops by SIGTSTP; and again ours. */
void term_stop(void);

/* For a signal handler, and nothing after it but _exit(): the terminal as it was, as far as it takes bytes at once. */
void term_rescue(void);

#endif
