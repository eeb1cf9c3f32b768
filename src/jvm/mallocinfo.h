/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System.native_heap_info (JDK 24+): glibc's malloc_info(3) XML of the JVM. Only the totals after the last </heap>
 * are
 * read: system is what all arenas took, free (fast + rest) lies inside it, in use is the difference, and blocks with
 * a mapping of their own come on top. Of no use where another allocator is preloaded. Pure.
 */
#ifndef JVM_MALLOCINFO_H
#define JVM_MALLOCINFO_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/* UNSUPPORTED: no malloc_info; MALFORMED: it has no totals, or ends before </malloc>. */
int mallocinfo_parse(struct str text, struct jvm_malloc *ret_malloc, struct err *err)
	__attribute__((warn_unused_result));

#endif
