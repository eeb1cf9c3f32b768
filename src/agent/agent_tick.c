/* SPDX-License-Identifier: Apache-2.0 */
/* One tick: read, scan if it may be, close or age the books, judge, send. */
#include <stdio.h>

#include "agent/agent_parts.h"
#include "agent/build.h"
#include "ledger/reconcile.h"
#include "sys/clock.h"

enum {
	STALL_BP = 1000,  /* memory.pressure full avg10: a tenth of the time nobody in the container ran */
	MOVED_SHARE = 50, /* the floor has moved by a fiftieth of the limit since the scan: who was it? */
	MOVED_BYTES = 32 << 20,
	SOON_MS = 50,
	WAKE_QUIET_MS = 600000,
};

uint32_t agent_interval_ms(const struct agent *a)
{
	if (!a->life.on)
		return LOOK_INTERVAL_MS;
	if (a->urgency.on || a->leaving)
		return URGENT_INTERVAL_MS;
	/* By a policy the collector slows a fleet down, or looks closer. */
	return a->policy_interval_ms ? a->policy_interval_ms : (uint32_t)a->conf->interval_ms;
}

static void refresh(struct agent *a, struct wall wall)
{
	struct refresh_text texts[WATCH_FILES_MAX];
	size_t n = watch_texts(&a->watch, texts);
	refresh_run(a->snapshot, wall, texts, n);
	if (a->conf->pod_limit.kind == LIMIT_SET)
		a->snapshot->pod_others_bytes = peers_floor(&a->peers, a->watch.target.id.pid, clock_mono());
}

/* "flink 2.0.1", "kafka-streams 4.1.0", "jvm": what a fleet is filtered by; the role says what of Flink it is. */
static bool name_engine(struct agent *a, const struct engine_state *engine)
{
	static const char *const names[ENGINE_COUNT] = { "", "flink", "flink", "kafka-streams", "jvm" };
	char name[sizeof a->engine];
	bool versioned = names[engine->kind][0] && engine->version[0];
	(void)snprintf(name, sizeof name, "%s%s%s", names[engine->kind], versioned ? " " : "",
		       versioned ? engine->version : "");
	bool other = strcmp(name, a->engine) != 0;
	str_copy(a->engine, sizeof a->engine, str_of(name));
	return other;
}

static void replace_snapshot(struct agent *a, struct snapshot *built)
{
	build_free(a->snapshot);
	a->snapshot = built;
	str_copy(a->jdk, sizeof a->jdk, str_of(built->jdk));
	bool other_engine = name_engine(a, &built->engine);
	static const enum wire_role roles[ENGINE_COUNT] = { [ENGINE_FLINK_TASKMANAGER] = ROLE_TASKMANAGER,
							    [ENGINE_FLINK_JOBMANAGER] = ROLE_JOBMANAGER,
							    [ENGINE_KAFKA_STREAMS] = ROLE_STREAMS,
							    [ENGINE_JVM] = ROLE_JVM };
	struct wire_subject *subject = &a->subject;
	enum wire_role role = roles[built->engine.kind];
	/* A page that is not there now unsays no job: what ran last is what a post-mortem asks for. */
	bool other_jobs =
		built->engine.n_jobs && (built->engine.n_jobs != subject->n_jobs ||
					 memcmp(built->engine.jobs, subject->jobs, sizeof subject->jobs) != 0);
	if (other_jobs) {
		_Static_assert(sizeof subject->jobs == sizeof built->engine.jobs, "the same names");
		memcpy(subject->jobs, built->engine.jobs, sizeof subject->jobs);
		subject->n_jobs = built->engine.n_jobs;
	}
	if (other_jobs || other_engine || subject->role != role) {
		subject->role = role;
		outbox_subject(a->outbox, subject);
	}
}

void agent_rebuild(struct agent *a)
{
	struct err err = { 0 };
	struct snapshot *built = NULL;
	int rc = a->snapshot ? build_again(&a->watch.evidence, a->snapshot, &built, &err)
			     : build_run(&a->watch.evidence, &built, &err);
	if (rc < 0) {
		a->builds_failed_total++;
		logger_say(a->log, SAY_ERROR, "snapshot-failed", "%s", err.message);
		return;
	}
	struct wall wall = a->snapshot ? a->snapshot->taken : clock_wall();
	replace_snapshot(a, built);
	refresh(a, wall);
}

/* As far as known: the last scan's largest mapping, else the whole of the process, of which the heap is most. */
static uint64_t largest(const struct agent *a)
{
	uint64_t seen = scan_largest(a->snapshot);
	return seen ? seen : qty_or(a->snapshot->status.rss_anon_bytes, 0);
}

static bool has_moved(const struct agent *a)
{
	uint64_t floor = qty_or(a->ledger->floor_bytes, 0), then = a->life.floor_at_scan;
	if (!a->mark->known || !floor || !then)
		return false;
	uint64_t by = floor > then ? floor - then : then - floor;
	const struct limit *limit = &a->ledger->limit;
	return by > (limit->kind == LIMIT_SET ? limit->bytes / MOVED_SHARE : MOVED_BYTES);
}

/* A scan that was due and may not be made for long is told as any other input that is missing. */
static void tell_refusal(struct agent *a, enum budget_answer answer)
{
	if ((answer != BUDGET_HOLD && answer != BUDGET_QUOTA) || evidence_find(&a->watch.evidence, "proc/smaps"))
		return;
	char why[200];
	(void)snprintf(why, sizeof why,
		       "not scanned: it would hold the JVM's address space for some %llu ms at once, more than %s",
		       (unsigned long long)(budget_predict_ns(&a->budget, largest(a)) / 1000000),
		       answer == BUDGET_HOLD ? "smaps-hold allows" : "half the CPU quota of this container");
	evidence_fail_set(&a->watch.evidence, "proc/smaps", ERR_LIMIT, why);
	logger_say(a->log, SAY_WARNING, "scan-refused", "%s", why);
	agent_rebuild(a);
}

static bool scan_is_due(struct agent *a, struct mono now)
{
	const struct agent_life *life = &a->life;
	if (!life->scanned && !(life->asked_jvm && life->asked_engine) &&
	    agent_ms_since(life->opened, now) < FIRST_SCAN_WAIT_MS)
		return false;
	const struct cgroup_pressure_line *full = &a->snapshot->cgroup.pressure.full;
	struct budget_ask ask = { .now = now,
				  .sooner = a->urgency.on || !life->scanned || a->look_now || has_moved(a),
				  .stalled = full->known && full->avg10_bp > STALL_BP,
				  .largest_bytes = largest(a) };
	enum budget_answer answer = budget_ask(&a->budget, &ask);
	if (answer != BUDGET_GO)
		tell_refusal(a, answer);
	return answer == BUDGET_GO;
}

/* True: the scan that is due waits for figures of the engine, and the tick with it. */
static bool awaits_figures(struct agent *a, struct mono now)
{
	struct agent_life *life = &a->life;
	const struct evidence *evidence = &a->watch.evidence;
	struct asking_scan ask = {
		.stage = life->figures,
		.tells = life->scanned &&
			 (evidence_has(evidence, "http/metrics.0") || evidence_has(evidence, "http/jolokia.0")),
		.busy = slow_runs(a->slow),
		.due_ms = agent_ms_since(now, life->engine_due),
		.tick_ms = (uint64_t)a->conf->interval_ms,
		.awaited_ms = agent_ms_since(life->figures_asked, now),
	};
	enum asking_step step = asking_step(&ask);
	if (step == ASKING_SCAN)
		return false;
	if (step == ASKING_FETCH) {
		life->engine_due = life->figures_asked = now;
		agent_ask_slow(a, now, false);
		if (slow_runs(a->slow))
			life->figures = ASKING_AWAITED;
	}
	return life->figures == ASKING_AWAITED;
}

/* True: there are fresh mappings in a fresh snapshot. */
static bool scan(struct agent *a, struct wall wall)
{
	struct err err = { 0 };
	struct budget_walk walk;
	struct snapshot *built = NULL;
	struct count before = own_cpu_throttled(&a->cpu);
	int rc = scan_run(&a->watch, &built, &walk, &err);
	struct count after = own_cpu_throttled(&a->cpu);
	walk.throttled = before.known && after.known && after.n > before.n;
	budget_spent(&a->budget, &walk);
	a->look_now = false;
	a->life.scanned = true; /* or tried: the next one comes when it is due */
	if (rc < 0) {
		logger_say(a->log, SAY_WARNING, "scan-failed", "%s", err.message);
		agent_rebuild(a);
		return false;
	}
	a->life.scans_total++;
	replace_snapshot(a, built);
	refresh(a, wall);
	return true;
}

static void keep_books(struct agent *a, struct mono now, bool scanned)
{
	if (scanned)
		a->life.scanned_at = now;
	uint64_t age = a->mark->known || scanned ? agent_ms_since(a->life.scanned_at, now) : 0;
	a->snapshot->age_ms = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
	recon_run(a->snapshot, a->ledger);
	if (scanned) {
		aged_keep(a->snapshot, a->ledger, a->mark);
		a->life.floor_at_scan = qty_or(a->ledger->floor_bytes, 0);
	} else {
		aged_apply(a->mark, a->snapshot, a->snapshot->age_ms, a->ledger);
	}
	if (qty_known(a->ledger->floor_bytes) && a->ledger->floor_bytes.bytes > qty_or(a->life.peak_floor, 0))
		a->life.peak_floor = a->ledger->floor_bytes;
	history_tick(a->history, now, a->snapshot, a->ledger, &a->snapshot->engine.context);
	if (scanned)
		history_scan(a->history, now, a->snapshot, a->ledger);
	killed_step(&a->life.killed, &a->snapshot->cgroup.events, a->ledger, scanned);
	history_look(a->history, now, a->snapshot, a->ledger, a->space, a->view);
}

static void send_sample(struct agent *a, struct mono now, struct wall wall, bool scanned)
{
	struct wire_sample sample;
	uint64_t mono_ms = agent_ms_since(a->began, now);
	if (!a->life.on) {
		sample_none(agent_interval_ms(a), mono_ms, wall, &sample);
	} else {
		struct sample_input input = { .snapshot = a->snapshot,
					      .ledger = a->ledger,
					      .mark = a->mark,
					      .history = a->view,
					      .scan_age_ms = a->snapshot->age_ms,
					      .with_composition = scanned || a->composition_due,
					      .urgent = a->urgency.on,
					      .interval_ms = agent_interval_ms(a),
					      .mono_ms = mono_ms,
					      .wall = wall };
		sample_make(&input, &sample);
		sample_thin(&a->books_told, a->composition_due, &sample);
	}
	a->composition_due &= !sample.has_composition;
	outbox_sample(a->outbox, &sample);
}

/* Once a life, when all sources have been asked: what is missing, and what it costs. */
static void tell_access(struct agent *a)
{
	const struct finding *finding = rules_finding(a->verdict, "access-degraded");
	if (!missing_said_step(&a->life.missing_said, finding))
		return;
	logger_say(a->log, SAY_INFO, finding ? "inputs-missing" : "inputs-complete", "access is %s%s%s",
		   access_level_names[a->snapshot->access], finding ? ": " : "", finding ? finding->observation : "");
}

/* False: the rest of the tick comes in a moment, with the engine's answer. */
static bool tick_target(struct agent *a, struct mono now, struct wall wall)
{
	struct err err = { 0 };
	if (watch_read(&a->watch, &err) < 0) {
		logger_say(a->log, SAY_WARNING, "target-ended", "%s", err.message);
		agent_died(a, now);
		send_sample(a, now, wall, false);
		return true;
	}
	a->life.seen = now;
	if (!a->snapshot)
		agent_rebuild(a);
	if (!a->snapshot)
		return true; /* no memory now: the next tick tries again */
	refresh(a, wall);
	lately_step(&a->life.lately, now, &a->snapshot->cgroup.events);
	bool due = scan_is_due(a, now);
	if (due && awaits_figures(a, now))
		return false;
	a->life.figures = ASKING_IDLE;
	bool scanned = due && scan(a, wall);
	keep_books(a, now, scanned);
	bool first;
	if (urgency_step(&a->urgency, now, a->snapshot, a->ledger, &first) && first) {
		/* Page cache alone does that in a healthy pod: no reason to worry who reads it. */
		if (a->urgency.low)
			logger_say(a->log, SAY_WARNING, "urgent", "near the limit: one sample a second, sent at once");
		else
			logger_say(
				a->log, SAY_INFO, "urgent",
				"the charge has met the limit and the kernel reclaims: one sample a second for a minute");
		agent_look_deeper(a);
	}
	agent_judge(a, now, wall);
	if (a->life.scanned)
		tell_access(a);
	if (scanned)
		postmortem_life_of(a->snapshot, &a->subject, "", &a->this_life);
	send_sample(a, now, wall, scanned);
	agent_ask_slow(a, now, first);
	return true;
}

static void show(struct agent *a, struct wall wall)
{
	const struct agent_sight sight = { .at = wall,
					   .snapshot = a->life.on ? a->snapshot : NULL,
					   .ledger = a->ledger,
					   .verdict = a->verdict,
					   .history = a->view,
					   .budget = &a->budget,
					   .waiting = a->waiting,
					   .has_books = a->mark->known,
					   .scanned = a->life.scans_total != a->scans_shown,
					   .asking = slow_runs(a->slow),
					   .urgent = a->urgency.on,
					   .interval_ms = agent_interval_ms(a),
					   .lives_total = a->lives_total,
					   .died = a->died.at,
					   .death = a->died.title };
	a->scans_shown = a->life.scans_total;
	a->onlooker->saw(a->onlooker->context, &sight);
}

void agent_tick(void *context)
{
	struct agent *a = context;
	if (a->stopping)
		return;
	struct mono now = clock_mono();
	struct wall wall = clock_wall();
	if (!a->life.on)
		agent_look(a, now);
	/* Nothing to watch is news as well: silence would say that the agent is gone. */
	bool whole = true;
	if (a->life.on)
		whole = tick_target(a, now, wall);
	else
		send_sample(a, now, wall, false);
	a->ticked = now;
	a->ticks_total++;
	uint64_t took = clock_mono().ns - now.ns;
	a->tick_ns_total += took;
	if (took > a->longest_tick_ns)
		a->longest_tick_ns = took;
	uint64_t interval = whole ? agent_interval_ms(a) : ASKING_WAIT_MS, spent = took / 1000000;
	if (a->onlooker)
		show(a, wall);
	if (a->leaving && (!a->life.on || clock_mono().ns >= a->leave_at.ns))
		agent_stop(a);
	else if (!a->resting)
		loop_timer_set(a->tick_timer, interval > spent + SOON_MS ? interval - spent : SOON_MS);
}

void agent_woken(void *context)
{
	struct agent *a = context;
	watch_events_taken(&a->watch);
	a->wakes_total++;
	struct mono now = clock_mono();
	/* A cache that stands at its limit counts without end, and has been looked at: the ticks see enough of it. */
	bool known = a->urgency.max_at.ns && agent_ms_since(a->urgency.max_at, now) < WAKE_QUIET_MS;
	if (known && !a->urgency.on)
		return;
	uint64_t since = agent_ms_since(a->ticked, now);
	loop_timer_set(a->tick_timer, since < TICK_GAP_MS ? TICK_GAP_MS - since : 0);
}
