/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 180 */
/*
 * kill -9 at any moment: what a writer said was committed is there, each number proved, and the next writer goes on from
 * what the store says. The writer also keeps house, so that folds and roll-ups are cut through as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/store_read.h"
#include "support/scratch.h"
#include "support/storekit.h"

enum { ROUNDS = 60, AGENTS = 4, BATCH = 25 };

/* What a writer says after each commit. */
struct said {
	uint64_t acked[AGENTS], deaths;
};

static void put_batch(struct store *store, const int64_t *agents, struct store_epoch *epochs, struct said *said,
		      struct prng *prng, int64_t now_ms, struct err *err)
{
	for (unsigned i = 0; i < AGENTS; i++) {
		for (unsigned n = 0; n < BATCH; n++) {
			struct wire_sample sample = storekit_sample(i);
			struct wall received = { now_ms + n * 10000 };
			uint64_t seq = epochs[i].acked + 1;
			int rc = 0;
			char id[32];
			sample.head.seq = seq;
			(void)snprintf(id, sizeof id, "%u-%llu", i, (unsigned long long)seq);
			if (prng_one_in(prng, 20)) {
				struct wire_gap gap = { .from = seq,
							.to = seq + prng_below(prng, 9),
							.reason = "spool-full" };
				rc = store_gap(store, agents[i], &epochs[i], &gap, received, err);
			} else if (prng_one_in(prng, 20)) {
				struct wire_finding finding = storekit_finding(seq, id, WIRE_OPENED);
				rc = store_finding(store, agents[i], &epochs[i], &finding, STR("{}"), received, err);
			} else if (prng_one_in(prng, 40)) {
				struct wire_postmortem death = storekit_death(seq, id, 0, 1, received.ms);
				rc = store_postmortem(store, agents[i], &epochs[i], &death, STR("{}"), received, err);
				said->deaths++;
			} else {
				rc = store_sample(store, agents[i], &epochs[i], &sample, received, err);
			}
			if (rc < 0)
				_exit(3);
		}
		said->acked[i] = epochs[i].acked;
	}
}

/* Never ends by itself. Time runs fast, so that half hours fill and grow old within a round. */
static void write_for_ever(const char *directory, int pipe_fd, uint64_t seed)
{
	const struct store_options options = { .raw_s = 3600, .rollup_s = 24 * 3600 };
	struct store *store;
	struct store_epoch epochs[AGENTS];
	int64_t agents[AGENTS], now_ms = 1700000000000 + (int64_t)seed * 7200000;
	struct prng prng = { seed };
	struct said said = { { 0 }, 0 };
	struct store_counts counts;
	struct err err;
	if (store_open(directory, &options, &store, &err) < 0 || store_begin(store, &err) < 0)
		_exit(2);
	for (unsigned i = 0; i < AGENTS; i++) {
		struct wire_hello hello = storekit_hello(i);
		if (store_agent(store, hello.subject.pod, &hello, (struct wall){ now_ms }, &agents[i], &err) < 0 ||
		    store_epoch(store, agents[i], storekit_epoch(i), (struct wall){ now_ms }, &epochs[i], &err) < 0)
			_exit(2);
	}
	if (store_commit(store, &err) < 0 || store_count(store, &counts, &err) < 0)
		_exit(2);
	said.deaths = counts.n_postmortems;
	for (;; now_ms += BATCH * 10000) {
		bool more;
		if (store_begin(store, &err) < 0)
			_exit(4);
		put_batch(store, agents, epochs, &said, &prng, now_ms, &err);
		if (store_commit(store, &err) < 0)
			_exit(5);
		if (write(pipe_fd, &said, sizeof said) != (ssize_t)sizeof said)
			_exit(6);
		if (store_keep(store, (struct wall){ now_ms }, &more, &err) < 0)
			_exit(7);
	}
}

/* Reads until the writer is dead; it is killed `after_us` after its first word, so that it never dies before its work. */
static bool last_word(int fd, pid_t child, uint64_t after_us, struct said *ret_said)
{
	struct said said;
	bool any = false;
	while (read(fd, &said, sizeof said) == (ssize_t)sizeof said) {
		*ret_said = said;
		if (!any) {
			struct timespec pause = { 0, (long)after_us * 1000 };
			(void)nanosleep(&pause, NULL);
			assert_int_equal(kill(child, SIGKILL), 0);
		}
		any = true;
	}
	return any;
}

static void verify(const char *directory, const struct said *said)
{
	auto_buf struct buf report = { .cap = 65536 };
	struct err err = { 0 };
	struct store *store;
	struct store_counts counts;
	if (store_check(directory, &report, &err) < 0)
		fail_msg("%s\n%s", err.message, buf_str(&report).ptr);
	assert_int_equal(store_open(directory, NULL, &store, &err), 0);
	assert_int_equal(store_begin(store, &err), 0);
	for (unsigned i = 0; i < AGENTS; i++) {
		struct wire_hello hello = storekit_hello(i);
		int64_t agent;
		struct store_epoch epoch;
		assert_int_equal(store_agent(store, hello.subject.pod, &hello, (struct wall){ 1 }, &agent, &err), 0);
		assert_int_equal(store_epoch(store, agent, storekit_epoch(i), (struct wall){ 1 }, &epoch, &err), 0);
		assert_true(epoch.acked >= said->acked[i]);
	}
	store_rollback(store);
	assert_int_equal(store_count(store, &counts, &err), 0);
	assert_true(counts.n_postmortems >= said->deaths);
	store_close(store);
}

static void killed(void **state)
{
	(void)state;
	struct prng prng = prng_start("killed");
	struct scratch scratch = scratch_new();
	struct said said = { { 0 }, 0 };
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		int fds[2], status;
		assert_int_equal(pipe(fds), 0);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			close(fds[0]);
			write_for_ever(scratch.path, fds[1], round);
		}
		close(fds[1]);
		assert_true(last_word(fds[0], child, prng_below(&prng, 60000), &said));
		close(fds[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		verify(scratch.path, &said);
	}
	(void)printf("# acked at the end: %llu\n", (unsigned long long)said.acked[0]);
	assert_true(said.acked[0] > ROUNDS * BATCH);
	scratch_done(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(killed) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
