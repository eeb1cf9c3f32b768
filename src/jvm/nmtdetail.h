/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VM.native_memory detail, its virtual memory map only: committed address ranges with the category of the
 * reservation around them (MemDetailReporter::report_virtual_memory_region).
 *
 *     [0x0000000680000000 - 0x0000000800000000] reserved 6442450944 for Java Heap from
 *             [0x0000000680000000 - 0x0000000690000000] committed 268435456 from
 *     [0x00007f0a00000000 - 0x00007f0a00100000] reserved and committed 1048576 for Thread Stack from
 *
 * Of a reservation its committed parts count, except that a thread's stack counts whole (its committed part is
 * only what was
 * resident when the JVM looked), and so does a heap reservation of which no part is told (ZGC).
 * Ranges are ascending and do not overlap: of overlapping ones the later-starting wins its part (a commit inside a
 * reservation of another category, such as CDS inside the class space). Adjacent ranges of one category are
 * joined. Pure.
 */
#ifndef JVM_NMTDETAIL_H
#define JVM_NMTDETAIL_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/*
 * UNSUPPORTED: tracking off, or summary only; MALFORMED: a range that ends before it starts or is no number;
 * LIMIT: over LIMIT_VMAS; NOMEM.
 */
int nmtdetail_parse(struct str text, struct jvm_regions *ret_regions, struct err *err)
	__attribute__((warn_unused_result));

#endif
