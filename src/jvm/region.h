/* SPDX-License-Identifier: Apache-2.0 */
/* Building struct jvm_regions: append in any order, then bring into order. Depends on base and nouns only. */
#ifndef JVM_REGION_H
#define JVM_REGION_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/* Appends [start, end); an empty range is dropped. LIMIT past LIMIT_VMAS, NOMEM. */
int region_add(struct jvm_regions *regions, struct addr_range range, struct str category, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Sorts, cuts overlaps (the later-starting range keeps its part, equal starts: the shorter), joins neighbours of
 * one category. LIMIT, NOMEM.
 */
int region_settle(struct jvm_regions *regions, struct err *err) __attribute__((warn_unused_result));

#endif
