/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/resize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sat.h"
#include "base/units.h"

enum { MIB = 1 << 20, STEP = 16 * MIB };

/*
 * Head-room and floors. `percent` and `margin`: what is kept above the highest that was seen, the larger of both. `least`:
 * it is never lowered below that. `worth`: less is not worth a restart.
 */
struct policy {
	unsigned percent;
	uint64_t margin, least, worth;
	const char *because;
};

static const struct policy policies[RESIZE_BUDGET_COUNT] = {
	/* What nothing enforces: malloc, stacks and collectors peak between two readings. Flink's own least is 192 MiB. */
	[RESIZE_OVERHEAD] = { 20, 64ull * MIB, 192ull * MIB, 64ull * MIB,
			      "a fifth above the highest, and Flink's least of 192m" },
	/* Classes of one more job or restart must find room beside those that are loaded (FLINK-35489: 22 MB were proposed). */
	[RESIZE_METASPACE] = { 25, 64ull * MIB, 128ull * MIB, 64ull * MIB, "what was loaded and 64m for one more job" },
	[RESIZE_DIRECT] = { 20, 32ull * MIB, 64ull * MIB, 64ull * MIB, "a fifth above the highest" },
	/* A cache fills with time: what it has not taken yet it may take tomorrow. */
	[RESIZE_MANAGED] = { 50, 64ull * MIB, 0, 128ull * MIB, "half above the highest, for a cache fills with time" },
	/* Resident is what was touched, not what is live: only a heap that was never touched is too large. */
	[RESIZE_HEAP] = { 50, 128ull * MIB, 256ull * MIB, 256ull * MIB,
			  "half above the highest that was ever touched" },
};

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* False: not one was read. */
static bool percentiles(uint64_t *values, size_t n, struct resize_row *row)
{
	if (n == 0)
		return false;
	qsort(values, n, sizeof *values, compare);
	row->known = true;
	row->p50_bytes = values[(n - 1) / 2];
	row->p99_bytes = values[(n * 99 + 99) / 100 - 1];
	row->max_bytes = values[n - 1];
	return true;
}

static uint64_t round_up(uint64_t bytes)
{
	return sat_add(bytes, STEP - 1) / STEP * STEP;
}

/* What the highest that was seen wants. */
static uint64_t wanted(const struct policy *policy, uint64_t max)
{
	uint64_t more = max / 100 * policy->percent;
	uint64_t want = round_up(sat_add(max, more > policy->margin ? more : policy->margin));
	return want > policy->least ? want : policy->least;
}

static bool nobody_takes_managed(const struct resize_reading *last)
{
	return last->backend == BACKEND_HASHMAP && last->batch == TRISTATE_FALSE && last->python == TRISTATE_FALSE;
}

static void say(struct resize_row *row, uint64_t proposed, const char *why)
{
	row->proposed_bytes = proposed;
	str_copy(row->why, sizeof row->why, str_of(why));
}

/* Nothing is lowered by few readings, and a heap is raised by its own finding, not by what is resident. */
static void propose(enum resize_budget budget, const struct resize *resize, const struct resize_reading *last,
		    bool heap_pressure, struct resize_row *row)
{
	const struct policy *policy = &policies[budget];
	uint64_t want = wanted(policy, row->max_bytes);
	say(row, row->set_bytes, "it fits");
	if (!row->known)
		say(row, row->set_bytes, "its use was not read");
	else if (budget == RESIZE_HEAP && heap_pressure)
		say(row, round_up(row->set_bytes + row->set_bytes / 4), "heap-pressure is open: a quarter more");
	else if (budget == RESIZE_MANAGED && nobody_takes_managed(last) && row->max_bytes < MIB && !resize->too_few)
		say(row, 0, "state is on the heap and no batch or Python job runs: nobody takes it");
	else if (budget == RESIZE_OVERHEAD && row->max_bytes > row->set_bytes)
		say(row, want, policy->because);
	else if (budget != RESIZE_HEAP && budget != RESIZE_MANAGED && budget != RESIZE_OVERHEAD &&
		 row->max_bytes > row->set_bytes / 10 * 9)
		say(row, want > row->set_bytes ? want : round_up(row->set_bytes + policy->margin),
		    "over nine tenths of it are in use");
	else if (sat_add(want, policy->worth) <= row->set_bytes && resize->too_few)
		say(row, row->set_bytes, "it may be too large: too few readings to lower it");
	/* The direct budget is mostly the network's, whose size a report does not tell apart. */
	else if (sat_add(want, policy->worth) <= row->set_bytes && budget == RESIZE_DIRECT)
		say(row, row->set_bytes, "more than is used, but the network's buffers are a part of it");
	else if (sat_add(want, policy->worth) <= row->set_bytes)
		say(row, want, policy->because);
}

/* Raising first: it takes nothing away. Then what nobody uses, then what is bounded by the JVM, then caches, the heap last. */
static unsigned risk_of(enum resize_budget budget, const struct resize_row *row)
{
	static const unsigned lowering[RESIZE_BUDGET_COUNT] = {
		[RESIZE_METASPACE] = 7, [RESIZE_OVERHEAD] = 8, [RESIZE_DIRECT] = 9,
		[RESIZE_MANAGED] = 10,  [RESIZE_HEAP] = 11,
	};
	if (row->proposed_bytes > row->set_bytes)
		return (unsigned)budget;
	return budget == RESIZE_MANAGED && row->proposed_bytes == 0 ? 6 : lowering[budget];
}

/* As Flink takes it: "512m", or bytes. */
static const char *flink_size(char dest[32], uint64_t bytes)
{
	if (bytes % MIB == 0)
		(void)snprintf(dest, 32, "%llum", (unsigned long long)(bytes / MIB));
	else
		(void)snprintf(dest, 32, "%llub", (unsigned long long)bytes);
	return dest;
}

static void write_fragment(const struct resize *resize, const struct resize_reading *last, struct resize_step *step)
{
	const char *role = resize->kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : "taskmanager";
	char size[32], process[32], change[RESIZE_TEXT_CAP / 2];
	(void)flink_size(size, step->to_bytes);
	switch (step->budget) {
	case RESIZE_OVERHEAD:
		(void)snprintf(change, sizeof change,
			       "%s.memory.jvm-overhead.min: %s\n%s.memory.jvm-overhead.max: %s\n", role, size, role,
			       size);
		break;
	case RESIZE_METASPACE:
		(void)snprintf(change, sizeof change, "%s.memory.jvm-metaspace.size: %s\n", role, size);
		break;
	case RESIZE_MANAGED:
		(void)snprintf(change, sizeof change, "taskmanager.memory.managed.size: %s\n", size);
		break;
	case RESIZE_DIRECT:
		(void)flink_size(size, step->to_bytes - step->from_bytes);
		(void)snprintf(change, sizeof change, "# %s more than now; this is right where it is not set\n%s: %s\n",
			       size,
			       resize->kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager.memory.off-heap.size"
								       : "taskmanager.memory.task.off-heap.size",
			       resize->kind == ENGINE_FLINK_JOBMANAGER ? flink_size(process, step->to_bytes) : size);
		break;
	case RESIZE_HEAP:
	case RESIZE_BUDGET_COUNT:
		change[0] = '\0';
		break;
	}
	/* Pinned, so that a smaller process does not take from what has its own step. */
	char managed[96] = "";
	if (step->budget == RESIZE_HEAP && qty_known(last->set[RESIZE_MANAGED]))
		(void)snprintf(managed, sizeof managed, "taskmanager.memory.managed.size: %s\n",
			       flink_size(size, resize->rows[RESIZE_MANAGED].proposed_bytes));
	(void)snprintf(step->fragment, sizeof step->fragment, "%s%s%s.memory.process.size: %s\n", change, managed, role,
		       flink_size(process, step->process_bytes));
}

static void write_watch(struct resize_step *step)
{
	static const char *const steady[RESIZE_BUDGET_COUNT] = {
		[RESIZE_OVERHEAD] =
			"jvm-overhead in `bankfull report` stays below its budget, and freeboard does not shrink, through a full day's peak",
		[RESIZE_METASPACE] =
			"Status.JVM.Memory.Metaspace.Used stays below nine tenths of it after each job was submitted again",
		[RESIZE_DIRECT] =
			"Status.JVM.Memory.Direct.MemoryUsed stays below nine tenths of -XX:MaxDirectMemorySize",
		[RESIZE_MANAGED] = "block-cache-hit and read latency stay as they were, and backpressure does not rise",
		[RESIZE_HEAP] =
			"time in collections stays as it was, and the heap after a full one stays below two thirds",
	};
	static const char *const restore[RESIZE_BUDGET_COUNT] = {
		[RESIZE_OVERHEAD] =
			"freeboard stays positive while state is restored from a savepoint with one TaskManager less",
		[RESIZE_METASPACE] =
			"no OutOfMemoryError: Metaspace after three restarts of the job in the same process",
		[RESIZE_DIRECT] = "no OutOfMemoryError: Direct buffer memory while the job restores and catches up",
		[RESIZE_MANAGED] = "a restore from the last savepoint takes no longer than before",
		[RESIZE_HEAP] = "no OutOfMemoryError: Java heap space while the job catches up on an hour of records",
	};
	str_copy(step->steady, sizeof step->steady, str_of(steady[step->budget]));
	str_copy(step->restore, sizeof step->restore, str_of(restore[step->budget]));
}

static void make_steps(const struct resize_reading *last, struct resize *resize)
{
	uint64_t process = resize->process_bytes;
	for (unsigned risk = 0; risk < 12; risk++)
		for (int i = 0; i < RESIZE_BUDGET_COUNT; i++) {
			const struct resize_row *row = &resize->rows[i];
			if (row->proposed_bytes == row->set_bytes || risk_of((enum resize_budget)i, row) != risk)
				continue;
			struct resize_step *step = &resize->steps[resize->n_steps++];
			char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
			*step = (struct resize_step){ .budget = (enum resize_budget)i,
						      .raises = row->proposed_bytes > row->set_bytes,
						      .from_bytes = row->set_bytes,
						      .to_bytes = row->proposed_bytes };
			process = process - row->set_bytes + row->proposed_bytes;
			step->process_bytes = process;
			if (resize->limit.kind == LIMIT_SET && step->raises && process > resize->limit.bytes)
				step->limit_bytes = round_up(process);
			(void)snprintf(step->title, sizeof step->title, "%s %s from %s to %s",
				       step->raises ? "raise" : "lower", resize_budget_names[i],
				       units_format(a, step->from_bytes), units_format(b, step->to_bytes));
			write_fragment(resize, last, step);
			write_watch(step);
		}
	if (resize->limit.kind != LIMIT_SET)
		return;
	/* What is not reclaimable may stand above the plan: the limit follows the higher of both. */
	uint64_t seen = resize->floor.known ? round_up(resize->floor.max_bytes + resize->floor.max_bytes / 20) : 0;
	resize->floor.set_bytes = resize->limit.bytes;
	say(&resize->floor, process > seen ? round_up(process) : seen,
	    process > seen ? "the process size once all steps are made"
			   : "the highest floor that was seen, and a twentieth");
}

/* The last reading is the highest, and the first far below: what grows is no size. */
static void say_growth(uint64_t first, uint64_t last, struct resize_row *row)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (!row->known || last < row->max_bytes || first > last - last / 10 || row->proposed_bytes <= row->set_bytes)
		return;
	(void)snprintf(row->why, sizeof row->why, "it grew from %s to %s over the readings: find who grows first",
		       units_format(a, first), units_format(b, last));
}

static int same(const struct resize_reading *readings, const char *const *names, size_t n, struct err *err)
{
	for (size_t i = 1; i < n; i++) {
		if (readings[i].kind != readings[0].kind)
			return err_set(err, ERR_USAGE, "%.80s is of a %s and %.80s of a %s: size one at a time",
				       names[0], engine_names[readings[0].kind], names[i],
				       engine_names[readings[i].kind]);
		for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
			if (readings[i].set[b].bytes != readings[0].set[b].bytes)
				return err_set(
					err, ERR_USAGE,
					"reports of two configurations: %s is %llu in %.80s and %llu in %.80s, %llu bytes apart",
					resize_budget_names[b], (unsigned long long)readings[0].set[b].bytes, names[0],
					(unsigned long long)readings[i].set[b].bytes, names[i],
					(unsigned long long)(readings[i].set[b].bytes > readings[0].set[b].bytes
								     ? readings[i].set[b].bytes -
									       readings[0].set[b].bytes
								     : readings[0].set[b].bytes -
									       readings[i].set[b].bytes));
	}
	return 0;
}

int resize_run(const struct resize_reading *readings, const char *const *names, size_t n, struct resize *ret_resize,
	       struct err *err)
{
	if (n == 0 || n > RESIZE_READINGS_MAX)
		return err_set(err, ERR_USAGE, "--from-report: 1 to %d reports are accepted", RESIZE_READINGS_MAX);
	int rc = same(readings, names, n, err);
	if (rc < 0)
		return rc;
	auto_free uint64_t *values = malloc(n * sizeof *values);
	if (!values)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	const struct resize_reading *last = &readings[n - 1];
	struct resize resize = {
		.kind = last->kind, .n_readings = n, .limit = last->limit, .too_few = n < RESIZE_READINGS_LEAST
	};
	bool heap_pressure = false;
	for (size_t i = 0; i < n; i++)
		heap_pressure = heap_pressure || readings[i].heap_pressure;
	for (int b = 0; b < RESIZE_BUDGET_COUNT; b++) {
		struct resize_row *row = &resize.rows[b];
		size_t m = 0;
		for (size_t i = 0; i < n; i++)
			if (qty_known(readings[i].used[b]))
				values[m++] = readings[i].used[b].bytes;
		(void)percentiles(values, m, row);
		row->set_bytes = qty_or(last->set[b], 0);
		resize.process_bytes = sat_add(resize.process_bytes, row->set_bytes);
		if (qty_known(last->set[b]))
			propose((enum resize_budget)b, &resize, last, heap_pressure, row);
		if (n >= RESIZE_READINGS_LEAST && qty_known(readings[0].used[b]))
			say_growth(readings[0].used[b].bytes, qty_or(last->used[b], 0), row);
	}
	size_t m = 0;
	for (size_t i = 0; i < n; i++)
		if (qty_known(readings[i].floor_bytes))
			values[m++] = readings[i].floor_bytes.bytes;
	(void)percentiles(values, m, &resize.floor);
	make_steps(last, &resize);
	*ret_resize = resize;
	return 0;
}
