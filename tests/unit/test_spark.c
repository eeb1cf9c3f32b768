/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/spark.h"

#include <string.h>

#define MINUTE INT64_C(60000)
static const struct wall t0 = { INT64_C(29408160) * MINUTE };

static struct wall at(int64_t minutes)
{
	return (struct wall){ t0.ms + minutes * MINUTE + 59999 };
}

static void put(struct spark *spark, int64_t minute, uint64_t floor, uint64_t limit)
{
	spark_put(spark, at(minute), qty_measured(floor), limit_set(limit));
}

/* What stands at the end of the text. */
static void ends(const struct spark *spark, int64_t now, const char *wanted)
{
	char text[SPARK_MINUTES + 1];
	spark_text(spark, at(now), text);
	assert_int_equal(strlen(text), SPARK_MINUTES);
	assert_string_equal(text + SPARK_MINUTES - strlen(wanted), wanted);
	assert_int_equal(strspn(text, "."), SPARK_MINUTES - strlen(wanted));
}

static void parts_of_the_limit(void **state)
{
	(void)state;
	static const struct {
		uint64_t floor, limit;
		const char *text;
	} cases[] = {
		{ 0, 100, "0" },
		{ 1, 1000000, "0" },
		{ 100, 100, "_" },
		{ 101, 100, "_" },
		{ 50, 100, "W" }, /* 31.5 is 32 */
		{ 1, 126, "1" },
		/* half a step */ { 1, 127, "0" },
		{ UINT64_MAX, UINT64_MAX, "_" },
		{ UINT64_MAX / 2, UINT64_MAX, "V" },
		{ UINT64_MAX - 1, UINT64_MAX, "_" },
		{ 62, 63, "-" },
		{ 0, 1, "0" },
		{ UINT64_MAX, 1, "_" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct spark spark = { 0 };
		put(&spark, 0, cases[i].floor, cases[i].limit);
		ends(&spark, 0, cases[i].text);
	}
}

static void a_gap_is_a_gap(void **state)
{
	(void)state;
	struct spark spark = { 0 };
	char text[SPARK_MINUTES + 1];
	spark_text(&spark, at(0), text);
	assert_int_equal(strspn(text, "."), SPARK_MINUTES);
	put(&spark, 0, 0, 63);
	put(&spark, 1, 1, 63);
	put(&spark, 1, 9, 63); /* the largest of its minute */
	put(&spark, 1, 3, 63);
	put(&spark, 4, 4, 63);
	ends(&spark, 4, "09..4");
	ends(&spark, 6, "09..4..");
	/* What comes late finds its place, also before the first. */
	put(&spark, 2, 2, 63);
	put(&spark, -1, 8, 63);
	ends(&spark, 4, "8092.4");
	/* An hour later it is gone, the last one as well. */
	ends(&spark, 4 + 59, "4...........................................................");
	spark_text(&spark, at(64), text);
	assert_int_equal(strspn(text, "."), SPARK_MINUTES);
	/* Longer than an hour away: nothing of it stays; before it: nothing is taken. */
	put(&spark, 100, 5, 63);
	put(&spark, 40, 7, 63);
	ends(&spark, 100, "5");
	put(&spark, 41, 7, 63);
	ends(&spark, 100, "7..........................................................5");
	/* A clock that was set back shows what was then. */
	ends(&spark, 42, "7.");
}

static void what_is_not_known_is_no_sample(void **state)
{
	(void)state;
	struct spark spark = { 0 };
	spark_put(&spark, at(0), (struct qty){ 0 }, limit_set(5));
	spark_put(&spark, at(0), qty_measured(1), (struct limit){ .kind = LIMIT_NONE });
	spark_put(&spark, at(0), qty_measured(1), (struct limit){ 0 });
	spark_put(&spark, at(0), qty_measured(1), limit_set(0));
	spark_put(&spark, (struct wall){ 0 }, qty_measured(1), limit_set(5));
	spark_put(&spark, (struct wall){ INT64_MIN }, qty_measured(1), limit_set(5));
	spark_put(&spark, (struct wall){ INT64_MAX }, qty_measured(1), limit_set(5));
	assert_int_equal(spark.minute, 0);
	char text[SPARK_MINUTES + 1];
	static const struct wall nows[] = { { 0 }, { -1 }, { 3600000 }, { INT64_MAX }, { INT64_MIN } };
	for (size_t i = 0; i < sizeof nows / sizeof nows[0]; i++) {
		spark_text(&spark, nows[i], text);
		assert_int_equal(strspn(text, "."), SPARK_MINUTES);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_limit),
		cmocka_unit_test(a_gap_is_a_gap),
		cmocka_unit_test(what_is_not_known_is_no_sample),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
