/* SPDX-License-Identifier: Apache-2.0 */
/* Text on a terminal: colour, and words wrapped to its width. Internal to src/cli. */
#ifndef CLI_PAINT_H
#define CLI_PAINT_H

#include "bankfull/finding.h"
#include "base/buf.h"

struct paint {
	struct buf *out;
	bool color;
	unsigned columns;
};

enum tone { TONE_PLAIN, TONE_BOLD, TONE_DIM, TONE_RED, TONE_YELLOW, TONE_GREEN };

/* The width that is laid out for: the terminal's, within these. */
enum { PAINT_COLUMNS_MIN = 80, PAINT_COLUMNS_MAX = 100 };
struct paint paint_start(struct buf *out, bool color, unsigned columns);

void paint_tone(struct paint *p, enum tone tone);
void paint_text(struct paint *p, enum tone tone, const char *text); /* escaped, then plain again */

/* Words of `text`, escaped, in lines of at most p->columns, each after `indent` blanks; the first starts at `at`. */
void paint_wrapped(struct paint *p, unsigned indent, unsigned at, const char *text);

/* What the table says of a verdict: what to act on, and below the ledger all findings, what is silenced, what is open. */
void paint_headline(struct paint *p, const struct verdict *verdict);
void paint_verdict(struct paint *p, const struct verdict *verdict);

#endif
