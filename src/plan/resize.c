/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/resize_parts.h"

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
	[RESIZE_DIRECT] = { 20, 32ull * MIB, 64ull * MIB, 64ull * MIB,
			    "a fifth above the highest of a day and a restore, beside the network's" },
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

bool resize_percentiles(uint64_t *values, size_t n, struct resize_row *row)
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

uint64_t resize_round_up(uint64_t bytes)
{
	return sat_add(bytes, STEP - 1) / STEP * STEP;
}

/* What the highest that was seen wants. */
static uint64_t wanted(const struct policy *policy, uint64_t max)
{
	uint64_t more = max / 100 * policy->percent;
	uint64_t want = resize_round_up(sat_add(max, more > policy->margin ? more : policy->margin));
	return want > policy->least ? want : policy->least;
}

/* As the last reading of each pod says. */
static bool nobody_takes_managed(const struct resize_reading *readings, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n || readings[i + 1].pod != readings[i].pod;
		if (last && !resize_managed_is_idle(&readings[i].facts))
			return false;
	}
	return true;
}

void resize_say(struct resize_row *row, uint64_t proposed, const char *why)
{
	row->proposed_bytes = proposed;
	str_copy(row->why, sizeof row->why, str_of(why));
}

/* The network's buffers are taken at the start and stay; Netty and the framework keep 64 MiB, or a JobManager does. */
static uint64_t direct_least(const struct direct_split *split)
{
	return resize_round_up(sat_add(split->network, policies[RESIZE_DIRECT].least));
}

/*
 * Direct memory jumps where a job restores and catches up, and what is short then ends the process: it is lowered by what
 * was seen over a day with a restore in it.
 */
static void propose_less_direct(const struct resize *resize, uint64_t want, struct resize_row *row)
{
	const struct policy *policy = &policies[RESIZE_DIRECT];
	const struct direct_split *split = &resize->direct;
	if (want < direct_least(split))
		want = direct_least(split);
	if (resize->kind == ENGINE_FLINK_TASKMANAGER && split->source == DIRECT_UNREAD)
		resize_say(row, row->set_bytes, "more than is used, but how much of it is the network's is not known");
	else if (sat_add(want, policy->worth) > row->set_bytes)
		resize_say(row, row->set_bytes, "it fits: most of it is the network's");
	else if (resize->span_ms < RESIZE_DAY_MS)
		resize_say(row, row->set_bytes, "it may be too large: it is lowered by readings of a day or more");
	else if (!resize->restored)
		resize_say(row, row->set_bytes, "it may be too large: it is lowered once a restore was seen");
	else
		resize_say(row, want, policy->because);
}

/* Nothing is lowered by few readings, and a heap is raised by its own finding, not by what is resident. */
static void propose(enum resize_budget budget, const struct resize *resize, bool managed_idle, bool heap_pressure,
		    struct resize_row *row)
{
	const struct policy *policy = &policies[budget];
	uint64_t want = wanted(policy, row->max_bytes);
	resize_say(row, row->set_bytes, "it fits");
	if (!row->known)
		resize_say(row, row->set_bytes, "its use was not read");
	else if (budget == RESIZE_HEAP && heap_pressure)
		resize_say(row, resize_round_up(row->set_bytes + row->set_bytes / 4),
			   "heap-pressure is open: a quarter more");
	else if (budget == RESIZE_MANAGED && managed_idle && row->max_bytes < MIB && !resize->too_few)
		resize_say(row, 0, "state is on the heap and no batch or Python job runs: nobody takes it");
	else if (budget == RESIZE_OVERHEAD && row->max_bytes > row->set_bytes)
		resize_say(row, want, policy->because);
	else if (budget != RESIZE_HEAP && budget != RESIZE_MANAGED && budget != RESIZE_OVERHEAD &&
		 row->max_bytes > row->set_bytes / 10 * 9)
		resize_say(row, want > row->set_bytes ? want : resize_round_up(row->set_bytes + policy->margin),
			   "over nine tenths of it are in use");
	else if (sat_add(want, policy->worth) <= row->set_bytes && resize->too_few)
		resize_say(row, row->set_bytes, "it may be too large: too few readings to lower it");
	else if (sat_add(want, policy->worth) <= row->set_bytes && budget == RESIZE_DIRECT)
		propose_less_direct(resize, want, row);
	else if (sat_add(want, policy->worth) <= row->set_bytes)
		resize_say(row, want, policy->because);
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

static void make_steps(struct resize *resize)
{
	struct sizes sizes = { .process = resize->process_bytes, .direct = resize->direct };
	for (int i = 0; i < RESIZE_BUDGET_COUNT; i++)
		sizes.bytes[i] = resize->rows[i].set_bytes;
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
			sizes.process = sizes.process - row->set_bytes + row->proposed_bytes;
			sizes.bytes[i] = row->proposed_bytes;
			step->process_bytes = sizes.process;
			if (resize->limit.kind == LIMIT_SET && step->raises && sizes.process > resize->limit.bytes)
				step->limit_bytes = resize_round_up(sizes.process);
			(void)snprintf(step->title, sizeof step->title, "%s %s from %s to %s",
				       step->raises ? "raise" : "lower", resize_budget_names[i],
				       units_format(a, step->from_bytes), units_format(b, step->to_bytes));
			resize_write_step(resize, &sizes, step);
		}
	if (resize->limit.kind != LIMIT_SET)
		return;
	/* What is not reclaimable may stand above the plan: the limit follows the higher of both. */
	uint64_t seen =
		resize->floor.known ? resize_round_up(resize->floor.max_bytes + resize->floor.max_bytes / 20) : 0;
	resize->floor.set_bytes = resize->limit.bytes;
	/* Not rounded up to where nothing moves. */
	if (sizes.process == resize->limit.bytes && seen <= sizes.process) {
		resize_say(&resize->floor, sizes.process, "the process size, as it is");
		return;
	}
	resize_say(&resize->floor, sizes.process > seen ? resize_round_up(sizes.process) : seen,
		   sizes.process > seen ? "the process size once all steps are made"
					: "the highest floor that was seen, and a twentieth");
}

static void say_growth(uint64_t first, uint64_t last, struct resize_row *row)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (!row->known || last < row->max_bytes || first > last - last / 10 || row->proposed_bytes <= row->set_bytes)
		return;
	(void)snprintf(row->why, sizeof row->why, "it grew from %s to %s over the readings: find who grows first",
		       units_format(a, first), units_format(b, last));
}

/* One past the readings of the pod of this one. */
static size_t end_of_pod(const struct resize_reading *readings, size_t n, size_t from)
{
	size_t end = from + 1;
	while (end < n && readings[end].pod == readings[from].pod)
		end++;
	return end;
}

/* The last reading of a pod is the highest of all, and its first far below: what grows is no size. */
static void look_for_growth(const struct resize_reading *readings, size_t n, enum resize_budget budget,
			    struct resize_row *row)
{
	for (size_t from = 0, end; from < n; from = end) {
		end = end_of_pod(readings, n, from);
		const struct qty first = readings[from].used[budget], last = readings[end - 1].used[budget];
		if (end - from >= RESIZE_READINGS_LEAST && qty_known(first) && qty_known(last))
			say_growth(first.bytes, last.bytes, row);
	}
}

/* How long, and whether through a restore. */
static void look_at_window(const struct resize_reading *readings, size_t n, struct resize *resize)
{
	for (size_t from = 0, end; from < n; from = end) {
		end = end_of_pod(readings, n, from);
		int64_t span = readings[end - 1].taken.ms - readings[from].taken.ms;
		if (readings[from].taken.ms > 0 && span > 0 && (uint64_t)span > resize->span_ms)
			resize->span_ms = (uint64_t)span;
		for (size_t i = from; i < end; i++)
			resize->restored = resize->restored || readings[i].restored;
	}
}

int resize_same(const struct resize_reading *readings, const char *const *names, size_t n, struct err *err)
{
	if (n == 0 || n > RESIZE_READINGS_MAX)
		return err_set(err, ERR_USAGE, "--from-report: 1 to %d readings are accepted", RESIZE_READINGS_MAX);
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

bool resize_heap_pressure(const struct resize_reading *readings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (readings[i].heap_pressure)
			return true;
	return false;
}

int resize_run(const struct resize_reading *readings, const char *const *names, size_t n, struct resize *ret_resize,
	       struct err *err)
{
	int rc = resize_same(readings, names, n, err);
	if (rc < 0)
		return rc;
	auto_free uint64_t *values = malloc(n * sizeof *values);
	if (!values)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	const struct resize_reading *last = &readings[n - 1];
	struct resize resize = {
		.kind = last->kind, .n_readings = n, .limit = last->limit, .too_few = n < RESIZE_READINGS_LEAST
	};
	look_at_window(readings, n, &resize);
	resize.direct = resize_split_direct(readings, n);
	bool managed_idle = nobody_takes_managed(readings, n);
	bool heap_pressure = resize_heap_pressure(readings, n);
	for (int b = 0; b < RESIZE_BUDGET_COUNT; b++) {
		struct resize_row *row = &resize.rows[b];
		size_t m = 0;
		for (size_t i = 0; i < n; i++)
			if (qty_known(readings[i].used[b]))
				values[m++] = readings[i].used[b].bytes;
		(void)resize_percentiles(values, m, row);
		row->set_bytes = qty_or(last->set[b], 0);
		row->set_known = qty_known(last->set[b]);
		resize.process_bytes = sat_add(resize.process_bytes, row->set_bytes);
		if (qty_known(last->set[b]))
			propose((enum resize_budget)b, &resize, managed_idle, heap_pressure, row);
		look_for_growth(readings, n, (enum resize_budget)b, row);
	}
	size_t m = 0;
	for (size_t i = 0; i < n; i++)
		if (qty_known(readings[i].floor_bytes))
			values[m++] = readings[i].floor_bytes.bytes;
	(void)resize_percentiles(values, m, &resize.floor);
	make_steps(&resize);
	*ret_resize = resize;
	return 0;
}
