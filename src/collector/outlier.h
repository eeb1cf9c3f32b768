/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One owner over the pods of a workload that do the same: who holds far more of it than the others? PURE.
 *
 * The median is what a pod of this workload needs: neither one that leaks nor one that has just started moves it. An
 * outlier holds more than a quarter above it and more than 64 MiB above it (on a small owner a quarter is noise, on a
 * large one 64 MiB is), among OUTLIER_PODS_MIN pods or more: of two nobody can say which one is odd.
 */
#ifndef COLLECTOR_OUTLIER_H
#define COLLECTOR_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OUTLIER_PODS_MIN = 3, OUTLIER_SHARE_BP = 2500, OUTLIER_BYTES = 64 << 20 };

struct holding {
	int64_t agent;
	uint64_t bytes;
};

struct outliers {
	uint64_t median_bytes;
	size_t first; /* from here on they are outliers, the largest last; n: none is */
};

/* Sorts them by bytes, then by agent. n of 0 has neither median nor outliers. */
void outliers_find(struct holding *holdings, size_t n, struct outliers *ret_outliers);

/* bytes in 1/10,000 of the median; `*ret_bp` as it was where there is no median. */
bool outliers_times_bp(uint64_t bytes, uint64_t median, uint64_t *ret_bp);

#endif
