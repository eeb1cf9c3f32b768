/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of expose_metrics(). Internal to src/agent. */
#ifndef AGENT_EXPOSE_PARTS_H
#define AGENT_EXPOSE_PARTS_H

#include "agent/expose.h"
#include "data/prom_out.h"

/* A family of one series, or none where it is not known. */
void expose_qty(struct prom_out *out, const char *name, const char *help, struct qty qty);
void expose_signed(struct prom_out *out, const char *name, const char *help, struct signed_qty qty);

void expose_self(struct prom_out *out, const struct expose_input *input); /* expose_self.c: the agent itself */

#endif
