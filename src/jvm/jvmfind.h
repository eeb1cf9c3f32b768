/* SPDX-License-Identifier: Apache-2.0 */
/* Is a process a HotSpot JVM, and which collector does it run? Depends on base and nouns only; pure. */
#ifndef JVM_JVMFIND_H
#define JVM_JVMFIND_H

#include "bankfull/jvm.h"
#include "bankfull/process.h"
#include "base/str.h"

/* A mapping of a file named libjvm.so (deleted ones count: the package was upgraded under a running JVM). */
bool jvmfind_is_jvm(const struct vma_set *vmas);

/* The same from /proc/<pid>/maps or smaps text. */
bool jvmfind_is_jvm_maps(struct str maps);

/* The collector by the most certain source that knows: heap_info, then flags, then hsperfdata. NULL: not read. */
enum jvm_gc jvmfind_gc(const struct jvm_heap *heap, const struct jvm_flags *flags, const struct jvm_perf *perf);

#endif
