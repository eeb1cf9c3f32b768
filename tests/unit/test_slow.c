/* SPDX-License-Identifier: Apache-2.0 */
/* Readings by a child beside a real event loop: one that answers, one whose target is gone, one that hangs. */
#include "agent/slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/stat.h"
#include "support/fakejvm.h"
#include "sys/proc.h"

static struct scratch scratch;
static struct loop *loop;
static struct slow *slow;
static pid_t target;
static struct collect_options options;
static struct process_id id;

static struct {
	unsigned calls, what;
	int rc;
	struct err err;
	struct buf text;
} got;

static void done(void *context, unsigned what, int rc, struct str text, const struct err *err)
{
	(void)context;
	got.calls++;
	got.what = what;
	got.rc = rc;
	got.err = *err;
	buf_clear(&got.text);
	assert_true(buf_add(&got.text, text));
	loop_stop(loop);
}

static void start_target(void)
{
	target = fakejvm_start(&scratch);
	struct err err = { 0 };
	auto_close int proc = -1, dir = -1;
	assert_int_equal(proc_root_open("/proc", &proc, &err), 0);
	assert_int_equal(proc_open(proc, target, &dir, &err), 0);
	assert_int_equal(procid_read(dir, &id, &err), 0);
}

static int set_up(void **state)
{
	(void)state;
	struct err err = { 0 };
	memset(&got, 0, sizeof got);
	got.text.cap = 1 << 20;
	scratch = scratch_new();
	start_target();
	options = (struct collect_options){ .pid = target, .no_attach = true, .http_timeout_ms = 60000 };
	assert_int_equal(loop_new(LOOP_POLL, NULL, NULL, &loop, &err), 0);
	assert_int_equal(slow_new(loop, done, NULL, &slow, &err), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	slow_free(slow);
	loop_free(loop);
	fakejvm_end(&target);
	/* No child of a reading is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	buf_done(&got.text);
	scratch_done(&scratch);
	return 0;
}

static void run(void)
{
	struct err err = { 0 };
	assert_int_equal(loop_run(loop, &err), 0);
}

static void a_reading_brings_its_text(void **state)
{
	(void)state;
	options.no_metrics = true;
	assert_true(slow_start(slow, &options, &id, SLOW_ENGINE));
	assert_true(slow_runs(slow));
	assert_false(slow_start(slow, &options, &id, SLOW_JVM)); /* one at a time */
	run();
	assert_int_equal(got.calls, 1);
	assert_int_equal(got.what, SLOW_ENGINE);
	assert_int_equal(got.rc, 0);
	assert_non_null(strstr(got.text.ptr, "gap http/metrics unsupported metrics switched off"));
	assert_false(slow_runs(slow));
	/* And the next one. */
	assert_true(slow_start(slow, &options, &id, SLOW_JVM));
	run();
	assert_int_equal(got.calls, 2);
	assert_non_null(strstr(got.text.ptr, "gap jvm/attach unsupported"));
	assert_int_equal(slow_count(slow)->started_total, 2);
	assert_int_equal(slow_count(slow)->failed_total, 0);
}

/* Its number is another's by now. */
static void another_process_is_not_asked(void **state)
{
	(void)state;
	id.start_ticks++;
	assert_true(slow_start(slow, &options, &id, SLOW_ENGINE));
	run();
	assert_int_equal(got.rc < 0, 1);
	assert_int_equal(got.err.kind, ERR_GONE);
	assert_int_equal(slow_count(slow)->failed_total, 1);
}

static void stop_now(void *context)
{
	(void)context;
	loop_stop(loop);
}

/* A listener that never answers: the loop turns meanwhile, and the child can be ended. */
static void what_hangs_holds_up_nothing(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	char url[64];
	auto_close int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%d/metrics", ntohs(address.sin_port));
	options.metrics_urls[0] = url;
	options.n_metrics_urls = 1;
	assert_true(slow_start(slow, &options, &id, SLOW_ENGINE));
	struct loop_timer *timer;
	assert_int_equal(loop_timer_new(loop, stop_now, NULL, &timer, &err), 0);
	loop_timer_set(timer, 100);
	run();
	assert_int_equal(got.calls, 0);
	assert_true(slow_runs(slow));
	slow_stop(slow);
	assert_false(slow_runs(slow));
	loop_timer_set(timer, 20);
	run();
	assert_int_equal(got.calls, 0); /* who stops it does not want to hear of it */
	loop_timer_free(timer);
}

static void both_sources_at_once_are_merged(void **state)
{
	(void)state;
	options.no_metrics = true;
	struct err err = { 0 };
	struct str nothing = STR("");
	assert_true(slow_start(slow, &options, &id, SLOW_ENGINE | SLOW_JVM));
	run();
	assert_int_equal(got.rc, 0);
	/* What a reading is made of is refused whole when it is cut: see test_slowtext. */
	auto_free struct evidence *into = malloc(sizeof *into);
	evidence_init(into);
	assert_true(slowtext_merge(nothing, got.what, into, &err) < 0);
	assert_int_equal(slowtext_merge(buf_str(&got.text), got.what, into, &err), 0);
	assert_non_null(evidence_find(into, "jvm/attach"));
	evidence_done(into);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reading_brings_its_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_process_is_not_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_hangs_holds_up_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(both_sources_at_once_are_merged, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
