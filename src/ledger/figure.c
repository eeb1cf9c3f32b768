/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/figure.h"

const char *figure_qty(char dest[UNITS_TEXT_CAP], struct qty qty)
{
	return qty_known(qty) ? units_format(dest, qty.bytes) : "unread";
}

const char *figure_signed(char dest[UNITS_TEXT_CAP], struct signed_qty qty)
{
	return qty.known ? units_format_signed(dest, qty.bytes) : "unread";
}

const char *figure_limit(char dest[UNITS_TEXT_CAP], struct limit limit)
{
	return limit.kind == LIMIT_SET ? units_format(dest, limit.bytes) : limit.kind == LIMIT_NONE ? "none" : "unread";
}
