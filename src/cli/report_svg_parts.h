/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the picture of a report, from the top down: each draws below picture.y and moves it. Internal. */
#ifndef CLI_REPORT_SVG_PARTS_H
#define CLI_REPORT_SVG_PARTS_H

#include "bankfull/finding.h"
#include "cli/svg.h"

#define PICTURE_WIDTH 800.0
#define PICTURE_LEFT  20.0
#define PICTURE_RIGHT 780.0

struct picture {
	const struct snapshot *snapshot;
	const struct ledger *ledger;
	const struct verdict *verdict;
	struct buf *out;
	double y;
};

void report_svg_bar(struct picture *p);     /* the charge by owner against the limit */
void report_svg_owners(struct picture *p);  /* its legend, with figures */
void report_svg_budgets(struct picture *p); /* each budget, what is there, and what it may become */

/*
 * The owners that have a part of the bar, in its order: that of the ledger, but what the kernel can reclaim stands last,
 * so that the line of the floor falls between the two. Returns how many.
 */
size_t report_svg_order(const struct ledger *ledger, enum owner ret_order[OWNER_COUNT]);

#endif
