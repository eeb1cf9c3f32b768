/* SPDX-License-Identifier: Apache-2.0 */
/* What is packed comes back as it was, whatever the numbers; a part of a blob is read or refused; roll-ups hold their extremes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "collector/pack.h"
#include "collector/rollup.h"
#include "support/prng.h"
#include "support/tight.h"

enum { SERIES = 400, POINTS = 40 };

static struct qty any_qty(struct prng *prng, bool wild)
{
	struct qty q = qty_of(prng_size(prng, wild), (enum qty_state)prng_below(prng, QTY_STATE_COUNT));
	if (prng_one_in(prng, 2))
		q.bytes &= ~UINT64_C(4095);
	return qty_known(q) ? q : (struct qty){ 0 };
}

static struct signed_qty any_signed(struct prng *prng, bool wild)
{
	if (prng_one_in(prng, 4))
		return (struct signed_qty){ 0 };
	uint64_t bytes = prng_size(prng, wild);
	return (struct signed_qty){ (int64_t)(prng_one_in(prng, 2) ? bytes : -bytes), true };
}

/* A new point, or the one before with some fields moved, as series are. */
static struct pack_point next_point(struct prng *prng, const struct pack_point *before, enum pack_kind kind, bool wild)
{
	struct pack_point next = *before;
	struct store_point *p = &next.point;
	bool fresh = prng_one_in(prng, 5);
	next.seq = prng_one_in(prng, 6) ? prng_size(prng, wild) : before->seq + 1;
	p->received.ms = prng_one_in(prng, 6) ? (int64_t)prng_size(prng, wild) : before->point.received.ms / 2 + 10000;
	p->wall.ms = prng_one_in(prng, 6) ? (int64_t)prng_size(prng, wild) : p->received.ms / 2;
	p->has_composition = prng_one_in(prng, 2);
	for (int i = 0; i < OWNER_COUNT; i++) {
		if (!p->has_composition)
			p->owners[i] = (struct qty){ 0 };
		else if (fresh || prng_one_in(prng, 4))
			p->owners[i] = any_qty(prng, wild);
	}
	for (int i = 0; i < GROUP_COUNT; i++)
		if (fresh || prng_one_in(prng, 4))
			p->groups[i] = any_qty(prng, wild);
	if (fresh || prng_one_in(prng, 3)) {
		p->no_limit = prng_one_in(prng, 4);
		p->limit_bytes = p->no_limit ? (struct qty){ 0 } : any_qty(prng, wild);
		p->charge_bytes = any_qty(prng, wild);
		p->floor_bytes = any_qty(prng, wild);
		p->freeboard_bytes = any_signed(prng, wild);
	}
	p->charge_max_bytes = kind == PACK_SAMPLES ? p->charge_bytes : any_qty(prng, wild);
	p->floor_max_bytes = kind == PACK_SAMPLES ? p->floor_bytes : any_qty(prng, wild);
	p->freeboard_min_bytes = kind == PACK_SAMPLES ? p->freeboard_bytes : any_signed(prng, wild);
	p->n_samples = kind == PACK_SAMPLES ? 1 : (uint32_t)prng_below(prng, 100);
	return next;
}

static void same_qty(struct qty a, struct qty b)
{
	assert_int_equal(a.bytes, b.bytes);
	assert_int_equal(a.state, b.state);
}

static void same_signed(struct signed_qty a, struct signed_qty b)
{
	assert_int_equal(a.bytes, b.bytes);
	assert_int_equal(a.known, b.known);
}

static void same(const struct pack_point *a, const struct pack_point *b)
{
	const struct store_point *p = &a->point, *q = &b->point;
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(p->received.ms, q->received.ms);
	assert_int_equal(p->wall.ms, q->wall.ms);
	assert_int_equal(p->n_samples, q->n_samples);
	assert_int_equal(p->has_composition, q->has_composition);
	assert_int_equal(p->no_limit, q->no_limit);
	same_qty(p->limit_bytes, q->limit_bytes);
	same_qty(p->charge_bytes, q->charge_bytes);
	same_qty(p->charge_max_bytes, q->charge_max_bytes);
	same_qty(p->floor_bytes, q->floor_bytes);
	same_qty(p->floor_max_bytes, q->floor_max_bytes);
	same_signed(p->freeboard_bytes, q->freeboard_bytes);
	same_signed(p->freeboard_min_bytes, q->freeboard_min_bytes);
	for (int i = 0; i < GROUP_COUNT; i++)
		same_qty(p->groups[i], q->groups[i]);
	for (int i = 0; i < OWNER_COUNT; i++)
		same_qty(p->owners[i], q->owners[i]);
}

static size_t make(struct prng *prng, struct pack *pack, enum pack_kind kind, struct pack_point *points)
{
	size_t n = prng_below(prng, POINTS);
	bool wild = prng_one_in(prng, 2);
	struct pack_point point = { 0 };
	pack_start(pack, kind);
	for (size_t i = 0; i < n; i++) {
		points[i] = point = next_point(prng, &point, kind, wild);
		assert_true(pack_add(pack, &point));
	}
	return n;
}

static void comes_back(void **state)
{
	(void)state;
	struct prng prng = prng_start("comes_back");
	static struct pack_point points[POINTS];
	auto_pack struct pack pack = { 0 };
	for (int round = 0; round < SERIES; round++) {
		enum pack_kind kind = prng_one_in(&prng, 2) ? PACK_SAMPLES : PACK_MINUTES;
		size_t n = make(&prng, &pack, kind, points);
		struct str blob = tight_of(buf_str(&pack.bytes));
		struct pack_reader reader;
		struct pack_point point;
		bool more;
		assert_true(blob.len <= 4 + n * PACK_POINT_MAX);
		assert_int_equal(pack_open(blob, &reader, NULL), 0);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(pack_next(&reader, &point, &more, NULL), 0);
			assert_true(more);
			same(&points[i], &point);
		}
		assert_int_equal(pack_next(&reader, &point, &more, NULL), 0);
		assert_false(more);
		tight_free(blob);
	}
}

static void read_all(struct str blob)
{
	struct pack_reader reader;
	struct pack_point point;
	bool more = true;
	if (pack_open(blob, &reader, NULL) < 0)
		return;
	while (more && pack_next(&reader, &point, &more, NULL) == 0)
		;
}

static void prefixes(void **state)
{
	(void)state;
	struct prng prng = prng_start("prefixes");
	static struct pack_point points[POINTS];
	auto_pack struct pack pack = { 0 };
	for (int round = 0; round < 20; round++) {
		(void)make(&prng, &pack, prng_one_in(&prng, 2) ? PACK_SAMPLES : PACK_MINUTES, points);
		tight_prefixes(buf_str(&pack.bytes), 500, read_all);
	}
}

/* Flipped bytes are read as something else or refused, and nothing worse. */
static void damaged(void **state)
{
	(void)state;
	struct prng prng = prng_start("damaged");
	static struct pack_point points[POINTS];
	auto_pack struct pack pack = { 0 };
	for (int round = 0; round < SERIES * 5; round++) {
		(void)make(&prng, &pack, prng_one_in(&prng, 2) ? PACK_SAMPLES : PACK_MINUTES, points);
		for (int i = 0; i < 3; i++)
			pack.bytes.ptr[prng_below(&prng, pack.bytes.len)] ^= (char)(1U << prng_below(&prng, 8));
		struct str blob = tight_of(buf_str(&pack.bytes));
		read_all(blob);
		tight_free(blob);
	}
}

/* Rolling up in two stages says the same of number, extremes and owners as in one. */
static void rolled_twice(void **state)
{
	(void)state;
	struct prng prng = prng_start("rolled_twice");
	for (int round = 0; round < SERIES; round++) {
		struct rollup once = { 0 }, part = { 0 }, twice = { 0 };
		struct pack_point point = { 0 }, a, b;
		size_t n = 1 + prng_below(&prng, POINTS);
		uint64_t low = UINT64_MAX, high = 0;
		for (size_t i = 0; i < n; i++) {
			point = next_point(&prng, &point, PACK_SAMPLES, false);
			rollup_add(&once, &point);
			rollup_add(&part, &point);
			if (prng_one_in(&prng, 4) && rollup_take(&part, &a))
				rollup_add(&twice, &a);
			if (qty_known(point.point.charge_bytes)) {
				low = point.point.charge_bytes.bytes < low ? point.point.charge_bytes.bytes : low;
				high = point.point.charge_bytes.bytes > high ? point.point.charge_bytes.bytes : high;
			}
		}
		if (rollup_take(&part, &a))
			rollup_add(&twice, &a);
		assert_true(rollup_take(&once, &a));
		assert_true(rollup_take(&twice, &b));
		assert_true(rollup_is_empty(&once));
		assert_int_equal(a.point.n_samples, n);
		assert_int_equal(b.point.n_samples, n);
		assert_int_equal(a.seq, b.seq);
		assert_int_equal(qty_known(a.point.charge_bytes), low <= high);
		if (low <= high) {
			assert_true(a.point.charge_bytes.bytes >= low && a.point.charge_bytes.bytes <= high);
			assert_true(b.point.charge_bytes.bytes >= low && b.point.charge_bytes.bytes <= high);
			assert_int_equal(a.point.charge_max_bytes.bytes, high);
		}
		same_qty(a.point.charge_max_bytes, b.point.charge_max_bytes);
		same_qty(a.point.floor_max_bytes, b.point.floor_max_bytes);
		same_signed(a.point.freeboard_min_bytes, b.point.freeboard_min_bytes);
		assert_int_equal(a.point.has_composition, b.point.has_composition);
		for (int i = 0; i < OWNER_COUNT; i++)
			same_qty(a.point.owners[i], b.point.owners[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(damaged),
		cmocka_unit_test(rolled_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
