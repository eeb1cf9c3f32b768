/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "agent/build.h"
#include "agent/collect_parts.h"
#include "agent/peers.h"
#include "base/limits.h"
#include "jvm/cmdline.h"
#include "jvm/jvmfind.h"
#include "kernel/cgmount.h"
#include "kernel/cgpath.h"
#include "kernel/cgread.h"
#include "kernel/memfd.h"
#include "kernel/pagemap.h"
#include "kernel/smaps.h"
#include "kernel/stat.h"
#include "kernel/status.h"
#include "ledger/vmasplit.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/proc.h"

void collect_file(struct collecting *c, const char *path, const char *name, size_t cap)
{
	struct err err;
	struct buf *bytes = evidence_new(c->evidence, name, cap);
	if (bytes && file_read_at(c->pid_fd, path, cap, bytes, &err) < 0)
		evidence_fail(c->evidence, name, &err);
}

void collect_say_denied(const struct collecting *c, struct err *err)
{
	if (err->kind != ERR_DENIED || !c->denied[0])
		return;
	size_t len = strlen(err->message);
	(void)snprintf(err->message + len, sizeof err->message - len, ": %s", c->denied);
}

/*
 * Which rule of ptrace_may_access() (PTRACE_MODE_READ_FSCREDS) refuses us: ids, capabilities, or one that does not show. The kernel
 * only says EACCES.
 */
static void find_denial(struct collecting *c)
{
	struct err ignored;
	struct process_status own;
	auto_buf struct buf text = { .cap = LIMIT_PROC_FILE };
	const struct process_status *jvm = &c->status;
	if (!jvm->uid_real.known || file_read_at(AT_FDCWD, "/proc/self/status", LIMIT_PROC_FILE, &text, &ignored) < 0 ||
	    status_parse(buf_str(&text), &own, &ignored) < 0)
		return;
	bool same_uid = own.uid_fs.n == jvm->uid_real.n && own.uid_fs.n == jvm->uid_effective.n &&
			own.uid_fs.n == jvm->uid_saved.n;
	bool same_gid = own.gid_fs.n == jvm->gid_real.n && own.gid_fs.n == jvm->gid_effective.n &&
			own.gid_fs.n == jvm->gid_saved.n;
	uint64_t more = jvm->cap_permitted.n & ~own.cap_effective.n;
	if (!same_uid || !same_gid)
		(void)snprintf(c->denied, sizeof c->denied,
			       "the JVM has uid %u gid %u, this program uid %u gid %u; run it with the JVM's",
			       (unsigned)jvm->uid_effective.n, (unsigned)jvm->gid_effective.n, (unsigned)own.uid_fs.n,
			       (unsigned)own.gid_fs.n);
	else if (more)
		(void)snprintf(
			c->denied, sizeof c->denied,
			"the JVM holds capabilities that this program lacks (mask %llx); drop them in its container",
			(unsigned long long)more);
	else
		(void)snprintf(
			c->denied, sizeof c->denied,
			"uid, gid and capabilities are right; the JVM is not dumpable, of another user namespace, or a security module forbids it");
}

static void collect_cmdline(struct collecting *c)
{
	static const char name[] = "proc/cmdline";
	struct err err = { 0 };
	auto_buf struct buf raw = { .cap = LIMIT_PROC_FILE };
	if (file_read_at(c->pid_fd, "cmdline", LIMIT_PROC_FILE, &raw, &err) < 0) {
		evidence_fail(c->evidence, name, &err);
		return;
	}
	struct buf *kept = evidence_new(c->evidence, name, 2 * LIMIT_PROC_FILE);
	if (kept && !cmdline_redact(buf_str(&raw), kept))
		evidence_fail_set(c->evidence, name, ERR_LIMIT, "cmdline: too long");
}

/* Of another process's environment only three names are ever looked at; nothing else leaves this function. */
static void collect_environ(struct collecting *c)
{
	static const char name[] = "proc/environ";
	static const struct str keys[] = { { "MALLOC_ARENA_MAX=", 17 }, { "MALLOC_CONF=", 12 }, { "LD_PRELOAD=", 11 } };
	struct err err = { 0 };
	auto_buf struct buf raw = { .cap = LIMIT_PROC_FILE };
	if (file_read_at(c->pid_fd, "environ", LIMIT_PROC_FILE, &raw, &err) < 0) {
		collect_say_denied(c, &err);
		evidence_fail(c->evidence, name, &err);
		return;
	}
	struct buf *kept = evidence_new(c->evidence, name, 4096);
	if (!kept)
		return;
	struct str rest = buf_str(&raw), entry;
	while (str_split(&rest, '\0', &entry))
		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
			if (str_starts(entry, keys[i]) && !str_has(entry, STR("\n")))
				(void)(buf_add(kept, entry) && buf_putc(kept, '\n'));
}

static void collect_facts(struct collecting *c)
{
	struct utsname host;
	struct evidence *e = c->evidence;
	(void)evidence_fact(e, "taken_ms", "%lld", (long long)clock_wall().ms);
	(void)evidence_fact(e, "pid", "%d", c->id.pid);
	(void)evidence_fact(e, "start_ticks", "%llu", (unsigned long long)c->id.start_ticks);
	(void)evidence_fact(e, "host_cpus", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	(void)evidence_fact(e, "page_bytes", "%ld", sysconf(_SC_PAGESIZE));
	if (uname(&host) == 0)
		(void)evidence_fact(e, "kernel", "%s %s", host.release, host.machine);
	if (c->options->limit.kind == LIMIT_SET)
		(void)evidence_fact(e, "told_limit", "%llu", (unsigned long long)c->options->limit.bytes);
	if (c->options->pod_limit.kind == LIMIT_SET)
		(void)evidence_fact(e, "pod_limit", "%llu", (unsigned long long)c->options->pod_limit.bytes);
}

/* Where the target's cgroup is not to be had, say what this machine has: it takes some milliseconds, so only then. */
static void collect_machine(struct collecting *c)
{
	struct err ignored;
	struct cgmount *mount = malloc(sizeof *mount);
	if (mount && cgmount_read(mount, &ignored) == 0)
		(void)evidence_fact(c->evidence, "machine_cgroup", "%s%s%s%s, own cgroup %s",
				    cgroup_kind_names[mount->kind], mount->hybrid ? " (hybrid)" : "",
				    mount->point[0] ? " at " : "", mount->point,
				    mount->own_path[0] ? mount->own_path : "unknown");
	free(mount);
}

void collect_cgroup(struct collecting *c)
{
	struct err err = { 0 };
	struct cgpath_found found = { .dirfd = -1 };
	enum cgroup_kind kind = CGROUP_UNREAD;
	int rc = c->options->cgroup_directory
			 ? cgpath_open_explicit(c->options->cgroup_directory, false, &found, &kind, &err)
			 : cgpath_open(c->pid_fd, false, &found, &kind, &err);
	(void)evidence_fact(c->evidence, "cgroup_kind", "%d", (int)kind);
	if (rc < 0) {
		collect_say_denied(c, &err);
		evidence_fail(c->evidence, "cgroup", &err);
		collect_machine(c);
		return;
	}
	auto_close int dirfd = found.dirfd;
	for (size_t i = 0; i < cg_n_files; i++) {
		char name[EVIDENCE_NAME_CAP];
		(void)snprintf(name, sizeof name, "cgroup/%s", cg_files[i].name);
		struct buf *bytes = evidence_new(c->evidence, name, LIMIT_CGROUP_FILE);
		if (!bytes || cg_read_file(dirfd, &cg_files[i], bytes, &err) == 0)
			continue;
		if (cg_files[i].optional && err.kind == ERR_GONE)
			evidence_drop(c->evidence, name);
		else
			evidence_fail(c->evidence, name, &err);
	}
}

static void collect_peers(struct collecting *c)
{
	auto_(peers_done) struct peers peers = { 0 };
	if (c->options->pod_limit.kind != LIMIT_SET)
		return;
	struct qty others = peers_floor(&peers, c->id.pid, clock_mono());
	if (qty_known(others))
		(void)evidence_fact(c->evidence, "pod_others", "%llu", (unsigned long long)others.bytes);
}

static int read_smaps_once(struct collecting *c, struct buf *out, struct err *err)
{
	auto_buf struct buf whole = { .cap = LIMIT_SMAPS };
	auto_(vma_set_done) struct vma_set set = { 0 };
	int rc = file_read_at(c->pid_fd, "smaps", LIMIT_SMAPS, &whole, err);
	if (rc < 0)
		return rc;
	if (c->options->slim_smaps)
		return smaps_slim(buf_str(&whole), out, err);
	rc = smaps_parse(buf_str(&whole), &set, err);
	if (rc == 0) {
		buf_done(out);
		*out = whole;
		whole = (struct buf){ 0 };
	}
	return rc;
}

/*
 * The kernel prints a page at a time and lets go of the map in between, so the mappings of a busy JVM (ZGC above
 * all) may not fit together. Then the text is read again, a few times: each walk holds up the target's mmap.
 */
static int read_smaps(struct collecting *c, const char *name, struct err *err)
{
	enum { TRIES = 4 };
	int rc = 0;
	for (int i = 0; i < TRIES; i++) {
		struct buf *out = evidence_new(c->evidence, name, LIMIT_SMAPS);
		if (!out)
			return err_set(err, ERR_LIMIT, "no room for smaps");
		rc = read_smaps_once(c, out, err);
		if (rc == 0 || err->kind != ERR_MALFORMED)
			break;
	}
	return rc;
}

void collect_beside_smaps(struct collecting *c, const struct snapshot *snapshot)
{
	struct err err = { 0 };
	int rc;
	if (snapshot->vmas_read && memfd_is_mapped(&snapshot->vmas)) {
		struct memfd_heap heap;
		struct buf *text = evidence_new(c->evidence, "proc/memfd", 256);
		if (text && memfd_find(c->pid_fd, &heap, &err) == 0)
			(void)memfd_format(&heap, text);
		else
			evidence_fail(c->evidence, "proc/memfd", &err);
	}
	struct addr_range ranges[RESIDENT_RANGES_MAX];
	struct resident_range residents[RESIDENT_RANGES_MAX];
	size_t n = vmasplit_queries(snapshot, ranges), n_read = 0;
	auto_close int fd = -1;
	rc = n ? pagemap_open(c->pid_fd, &fd, &err) : 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct pagemap_count count;
		if (pagemap_count(fd, ranges[i], snapshot->page_bytes, &count, &err) == 0)
			residents[n_read++] = (struct resident_range){ ranges[i], count.resident_bytes };
	}
	struct buf *text = n ? evidence_new(c->evidence, "proc/pagemap", 16384) : NULL;
	if (n && rc < 0)
		evidence_fail(c->evidence, "proc/pagemap", &err);
	else if (text)
		(void)pagemap_format(residents, n_read, text);
}

/* smaps, and what only smaps tells to ask: the ZGC memfd, and pagemap for ranges that share a mapping. */
void collect_smaps(struct collecting *c)
{
	static const char name[] = "proc/smaps";
	struct err err = { 0 };
	int rc = read_smaps(c, name, &err);
	if (rc < 0) {
		collect_say_denied(c, &err);
		evidence_fail(c->evidence, name, &err);
		/* No composition, then: but the kernel's own total still closes the process's floor. */
		if (err.kind == ERR_LIMIT || err.kind == ERR_MALFORMED)
			collect_file(c, "smaps_rollup", "proc/smaps_rollup", LIMIT_PROC_FILE);
		return;
	}
	struct snapshot *snapshot = NULL;
	if (build_for_split(c->evidence, &snapshot, &err) < 0)
		return;
	collect_beside_smaps(c, snapshot);
	build_free(snapshot);
}

uint64_t collect_age_ms(const struct process_id *id)
{
	struct timespec now;
	long hz = sysconf(_SC_CLK_TCK);
	if (hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return 0;
	uint64_t now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	uint64_t start_ms = id->start_ticks * 1000 / (uint64_t)hz;
	return now_ms > start_ms ? now_ms - start_ms : 0;
}

static int open_target(struct collecting *c, struct err *err)
{
	auto_close int proc_fd = -1;
	struct proc_stat stat;
	int rc = proc_root_open("/proc", &proc_fd, err);
	if (rc == 0)
		rc = proc_open(proc_fd, c->options->pid, &c->pid_fd, err);
	if (rc == 0)
		rc = stat_read(c->pid_fd, &stat, err);
	if (rc < 0) {
		if (err && err->kind == ERR_GONE)
			return err_set(
				err, ERR_GONE,
				"no process %d is to be seen here: give the pid of a running JVM (shareProcessNamespace? hidepid?)",
				c->options->pid);
		return rc;
	}
	c->id = (struct process_id){ stat.pid, stat.start_ticks };
	c->start_stack = stat.start_stack;
	struct err ignored;
	if (dir_open_at(c->pid_fd, "root", &c->root_fd, &ignored) < 0)
		c->root_fd = -1; /* needs ptrace-read access: what depends on it says so itself */
	c->age_ms = collect_age_ms(&c->id);
	return 0;
}

/* The command line is everybody's to read: it tells a JVM where the mappings may not be seen. */
static bool named_java(const struct collecting *c)
{
	struct str program = evidence_text(c->evidence, "proc/cmdline");
	program.len = str_index(program, '\0');
	return str_eq(program, STR("java"));
}

/* Still the same process, and still the program that was read first: execve(2) keeps pid and start time. */
int collect_same(const struct collecting *c, struct err *err)
{
	struct proc_stat stat;
	/* A zombie still has its numbers, and no stack. */
	if (procid_same(c->pid_fd, &c->id, err) < 0 || stat_read(c->pid_fd, &stat, err) < 0 || stat.state == 'Z' ||
	    (c->start_stack && !stat.start_stack))
		return err_set(err, ERR_GONE, "process %d ended while it was read: nothing is reported", c->id.pid);
	if (stat.start_stack != c->start_stack)
		return err_set(err, ERR_GONE, "process %d executed another program while it was read: try again",
			       c->id.pid);
	return 0;
}

/* What is to be read is a JVM, as far as that may be known. */
static int check_target(struct collecting *c, struct err *err)
{
	struct err why = { 0 };
	int pid = c->id.pid;
	if (c->status.thread_group.known && c->status.thread_group.n != (uint64_t)pid)
		return err_set(err, ERR_USAGE, "%d is a thread of process %llu: give the pid of the process", pid,
			       (unsigned long long)c->status.thread_group.n);
	if (file_read_at(c->pid_fd, "maps", LIMIT_SMAPS, &c->maps, &why) == 0) {
		if (c->maps.len == 0)
			return err_set(
				err, ERR_GONE,
				"process %d has no memory: it has ended, or is a kernel thread; give the pid of a running java process",
				pid);
		c->is_jvm = jvmfind_is_jvm_maps(buf_str(&c->maps));
		/* Read while it ended, its mappings stop somewhere. */
		if (!c->is_jvm && c->status.name[0] && collect_same(c, err) < 0)
			return -ESRCH;
		if (!c->is_jvm && c->status.name[0])
			return err_set(err, ERR_USAGE,
				       "process %d is no JVM (no libjvm.so is mapped): give the pid of a java process",
				       pid);
	} else if (why.kind == ERR_DENIED) {
		if (!named_java(c))
			return err_set(
				err, ERR_DENIED,
				"process %d may not be read and is not called java: run as its own uid and gid, or give the pid of a java process",
				pid);
		find_denial(c);
	}
	return 0;
}

/* What is only looked for may be missing; what the user named may not. */
static int check_given(const struct collecting *c, const char *option, const char *given, const char *name,
		       struct err *err)
{
	const struct evidence_item *item = given ? evidence_find(c->evidence, name) : NULL;
	if (!item || item->err.kind == ERR_NONE)
		return 0;
	enum err_kind kind = item->err.kind;
	bool ours = kind != ERR_NOMEM && kind != ERR_IO && kind != ERR_TIMEOUT;
	return err_set(err, ours ? ERR_USAGE : kind, "%s: %s", option, item->err.message);
}

int collect_begin(struct collecting *c, struct err *err)
{
	int rc = open_target(c, err);
	if (rc < 0)
		return rc;
	collect_facts(c);
	collect_file(c, "stat", "proc/stat", LIMIT_PROC_FILE);
	collect_file(c, "status", "proc/status", LIMIT_PROC_FILE);
	collect_file(c, "cgroup", "proc/cgroup", LIMIT_PROC_FILE);
	collect_cmdline(c);
	struct err ignored;
	if (status_parse(evidence_text(c->evidence, "proc/status"), &c->status, &ignored) < 0)
		c->status.name[0] = '\0'; /* its gap stands; attach and hsperfdata refuse without it */
	rc = check_target(c, err);
	if (rc < 0)
		return rc;
	collect_environ(c);
	collect_host(c);
	return 0;
}

static int read_target(struct collecting *c, struct err *err)
{
	int rc = collect_begin(c, err);
	if (rc < 0)
		return rc;
	if (c->is_jvm || c->denied[0])
		collect_jvm(c);
	collect_engine(c);
	rc = check_given(c, "--flink-conf", c->options->flink_conf, "conf/flink", err);
	if (rc < 0)
		return rc;
	/* Last and side by side: the charge and the composition should be of one moment. */
	collect_cgroup(c);
	collect_peers(c);
	collect_tmpfs(c);
	collect_smaps(c);
	rc = check_given(c, "--cgroup", c->options->cgroup_directory, "cgroup", err);
	if (rc < 0)
		return rc;
	return collect_same(c, err);
}

void collect_end(struct collecting *c)
{
	buf_done(&c->maps);
	auto_closep(&c->pid_fd);
	auto_closep(&c->root_fd);
	c->pid_fd = c->root_fd = -1;
}

int collect_run(const struct collect_options *options, struct evidence *ret_evidence, struct err *err)
{
	struct collecting c = { .options = options,
				.evidence = ret_evidence,
				.pid_fd = -1,
				.root_fd = -1,
				.maps = { .cap = LIMIT_SMAPS } };
	int rc = read_target(&c, err);
	collect_end(&c);
	return rc;
}
