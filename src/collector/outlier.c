/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/outlier.h"

#include <stdlib.h>

#include "base/sat.h"

static int by_bytes(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->agent < y->agent ? -1 : x->agent > y->agent;
}

void outliers_find(struct holding *holdings, size_t n, struct outliers *ret_outliers)
{
	*ret_outliers = (struct outliers){ 0, n };
	if (n == 0)
		return;
	qsort(holdings, n, sizeof *holdings, by_bytes);
	uint64_t low = holdings[(n - 1) / 2].bytes, high = holdings[n / 2].bytes, median = low + (high - low) / 2;
	uint64_t share = median / 10000 * OUTLIER_SHARE_BP + median % 10000 * OUTLIER_SHARE_BP / 10000,
		 above = share > OUTLIER_BYTES ? share : OUTLIER_BYTES;
	uint64_t most = sat_add(median, above);
	ret_outliers->median_bytes = median;
	if (n < OUTLIER_PODS_MIN)
		return;
	while (ret_outliers->first > 0 && holdings[ret_outliers->first - 1].bytes > most)
		ret_outliers->first--;
}

bool outliers_times_bp(uint64_t bytes, uint64_t median, uint64_t *ret_bp)
{
	if (median == 0)
		return false;
	uint64_t whole = bytes / median, rest = bytes % median;
	/* To a basis point where that fits, and sizes of memory do. */
	uint64_t part = rest > UINT64_MAX / 10000 ? rest / (median / 10000) : rest * 10000 / median;
	*ret_bp = sat_add(sat_mul(whole, 10000), part);
	return true;
}
