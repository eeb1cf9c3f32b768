/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader (reader.h) hands over after a tick: plain data, of one program on both sides of a fork, so that
 * pointers to what never moves (names of rules and of figures) hold on both. PURE.
 */
#ifndef WATCH_READING_H
#define WATCH_READING_H

#include "agent/agent.h"
#include "agent/budget.h"
#include "bankfull/finding.h"
#include "rules/silence.h"

enum { READING_TEXT_CAP = 320 };

struct reading {
	struct wall at;
	struct mono read; /* the same moment: for ages and spans */
	uint32_t interval_ms;
	bool asking, urgent;
	uint64_t lives_total;
	struct wall died; /* 0: no death was seen */
	char death[160];

	bool has_target; /* false: nothing below is said but `waiting` */
	char waiting[READING_TEXT_CAP];
	struct process_id process;
	enum engine engine;
	char version[32], jdk[64], container_id[80];
	enum jvm_gc gc;
	enum allocator allocator;
	char jobs[WIRE_JOBS_MAX][64];
	size_t n_jobs;

	struct ledger ledger;
	bool has_books, scanned;
	uint32_t books_age_ms;
	char no_books[READING_TEXT_CAP]; /* why there are no mappings; "" */
	struct verdict verdict;
	char reasons[FINDINGS_MAX][SILENCE_REASON_CAP]; /* of verdict.silenced[], whose own pointers are not ours */
	struct forecast forecast;
	uint64_t history_ms; /* seen so far in one piece */
	uint32_t settling_s;
	struct cgroup_events events;
	struct limit high;
	struct count stall_bp; /* memory.pressure, full avg10 */

	uint64_t walks_total, walk_ns_total, share_bp;
	enum budget_answer skipped; /* why the last scan that was due was not made; GO: it was */
};

void reading_take(struct reading *reading, const struct agent_sight *sight, struct mono now);

/* When the limit is reached, in words: "in about 3 h 20 min (java-heap grows)", "not growing", "not known yet: ...". */
void reading_when(const struct reading *reading, char *dest, size_t cap);
/* The owner of most bytes that the kernel cannot take back, or -1. */
int reading_largest(const struct reading *reading);

#endif
