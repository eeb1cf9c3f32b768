/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pod's other containers hold: asked only where the pod's limit is told, for only then it matters. Who they are is
 * looked for twice a minute, what they hold is read at every tick.
 */
#ifndef AGENT_PEERS_H
#define AGENT_PEERS_H

#include "bankfull/quantity.h"
#include "kernel/cgpeers.h"

struct peers {
	struct cgpeers found;
	int pid; /* of the target they were looked for; 0: nobody yet */
	struct mono looked;
};

/* { 0 } is none. */
void peers_done(struct peers *peers);

/* The sum of their floors; unread where none is in sight. A container that is gone counts nothing. */
struct qty peers_floor(struct peers *peers, int pid, struct mono now);

#endif
