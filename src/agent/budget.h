/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When smaps may be walked: PURE, the caller gives every clock reading.
 *
 * The walk holds the target's mmap_lock (measured: 6 ms a GiB of 4 KiB pages, a mapping at a time; a field report has
 * 21), so it is paid for before the next one: at most `share_bp` of wall time inside it. One hold is bounded, too: no walk
 * whose predicted time in its largest mapping passes `hold_ns_max`, or half of what our own cpu.max gives us a period,
 * because a reader that is throttled while it holds the lock stalls the JVM (tried: 1.8 s at a quota of 20m).
 */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include "bankfull/quantity.h"

enum budget_answer {
	BUDGET_GO = 0,
	BUDGET_NOT_DUE,  /* it is not time yet: no reason to tell */
	BUDGET_SHARE,    /* wanted sooner, but the last walk is not paid for */
	BUDGET_HOLD,     /* the largest mapping would take longer than one hold may */
	BUDGET_QUOTA,    /* the same by our own CPU quota */
	BUDGET_PRESSURE, /* memory is stalling: it waits longer */
	BUDGET_ANSWER_COUNT
};
extern const char *const budget_answer_names[BUDGET_ANSWER_COUNT];

struct budget {
	/* settings */
	uint64_t share_bp, interval_ns, hold_ns_max;
	uint64_t quota_ns; /* what cpu.max grants in one period; 0: no quota */
	/* measured */
	bool walked;
	struct mono ended; /* of the last walk */
	bool refused;
	struct mono refused_at;
	uint64_t last_ns, last_hold_cpu_ns, last_hold_bytes;
	unsigned backoff; /* the interval is doubled so many times: throttled walks, stalls */
	/* for metrics */
	uint64_t walks_total, walk_ns_total, longest_walk_ns, longest_hold_ns, throttled_total;
	uint64_t skipped_total[BUDGET_ANSWER_COUNT];
	enum budget_answer last_skip; /* of the last time it was due and did not go; GO: it went */
};

struct budget_ask {
	struct mono now;
	bool sooner;            /* urgent, or the floor's slope has changed: as soon as it is paid for */
	bool stalled;           /* by PSI or by throttling of the target */
	uint64_t largest_bytes; /* resident in the largest mapping, as far as known */
};

/* What the caller measured around a walk. */
struct budget_walk {
	struct mono began, ended;
	uint64_t inside_ns;     /* in read(2) of smaps and pagemap */
	uint64_t hold_ns;       /* the longest single read: one hold of the lock at most */
	uint64_t hold_cpu_ns;   /* our CPU time in the read with the largest mapping: waiting is no walking */
	uint64_t largest_bytes; /* resident in the largest mapping it saw */
	bool throttled;         /* our own nr_throttled rose meanwhile */
};

void budget_start(struct budget *budget, uint64_t share_bp, uint64_t interval_ms, uint64_t hold_ms, uint64_t quota_ns);

/* May a walk start now? Counts why not, where one was due. */
enum budget_answer budget_ask(struct budget *budget, const struct budget_ask *ask);

/* A walk has ended. */
void budget_spent(struct budget *budget, const struct budget_walk *walk);

/* Another target: its mappings are other ones, what was spent stays spent. */
void budget_forget_target(struct budget *budget);

/* How long one hold of a mapping with so much resident would take. */
uint64_t budget_predict_ns(const struct budget *budget, uint64_t largest_bytes);

#endif
