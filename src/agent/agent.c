/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent_parts.h"
#include "config/policyconf.h"
#include "sys/clock.h"
#include "sys/file.h"

enum {
	/* What is freed at the top goes back at once: an agent is measured by what it holds, not by how fast it mallocs. */
	TRIM_BYTES = 64 * 1024,
	/* Texts of a scan and tables of rules come from mmap(2) and leave no holes. */
	MMAP_BYTES = 64 * 1024,
	STOP_RESERVE = 4, /* the last quarter of the grace period is for sending */
	STATE_FILES_MAX = 256,
};

/* Settings that win over none: a policy that cannot be applied leaves the last good one. */
static void on_policy(void *context, const struct wire_policy *policy)
{
	struct agent *a = context;
	struct err err = { 0 };
	size_t unknown = 0;
	auto_free struct ruleconf *rules = malloc(sizeof *rules);
	if (!rules)
		return;
	if (policy_apply(policy, &a->conf->rules, clock_wall(), rules, &unknown, &err) < 0) {
		a->policies_refused_total++;
		logger_say(a->log, SAY_WARNING, "policy-refused",
			   "policy %llu of the collector: %s; the last one stays", (unsigned long long)policy->version,
			   err.message);
		return;
	}
	bool news = policy->version != a->policy_version;
	a->rules = *rules;
	a->policy_interval_ms = policy->interval_ms;
	a->policy_version = policy->version;
	logger_say(a->log, news ? SAY_INFO : SAY_DEBUG, "policy", "policy %llu of the collector holds%s",
		   (unsigned long long)policy->version,
		   unknown || policy->n_refused ? "; parts of it are unknown here or refused, and left out" : "");
}

static void on_session(void *context, uint32_t min_interval_ms)
{
	struct agent *a = context;
	(void)min_interval_ms; /* the outbox thins out what is sent: what is seen stays as dense as it is */
	a->composition_due = true;
}

static void on_stopped(void *context)
{
	loop_stop(((struct agent *)context)->loop);
}

void agent_stop(struct agent *a)
{
	/* Of one that waited for its JVM to the last only the reserve is left. */
	uint64_t left_ms = a->conf->grace_ms / STOP_RESERVE + mono_ms_until(clock_mono(), a->leave_at);
	a->stopping = true;
	loop_timer_cancel(a->tick_timer);
	slow_stop(a->slow);
	outbox_stop(a->outbox, "stopping", left_ms, on_stopped, a);
}

/*
 * A pod that is stopped takes JVM and agent at once. Where its memory may have to do with it, the JVM's end is waited for, and
 * told; an orderly stop with room is no death that anybody asks about. What has died already is seen in any case.
 */
static void on_signal(void *context, int number)
{
	struct agent *a = context;
	if (number == SIGHUP)
		return; /* the terminal went away, or somebody hoped for new settings: those come with a restart */
	if (a->leaving) {
		loop_stop(a->loop);
		return;
	}
	uint64_t grace = a->conf->grace_ms;
	a->gone = a->conf->in_pod && number == SIGINT; /* nodechild.h: what it is told once its pod has gone */
	a->leaving = true;
	a->leave_at = mono_add_ms(clock_mono(), grace - grace / STOP_RESERVE);
	logger_say(a->log, SAY_INFO, "stopping", "asked to end: what is left is sent");
	agent_tick(a);
	if (a->stopping)
		return; /* there was no JVM, or it had ended */
	if (number == SIGTERM && agent_is_grave(a))
		logger_say(a->log, SAY_INFO, "waiting",
			   "near the limit, or on a node short of memory: the end of the JVM is waited for");
	else
		agent_stop(a);
}

static void on_library(void *context, const char *text)
{
	logger_say(((struct agent *)context)->log, SAY_DEBUG, "library", "%s", text);
}

static int make_state(struct agent *a, struct err *err)
{
	watch_init(&a->watch);
	a->cpu.stat_fd = -1;
	a->ledger = calloc(1, sizeof *a->ledger);
	a->verdict = calloc(1, sizeof *a->verdict);
	a->mark = calloc(1, sizeof *a->mark);
	a->history = calloc(1, history_size());
	a->space = calloc(1, sizeof *a->space);
	a->view = calloc(1, sizeof *a->view);
	if (!a->ledger || !a->verdict || !a->mark || !a->history || !a->space || !a->view)
		return err_set(err, ERR_NOMEM, "no memory to start with");
	history_start(a->history);
	own_cpu_open(&a->cpu);
	budget_start(&a->budget, a->conf->smaps_share_bp, a->conf->smaps_interval_ms, a->conf->smaps_hold_ms,
		     a->cpu.quota_ns);
	return 0;
}

static bool remove_one(void *context, const char *name)
{
	return unlinkat(*(const int *)context, name, 0) == 0;
}

/* Each pod of a node has a directory of its own user's, which nobody else may clear away. What is not sent stays. */
static void forget_state(const struct agent *a)
{
	struct err ignored;
	struct outbox_counts counts;
	auto_close int fd = -1;
	if (!a->gone || !a->outbox || !a->conf->state_dir)
		return;
	outbox_count(a->outbox, &counts);
	if (counts.spooled_messages || dir_open_at(AT_FDCWD, a->conf->state_dir, &fd, &ignored) < 0)
		return;
	if (dir_list(fd, STATE_FILES_MAX, remove_one, &fd, &ignored) == 0)
		(void)rmdir(a->conf->state_dir);
}

static int make_outbox(struct agent *a, struct err *err)
{
	const struct agentconf *conf = a->conf;
	/* One that is there, or cannot be made, is the spool's to judge. */
	if (conf->in_pod && conf->state_dir)
		(void)mkdir(conf->state_dir, 0700);
	const struct outbox_options options = { .state_dir = conf->state_dir,
						.spool_bytes = conf->spool_bytes,
						.url = conf->collector,
						.token_file = conf->token_file,
						.ca_file = conf->ca_file,
						.ca_pem = conf->ca_pem,
						.cert_file = conf->cert_file,
						.key_file = conf->key_file,
						.server_name = conf->server_name,
						.version = a->version,
						.jdk = a->jdk,
						.engine = a->engine,
						.of_node = conf->in_pod,
						.log = a->log };
	static const struct outbox_events events = { on_policy, on_session };
	return outbox_new(a->loop, &options, &a->subject, &events, a, &a->outbox, err);
}

static void on_wish(void *context)
{
	struct agent *a = context;
	enum agent_wish wish = a->onlooker->told(a->onlooker->context);
	a->resting = wish == AGENT_REST || (a->resting && wish == AGENT_GO_ON);
	if (wish == AGENT_END) {
		loop_stop(a->loop);
	} else if (wish == AGENT_REST) {
		loop_timer_cancel(a->tick_timer);
	} else if (wish == AGENT_LOOK) {
		a->look_now = true;
		/* What was not asked yet waits for its reason: a JVM that is too young. */
		if (a->life.asked_jvm)
			a->life.jvm_due = clock_mono();
		if (a->life.asked_engine)
			a->life.engine_due = clock_mono();
		loop_timer_set(a->tick_timer, 0);
	}
}

static int make_loop(struct agent *a, struct err *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	int rc = loop_new(LOOP_POLL, on_library, a, &a->loop, err);
	if (rc == 0)
		rc = loop_signals(a->loop, signals, sizeof signals / sizeof signals[0], on_signal, a, err);
	if (rc == 0)
		rc = loop_timer_new(a->loop, agent_tick, a, &a->tick_timer, err);
	if (rc == 0)
		rc = loop_timer_new(a->loop, agent_listen, a, &a->listen_timer, err);
	if (rc == 0)
		rc = slow_new(a->loop, agent_slow_done, a, &a->slow, err);
	if (rc == 0 && a->onlooker)
		rc = loop_watch_new(a->loop, a->onlooker->fd, on_wish, a, &a->onlooker_watch, err);
	return rc == 0 ? make_outbox(a, err) : rc;
}

static void unmake(struct agent *a)
{
	if (a->slow)
		agent_close(a);
	server_free(a->server);
	forget_state(a);
	outbox_free(a->outbox);
	slow_free(a->slow);
	loop_watch_free(a->onlooker_watch);
	loop_timer_free(a->listen_timer);
	loop_timer_free(a->tick_timer);
	loop_free(a->loop);
	own_cpu_close(&a->cpu);
	free(a->view);
	free(a->space);
	free(a->history);
	free(a->mark);
	free(a->verdict);
	free(a->ledger);
	free(a);
}

int agent_run(const struct agentconf *conf, struct logger *log, const char *version, struct err *err)
{
	return agent_run_seen(conf, NULL, log, version, err);
}

int agent_run_seen(const struct agentconf *conf, const struct agent_onlooker *onlooker, struct logger *log,
		   const char *version, struct err *err)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	struct agent *a = calloc(1, sizeof *a);
	if (!a)
		return err_set(err, ERR_NOMEM, "no memory to start with");
	a->conf = conf;
	a->onlooker = onlooker;
	a->log = log;
	a->version = version;
	a->subject = conf->subject;
	a->rules = conf->rules;
	a->began = clock_mono();
	a->started = clock_wall();
	int rc = make_state(a, err);
	if (rc == 0)
		rc = make_loop(a, err);
	if (rc == 0) {
		logger_say(log, SAY_INFO, "started", "bankfull agent %s%s%s", version,
			   conf->collector ? "" : "; no collector", conf->state_dir ? "" : "; no state directory");
		agent_listen(a);
		loop_timer_set(a->tick_timer, 0);
		rc = loop_run(a->loop, err);
		logger_say(log, SAY_INFO, "stopped", "ended");
	}
	unmake(a);
	return rc;
}
