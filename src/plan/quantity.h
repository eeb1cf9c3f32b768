/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container's limit as a manifest has it (base/kubeqty.h). G, M and T are decimal, as Kubernetes reads them, and Gi, Mi,
 * Ti binary, also of a fraction that comes to whole bytes (1.5Gi); small
 * letters (1728m, 4g) are Flink's and binary, as everywhere in Bankfull. Kubernetes' own m, a thousandth, is no size.
 */
#ifndef PLAN_QUANTITY_H
#define PLAN_QUANTITY_H

#include "base/err.h"
#include "base/str.h"

int quantity_parse(struct str text, uint64_t *ret_bytes, struct err *err) __attribute__((warn_unused_result));

/* Is it one of those that Kubernetes reads as decimal? */
bool quantity_is_decimal(struct str text);

#endif
