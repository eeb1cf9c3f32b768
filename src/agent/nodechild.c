/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/nodechild.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/limits.h"
#include "kernel/cgfile.h"
#include "kernel/stat.h"
#include "kernel/status.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/spawn.h"

/* Settings of the supervisor alone; with `value` the next argument is theirs. */
static const struct {
	const char *flag, *variable;
	bool value;
} own[] = {
	{ "node", NULL, false },
	{ "node-mode", "BANKFULL_NODE_MODE", false },
	{ "match", "BANKFULL_MATCH", true },
	{ "max-targets", "BANKFULL_MAX_TARGETS", true },
	{ "listen", "BANKFULL_LISTEN", true },
	{ "state-dir", "BANKFULL_STATE_DIR", true },
};

enum { N_OWN = sizeof own / sizeof own[0] };

void nodechild_args_done(struct nodechild_args *args)
{
	free(args->environment);
	args->environment = NULL;
}

/* How many arguments from here on are the supervisor's alone: 0, 1 or 2. */
static int own_args(const struct node_call *call, int at)
{
	struct str name = str_of(call->argv[at]);
	(void)str_take(&name, STR("--"));
	size_t equals = str_index(name, '=');
	bool joined = equals < name.len;
	name.len = equals;
	bool named = at + 1 < call->argc && strncmp(call->argv[at + 1], "--", 2) != 0;
	for (int i = 0; i < N_OWN; i++) {
		if (!str_eq(name, str_of(own[i].flag)))
			continue;
		if (i == 0 && (named || joined)) /* --node NAME names the node */
			return 0;
		return own[i].value && !joined ? 2 : 1;
	}
	return 0;
}

static bool is_own_variable(const char *entry)
{
	for (int i = 0; i < N_OWN; i++) {
		struct str rest = str_of(entry);
		if (own[i].variable && str_take(&rest, str_of(own[i].variable)) && str_take(&rest, STR("=")))
			return true;
	}
	return false;
}

static int take_environment(const struct node_call *call, struct nodechild_args *args, struct err *err)
{
	size_t n = 0, kept = 0;
	while (call->environment[n])
		n++;
	args->environment = calloc(n + 1, sizeof *args->environment);
	if (!args->environment)
		return err_set(err, ERR_NOMEM, "no memory for an environment");
	for (size_t i = 0; i < n; i++)
		if (!is_own_variable(call->environment[i]))
			args->environment[kept++] = call->environment[i];
	return 0;
}

static bool add(struct nodechild_args *args, size_t *n, const char *flag, const char *value)
{
	if (value && !value[0])
		return true;
	if (*n + 2 > NODE_ARGS_MAX)
		return false;
	args->argv[(*n)++] = flag;
	if (value)
		args->argv[(*n)++] = value;
	return true;
}

int nodechild_args(const struct agentconf *conf, const struct node_call *call, const struct node_pod *pod,
		   struct limit pod_limit, struct nodechild_args *ret_args, struct err *err)
{
	struct nodechild_args *args = ret_args;
	size_t n = 0;
	bool fits = add(args, &n, "bankfull", NULL) && add(args, &n, "agent", NULL);
	for (int i = 1; i < call->argc && fits;) {
		int skip = own_args(call, i);
		if (!skip)
			fits = add(args, &n, call->argv[i], NULL);
		i += skip ? skip : 1;
	}
	args->pod_limit[0] = args->state_dir[0] = '\0';
	if (pod_limit.kind == LIMIT_SET)
		(void)snprintf(args->pod_limit, sizeof args->pod_limit, "%" PRIu64, pod_limit.bytes);
	int len = conf->state_dir ? snprintf(args->state_dir, sizeof args->state_dir, "%s/%s%s%s", conf->state_dir,
					     pod->pod_uid, pod->container[0] ? "." : "", pod->container)
				  : 0;
	/* The engine's pages are on the pod's own loopback: ours is another one. */
	fits = fits && (size_t)len < sizeof args->state_dir && add(args, &n, "--in-pod", NULL) &&
	       add(args, &n, "--pod-uid", pod->pod_uid) && add(args, &n, "--namespace", pod->namespace_) &&
	       add(args, &n, "--pod", pod->pod) && add(args, &n, "--container", pod->container) &&
	       add(args, &n, "--pod-limit", args->pod_limit) && add(args, &n, "--state-dir", args->state_dir) &&
	       add(args, &n, "--listen", "off") && add(args, &n, "--no-metrics", NULL);
	if (!fits)
		return err_set(err, ERR_LIMIT, "more arguments than an agent of a pod can be given");
	args->argv[n] = NULL;
	return take_environment(call, args, err);
}

bool nodechild_ids(const struct process_status *jvm, bool same_user_namespace, uint32_t *ret_uid, uint32_t *ret_gid)
{
	bool one_user = jvm->uid_effective.known && jvm->gid_effective.known && jvm->uid_effective.n != 0 &&
			jvm->uid_real.n == jvm->uid_effective.n && jvm->gid_real.n == jvm->gid_effective.n;
	if (!one_user || !same_user_namespace || !jvm->cap_permitted.known || jvm->cap_permitted.n != 0)
		return false;
	*ret_uid = (uint32_t)jvm->uid_effective.n;
	*ret_gid = (uint32_t)jvm->gid_effective.n;
	return true;
}

/* --- the world --------------------------------------------------------------------------------- */

static void find_pod_limit(const struct agentconf *conf, const char *uid, struct nodechild *child)
{
	struct err ignored;
	auto_close int root_fd = -1, pod_fd = -1;
	auto_buf struct buf text = { .cap = LIMIT_CGROUP_FILE };
	if (!conf->node_cgroup || dir_open_at(AT_FDCWD, conf->node_cgroup, &root_fd, &ignored) < 0 ||
	    podpath_open(root_fd, uid, &pod_fd, &child->qos, &ignored) < 0 ||
	    file_read_at(pod_fd, "memory.max", LIMIT_CGROUP_FILE, &text, &ignored) < 0)
		return;
	if (cgfile_parse_limit(buf_str(&text), &child->pod_limit, &ignored) < 0)
		child->pod_limit = (struct limit){ 0 };
}

static void find_ids(const struct process_id *jvm, struct spawn_options *options)
{
	struct err ignored;
	struct process_status status;
	char theirs[64] = "", ours[64] = "";
	auto_close int proc_fd = -1, pid_fd = -1, self_fd = -1;
	auto_buf struct buf text = { .cap = LIMIT_PROC_FILE };
	if (geteuid() != 0 || proc_root_open("/proc", &proc_fd, &ignored) < 0 ||
	    proc_open(proc_fd, jvm->pid, &pid_fd, &ignored) < 0 || procid_same(pid_fd, jvm, &ignored) < 0 ||
	    file_read_at(pid_fd, "status", LIMIT_PROC_FILE, &text, &ignored) < 0 ||
	    status_parse(buf_str(&text), &status, &ignored) < 0 || dir_open_at(proc_fd, "self", &self_fd, &ignored) < 0)
		return;
	bool same = proc_link(pid_fd, "ns/user", theirs, sizeof theirs, &ignored) == 0 &&
		    proc_link(self_fd, "ns/user", ours, sizeof ours, &ignored) == 0 && strcmp(theirs, ours) == 0;
	options->set_ids = nodechild_ids(&status, same, &options->uid, &options->gid);
}

int nodechild_start(const struct agentconf *conf, const struct node_call *call, const struct node_pod *pod,
		    const struct process_id *jvm, struct nodechild *ret_child, struct err *err)
{
	auto_(nodechild_args_done) struct nodechild_args args = { .environment = NULL };
	struct nodechild child = { 0 };
	find_pod_limit(conf, pod->pod_uid, &child);
	int rc = nodechild_args(conf, call, pod, child.pod_limit, &args, err);
	if (rc < 0)
		return rc;
	struct spawn_options options = { .argv = (char *const *)args.argv,
					 .environment = (char *const *)args.environment,
					 .data_bytes = NODE_CHILD_DATA_BYTES,
					 .oom_score_adj = NODE_CHILD_OOM_MORE };
	find_ids(jvm, &options);
	rc = spawn_start(&options, &child.pid, err);
	/* Without the right to change the user it looks as we are, and says what it may not see. */
	if (rc < 0 && options.set_ids && err->kind == ERR_DENIED) {
		options.set_ids = false;
		rc = spawn_start(&options, &child.pid, err);
	}
	if (rc < 0)
		return rc;
	child.as_jvm = options.set_ids;
	*ret_child = child;
	return 0;
}
