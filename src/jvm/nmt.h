/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VM.native_memory summary: what HotSpot allocated itself, by category (hotspot/share/services/memReporter.cpp until
 * JDK 21, nmt/memReporter.cpp after; formats of 11, 17, 21 and 25). Nothing of RocksDB or any other JNI library is in
 * it; direct buffers and Unsafe are in "Other". Pure; reentrant.
 *
 * Sizes may carry B, KB, MB or GB; ask with scale=b, which is exact. Unknown lines and tokens are skipped, unknown
 * categories kept. JDK 11 and 12 print no malloc/mmap lines under the total and no Metaspace category.
 */
#ifndef JVM_NMT_H
#define JVM_NMT_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/*
 * UNSUPPORTED: tracking is off (the answer then comes with return code 0) or was shut down; MALFORMED: no total, no
 * number where one must stand, a category twice, more than NMT_CATEGORIES_MAX of them, or the text ends inside a
 * category.
 */
int nmt_parse(struct str text, struct jvm_nmt *ret_nmt, struct err *err) __attribute__((warn_unused_result));

/* The category of this name, or NULL. */
const struct nmt_category *nmt_find(const struct jvm_nmt *nmt, const char *name);

#endif
