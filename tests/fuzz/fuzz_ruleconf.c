/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "base/date.h"
#include "config/ruleconf.h"
#include "data/yml.h"

#define NOW INT64_C(1785542400000) /* 2026-08-01 */

/* Cleared on the quiet side, whatever the file says. */
static void check_levels(const struct thresholds *levels)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		if (threshold_table[i].side == RAISED_ABOVE ? levels->clear[i] > levels->raise[i]
							    : levels->clear[i] < levels->raise[i])
			abort();
}

/* Each of another rule, with a reason, and an end within a year. */
static void check_silences(const struct rule_silences *silences)
{
	if (silences->n > SILENCES_MAX)
		abort();
	for (size_t i = 0; i < silences->n; i++) {
		const struct rule_silence *s = &silences->items[i];
		if (!rules_find(str_of(s->rule)) || !s->reason[0] || s->line == 0 || s->until.ms <= NOW ||
		    s->until.ms > NOW + 366 * DATE_DAY_MS || silence_find(silences, s->rule, (struct wall){ NOW }) != s)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct yml yml;
	struct ruleconf conf;
	if (yml_parse(text, "f", &yml, &err) < 0)
		return 0;
	if (ruleconf_parse(&yml, "f", (struct wall){ NOW }, &conf, &err) == 0) {
		check_levels(&conf.thresholds);
		check_silences(&conf.silences);
	} else if (err.kind != ERR_USAGE || !str_starts(str_of(err.message), STR("f:"))) {
		abort();
	}
	yml_done(&yml);
	return 0;
}
