/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/target.h"

#include <fcntl.h>

#include "agent/build.h"
#include "base/esc.h"
#include "base/limits.h"
#include "engine/detect.h"
#include "jvm/cmdline.h"
#include "jvm/jvmfind.h"
#include "kernel/podlogs.h"
#include "kernel/smaps.h"
#include "sys/file.h"
#include "sys/proc.h"

/* A launcher is not always called java (jsvc, embedded JVMs), but only those that map libjvm.so count, where maps may be read. */
bool target_look(int proc_fd, int pid, struct detection *ret_detection)
{
	struct err ignored;
	auto_close int pid_fd = -1;
	auto_buf struct buf raw = { .cap = LIMIT_PROC_FILE };
	auto_buf struct buf cmdline = { .cap = 2 * LIMIT_PROC_FILE };
	auto_buf struct buf maps = { .cap = LIMIT_SMAPS };
	auto_buf struct buf mapped = { .cap = LIMIT_PROC_FILE };
	if (proc_open(proc_fd, pid, &pid_fd, &ignored) < 0 ||
	    file_read_at(pid_fd, "cmdline", LIMIT_PROC_FILE, &raw, &ignored) < 0 || raw.len == 0)
		return false;
	struct str program = buf_str(&raw);
	program.len = str_index(program, '\0');
	bool named_java = str_eq(program, STR("java")) || str_ends(program, STR("/java"));
	if (file_read_at(pid_fd, "maps", LIMIT_SMAPS, &maps, &ignored) == 0) {
		if (!jvmfind_is_jvm_maps(buf_str(&maps)))
			return false;
		struct vma_set set = { 0 };
		if (maps_parse(buf_str(&maps), &set, &ignored) == 0)
			(void)build_mapped_names(&set, &mapped);
		vma_set_done(&set);
	} else if (!named_java) {
		return false;
	}
	if (!cmdline_redact(buf_str(&raw), &cmdline))
		return false;
	detect_engine(buf_str(&cmdline), buf_str(&mapped), NULL, ret_detection);
	return true;
}

bool target_pod(int pid_fd, struct podpath *ret)
{
	struct err ignored;
	struct cgpath paths;
	auto_buf struct buf text = { 0 };
	if (file_read_at(pid_fd, "cgroup", LIMIT_PROC_FILE, &text, &ignored) < 0 ||
	    cgpath_parse(buf_str(&text), &paths, &ignored) < 0)
		return false;
	return (paths.has_v2 && podpath_parse(paths.v2, ret)) ||
	       (paths.has_v1_memory && podpath_parse(paths.v1_memory, ret));
}

static bool is_in_scope(const struct target_scope *scope, int proc_fd, int pid)
{
	struct err ignored;
	struct podpath pod;
	struct podlogs_container container;
	auto_close int pid_fd = -1, logs_fd = -1;
	if (!scope || !scope->pod_uid)
		return true;
	if (proc_open(proc_fd, pid, &pid_fd, &ignored) < 0 || !target_pod(pid_fd, &pod) ||
	    strcmp(pod.pod_uid, scope->pod_uid) != 0)
		return false;
	/* Of a container that nobody names its pod is enough: better one of two than none. */
	if (!scope->container || !scope->container[0] || !scope->logs ||
	    dir_open_at(AT_FDCWD, scope->logs, &logs_fd, &ignored) < 0 ||
	    podlogs_find_container(logs_fd, pod.container_id, &container, &ignored) < 0)
		return true;
	return strcmp(container.name, scope->container) == 0;
}

struct found {
	int first_engine; /* 0: none */
	int n_engines, n_jvms;
};

/* Looks at all processes; `list` may be NULL. */
static int look_at_all(const struct target_scope *scope, struct found *ret, struct buf *list, struct err *err)
{
	auto_close int proc_fd = -1;
	auto_(pid_list_done) struct pid_list pids = { 0 };
	int rc = proc_root_open("/proc", &proc_fd, err);
	if (rc == 0)
		rc = proc_list(proc_fd, &pids, err);
	*ret = (struct found){ 0 };
	for (size_t i = 0; rc == 0 && i < pids.n; i++) {
		struct detection detection;
		if (!is_in_scope(scope, proc_fd, pids.pids[i]) || !target_look(proc_fd, pids.pids[i], &detection))
			continue;
		bool engine = detection.kind != ENGINE_JVM && detection.kind != ENGINE_UNKNOWN;
		ret->n_jvms++;
		ret->n_engines += engine;
		if (engine && !ret->first_engine)
			ret->first_engine = pids.pids[i];
		if (!list)
			continue;
		(void)buf_printf(list, "%d %s ", pids.pids[i], engine_names[detection.kind]);
		(void)(esc_add(list, str_of(detection.main_class)) && buf_putc(list, '\n'));
	}
	return rc;
}

int target_find(int *ret_pid, struct buf *list, struct err *err)
{
	struct found found;
	int rc = look_at_all(NULL, &found, list, err);
	if (rc < 0)
		return rc;
	if (found.n_engines > 1)
		return err_set(err, ERR_USAGE, "%d JVMs run an engine here: choose one with --pid", found.n_engines);
	if (found.n_engines == 0 && found.n_jvms > 0)
		return err_set(err, ERR_USAGE,
			       "none of the %d JVMs here runs Flink or Kafka Streams: choose one with --pid",
			       found.n_jvms);
	if (found.n_engines == 0)
		return err_set(
			err, ERR_USAGE,
			"no JVM is visible here: give --pid, and run where its processes are seen (shareProcessNamespace)");
	*ret_pid = found.first_engine;
	return 0;
}

int target_first(const struct target_scope *scope, int *ret_pid, size_t *ret_others, struct err *err)
{
	struct found found;
	int rc = look_at_all(scope, &found, NULL, err);
	if (rc < 0)
		return rc;
	if (!found.n_engines && scope && scope->pod_uid)
		return err_set(err, ERR_GONE, "no JVM of pod %s runs Flink or Kafka Streams now", scope->pod_uid);
	if (!found.n_engines && found.n_jvms)
		return err_set(err, ERR_GONE,
			       "no JVM here runs Flink or Kafka Streams; %d %s something else: choose one with --pid",
			       found.n_jvms, found.n_jvms == 1 ? "other does" : "others do");
	if (!found.n_engines)
		return err_set(err, ERR_GONE, "no JVM is visible here yet (shareProcessNamespace? hidepid?)");
	*ret_pid = found.first_engine;
	*ret_others = (size_t)found.n_engines - 1;
	return 0;
}
