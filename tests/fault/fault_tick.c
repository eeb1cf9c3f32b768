/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's tick with each call failing once, in turn: it goes on, what could not be read is unread, and the next tick
 * has everything again. And in steady state it allocates nothing; what a scan and a scrape allocate is counted.
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
#include "agent/expose.h"
#include "agent/sample.h"
#include "agent/scan.h"
#include "agent/slowtext.h"
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
	struct rule_input input = { .snapshot = snapshot, .ledger = ledger, .thresholds = &thresholds, .open = open };
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

/* What was asked of the allocator since fault_arm("alloc", 0), said for docs/agent.md. */
static uint64_t allocations(const char *what, uint64_t *ret_bytes)
{
	*ret_bytes = fault_bytes();
	uint64_t calls = fault_disarm();
	printf("# %s: %llu allocations, %llu KiB\n", what, (unsigned long long)calls,
	       (unsigned long long)*ret_bytes / 1024);
	return calls;
}

/* The snapshot is made anew, for the one before stays if that fails; but no text grows to its size by and by. */
static void a_scan_allocates_the_same_each_time(void **state)
{
	(void)state;
	open_it();
	uint64_t first = 0;
	for (int i = 0; i < 5; i++) {
		fault_arm("alloc", 0);
		assert_true(scan());
		uint64_t bytes, calls = allocations("a scan", &bytes);
		assert_in_range(calls, 1, 25);
		/* The text once, mappings and their names, the snapshot, a list of tmpfs. */
		assert_in_range(bytes, sizeof *snapshot, watch->smaps_len + 384 * 1024 + snapshot->vmas.n * 300);
		if (i > 0)
			assert_int_equal(calls, first);
		first = calls;
	}
	printf("# of %zu mappings\n", snapshot->vmas.n);
}

/* What the parent does when its child has asked the engine, by what was recorded of one. */
static void a_scrape_allocates_the_same_each_time(void **state)
{
	(void)state;
	struct evidence *recorded = malloc(sizeof *recorded);
	struct snapshot *of = NULL, *next = NULL;
	auto_buf struct buf text = { .cap = SLOW_CAP }, page = { .cap = 1 << 20 };
	struct err err = { 0 };
	evidence_init(recorded);
	assert_int_equal(evidence_load("tests/fixtures/flink120_rocksdb_g1_jdk17", recorded, &err), 0);
	assert_true(slowtext_encode(recorded, SLOW_ENGINE, &text));
	assert_true(text.len > 10000);
	assert_int_equal(build_run(recorded, &of, &err), 0);
	evidence_drop(recorded, "proc/smaps"); /* as a scan does */
	uint64_t first = 0;
	for (int i = 0; i < 3; i++) {
		fault_arm("alloc", 0);
		assert_int_equal(slowtext_merge(buf_str(&text), SLOW_ENGINE, recorded, &err), 0);
		assert_int_equal(build_again(recorded, of, &next, &err), 0);
		uint64_t bytes, calls = allocations("a scrape of the engine", &bytes);
		build_free(of);
		of = next;
		assert_in_range(calls, 1, 200);
		assert_in_range(bytes, text.len, 8 * text.len + 512 * 1024);
		if (i > 0)
			assert_int_equal(calls, first);
		first = calls;
	}
	printf("# of %zu KiB\n", text.len / 1024);
	recon_run(of, ledger);
	aged_keep(of, ledger, mark);
	static struct history_view view;
	static struct budget budget;
	static struct slow_counts slow;
	static struct outbox_counts outbox;
	static struct usage usage;
	const struct expose_input in = { .version = "0",
					 .snapshot = of,
					 .ledger = ledger,
					 .mark = mark,
					 .history = &view,
					 .standings = &standings,
					 .budget = &budget,
					 .slow = &slow,
					 .outbox = &outbox,
					 .usage = &usage };
	fault_arm("alloc", 0);
	assert_true(expose_metrics(&in, &page));
	uint64_t bytes, calls = allocations("a page of /metrics", &bytes);
	assert_in_range(calls, 1, 25);
	printf("# of %zu KiB\n", page.len / 1024);
	assert_in_range(bytes, page.len, 8 * page.len);
	build_free(of);
	evidence_done(recorded);
	free(recorded);
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
		cmocka_unit_test(a_scan_allocates_the_same_each_time),
		cmocka_unit_test(a_scrape_allocates_the_same_each_time),
		cmocka_unit_test(a_tick_survives_each_failing_read),
		cmocka_unit_test(a_scan_that_fails_leaves_the_books_of_before),
		cmocka_unit_test(opening_a_target_fails_whole_or_opens_it),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
