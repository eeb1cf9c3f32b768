/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a live JVM by our own attach client and prints each answer, for tests/integration/attach.sh, which compiles it:
 *
 *     attach_probe PID DEADLINE_MS COMMAND...     the raw answers, "== COMMAND" before each
 *     attach_probe PID hsperf                     the listing of its hsperfdata
 *
 * What the JVM was started with is taken from its command line, as the report does. Status 1: nothing was asked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "jvm/attach.h"
#include "jvm/hsperffile.h"
#include "jvm/jvmfind.h"
#include "jvm/vmargs.h"
#include "kernel/stat.h"
#include "kernel/status.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/proc.h"

static void die(const struct err *err)
{
	printf("error %s: %s\n", err_kind_names[err->kind], err->message);
	exit(1);
}

static void read_text(int fd, const char *name, struct buf *buf)
{
	struct err err = { 0 };
	if (file_read_at(fd, name, LIMIT_SMAPS, buf, &err) < 0)
		die(&err);
}

static void hsperf(int proc_fd, const struct process_status *status, struct str maps)
{
	struct err err = { 0 };
	auto_buf struct buf listing = { .cap = LIMIT_SMAPS };
	auto_close int root = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (hsperffile_read(root, status, maps, &listing, &err) < 0)
		die(&err);
	(void)fwrite(listing.ptr, 1, listing.len, stdout);
}

static int ask(const struct attach_target *target, const char *const commands[], size_t n, unsigned deadline_ms)
{
	struct attach_answer answers[ATTACH_COMMANDS_MAX] = { 0 };
	struct err err = { 0 };
	struct mono start = clock_mono();
	int rc = attach_run(target, commands, n, deadline_ms, answers, &err);
	fprintf(stderr, "%llu ms\n", (unsigned long long)mono_ms_until(start, clock_mono()));
	if (rc < 0)
		printf("error %s: %s\n", err_kind_names[err.kind], err.message);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		printf("== %s\n", commands[i]);
		if (answers[i].err.kind != ERR_NONE)
			printf("error %s: %s\n", err_kind_names[answers[i].err.kind], answers[i].err.message);
		else
			(void)fwrite(answers[i].text.ptr, 1, answers[i].text.len, stdout);
	}
	attach_answers_done(answers, n);
	return rc < 0;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	auto_buf struct buf text = { .cap = LIMIT_SMAPS }, maps = { .cap = LIMIT_SMAPS };
	auto_close int proc = -1, proc_fd = -1;
	struct process_status status;
	struct vmargs args;
	struct attach_target target = { .status = &status, .flags = &args.flags, .age_ms = 60000 };

	if (argc < 3)
		return 2;
	if (proc_root_open("/proc", &proc, &err) < 0 || proc_open(proc, atoi(argv[1]), &proc_fd, &err) < 0 ||
	    procid_read(proc_fd, &target.id, &err) < 0)
		die(&err);
	read_text(proc_fd, "status", &text);
	if (status_parse(buf_str(&text), &status, &err) < 0)
		die(&err);
	read_text(proc_fd, "maps", &maps);
	target.is_jvm = jvmfind_is_jvm_maps(buf_str(&maps));
	read_text(proc_fd, "cmdline", &text);
	vmargs_parse(buf_str(&text), &args);
	if (strcmp(argv[2], "hsperf") == 0) {
		hsperf(proc_fd, &status, buf_str(&maps));
		return 0;
	}
	return ask(&target, (const char *const *)(argv + 3), (size_t)(argc - 3), (unsigned)atoi(argv[2]));
}
