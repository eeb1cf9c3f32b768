/* SPDX-License-Identifier: Apache-2.0 */
/* One target kept open: a child that maps a file named libjvm.so stands for a JVM, a directory for its cgroup. */
#include "agent/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/build.h"
#include "support/fakejvm.h"

static struct scratch scratch;
static struct watch *watch;
static struct collect_options options;
static char cgroup[300];
static pid_t child;

static int set_up(void **state)
{
	(void)state;
	scratch = scratch_new();
	scratch_file(&scratch, "cg/memory.current", "1000\n");
	scratch_file(&scratch, "cg/memory.stat", "anon 400\nfile 100\n");
	scratch_file(&scratch, "cg/memory.max", "4096\n");
	scratch_file(&scratch, "cg/memory.events", "low 0\nhigh 0\nmax 3\noom 0\noom_kill 0\n");
	(void)snprintf(cgroup, sizeof cgroup, "%s/cg", scratch.path);
	options = (struct collect_options){ .cgroup_directory = cgroup };
	watch = malloc(sizeof *watch);
	watch_init(watch);
	watch->any_fs = true;
	child = fakejvm_start(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	watch_close(watch);
	free(watch);
	fakejvm_end(&child);
	scratch_done(&scratch);
	return 0;
}

static void open_it(void)
{
	struct err err = { 0 };
	if (watch_open(watch, &options, child, &err) < 0)
		fail_msg("%s", err.message);
}

static int read_it(void)
{
	struct err err = { 0 };
	int rc = watch_read(watch, &err);
	assert_int_equal(rc < 0, err.kind == ERR_GONE);
	return rc;
}

/* A snapshot of what was read now. build_free() it. */
static struct snapshot *snapshot_now(int64_t ms)
{
	struct err err = { 0 };
	struct snapshot *snapshot = NULL;
	struct refresh_text texts[WATCH_FILES_MAX];
	assert_int_equal(build_run(&watch->evidence, &snapshot, &err), 0);
	refresh_run(snapshot, (struct wall){ ms }, texts, watch_texts(watch, texts));
	return snapshot;
}

/* In place, as the kernel's files change: the descriptor stays the same. */
static void rewrite(const char *path, const char *text)
{
	int fd = openat(scratch.fd, path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

static void a_tick_reads_what_stands_there_now(void **state)
{
	(void)state;
	open_it();
	assert_int_equal(read_it(), 0);
	struct snapshot *s = snapshot_now(5);
	assert_int_equal(s->process.pid, child);
	assert_int_equal(s->taken.ms, 5);
	assert_int_equal(s->cgroup.current_bytes.bytes, 1000);
	assert_int_equal(s->cgroup.events.max.n, 3);
	assert_int_equal(s->cgroup.max.bytes, 4096);
	assert_true(s->process_read);
	assert_true(qty_known(s->host_memory_bytes));
	assert_null(snapshot_gap(s, "cgroup/memory.peak")); /* optional */
	assert_non_null(snapshot_gap(s, "cgroup/memory.high"));
	rewrite("cg/memory.current", "2000\n");
	rewrite("cg/memory.events", "low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\n");
	rewrite("cg/memory.stat", "nonsense");
	assert_int_equal(read_it(), 0);
	struct refresh_text texts[WATCH_FILES_MAX];
	size_t n = watch_texts(watch, texts), gaps = s->n_gaps;
	refresh_run(s, (struct wall){ 6 }, texts, n);
	assert_int_equal(s->cgroup.current_bytes.bytes, 2000);
	assert_int_equal(s->cgroup.events.oom_kill.n, 1);
	assert_false(qty_known(s->cgroup.stat.anon_bytes)); /* not the value before */
	assert_non_null(snapshot_gap(s, "cgroup/memory.stat"));
	assert_int_equal(s->n_gaps, gaps + 1); /* those of before are not told twice */
	build_free(s);
}

static void what_the_kernel_counts_wakes(void **state)
{
	(void)state;
	open_it();
	assert_true(watch->events_fd >= 0);
	struct pollfd events = { .fd = watch->events_fd, .events = POLLIN };
	assert_int_equal(poll(&events, 1, 0), 0);
	rewrite("cg/memory.current", "2000\n"); /* nobody asked for that */
	assert_int_equal(poll(&events, 1, 0), 0);
	rewrite("cg/memory.events", "low 0\nhigh 0\nmax 4\noom 0\noom_kill 0\n");
	assert_int_equal(poll(&events, 1, 10000), 1);
	watch_events_taken(watch);
	assert_int_equal(poll(&events, 1, 0), 0);
}

static void its_end_is_noticed_and_its_events_are_read(void **state)
{
	(void)state;
	open_it();
	assert_int_equal(read_it(), 0);
	rewrite("cg/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n");
	struct pollfd end = { .fd = watch->exit_fd, .events = POLLIN };
	assert_int_equal(poll(&end, 1, 0), 0);
	(void)kill(child, SIGKILL);
	assert_int_equal(poll(&end, 1, 10000), 1);
	/* A zombie already counts: its parent may never look. */
	assert_true(read_it() < 0);
	struct refresh_text texts[WATCH_FILES_MAX];
	size_t n = watch_texts(watch, texts);
	bool seen = false;
	for (size_t i = 0; i < n; i++)
		seen |= strcmp(texts[i].name, "cgroup/memory.events") == 0 && !texts[i].err &&
			str_has(texts[i].bytes, STR("oom_kill 1"));
	assert_true(seen);
	fakejvm_end(&child);
	assert_true(read_it() < 0);
}

static void another_program_in_the_same_process_is_another_target(void **state)
{
	(void)state;
	open_it();
	assert_int_equal(read_it(), 0);
	watch->target.start_stack++; /* as execve(2) would have moved it */
	assert_true(read_it() < 0);
}

static void what_is_no_jvm_is_not_opened(void **state)
{
	(void)state;
	struct err err = { 0 };
	assert_true(watch_open(watch, &options, getpid(), &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(watch->exit_fd, -1);
	assert_int_equal(watch->n_files, 0);
	err = (struct err){ 0 };
	fakejvm_end(&child);
	assert_true(watch_open(watch, &options, 0x3fffffff, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE);
}

static void a_missing_cgroup_costs_only_itself(void **state)
{
	(void)state;
	options.cgroup_directory = "/nowhere";
	open_it();
	assert_int_equal(read_it(), 0);
	struct snapshot *s = snapshot_now(1);
	assert_true(s->process_read);
	assert_non_null(snapshot_gap(s, "cgroup"));
	assert_false(qty_known(s->cgroup.current_bytes));
	build_free(s);
}

static int count_fds(void)
{
	int n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void opening_again_leaks_nothing(void **state)
{
	(void)state;
	int before = count_fds();
	for (int i = 0; i < 20; i++) {
		open_it();
		assert_int_equal(read_it(), 0);
	}
	watch_close(watch);
	assert_int_equal(count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tick_reads_what_stands_there_now, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_kernel_counts_wakes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_end_is_noticed_and_its_events_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_program_in_the_same_process_is_another_target, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_jvm_is_not_opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_missing_cgroup_costs_only_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(opening_again_leaks_nothing, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
