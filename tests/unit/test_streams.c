/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/streams.h"
#include "support/tight.h"

static void counts_directories(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t n; /* 0: none */
	} cases[] = {
		{ "", 0 },
		{ "\n", 0 },
		{ "CURRENT\n", 0 },
		{ "/CURRENT\n", 0 },
		{ "app/0_3/rocksdb/counts/CURRENT", 1 },
		{ "app/0_3/rocksdb/counts/CURRENT\napp/0_3/rocksdb/counts/CURRENT\n", 1 },
		{ "app/0_0/w/w.0/CURRENT\napp/0_0/w/w.60000/CURRENT\napp/0_0/w/w.120000/CURRENT\napp/0_0/w/LOCK\nxCURRENT\n",
		  3 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str text = tight_of(str_of(cases[i].text));
		uint64_t n = 77;
		bool found = streams_count_directories(text, &n);
		assert_int_equal(found, cases[i].n != 0);
		assert_int_equal(n, cases[i].n ? cases[i].n : 77);
		tight_free(text);
	}
}

/* 60 instances are 5.74 GiB, 24 are 2.30 GiB. */
static void bounds(void **state)
{
	(void)state;
	struct streams_bound b = { .n_instances = count_of(60) };
	struct rocksdb_claim none = { 0 };
	streams_bound_set(&b, &none);
	assert_int_equal(b.native_bound_bytes.bytes, 60 * 102760448ull);
	assert_int_equal(b.native_bound_bytes.state, QTY_INFERRED);
	assert_false(b.bounded_setter);
	b = (struct streams_bound){ 0 };
	streams_bound_set(&b, &none);
	assert_false(qty_known(b.native_bound_bytes));
	b.n_instances = count_of(UINT64_MAX);
	streams_bound_set(&b, &none);
	assert_false(qty_known(b.native_bound_bytes));
	/* A setter that raised each store's own cache. */
	struct rocksdb_claim own = { .sharing = ROCKSDB_PER_STORE,
				     .cache_capacity_bytes = qty_of(5ull << 30, QTY_DERIVED) };
	b.n_instances = count_of(5);
	streams_bound_set(&b, &own);
	assert_int_equal(b.native_bound_bytes.bytes, (5ull << 30) + 5 * STREAMS_MEMTABLES_BYTES);
	/* One cache, memtables charged to it, and not. */
	struct rocksdb_claim shared = {
		.sharing = ROCKSDB_PER_PROCESS,
		.cache_capacity_bytes = qty_measured(64 << 20),
		.memtables_in_cache = true,
	};
	streams_bound_set(&b, &shared);
	assert_true(b.bounded_setter);
	assert_int_equal(b.native_bound_bytes.bytes, 64 << 20);
	shared.memtables_in_cache = false;
	streams_bound_set(&b, &shared);
	assert_int_equal(b.native_bound_bytes.bytes, (64 << 20) + 5 * STREAMS_MEMTABLES_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_directories),
		cmocka_unit_test(bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
