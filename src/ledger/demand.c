/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets, bounds and demand.
 *
 * legal demand    = sum of bounds: what the configuration allows. Printed, never judged: Flink's own shipped
 *                   default exceeds its container by it.
 * expected demand = -Xmx + direct in use + managed (where RocksDB, ForSt, Python or batch use it) + metaspace in use
 *                   + 1.1 x the highest resident of everything else over the window (a report's window is one reading).
 */
#include "ledger/parts.h"
#include "ledger/vmashape.h"

enum { DEFAULT_RESERVED_CODE_CACHE_BYTES = 240 << 20 };

#define BIT(owner) ((uint64_t)1 << (owner))

static const uint64_t heap_owners = BIT(OWNER_JAVA_HEAP) | BIT(OWNER_ZGC_HEAP);
static const uint64_t direct_owners = BIT(OWNER_DIRECT_BUFFERS);
static const uint64_t rocksdb_owners =
	BIT(OWNER_ROCKSDB_BLOCK_CACHE) | BIT(OWNER_ROCKSDB_MEMTABLES) | BIT(OWNER_ROCKSDB_TABLE_READERS);
/* Flink's jvm-overhead pays for all native memory of the process that has no budget of its own. */
static const uint64_t overhead_owners = BIT(OWNER_CODE_CACHE) | BIT(OWNER_JVM_CDS) | BIT(OWNER_THREAD_STACKS) |
					BIT(OWNER_GC) | BIT(OWNER_JVM_OTHER) | BIT(OWNER_ALLOCATOR_RETAINED) |
					BIT(OWNER_NATIVE_OTHER) | BIT(OWNER_LIBRARY_DATA);

static bool is_flink_tm(const struct snapshot *snapshot)
{
	return snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER;
}

static void budget_put(struct ledger *ledger, const char *name, struct qty budget, uint64_t owners,
		       const char *enforced_by)
{
	if (!qty_known(budget) || ledger->n_budgets == LEDGER_BUDGETS_MAX)
		return;
	ledger->budgets[ledger->n_budgets++] =
		(struct ledger_budget){ name, budget.bytes, lines_sum(ledger, owners), owners, enforced_by };
}

static void line_budget(struct ledger *ledger, enum owner owner, struct qty budget)
{
	if (ledger->listed[owner])
		ledger->lines[owner].budget_bytes = budget;
}

static void line_bound(struct ledger *ledger, enum owner owner, struct qty bound)
{
	if (ledger->listed[owner] && qty_known(bound))
		ledger->lines[owner].bound = limit_set(bound.bytes);
}

/* With no MaxDirectMemorySize the JDK's limit is the largest heap (jdk.internal.misc.VM.maxDirectMemory). */
static struct qty direct_bound(const struct jvm_flags *flags)
{
	return qty_known(flags->max_direct_bytes) ? flags->max_direct_bytes : flags->max_heap_bytes;
}

static struct qty code_bound(const struct snapshot *snapshot)
{
	if (qty_known(snapshot->flags.reserved_code_cache_bytes))
		return snapshot->flags.reserved_code_cache_bytes;
	return snapshot->is_jvm ? qty_of(DEFAULT_RESERVED_CODE_CACHE_BYTES, QTY_INFERRED) : (struct qty){ 0 };
}

static struct qty times(uint64_t bytes, uint64_t n, enum qty_state state)
{
	uint64_t product;
	return __builtin_mul_overflow(bytes, n, &product) ? (struct qty){ 0 } : qty_of(product, state);
}

static struct qty stacks_bound(const struct snapshot *snapshot)
{
	if (!snapshot->status.n_threads.known)
		return (struct qty){ 0 };
	return times(qty_or(snapshot->flags.thread_stack_bytes, shape_stack_default_bytes(snapshot)),
		     snapshot->status.n_threads.n, QTY_INFERRED);
}

/* What RocksDB may hold in all: Flink's managed memory (or its fixed sizes), or what the number of Streams stores allows. */
static struct qty rocksdb_bound(const struct snapshot *snapshot)
{
	const struct engine_state *engine = &snapshot->engine;
	if (engine->kind == ENGINE_KAFKA_STREAMS)
		return engine->streams.native_bound_bytes;
	if (!is_flink_tm(snapshot) || (engine->backend != BACKEND_ROCKSDB && engine->backend != BACKEND_FORST))
		return (struct qty){ 0 };
	if (qty_known(engine->rocksdb_fixed_per_slot_bytes) && engine->flink.n_slots.known)
		return times(engine->rocksdb_fixed_per_slot_bytes.bytes, engine->flink.n_slots.n, QTY_DERIVED);
	if (engine->rocksdb_managed != TRISTATE_FALSE)
		return engine->flink.managed_bytes;
	return engine->rocksdb_fixed_per_tm_bytes; /* unread when nothing bounds it */
}

static bool unread_line(const struct ledger *ledger, enum owner owner)
{
	return ledger->listed[owner] && !qty_known(ledger->lines[owner].bytes);
}

/* Whether native-other holds unread bytes that another budget pays for: jvm-overhead's own cannot be told from them. */
static bool holds_others(const struct snapshot *snapshot, const struct ledger *ledger)
{
	bool memtables = unread_line(ledger, OWNER_ROCKSDB_MEMTABLES) && !snapshot->engine.rocksdb.memtables_in_cache;
	return unread_line(ledger, OWNER_DIRECT_BUFFERS) ||
	       (is_flink_tm(snapshot) && store_managed_pays(&snapshot->engine) &&
		(memtables || unread_line(ledger, OWNER_ROCKSDB_BLOCK_CACHE)));
}

/* Managed memory that a heap backend's job reserved, for batch or Python, lies in native-other where no NMT tells it apart. */
static bool may_hold_managed(const struct snapshot *snapshot, const struct ledger *ledger)
{
	return snapshot->engine.backend == BACKEND_HASHMAP &&
	       qty_or(snapshot->engine.gauges.managed_used_bytes, 0) > 0 && unread_line(ledger, OWNER_MANAGED_UNSAFE);
}

void budget_figures(const struct snapshot *snapshot, struct ledger *ledger)
{
	const struct flink_budget *flink = &snapshot->engine.flink;
	const struct jvm_flags *flags = &snapshot->flags;
	enum owner heap = ledger->listed[OWNER_ZGC_HEAP] ? OWNER_ZGC_HEAP : OWNER_JAVA_HEAP;
	line_bound(ledger, heap, flags->max_heap_bytes);
	line_bound(ledger, OWNER_DIRECT_BUFFERS, direct_bound(flags));
	line_bound(ledger, OWNER_METASPACE, flags->max_metaspace_bytes);
	if (ledger->listed[OWNER_METASPACE] && snapshot->is_jvm &&
	    ledger->lines[OWNER_METASPACE].bound.kind == LIMIT_UNREAD && snapshot->access >= ACCESS_PROCESS)
		ledger->lines[OWNER_METASPACE].bound.kind = LIMIT_NONE; /* MaxMetaspaceSize is unlimited by default */
	line_bound(ledger, OWNER_CODE_CACHE, code_bound(snapshot));
	line_bound(ledger, OWNER_THREAD_STACKS, stacks_bound(snapshot));
	struct qty rocksdb = rocksdb_bound(snapshot);
	line_bound(ledger, OWNER_ROCKSDB_BLOCK_CACHE, rocksdb);
	uint64_t overhead = overhead_owners;

	budget_put(ledger, "heap", qty_known(flink->heap_bytes) ? flink->heap_bytes : flags->max_heap_bytes,
		   heap_owners, "-Xmx");
	line_budget(ledger, heap, qty_known(flink->heap_bytes) ? flink->heap_bytes : flags->max_heap_bytes);
	if (!qty_known(flink->flink_bytes))
		return;
	budget_put(ledger, "direct", flink->direct_bytes, direct_owners, "-XX:MaxDirectMemorySize");
	line_budget(ledger, OWNER_DIRECT_BUFFERS, flink->direct_bytes);
	if (is_flink_tm(snapshot)) {
		bool pays = store_managed_pays(&snapshot->engine);
		budget_put(ledger, "managed", flink->managed_bytes,
			   BIT(OWNER_MANAGED_UNSAFE) | (pays ? rocksdb_owners : 0), NULL);
		if (pays)
			line_budget(ledger, OWNER_ROCKSDB_BLOCK_CACHE, flink->managed_bytes);
		else
			overhead |= rocksdb_owners;
		if (ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE])
			line_note(&ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE],
				  pays ? "managed memory pays for the three rocksdb lines" : "outside managed memory");
	}
	budget_put(ledger, "metaspace", flink->metaspace_bytes, BIT(OWNER_METASPACE), "-XX:MaxMetaspaceSize");
	line_budget(ledger, OWNER_METASPACE, flink->metaspace_bytes);
	size_t at = ledger->n_budgets;
	budget_put(ledger, "jvm-overhead", flink->overhead_bytes, overhead, NULL);
	if (ledger->n_budgets == at)
		return;
	struct qty *actual = &ledger->budgets[at].actual_bytes;
	/* Within its budget an upper bound does no harm; past it, it would accuse. */
	bool accuses = actual->bytes > ledger->budgets[at].budget_bytes && may_hold_managed(snapshot, ledger);
	if (accuses || holds_others(snapshot, ledger))
		*actual = (struct qty){ 0 };
}

/* Resident where it was read, else nothing: for owners that may not exist at all (no tmpfs, no sockets). */
static struct qty or_zero(struct qty q)
{
	return qty_known(q) ? q : qty_of(0, QTY_INFERRED);
}

static void demand_put(struct demand *demand, const char *what, struct qty part)
{
	if (demand->missing)
		return;
	if (!qty_known(part)) {
		demand->missing = what;
		demand->bytes = (struct qty){ 0 };
		return;
	}
	demand->parts[demand->n_parts++] = (struct demand_part){ .what = what, .bytes = part.bytes };
	demand->bytes = demand->n_parts == 1 ? part : qty_add(demand->bytes, part);
	if (!qty_known(demand->bytes))
		demand->missing = "a sum that fits 64 bits";
}

/* An addend that is a line of the ledger: unread, its bytes stand in native-other, among the rest. */
static void demand_put_line(struct demand *demand, const char *what, struct qty part)
{
	size_t at = demand->n_parts;
	demand_put(demand, what, or_zero(part));
	if (demand->n_parts > at)
		demand->parts[at].unread = !qty_known(part);
}

/* Who fills the addend that was put last. */
static void demand_owners(struct demand *demand, uint64_t owners)
{
	if (demand->n_parts)
		demand->parts[demand->n_parts - 1].owners = owners;
}

static struct qty scaled_110(struct qty q)
{
	return qty_add(q, qty_of(q.bytes / 10, QTY_INFERRED));
}

/*
 * RocksDB's share of the expectation: its bound, for a cache fills to its capacity, and never less than what is resident
 * already. The bound of Kafka Streams is a sum over its stores, and each cache ends at the data it could hold: there
 * at most live data + readers + memtables.
 */
static struct qty rocksdb_expected(const struct snapshot *snapshot, const struct ledger *ledger)
{
	struct qty resident = or_zero(lines_sum(ledger, rocksdb_owners));
	struct qty bound = rocksdb_bound(snapshot);
	if (!qty_known(bound))
		return resident;
	const struct rocksdb_claim *claim = &snapshot->engine.rocksdb;
	/*
	 * Without metrics nobody knows whether a Streams application bounds its caches: what its stores could take by
	 * default is a bound, no expectation.
	 */
	if (snapshot->engine.kind == ENGINE_KAFKA_STREAMS && !qty_known(claim->cache_capacity_bytes))
		return resident;
	/* Streams exports no estimate of live data; its files are not compressed, so they are at least that large. */
	struct qty data = qty_known(claim->live_data_bytes) ? claim->live_data_bytes : claim->sst_bytes;
	struct qty fill = qty_add(data, or_zero(claim->table_readers_bytes));
	if (snapshot->engine.kind == ENGINE_KAFKA_STREAMS && qty_known(fill))
		bound = qty_min(bound, qty_add(fill, or_zero(claim->memtables_bytes)));
	return resident.bytes > bound.bytes ? resident : bound;
}

/*
 * The rest of the owners, without what an addend of its own stands for already: an owner whose line is unread stands in
 * native-other, so its bound must not be added to the bytes that may be its own. Up to `bound` of native-other is it.
 */
static struct qty rest_without(const struct ledger *ledger, uint64_t owners, uint64_t bound)
{
	uint64_t inside = qty_or(ledger->lines[OWNER_NATIVE_OTHER].bytes, 0);
	struct qty rest = or_zero(lines_sum(ledger, owners));
	return qty_sub(rest, qty_of(inside < bound ? inside : bound, QTY_INFERRED));
}

/* How much of RocksDB's part may stand in native-other: nothing when all its lines were read. */
static uint64_t rocksdb_inside(const struct ledger *ledger, struct qty part)
{
	bool unread = unread_line(ledger, OWNER_ROCKSDB_BLOCK_CACHE) || unread_line(ledger, OWNER_ROCKSDB_MEMTABLES) ||
		      unread_line(ledger, OWNER_ROCKSDB_TABLE_READERS);
	return unread ? qty_sub(part, or_zero(lines_sum(ledger, rocksdb_owners))).bytes : 0;
}

/* -Xmx, where the heap's own pages could be told from the rest; else they would be counted twice, in native-other. */
static struct qty heap_demand(const struct snapshot *snapshot, const struct ledger *ledger, const char **ret_what)
{
	bool found = ledger->listed[OWNER_ZGC_HEAP] || !unread_line(ledger, OWNER_JAVA_HEAP);
	*ret_what = found ? "-Xmx" : "range of the Java heap";
	return found ? snapshot->flags.max_heap_bytes : (struct qty){ 0 };
}

/* No flag bounds these. The code cache and stacks have a bound, which legal demand takes in place of what is there. */
#define UNBOUNDED_REST                                                                                       \
	(BIT(OWNER_JVM_CDS) | BIT(OWNER_GC) | BIT(OWNER_JVM_OTHER) | BIT(OWNER_MANAGED_UNSAFE) |             \
	 BIT(OWNER_NATIVE_OTHER) | BIT(OWNER_ALLOCATOR_RETAINED) | BIT(OWNER_LIBRARY_DATA) |                 \
	 BIT(OWNER_OTHER_PROCESSES) | BIT(OWNER_TMPFS) | BIT(OWNER_SHARED_MAPS) | BIT(OWNER_KERNEL_STACKS) | \
	 BIT(OWNER_PAGE_TABLES) | BIT(OWNER_SLAB_UNRECLAIMABLE) | BIT(OWNER_PERCPU) | BIT(OWNER_VMALLOC) |   \
	 BIT(OWNER_KERNEL_OTHER) | BIT(OWNER_SOCKETS))

void demand_figures(const struct snapshot *snapshot, struct ledger *ledger)
{
	if (!snapshot->vmas_read || !snapshot->is_jvm)
		return;
	struct demand expected = { 0 }, legal = { 0 };
	static const uint64_t unbounded_rest = UNBOUNDED_REST;
	static const uint64_t others = UNBOUNDED_REST | BIT(OWNER_CODE_CACHE) | BIT(OWNER_THREAD_STACKS);
	struct qty direct = ledger->lines[OWNER_DIRECT_BUFFERS].bytes, metaspace = ledger->lines[OWNER_METASPACE].bytes;
	const char *heap_what;
	struct qty heap = heap_demand(snapshot, ledger, &heap_what), rocksdb_part = rocksdb_expected(snapshot, ledger);
	demand_put(&expected, heap_what, heap);
	demand_owners(&expected, heap_owners);
	demand_put_line(&expected, "direct in use", direct);
	demand_owners(&expected, direct_owners);
	demand_put_line(&expected, "metaspace in use", metaspace);
	demand_owners(&expected, BIT(OWNER_METASPACE));
	demand_put(&expected, "rocksdb", rocksdb_part);
	demand_owners(&expected, rocksdb_owners);
	/* Nothing bounds it and nobody read it: its bytes are among the rest. */
	if (expected.n_parts && rocksdb_part.bytes == 0 && unread_line(ledger, OWNER_ROCKSDB_BLOCK_CACHE))
		expected.parts[expected.n_parts - 1].unread = true;
	demand_put(&expected, "1.1 x everything else",
		   scaled_110(rest_without(ledger, others, rocksdb_inside(ledger, rocksdb_part))));
	demand_owners(&expected, others);
	ledger->expected = expected;

	demand_put(&legal, heap_what, heap);
	demand_put(&legal, "MaxDirectMemorySize", direct_bound(&snapshot->flags));
	struct qty max_metaspace = snapshot->flags.max_metaspace_bytes;
	demand_put(&legal, qty_known(max_metaspace) ? "MaxMetaspaceSize" : "MaxMetaspaceSize (unlimited)",
		   max_metaspace);
	demand_put(&legal, "ReservedCodeCacheSize", code_bound(snapshot));
	demand_put(&legal, "thread stacks", stacks_bound(snapshot));
	struct qty rocksdb = rocksdb_bound(snapshot);
	if (!qty_known(rocksdb))
		rocksdb = or_zero(lines_sum(ledger, rocksdb_owners));
	demand_put(&legal, "rocksdb", rocksdb);
	struct qty inside = qty_of(rocksdb_inside(ledger, rocksdb), QTY_INFERRED);
	if (unread_line(ledger, OWNER_DIRECT_BUFFERS))
		inside = qty_add(inside, or_zero(direct_bound(&snapshot->flags)));
	if (unread_line(ledger, OWNER_METASPACE))
		inside = qty_add(inside, or_zero(snapshot->flags.max_metaspace_bytes));
	demand_put(&legal, "the rest, as resident", rest_without(ledger, unbounded_rest, qty_or(inside, UINT64_MAX)));
	ledger->legal = legal;
}
