/* SPDX-License-Identifier: Apache-2.0 */
#include "support/confyaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/yml.h"

int confyaml_parse(const char *text, int64_t now_ms, struct ruleconf *ret_conf, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	*err = (struct err){ 0 };
	int rc = yml_parse(str_of(text), "f", &yml, err);
	return rc < 0 ? rc : ruleconf_parse(&yml, "f", (struct wall){ now_ms }, ret_conf, err);
}

static void put(struct buf *out, enum threshold_kind kind, const char *name, const char *tail, uint64_t level)
{
	(void)buf_printf(out, "    %s%s: ", name, tail);
	if (kind == THRESHOLD_SHARE)
		(void)buf_printf(out, "%llu.%02llu%%\n", (unsigned long long)(level / 100),
				 (unsigned long long)(level % 100));
	else
		(void)buf_printf(out, "%llu\n", (unsigned long long)level);
}

void confyaml_write(const struct thresholds *levels, struct buf *out)
{
	(void)buf_puts(out, "rules:\n");
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold_info *info = &threshold_table[i];
		if (i == 0 || strcmp(info->rule, threshold_table[i - 1].rule) != 0)
			(void)buf_printf(out, "  %s:\n", info->rule);
		put(out, info->kind, info->name, "", levels->raise[i]);
		put(out, info->kind, info->name, "-clear", levels->clear[i]);
	}
	assert_false(buf_failed(out));
}

void confyaml_sound(const struct thresholds *levels)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		bool sound = threshold_table[i].side == RAISED_ABOVE ? levels->clear[i] <= levels->raise[i]
								     : levels->clear[i] >= levels->raise[i];
		if (!sound)
			fail_msg("%s.%s: raised at %llu, cleared at %llu", threshold_table[i].rule,
				 threshold_table[i].name, (unsigned long long)levels->raise[i],
				 (unsigned long long)levels->clear[i]);
	}
}
