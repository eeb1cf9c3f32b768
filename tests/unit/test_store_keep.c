/* SPDX-License-Identifier: Apache-2.0 */
/* Samples grow old without being lost or counted twice; what passes its time or the disk cap goes, the least wanted first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "collector/store_read.h"
#include "support/scratch.h"
#include "support/storekit.h"

enum { AGENTS = 3 };
#define HOUR_MS  INT64_C(3600000)
#define START_MS INT64_C(1699963200000) /* 12:00 UTC: a window of the roll-ups begins */

struct agent {
	int64_t row;
	struct store_epoch epoch;
	struct wire_sample sample;
};

struct fixture {
	struct scratch scratch;
	struct store *store;
	struct agent agents[AGENTS];
	struct prng prng;
	int64_t now_ms;
};

static struct fixture *begin(const struct store_options *options)
{
	struct fixture *f = calloc(1, sizeof *f);
	f->scratch = scratch_new();
	f->prng = (struct prng){ 3 };
	f->now_ms = START_MS;
	OK(store_open(f->scratch.path, options, &f->store, err));
	OK(store_begin(f->store, err));
	for (unsigned i = 0; i < AGENTS; i++) {
		struct wire_hello hello = storekit_hello(i);
		struct wall now = { START_MS };
		OK(store_agent(f->store, hello.subject.pod, &hello, now, &f->agents[i].row, err));
		OK(store_epoch(f->store, f->agents[i].row, storekit_epoch(i), now, &f->agents[i].epoch, err));
		f->agents[i].sample = storekit_sample(i);
	}
	OK(store_commit(f->store, err));
	return f;
}

static void check(struct fixture *f)
{
	auto_buf struct buf report = { .cap = 65536 };
	struct err why = { 0 };
	if (store_check(f->scratch.path, &report, &why) < 0)
		fail_msg("%s\n%s", why.message, buf_str(&report).ptr);
}

static void end(struct fixture *f)
{
	check(f);
	store_close(f->store);
	check(f);
	scratch_done(&f->scratch);
	free(f);
}

static struct store_counts count(struct fixture *f)
{
	struct store_counts counts;
	OK(store_count(f->store, &counts, err));
	return counts;
}

/* One sample each 10 s of every agent, for so long. */
static void run(struct fixture *f, int64_t ms)
{
	OK(store_begin(f->store, err));
	for (int64_t until = f->now_ms + ms; f->now_ms < until; f->now_ms += 10000)
		for (unsigned i = 0; i < AGENTS; i++) {
			struct agent *a = &f->agents[i];
			OK(store_sample(f->store, a->row, &a->epoch, &a->sample, (struct wall){ f->now_ms + i }, err));
			storekit_next(&f->prng, &a->sample, 10000);
		}
	OK(store_commit(f->store, err));
}

/* To its end; how many calls it took. */
static unsigned keep_at(struct fixture *f, int64_t now_ms)
{
	bool more = true;
	unsigned n = 0;
	for (; more; n++) {
		OK(store_keep(f->store, (struct wall){ now_ms }, &more, err));
		assert_true(n < 10000);
	}
	return n;
}

struct sum {
	uint64_t n_points, n_samples, charge, highest, lowest_room, owners;
	int64_t before_ms;
};

static bool add_point(void *context, const struct store_point *point)
{
	struct sum *sum = context;
	assert_true(point->received.ms >= sum->before_ms);
	sum->before_ms = point->received.ms;
	sum->n_points++;
	sum->n_samples += point->n_samples;
	sum->charge += point->charge_bytes.bytes * point->n_samples / 4096;
	sum->highest = point->charge_max_bytes.bytes > sum->highest ? point->charge_max_bytes.bytes : sum->highest;
	uint64_t room = (uint64_t)point->freeboard_min_bytes.bytes;
	sum->lowest_room = sum->lowest_room == 0 || room < sum->lowest_room ? room : sum->lowest_room;
	sum->owners = point->owners[0].bytes;
	return true;
}

static struct sum read_sum(struct fixture *f, unsigned agent, uint64_t step_ms)
{
	struct sum sum = { 0 };
	OK(store_each_point(f->store, f->agents[agent].row, (struct wall){ 0 }, (struct wall){ 0 }, step_ms, add_point,
			    &sum, err));
	return sum;
}

static void folds_and_rolls(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	run(f, 5 * HOUR_MS);
	struct sum rows = read_sum(f, 1, 0);
	assert_int_equal(rows.n_points, 1800);
	(void)keep_at(f, f->now_ms);
	check(f);
	struct sum folded = read_sum(f, 1, 0);
	assert_memory_equal(&rows, &folded, sizeof rows);
	assert_int_equal(count(f).n_samples, AGENTS * 1800);
	assert_int_equal(keep_at(f, f->now_ms), 1); /* nothing is left to do */

	run(f, HOUR_MS / 4); /* and on, beside what is folded */
	assert_int_equal(read_sum(f, 1, 0).n_points, 1890);

	/* The first four hours are due after 52, the rest stays. */
	(void)keep_at(f, START_MS + 52 * HOUR_MS);
	check(f);
	struct sum rolled = read_sum(f, 1, 0);
	assert_int_equal(rolled.n_samples, 1890);
	assert_int_equal(rolled.n_points, 240 + 450);
	assert_int_equal(count(f).n_samples, AGENTS * 450);
	assert_int_equal(count(f).n_rollups, AGENTS * 240);
	assert_true(rolled.highest >= rows.highest && rolled.lowest_room <= rows.lowest_room);
	/* A mean is cut to whole bytes, and here to pages: the sum is near. */
	uint64_t all = read_sum(f, 1, 3600000 * 8).charge;
	assert_true(rolled.charge / 10000 == all / 10000 || rolled.charge - all < all / 1000 ||
		    all - rolled.charge < all / 1000);
	(void)keep_at(f, START_MS + 30 * 24 * HOUR_MS + HOUR_MS);
	assert_int_equal(count(f).n_samples, 0);
	check(f);
	/* A roll-up goes 30 days after the last of its samples came. */
	(void)keep_at(f, START_MS + 30 * 24 * HOUR_MS + 8 * HOUR_MS);
	assert_int_equal(count(f).n_rollups, 0);
	assert_int_equal(read_sum(f, 1, 0).n_points, 0);
	assert_int_equal(count(f).n_agents, AGENTS); /* seen within the findings' retention */

	/* What comes after is numbered on and proved as before. */
	f->now_ms = START_MS + 31 * 24 * INT64_C(3600000);
	run(f, HOUR_MS);
	check(f);
	end(f);
}

/* The numbers of findings and gaps between samples do not stop a fold, and are proved until their samples are minutes. */
static void between(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	struct agent *a = &f->agents[0];
	run(f, HOUR_MS);
	uint64_t seq = a->epoch.acked;
	OK(store_begin(f->store, err));
	struct wire_finding finding = storekit_finding(seq + 1, "f", WIRE_OPENED);
	struct wire_gap gap = { .from = seq + 2, .to = seq + 20, .reason = "spool-full" };
	struct wall now = { f->now_ms };
	OK(store_finding(f->store, a->row, &a->epoch, &finding, STR("{}"), now, err));
	OK(store_gap(f->store, a->row, &a->epoch, &gap, now, err));
	OK(store_commit(f->store, err));
	a->sample.head.seq = seq + 21;
	run(f, 7 * HOUR_MS);
	(void)keep_at(f, f->now_ms);
	check(f);
	assert_int_equal(read_sum(f, 0, 0).n_samples, 8 * 360);
	(void)keep_at(f, START_MS + 60 * HOUR_MS);
	check(f);
	assert_int_equal(read_sum(f, 0, 0).n_samples, 8 * 360);
	assert_int_equal(read_sum(f, 0, 0).n_points, 8 * 60);
	assert_int_equal(count(f).n_gaps, 1);
	end(f);
}

static void expires(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	struct agent *a = &f->agents[0];
	struct wall now = { f->now_ms };
	uint8_t hash[32] = { 7 };
	char id[WIRE_NAME_CAP];
	OK(store_begin(f->store, err));
	for (uint64_t i = 1; i <= 250; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "f%d", (int)i);
		struct wire_finding finding = storekit_finding(i, name, i % 2 ? WIRE_OPENED : WIRE_CLEARED);
		OK(store_finding(f->store, a->row, &a->epoch, &finding, STR("{}"), now, err));
	}
	for (uint64_t i = 251; i <= 262; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "d%d", (int)i / 2);
		struct wire_postmortem death = storekit_death(i, name, i % 2 ? 0 : 1, 2, f->now_ms);
		OK(store_postmortem(f->store, a->row, &a->epoch, &death, STR("part"), now, err));
	}
	OK(store_token_put(f->store, hash, "x", (struct wall){ INT64_MAX }, err));
	OK(store_commit(f->store, err));
	assert_int_equal(count(f).n_findings, 250);
	assert_int_equal(count(f).n_postmortems, 7);
	(void)keep_at(f, START_MS + 364 * 24 * INT64_C(3600000));
	assert_int_equal(count(f).n_findings, 250);
	assert_int_equal(count(f).n_agents, AGENTS);
	(void)keep_at(f, START_MS + 366 * 24 * INT64_C(3600000));
	assert_int_equal(count(f).n_findings, 0);
	assert_int_equal(count(f).n_postmortems, 0);
	assert_int_equal(count(f).n_agents, 0);
	OK(store_token_get(f->store, hash, now, id, sizeof id, err));
	end(f);
}

/* Of too many tokens those stay that are good for longest. */
static void tokens_are_bounded(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	uint8_t hash[32] = { 0 };
	char id[WIRE_NAME_CAP];
	struct err why;
	OK(store_begin(f->store, err));
	for (uint32_t i = 0; i < STORE_TOKENS_MAX + 10; i++) {
		memcpy(hash, &i, sizeof i);
		OK(store_token_put(f->store, hash, "x", (struct wall){ f->now_ms + 3600000 + i }, err));
	}
	OK(store_commit(f->store, err));
	(void)keep_at(f, f->now_ms);
	for (uint32_t i = 0; i < 20; i++) {
		memcpy(hash, &i, sizeof i);
		int rc = store_token_get(f->store, hash, (struct wall){ f->now_ms }, id, sizeof id, &why);
		assert_int_equal(rc == 0, i >= 10);
	}
	end(f);
}

/* Past the cap the file stops growing: raw samples become minutes early, then minutes go, and a finding stays. */
static void cap(void **state)
{
	(void)state;
	const uint64_t bytes = (uint64_t)5 << 18; /* a tenth of it, less the empty tables, holds an hour */
	struct fixture *f = begin(&(struct store_options){ .disk_cap_bytes = bytes });
	struct agent *a = &f->agents[0];
	struct wire_finding finding = storekit_finding(1, "f", WIRE_OPENED);
	OK(store_begin(f->store, err));
	OK(store_finding(f->store, a->row, &a->epoch, &finding, STR("{}"), (struct wall){ f->now_ms }, err));
	OK(store_commit(f->store, err));
	a->sample.head.seq = 2;
	for (int hour = 0; hour < 60; hour++) {
		run(f, HOUR_MS);
		(void)keep_at(f, f->now_ms);
		struct store_counts counts = count(f);
		assert_true(counts.file_bytes + counts.wal_bytes <= bytes + ((uint64_t)5 << 20));
		assert_true(counts.used_bytes <= bytes);
	}
	check(f);
	struct store_counts counts = count(f);
	assert_true(counts.shed_samples_total > 0);
	assert_true(counts.n_rollups > 0);
	assert_int_equal(counts.n_findings, 1);
	assert_int_equal(counts.shed_others_total, 0);
	/* What is there is the newest. */
	assert_int_equal(read_sum(f, 0, 0).before_ms, f->now_ms - 10000);
	end(f);
}

/* Nothing keeps house: the cap itself refuses, and the same batch goes in when room was made. */
static void cap_refuses(void **state)
{
	(void)state;
	struct fixture *f = begin(&(struct store_options){ .disk_cap_bytes = (uint64_t)1 << 20 });
	struct err why = { 0 };
	int rc = 0;
	struct agent *a = &f->agents[0];
	for (int batch = 0; batch < 100 && rc == 0; batch++) {
		OK(store_begin(f->store, err));
		for (int i = 0; i < 360 && rc == 0; i++, f->now_ms += 10000) {
			rc = store_sample(f->store, a->row, &a->epoch, &a->sample, (struct wall){ f->now_ms }, &why);
			storekit_next(&f->prng, &a->sample, 10000);
		}
		rc = store_commit(f->store, &why);
	}
	assert_true(rc < 0);
	assert_int_equal(why.kind, ERR_LIMIT);
	struct store_counts before = count(f);
	assert_int_equal(before.failed_commits_total, 1);
	check(f);
	(void)keep_at(f, f->now_ms);
	OK(store_begin(f->store, err));
	OK(store_epoch(f->store, a->row, storekit_epoch(0), (struct wall){ f->now_ms }, &a->epoch, err));
	assert_int_equal(a->epoch.acked, before.n_samples);
	a->sample.head.seq = a->epoch.acked + 1;
	OK(store_sample(f->store, a->row, &a->epoch, &a->sample, (struct wall){ f->now_ms }, err));
	OK(store_commit(f->store, err));
	assert_int_equal(read_sum(f, 0, 0).n_samples, before.n_samples + 1);
	end(f);
}

/* Day after day the file stays as large as what it holds: pages are used again, and given back where many are free. */
static void no_growth(void **state)
{
	(void)state;
	const struct store_options options = { .raw_s = 3600, .rollup_s = 4 * 3600 };
	struct fixture *f = begin(&options);
	uint64_t early = 0;
	for (int round = 0; round < 30; round++) {
		run(f, 2 * HOUR_MS);
		(void)keep_at(f, f->now_ms);
		if (round == 8 || round == 29) { /* the WAL goes into the file */
			store_close(f->store);
			OK(store_open(f->scratch.path, &options, &f->store, err));
		}
		if (round == 8)
			early = count(f).file_bytes;
	}
	assert_true(count(f).file_bytes <= early + early / 8);
	end(f);
}

/* A call moves a bounded number of rows, and waits while a batch is open. */
static void in_steps(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	bool more = false;
	run(f, 24 * HOUR_MS);
	OK(store_begin(f->store, err));
	OK(store_keep(f->store, (struct wall){ f->now_ms }, &more, err));
	assert_true(more);
	OK(store_commit(f->store, err));
	unsigned n = keep_at(f, f->now_ms);
	assert_true(n >= 24 * 360 * AGENTS / (2000 + 180));
	end(f);
}

/* --- a clock that is wrong ------------------------------------------------------------------------ */

#define DAY_MS (24 * HOUR_MS)

/* As app.c does: once a minute, `n` times, while the clock on the wall is off by `off_ms`. */
static struct mono keep_house(struct fixture *f, struct mono mono, int64_t off_ms, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		mono.ns += 60 * UINT64_C(1000000000);
		f->now_ms += 60000;
		int64_t ahead_ms = store_age(f->store, mono, (struct wall){ f->now_ms + off_ms });
		assert_true(off_ms <= DAY_MS || ahead_ms > DAY_MS);
		assert_true(off_ms >= 0 || ahead_ms < -HOUR_MS);
		(void)keep_at(f, f->now_ms + off_ms);
	}
	return mono;
}

/* An hour of a clock that is a year ahead makes nothing a year old: at most what a day more would have taken goes. */
static void a_clock_that_is_ahead(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	struct agent *a = &f->agents[0];
	struct mono mono = { 1000 };
	OK(store_begin(f->store, err));
	struct wire_postmortem death = storekit_death(1, "d", 0, 1, f->now_ms);
	OK(store_postmortem(f->store, a->row, &a->epoch, &death, STR("part"), (struct wall){ f->now_ms }, err));
	OK(store_commit(f->store, err));
	a->sample.head.seq = 2;
	mono = keep_house(f, mono, 0, 1);
	run(f, 2 * HOUR_MS);
	uint64_t n_samples = read_sum(f, 0, 0).n_samples;
	mono = keep_house(f, mono, 0, 5);
	mono = keep_house(f, mono, 365 * DAY_MS, 30);
	assert_int_equal(read_sum(f, 0, 0).n_samples, n_samples);
	assert_int_equal(count(f).n_samples, AGENTS * n_samples); /* raw still */

	/* A restart under the wrong clock does not take it for the right one. */
	store_close(f->store);
	OK(store_open(f->scratch.path, NULL, &f->store, err));
	mono = keep_house(f, (struct mono){ 5 }, 365 * DAY_MS, 30);
	assert_int_equal(read_sum(f, 0, 0).n_samples, n_samples);
	assert_int_equal(count(f).n_postmortems, 1);
	assert_int_equal(count(f).n_agents, AGENTS);
	mono = keep_house(f, mono, 0, 60);
	assert_int_equal(read_sum(f, 0, 0).n_samples, n_samples);

	/* And time goes on: what is old goes in its time, or soon after. */
	f->now_ms += 40 * DAY_MS;
	mono = keep_house(f, mono, 0, 41 * 60);
	assert_int_equal(read_sum(f, 0, 0).n_samples, 0);
	assert_int_equal(count(f).n_postmortems, 1);
	check(f);
	end(f);
}

static bool add_one(void *context, const struct store_point *point)
{
	size_t *n = context;
	(void)point;
	++*n;
	return true;
}

/* Its times go back: no order is asked for. */
static size_t count_points(struct fixture *f)
{
	size_t n = 0;
	OK(store_each_point(f->store, f->agents[0].row, (struct wall){ 0 }, (struct wall){ 0 }, 0, add_one, &n, err));
	return n;
}

/* What comes under a clock that lost its battery is not old at once. */
static void received_in_1970(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	struct agent *a = &f->agents[0];
	struct mono mono = keep_house(f, (struct mono){ 1000 }, 0, 2);
	OK(store_begin(f->store, err));
	struct wire_postmortem death = storekit_death(1, "d", 0, 1, 5000);
	OK(store_postmortem(f->store, a->row, &a->epoch, &death, STR("part"), (struct wall){ 5000 }, err));
	struct wire_finding finding = storekit_finding(2, "f", WIRE_OPENED);
	OK(store_finding(f->store, a->row, &a->epoch, &finding, STR("{}"), (struct wall){ 5001 }, err));
	OK(store_commit(f->store, err));
	(void)keep_house(f, mono, 0, 90);
	assert_int_equal(count(f).n_postmortems, 1);
	assert_int_equal(count(f).n_findings, 1);
	check(f);
	end(f);
}

/* What came while the clock was ahead keeps nothing of what comes after it from growing old. */
static void and_goes_back(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	struct mono mono = keep_house(f, (struct mono){ 1000 }, 0, 1);
	run(f, HOUR_MS);
	f->now_ms += 365 * DAY_MS;
	run(f, HOUR_MS / 4);
	mono = keep_house(f, mono, 0, 5);
	f->now_ms -= 365 * DAY_MS;
	run(f, 2 * HOUR_MS);
	size_t n_points = count_points(f);
	mono = keep_house(f, mono, 0, 60);
	check(f);
	assert_int_equal(count_points(f), n_points);
	f->now_ms += 52 * HOUR_MS;
	mono = keep_house(f, mono, 0, 4 * 60);
	check(f);
	/* Minutes by now, but those that are a year young. */
	assert_in_range(count_points(f), 90 + 3 * 60, 90 + 3 * 60 + 5);
	end(f);
}

/* Before 1970 was left behind nothing is old; and nothing that was there is older for it. */
static void a_clock_of_1970(void **state)
{
	(void)state;
	struct fixture *f = begin(NULL);
	struct mono mono = keep_house(f, (struct mono){ 1000 }, 0, 1);
	run(f, 2 * HOUR_MS);
	uint64_t n_samples = read_sum(f, 0, 0).n_samples;
	mono = keep_house(f, mono, -f->now_ms, 30);
	mono = keep_house(f, mono, 0, 30);
	assert_int_equal(read_sum(f, 0, 0).n_samples, n_samples);
	assert_int_equal(count(f).n_samples, AGENTS * n_samples);
	check(f);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folds_and_rolls),  cmocka_unit_test(between),
		cmocka_unit_test(expires),          cmocka_unit_test(cap),
		cmocka_unit_test(cap_refuses),      cmocka_unit_test(no_growth),
		cmocka_unit_test(in_steps),         cmocka_unit_test(a_clock_that_is_ahead),
		cmocka_unit_test(received_in_1970), cmocka_unit_test(and_goes_back),
		cmocka_unit_test(a_clock_of_1970),  cmocka_unit_test(tokens_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
