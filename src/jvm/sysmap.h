/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System.map (JDK 24+, hotspot/share/services/memMapPrinter.cpp): the JVM's own smaps with an NMT tag a mapping.
 * The short tags are turned into NMT's category names, so that this and nmtdetail.h speak one language: JAVAHEAP is
 * "Java Heap", META "Metaspace", CDS "Shared class space", STACK-<tid>-<name> "Thread Stack". Pure.
 *
 * Mappings tagged "-" (glibc arenas, RocksDB, libraries) are left out: HotSpot does not know them. Without NMT
 * nearly all are.
 */
#ifndef JVM_SYSMAP_H
#define JVM_SYSMAP_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/* UNSUPPORTED: the text holds no map; MALFORMED: a broken range; LIMIT; NOMEM. */
int sysmap_parse(struct str text, struct jvm_regions *ret_regions, struct err *err) __attribute__((warn_unused_result));

#endif
