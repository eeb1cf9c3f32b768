/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was said in the log of inputs that cannot be read. The first scan comes five seconds after a JVM was found, and one that
 * was found at its start opens the port of its exporter later: then what was said is no longer so, and must not stand there as
 * the last word. PURE.
 */
#ifndef AGENT_MISSING_SAID_H
#define AGENT_MISSING_SAID_H

#include <stdbool.h>

#include "bankfull/finding.h"

/* An endpoint that comes and goes is access-degraded's to tell, which waits before it opens and clears. */
enum { MISSING_SAID_MAX = 4 };

/* All zero: nothing was said. */
struct missing_said {
	char what[64]; /* the gravest, as the evidence names it; "": nothing is missing */
	unsigned times;
};

/* `finding`: access-degraded of now, or NULL. Whether that is news, which counts as said then. */
bool missing_said_step(struct missing_said *said, const struct finding *finding);

#endif
