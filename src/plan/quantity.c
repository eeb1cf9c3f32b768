/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/quantity.h"

#include <string.h>

#include "base/kubeqty.h"
#include "base/units.h"

/* A unit with a capital letter, or a fraction, is the manifest's; whatever else is Flink's and ours. */
static bool is_of_kubernetes(struct str text)
{
	struct str unit = text;
	while (unit.len && ((unit.ptr[0] >= '0' && unit.ptr[0] <= '9') || unit.ptr[0] == '.'))
		unit = str_skip(unit, 1);
	bool capital = unit.len && unit.ptr[0] >= 'A' && unit.ptr[0] <= 'Z';
	if (memchr(text.ptr, '.', text.len))
		return capital || unit.len == 0;
	/* Kubernetes has no K; here it is 1024, as everywhere. */
	return capital && ((unit.len == 1 && unit.ptr[0] != 'K') || (unit.len == 2 && unit.ptr[1] == 'i'));
}

bool quantity_is_decimal(struct str text)
{
	return is_of_kubernetes(text) && kubeqty_is_decimal(text);
}

int quantity_parse(struct str text, uint64_t *ret_bytes, struct err *err)
{
	uint64_t bytes, milli;
	int rc = 0;
	if (text.len == 0 || !is_of_kubernetes(text))
		rc = units_parse(text, &bytes, err);
	else if (!kubeqty_milli(text, &milli) || milli % 1000 != 0)
		rc = err_set(err, ERR_USAGE, "'%.*s' is no size: write digits and a unit, such as 4Gi, 4G or 1728m",
			     (int)(text.len < 40 ? text.len : 40), text.ptr);
	else
		bytes = milli / 1000;
	if (rc == 0 && bytes == 0)
		rc = err_set(err, ERR_USAGE, "0 is no limit");
	/* Kubernetes counts in 63 bits, and so does the kernel. */
	if (rc == 0 && bytes > INT64_MAX)
		rc = err_set(err, ERR_USAGE, "'%.*s' is more than 64 bits hold: %llu bytes are the most",
			     (int)(text.len < 40 ? text.len : 40), text.ptr, (unsigned long long)INT64_MAX);
	if (rc == 0)
		*ret_bytes = bytes;
	return rc;
}
