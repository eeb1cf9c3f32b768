/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence through a pipe: what the child of slow.h read, framed as text. PURE.
 *
 *     item NAME BYTES\n...bytes...\n      gap NAME KIND MESSAGE\n      fact KEY VALUE\n      end\n
 *
 * The child is ours, what it read is not: names, kinds and sizes are checked, and a frame that is cut or wrong anywhere
 * changes nothing.
 */
#ifndef AGENT_SLOWTEXT_H
#define AGENT_SLOWTEXT_H

#include "sys/evidence.h"

enum {
	SLOW_JVM = 1 << 0,    /* attach answers */
	SLOW_ENGINE = 1 << 1, /* metrics pages, REST, the engine's configuration, its open stores */
};

/* Does this evidence belong to one of the sources of `what` (bits)? */
bool slowtext_is_of(unsigned what, const char *name);

/* Appends all items, gaps and facts of `what`. False: `out` is full or without memory. */
bool slowtext_encode(const struct evidence *evidence, unsigned what, struct buf *out);

/* What stood in `into` of these sources is replaced by what the text holds. MALFORMED, LIMIT, NOMEM: `into` is untouched. */
int slowtext_merge(struct str text, unsigned what, struct evidence *into, struct err *err)
	__attribute__((warn_unused_result));

/* The sources gave nothing at all: one gap each in place of what stood there. */
void slowtext_failed(unsigned what, const struct err *err, struct evidence *into);

#endif
