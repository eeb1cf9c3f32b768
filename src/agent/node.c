/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/node.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>

#include "agent/node_parts.h"
#include "base/globs.h"
#include "sys/spawn.h"

enum {
	LOOK_MS = 5000,
	REAP_MS = 100,       /* while it waits for the last ones to end */
	LAST_WAIT_MS = 1000, /* beyond the grace period, which is theirs as well */
	MMAP_BYTES = 64 * 1024,
};

/* Names for the log: "fraud/taskmanager-1 (uid)". */
static const char *shown(const struct node_pod *pod, char dest[NODE_SHOWN_CAP])
{
	(void)snprintf(dest, NODE_SHOWN_CAP, "%s%s%s%s%s", pod->namespace_[0] ? pod->namespace_ : "?",
		       pod->pod[0] ? "/" : " pod ", pod->pod[0] ? pod->pod : pod->pod_uid, pod->container[0] ? "/" : "",
		       pod->container);
	return dest;
}

/* --- children --------------------------------------------------------------------------------- */

static void reap(struct node *n, struct mono now)
{
	char name[NODE_SHOWN_CAP];
	for (size_t i = 0; i < n->book.max; i++) {
		struct node_target *target = &n->book.targets[i];
		int status, signal_;
		if (!target->child || !spawn_ended(target->child, &status, &signal_))
			continue;
		bool wanted = n->leaving || target->ending;
		logger_say(n->log, wanted ? SAY_INFO : SAY_WARNING, wanted ? "target-left" : "target-failed",
			   "the agent of %s has ended%s (status %d, signal %d)", shown(&target->pod, name),
			   wanted ? "" : ", and is begun again", status, signal_);
		nodebook_ended(&n->book, i, now);
	}
}

static const struct node_jvm *jvm_of(const struct node *n, const struct node_pod *pod)
{
	for (size_t i = 0; i < n->scan.n_jvms; i++)
		if (strcmp(n->scan.jvms[i].pod.pod_uid, pod->pod_uid) == 0 &&
		    (!pod->container_id[0] || strcmp(n->scan.jvms[i].pod.container_id, pod->container_id) == 0))
			return &n->scan.jvms[i];
	return NULL;
}

static void start(struct node *n, size_t at, struct mono now)
{
	struct node_target *target = &n->book.targets[at];
	struct err err = { 0 };
	struct nodechild child;
	char name[NODE_SHOWN_CAP];
	const struct node_jvm *jvm = jvm_of(n, &target->pod);
	(void)shown(&target->pod, name);
	/* Nobody there to look as: the next JVM of the pod will tell. */
	if (!jvm) {
		target->due = mono_add_ms(now, LOOK_MS);
		return;
	}
	if (nodechild_start(n->conf, n->call, &target->pod, &jvm->id, &child, &err) < 0) {
		logger_say(n->log, SAY_ERROR, "target-not-started", "no agent for %s: %s", name, err.message);
		nodebook_failed(&n->book, at, now);
		return;
	}
	nodebook_started(&n->book, at, child.pid, now);
	const char *class = pod_qos_names[child.qos != POD_QOS_UNREAD ? child.qos : target->pod.qos];
	char limit[64] = "unread (node-cgroup is not mounted)";
	if (child.pod_limit.kind == LIMIT_SET)
		(void)snprintf(limit, sizeof limit, "%llu bytes", (unsigned long long)child.pod_limit.bytes);
	else if (child.pod_limit.kind == LIMIT_NONE)
		(void)snprintf(limit, sizeof limit, "none");
	logger_say(n->log, SAY_INFO, "target", "watching %s, uid %s, QoS class %s, limit of the pod %s, as %s", name,
		   target->pod.pod_uid, class[0] ? class : "unread", limit,
		   child.as_jvm ? "its own user" : "this agent's user");
}

/* --- what is due ------------------------------------------------------------------------------ */

static bool fits(const struct node *n, const struct node_pod *pod)
{
	char name[NODE_SHOWN_CAP];
	if (!n->conf->match)
		return true;
	(void)snprintf(name, sizeof name, "%s/%s", pod->namespace_, pod->pod);
	return globs_match(str_of(n->conf->match), str_of(name));
}

static void look(struct node *n, struct mono now)
{
	struct err err = { 0 };
	int rc = nodescan_run(&n->scan, now, &err);
	n->looked = rc == 0;
	if (rc < 0) {
		logger_say(n->log, SAY_ERROR, "look-failed", "the node's processes: %s", err.message);
		return;
	}
	nodebook_look(&n->book);
	for (size_t i = 0; i < n->scan.n_jvms; i++)
		if (fits(n, &n->scan.jvms[i].pod))
			(void)nodebook_see(&n->book, &n->scan.jvms[i].pod, now);
	if (n->book.left_out)
		logger_say(n->log, SAY_WARNING, "targets-full",
			   "%zu JVMs are not watched: max-targets is %zu; raise it, with the memory for it",
			   n->book.left_out, n->book.max);
}

static void step(struct node *n, struct mono now)
{
	size_t at;
	enum node_step todo;
	while ((todo = nodebook_next(&n->book, now, &at)) != NODE_WAIT) {
		if (todo == NODE_START)
			start(n, at, now);
		else
			(void)kill(n->book.targets[at].child, SIGINT); /* its pod is gone: agent.c on_signal() */
	}
}

static void end_all(struct node *n, int number)
{
	for (size_t i = 0; i < n->book.max; i++)
		if (n->book.targets[i].child)
			(void)kill(n->book.targets[i].child, number);
}

static void on_tick(void *context)
{
	struct node *n = context;
	struct mono now = clock_mono();
	n->ticked = now;
	n->ticks_total++;
	reap(n, now);
	if (n->leaving) {
		bool late = !mono_ms_until(now, n->leave_at);
		if (late)
			end_all(n, SIGKILL);
		if (late || !nodebook_children(&n->book))
			loop_stop(n->loop);
		else
			loop_timer_set(n->timer, REAP_MS);
		return;
	}
	look(n, now);
	step(n, now);
	loop_timer_set(n->timer, LOOK_MS);
}

static void on_signal(void *context, int number)
{
	struct node *n = context;
	if (number == SIGHUP)
		return;
	if (!n->leaving)
		logger_say(n->log, SAY_INFO, "stopping", "asked to end: the agents of %zu pods send what they have",
			   nodebook_children(&n->book));
	n->leaving = true;
	n->leave_at = mono_add_ms(clock_mono(), n->conf->grace_ms + LAST_WAIT_MS);
	end_all(n, SIGTERM);
	loop_timer_set(n->timer, 0);
}

/* --- life --------------------------------------------------------------------------------------- */

static void on_library(void *context, const char *text)
{
	logger_say(((struct node *)context)->log, SAY_DEBUG, "library", "%s", text);
}

static int make(struct node *n, struct err *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	int rc = nodescan_init(&n->scan, "/proc", n->conf->node_logs, err);
	if (rc == 0)
		rc = loop_new(LOOP_POLL, on_library, n, &n->loop, err);
	if (rc == 0)
		rc = loop_signals(n->loop, signals, sizeof signals / sizeof signals[0], on_signal, n, err);
	if (rc == 0)
		rc = loop_timer_new(n->loop, on_tick, n, &n->timer, err);
	if (rc == 0)
		rc = loop_timer_new(n->loop, node_listen, n, &n->listen_timer, err);
	return rc;
}

static void unmake(struct node *n)
{
	server_free(n->server);
	loop_timer_free(n->listen_timer);
	loop_timer_free(n->timer);
	loop_free(n->loop);
	nodescan_done(&n->scan);
	free(n);
}

int node_run(const struct agentconf *conf, const struct node_call *call, struct logger *log, const char *version,
	     struct err *err)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	struct node *n = calloc(1, sizeof *n);
	if (!n)
		return err_set(err, ERR_NOMEM, "no memory to start with");
	n->conf = conf;
	n->call = call;
	n->log = log;
	n->version = version;
	n->scan.proc_fd = -1;
	n->started = clock_wall();
	nodebook_init(&n->book, (size_t)conf->max_targets);
	int rc = make(n, err);
	if (rc == 0) {
		logger_say(log, SAY_INFO, "started", "bankfull agent %s for the pods of a node, %zu at most%s%s%s%s",
			   version, n->book.max, conf->collector ? "" : "; no collector",
			   conf->node_logs ? "" : "; node-logs is not mounted: no namespaces",
			   conf->match ? "; match " : "", conf->match ? conf->match : "");
		node_listen(n);
		loop_timer_set(n->timer, 0);
		rc = loop_run(n->loop, err);
		logger_say(log, SAY_INFO, "stopped", "ended");
	}
	unmake(n);
	return rc;
}
