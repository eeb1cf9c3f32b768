/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two texts by lines, as patch(1) takes it. */
#ifndef KUBE_DIFF_H
#define KUBE_DIFF_H

#include "base/buf.h"
#include "base/err.h"

/* Past so many inserted and removed lines the rest is shown as one change: the search is quadratic in them. */
enum { DIFF_CHANGES_MAX = 3000, DIFF_CONTEXT = 3 };

/* Appends nothing where they are the same. */
int diff_unified(struct str before, struct str after, const char *name, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

#endif
