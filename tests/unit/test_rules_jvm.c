/* SPDX-License-Identifier: Apache-2.0 */
/* heap-sized-from-host, heap-pressure, metaspace-near-limit, direct-near-limit: borders, inputs, texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

#define M ((uint64_t)MIB)

static const struct snap_shape plain = { .heap = 400, .pool = 100 };

static enum rule_answer ask(const char *rule, struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	if (answer == RULE_FIRED && f->n_evidence) /* figures past 63 bits leave none */
		judge_whole(f);
	free(l);
	snap_free(s);
	return answer;
}

static bool turns(const struct finding *f, enum knob knob, enum turn turn)
{
	for (size_t i = 0; i < f->n_turns; i++)
		if (f->turns[i].knob == knob && f->turns[i].turn == turn)
			return true;
	return false;
}

static void says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in '%s'", part, text);
}

/* --- heap-sized-from-host -------------------------------------------------------------------------------- */

static const char from_host[] = "heap-sized-from-host";

static struct snapshot *jvm(uint64_t heap, uint64_t limit)
{
	struct snapshot *s = snap_new(&plain);
	s->flags.max_heap_bytes = qty_measured(heap);
	s->cgroup.max = limit_set(limit);
	return s;
}

static void a_heap_nobody_set(void **state)
{
	(void)state;
	static const struct {
		uint64_t heap, limit;
		enum heap_origin origin;
		bool off;
		enum severity severity; /* NONE: silent */
	} table[] = {
		{ 512 * M, 2 * GIB, HEAP_ORIGIN_DEFAULT, false, SEVERITY_NONE }, /* C43: a quarter of the limit */
		{ 800 * M, 1000 * M, HEAP_ORIGIN_SHARE, false, SEVERITY_NONE },
		{ 800 * M + 1, 1000 * M, HEAP_ORIGIN_SHARE, false, SEVERITY_WARNING },
		{ 1000 * M, 1000 * M, HEAP_ORIGIN_DEFAULT, false, SEVERITY_WARNING },
		{ 1000 * M + 1, 1000 * M, HEAP_ORIGIN_DEFAULT, false, SEVERITY_CRITICAL },
		{ 16 * GIB, 2 * GIB, HEAP_ORIGIN_SIZE, false, SEVERITY_NONE }, /* by hand: demand-over-limit's */
		{ 16 * GIB, 2 * GIB, HEAP_ORIGIN_SIZE, true, SEVERITY_NONE },
		{ 16 * GIB, 2 * GIB, HEAP_ORIGIN_UNREAD, true, SEVERITY_CRITICAL },
		{ UINT64_MAX, 1, HEAP_ORIGIN_DEFAULT, false, SEVERITY_CRITICAL },
		{ UINT64_MAX, UINT64_MAX, HEAP_ORIGIN_DEFAULT, false, SEVERITY_WARNING },
		{ 0, 0, HEAP_ORIGIN_DEFAULT, false, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = jvm(table[i].heap, table[i].limit);
		s->flags.heap_origin = table[i].origin;
		s->flags.container_support_off = table[i].off;
		enum rule_answer answer = ask(from_host, s, &f);
		if (answer != (table[i].severity ? RULE_FIRED : RULE_SILENT))
			print_error("row %zu\n", i);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (!table[i].severity)
			continue;
		assert_int_equal(f.severity, table[i].severity);
		if (table[i].heap <= INT64_MAX)
			judge_figure(&f, "max_heap_bytes", table[i].heap);
	}
}

/* A quarter of the host is the JVM's own choice, whoever could not be asked. */
static void where_it_comes_from(void **state)
{
	(void)state;
	static const struct {
		uint64_t heap;
		bool host;
		enum rule_answer answer;
	} table[] = {
		{ 16 * GIB, true, RULE_FIRED },
		{ 16 * GIB - 16 * GIB / 50, true, RULE_FIRED },
		{ 16 * GIB - 16 * GIB / 50 - M, true, RULE_INCONCLUSIVE },
		{ 16 * GIB, false, RULE_INCONCLUSIVE },
		{ 1 * GIB, false, RULE_SILENT }, /* it fits, whoever chose it */
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = jvm(table[i].heap, 2 * GIB);
		if (table[i].host)
			s->host_memory_bytes = qty_measured(64 * GIB);
		assert_int_equal(ask(from_host, s, &f), table[i].answer);
		if (table[i].answer == RULE_INCONCLUSIVE)
			judge_missing(&f, "where the maximum heap comes from");
		if (table[i].answer == RULE_FIRED)
			says(f.observation, "25.00 % of the host's 64.00 GiB");
	}
}

static void inputs_of_the_host_rule(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = jvm(16 * GIB, 2 * GIB);
	s->flags.heap_origin = HEAP_ORIGIN_DEFAULT;
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask(from_host, s, &f), RULE_SILENT); /* nothing to be sized for */

	s = jvm(16 * GIB, 2 * GIB);
	s->flags.heap_origin = HEAP_ORIGIN_DEFAULT;
	snap_no_cgroup(s);
	assert_int_equal(ask(from_host, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");

	s = jvm(16 * GIB, 2 * GIB);
	s->flags.max_heap_bytes = (struct qty){ 0 };
	assert_int_equal(ask(from_host, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "maximum heap");

	s = jvm(16 * GIB, 2 * GIB);
	s->is_jvm = false;
	assert_int_equal(ask(from_host, s, &f), RULE_SILENT);

	s = jvm(0, 1900 * M); /* Flink writes -Xmx out */
	snap_flink(s, 1800 * M, 0, 0, 0, 0, 3000 * M);
	assert_int_equal(ask(from_host, s, &f), RULE_SILENT);
}

/* The new -Xmx is what fits beside the rest, and no less than what the last collection left. */
static void the_new_size(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = jvm(1900 * M, 2000 * M);
	s->flags.heap_origin = HEAP_ORIGIN_SHARE;
	s->flags.max_ram_percentage_bp = 9500;
	snap_setting(s, "-XX:MaxRAMPercentage", "95", "command line");
	assert_int_equal(ask(from_host, s, &f), RULE_FIRED);
	says(f.change, "-Xmx1472m"); /* three quarters of 2000 MiB, in steps of 64 */
	says(f.change, "no longer depends on -XX:MaxRAMPercentage");
	says(f.observation, "95.00 % of the limit");
	assert_true(turns(&f, KNOB_HEAP, TURN_DOWN));
	assert_int_equal(f.n_settings, 2);

	s = jvm(4000 * M, 2000 * M);
	s->flags.heap_origin = HEAP_ORIGIN_DEFAULT;
	s->perf.heap_kept_bytes = qty_measured(1400 * M);
	assert_int_equal(ask(from_host, s, &f), RULE_FIRED);
	says(f.change, "-Xmx2048m"); /* 1400 MiB are 70 % of 2000 */
	says(f.change, "memory limit to 2624Mi");
	assert_true(turns(&f, KNOB_HEAP, TURN_DOWN) && turns(&f, KNOB_LIMIT, TURN_UP));

	s = jvm(1900 * M, 2000 * M);
	s->flags.heap_origin = HEAP_ORIGIN_DEFAULT;
	s->perf.heap_kept_bytes = qty_measured(UINT64_MAX);
	s->flags.container_support_off = true;
	assert_int_equal(ask(from_host, s, &f), RULE_FIRED);
	says(f.change, "-Xmx1900m"); /* never more than now */
	assert_true(turns(&f, KNOB_HEAP, TURN_SET));
	says(f.observation, "-XX:-UseContainerSupport");
}

/* --- heap-pressure ---------------------------------------------------------------------------------------- */

static const char pressure[] = "heap-pressure";

/* A heap of 1000 MiB of which the last collection left `kept`; old is 600 of 700 MiB. */
static struct snapshot *heap(enum jvm_gc gc, uint64_t kept)
{
	struct snapshot *s = jvm(1000 * M, 4000 * M);
	s->gc = gc;
	s->perf_read = true;
	s->perf.heap_kept_bytes = qty_measured(kept);
	s->perf.heap_used_bytes = qty_measured(kept);
	s->perf.gc_count = count_of(7);
	return s;
}

static void after_a_collection(void **state)
{
	(void)state;
	static const struct {
		uint64_t kept;
		enum severity severity;
	} table[] = {
		{ 850 * M, SEVERITY_NONE },         { 850 * M + 1, SEVERITY_WARNING }, { 950 * M, SEVERITY_WARNING },
		{ 950 * M + 1, SEVERITY_CRITICAL }, { UINT64_MAX, SEVERITY_CRITICAL }, { 0, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(pressure, heap(GC_G1, table[i].kept), &f);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (!table[i].severity)
			continue;
		assert_int_equal(f.severity, table[i].severity);
		says(f.observation, "OutOfMemoryError, not a kill by the kernel");
		if (table[i].kept <= INT64_MAX)
			judge_figure(&f, "heap_kept_bytes", table[i].kept);
	}
}

/* What is in use now is a sawtooth: a full gauge says nothing, and eden is not what a collection left. */
static void a_gauge_alone_never_fires(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = heap(GC_G1, 100 * M);
	s->perf.heap_used_bytes = s->engine.gauges.heap_used_bytes = qty_measured(990 * M);
	assert_int_equal(ask(pressure, s, &f), RULE_SILENT);

	s = jvm(1000 * M, 4000 * M);
	s->engine.gauges.heap_used_bytes = qty_measured(990 * M);
	assert_int_equal(ask(pressure, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "hsperfdata");

	s = jvm(1000 * M, 4000 * M);
	s->engine.gauges.heap_used_bytes = qty_measured(990 * M);
	s->heap.used_bytes = qty_measured(850 * M); /* the least of them ends the question */
	assert_int_equal(ask(pressure, s, &f), RULE_SILENT);

	s = heap(GC_G1, 990 * M);
	s->perf.gc_count = count_of(0);
	assert_int_equal(ask(pressure, s, &f), RULE_SILENT);
}

/* Concurrent collectors publish garbage too: quiet is quiet, and full is not known. */
static void concurrent_collectors(void **state)
{
	(void)state;
	static const enum jvm_gc gcs[] = { GC_Z, GC_SHENANDOAH };
	for (size_t i = 0; i < 2; i++) {
		struct finding f;
		assert_int_equal(ask(pressure, heap(gcs[i], 850 * M), &f), RULE_SILENT);
		assert_int_equal(ask(pressure, heap(gcs[i], 850 * M + 1), &f), RULE_INCONCLUSIVE);
		judge_missing(&f, jvm_gc_names[gcs[i]]);
	}
	struct finding f;
	assert_int_equal(ask(pressure, heap(GC_EPSILON, 990 * M), &f), RULE_SILENT);
}

/* Serial and Parallel let garbage fill the old generation: it tells only right after a full collection. */
static void the_old_generation(void **state)
{
	(void)state;
	static const struct {
		uint64_t old;
		bool full;
		enum rule_answer answer;
		enum severity severity;
	} table[] = {
		{ 595 * M, true, RULE_SILENT, SEVERITY_NONE }, /* 85 % of 700 */
		{ 595 * M + 1, true, RULE_FIRED, SEVERITY_WARNING },
		{ 665 * M + 1, true, RULE_FIRED, SEVERITY_CRITICAL },
		{ 595 * M, false, RULE_SILENT, SEVERITY_NONE },
		{ 690 * M, false, RULE_INCONCLUSIVE, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = heap(i % 2 ? GC_SERIAL : GC_PARALLEL, table[i].old + 20 * M);
		s->perf.old_used_bytes = qty_measured(table[i].old);
		s->perf.old_max_bytes = qty_measured(700 * M);
		s->perf.full_was_last = table[i].full;
		assert_int_equal(ask(pressure, s, &f), table[i].answer);
		if (table[i].answer == RULE_INCONCLUSIVE)
			judge_missing(&f, "old generation after a full collection");
		if (table[i].answer != RULE_FIRED)
			continue;
		assert_int_equal(f.severity, table[i].severity);
		judge_figure(&f, "old_used_bytes", table[i].old);
	}
}

static void who_gives_the_heap_more(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = heap(GC_G1, 900 * M); /* 900 are 70 % of 1286: 286 more, 320 in steps of 64 */
	assert_int_equal(ask(pressure, s, &f), RULE_FIRED);
	says(f.change, "-Xmx1320m (320m more than now); the container's limit has room");
	assert_false(turns(&f, KNOB_LIMIT, TURN_UP));

	s = heap(GC_G1, 900 * M);
	s->cgroup.max = limit_set(1300 * M);
	assert_int_equal(ask(pressure, s, &f), RULE_FIRED);
	says(f.change, "-Xmx1320m (320m more than now), and raise the container's memory limit by the same 320 MiB");
	assert_true(turns(&f, KNOB_LIMIT, TURN_UP));

	static const struct {
		enum state_backend backend;
		enum tristate batch;
		uint64_t managed;
		bool pays;
	} table[] = {
		{ BACKEND_HASHMAP, TRISTATE_FALSE, 500 * M, true },
		{ BACKEND_HASHMAP, TRISTATE_FALSE, 319 * M, false }, /* it has not that much to give */
		{ BACKEND_HASHMAP, TRISTATE_TRUE, 500 * M, false },
		{ BACKEND_ROCKSDB, TRISTATE_FALSE, 500 * M, false },
		{ BACKEND_UNKNOWN, TRISTATE_UNREAD, 500 * M, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		s = heap(GC_G1, 900 * M);
		snap_flink(s, 1000 * M, table[i].managed, 0, 0, 200 * M, 2000 * M);
		s->engine.backend = table[i].backend;
		s->engine.batch = table[i].batch;
		assert_int_equal(ask(pressure, s, &f), RULE_FIRED);
		if (table[i].pays)
			says(f.change, "set taskmanager.memory.managed.size to 180m (320m less than now)");
		else /* 320 and a quarter, in steps of 64 */
			says(f.change,
			     "raise taskmanager.memory.process.size to 2448m, and the container's memory limit by the same 448m");
		assert_int_equal(turns(&f, KNOB_MANAGED, TURN_DOWN), table[i].pays);
		assert_int_equal(turns(&f, KNOB_PROCESS_SIZE, TURN_UP), !table[i].pays);
	}

	s = heap(GC_G1, 900 * M);
	snap_flink(s, 1000 * M, 0, 0, 0, 200 * M, 2000 * M);
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	s->engine.flink.managed_bytes = (struct qty){ 0 };
	assert_int_equal(ask(pressure, s, &f), RULE_FIRED);
	says(f.change, "raise jobmanager.memory.process.size to 2320m");
}

/* F42: 10 GiB were set aside for the task's off-heap memory, and nobody uses them. */
static void idle_off_heap_gives_the_heap_more(void **state)
{
	(void)state;
	static const struct {
		uint64_t task, used;
		bool known, pays;
	} table[] = {
		{ 500 * M, 60 * M, true, true }, /* 500 less 80 of native memory in the pool */
		{ 500 * M, 300 * M, true, false }, { 420 * M, 0, true, true },
		{ 410 * M, 0, true, false },       { 500 * M, 0, false, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = heap(GC_G1, 900 * M);
		snap_flink(s, 1000 * M, 0, 0, table[i].task, 200 * M, 2000 * M);
		s->engine.flink.task_off_heap_bytes = qty_measured(table[i].task);
		if (table[i].known)
			s->engine.gauges.direct_used_bytes = qty_measured(table[i].used);
		assert_int_equal(ask(pressure, s, &f), RULE_FIRED);
		if (turns(&f, KNOB_DIRECT, TURN_DOWN) != table[i].pays)
			print_error("row %zu: %s\n", i, f.change);
		assert_int_equal(turns(&f, KNOB_DIRECT, TURN_DOWN), table[i].pays);
		if (i == 0)
			says(f.change, "set taskmanager.memory.task.off-heap.size to 180m (320m less than now)");
	}
}

/* --- metaspace-near-limit --------------------------------------------------------------------------------- */

static const char metaspace[] = "metaspace-near-limit";

static struct snapshot *classes(uint64_t used, uint64_t max)
{
	struct snapshot *s = jvm(400 * M, 4000 * M);
	s->flags.max_metaspace_bytes = qty_measured(max);
	s->engine.gauges.metaspace_used_bytes = qty_measured(used);
	return s;
}

static void metaspace_borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t used, max;
		enum severity severity;
	} table[] = {
		{ 90 * M, 96 * M, SEVERITY_WARNING }, /* F18 */
		{ 900 * M, 1000 * M, SEVERITY_NONE },
		{ 900 * M + 1, 1000 * M, SEVERITY_WARNING },
		{ 970 * M, 1000 * M, SEVERITY_WARNING },
		{ 970 * M + 1, 1000 * M, SEVERITY_CRITICAL },
		{ 1000 * M, 1000 * M, SEVERITY_CRITICAL }, /* F22 */
		{ 0, 0, SEVERITY_NONE },
		{ UINT64_MAX, 1, SEVERITY_CRITICAL },
		{ UINT64_MAX, UINT64_MAX, SEVERITY_NONE }, /* no MaxMetaspaceSize */
		{ 5 * GIB, 1024 * GIB, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(metaspace, classes(table[i].used, table[i].max), &f);
		if (answer != (table[i].severity ? RULE_FIRED : RULE_SILENT))
			print_error("row %zu\n", i);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (!table[i].severity)
			continue;
		assert_int_equal(f.severity, table[i].severity);
		if (table[i].used <= INT64_MAX)
			judge_figure(&f, "metaspace_used_bytes", table[i].used);
	}
}

static void metaspace_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = classes(90 * M, 96 * M);
	s->flags.max_metaspace_bytes = (struct qty){ 0 };
	assert_int_equal(ask(metaspace, s, &f), RULE_SILENT); /* the JVM's default: none */

	s = classes(90 * M, 96 * M);
	s->flags.max_metaspace_bytes = (struct qty){ 0 };
	s->access = ACCESS_STATUS;
	assert_int_equal(ask(metaspace, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "MaxMetaspaceSize");

	s = classes(0, 96 * M);
	s->engine.gauges.metaspace_used_bytes = (struct qty){ 0 };
	assert_int_equal(ask(metaspace, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "metaspace in use");

	s = classes(0, 96 * M); /* the gauge is fresher than hsperfdata */
	s->engine.gauges.metaspace_used_bytes = qty_measured(95 * M);
	s->perf.metaspace_used_bytes = qty_measured(20 * M);
	assert_int_equal(ask(metaspace, s, &f), RULE_FIRED);
	says(f.observation, "(metrics)");

	/* Committed to the last chunk, it is full, though the chunks are not. */
	s = classes(92 * M, 96 * M);
	s->engine.gauges.metaspace_committed_bytes = qty_measured(96 * M);
	assert_int_equal(ask(metaspace, s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_CRITICAL);

	s = classes(95 * M, 96 * M);
	s->is_jvm = false;
	assert_int_equal(ask(metaspace, s, &f), RULE_SILENT);
}

static void class_space_has_its_own_size(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = classes(200 * M, 1000 * M);
	s->heap.class_space_used_bytes = qty_measured(90 * M + 1);
	s->heap.class_space_reserved_bytes = qty_measured(100 * M);
	assert_int_equal(ask(metaspace, s, &f), RULE_FIRED);
	judge_figure(&f, "class_space_used_bytes", 90 * M + 1);
	says(f.change, "-XX:MaxMetaspaceSize=1256m");

	s = classes(200 * M, 1000 * M); /* no MaxMetaspaceSize: its own flag */
	s->flags.max_metaspace_bytes = (struct qty){ 0 };
	s->heap.class_space_used_bytes = qty_measured(91 * M);
	s->flags.compressed_class_space_bytes = qty_measured(100 * M);
	assert_int_equal(ask(metaspace, s, &f), RULE_FIRED);
	says(f.change, "-XX:CompressedClassSpaceSize=164m");

	s = classes(200 * M, 1000 * M);
	s->heap.class_space_used_bytes = qty_measured(90 * M);
	s->heap.class_space_reserved_bytes = qty_measured(100 * M);
	assert_int_equal(ask(metaspace, s, &f), RULE_SILENT);
}

static void metaspace_is_paid_by_the_process(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = classes(0, 0);
	snap_flink(s, 500 * M, 500 * M, 0, 0, 200 * M, 2000 * M);
	s->engine.gauges.metaspace_used_bytes = qty_measured(250 * M);
	s->perf.classes_loaded = count_of(60000);
	s->perf.classes_unloaded = count_of(10);
	static const char *const keys[] = { "-XX:MaxMetaspaceSize", "taskmanager.memory.jvm-metaspace.size",
					    "jobmanager.memory.jvm-metaspace.size" };
	for (int i = 0; i < 3; i++)
		snap_setting(s, keys[i], "268435456", "config.yaml:12");
	assert_int_equal(ask(metaspace, s, &f), RULE_FIRED);
	says(f.change,
	     "set taskmanager.memory.jvm-metaspace.size to 320m (64m more than now), and raise taskmanager.memory.process.size to 2064m and the container's memory limit by the same 64m");
	says(f.observation, "60000 classes were loaded, 10 of them unloaded");
	says(f.competing_causes[0], "/opt/flink/lib");
	assert_true(turns(&f, KNOB_METASPACE, TURN_UP) && turns(&f, KNOB_PROCESS_SIZE, TURN_UP));
}

/* --- direct-near-limit ------------------------------------------------------------------------------------ */

static const char direct_rule[] = "direct-near-limit";

static struct snapshot *buffers(uint64_t used, uint64_t max)
{
	struct snapshot *s = jvm(400 * M, 4000 * M);
	s->flags.max_direct_bytes = qty_measured(max);
	s->engine.gauges.direct_used_bytes = qty_measured(used);
	return s;
}

static void direct_borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t used, max, network;
		enum severity severity;
	} table[] = {
		{ 900 * M, 1000 * M, 0, SEVERITY_NONE },
		{ 900 * M + 1, 1000 * M, 0, SEVERITY_WARNING },
		{ 970 * M, 1000 * M, 0, SEVERITY_WARNING },
		{ 970 * M + 1, 1000 * M, 0, SEVERITY_CRITICAL },
		/* A large TaskManager, healthy: 93 % are network buffers, and of the other 128 MiB a few are in use. */
		{ 1646 * M, 1766 * M, 1638 * M, SEVERITY_NONE },
		{ 136 * M, 256 * M, 128 * M, SEVERITY_NONE },
		{ 243 * M, 256 * M, 128 * M, SEVERITY_NONE },    /* 89.8 % of what is not network */
		{ 244 * M, 256 * M, 128 * M, SEVERITY_WARNING }, /* 90.6 % */
		{ 251 * M, 256 * M, 128 * M, SEVERITY_CRITICAL },
		{ 0, 0, 0, SEVERITY_NONE },
		{ UINT64_MAX, 1, 0, SEVERITY_CRITICAL },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, SEVERITY_CRITICAL },
		{ 0, UINT64_MAX, UINT64_MAX, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = buffers(table[i].used, table[i].max);
		if (table[i].network) {
			s->engine.kind = ENGINE_FLINK_TASKMANAGER;
			s->engine.gauges.network_total_bytes = qty_measured(table[i].network);
		}
		enum rule_answer answer = ask(direct_rule, s, &f);
		if (answer != (table[i].severity ? RULE_FIRED : RULE_SILENT))
			print_error("row %zu\n", i);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (!table[i].severity)
			continue;
		assert_int_equal(f.severity, table[i].severity);
		if (table[i].used <= INT64_MAX)
			judge_figure(&f, "direct_used_bytes", table[i].used);
	}
}

static void direct_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = buffers(950 * M, 0);
	s->flags.max_direct_bytes = (struct qty){ 0 };
	s->flags.max_heap_bytes = qty_measured(1000 * M);
	assert_int_equal(ask(direct_rule, s, &f), RULE_FIRED);
	says(f.observation, "takes the largest heap");
	says(f.change, "-XX:MaxDirectMemorySize=1256m");

	s = buffers(950 * M, 0);
	s->flags.max_direct_bytes = s->flags.max_heap_bytes = (struct qty){ 0 };
	assert_int_equal(ask(direct_rule, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "MaxDirectMemorySize");

	/* The JDK counts capacity, not use. */
	s = buffers(100 * M, 1000 * M);
	s->engine.gauges.direct_capacity_bytes = qty_measured(950 * M);
	assert_int_equal(ask(direct_rule, s, &f), RULE_FIRED);
	judge_figure(&f, "direct_used_bytes", 950 * M);

	/* NMT's Other is no less than the direct pool: it can end the question, not answer it. */
	s = buffers(0, 64 * M);
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	snap_nmt(s, "Other", 57 * M, 0);
	assert_int_equal(ask(direct_rule, s, &f), RULE_SILENT);
	s = buffers(0, 64 * M);
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	snap_nmt(s, "Other", 60 * M, 0);
	assert_int_equal(ask(direct_rule, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "Direct.MemoryUsed");

	/* With neither, it stands in the native pool: 100 MiB here. */
	s = buffers(0, 112 * M);
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	assert_int_equal(ask(direct_rule, s, &f), RULE_SILENT);
	s = buffers(0, 111 * M);
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	assert_int_equal(ask(direct_rule, s, &f), RULE_INCONCLUSIVE);

	s = buffers(950 * M, 1000 * M);
	s->is_jvm = false;
	assert_int_equal(ask(direct_rule, s, &f), RULE_SILENT);
}

/* By Flink's option, never by MaxDirectMemorySize: Flink writes that itself. */
static void direct_is_raised_by_the_option(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = buffers(0, 0);
	snap_flink(s, 500 * M, 500 * M, 128 * M, 256 * M, 200 * M, 2000 * M);
	s->engine.flink.task_off_heap_bytes = qty_measured(0);
	s->engine.gauges.direct_used_bytes = qty_measured(255 * M);
	s->engine.gauges.network_total_bytes = qty_measured(128 * M);
	s->engine.gauges.network_used_bytes = qty_measured(6 * M);
	s->engine.gauges.direct_buffers = count_of(4300);
	static const char *const keys[] = { "-XX:MaxDirectMemorySize", "taskmanager.memory.network.max",
					    "taskmanager.memory.framework.off-heap.size",
					    "taskmanager.memory.task.off-heap.size" };
	for (int i = 0; i < 4; i++)
		snap_setting(s, keys[i], "1", "config.yaml:12");
	assert_int_equal(ask(direct_rule, s, &f), RULE_FIRED);
	says(f.change, "set taskmanager.memory.task.off-heap.size to 64m (64m more than now)");
	assert_null(strstr(f.change, "MaxDirectMemorySize"));
	says(f.observation, "128.0 MiB of both, allocated at the start (6.0 MiB of them in use)");
	assert_true(turns(&f, KNOB_DIRECT, TURN_UP) && turns(&f, KNOB_LIMIT, TURN_UP));
	assert_int_equal(f.n_settings, 4);

	s = buffers(0, 0);
	snap_flink(s, 220 * M, 0, 0, 128 * M, 192 * M, 700 * M);
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	s->engine.gauges.direct_used_bytes = qty_measured(127 * M);
	assert_int_equal(ask(direct_rule, s, &f), RULE_FIRED);
	says(f.change,
	     "set jobmanager.memory.off-heap.size to 192m (64m more than now), and raise jobmanager.memory.process.size to 764m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heap_nobody_set),
		cmocka_unit_test(where_it_comes_from),
		cmocka_unit_test(inputs_of_the_host_rule),
		cmocka_unit_test(the_new_size),
		cmocka_unit_test(after_a_collection),
		cmocka_unit_test(a_gauge_alone_never_fires),
		cmocka_unit_test(concurrent_collectors),
		cmocka_unit_test(the_old_generation),
		cmocka_unit_test(who_gives_the_heap_more),
		cmocka_unit_test(idle_off_heap_gives_the_heap_more),
		cmocka_unit_test(metaspace_borders),
		cmocka_unit_test(metaspace_inputs),
		cmocka_unit_test(class_space_has_its_own_size),
		cmocka_unit_test(metaspace_is_paid_by_the_process),
		cmocka_unit_test(direct_borders),
		cmocka_unit_test(direct_inputs),
		cmocka_unit_test(direct_is_raised_by_the_option),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
