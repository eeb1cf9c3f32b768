/* SPDX-License-Identifier: Apache-2.0 */
/* From waiting for a target to its death, and what is asked of it meanwhile. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/agent_parts.h"
#include "agent/asking.h"
#include "agent/build.h"
#include "agent/target.h"
#include "base/esc.h"
#include "base/limits.h"
#include "base/sat.h"
#include "jvm/attach.h"
#include "jvm/hsperffile.h"
#include "kernel/cgfile.h"
#include "sys/clock.h"
#include "sys/file.h"

enum {
	JVM_YOUNG_MS = ATTACH_AGE_MIN_MS + 500, /* asked before that, it is refused */
	AGAIN_MS = 10000                        /* a child could not be started */
};

static void collect_options_of(const struct agentconf *conf, struct collect_options *ret)
{
	*ret = (struct collect_options){ .cgroup_directory = conf->cgroup_directory,
					 .limit = conf->limit,
					 .pod_limit = conf->pod_limit,
					 .n_metrics_urls = conf->n_metrics_urls,
					 .flink_rest = conf->flink_rest,
					 .flink_conf = conf->flink_conf,
					 .no_attach = conf->no_attach,
					 .no_metrics = conf->no_metrics,
					 .http_timeout_ms = (unsigned)conf->http_timeout_ms };
	_Static_assert((int)AGENT_URLS_MAX <= (int)COLLECT_URLS_MAX, "all URLs of the settings are fetched");
	memcpy(ret->metrics_urls, conf->metrics_urls, sizeof conf->metrics_urls);
}

/* Said once, and again when it changes: an agent may wait for hours. */
static void wait_for(struct agent *a, const char *what)
{
	if (strcmp(a->waiting, what) == 0)
		return;
	str_copy(a->waiting, sizeof a->waiting, str_of(what));
	logger_say(a->log, SAY_INFO, "waiting", "waiting: %s", what);
}

static int find(struct agent *a, size_t *ret_others, struct err *err)
{
	struct collect_options options;
	collect_options_of(a->conf, &options);
	*ret_others = 0;
	int rc = a->conf->pid ? watch_open(&a->watch, &options, a->conf->pid, err) : -1;
	if (rc == 0 || (a->conf->pid && !a->lives_total))
		return rc;
	/* Without a pid, or when the one that was named has ended: whoever runs an engine now. */
	int pid = 0;
	const struct agentconf *conf = a->conf;
	const struct target_scope scope = { .pod_uid = conf->in_pod ? conf->subject.pod_uid : NULL,
					    .container = conf->subject.container,
					    .logs = conf->node_logs };
	rc = target_first(&scope, &pid, ret_others, err);
	return rc < 0 ? rc : watch_open(&a->watch, &options, pid, err);
}

static void exited(void *context)
{
	struct agent *a = context;
	/* Readable for ever from now on. */
	loop_watch_free(a->exit_watch);
	a->exit_watch = NULL;
	agent_tick(a);
}

static void watch_descriptors(struct agent *a)
{
	struct err why;
	/* Without them the ticks notice it, later. */
	if (a->watch.exit_fd >= 0 && loop_watch_new(a->loop, a->watch.exit_fd, exited, a, &a->exit_watch, &why) < 0)
		logger_say(a->log, SAY_WARNING, "watch-failed", "end of the target: %s", why.message);
	if (a->watch.events_fd >= 0 &&
	    loop_watch_new(a->loop, a->watch.events_fd, agent_woken, a, &a->events_watch, &why) < 0)
		logger_say(a->log, SAY_WARNING, "watch-failed", "memory.events: %s", why.message);
}

static void begin(struct agent *a, struct mono now, size_t others)
{
	const struct collecting *target = &a->watch.target;
	a->life = (struct agent_life){ .on = true, .opened = now, .seen = now, .engine_due = now, .jvm_due = now };
	if (target->age_ms < JVM_YOUNG_MS)
		a->life.jvm_due = mono_add_ms(now, JVM_YOUNG_MS - target->age_ms);
	a->lives_total++;
	a->waiting[0] = '\0';
	a->mark->known = false;
	memset(&a->urgency, 0, sizeof a->urgency);
	memset(a->view, 0, sizeof *a->view);
	budget_forget_target(&a->budget);
	watch_descriptors(a);
	logger_say(a->log, SAY_INFO, "watching", "watching process %d%s%s", target->id.pid,
		   others ? "; others run an engine here, too: choose one with --pid" : "",
		   a->watch.cgroup_fd < 0 ? "; its cgroup is not in sight" : "");
	if (target->denied[0])
		logger_say(a->log, SAY_WARNING, "access-denied", "%s; without it no composition at all",
			   target->denied);
}

void agent_look(struct agent *a, struct mono now)
{
	struct err err = { 0 };
	size_t others;
	if (find(a, &others, &err) < 0)
		wait_for(a, err.message);
	else
		begin(a, now, others);
}

/* --- what may hang ---------------------------------------------------------------------- */

static bool is_due(struct mono due, struct mono now)
{
	return now.ns >= due.ns;
}

static uint64_t until_asked_again(struct agent *a, struct mono now)
{
	struct agent_life *life = &a->life;
	life->jvm_asked = now;
	life->anon_asked = a->snapshot ? a->snapshot->status.rss_anon_bytes : (struct qty){ 0 };
	uint64_t age = sat_add(a->watch.target.age_ms, agent_ms_since(life->opened, now));
	return asking_interval_ms(a->conf->attach_interval_ms, age);
}

/* Who told nothing is not asked sooner for having grown. */
static bool has_outgrown(const struct agent *a, struct mono now)
{
	const struct snapshot *s = a->snapshot;
	return s && (s->nmt_read || qty_known(s->heap.metaspace_committed_bytes)) &&
	       asking_outgrown(a->life.anon_asked, s->status.rss_anon_bytes, agent_ms_since(a->life.jvm_asked, now));
}

void agent_ask_slow(struct agent *a, struct mono now, bool deeper)
{
	struct agent_life *life = &a->life;
	if (deeper)
		life->jvm_due = life->engine_due = now;
	else if (has_outgrown(a, now))
		life->jvm_due = now;
	if (slow_runs(a->slow))
		return;
	/* The engine first: it is what changes. */
	unsigned what = is_due(life->engine_due, now) ? SLOW_ENGINE : is_due(life->jvm_due, now) ? SLOW_JVM : 0;
	if (!what)
		return;
	bool started = slow_start(a->slow, &a->watch.options, &a->watch.target.id, what);
	uint64_t next = !started              ? AGAIN_MS
			: what == SLOW_ENGINE ? a->conf->scrape_interval_ms
					      : until_asked_again(a, now);
	*(what == SLOW_ENGINE ? &life->engine_due : &life->jvm_due) = mono_add_ms(now, next);
	if (!started)
		logger_say(a->log, SAY_WARNING, "fork-failed", "no child to ask JVM and engine could be started");
}

void agent_slow_done(void *context, unsigned what, int rc, struct str text, const struct err *err)
{
	struct agent *a = context;
	struct err why = *err;
	if (!a->life.on)
		return;
	if (rc == 0)
		rc = slowtext_merge(text, what, &a->watch.evidence, &why);
	if (rc < 0) {
		slowtext_failed(what, &why, &a->watch.evidence);
		logger_say(a->log, SAY_WARNING, what & SLOW_JVM ? "attach-failed" : "scrape-failed", "%s", why.message);
	}
	a->life.asked_jvm |= (what & SLOW_JVM) != 0;
	a->life.asked_engine |= (what & SLOW_ENGINE) != 0;
	agent_rebuild(a);
	if ((what & SLOW_ENGINE) && a->life.figures == ASKING_AWAITED) {
		a->life.figures = ASKING_ANSWERED;
		loop_timer_set(a->tick_timer, 0); /* the scan waits for this */
		return;
	}
	/* The other one may have waited for this. */
	agent_ask_slow(a, clock_mono(), false);
	if (!a->life.scanned && a->life.asked_jvm && a->life.asked_engine)
		loop_timer_set(a->tick_timer, 0);
}

/* --- death ------------------------------------------------------------------------------ */

static void read_events(const struct agent *a, struct death_evidence *death)
{
	struct err ignored;
	struct refresh_text texts[WATCH_FILES_MAX];
	size_t n = watch_texts(&a->watch, texts);
	for (size_t i = 0; i < n; i++)
		if (strcmp(texts[i].name, "cgroup/memory.events") == 0 && !texts[i].err)
			death->after_read = cgfile_parse_events(texts[i].bytes, &death->after, &ignored) == 0;
	/* The cgroup went with it, but its kill was seen: it woke the last tick. */
	const struct cgroup_events *seen = &a->snapshot->cgroup.events;
	if (!death->after_read && death->before.oom_kill.known && seen->oom_kill.known &&
	    seen->oom_kill.n > death->before.oom_kill.n) {
		death->after = *seen;
		death->after_read = true;
	}
}

static struct count node_pressure(void)
{
	struct err ignored;
	struct cgroup_pressure pressure;
	auto_buf struct buf text = { .cap = LIMIT_PROC_FILE };
	if (file_read_at(AT_FDCWD, "/proc/pressure/memory", LIMIT_PROC_FILE, &text, &ignored) < 0 ||
	    cgfile_parse_pressure(buf_str(&text), &pressure, &ignored) < 0 || !pressure.full.known)
		return (struct count){ 0 };
	return count_of(pressure.full.avg10_bp);
}

bool agent_is_grave(const struct agent *a)
{
	struct death_evidence e = { 0 };
	if (a->snapshot) {
		e.host_available_bytes = a->snapshot->host_available_bytes;
		e.host_memory_bytes = a->snapshot->host_memory_bytes;
	}
	e.node_psi_full_avg10_bp = node_pressure();
	return a->urgency.on || death_node_is_low(&e);
}

static struct count full_pct(struct qty bytes, struct qty most)
{
	if (!qty_known(bytes) || !qty_known(most) || !most.bytes)
		return (struct count){ 0 };
	return count_of(bytes.bytes < most.bytes ? sat_mul(bytes.bytes, 100) / most.bytes : 100);
}

/* By the counters that it left, else by those last seen. */
static void how_full(const struct agent *a, struct death_evidence *death)
{
	const struct snapshot *s = a->snapshot;
	const struct process_status *status = &a->watch.target.status;
	struct err ignored;
	struct jvm_perf perf = s->perf;
	death->perf_left = hsperffile_left(a->watch.perf_fd, status);
	if (death->perf_left == TRISTATE_TRUE && hsperffile_last(a->watch.perf_fd, status, &perf, &ignored) < 0)
		perf = s->perf;
	/* G1 has no old generation of a fixed size: rules/heapfull.c. */
	bool old = perf.gc != GC_G1 && qty_known(perf.old_used_bytes) && qty_known(perf.old_max_bytes);
	death->heap_full_pct = old ? full_pct(perf.old_used_bytes, perf.old_max_bytes)
				   : full_pct(perf.heap_kept_bytes, perf.heap_max_bytes);
	death->metaspace_full_pct = full_pct(perf.metaspace_used_bytes, s->flags.max_metaspace_bytes);
}

static void gather(const struct agent *a, struct mono now, struct death_evidence *ret)
{
	const struct snapshot *s = a->snapshot;
	*ret = (struct death_evidence){ .before = a->life.lately.known ? a->life.lately.then : s->cgroup.events,
					.limit = a->ledger->limit,
					.pod_limit = s->pod_limit,
					.charge_bytes = a->ledger->charge_bytes,
					.floor_bytes = a->ledger->floor_bytes,
					.pod_others_bytes = s->pod_others_bytes,
					.peak_bytes = a->life.peak_floor,
					.host_available_bytes = s->host_available_bytes,
					.host_memory_bytes = s->host_memory_bytes,
					.node_psi_full_avg10_bp = node_pressure(),
					.stop_asked = a->leaving,
					.exits_on_oom = str_has(evidence_text(&a->watch.evidence, "proc/cmdline"),
								STR("-XX:+ExitOnOutOfMemoryError")),
					.last_seen_ms = (uint32_t)agent_ms_since(a->life.seen, now) };
	how_full(a, ret);
	read_events(a, ret);
}

static void count_death(struct agent *a, const struct death_verdict *verdict, int owner, struct postmortem_input *input)
{
	uint16_t *same = &a->deaths_by[verdict->cause][owner < 0 ? OWNER_COUNT : owner];
	a->deaths_total++;
	if (*same < UINT16_MAX)
		++*same;
	input->deaths = (unsigned)a->deaths_total;
	input->deaths_same_owner = *same;
}

/* Half a page of structures: not for a stack that a signal may find deep. */
struct mortem {
	struct death_evidence evidence;
	struct death_verdict verdict;
	struct wire_sample first, last;
	struct postmortem_finding findings[POSTMORTEM_FINDINGS_MAX];
	struct postmortem_input input;
	struct wire_postmortem part0;
};

static void report_death(struct agent *a, struct mono now)
{
	struct err err = { 0 };
	auto_free struct mortem *m = calloc(1, sizeof *m);
	auto_buf struct buf body = { .cap = POSTMORTEM_BODY_MAX };
	if (!m) {
		logger_say(a->log, SAY_ERROR, "postmortem-failed", "no memory for a post-mortem");
		return;
	}
	gather(a, now, &m->evidence);
	death_judge(&m->evidence, a->view->spike_bytes, &m->verdict);
	const struct process_id *id = &a->watch.target.id;
	bool recalled = outbox_recall(a->outbox, id->pid, id->start_ticks, &m->first, &m->last);
	const struct gap *smaps = snapshot_gap(a->snapshot, "proc/smaps");
	m->input =
		(struct postmortem_input){ .evidence = &m->evidence,
					   .verdict = &m->verdict,
					   .subject = &a->subject,
					   .died = clock_wall(),
					   .pid = id->pid,
					   .start_ticks = id->start_ticks,
					   .spike_bytes = a->view->spike_bytes,
					   .first = recalled ? &m->first : NULL,
					   .last = recalled ? &m->last : NULL,
					   .ledger = a->mark->known ? &a->mark->ledger : NULL,
					   .ledger_age_ms = (uint32_t)agent_ms_since(a->life.scanned_at, now),
					   .findings = m->findings,
					   .n_findings = agent_open_findings(a, m->findings, POSTMORTEM_FINDINGS_MAX),
					   .life = a->this_life,
					   .before = a->life_before,
					   .deep = buf_str(&a->deep),
					   .access = smaps ? smaps->reason : NULL };
	uint64_t grown;
	int owner = recalled ? postmortem_owner(&m->first, &m->last, &grown) : -1;
	count_death(a, &m->verdict, owner, &m->input);
	if (postmortem_compose(&m->input, &m->part0, &body, &err) < 0) {
		logger_say(a->log, SAY_ERROR, "postmortem-failed", "%s", err.message);
		return;
	}
	m->part0.head.mono_ms = agent_ms_since(a->began, now);
	m->part0.head.wall = m->input.died;
	a->died.at = m->input.died;
	str_copy(a->died.title, sizeof a->died.title, str_of(m->part0.title));
	logger_say(a->log, SAY_WARNING, "target-died", "%s", m->part0.title);
	outbox_postmortem(a->outbox, &m->part0, buf_str(&body));
}

void agent_died(struct agent *a, struct mono now)
{
	/* What was not scanned after its start has no composition, but its limit and events all the same. */
	if (a->snapshot && !a->this_life.known)
		postmortem_life_of(a->snapshot, &a->subject, "", &a->this_life);
	if (a->snapshot)
		report_death(a, now);
	agent_clear_findings(a, now, clock_wall());
	a->life_before = a->this_life;
	a->this_life = (struct postmortem_life){ 0 };
	agent_close(a);
	wait_for(a, "the JVM has ended; another one is awaited");
}

void agent_close(struct agent *a)
{
	slow_stop(a->slow);
	loop_watch_free(a->exit_watch);
	loop_watch_free(a->events_watch);
	a->exit_watch = a->events_watch = NULL;
	watch_close(&a->watch);
	peers_done(&a->peers);
	build_free(a->snapshot);
	a->snapshot = NULL;
	a->life = (struct agent_life){ 0 };
	buf_done(&a->deep);
	a->deep_due = false;
	a->urgency.on = false;
}
