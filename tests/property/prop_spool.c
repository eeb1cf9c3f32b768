/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 300 */
/* Nothing is lost: every number is acked, waits in order as it was put, or stands in a declared gap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "agent/spool.h"
#include "support/prng.h"
#include "support/scratch.h"

enum { RUNS = 12, STEPS = 1500, BYTES = 1 << 18, KEYS = 4 };

struct model {
	struct prng *prng;
	struct scratch scratch;
	char dir[300];
	struct spool *spool;
	unsigned starts;
	uint64_t ms;
	bool broken;                       /* writes fail */
	uint64_t last[SPOOL_EPOCHS_MAX];   /* by start: the last number given */
	uint64_t open[KEYS], latest[KEYS]; /* of the live start: numbers of the open edge and the latest update */
};

static struct mono now(const struct model *m)
{
	return (struct mono){ 1000000000 + m->ms * 1000000 };
}

static void disk_fails(struct model *m, bool fails)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = fails ? 1000 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	m->broken = fails;
}

static struct spool_epoch *live(struct model *m)
{
	return spool_at(m->spool, spool_n(m->spool) - 1);
}

static void start(struct model *m)
{
	struct err err = { 0 };
	struct wire_epoch epoch = { { (uint8_t)(m->starts >> 8), (uint8_t)m->starts } };
	const struct spool_options options = { .dir = m->dir, .bytes = BYTES, .memory_bytes = BYTES, .epoch = epoch };
	assert_int_equal(spool_new(&options, now(m), &m->spool, &err), 0);
	memset(m->open, 0, sizeof m->open);
	memset(m->latest, 0, sizeof m->latest);
	m->starts++;
}

static void text_of(struct buf *text, unsigned start, uint64_t seq)
{
	buf_printf(text, "%u.%llu:", start, (unsigned long long)seq);
	for (uint64_t i = (seq * 7919) % 900; i; i--)
		buf_putc(text, (char)('a' + (seq + i) % 26));
}

static void put(struct model *m)
{
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	struct spool_record record = { .kind = SPOOL_SAMPLE };
	uint64_t seq = spool_next(live(m)), key = prng_below(m->prng, KEYS);
	if (prng_one_in(m->prng, 8)) {
		record = (struct spool_record){ .kind = SPOOL_FINDING, .key = key };
		record.edge = m->open[key] ? WIRE_UPDATED : WIRE_OPENED;
		*(m->open[key] ? &m->latest[key] : &m->open[key]) = seq;
	}
	text_of(&text, m->starts - 1, seq);
	spool_put(m->spool, now(m), &record, buf_str(&text));
	assert_int_equal(record.seq, seq);
	m->last[m->starts - 1] = seq;
}

static void check_epoch(struct model *m, struct spool_epoch *epoch)
{
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	unsigned which = (unsigned)epoch->epoch.bytes[0] << 8 | epoch->epoch.bytes[1];
	struct spool_item item = { .to = epoch->index.acked };
	uint64_t next = epoch->index.acked + 1;
	bool is_live = epoch == live(m);
	while (spool_get(m->spool, epoch, item.to, &item, &text)) {
		assert_int_equal(item.seq, next);
		next = item.to + 1;
		if (item.kind == SPOOL_GAP)
			continue;
		auto_buf struct buf want = { .cap = SPOOL_TEXT_MAX };
		text_of(&want, which, item.seq);
		assert_true(str_eq(buf_str(&text), buf_str(&want)));
	}
	assert_int_equal(next, epoch->index.last + 1);
	if (is_live)
		assert_int_equal(epoch->index.last, m->last[which]);
	else
		assert_true(epoch->index.last <= m->last[which]);
	/* Findings are state: neither open edge nor latest update is ever given up for samples. */
	for (size_t key = 0; is_live && key < KEYS; key++) {
		const uint64_t wanted[2] = { m->open[key], m->latest[key] };
		for (int i = 0; i < 2; i++) {
			if (wanted[i] <= epoch->index.acked)
				continue;
			assert_true(spool_get(m->spool, epoch, wanted[i] - 1, &item, &text));
			assert_int_equal(item.kind, SPOOL_FINDING);
		}
	}
}

static void check(struct model *m)
{
	struct spool_counts counts;
	uint64_t bytes = 0;
	for (size_t i = 0; i < spool_n(m->spool); i++) {
		check_epoch(m, spool_at(m->spool, i));
		bytes += spool_at(m->spool, i)->file.end;
	}
	spool_count(m->spool, &counts);
	assert_true(bytes <= BYTES / 2);
	assert_true(counts.disk_bytes <= BYTES); /* with what is being written anew */
	assert_true(counts.memory_bytes <= BYTES);
}

/* A stop or a kill: what was on the disk must be there again, to its last number. */
static void restart(struct model *m)
{
	struct spool_counts counts;
	struct wire_epoch old = live(m)->epoch;
	uint64_t last = live(m)->index.last;
	bool waited = live(m)->index.n > 0;
	spool_count(m->spool, &counts);
	spool_free(m->spool);
	if (m->broken)
		disk_fails(m, false);
	start(m);
	if (!counts.on_disk || !waited)
		return;
	struct spool_epoch *again = spool_find(m->spool, old);
	assert_non_null(again);
	assert_int_equal(again->index.last, last);
}

static void step(struct model *m)
{
	struct spool_epoch *epoch = spool_at(m->spool, prng_below(m->prng, spool_n(m->spool)));
	char command[400];
	m->ms += prng_below(m->prng, 3000);
	switch (prng_below(m->prng, 40)) {
	case 0:
	case 1:
	case 2:
		spool_ack(m->spool, epoch, epoch->index.acked + prng_below(m->prng, 40));
		break;
	case 3:
		if (prng_one_in(m->prng, 4) && m->starts < 200)
			restart(m);
		break;
	case 4:
		if (prng_one_in(m->prng, 3))
			disk_fails(m, !m->broken);
		break;
	case 5:
		if (!prng_one_in(m->prng, 6))
			break;
		(void)snprintf(command, sizeof command, "rm -rf '%s'", m->dir);
		assert_int_equal(system(command), 0);
		put(m); /* which makes it again */
		break;
	case 7:
		spool_tend(m->spool, now(m));
		break;
	case 6:
		if (epoch->index.n && prng_one_in(m->prng, 5) && epoch != live(m))
			spool_refuse(m->spool, epoch, epoch->index.last, SPOOL_UNWRITABLE);
		break;
	default:
		put(m);
		break;
	}
}

static void nothing_is_lost(void **state)
{
	(void)state;
	struct prng prng = prng_start("nothing_is_lost");
	(void)signal(SIGXFSZ, SIG_IGN);
	for (int run = 0; run < RUNS; run++) {
		struct model *m = calloc(1, sizeof *m);
		assert_non_null(m);
		m->prng = &prng;
		m->scratch = scratch_new();
		(void)snprintf(m->dir, sizeof m->dir, "%s/s", m->scratch.path);
		start(m);
		for (int i = 0; i < STEPS; i++) {
			step(m);
			if (i % 10 == 0)
				check(m);
		}
		disk_fails(m, false);
		check(m);
		spool_free(m->spool);
		scratch_done(&m->scratch);
		free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_lost) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
