/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator-retention: memory that the program has freed and malloc has not given back.
 *
 * glibc gives an arena back only from its top (malloc/arena.c heap_trim), so one live block keeps 64 MiB; with as many
 * arenas as 8 times the CPUs, blocks of RocksDB's cache leave holes in all of them. malloc_info tells it exactly, from
 * JDK 24 on. Without it the arenas' resident bytes against what the engine and the JVM say they use is a conclusion:
 * a leak looks the same, and for that a ratio past any that was reported of fragmentation is left to native-unexplained.
 */
#include "rules/retained.h"

#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"
#include "rules/version.h"

enum { ARENA_BYTES = 64 << 20 };

static uint64_t least_retained(const struct rule_input *input)
{
	/* Without a limit the share of it is nothing, and the bytes alone count. */
	uint64_t limit = input->ledger->limit.kind == LIMIT_SET ? input->ledger->limit.bytes : 0;
	return judged_both(input, T_ALLOCATOR_RETENTION_RETAINED, T_ALLOCATOR_RETENTION_RETAINED_BYTES, limit);
}

/*
 * Where malloc_info tells it, a large share of a small limit suffices by itself. A conclusion must pass the bytes as well: a
 * leak of that size in a small container looks the same, and native-unexplained says so.
 */
static uint64_t least_told(const struct rule_input *input)
{
	uint64_t least = least_retained(input);
	if (input->ledger->limit.kind != LIMIT_SET)
		return least;
	uint64_t most = judged_share(input, T_ALLOCATOR_RETENTION_MOST, input->ledger->limit.bytes);
	return most < least ? most : least;
}

uint64_t retained_rocksdb_said(const struct rule_input *input)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	uint64_t lines = ledger_rocksdb_bytes(input->ledger);
	uint64_t said = sat_add(qty_or(claim->cache_usage_bytes, 0), qty_or(claim->table_readers_bytes, 0));
	if (!claim->memtables_in_cache)
		said = sat_add(said, qty_or(claim->memtables_bytes, 0));
	return claim->ambiguous || said < lines ? lines : said;
}

/*
 * What is said to be in use of the memory that malloc serves; for the JVM's own, where NMT is off, what a plain JVM takes at
 * most. Direct buffers are large: their mappings are their own.
 */
static uint64_t in_use(const struct rule_input *input)
{
	uint64_t jvm = input->snapshot->nmt_read ? ledger_bytes(input->ledger, OWNER_JVM_OTHER)
						 : judged_level(input, T_NATIVE_UNEXPLAINED_OVER_BYTES);
	return sat_add(retained_rocksdb_said(input), jvm);
}

/* RocksDB's metrics say what malloc's largest customer uses, and direct buffers do not stand among the rest. */
static bool uses_are_known(const struct rule_input *input)
{
	const struct ledger *ledger = input->ledger;
	return input->snapshot->vmas_read && ledger->pool_minus_claims_bytes.known &&
	       ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE] && qty_known(ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes) &&
	       qty_known(ledger->lines[OWNER_DIRECT_BUFFERS].bytes);
}

/*
 * What is resident in glibc's arenas and the program break. An arena starts on a 64 MiB border and is mapped without
 * reserve (arena.c new_heap); full ones that are neighbours become one mapping.
 */
static uint64_t arenas_bytes(const struct vma_set *set)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < set->n; i++) {
		const struct vma *vma = &set->items[i];
		bool arena = vma->kind == VMA_ANON && vma->start % ARENA_BYTES == 0 && (vma->flags & VMA_NORESERVE) &&
			     (vma->flags & VMA_WRITE) && !(vma->flags & VMA_EXEC);
		if (arena || vma->kind == VMA_BRK)
			sum = sat_add(sum, vma->anonymous_bytes);
	}
	return sum;
}

static bool find_inferred(const struct rule_input *input, struct retained *ret)
{
	if (input->snapshot->allocator != ALLOCATOR_GLIBC || !uses_are_known(input))
		return false;
	/* Everything there is, in use or not: RocksDB's lines and the JVM's malloc are no longer in native-other. */
	uint64_t used = in_use(input), all = ledger_bytes(input->ledger, OWNER_NATIVE_OTHER);
	all = sat_add(all, ledger_rocksdb_bytes(input->ledger));
	if (input->snapshot->nmt_read)
		all = sat_add(all, ledger_bytes(input->ledger, OWNER_JVM_OTHER));
	uint64_t excess = all > used ? all - used : 0;
	*ret = (struct retained){ excess, used, arenas_bytes(&input->snapshot->vmas), false };
	/* What is not in arenas, malloc gave back when it was freed: mappings of their own. */
	return excess > least_retained(input) && excess <= ret->arenas_bytes &&
	       all > judged_share(input, T_ALLOCATOR_RETENTION_RATIO, used) &&
	       all <= judged_share(input, T_ALLOCATOR_RETENTION_RATIO_MOST, used);
}

bool retained_find(const struct rule_input *input, struct retained *ret_retained)
{
	const struct ledger *ledger = input->ledger;
	struct retained found;
	if (ledger->listed[OWNER_ALLOCATOR_RETAINED] && qty_known(ledger->lines[OWNER_ALLOCATOR_RETAINED].bytes)) {
		found = (struct retained){ ledger_bytes(ledger, OWNER_ALLOCATOR_RETAINED),
					   qty_or(input->snapshot->malloc_info.in_use_bytes, 0),
					   qty_or(input->snapshot->malloc_info.system_bytes, 0), true };
		if (found.bytes <= least_told(input))
			return false;
	} else if (!find_inferred(input, &found)) {
		return false;
	}
	*ret_retained = found;
	return true;
}

/* As long as there is more room than is kept, it can double before it hurts. */
static enum severity severity_of(const struct ledger *ledger, uint64_t kept)
{
	bool ample = ledger->freeboard_bytes.known && ledger->freeboard_bytes.bytes > 0 &&
		     (uint64_t)ledger->freeboard_bytes.bytes > kept;
	return ample ? SEVERITY_NOTICE : SEVERITY_WARNING;
}

/* Flink's official image has jemalloc since 1.12 (FLINK-19125). */
static bool image_has_jemalloc(const struct engine_state *engine)
{
	static const struct version first = { .parts = { 1, 12 } };
	struct version version;
	return !version_parse(engine->version, &version) || version_compare(&version, &first) >= 0;
}

static void change_allocator(const struct snapshot *snapshot, struct finding *finding)
{
	bool flink =
		snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER || snapshot->engine.kind == ENGINE_FLINK_JOBMANAGER;
	finding_turn(finding, KNOB_ALLOCATOR, TURN_SET);
	finding_change(
		finding, "run the container with jemalloc: %s",
		flink && image_has_jemalloc(&snapshot->engine)
			? "leave DISABLE_JEMALLOC unset (or false) in Flink's official image, which preloads it; in an image of your own install libjemalloc2 and set LD_PRELOAD=libjemalloc.so.2"
			: "install libjemalloc2 in the image and set LD_PRELOAD=libjemalloc.so.2 (where it cannot be had: MALLOC_ARENA_MAX=2)");
}

static void explain_retained(const struct snapshot *snapshot, struct finding *finding, const struct retained *retained)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (retained->is_exact) {
		finding_observation(finding, "malloc_info counts it.");
	} else {
		finding_observation(
			finding,
			"That is a conclusion: malloc's arenas hold %s, while RocksDB and the JVM say that they use %s.",
			units_format(a, retained->arenas_bytes), units_format(b, retained->in_use_bytes));
		finding_cause(
			finding,
			"a leak in native code that uses malloc: it then grows on after the change, while what malloc kept is gone");
		finding_missing(finding,
				"malloc_info: JDK 24 and later answer it (System.native_heap_info), for glibc");
	}
	finding_cause(
		finding,
		"fragmentation by RocksDB's blocks in many arenas: it rises at savepoints, full checkpoints and compactions, and stays");
	finding_cause(
		finding,
		"one peak in the past (a restore, a large batch): it stands still since then and is used again by the next one");
	if (snapshot->malloc_arena_max.known)
		finding_setting_bytes(finding, "MALLOC_ARENA_MAX", snapshot->malloc_arena_max.n, "environ");
}

enum rule_answer rule_allocator_retention(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	struct retained retained;
	if (!retained_find(input, &retained)) {
		const struct ledger_line *other = &input->ledger->lines[OWNER_NATIVE_OTHER];
		bool exact = qty_known(input->ledger->lines[OWNER_ALLOCATOR_RETAINED].bytes);
		/* Nothing is kept that is not in what nobody claims: where that is small, nothing is missing. */
		if (snapshot->allocator != ALLOCATOR_GLIBC || exact || uses_are_known(input) ||
		    (qty_known(other->bytes) && other->bytes.bytes <= least_retained(input)))
			return RULE_SILENT;
		finding_missing(finding, "malloc_info (System.native_heap_info, JDK 24 and later)");
		finding_missing(
			finding,
			"or, to conclude it from what is in use: RocksDB's metrics and those of direct buffers");
		return RULE_INCONCLUSIVE;
	}
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding->severity = severity_of(input->ledger, retained.bytes);
	finding->owner = retained.is_exact ? OWNER_ALLOCATOR_RETAINED : OWNER_NATIVE_OTHER;
	finding->excess_bytes = retained.bytes;
	finding_title(finding, "malloc %s %s that the program has freed%s",
		      retained.is_exact ? "keeps" : "probably keeps", units_format(a, retained.bytes),
		      retained.is_exact ? "" : ", or else it is a leak");
	finding_observation(finding, "The allocator (%s) keeps %s that nobody uses, beside %s in use.",
			    allocator_names[snapshot->allocator], a, units_format(b, retained.in_use_bytes));
	explain_retained(snapshot, finding, &retained);
	finding_bytes(finding, "retained_bytes", retained.bytes);
	finding_bytes(finding, "in_use_bytes", retained.in_use_bytes);
	finding_bytes(finding, "arenas_bytes", retained.arenas_bytes);
	change_allocator(snapshot, finding);
	finding_validate(
		finding,
		"steady: native memory stays within 1.3 x of what RocksDB and the JVM claim, two days long and after two full checkpoints");
	finding_validate(finding, "restore: after a restore or a savepoint it falls back to that within some minutes");
	return RULE_FIRED;
}
