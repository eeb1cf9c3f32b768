/* SPDX-License-Identifier: Apache-2.0 */
/* A step as lines of config.yaml that move nothing else, and what to watch once it is made. */
#include <stdio.h>
#include <string.h>

#include "base/sat.h"
#include "plan/resize_parts.h"

enum { MIB = 1 << 20 };

const char *const direct_source_names[DIRECT_SOURCE_COUNT] = { "unread", "configured", "measured", "inferred" };

/* Flink rounds here and there: a few bytes are no memory of a task. */
enum { SLACK = 16 };

/* The framework has Flink's own 128m, tasks the rest; unread where the sum has no room for that. */
static struct direct_split share_rest(uint64_t direct, uint64_t network, enum direct_source source)
{
	const uint64_t framework = 128ull * MIB;
	struct direct_split split = { .source = source, .network = network };
	if (sat_add(direct, SLACK) < sat_add(network, framework))
		return (struct direct_split){ .source = DIRECT_UNREAD };
	split.task = direct > network + framework + SLACK ? direct - network - framework : 0;
	split.framework = split.task ? framework : direct - network;
	return split;
}

/* taskmanager.memory.network.fraction is a float of 0.1, which Flink widens. 0: not known. */
static uint64_t tenth_of(const struct resize_reading *reading)
{
	const struct qty direct = reading->set[RESIZE_DIRECT], heap = reading->set[RESIZE_HEAP],
			 managed = reading->set[RESIZE_MANAGED];
	const uint64_t least = 64ull * MIB;
	if (!qty_known(direct) || !qty_known(heap) || !qty_known(managed))
		return 0;
	uint64_t tenth = (uint64_t)((double)sat_add(sat_add(heap.bytes, direct.bytes), managed.bytes) * (double)0.1f);
	return tenth < least ? least : tenth;
}

static bool is_configured(const struct engine_facts *facts, uint64_t direct)
{
	return qty_known(facts->network_bytes) && qty_known(facts->framework_off_heap_bytes) &&
	       qty_known(facts->task_off_heap_bytes) &&
	       sat_add(sat_add(facts->network_bytes.bytes, facts->framework_off_heap_bytes.bytes),
		       facts->task_off_heap_bytes.bytes) == direct;
}

/* The pool is whole segments, less than one of which is missing: where a tenth is that much more, it is the tenth. */
static struct direct_split split_by_pool(uint64_t pool, uint64_t direct, uint64_t tenth)
{
	return share_rest(direct, tenth >= pool && tenth - pool < MIB ? tenth : pool, DIRECT_MEASURED);
}

struct direct_split resize_split_direct(const struct resize_reading *readings, size_t n)
{
	const struct resize_reading *last = &readings[n - 1];
	const struct qty direct = last->set[RESIZE_DIRECT];
	struct direct_split split = { .source = DIRECT_UNREAD };
	uint64_t tenth = tenth_of(last);
	if (last->kind != ENGINE_FLINK_TASKMANAGER || !qty_known(direct))
		return split;
	for (size_t i = n; i-- > 0 && split.source != DIRECT_CONFIGURED;) {
		const struct engine_facts *facts = &readings[i].facts;
		if (is_configured(facts, direct.bytes))
			split = (struct direct_split){ DIRECT_CONFIGURED, facts->network_bytes.bytes,
						       facts->framework_off_heap_bytes.bytes,
						       facts->task_off_heap_bytes.bytes };
		/* A pool of 0 is of a TaskManager that has not begun yet. */
		else if (split.source == DIRECT_UNREAD && qty_or(facts->network_pool_bytes, 0) > 0)
			split = split_by_pool(facts->network_pool_bytes.bytes, direct.bytes, tenth);
	}
	return split.source == DIRECT_UNREAD && tenth ? share_rest(direct.bytes, tenth, DIRECT_INFERRED) : split;
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
	if (sizes->direct.source == DIRECT_UNREAD) {
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
	if (sizes->direct.source == DIRECT_INFERRED)
		add_comment(step, "right where the network and the framework have Flink's own sizes, as the sum says");
	if (sizes->direct.source == DIRECT_MEASURED)
		add_comment(step, "right where the framework has Flink's own 128m; the network's were measured");
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
	if (sizes->direct.source != DIRECT_UNREAD) {
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
