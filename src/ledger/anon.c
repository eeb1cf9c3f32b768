/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The anonymous side of the books.
 *
 * `pool_left` starts as what no address rule took and only ever falls: each taker gets the smaller of what it
 * says and what is left, so claims can be wrong without a byte being counted twice.
 */
#include <string.h>

#include "base/sat.h"
#include "base/str.h"
#include "ledger/parts.h"
#include "ledger/reconcile.h"

struct pool {
	uint64_t left;
	bool overlap; /* a taker of the JVM's own books wanted more than was left */
};

static uint64_t pool_take(struct pool *pool, uint64_t wanted)
{
	uint64_t taken = wanted < pool->left ? wanted : pool->left;
	pool->left -= taken;
	return taken;
}

static unsigned long long mib(uint64_t bytes)
{
	return (unsigned long long)((bytes + (1 << 19)) >> 20);
}

/* What a source says, as it is shown: a sum past u64 is no number. */
static struct qty claim_qty(uint64_t claim)
{
	return claim == UINT64_MAX ? (struct qty){ 0 } : qty_measured(claim);
}

/* Enter a line that takes from the pool what `claim` says, and say so when it could not get all of it. */
static struct ledger_line *take_line(struct ledger *ledger, struct pool *pool, enum owner owner, uint64_t claim,
				     const char *source)
{
	uint64_t taken = pool_take(pool, claim);
	struct ledger_line *line = line_put(ledger, owner, qty_of(taken, QTY_INFERRED), source);
	line->claim_bytes = claim_qty(claim);
	if (claim - taken >= 1 << 20)
		line_note(line, "%llu MiB claimed, not resident", mib(claim - taken));
	return line;
}

static struct ledger_line *unread_line(struct ledger *ledger, enum owner owner, const char *source, const char *why)
{
	struct ledger_line *line = line_put(ledger, owner, (struct qty){ 0 }, source);
	line_note(line, "%s", why);
	return line;
}

/* What NMT says of the JVM's malloc and mappings, by where we book it. */
struct nmt_sums {
	uint64_t gc_malloc, gc_mmap, jvm_malloc, other;
};

static uint64_t malloc_of(const struct nmt_category *c)
{
	return sat_add(qty_or(c->malloc_bytes, 0), qty_or(c->arena_bytes, 0));
}

static struct nmt_sums nmt_sums(const struct jvm_nmt *nmt)
{
	struct nmt_sums sums = { 0 };
	for (size_t i = 0; i < nmt->n_categories; i++) {
		const struct nmt_category *c = &nmt->categories[i];
		if (strcmp(c->name, "Java Heap") == 0)
			continue;
		if (strcmp(c->name, "Other") == 0) {
			sums.other = sat_add(sums.other, malloc_of(c));
		} else if (strcmp(c->name, "GC") == 0 || strcmp(c->name, "GCCardSet") == 0) {
			sums.gc_malloc = sat_add(sums.gc_malloc, malloc_of(c));
			sums.gc_mmap = sat_add(sums.gc_mmap, qty_or(c->mmap_committed_bytes, 0));
		} else if (strcmp(c->name, "Native Memory Tracking") == 0) {
			/* With its tracking overhead: headers of all blocks. */
			sums.jvm_malloc = sat_add(sums.jvm_malloc, qty_or(c->committed_bytes, malloc_of(c)));
		} else {
			sums.jvm_malloc = sat_add(sums.jvm_malloc, malloc_of(c));
		}
	}
	return sums;
}

static void label_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	bool heap_in_memfd = qty_known(snapshot->memfd_heap_bytes);
	if (!heap_in_memfd || split->anon_bytes[CLASS_HEAP]) {
		struct ledger_line *line =
			line_put(ledger, OWNER_JAVA_HEAP,
				 qty_of(split->anon_bytes[CLASS_HEAP], split->exact_heap ? QTY_MEASURED : QTY_INFERRED),
				 split->exact_heap ? "smaps in GC.heap_info's range"
						   : "smaps, heap found by its shape");
		if (!split->exact_heap && !split->labelled[CLASS_HEAP]) {
			line->bytes = (struct qty){ 0 };
			line_note(line, "heap range unread: it stands in native-other");
		}
		if (qty_known(snapshot->heap.committed_bytes))
			line_note(line, "committed %llu MiB", mib(snapshot->heap.committed_bytes.bytes));
	}
	struct ledger_line *line = line_put(ledger, OWNER_CODE_CACHE, qty_measured(split->anon_bytes[CLASS_CODE]),
					    snapshot->code.n_ranges ? "smaps in Compiler.codecache's bounds"
								    : "smaps, executable anonymous");
	if (qty_known(snapshot->code.used_bytes))
		line->claim_bytes = snapshot->code.used_bytes;
	(void)line_put(ledger, OWNER_JVM_CDS, qty_measured(split->anon_bytes[CLASS_CDS]), "smaps of the .jsa archive");
	line = line_put(ledger, OWNER_THREAD_STACKS, qty_measured(split->anon_bytes[CLASS_STACKS]),
			"smaps of stack mappings");
	if (split->n_stacks)
		line_note(line, "%zu stacks", split->n_stacks);
	(void)line_put(ledger, OWNER_LIBRARY_DATA, qty_measured(split->anon_bytes[CLASS_LIBRARY]),
		       "smaps of file mappings");
}

/* The best word on committed metaspace: NMT, then the engine's gauge, heap_info, then hsperfdata (stale until a GC). */
static struct qty metaspace_committed(const struct snapshot *snapshot, const char **ret_source)
{
	struct qty nmt = qty_add(snapshot->nmt.metadata_committed_bytes, snapshot->nmt.class_space_committed_bytes);
	const struct {
		struct qty bytes;
		const char *source;
	} words[] = {
		{ nmt, "NMT metadata + class space" },
		{ snapshot->engine.gauges.metaspace_committed_bytes, "metrics" },
		{ snapshot->heap.metaspace_committed_bytes, "GC.heap_info" },
		{ snapshot->perf.metaspace_capacity_bytes, "hsperfdata, as of the last GC" },
	};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!qty_known(words[i].bytes))
			continue;
		*ret_source = words[i].source;
		return words[i].bytes;
	}
	*ret_source = "none";
	return (struct qty){ 0 };
}

static void jvm_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger,
		      struct pool *pool)
{
	const char *source;
	struct qty metaspace = metaspace_committed(snapshot, &source);
	if (split->labelled[CLASS_METASPACE]) {
		struct ledger_line *line =
			line_put(ledger, OWNER_METASPACE, qty_of(split->anon_bytes[CLASS_METASPACE], QTY_DERIVED),
				 "smaps of metaspace mappings");
		line->claim_bytes = metaspace;
	} else if (qty_known(metaspace)) {
		struct ledger_line *line = take_line(ledger, pool, OWNER_METASPACE, metaspace.bytes, source);
		line_note(line, "committed, taken as resident");
	} else {
		(void)unread_line(ledger, OWNER_METASPACE, "none", "neither NMT nor metrics: inside native-other");
	}

	if (!snapshot->nmt_read) {
		static const char no_nmt[] = "no NMT: inside native-other";
		if (split->labelled[CLASS_GC]) {
			struct ledger_line *line =
				line_put(ledger, OWNER_GC, qty_of(split->anon_bytes[CLASS_GC], QTY_INFERRED),
					 "smaps of the collector's mappings");
			line_note(line, "without its malloc: no NMT");
		} else {
			(void)unread_line(ledger, OWNER_GC, "NMT", no_nmt);
		}
		if (split->anon_bytes[CLASS_JVM]) {
			struct ledger_line *line =
				line_put(ledger, OWNER_JVM_OTHER, qty_of(split->anon_bytes[CLASS_JVM], QTY_DERIVED),
					 "smaps of JVM mappings");
			line_note(line, "without its malloc: no NMT");
		} else {
			(void)unread_line(ledger, OWNER_JVM_OTHER, "NMT", no_nmt);
		}
		return;
	}
	struct nmt_sums nmt = nmt_sums(&snapshot->nmt);
	uint64_t before = pool->left;
	uint64_t gc = pool_take(pool, nmt.gc_malloc);
	if (split->labelled[CLASS_GC])
		gc += split->anon_bytes[CLASS_GC];
	else
		gc += pool_take(pool, nmt.gc_mmap);
	struct ledger_line *line =
		line_put(ledger, OWNER_GC, qty_of(gc, QTY_INFERRED),
			 split->labelled[CLASS_GC] ? "smaps of its mappings + NMT malloc" : "NMT committed");
	line->claim_bytes = claim_qty(sat_add(nmt.gc_malloc, nmt.gc_mmap));
	if (!split->labelled[CLASS_GC])
		line_note(line, "committed, taken as resident");
	line = line_put(ledger, OWNER_JVM_OTHER,
			qty_of(pool_take(pool, nmt.jvm_malloc) + split->anon_bytes[CLASS_JVM], QTY_INFERRED),
			"NMT malloc of the other categories");
	line->claim_bytes = claim_qty(nmt.jvm_malloc);
	if (before < sat_add(nmt.gc_malloc, nmt.jvm_malloc))
		pool->overlap = true;
}

static void direct_line(const struct snapshot *snapshot, struct ledger *ledger, struct pool *pool)
{
	struct qty direct = snapshot->engine.gauges.direct_used_bytes;
	if (qty_known(direct)) {
		struct ledger_line *line =
			take_line(ledger, pool, OWNER_DIRECT_BUFFERS, direct.bytes, "metrics: NIO direct pool");
		if (qty_known(snapshot->engine.gauges.network_total_bytes))
			line_note(line, "of which network buffers %llu MiB",
				  mib(snapshot->engine.gauges.network_total_bytes.bytes));
	} else if (snapshot->nmt_read) {
		struct ledger_line *line =
			take_line(ledger, pool, OWNER_DIRECT_BUFFERS, nmt_sums(&snapshot->nmt).other, "NMT Other");
		line_note(line, "Unsafe memory inside: no metrics to tell it apart");
	} else {
		(void)unread_line(ledger, OWNER_DIRECT_BUFFERS, "metrics",
				  "neither metrics nor NMT: inside native-other");
	}
}

static void unsafe_line(const struct snapshot *snapshot, struct ledger *ledger, struct pool *pool)
{
	struct qty direct = snapshot->engine.gauges.direct_used_bytes;
	if (!qty_known(direct))
		return; /* not told apart: it stands in direct-buffers, or in native-other */
	uint64_t other = snapshot->nmt_read ? nmt_sums(&snapshot->nmt).other : 0;
	if (!snapshot->nmt_read)
		(void)unread_line(ledger, OWNER_MANAGED_UNSAFE, "NMT Other less direct", "no NMT: inside native-other");
	else if (other > direct.bytes && other - direct.bytes >= 64 * 1024)
		(void)take_line(ledger, pool, OWNER_MANAGED_UNSAFE, other - direct.bytes, "NMT Other less direct");
}

static bool maps_rocksdb(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->vmas.n; i++) {
		const struct vma *vma = &snapshot->vmas.items[i];
		struct str name = { vma->name_len ? snapshot->vmas.names + vma->name_at : "", vma->name_len };
		if (vma->kind == VMA_FILE && (str_has(name, STR("rocksdbjni")) || str_has(name, STR("forstjni"))))
			return true;
	}
	return false;
}

/* No metrics of RocksDB: its lines are unread where it is in use, and 0 where Flink says that no store is open. */
static void rocksdb_unread(const struct snapshot *snapshot, struct ledger *ledger)
{
	static const enum owner owners[] = { OWNER_ROCKSDB_BLOCK_CACHE, OWNER_ROCKSDB_MEMTABLES,
					     OWNER_ROCKSDB_TABLE_READERS };
	const struct engine_state *engine = &snapshot->engine;
	/* A JobManager is told the backend of its jobs, and opens no store itself. */
	bool told = engine->kind != ENGINE_FLINK_JOBMANAGER &&
		    (engine->backend == BACKEND_ROCKSDB || engine->backend == BACKEND_FORST);
	if (!told && !maps_rocksdb(snapshot))
		return;
	const char *why = engine->rocksdb.ambiguous ? "its metrics collide: see missing inputs"
						    : "RocksDB metrics not read: inside native-other";
	for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
		if (!store_none_is_open(engine))
			(void)unread_line(ledger, owners[i], "metrics", why);
		else
			line_note(line_put(ledger, owners[i], qty_of(0, QTY_INFERRED), "metrics: Managed.Used"),
				  "no managed memory in use: no store is open");
	}
}

static void rocksdb_lines(const struct snapshot *snapshot, struct ledger *ledger, struct pool *pool)
{
	const struct rocksdb_claim *claim = &snapshot->engine.rocksdb;
	bool usable = !claim->ambiguous && (qty_known(claim->cache_usage_bytes) || qty_known(claim->memtables_bytes));
	if (!usable) {
		rocksdb_unread(snapshot, ledger);
		return;
	}
	/* Readers and memtables are touched when they exist; a cache's usage holds reservations, so it gives way first. */
	if (qty_known(claim->table_readers_bytes))
		(void)take_line(ledger, pool, OWNER_ROCKSDB_TABLE_READERS, claim->table_readers_bytes.bytes,
				"metrics: estimate-table-readers-mem");
	else
		(void)unread_line(ledger, OWNER_ROCKSDB_TABLE_READERS, "metrics",
				  "estimate-table-readers-mem not exported");
	if (qty_known(claim->memtables_bytes))
		(void)take_line(ledger, pool, OWNER_ROCKSDB_MEMTABLES, claim->memtables_bytes.bytes,
				"metrics: size-all-mem-tables");
	else
		(void)unread_line(ledger, OWNER_ROCKSDB_MEMTABLES, "metrics",
				  claim->memtables_in_cache ? "size-all-mem-tables not exported: inside the block cache"
							    : "size-all-mem-tables not exported");
	if (!qty_known(claim->cache_usage_bytes)) {
		(void)unread_line(ledger, OWNER_ROCKSDB_BLOCK_CACHE, "metrics", "block-cache-usage not exported");
		return;
	}
	const char *source;
	uint64_t usage = claim->cache_usage_bytes.bytes, reserved = store_reserved_bytes(&snapshot->engine, &source);
	struct ledger_line *line =
		take_line(ledger, pool, OWNER_ROCKSDB_BLOCK_CACHE, usage > reserved ? usage - reserved : 0, source);
	if (claim->n_caches.known)
		line_note(line, "%llu cache%s%s", (unsigned long long)claim->n_caches.n,
			  claim->n_caches.n == 1 ? "" : "s", claim->n_caches_certain ? "" : ", an estimate");
}

static void retained_line(const struct snapshot *snapshot, struct ledger *ledger, struct pool *pool)
{
	if (qty_known(snapshot->malloc_info.free_bytes) && snapshot->allocator == ALLOCATOR_GLIBC)
		(void)take_line(ledger, pool, OWNER_ALLOCATOR_RETAINED, snapshot->malloc_info.free_bytes.bytes,
				"malloc_info");
	else
		(void)unread_line(ledger, OWNER_ALLOCATOR_RETAINED, "malloc_info",
				  "malloc_info not readable: inside native-other");
}

static void other_processes(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	const struct cgroup_memory *cg = &snapshot->cgroup;
	if (!qty_known(cg->stat.anon_bytes)) {
		(void)unread_line(ledger, OWNER_OTHER_PROCESSES, "memory.stat", "needs the container's cgroup");
		return;
	}
	uint64_t own = split->total_anon_bytes, all = cg->stat.anon_bytes.bytes;
	if (cg->n_procs.known && cg->n_procs.n <= 1 && cg->target_is_member) {
		/* Alone in its cgroup: what differs is the time between two reads, and stays in the residual. */
		(void)line_put(ledger, OWNER_OTHER_PROCESSES, qty_measured(0), "cgroup.procs: none");
		return;
	}
	struct ledger_line *line =
		line_put(ledger, OWNER_OTHER_PROCESSES, qty_of(all > own ? all - own : 0, QTY_DERIVED),
			 "memory.stat anon less this process's Pss_Anon");
	if (cg->n_procs.known) {
		uint64_t others = cg->n_procs.n - (cg->target_is_member && cg->n_procs.n ? 1 : 0);
		line_note(line, "%llu other process%s", (unsigned long long)others, others == 1 ? "" : "es");
	}
}

static void thp_unmapped(const struct snapshot *snapshot, struct ledger *ledger)
{
	const struct cgroup_stat *stat = &snapshot->cgroup.stat;
	struct qty lru = qty_add(stat->inactive_anon_bytes, stat->active_anon_bytes);
	lru = qty_add(lru, stat->inactive_file_bytes);
	lru = qty_add(lru, stat->active_file_bytes);
	lru = qty_add(lru, stat->unevictable_bytes);
	struct qty mapped = qty_add(stat->anon_bytes, stat->file_bytes);
	if (!qty_known(lru) || !qty_known(mapped))
		return;
	struct ledger_line *line =
		line_put(ledger, OWNER_THP_UNMAPPED,
			 qty_of(lru.bytes > mapped.bytes ? lru.bytes - mapped.bytes : 0, QTY_DERIVED),
			 "memory.stat: LRU lists less anon and file");
	if (mapped.bytes > lru.bytes && mapped.bytes - lru.bytes > recon_stat_tolerance(snapshot))
		line_note(line, "large-folio accounting: lists %llu MiB below anon + file",
			  mib(mapped.bytes - lru.bytes));
}

/* All that is claimed of the native pool. Unread when a RocksDB line is: what is not known must not pass for nothing. */
static struct qty native_claims(const struct ledger *ledger)
{
	struct qty claims = qty_of(0, QTY_DERIVED);
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ALLOCATOR_RETAINED; owner++)
		if (ledger->listed[owner] &&
		    (owner != OWNER_ALLOCATOR_RETAINED || qty_known(ledger->lines[owner].claim_bytes)))
			claims = qty_add(claims, ledger->lines[owner].claim_bytes);
	return claims;
}

void anon_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	thp_unmapped(snapshot, ledger);
	if (!snapshot->vmas_read) {
		(void)unread_line(ledger, OWNER_JAVA_HEAP, "smaps", "smaps unread: no composition");
		(void)unread_line(ledger, OWNER_NATIVE_OTHER, "smaps", "smaps unread: no composition");
		return;
	}
	other_processes(snapshot, split, ledger);
	label_lines(snapshot, split, ledger);
	struct pool pool = { .left = split->anon_bytes[CLASS_POOL] + split->anon_bytes[CLASS_MALLOC] };
	/* What was put in a class by a guess that no line is ready to stand for must not fall out of the books. */
	if (!ledger->listed[OWNER_JAVA_HEAP] || !qty_known(ledger->lines[OWNER_JAVA_HEAP].bytes))
		pool.left += split->anon_bytes[CLASS_HEAP];
	if (!split->labelled[CLASS_METASPACE])
		pool.left += split->anon_bytes[CLASS_METASPACE];
	if (!split->labelled[CLASS_GC])
		pool.left += split->anon_bytes[CLASS_GC];
	/* The surest to be touched come first: the JDK zeroes direct buffers, while malloc's blocks may never be written to. */
	direct_line(snapshot, ledger, &pool);
	jvm_lines(snapshot, split, ledger, &pool);
	unsafe_line(snapshot, ledger, &pool);
	ledger->native_pool_bytes = qty_of(pool.left, QTY_DERIVED);
	rocksdb_lines(snapshot, ledger, &pool);
	retained_line(snapshot, ledger, &pool);
	struct ledger_line *line =
		line_put(ledger, OWNER_NATIVE_OTHER, qty_of(pool.left, QTY_DERIVED), "native pool less claims");
	if (!snapshot->nmt_read)
		line_note(line, "gc, jvm-other and whatever is marked so stand in here");
	ledger->pool_minus_claims_bytes = signed_difference(ledger->native_pool_bytes, native_claims(ledger));
	ledger->overlap = pool.overlap;
}
