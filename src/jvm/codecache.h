/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiler.codecache (CodeCache::print_summary, hotspot/share/code/codeCache.cpp): one code heap or three. The three
 * bounds of a heap are its low end, the end of what is committed, and the end of the reservation. Sizes are in Kb,
 * rounded down. Pure.
 */
#ifndef JVM_CODECACHE_H
#define JVM_CODECACHE_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/*
 * ranges are [low, high): reserved. MALFORMED: no heap, a broken number or range, more than JVM_CODE_RANGES_MAX
 * heaps.
 */
int codecache_parse(struct str text, struct jvm_code *ret_code, struct err *err) __attribute__((warn_unused_result));

#endif
