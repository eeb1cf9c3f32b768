/* SPDX-License-Identifier: Apache-2.0 */
/* allocator-retention, native-unexplained: borders, excuses, inputs, texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rules/all.h"
#include "support/judge.h"
#include "support/snap.h"

#define M ((uint64_t)MIB)

static const char native[] = "native-unexplained", retention[] = "allocator-retention";
static const struct snap_shape plain = { .heap = 400 };

static enum rule_answer ask(const char *rule, struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	if (answer == RULE_FIRED)
		judge_whole(f);
	free(l);
	snap_free(s);
	return answer;
}

static void says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in '%s'", part, text);
}

/* A JVM whose direct buffers and NMT were read, with `bytes` of native memory in mappings of their own and a limit. */
static struct snapshot *jvm(uint64_t bytes, uint64_t limit)
{
	struct snapshot *s = snap_new(&plain);
	if (bytes)
		(void)snap_vma(s, VMA_ANON, VMA_READ | VMA_WRITE | VMA_ACCOUNT, "", bytes, bytes);
	s->engine.gauges.direct_used_bytes = s->engine.gauges.metaspace_committed_bytes = qty_measured(0);
	snap_nmt(s, "Symbol", 0, 0);
	s->cgroup.max = limit_set(limit);
	s->cgroup.stat.anon_bytes.bytes += bytes;
	s->cgroup.stat.inactive_anon_bytes.bytes += bytes;
	s->cgroup.current_bytes.bytes += bytes;
	s->flags.max_heap_bytes = qty_measured(400 * M);
	return s;
}

/* The same as a TaskManager: 500 of heap, 128 of network in 256 of direct, 192 of overhead. */
static struct snapshot *tm(uint64_t bytes, uint64_t managed, enum state_backend backend)
{
	struct snapshot *s = jvm(bytes, 2000 * M);
	snap_flink(s, 500 * M, managed, 128 * M, 256 * M, 192 * M, 2000 * M);
	s->engine.backend = backend;
	s->engine.flink.task_off_heap_bytes = qty_measured(0);
	return s;
}

static void no_nmt(struct snapshot *s)
{
	s->nmt_read = false;
	s->nmt.n_categories = 0;
}

static void stores(struct snapshot *s, uint64_t cache, uint64_t memtables, uint64_t readers)
{
	s->engine.rocksdb.cache_usage_bytes = qty_measured(cache);
	s->engine.rocksdb.memtables_bytes = qty_measured(memtables);
	s->engine.rocksdb.table_readers_bytes = qty_measured(readers);
	s->engine.rocksdb.n_caches_certain = true;
}

/* --- native-unexplained ----------------------------------------------------------------------------------- */

static void plain_borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes, limit;
		bool fires;
	} table[] = {
		{ 128 * M, 1000 * M, false },        { 128 * M + 4096, 1000 * M, true },
		{ 500 * M, 10000 * M, false }, /* 5 % */
		{ 500 * M + 4096, 10000 * M, true }, { 0, 1000 * M, false },
		{ 129 * M, UINT64_MAX, false },      { (uint64_t)1 << 62, 1, true },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(native, jvm(table[i].bytes, table[i].limit), &f);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			print_error("row %zu\n", i);
		assert_int_equal(answer, table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (!table[i].fires)
			continue;
		assert_int_equal(f.severity, SEVERITY_WARNING);
		assert_int_equal(f.owner, OWNER_NATIVE_OTHER);
		judge_figure(&f, "unexplained_bytes", table[i].bytes);
		assert_int_equal(f.excess_bytes, table[i].bytes);
	}
}

/* F30: nothing was read, and the group has its name. It is urgent where it could fill what is left. */
static void nothing_read_has_a_name(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes, limit;
		bool has_limit;
		enum severity severity;
	} table[] = {
		{ 600 * M, 1200 * M, true, SEVERITY_WARNING },
		{ 600 * M, 4000 * M, true, SEVERITY_NOTICE },
		{ 600 * M, 0, false, SEVERITY_NOTICE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = jvm(table[i].bytes, table[i].limit);
		if (!table[i].has_limit)
			s->cgroup.max.kind = LIMIT_NONE;
		no_nmt(s);
		s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
		assert_int_equal(ask(native, s, &f), RULE_FIRED);
		assert_int_equal(f.severity, table[i].severity);
		says(f.title, "600.0 MiB of native memory");
		says(f.change, "-XX:NativeMemoryTracking=summary");
		assert_int_equal(f.turns[0].knob, KNOB_SIGHT);
	}
}

/* What Flink sets aside and is free carries native memory: 192 of overhead, and managed memory only for who uses it. */
static void flink_excuses(void **state)
{
	(void)state;
	static const struct {
		enum state_backend backend;
		enum tristate batch, python;
		bool nmt;
		uint64_t task, silent; /* the most that is silent: the excuse and 128 MiB */
	} table[] = {
		{ BACKEND_HASHMAP, TRISTATE_FALSE, TRISTATE_FALSE, true, 0, 320 },
		{ BACKEND_HASHMAP, TRISTATE_FALSE, TRISTATE_FALSE, true, 100, 420 },
		{ BACKEND_HASHMAP, TRISTATE_FALSE, TRISTATE_FALSE, false, 0, 320 },
		{ BACKEND_HASHMAP, TRISTATE_TRUE, TRISTATE_FALSE, true, 0, 320 }, /* NMT has its line */
		{ BACKEND_HASHMAP, TRISTATE_TRUE, TRISTATE_FALSE, false, 0, 820 },
		{ BACKEND_HASHMAP, TRISTATE_FALSE, TRISTATE_TRUE, true, 0, 820 },
		{ BACKEND_ROCKSDB, TRISTATE_FALSE, TRISTATE_FALSE, true, 0, 820 },
		{ BACKEND_FORST, TRISTATE_FALSE, TRISTATE_FALSE, true, 0, 820 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		for (int past = 0; past < 2; past++) {
			struct finding f;
			struct snapshot *s = tm(table[i].silent * M + (past ? 4096 : 0), 500 * M, table[i].backend);
			s->engine.batch = table[i].batch;
			s->engine.python = table[i].python;
			s->engine.flink.task_off_heap_bytes = qty_measured(table[i].task * M);
			if (!table[i].nmt)
				no_nmt(s);
			enum rule_answer answer = ask(native, s, &f);
			if (answer != (past ? RULE_FIRED : RULE_SILENT))
				print_error("row %zu, past %d\n", i, past);
			assert_int_equal(answer, past ? RULE_FIRED : RULE_SILENT);
			if (past)
				assert_int_equal(f.severity, SEVERITY_WARNING);
		}
	}
}

/* With RocksDB's metrics its budget is no excuse for others, and its own excess is rocksdb-over-budget's. */
static void claims_are_not_counted_twice(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(700 * M, 100 * M, BACKEND_ROCKSDB);
	stores(s, 300 * M, 300 * M, 50 * M);
	assert_int_equal(ask(native, s, &f), RULE_SILENT);

	s = tm(400 * M, 500 * M, BACKEND_ROCKSDB);
	stores(s, 20 * M, 20 * M, 10 * M);
	assert_int_equal(ask(native, s, &f), RULE_FIRED);
	judge_figure(&f, "unexplained_bytes", 158 * M); /* 400 less 50 claimed and 192 of overhead */
	says(f.change, "jeprof");

	/* What the caches claim beyond their lines may be pinned by iterators. */
	s = tm(1700 * M, 500 * M, BACKEND_ROCKSDB);
	stores(s, 1600 * M, 100 * M, 0);
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.cache_pinned_bytes = qty_measured(1500 * M);
	assert_int_equal(ask(native, s, &f), RULE_SILENT);
}

static void an_unbounded_store(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(900 * M, 500 * M, BACKEND_ROCKSDB);
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	assert_int_equal(ask(native, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "RocksDB's metrics");

	s = tm(300 * M, 500 * M, BACKEND_ROCKSDB); /* small enough, whatever it is */
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	assert_int_equal(ask(native, s, &f), RULE_SILENT);

	static const struct {
		uint64_t bound;
		enum rule_answer answer;
	} table[] = { { 500 * M, RULE_SILENT }, { 300 * M, RULE_FIRED }, { 0, RULE_FIRED } };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		s = jvm(500 * M, 1000 * M);
		s->engine.kind = ENGINE_KAFKA_STREAMS;
		(void)snap_vma(s, VMA_FILE, VMA_READ | VMA_EXEC, "/tmp/librocksdbjni1234.so", M, 0);
		if (table[i].bound)
			s->engine.streams.native_bound_bytes = qty_of(table[i].bound, QTY_DERIVED);
		assert_int_equal(ask(native, s, &f), table[i].answer);
		if (table[i].answer == RULE_FIRED)
			says(f.change, "jmx_prometheus_javaagent");
	}
}

/* A pod as users run it: within Flink's budgets, if somebody uses them; the group is named all the same. */
static void the_largest_owner_is_named(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(600 * M, 500 * M, BACKEND_UNKNOWN);
	no_nmt(s);
	assert_int_equal(ask(native, s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_figure(&f, "native_other_bytes", 600 * M);
	assert_int_equal(f.owner, OWNER_NATIVE_OTHER);

	s = tm(300 * M, 500 * M, BACKEND_UNKNOWN); /* the heap is larger */
	no_nmt(s);
	assert_int_equal(ask(native, s, &f), RULE_SILENT);
}

static void inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = jvm(500 * M, 1000 * M);
	s->vmas_read = false;
	assert_int_equal(ask(native, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "smaps");

	s = jvm(500 * M, 1000 * M);
	s->is_jvm = false;
	assert_int_equal(ask(native, s, &f), RULE_SILENT);

	/* The heap's range is unread: it stands in native-other. Its mapping is not found by a shape either. */
	s = jvm(500 * M, 4000 * M);
	s->heap.n_ranges = 0;
	assert_int_equal(ask(native, s, &f), RULE_FIRED); /* 900 less -Xmx of 400 */
	judge_figure(&f, "unexplained_bytes", 500 * M);
	s = jvm(500 * M, 4000 * M);
	s->heap.n_ranges = 0;
	s->flags.max_heap_bytes = (struct qty){ 0 };
	assert_int_equal(ask(native, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "Java heap");

	/* Direct buffers unread: Flink's budget for them is an excuse, the JVM's default bound is none. */
	s = tm(550 * M, 500 * M, BACKEND_HASHMAP);
	no_nmt(s);
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	assert_int_equal(ask(native, s, &f), RULE_SILENT); /* 256 + 192 + 128 */
}

/* At most four libraries, and neither the JDK's, the system's nor those that have lines of their own. */
static void foreign_libraries_are_named(void **state)
{
	(void)state;
	static const char *const names[] = {
		"/jdk/lib/libzip.so",
		"/usr/lib/x86_64-linux-gnu/libc.so.6",
		"/tmp/librocksdbjni1234.so",
		"/tmp/libnetty_transport_native_epoll_x86_64.so",
		"/opt/flink/lib/libvelox.so",
		"/opt/flink/lib/libvelox.so", /* its second mapping */
		"/tmp/libzstd-jni-1.5.5-4.so",
		"/opt/flink/lib/flink-dist.jar",
		"/tmp/snappy-1.1.10-a-name-that-is-longer-than-a-report-has-room-for-libsnappyjava.so",
		"/opt/x/liba.so.1",
		"/opt/x/libb.so",
	};
	struct finding f;
	struct snapshot *s = jvm(500 * M, 1000 * M);
	stores(s, 0, 0, 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		(void)snap_vma(s, VMA_FILE, VMA_READ | VMA_EXEC, names[i], M, 0);
	assert_int_equal(ask(native, s, &f), RULE_FIRED);
	says(f.observation,
	     "libvelox.so, libzstd-jni-1.5.5-4.so, snappy-1.1.10-a-name-that-is-longer-than-a-repo, liba.so.1 and more.");
	assert_null(strstr(f.observation, "rocksdbjni"));
	assert_null(strstr(f.observation, "netty"));
	assert_null(strstr(f.observation, "libzip"));
}

/* JDK 8 has its machine's name between lib and server. */
static void the_old_layout_of_a_jdk(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = jvm(500 * M, 1000 * M);
	char *at = NULL;
	for (size_t i = 0; i + 25 <= s->vmas.names_len && !at; i++)
		if (memcmp(s->vmas.names + i, "/jdk/lib/server/libjvm.so", 25) == 0)
			at = s->vmas.names + i;
	assert_non_null(at);
	memcpy(at, "/j/lib/a/server/libjvm.so", 25);
	(void)snap_vma(s, VMA_FILE, VMA_READ | VMA_EXEC, "/j/lib/a/libzip.so", M, 0);
	(void)snap_vma(s, VMA_FILE, VMA_READ | VMA_EXEC, "/j/libother.so", M, 0);
	assert_int_equal(ask(native, s, &f), RULE_FIRED);
	says(f.observation, "system's: libother.so.");
}

/* The longest of everything at once: four long names, all excuses, all causes, all settings. */
static void the_longest_texts(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(1900 * M, 100 * M, BACKEND_ROCKSDB);
	no_nmt(s);
	s->allocator = ALLOCATOR_JEMALLOC;
	s->host_cpus = UINT32_MAX;
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	stores(s, 300 * M, 100 * M, 0);
	s->engine.rocksdb.table_readers_bytes = (struct qty){ 0 };
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.cache_pinned_bytes = qty_measured(250 * M);
	for (char c = 'a'; c < 'f'; c++) {
		char name[] = "/opt/____________________________________________________________.so";
		memset(name + 5, c, 60);
		(void)snap_vma(s, VMA_FILE, VMA_READ | VMA_EXEC, name, M, 0);
	}
	static const char *const keys[] = { "-Xmx", "taskmanager.memory.managed.size",
					    "taskmanager.memory.task.off-heap.size",
					    "taskmanager.memory.jvm-overhead.max" };
	for (int i = 0; i < 4; i++)
		snap_setting(s, keys[i], "1", "config.yaml:12");
	assert_int_equal(ask(native, s, &f), RULE_FIRED);
	assert_int_equal(f.n_settings, 4);
	says(f.change, "state.backend.rocksdb.metrics.estimate-table-readers-mem to true");
	says(f.competing_causes[1], "narenas:8");
}

/* --- allocator-retention ---------------------------------------------------------------------------------- */

static void malloc_info_is_exact(void **state)
{
	(void)state;
	static const struct {
		uint64_t kept, pool, limit;
		enum severity severity;
	} table[] = {
		{ 256 * M, 4000 * M, 5000 * M, SEVERITY_NONE },
		{ 500 * M, 4000 * M, 5000 * M, SEVERITY_NONE },       /* 10 % */
		{ 500 * M + 1, 4000 * M, 5000 * M, SEVERITY_NOTICE }, /* there is more room than that */
		{ 601 * M, 4000 * M, 5000 * M, SEVERITY_WARNING },
		{ 256 * M + 1, 600 * M, 1200 * M, SEVERITY_WARNING },
		{ 256 * M, 600 * M, 1200 * M, SEVERITY_NONE }, /* four arenas, and less than 30 % */
		{ 240 * M, 300 * M, 800 * M, SEVERITY_NONE },  /* 30 % */
		{ 240 * M + 1, 300 * M, 800 * M, SEVERITY_WARNING },
		{ 90 * M + 1, 100 * M, 300 * M, SEVERITY_WARNING },
		{ 90 * M, 100 * M, 300 * M, SEVERITY_NONE },
		{ 255 * M, 300 * M, 0, SEVERITY_NONE }, /* no limit: the bytes alone count */
		{ 256 * M + 1, 300 * M, 0, SEVERITY_WARNING },
		{ UINT64_MAX, 100 * M, 1200 * M, SEVERITY_NONE }, /* what is not resident is not kept */
		{ 0, 600 * M, 1200 * M, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = jvm(table[i].pool, table[i].limit);
		if (!table[i].limit)
			s->cgroup.max = (struct limit){ .kind = LIMIT_NONE };
		s->malloc_info.free_bytes = qty_measured(table[i].kept);
		s->malloc_info.in_use_bytes = qty_measured(10 * M);
		enum rule_answer answer = ask(retention, s, &f);
		if (answer != (table[i].severity ? RULE_FIRED : RULE_SILENT))
			print_error("row %zu\n", i);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (!table[i].severity)
			continue;
		assert_int_equal(f.severity, table[i].severity);
		assert_int_equal(f.owner, OWNER_ALLOCATOR_RETAINED);
		judge_figure(&f, "retained_bytes", table[i].kept);
		says(f.change, "LD_PRELOAD=libjemalloc.so.2");
	}
}

/* Raised past 30 % of a small limit, it stays until less than 25 % are kept. */
static void a_small_container_clears_lower(void **state)
{
	(void)state;
	static const struct {
		uint64_t kept;
		bool stays;
	} table[] = { { 89 * M, true }, { 75 * M + 1, true }, { 75 * M, false } };
	struct thresholds raised;
	thresholds_init(&raised);
	struct thresholds held = thresholds_holding(&raised);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = jvm(100 * M, 300 * M);
		s->malloc_info.free_bytes = qty_measured(table[i].kept);
		struct ledger *l = snap_ledger(s);
		const struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &held };
		memset(&f, 0, sizeof f);
		assert_int_equal(rule_allocator_retention(&input, &f), table[i].stays ? RULE_FIRED : RULE_SILENT);
		free(l);
		snap_free(s);
	}
}

/* A TaskManager with RocksDB at 500 MiB by its own words, and arenas of `arenas` in all. */
static struct snapshot *fragmented(uint64_t arenas, enum allocator allocator, bool aligned)
{
	struct snapshot *s = tm(0, 600 * M, BACKEND_ROCKSDB);
	struct vma *vma = snap_vma(s, VMA_ANON, VMA_READ | VMA_WRITE | VMA_NORESERVE, "", arenas, arenas);
	if (aligned) {
		vma->start = (vma->start / (64 * M) + 1) * (64 * M);
		vma->end = vma->start + arenas;
	}
	s->allocator = allocator;
	s->cgroup.max = limit_set(2000 * M);
	s->cgroup.stat.inactive_anon_bytes.bytes += arenas;
	s->cgroup.stat.anon_bytes.bytes += arenas;
	stores(s, 300 * M, 150 * M, 50 * M);
	return s;
}

static void a_conclusion_from_claims(void **state)
{
	(void)state;
	static const struct {
		uint64_t arenas;
		enum allocator allocator;
		bool aligned, fires;
	} table[] = {
		{ 750 * M, ALLOCATOR_GLIBC, true, false }, /* 256 MiB and 1.5 x */
		{ 756 * M, ALLOCATOR_GLIBC, true, false },
		{ 756 * M + 4096, ALLOCATOR_GLIBC, true, true },
		{ 1000 * M, ALLOCATOR_GLIBC, true, true },
		{ 2000 * M, ALLOCATOR_GLIBC, true, true },         /* 4 x */
		{ 2000 * M + 4096, ALLOCATOR_GLIBC, true, false }, /* a leak, more likely */
		{ 1000 * M, ALLOCATOR_GLIBC, false, false },       /* in no arena: malloc gives such back */
		{ 1000 * M, ALLOCATOR_JEMALLOC, true, false },
		{ 540 * M, ALLOCATOR_JEMALLOC, true, false }, /* 5 to 8 % more is what jemalloc costs */
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer =
			ask(retention, fragmented(table[i].arenas, table[i].allocator, table[i].aligned), &f);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			print_error("row %zu\n", i);
		assert_int_equal(answer, table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (!table[i].fires)
			continue;
		says(f.title, "probably");
		says(f.change, "DISABLE_JEMALLOC");
		judge_figure(&f, "retained_bytes", table[i].arenas - 500 * M);
		judge_missing(&f, "malloc_info");
	}
}

/* The official image has jemalloc since 1.12: before, it must be installed. */
static void images_of_old_have_none(void **state)
{
	(void)state;
	static const struct {
		const char *version;
		bool has;
	} table[] = { { "1.11.4", false }, { "1.12.0", true }, { "2.3.0", true }, { "", true } };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = fragmented(1000 * M, ALLOCATOR_GLIBC, true);
		str_copy(s->engine.version, sizeof s->engine.version, str_of(table[i].version));
		assert_int_equal(ask(retention, s, &f), RULE_FIRED);
		judge_whole(&f);
		assert_true((strstr(f.change, "DISABLE_JEMALLOC") != NULL) == table[i].has);
	}
}

/* The same bytes have one finding: retention, or what is past any that was reported. */
static void one_finding_for_the_same_bytes(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(native, fragmented(1000 * M, ALLOCATOR_GLIBC, true), &f), RULE_SILENT);
	assert_int_equal(ask(native, fragmented(1000 * M, ALLOCATOR_GLIBC, false), &f), RULE_FIRED);
	assert_int_equal(ask(native, fragmented(2100 * M, ALLOCATOR_GLIBC, true), &f), RULE_FIRED);
	assert_int_equal(ask(native, fragmented(1000 * M, ALLOCATOR_JEMALLOC, true), &f), RULE_FIRED);
}

static void retention_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = fragmented(1500 * M, ALLOCATOR_GLIBC, true); /* without NMT: 128 MiB are the JVM's */
	no_nmt(s);
	s->malloc_arena_max = count_of(4);
	assert_int_equal(ask(retention, s, &f), RULE_FIRED);
	judge_figure(&f, "retained_bytes", 872 * M);
	assert_string_equal(f.effective_settings[0].key, "MALLOC_ARENA_MAX");

	s = fragmented(1500 * M, ALLOCATOR_GLIBC, true);
	memset(&s->engine.rocksdb, 0, sizeof s->engine.rocksdb);
	assert_int_equal(ask(retention, s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "malloc_info");
	judge_missing(&f, "RocksDB's metrics");

	s = fragmented(200 * M, ALLOCATOR_GLIBC, true); /* too little to matter */
	memset(&s->engine.rocksdb, 0, sizeof s->engine.rocksdb);
	assert_int_equal(ask(retention, s, &f), RULE_SILENT);

	s = fragmented(1500 * M, ALLOCATOR_GLIBC, true);
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	no_nmt(s);
	assert_int_equal(ask(retention, s, &f), RULE_INCONCLUSIVE); /* direct buffers stand in it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_of_old_have_none),
		cmocka_unit_test(plain_borders),
		cmocka_unit_test(nothing_read_has_a_name),
		cmocka_unit_test(flink_excuses),
		cmocka_unit_test(claims_are_not_counted_twice),
		cmocka_unit_test(an_unbounded_store),
		cmocka_unit_test(the_largest_owner_is_named),
		cmocka_unit_test(inputs),
		cmocka_unit_test(foreign_libraries_are_named),
		cmocka_unit_test(the_old_layout_of_a_jdk),
		cmocka_unit_test(the_longest_texts),
		cmocka_unit_test(malloc_info_is_exact),
		cmocka_unit_test(a_small_container_clears_lower),
		cmocka_unit_test(a_conclusion_from_claims),
		cmocka_unit_test(one_finding_for_the_same_bytes),
		cmocka_unit_test(retention_inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
