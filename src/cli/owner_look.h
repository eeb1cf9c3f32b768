/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an owner looks in a picture: the colours and hatches of the dashboard in its light theme (src/collector/web:
 * --owner-NAME of app.css, HATCHES of owners.js). There are more owners than colours that people tell apart, and paper is grey.
 */
#ifndef CLI_OWNER_LOOK_H
#define CLI_OWNER_LOOK_H

#include "bankfull/ledger.h"

/* '/', '\\', 'x', '-' and '.' as in owners.js; HATCH_UNREAD is of pictures alone. */
enum owner_hatch {
	HATCH_NONE = 0,
	HATCH_UP,
	HATCH_DOWN,
	HATCH_CROSS,
	HATCH_LINES,
	HATCH_DASHES,
	HATCH_UNREAD,
	HATCH_COUNT
};

struct owner_look {
	char fill[8]; /* "#1f6fb5" */
	enum owner_hatch hatch;
};

extern const struct owner_look owner_looks[OWNER_COUNT];
extern const struct owner_look owner_look_residual; /* what no owner was found for */

#endif
