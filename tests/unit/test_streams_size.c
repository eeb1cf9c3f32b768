/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/streams.h"
#include "plan/streams_size.h"

#define MIB (1ull << 20)

static const char *const names[] = { "a", "b", "c" };

/* Ten stores by default in a limit of 2 GiB: they may come to 980 MiB. */
static struct resize_reading reading(void)
{
	return (struct resize_reading){
		.kind = ENGINE_KAFKA_STREAMS,
		.set = { [RESIZE_HEAP] = qty_measured(512 * MIB) },
		.used = { [RESIZE_HEAP] = qty_measured(400 * MIB) },
		.cache_bytes = qty_measured(200 * MIB),
		.memtables_bytes = qty_measured(100 * MIB),
		.readers_bytes = qty_measured(10 * MIB),
		.floor_bytes = qty_measured(900 * MIB),
		.cache_bound = limit_set(10 * STREAMS_INSTANCE_BYTES),
		.facts.streams_instances = count_of(10),
		.limit = limit_set(2048 * MIB),
	};
}

static struct streams_size size_of(struct resize_reading each, uint64_t pods, int64_t apart_ms)
{
	static struct streams_size size;
	struct resize_reading r[3] = { each, each, each };
	for (size_t i = 0; i < 3; i++)
		r[i].taken.ms = 1 + (int64_t)i * apart_ms;
	assert_int_equal(streams_size_run(r, names, 3, pods, 0, &size, NULL), 0);
	return size;
}

/* The parts of what the limit is proposed for. */
static void assert_adds_up(const struct streams_size *size, uint64_t stores_bytes)
{
	uint64_t rest = size->rows[STREAMS_SIZE_REST].max_bytes;
	uint64_t sum = size->rows[STREAMS_SIZE_HEAP].proposed_bytes + rest +
		       (rest / 5 > 64 * MIB ? rest / 5 : 64 * MIB) + stores_bytes;
	assert_true(size->needed_bytes >= sum && size->needed_bytes <= sum + 48 * MIB);
}

static void defaults_that_fit(void **state)
{
	(void)state;
	struct streams_size size = size_of(reading(), 0, 0);
	assert_true(size.by_default);
	assert_int_equal(size.n_steps, 0);
	assert_false(size.raises);
	assert_int_equal(size.rows[STREAMS_SIZE_REST].max_bytes, 190 * MIB);
	assert_int_equal(size.rows[STREAMS_SIZE_CACHE].max_bytes, 210 * MIB);
	assert_int_equal(size.rows[STREAMS_SIZE_CACHE].set_bytes, 500 * MIB);
	assert_int_equal(size.instance_bytes.bytes, 31 * MIB);
	assert_adds_up(&size, 980 * MIB);
}

/* With one of two pods lost the other opens all twenty: 1960 MiB by default, which the limit does not hold. */
static void defaults_that_do_not_fit_with_one_lost(void **state)
{
	(void)state;
	struct streams_size size = size_of(reading(), 2, 0);
	assert_int_equal(size.instances_lost.n, 20);
	assert_int_equal(size.n_steps, 1);
	assert_true(size.raises);
	assert_true(size.cache_bytes >= 2 * 310 * MIB);
	assert_true(size.manager_bytes >= 2 * 100 * MIB && size.manager_bytes < size.cache_bytes);
	assert_true(size.buffer_bytes * 20 <= size.manager_bytes);
	assert_true(size.needed_bytes <= 2048 * MIB);
	char words[64];
	(void)snprintf(words, sizeof words, "new LRUCache(%lluL << 20", (unsigned long long)(size.cache_bytes / MIB));
	assert_non_null(strstr(size.steps[0].fragment, words));
	assert_non_null(strstr(size.steps[0].fragment, "rocksdb.config.setter=BoundedMemory"));
	/* It ends whole: nothing was cut. */
	size_t len = strlen(size.steps[0].fragment);
	assert_string_equal(size.steps[0].fragment + len - 5, " }\n}\n");
}

/* The cache takes what the limit leaves where that is more than was seen and less than half above. */
static void a_cache_that_is_cut_to_the_limit(void **state)
{
	(void)state;
	struct resize_reading r = reading();
	r.limit = limit_set(1240 * MIB);
	struct streams_size size = size_of(r, 0, 0);
	assert_int_equal(size.n_steps, 1);
	assert_true(size.cache_bytes < 210 * MIB * 3 / 2 + size.manager_bytes);
	assert_true(size.cache_bytes >= 310 * MIB);
	assert_true(size.needed_bytes <= 1240 * MIB);
}

static void a_limit_that_is_too_small(void **state)
{
	(void)state;
	struct resize_reading r = reading();
	r.limit = limit_set(1024 * MIB);
	struct streams_size size = size_of(r, 0, 0);
	assert_int_equal(size.n_steps, 2);
	assert_true(size.raises);
	assert_non_null(strstr(size.steps[0].title, "raise the container's limit"));
	assert_true(size.rows[STREAMS_SIZE_LIMIT].proposed_bytes == size.needed_bytes);
	char words[64];
	(void)snprintf(words, sizeof words, "memory: %lluMi\n", (unsigned long long)(size.needed_bytes / MIB));
	assert_non_null(strstr(size.steps[0].fragment, words));
	assert_true(size.limit_holds.known && size.limit_holds.n < 10);
}

/* A setter of 1 GiB of which a tenth is used; heap and limit are large, too. Lowered by a day of readings alone. */
static void what_is_too_large(void **state)
{
	(void)state;
	struct resize_reading r = reading();
	r.cache_bound = limit_set(1024 * MIB);
	r.cache_bytes = qty_measured(60 * MIB);
	r.memtables_bytes = qty_measured(40 * MIB);
	r.set[RESIZE_HEAP] = qty_measured(2048 * MIB);
	r.limit = limit_set(4096 * MIB);
	struct streams_size size = size_of(r, 0, 1000);
	assert_int_equal(size.n_steps, 0);
	assert_non_null(strstr(size.rows[STREAMS_SIZE_HEAP].why, "a day"));
	assert_non_null(strstr(size.rows[STREAMS_SIZE_CACHE].why, "a day"));
	assert_non_null(strstr(size.rows[STREAMS_SIZE_LIMIT].why, "a day"));
	size = size_of(r, 0, RESIZE_DAY_MS / 2);
	assert_int_equal(size.n_steps, 3);
	assert_false(size.raises);
	assert_non_null(strstr(size.steps[0].title, "lower RocksDB's cache from 1.00 GiB"));
	assert_non_null(strstr(size.steps[1].title, "lower the heap from 2.00 GiB"));
	assert_string_equal(size.steps[1].fragment, "-Xmx608m\n");
	assert_non_null(strstr(size.steps[2].title, "lower the container's limit from 4.00 GiB"));
	/* A full cache is at work. */
	r.cache_bytes = qty_measured(1000 * MIB);
	size = size_of(r, 0, RESIZE_DAY_MS);
	assert_non_null(strstr(size.rows[STREAMS_SIZE_CACHE].why, "full"));
}

/* Unread is not 0. */
static void what_was_not_read(void **state)
{
	(void)state;
	struct resize_reading r = reading();
	r.cache_bytes = r.memtables_bytes = r.readers_bytes = (struct qty){ 0 };
	struct streams_size size = size_of(r, 2, RESIZE_DAY_MS);
	assert_int_equal(size.n_steps, 0);
	assert_false(size.rows[STREAMS_SIZE_REST].known);
	assert_false(qty_known(size.instance_bytes));
	r = reading();
	r.cache_bound = (struct limit){ 0 };
	r.facts.streams_instances = (struct count){ 0 };
	size = size_of(r, 2, RESIZE_DAY_MS);
	assert_false(size.by_default);
	assert_int_equal(size.cache_bytes, 0);
	r = reading();
	r.used[RESIZE_HEAP] = (struct qty){ 0 };
	size = size_of(r, 0, RESIZE_DAY_MS);
	assert_int_equal(size.rows[STREAMS_SIZE_HEAP].proposed_bytes, 512 * MIB);
}

/* Turned round: how many partitions a pod's limit holds, and how many pods that makes, one of which may be lost. */
static void partitions_and_pods(void **state)
{
	(void)state;
	static const struct {
		uint64_t pods, partitions; /* of 10 instances a pod */
		uint64_t limit_mib;
		bool known;
	} table[] = {
		{ 3, 0, 4096, false }, /* not told */
		{ 3, 15, 4096, true },  { 1, 5, 4096, true },
		{ 0, 15, 4096, false }, /* nobody knows how many pods there are */
		{ 3, 15, 64, true },    /* not one */
	};
	for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
		struct resize_reading r[3] = { reading(), reading(), reading() };
		struct streams_size size;
		for (size_t i = 0; i < 3; i++)
			r[i].limit = limit_set(table[t].limit_mib * MIB);
		assert_int_equal(streams_size_run(r, names, 3, table[t].pods, table[t].partitions, &size, NULL), 0);
		assert_int_equal(size.partitions_hold.known, table[t].known);
		if (!table[t].known)
			continue;
		/* By its definition: that many fit, and one more does not. */
		uint64_t all = size.instances.n * table[t].pods, held = size.partitions_hold.n;
		assert_true(held * all <= size.limit_holds.n * table[t].partitions);
		assert_true((held + 1) * all > size.limit_holds.n * table[t].partitions);
		assert_int_equal(size.pods_needed.known, held > 0);
		if (held)
			assert_true((size.pods_needed.n - 1) * held >= table[t].partitions &&
				    (size.pods_needed.n - 2) * held < table[t].partitions);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_that_fit),
		cmocka_unit_test(defaults_that_do_not_fit_with_one_lost),
		cmocka_unit_test(a_cache_that_is_cut_to_the_limit),
		cmocka_unit_test(a_limit_that_is_too_small),
		cmocka_unit_test(what_is_too_large),
		cmocka_unit_test(what_was_not_read),
		cmocka_unit_test(partitions_and_pods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
