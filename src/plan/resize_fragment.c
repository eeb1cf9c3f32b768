/* SPDX-License-Identifier: Apache-2.0 */
/* A step as lines of config.yaml that move nothing else, and what to watch once it is made. */
#include <stdio.h>
#include <string.h>

#include "base/sat.h"
#include "plan/resize_parts.h"

enum { MIB = 1 << 20 };

struct direct_split resize_split_direct(const struct resize_reading *last)
{
	const uint64_t framework = 128ull * MIB, network_least = 64ull * MIB;
	struct direct_split split = { .known = false };
	const struct qty direct = last->set[RESIZE_DIRECT], heap = last->set[RESIZE_HEAP],
			 managed = last->set[RESIZE_MANAGED];
	if (last->kind == ENGINE_FLINK_JOBMANAGER)
		return (struct direct_split){ .known = qty_known(direct), .task = direct.bytes };
	if (last->kind != ENGINE_FLINK_TASKMANAGER || !qty_known(direct) || !qty_known(heap) || !qty_known(managed))
		return split;
	/* taskmanager.memory.network.fraction is a float of 0.1, which Flink widens. */
	split.network = (uint64_t)((double)sat_add(sat_add(heap.bytes, direct.bytes), managed.bytes) * (double)0.1f);
	if (split.network < network_least)
		split.network = network_least;
	/* Flink rounds here and there: a few bytes are no memory of a task. */
	if (direct.bytes + 16 < split.network + framework)
		return split;
	split.known = true;
	split.task = direct.bytes > split.network + framework + 16 ? direct.bytes - split.network - framework : 0;
	split.framework = split.task ? framework : direct.bytes - split.network;
	return split;
}

/* As Flink takes it: "512m", or bytes. */
const char *resize_size_text(char dest[RESIZE_SIZE_CAP], uint64_t bytes)
{
	if (bytes % MIB == 0)
		(void)snprintf(dest, RESIZE_SIZE_CAP, "%llum", (unsigned long long)(bytes / MIB));
	else
		(void)snprintf(dest, RESIZE_SIZE_CAP, "%llub", (unsigned long long)bytes);
	return dest;
}

/* An option of <role>.memory. */
static void add_line(struct resize_step *step, const char *role, const char *option, uint64_t bytes)
{
	char size[RESIZE_SIZE_CAP];
	size_t at = strlen(step->fragment);
	(void)snprintf(step->fragment + at, sizeof step->fragment - at, "%s.memory.%s: %s\n", role, option,
		       resize_size_text(size, bytes));
}

static void add_comment(struct resize_step *step, const char *text)
{
	size_t at = strlen(step->fragment);
	(void)snprintf(step->fragment + at, sizeof step->fragment - at, "# %s\n", text);
}

/* Tasks give first, then the framework, never below what direct_least() leaves it. */
static void take_direct(struct direct_split *split, uint64_t less)
{
	uint64_t of_task = less < split->task ? less : split->task;
	split->task -= of_task;
	split->framework -= less - of_task < split->framework ? less - of_task : split->framework;
}

static void write_direct(const struct resize *resize, struct sizes *sizes, struct resize_step *step)
{
	bool is_job = resize->kind == ENGINE_FLINK_JOBMANAGER;
	char comment[128], size[RESIZE_SIZE_CAP];
	uint64_t framework = sizes->direct.framework;
	if (is_job) {
		add_line(step, "jobmanager", "off-heap.size", step->to_bytes);
		return;
	}
	if (!sizes->direct.known) {
		(void)snprintf(comment, sizeof comment, "%s more than now; this is right where it is not set",
			       resize_size_text(size, step->to_bytes - step->from_bytes));
		add_comment(step, comment);
		add_line(step, "taskmanager", "task.off-heap.size", step->to_bytes - step->from_bytes);
		return;
	}
	if (step->raises)
		sizes->direct.task += step->to_bytes - step->from_bytes;
	else
		take_direct(&sizes->direct, step->from_bytes - step->to_bytes);
	add_comment(step, "right where the network and the framework have Flink's own sizes, as the sum says");
	add_line(step, "taskmanager", "task.off-heap.size", sizes->direct.task);
	if (framework != sizes->direct.framework)
		add_line(step, "taskmanager", "framework.off-heap.size", sizes->direct.framework);
}

/* What is a fraction of what moves is said in full, so that it stays. */
static void write_pins(const struct resize *resize, const struct sizes *sizes, struct resize_step *step)
{
	const char *role = resize->kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : "taskmanager";
	bool inside = step->budget == RESIZE_DIRECT || step->budget == RESIZE_MANAGED || step->budget == RESIZE_HEAP;
	if (step->budget != RESIZE_OVERHEAD) {
		add_line(step, role, "jvm-overhead.min", sizes->bytes[RESIZE_OVERHEAD]);
		add_line(step, role, "jvm-overhead.max", sizes->bytes[RESIZE_OVERHEAD]);
	}
	if (resize->kind == ENGINE_FLINK_JOBMANAGER || !inside)
		return;
	if (step->budget != RESIZE_MANAGED && resize->rows[RESIZE_MANAGED].set_known)
		add_line(step, role, "managed.size", sizes->bytes[RESIZE_MANAGED]);
	if (sizes->direct.known) {
		add_line(step, role, "network.min", sizes->direct.network);
		add_line(step, role, "network.max", sizes->direct.network);
	}
}

static void write_fragment(const struct resize *resize, struct sizes *sizes, struct resize_step *step)
{
	const char *role = resize->kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : "taskmanager";
	switch (step->budget) {
	case RESIZE_OVERHEAD:
		add_line(step, role, "jvm-overhead.min", step->to_bytes);
		add_line(step, role, "jvm-overhead.max", step->to_bytes);
		break;
	case RESIZE_METASPACE:
		add_line(step, role, "jvm-metaspace.size", step->to_bytes);
		break;
	case RESIZE_MANAGED:
		add_line(step, role, "managed.size", step->to_bytes);
		break;
	case RESIZE_DIRECT:
		write_direct(resize, sizes, step);
		break;
	case RESIZE_HEAP:
	case RESIZE_BUDGET_COUNT:
		break;
	}
	write_pins(resize, sizes, step);
	add_line(step, role, "process.size", step->process_bytes);
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

void resize_write_step(const struct resize *resize, struct sizes *sizes, struct resize_step *step)
{
	write_fragment(resize, sizes, step);
	write_watch(step);
}
