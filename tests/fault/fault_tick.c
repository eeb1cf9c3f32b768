/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's tick with each call failing once, in turn: it goes on, what could not be read is unread, and the next tick
 * has everything again. And in steady state it allocates nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/build.h"
#include "agent/sample.h"
#include "agent/scan.h"
#include "fault/fault.h"
#include "ledger/reconcile.h"
#include "rules/rules.h"
#include "rules/standing.h"

enum { MOST_CALLS = 5000 };

static pid_t target;
static char library[256], path[300];
static struct watch *watch;
static struct collect_options options;
static struct snapshot *snapshot;
static struct ledger *ledger;
static struct aged_mark *mark;
static struct verdict *verdict;
static struct standings standings;
static struct thresholds thresholds;

/* A process that maps a file named libjvm.so. */
static int set_up(void **state)
{
	(void)state;
	int ready[2];
	const char *base = getenv("TMPDIR");
	(void)snprintf(library, sizeof library, "%s/bankfull-fault-XXXXXX", base && base[0] ? base : "/tmp");
	assert_non_null(mkdtemp(library));
	(void)snprintf(path, sizeof path, "%s/libjvm.so", library);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, "not really", 10), 10);
	assert_int_equal(pipe(ready), 0);
	target = fork();
	if (target == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		(void)!write(ready[1], "r", 1);
		for (;;)
			(void)pause();
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	(void)close(fd);
	watch = malloc(sizeof *watch);
	ledger = calloc(1, sizeof *ledger);
	mark = calloc(1, sizeof *mark);
	verdict = calloc(1, sizeof *verdict);
	thresholds_init(&thresholds);
	options.limit = limit_set(1 << 30);
	watch_init(watch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	build_free(snapshot);
	watch_close(watch);
	free(watch);
	free(ledger);
	free(mark);
	free(verdict);
	(void)kill(target, SIGKILL);
	(void)waitpid(target, NULL, 0);
	(void)unlink(path);
	(void)rmdir(library);
	return 0;
}

static int open_descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* As agent_tick.c does it, but for history and outbox. False: the target was not read. */
static bool tick(uint64_t second)
{
	struct err err = { 0 };
	struct refresh_text texts[WATCH_FILES_MAX];
	enum severity open[FINDINGS_MAX];
	enum standing_edge edges[FINDINGS_MAX];
	struct wire_sample sample;
	if (watch_read(watch, &err) < 0)
		return false;
	refresh_run(snapshot, (struct wall){ (int64_t)second * 1000 }, texts, watch_texts(watch, texts));
	recon_run(snapshot, ledger);
	aged_apply(mark, snapshot, 1000, ledger);
	standing_open(&standings, open);
	struct rule_input input = { snapshot, ledger, &thresholds, NULL, open, NULL };
	rules_run(&input, verdict);
	standing_step(&standings, verdict, (struct mono){ second * 1000000000 }, edges);
	struct sample_input in = { .snapshot = snapshot, .ledger = ledger, .mark = mark, .with_composition = true };
	sample_make(&in, &sample);
	return true;
}

static bool scan(void)
{
	struct err err = { 0 };
	struct budget_walk walk;
	struct snapshot *built = NULL;
	if (scan_run(watch, &built, &walk, &err) < 0) {
		assert_null(built);
		assert_true(err.kind != ERR_NONE);
		return false;
	}
	build_free(snapshot);
	snapshot = built;
	recon_run(snapshot, ledger);
	aged_keep(snapshot, ledger, mark);
	return true;
}

static void open_it(void)
{
	struct err err = { 0 };
	if (watch_open(watch, &options, target, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(scan());
	assert_true(tick(1));
}

static void a_tick_allocates_nothing(void **state)
{
	(void)state;
	open_it();
	assert_true(tick(2));
	fault_arm("alloc", 0);
	for (uint64_t second = 3; second < 13; second++)
		assert_true(tick(second));
	assert_int_equal(fault_disarm(), 0);
}

static void a_tick_survives_each_failing_read(void **state)
{
	(void)state;
	open_it();
	fault_arm("read", 0);
	assert_true(tick(2));
	uint64_t calls = fault_disarm();
	assert_in_range(calls, 5, MOST_CALLS);
	unsigned unread = 0;
	for (uint64_t nth = 1; nth <= calls; nth++) {
		fault_arm("read", nth);
		assert_true(tick(2 + nth));
		(void)fault_disarm();
		unread += !snapshot->process_read || !qty_known(snapshot->host_memory_bytes);
		/* The books stand, and the next tick has everything again. */
		assert_true(mark->known);
		assert_true(tick(3 + nth));
		assert_true(snapshot->process_read);
		assert_true(qty_known(snapshot->host_memory_bytes));
		assert_null(snapshot_gap(snapshot, "proc/status"));
	}
	assert_true(unread > 0); /* they did fail */
}

static void a_scan_that_fails_leaves_the_books_of_before(void **state)
{
	(void)state;
	static const char *const kinds[] = { "alloc", "open", "read", "stat" };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		open_it();
		fault_arm(kinds[i], 0);
		assert_true(scan());
		uint64_t calls = fault_disarm();
		assert_in_range(calls, 1, MOST_CALLS);
		int before = open_descriptors();
		for (uint64_t nth = 1; nth <= calls; nth++) {
			fault_arm(kinds[i], nth);
			(void)scan();
			(void)fault_disarm();
			assert_true(tick(nth));
			assert_int_equal(open_descriptors(), before);
		}
		assert_true(scan());
		assert_non_null(snapshot);
		assert_true(snapshot->vmas_read);
	}
}

static void opening_a_target_fails_whole_or_opens_it(void **state)
{
	(void)state;
	static const char *const kinds[] = { "alloc", "open", "read", "stat" };
	struct err err = { 0 };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		watch_close(watch);
		int before = open_descriptors();
		fault_arm(kinds[i], 0);
		assert_int_equal(watch_open(watch, &options, target, &err), 0);
		uint64_t calls = fault_disarm();
		assert_in_range(calls, 1, MOST_CALLS);
		for (uint64_t nth = 1; nth <= calls; nth++) {
			err = (struct err){ 0 };
			fault_arm(kinds[i], nth);
			int rc = watch_open(watch, &options, target, &err);
			(void)fault_disarm();
			assert_int_equal(rc < 0, err.kind != ERR_NONE);
			if (rc == 0) {
				assert_int_equal(watch_read(watch, &err), 0);
				watch_close(watch);
			}
			assert_int_equal(open_descriptors(), before);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_allocates_nothing),
		cmocka_unit_test(a_tick_survives_each_failing_read),
		cmocka_unit_test(a_scan_that_fails_leaves_the_books_of_before),
		cmocka_unit_test(opening_a_target_fails_whole_or_opens_it),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
