/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and times as RFC 3339 writes them, both ways, in milliseconds since 1970-01-01 UTC. No clock, no time zone. */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include "base/str.h"

enum { DATE_TEXT_CAP = 32 };

#define DATE_DAY_MS INT64_C(86400000)

/*
 * "2026-12-31" (the start of that day, UTC) or "2026-12-31T08:00:00Z", with an offset such as +02:00 in place of Z
 * and decimals of a second if wanted (cut to milliseconds). The whole of `text`. False for days that are in no
 * calendar (31 February), for years before 1970 and for a leap second, which Unix time cannot tell.
 */
bool date_parse(struct str text, int64_t *ret_ms);

/* "2026-12-31" at the start of a day, else "2026-12-31T08:00:00Z"; "?" outside the years 1970 to 9999. Returns dest. */
const char *date_format(char dest[DATE_TEXT_CAP], int64_t ms);

/* Always with its time and milliseconds: "2026-12-31T08:00:00.000Z"; "?" as above. */
const char *date_format_instant(char dest[DATE_TEXT_CAP], int64_t ms);

#endif
