/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GC.heap_info: the heap's reserved address ranges and sizes, as each collector prints them
 * (CollectedHeap::print_on of g1, parallel, serial, z, shenandoah, epsilon; MetaspaceUtils::print_on). JDK 17
 * and 25 differ in words; both are taken. Sizes are printed in K or M, so they are exact to that unit only. Pure.
 *
 * ZGC prints no range: it maps its heap itself, and smaps shows it as memfd "java_heap" or anonymous.
 * Metaspace stands here up to JDK 24 and has the class space inside; 25 prints it only with GC.heap_info of some
 * builds.
 */
#ifndef JVM_HEAPINFO_H
#define JVM_HEAPINFO_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/* MALFORMED: no heap is named, a range or number is broken, more than JVM_HEAP_RANGES_MAX ranges. */
int heapinfo_parse(struct str text, struct jvm_heap *ret_heap, struct err *err) __attribute__((warn_unused_result));

#endif
