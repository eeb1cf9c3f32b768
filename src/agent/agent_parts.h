/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's state and the doors between its files. Internal to src/agent. */
#ifndef AGENT_AGENT_PARTS_H
#define AGENT_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/asking.h"
#include "agent/budget.h"
#include "agent/lately.h"
#include "agent/missing_said.h"
#include "agent/outbox.h"
#include "agent/peers.h"
#include "agent/postmortem.h"
#include "agent/sample.h"
#include "agent/scan.h"
#include "agent/slow.h"
#include "agent/watch.h"
#include "ledger/history.h"
#include "ledger/killed.h"
#include "net/loop.h"
#include "net/server.h"
#include "rules/rules.h"
#include "rules/standing.h"
#include "sys/logger.h"

enum {
	URGENT_INTERVAL_MS = 1000,
	TICK_GAP_MS = 1000,       /* what memory.events wakes comes no closer to the tick before */
	LOOK_INTERVAL_MS = 2000,  /* while there is no target */
	FIRST_SCAN_WAIT_MS = 6000 /* for what JVM and engine say, so that the first books have their claims */
};

/* The target of now; all zero between two lives. */
struct agent_life {
	bool on;
	struct mono opened, seen; /* seen: the last tick at which it lived */
	bool scanned, asked_jvm, asked_engine;
	struct missing_said missing_said;
	struct mono scan_tried, jvm_due, jvm_asked, engine_due, scanned_at;
	enum asking_stage figures; /* of the engine, for the scan that is due */
	struct mono figures_asked;
	struct qty anon_asked; /* RssAnon when the JVM was asked last */
	uint64_t floor_at_scan;
	struct qty peak_floor;
	struct lately lately;
	struct killed killed;
	uint64_t scans_total;
};

struct agent {
	const struct agentconf *conf;
	struct logger *log;
	const char *version;
	struct loop *loop;
	struct outbox *outbox;
	struct server *server;
	struct slow *slow;
	struct loop_timer *tick_timer, *listen_timer;
	struct loop_watch *exit_watch, *events_watch, *onlooker_watch;
	const struct agent_onlooker *onlooker; /* NULL: nobody looks on */
	bool resting, look_now;                /* as the onlooker wished; look_now: until the next scan */
	uint64_t scans_shown;
	struct agent_died { /* the last one, for the onlooker */
		struct wall at;
		char title[sizeof((struct wire_postmortem *)0)->title];
	} died;
	struct wire_subject subject;
	char jdk[64], engine[32]; /* of hello */
	struct mono began;        /* the epoch */
	struct wall started;      /* the same, as the clock was then */
	struct ruleconf rules;    /* in force: our own, or under a policy */
	uint32_t policy_interval_ms;
	uint64_t policy_version, policies_refused_total;
	bool gone;              /* leaving: its pod is gone, and what is kept of it may go */
	bool leaving, stopping; /* asked to end: the JVM is watched on; what is left is sent */
	struct mono leave_at;   /* leaving: at the latest */

	struct watch watch;
	struct agent_life life;
	char waiting[320]; /* for what; "" while there is a target */
	struct snapshot *snapshot;
	struct ledger *ledger;
	struct verdict *verdict;
	struct aged_mark *mark;
	struct history *history;
	struct trend_space *space;
	struct history_view *view;
	struct standings standings;
	struct agent_said {         /* of open findings, as last told */
		struct wall opened; /* names an episode */
		int owner;
		char title[160];
	} said[FINDINGS_MAX];
	struct urgency urgency;
	struct buf deep; /* of this life, as text: see deep.h; empty: it was not near its limit */
	bool deep_due;   /* it is to be told */
	struct budget budget;
	struct own_cpu cpu;
	struct peers peers;
	bool composition_due; /* a session began: the next sample carries one */
	struct books_told books_told;

	struct mono ticked; /* the last tick */
	uint64_t ticks_total, tick_ns_total, longest_tick_ns, lives_total, deaths_total, wakes_total;
	uint64_t builds_failed_total;
	uint16_t deaths_by[DEATH_CAUSE_COUNT][OWNER_COUNT + 1];
	struct postmortem_life this_life, life_before;
};

/* agent.c: nothing is watched any more. */
void agent_stop(struct agent *a);

/* agent_tick.c */
void agent_tick(void *agent);
void agent_woken(void *agent);       /* memory.events counted something */
void agent_rebuild(struct agent *a); /* the evidence has changed beside the mappings */
uint32_t agent_interval_ms(const struct agent *a);

/* agent_life.c: with no target, look for one; the target has ended. */
void agent_look(struct agent *a, struct mono now);
void agent_died(struct agent *a, struct mono now);
void agent_close(struct agent *a);
bool agent_is_grave(const struct agent *a); /* near the limit, or the node is short of memory */
void agent_ask_slow(struct agent *a, struct mono now, bool deeper);
void agent_slow_done(void *agent, unsigned what, int rc, struct str text, const struct err *err);

/* agent_findings.c: rules over this tick's books, edges to the outbox. */
void agent_judge(struct agent *a, struct mono now, struct wall wall);
void agent_clear_findings(struct agent *a, struct mono now, struct wall wall);
void agent_look_deeper(struct agent *a);
size_t agent_open_findings(const struct agent *a, struct postmortem_finding *ret, size_t room);

/* agent_listen.c: /metrics, /healthz, /readyz. */
void agent_listen(void *agent);

static inline uint64_t agent_ms_since(struct mono then, struct mono now)
{
	return now.ns > then.ns ? (now.ns - then.ns) / 1000000 : 0;
}

#endif
