/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/spark.h"

#include <string.h>

enum { MINUTE_MS = 60000 };

static uint32_t minute_of(struct wall wall)
{
	int64_t minute = wall.ms / MINUTE_MS;
	return wall.ms <= 0 || minute > UINT32_MAX ? 0 : (uint32_t)minute;
}

/* Rounded to the nearest step; a floor past the limit is at it. */
static uint8_t step_of(uint64_t floor, uint64_t limit)
{
	uint64_t scaled;
	if (floor >= limit)
		return SPARK_STEPS;
	while (__builtin_mul_overflow(floor, 2 * SPARK_STEPS, &scaled)) {
		floor /= 2;
		limit /= 2;
	}
	return (uint8_t)((scaled / limit + 1) / 2);
}

/* What lies between what was there and this minute are gaps. */
static void move_to(struct spark *spark, uint32_t minute)
{
	if (!spark->minute || minute - spark->minute >= SPARK_MINUTES)
		memset(spark->at, 0, sizeof spark->at);
	else
		for (uint32_t gone = spark->minute + 1; gone <= minute; gone++)
			spark->at[gone % SPARK_MINUTES] = 0;
	spark->minute = minute;
}

void spark_put(struct spark *spark, struct wall taken, struct qty floor_bytes, struct limit limit)
{
	uint32_t minute = minute_of(taken);
	if (!minute || !qty_known(floor_bytes) || limit.kind != LIMIT_SET || limit.bytes == 0)
		return;
	if (minute > spark->minute)
		move_to(spark, minute);
	else if (spark->minute - minute >= SPARK_MINUTES)
		return;
	uint8_t *at = &spark->at[minute % SPARK_MINUTES],
		value = (uint8_t)(step_of(floor_bytes.bytes, limit.bytes) + 1);
	if (value > *at)
		*at = value;
}

void spark_text(const struct spark *spark, struct wall now, char ret_text[SPARK_MINUTES + 1])
{
	static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
	_Static_assert(sizeof letters == SPARK_STEPS + 2, "one letter a step");
	uint32_t last = minute_of(now);
	for (uint32_t i = 0; i < SPARK_MINUTES; i++) {
		uint32_t minute = last - (SPARK_MINUTES - 1) + i;
		bool within =
			last >= SPARK_MINUTES && minute <= spark->minute && spark->minute - minute < SPARK_MINUTES;
		uint8_t value = within ? spark->at[minute % SPARK_MINUTES] : 0;
		ret_text[i] = value ? letters[value - 1] : '.';
	}
	ret_text[SPARK_MINUTES] = '\0';
}
