/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quantity as a manifest of Kubernetes has it (apimachinery, resource.Quantity): digits, a fraction, and one of m (a
 * thousandth), k M G T (decimal) or Ki Mi Gi Ti (binary). No signs, no exponents, none past T: no container has such a size.
 */
#ifndef BASE_KUBEQTY_H
#define BASE_KUBEQTY_H

#include "base/str.h"

/* "1536Mi", "1.5Gi", "2G", "100m" in thousandths: bytes, or a CPU's time. False: none, or past 64 bits. */
bool kubeqty_milli(struct str text, uint64_t *ret_milli);

/* Is its unit one that Kubernetes reads as decimal and people as binary: M, G, T? */
bool kubeqty_is_decimal(struct str text);

#endif
