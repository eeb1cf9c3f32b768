/* SPDX-License-Identifier: Apache-2.0 */
/* Levels from random configurations: what is accepted is sound and reads back, whatever else the file says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/levels.h"
#include "support/confyaml.h"
#include "support/prng.h"

enum { ROUNDS = 4000, CAP = 64 * 1024 };

static uint64_t some_level(struct prng *prng, const struct threshold_info *info)
{
	static const uint64_t most[] = { LEVEL_SHARE_MAX, LEVEL_BYTES_MAX, LEVEL_COUNT_MAX };
	uint64_t max = most[info->kind];
	if (prng_one_in(prng, 8))
		return prng_one_in(prng, 2) ? max + prng_below(prng, 2) : 0;
	/* About the table's, where the levels of one rule meet, more often than anywhere. */
	uint64_t near = 2 * (info->raise + info->clear) + 2;
	return prng_below(prng, prng_one_in(prng, 4) ? max : near);
}

static void put(struct buf *text, const struct threshold_info *info, const char *tail, uint64_t level)
{
	(void)buf_printf(text, "rules.%s.%s%s: ", info->rule, info->name, tail);
	if (info->kind == THRESHOLD_SHARE)
		(void)buf_printf(text, "%llu.%02llu%%\n", (unsigned long long)(level / 100),
				 (unsigned long long)(level % 100));
	else
		(void)buf_printf(text, "%llu\n", (unsigned long long)level);
}

struct said {
	bool raise[THRESHOLD_COUNT], clear[THRESHOLD_COUNT];
	uint64_t raise_level[THRESHOLD_COUNT], clear_level[THRESHOLD_COUNT];
};

static void some_levels(struct prng *prng, struct buf *text, struct said *said)
{
	*said = (struct said){ 0 };
	unsigned seldom = (unsigned)prng_below(prng, 60) + 1;
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold_info *info = &threshold_table[i];
		said->raise[i] = prng_one_in(prng, seldom);
		said->clear[i] = prng_one_in(prng, 2 * seldom);
		if (said->raise[i])
			put(text, info, "", said->raise_level[i] = some_level(prng, info));
		if (said->clear[i])
			put(text, info, "-clear", said->clear_level[i] = some_level(prng, info));
	}
}

static void what_is_accepted_is_sound_and_reads_back(void **state)
{
	(void)state;
	struct prng prng = prng_start("what_is_accepted_is_sound_and_reads_back");
	unsigned accepted = 0;
	for (int round = 0; round < ROUNDS; round++) {
		auto_buf struct buf text = { .cap = CAP }, again = { .cap = CAP };
		struct ruleconf conf, back;
		struct said said;
		struct err err;
		some_levels(&prng, &text, &said);
		if (confyaml_parse(text.len ? text.ptr : "", 0, &conf, &err) < 0) {
			assert_non_null(strstr(err.message, "f:"));
			continue;
		}
		accepted++;
		confyaml_sound(&conf.thresholds);
		for (int i = 0; i < THRESHOLD_COUNT; i++) {
			/* What was said holds to the unit; what nobody spoke of is raised as ever. */
			assert_true(conf.thresholds.raise[i] ==
				    (said.raise[i] ? said.raise_level[i] : threshold_table[i].raise));
			assert_true(!said.clear[i] || conf.thresholds.clear[i] == said.clear_level[i]);
		}
		confyaml_write(&conf.thresholds, &again);
		if (confyaml_parse(again.ptr, 0, &back, &err) < 0)
			fail_msg("%s: %s", text.ptr ? text.ptr : "", err.message);
		assert_memory_equal(&back.thresholds, &conf.thresholds, sizeof conf.thresholds);
	}
	/* Else nothing was tried. */
	print_message("%u of %d accepted\n", accepted, ROUNDS);
	assert_true(accepted > ROUNDS / 10 && accepted < ROUNDS * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_accepted_is_sound_and_reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
