/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence to snapshot: every parser over every text, in one place, no I/O. The same for a live target and a
 * capture. A text that does not parse becomes a gap with the parser's reason, and its fields stay unread.
 */
#ifndef AGENT_BUILD_H
#define AGENT_BUILD_H

#include "bankfull/snapshot.h"
#include "sys/evidence.h"

/* `*ret_snapshot` is the caller's: build_free(). Errors: MALFORMED (evidence without a pid), NOMEM. */
int build_run(const struct evidence *evidence, struct snapshot **ret_snapshot, struct err *err)
	__attribute__((warn_unused_result));
/*
 * The same without a "proc/smaps" in the evidence: what was read of the mappings is taken over from `old`, which stays the
 * caller's to free and has none afterwards. On failure it keeps them.
 */
int build_again(const struct evidence *evidence, struct snapshot *old, struct snapshot **ret_snapshot, struct err *err)
	__attribute__((warn_unused_result));
/* "proc/pagemap" and "proc/memfd" into a snapshot whose mappings said to ask them. */
void build_beside(const struct evidence *evidence, struct snapshot *snapshot);
/* Process and JVM alone: enough for vmasplit_queries(), which says what pagemap is to be asked. */
int build_for_split(const struct evidence *evidence, struct snapshot **ret_snapshot, struct err *err)
	__attribute__((warn_unused_result));
void build_free(struct snapshot *snapshot);

/* Names of mapped shared libraries, one a line, each once: what engines and allocators are known by. */
bool build_mapped_names(const struct vma_set *vmas, struct buf *out);

#endif
