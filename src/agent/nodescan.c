/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/nodescan.h"

#include <fcntl.h>
#include <stdlib.h>

#include "agent/collect_parts.h"
#include "agent/target.h"
#include "base/auto.h"
#include "kernel/podlogs.h"
#include "kernel/stat.h"
#include "sys/file.h"
#include "sys/proc.h"

enum { HOSTNAME_CAP = 256 };

int nodescan_init(struct nodescan *scan, const char *proc, const char *logs, struct err *err)
{
	memset(scan, 0, sizeof *scan);
	scan->proc_fd = -1;
	scan->logs = logs;
	return proc_root_open(proc, &scan->proc_fd, err);
}

void nodescan_done(struct nodescan *scan)
{
	auto_closep(&scan->proc_fd);
	scan->proc_fd = -1;
	free(scan->others);
	scan->others = NULL;
	scan->n_others = 0;
}

/* --- what a pod is called -------------------------------------------------------------------- */

static bool same_link(int proc_fd, int pid_fd, const char *name)
{
	struct err ignored;
	char theirs[64], init[64];
	auto_close int init_fd = -1;
	return proc_open(proc_fd, 1, &init_fd, &ignored) == 0 &&
	       proc_link(init_fd, name, init, sizeof init, &ignored) == 0 &&
	       proc_link(pid_fd, name, theirs, sizeof theirs, &ignored) == 0 && strcmp(init, theirs) == 0;
}

/*
 * kubelet writes the pod's host name into its /etc/hostname; it is the pod's name unless spec.hostname says otherwise. In a pod
 * of the node's own network it is the node's, and tells nothing.
 */
static void name_by_host(const struct nodescan *scan, int pid_fd, struct node_pod *pod)
{
	struct err ignored;
	auto_close int root_fd = -1;
	auto_buf struct buf text = { .cap = HOSTNAME_CAP };
	if (same_link(scan->proc_fd, pid_fd, "ns/net") || dir_open_at(pid_fd, "root", &root_fd, &ignored) < 0 ||
	    file_read_under(root_fd, "etc/hostname", HOSTNAME_CAP, NULL, &text, &ignored) < 0)
		return;
	struct str name = str_trim(buf_str(&text));
	for (size_t i = 0; i < name.len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", name.ptr[i]) || !name.ptr[i])
			return;
	if (name.len < sizeof pod->pod)
		str_copy(pod->pod, sizeof pod->pod, name);
}

static void name_pod(const struct nodescan *scan, int pid_fd, struct node_pod *pod)
{
	struct err ignored;
	struct podlogs_pod named;
	struct podlogs_container container;
	auto_close int logs_fd = -1;
	if (scan->logs && dir_open_at(AT_FDCWD, scan->logs, &logs_fd, &ignored) == 0) {
		if (podlogs_find_pod(logs_fd, pod->pod_uid, &named, &ignored) == 0) {
			memcpy(pod->namespace_, named.namespace_, sizeof pod->namespace_);
			memcpy(pod->pod, named.name, sizeof pod->pod);
		}
		if (podlogs_find_container(logs_fd, pod->container_id, &container, &ignored) == 0)
			memcpy(pod->container, container.name, sizeof pod->container);
	}
	if (!pod->pod[0])
		name_by_host(scan, pid_fd, pod);
}

/* --- one process ------------------------------------------------------------------------------ */

/* True: it runs an engine in a pod, and `ret` is filled. False: `*ret_again` says when to look once more. */
static bool look(struct nodescan *scan, int pid, struct mono now, struct node_jvm *ret, struct mono *ret_again)
{
	struct err ignored;
	struct podpath where;
	struct detection detection;
	struct node_jvm jvm = { 0 };
	auto_close int pid_fd = -1;
	*ret_again = now;
	scan->looked_total++;
	if (proc_open(scan->proc_fd, pid, &pid_fd, &ignored) < 0 || procid_read(pid_fd, &jvm.id, &ignored) < 0)
		return false;
	bool young = collect_age_ms(&jvm.id) < NODE_YOUNG_MS;
	if (!young)
		*ret_again = mono_add_ms(now, NODE_LOOK_AGAIN_MS);
	if (!target_pod(pid_fd, &where) || !target_look(scan->proc_fd, pid, &detection) ||
	    detection.kind == ENGINE_JVM || detection.kind == ENGINE_UNKNOWN)
		return false;
	memcpy(jvm.pod.pod_uid, where.pod_uid, sizeof jvm.pod.pod_uid);
	memcpy(jvm.pod.container_id, where.container_id, sizeof jvm.pod.container_id);
	jvm.pod.qos = where.qos;
	name_pod(scan, pid_fd, &jvm.pod);
	*ret = jvm;
	return true;
}

static const struct node_jvm *known_jvm(const struct nodescan *scan, int pid)
{
	for (size_t i = 0; i < scan->n_jvms; i++)
		if (scan->jvms[i].id.pid == pid)
			return &scan->jvms[i];
	return NULL;
}

static bool lives(const struct nodescan *scan, const struct node_jvm *jvm)
{
	struct err ignored;
	auto_close int pid_fd = -1;
	return proc_open(scan->proc_fd, jvm->id.pid, &pid_fd, &ignored) == 0 &&
	       procid_same(pid_fd, &jvm->id, &ignored) == 0;
}

/* --- all ---------------------------------------------------------------------------------------- */

/* What the look makes, beside what it goes by. */
struct looking {
	struct node_jvm *jvms;
	size_t n_jvms, left_out;
	struct node_other *others;
	size_t n_others;
};

static void add_jvm(struct looking *l, const struct node_jvm *jvm)
{
	if (l->n_jvms < NODE_JVMS_MAX)
		l->jvms[l->n_jvms++] = *jvm;
	else
		l->left_out++;
}

static void one(struct nodescan *scan, int pid, size_t *at, struct mono now, struct looking *l)
{
	struct node_jvm found;
	struct node_other other = { .pid = pid };
	const struct node_jvm *known = known_jvm(scan, pid);
	if (known && lives(scan, known)) {
		found = *known;
		/* One without its names is asked for them again: kubelet makes the link to the log after the start. */
		if ((found.pod.namespace_[0] && found.pod.container[0]) || !scan->logs) {
			add_jvm(l, &found);
			return;
		}
	}
	/* Both lists ascend. */
	while (*at < scan->n_others && scan->others[*at].pid < pid)
		++*at;
	bool seen = *at < scan->n_others && scan->others[*at].pid == pid;
	if (seen && mono_ms_until(now, scan->others[*at].again))
		other = scan->others[*at];
	else if (look(scan, pid, now, &found, &other.again)) {
		add_jvm(l, &found);
		return;
	}
	l->others[l->n_others++] = other;
}

int nodescan_run(struct nodescan *scan, struct mono now, struct err *err)
{
	struct mono began = clock_mono();
	auto_(pid_list_done) struct pid_list pids = { 0 };
	int rc = proc_list(scan->proc_fd, &pids, err);
	if (rc < 0)
		return rc;
	auto_free struct node_jvm *jvms = calloc(NODE_JVMS_MAX, sizeof *jvms);
	auto_free struct node_other *others = calloc(pids.n + 1, sizeof *others);
	if (!jvms || !others)
		return err_set(err, ERR_NOMEM, "no memory to look at %zu processes", pids.n);
	struct looking l = { .jvms = jvms, .others = others };
	size_t at = 0;
	for (size_t i = 0; i < pids.n; i++)
		one(scan, pids.pids[i], &at, now, &l);
	memcpy(scan->jvms, jvms, l.n_jvms * sizeof *jvms);
	scan->n_jvms = l.n_jvms;
	scan->jvms_left_out = l.left_out;
	free(scan->others);
	scan->others = TAKE_PTR(others);
	scan->n_others = l.n_others;
	scan->processes = pids.n;
	scan->looks_total++;
	scan->look_ns_total += clock_mono().ns - began.ns;
	return 0;
}
