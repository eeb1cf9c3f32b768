/* SPDX-License-Identifier: Apache-2.0 */
/* Node mode's look at a node, which is a directory of the test's own: who is found, what its pod is called, who is looked at again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/nodescan.h"
#include "support/scratch.h"

#define UID   "11111111-2222-3333-4444-555555555555"
#define ID    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define POD   "0::/kubepods/burstable/pod" UID "/" ID "\n"
#define FLINK "java\0-Xmx1g\0org.apache.flink.runtime.taskexecutor.TaskManagerRunner\0"
#define PLAIN "java\0-jar\0shop.jar\0"
#define SHELL "/bin/sh\0-c\0sleep 1; exec java\0"

enum { OLD = 1 };

static struct scratch scratch;
static struct nodescan scan;
static char logs[300];
static const struct mono start = { UINT64_C(9000000000000) };

static int set_up(void **state)
{
	char proc[300];
	struct err err = { 0 };
	(void)state;
	scratch = scratch_new();
	scratch_dir(&scratch, "proc");
	scratch_dir(&scratch, "log/pods");
	scratch_dir(&scratch, "log/containers");
	(void)snprintf(proc, sizeof proc, "%s/proc", scratch.path);
	(void)snprintf(logs, sizeof logs, "%s/log", scratch.path);
	if (nodescan_init(&scan, proc, logs, &err) < 0)
		fail_msg("%s", err.message);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nodescan_done(&scan);
	scratch_done(&scratch);
	return 0;
}

/* Now, in the kernel's ticks since boot. */
static uint64_t young(void)
{
	struct timespec now;
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &now), 0);
	return (uint64_t)now.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK);
}

static void put(int pid, const char *name, const char *text)
{
	char path[64];
	(void)snprintf(path, sizeof path, "proc/%d/%s", pid, name);
	scratch_file(&scratch, path, text);
}

/* A command line has zeros. */
static void put_cmdline(int pid, const char *bytes, size_t len)
{
	char path[400];
	put(pid, "cmdline", "");
	(void)snprintf(path, sizeof path, "%s/proc/%d/cmdline", scratch.path, pid);
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	(void)close(fd);
}

static void put_stat(int pid, uint64_t start_ticks)
{
	char text[300];
	(void)snprintf(
		text, sizeof text,
		"%d (java) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, (unsigned long long)start_ticks);
	put(pid, "stat", text);
}

#define PROCESS(pid, ticks, cmdline, cgroup, jvm) process(pid, ticks, cmdline, sizeof(cmdline) - 1, cgroup, jvm)
static void process(int pid, uint64_t ticks, const char *cmdline, size_t len, const char *cgroup, bool jvm)
{
	put_stat(pid, ticks);
	put_cmdline(pid, cmdline, len);
	put(pid, "cgroup", cgroup);
	put(pid, "maps",
	    jvm ? "7f0000000000-7f0000001000 r-xp 00000000 08:01 12     /opt/java/lib/server/libjvm.so\n"
		: "7f0000000000-7f0000001000 r-xp 00000000 08:01 12     /usr/bin/dash\n");
}

static void look(uint64_t after_ms)
{
	struct err err = { 0 };
	if (nodescan_run(&scan, mono_add_ms(start, after_ms), &err) < 0)
		fail_msg("%s", err.message);
}

static void who_is_found(void **state)
{
	(void)state;
	PROCESS(10, OLD, FLINK, POD, true);
	PROCESS(11, OLD, PLAIN, POD, true);                                /* no engine */
	PROCESS(12, OLD, FLINK, "0::/system.slice/flink.service\n", true); /* in no pod */
	PROCESS(13, OLD, SHELL, POD, false);                               /* no JVM */
	PROCESS(14, OLD, "", POD, false);                                  /* a kernel's thread, or a zombie */
	scratch_dir(&scratch, "proc/15");                                  /* gone while it is looked at */
	scratch_dir(&scratch, "proc/sys");
	look(0);
	assert_int_equal(scan.processes, 6);
	assert_int_equal(scan.looks_total, 1);
	assert_int_equal(scan.looked_total, 6);
	assert_int_equal(scan.n_jvms, 1);
	assert_int_equal(scan.jvms_left_out, 0);
	assert_int_equal(scan.jvms[0].id.pid, 10);
	assert_int_equal(scan.jvms[0].id.start_ticks, OLD);
	assert_string_equal(scan.jvms[0].pod.pod_uid, UID);
	assert_string_equal(scan.jvms[0].pod.container_id, ID);
	assert_int_equal(scan.jvms[0].pod.qos, POD_QOS_BURSTABLE);
}

/* Kubelet makes the link to a container's log after its start; a pod's directory is there before. */
static void what_it_is_called(void **state)
{
	(void)state;
	PROCESS(10, OLD, FLINK, POD, true);
	look(0);
	assert_string_equal(scan.jvms[0].pod.namespace_, "");
	assert_string_equal(scan.jvms[0].pod.container, "");
	scratch_dir(&scratch, "log/pods/fraud_tm-1_" UID);
	look(5000);
	assert_string_equal(scan.jvms[0].pod.namespace_, "fraud");
	assert_string_equal(scan.jvms[0].pod.pod, "tm-1");
	assert_string_equal(scan.jvms[0].pod.container, "");
	scratch_link(&scratch, "log/containers/tm-1_fraud_main-" ID ".log", "/elsewhere");
	look(10000);
	assert_string_equal(scan.jvms[0].pod.container, "main");
	uint64_t looked = scan.looked_total;
	look(15000); /* all is known: it is not looked at any more */
	assert_int_equal(scan.looked_total, looked);
	assert_int_equal(scan.n_jvms, 1);
	assert_string_equal(scan.jvms[0].pod.container, "main");
}

static void by_its_host_name(void **state)
{
	static const struct {
		const char *net, *hostname, *pod;
	} cases[] = {
		{ "net:[7]", "tm-1\n", "tm-1" },     { "net:[1]", "worker-3\n", "" }, /* of the node's own network */
		{ "net:[7]", "tm 1\x1b[31m\n", "" }, { "net:[7]", "\n", "" },         { "net:[7]", NULL, "" },
	};
	(void)state;
	PROCESS(1, OLD, "/sbin/init\0", "0::/init.scope\n", false);
	scratch_link(&scratch, "proc/1/ns/net", "net:[1]");
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[64];
		int pid = 10 + (int)i;
		PROCESS(pid, OLD, FLINK, POD, true);
		(void)snprintf(path, sizeof path, "proc/%d/ns/net", pid);
		scratch_link(&scratch, path, cases[i].net);
		if (cases[i].hostname)
			put(pid, "root/etc/hostname", cases[i].hostname);
	}
	look(0);
	assert_int_equal(scan.n_jvms, sizeof cases / sizeof cases[0]);
	for (unsigned i = 0; i < scan.n_jvms; i++)
		assert_string_equal(scan.jvms[i].pod.pod, cases[i].pod);
}

/* Its first minute each time, then once a minute. */
static void who_is_looked_at_again(void **state)
{
	(void)state;
	PROCESS(10, OLD, SHELL, POD, false);
	PROCESS(11, young(), SHELL, POD, false);
	look(0);
	assert_int_equal(scan.looked_total, 2);
	look(5000);
	assert_int_equal(scan.looked_total, 3); /* the young one */
	/* execve(2) keeps pid and start. */
	PROCESS(11, young(), FLINK, POD, true);
	PROCESS(10, OLD, FLINK, POD, true);
	look(10000);
	assert_int_equal(scan.n_jvms, 1);
	assert_int_equal(scan.jvms[0].id.pid, 11);
	look(NODE_LOOK_AGAIN_MS);
	assert_int_equal(scan.n_jvms, 2);
	assert_int_equal(scan.jvms[0].id.pid, 10);
	assert_int_equal(scan.jvms[1].id.pid, 11);
}

static void who_is_gone(void **state)
{
	(void)state;
	PROCESS(10, OLD, FLINK, POD, true);
	PROCESS(20, OLD, FLINK, POD, true);
	look(0);
	assert_int_equal(scan.n_jvms, 2);
	/* The pid is another process's now; the other has gone. */
	PROCESS(10, OLD + 5, SHELL, POD, false);
	char from[400], to[400];
	(void)snprintf(from, sizeof from, "%s/proc/20", scratch.path);
	(void)snprintf(to, sizeof to, "%s/gone", scratch.path);
	assert_int_equal(rename(from, to), 0);
	look(5000);
	assert_int_equal(scan.n_jvms, 0);
	assert_int_equal(scan.processes, 1);
}

static void too_many(void **state)
{
	(void)state;
	for (int i = 0; i < NODE_JVMS_MAX + 3; i++)
		PROCESS(100 + i, OLD, FLINK, POD, true);
	look(0);
	assert_int_equal(scan.n_jvms, NODE_JVMS_MAX);
	assert_int_equal(scan.jvms_left_out, 3);
	look(5000);
	assert_int_equal(scan.jvms_left_out, 3);
}

static void no_proc(void **state)
{
	struct nodescan other;
	struct err err = { 0 };
	(void)state;
	assert_true(nodescan_init(&other, "/nowhere/at/all", NULL, &err) < 0);
	nodescan_done(&other);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH(who_is_found), WITH(what_it_is_called), WITH(by_its_host_name),    WITH(who_is_looked_at_again),
		WITH(who_is_gone),  WITH(too_many),          cmocka_unit_test(no_proc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
