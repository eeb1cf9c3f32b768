/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RocksDB without a bound: Flink with managed memory switched off and no fixed size, Kafka Streams with a cache for
 * every store; or a bound that is none, because the kernel's limit comes first.
 */
#include <string.h>

#include "rules/all.h"
#include "rules/room.h"
#include "rules/store.h"
#include "rules/text.h"

/*
 * Flink's guide (large_state_tuning): about 140 MB a state and slot, two write buffers of 64 MB, 8 MB of block cache
 * and the arena. RocksDBStore.java: 50 MiB of cache and three write buffers of 16 MiB an instance.
 */
enum { FLINK_STATE_BYTES = 140000000, STREAMS_CACHE_MIB = 50, STREAMS_MEMTABLES_MIB = 48, LEAST_CACHE_MIB = 64 };

struct take {
	uint64_t stores;
	uint64_t bound_bytes; /* what the stores' settings allow */
	uint64_t may_bytes;   /* of it, what today's data can fill */
	bool by_data;
};

struct space {
	bool known;
	uint64_t bytes, held_bytes;
	bool held_read;
};

static bool is_flink(const struct snapshot *snapshot)
{
	return snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER;
}

/* A heap grows up to -Xmx before it collects in earnest: room that is taken already. */
static uint64_t heap_to_come(const struct rule_input *input)
{
	const struct ledger *ledger = input->ledger;
	enum owner heap = ledger->listed[OWNER_ZGC_HEAP] ? OWNER_ZGC_HEAP : OWNER_JAVA_HEAP;
	const struct qty *most = &input->snapshot->flags.max_heap_bytes;
	if (!ledger->listed[heap] || !qty_known(ledger->lines[heap].bytes) || !qty_known(*most))
		return 0;
	return qty_sub(*most, ledger->lines[heap].bytes).bytes;
}

/* What the limit leaves to RocksDB beside the whole heap: what is free, and what it holds. What is unread of it stands in native-other. */
static struct space space_for(const struct rule_input *input, uint64_t wanted)
{
	const struct ledger *ledger = input->ledger;
	struct judged_limit limit;
	struct space space = { 0 };
	bool all;
	struct qty held = store_resident(input, &all);
	space.held_bytes = qty_or(held, 0);
	space.held_read = qty_known(held) && all;
	if (!ledger->freeboard_bytes.known || !judged_freeboard(input, &limit))
		return space;
	uint64_t inside = space.held_bytes;
	if (!all) {
		uint64_t other = qty_or(ledger->lines[OWNER_NATIVE_OTHER].bytes, 0);
		inside = sat_add(inside, other < wanted ? other : wanted);
	}
	int64_t freeboard = ledger->freeboard_bytes.bytes;
	uint64_t lacking = sat_add(heap_to_come(input), freeboard < 0 ? (uint64_t)0 - (uint64_t)freeboard : 0);
	uint64_t whole = freeboard > 0 ? sat_add(inside, (uint64_t)freeboard) : inside;
	space.known = true;
	space.bytes = whole > lacking ? whole - lacking : 0;
	return space;
}

static uint64_t size_setting(const struct snapshot *snapshot, const char *option, uint64_t otherwise)
{
	const char *text = store_setting(snapshot, option);
	uint64_t bytes;
	return text && units_parse_flink(str_of(text), &bytes) ? bytes : otherwise;
}

/* RocksDBConfigurableOptions and PredefinedOptions: write buffers, how many of them, and the cache of one state. */
static uint64_t flink_state_bytes(const struct snapshot *snapshot)
{
	const char *predefined = store_setting(snapshot, "predefined-options");
	bool high = predefined && strcmp(predefined, "SPINNING_DISK_OPTIMIZED_HIGH_MEM") == 0;
	const char *text = store_setting(snapshot, "writebuffer.count");
	uint64_t count = high ? 4 : 2, buffer = store_write_buffer(&snapshot->engine), all, sum;
	if (text)
		(void)str_is_u64(str_of(text), &count);
	uint64_t cache =
		size_setting(snapshot, "block.cache-size", high ? (uint64_t)256 * STORE_MIB : (uint64_t)8 * STORE_MIB);
	if (count == 2 && buffer == (uint64_t)64 * STORE_MIB && cache == (uint64_t)8 * STORE_MIB)
		return FLINK_STATE_BYTES;
	all = store_ratio(buffer, count, 1);
	sum = sat_add(all, cache);
	return sum;
}

/* No more than the files hold can be cached of them. Streams writes no compressed files by default. */
static void bound_by_data(const struct rocksdb_claim *claim, struct take *take)
{
	struct qty data = qty_add(claim->sst_bytes, claim->table_readers_bytes);
	uint64_t memtables = store_ratio(take->stores, (uint64_t)STREAMS_MEMTABLES_MIB * STORE_MIB, 1);
	uint64_t caches = take->bound_bytes > memtables ? take->bound_bytes - memtables : 0;
	if (!qty_known(data) || data.bytes >= caches)
		return;
	take->may_bytes = sat_add(memtables, data.bytes);
	take->by_data = true;
}

/* False, and what is missing in the finding, where it cannot be told how much the stores may take. */
static bool take_of(const struct rule_input *input, struct finding *finding, struct take *ret_take)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct streams_bound *streams = &engine->streams;
	struct take take = { 0 };
	if (is_flink(input->snapshot)) {
		if (!engine->rocksdb.n_stores.known) {
			finding_missing(
				finding,
				"the number of states: one of RocksDB's metrics for each (%s.metrics.block-cache-usage: true)",
				store_options(engine));
			return false;
		}
		take.stores = engine->rocksdb.n_stores.n;
		take.may_bytes = take.bound_bytes = store_ratio(take.stores, flink_state_bytes(input->snapshot), 1);
	} else {
		if (!streams->n_instances.known || !qty_known(streams->native_bound_bytes)) {
			finding_missing(
				finding,
				"the number of RocksDB instances: their metrics, or the CURRENT files below state.dir");
			return false;
		}
		take.stores = streams->n_instances.n;
		take.may_bytes = take.bound_bytes = streams->native_bound_bytes.bytes;
		bound_by_data(&engine->rocksdb, &take);
	}
	*ret_take = take;
	return true;
}

/* A size for a shared cache: three quarters of the room, for iterators, pinned blocks and readers come on top. */
static uint64_t shared_cache(const struct space *space, uint64_t most)
{
	const uint64_t step = (uint64_t)16 * STORE_MIB, least = (uint64_t)LEAST_CACHE_MIB * STORE_MIB;
	uint64_t size = space->known ? space->bytes / 4 * 3 : space->held_read ? space->held_bytes : most / 2;
	/* Smaller than what is there, it would thrash: where room lacks for that, another change makes it first. */
	if (size < space->held_bytes)
		size = space->held_bytes;
	if (size > most)
		size = most;
	return size > least ? size / step * step : least;
}

static void change_streams(const struct space *space, uint64_t most, struct finding *finding)
{
	unsigned long long cache = shared_cache(space, most) >> 20;
	finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
	finding_change(
		finding,
		"in the RocksDBConfigSetter give all stores one static LRUCache of %llu MiB and one WriteBufferManager of %llu MiB charged to it, with setCacheIndexAndFilterBlocks(true); this is a target, not a limit: pinned blocks and iterators come on top",
		cache, cache / 2);
}

static void change_flink(const struct snapshot *snapshot, const struct space *space, struct finding *finding)
{
	const struct flink_budget *flink = &snapshot->engine.flink;
	const char *options = store_options(&snapshot->engine);
	uint64_t slots = flink->n_slots.known && flink->n_slots.n ? flink->n_slots.n : 1;
	uint64_t least = store_ratio(slots, (uint64_t)LEAST_CACHE_MIB * STORE_MIB, 1);
	uint64_t managed = qty_or(flink->managed_bytes, UINT64_MAX);
	finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
	if (snapshot->engine.rocksdb_managed != TRISTATE_FALSE) {
		finding_change(
			finding,
			"in the job, drop setUseManagedMemory(false) and the options factory's block cache, so that %s.memory.managed: true of the cluster holds for it",
			options);
		return;
	}
	if (managed >= least) {
		finding_change(
			finding,
			"set %s.memory.managed: true, so that the states of a slot share one block cache and one write buffer manager inside managed memory, which is set aside already",
			options);
		return;
	}
	uint64_t wanted = room_round_up(space->held_bytes > least ? space->held_bytes : least);
	unsigned long long more = store_mib_up(wanted - managed);
	finding_turn(finding, KNOB_MANAGED, TURN_UP);
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	finding_change(
		finding,
		"set %s.memory.managed: true and taskmanager.memory.managed.size: %llum, and raise taskmanager.memory.process.size and the container's limit by the same %llum: managed memory is too small to share now",
		options, store_mib_up(wanted), more);
}

static void say_room(const struct space *space, struct finding *finding)
{
	char a[UNITS_TEXT_CAP];
	if (space->held_read)
		finding_observation(finding, "It holds %s now.", units_format(a, space->held_bytes));
	if (space->known)
		finding_observation(finding, "The limit leaves it %s%s.", units_format(a, space->bytes),
				    space->held_read ? " beside the whole heap, what it holds included" : " at most");
	else
		finding_missing(finding, "the room that is left: the limit, or what of it is in use");
	if (!space->held_read)
		finding_missing(
			finding,
			"what RocksDB holds: block-cache-usage, size-all-mem-tables, estimate-table-readers-mem");
	if (space->held_read)
		finding_bytes(finding, "held_bytes", space->held_bytes);
	if (space->known)
		finding_bytes(finding, "room_bytes", space->bytes);
}

static void validate(struct finding *finding)
{
	finding_validate(
		finding,
		"steady: the three rocksdb lines together stop growing below the shared size through a full day's peak");
	finding_validate(
		finding,
		"restore: the same while state is restored or partitions move, when most stores are open at once");
}

static void say_unbounded(const struct rule_input *input, const struct take *take, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	bool flink = is_flink(snapshot);
	(void)units_format(a, take->bound_bytes);
	if (flink)
		finding_observation(
			finding,
			"%s: each of %llu states has a block cache and write buffers of its own, together up to %s (%s each).",
			snapshot->engine.rocksdb_managed == TRISTATE_FALSE
				? "Managed memory is switched off for RocksDB and no fixed size is set"
				: "The job sets RocksDB's memory itself",
			(unsigned long long)take->stores, a, units_format(b, flink_state_bytes(snapshot)));
	else
		finding_observation(
			finding,
			"Each of %llu RocksDB instances has its own block cache: together up to %s, by default 98.0 MiB each (50 MiB of cache and 3 write buffers of 16 MiB), and index and filters outside of it.",
			(unsigned long long)take->stores, a);
	if (take->by_data)
		finding_observation(finding, "With the data of today it is %s.", units_format(b, take->may_bytes));
	finding_cause(
		finding,
		flink ? "%s.memory.managed: false, set to have more than the managed share: then fixed-per-slot would give it a bound as well"
		      : "%sno RocksDBConfigSetter, or one that makes a new LRUCache at each call: capacities are then 50 MiB, or add up",
		flink ? store_options(&snapshot->engine) : "");
	finding_cause(
		finding,
		"more stores than planned on this pod, after a failure elsewhere or with standby replicas: their number then falls again after a rebalance");
	if (flink) {
		store_show(finding, snapshot, "memory.managed");
		store_show(finding, snapshot, "writebuffer.size");
		store_show(finding, snapshot, "writebuffer.count");
		store_show(finding, snapshot, "block.cache-size");
		finding_setting(finding, snapshot, "taskmanager.numberOfTaskSlots");
	}
	finding_figure(finding, "stores", take->stores > INT64_MAX ? INT64_MAX : (int64_t)take->stores);
	finding_bytes(finding, "bound_bytes", take->bound_bytes);
	if (take->by_data)
		finding_bytes(finding, "bound_with_data_bytes", take->may_bytes);
}

static enum rule_answer judge_unbounded(const struct rule_input *input, struct finding *finding)
{
	struct take take;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (!take_of(input, finding, &take))
		return RULE_INCONCLUSIVE;
	if (take.stores < (is_flink(input->snapshot) ? 1 : 2))
		return RULE_SILENT; /* one store's own cache is its bound */
	struct space space = space_for(input, take.may_bytes);
	bool over = space.known && take.may_bytes > judged_share(input, T_ROCKSDB_UNBOUNDED_ROOM, space.bytes);
	finding->severity = over ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = store_largest_line(input->ledger);
	finding->excess_bytes = space.known && take.may_bytes > space.bytes ? take.may_bytes - space.bytes : 0;
	(void)units_format(a, take.may_bytes);
	if (space.known)
		finding_title(finding, "%llu RocksDB stores may take %s, the limit leaves them %s",
			      (unsigned long long)take.stores, a, units_format(b, space.bytes));
	else
		finding_title(finding, "%llu RocksDB stores may take %s, nothing bounds them",
			      (unsigned long long)take.stores, a);
	say_unbounded(input, &take, finding);
	say_room(&space, finding);
	if (is_flink(input->snapshot))
		change_flink(input->snapshot, &space, finding);
	else
		change_streams(&space, take.bound_bytes, finding);
	validate(finding);
	return RULE_FIRED;
}

/* Somebody chose the size: caches that are one, or larger than the default of a store. */
static bool is_chosen(const struct snapshot *snapshot)
{
	const struct rocksdb_claim *claim = &snapshot->engine.rocksdb;
	const struct streams_bound *streams = &snapshot->engine.streams;
	if (claim->sharing != ROCKSDB_PER_STORE)
		return true;
	return snapshot->engine.kind == ENGINE_KAFKA_STREAMS && streams->n_instances.known &&
	       claim->cache_capacity_bytes.bytes >
		       store_ratio(streams->n_instances.n, (uint64_t)STREAMS_CACHE_MIB * STORE_MIB, 1);
}

/* All the data there is would not fill the room. */
static bool data_fits(const struct rocksdb_claim *claim, const struct space *space)
{
	struct qty data = qty_known(claim->live_data_bytes) ? claim->live_data_bytes : claim->sst_bytes;
	data = qty_add(qty_add(data, claim->table_readers_bytes), claim->memtables_bytes);
	return space->known && qty_known(data) && data.bytes <= space->bytes;
}

static void change_capacity(const struct snapshot *snapshot, const struct space *space, struct finding *finding)
{
	const struct engine_state *engine = &snapshot->engine;
	const char *options = store_options(engine);
	uint64_t slots = engine->flink.n_slots.known && engine->flink.n_slots.n ? engine->flink.n_slots.n : 1;
	uint64_t capacity = engine->rocksdb.cache_capacity_bytes.bytes;
	/* Flink gives the cache five sixths of a fixed size by default, and the size is what is set: the smaller one. */
	unsigned long long size = shared_cache(space, capacity / 2) >> 20;
	if (!is_flink(snapshot)) {
		change_streams(space, capacity / 2, finding);
		return;
	}
	finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_DOWN);
	if (qty_known(engine->rocksdb_fixed_per_slot_bytes))
		finding_change(
			finding,
			"set %s.memory.fixed-per-slot: %llum (for %llu slots); this is a target, not a limit: pinned blocks come on top",
			options, size / slots ? size / slots : 1, (unsigned long long)slots);
	else if (qty_known(engine->rocksdb_fixed_per_tm_bytes))
		finding_change(
			finding,
			"set %s.memory.fixed-per-tm: %llum; this is a target, not a limit: pinned blocks come on top",
			options, size);
	else
		finding_change(
			finding,
			"set %s.memory.managed: true and take the block cache out of the job's options factory, so that managed memory bounds it",
			options);
}

static bool judge_capacity(const struct rule_input *input, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	struct judged_limit limit;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (claim->ambiguous || !qty_known(claim->cache_capacity_bytes) || !judged_container(input->ledger, &limit) ||
	    !is_chosen(input->snapshot))
		return false;
	uint64_t capacity = claim->cache_capacity_bytes.bytes;
	if (capacity <= judged_share(input, T_ROCKSDB_UNBOUNDED_CAPACITY, limit.bytes))
		return false;
	struct space space = space_for(input, capacity);
	finding->severity = data_fits(claim, &space) ? SEVERITY_WARNING : SEVERITY_CRITICAL;
	finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
	finding->excess_bytes = capacity > space.bytes && space.known ? capacity - space.bytes : 0;
	finding_title(finding, "RocksDB's block cache of %s is no bound below the limit of %s",
		      units_format(a, capacity), units_format(b, limit.bytes));
	finding_observation(
		finding,
		"The caches may fill up to %s and the container may take %s: the kernel ends it before RocksDB evicts anything.",
		a, b);
	if (claim->n_caches.known && claim->n_caches.n > 1)
		finding_observation(finding, "They are %llu caches.", (unsigned long long)claim->n_caches.n);
	if (data_fits(claim, &space))
		finding_observation(finding, "The data of today would not fill it: it will as the state grows.");
	say_room(&space, finding);
	finding_cause(finding, "sized from the host's memory, which a container sees: a round share of the node's");
	finding_cause(
		finding,
		"a cache for each store where one for all was meant: capacity is then a multiple of their number");
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	store_show(finding, input->snapshot, "memory.fixed-per-slot");
	store_show(finding, input->snapshot, "memory.fixed-per-tm");
	finding_bytes(finding, "cache_capacity_bytes", capacity);
	finding_bytes(finding, "limit_bytes", limit.bytes);
	if (!claim->n_caches_certain)
		finding_missing(
			finding,
			"the exact number of block caches: no label names the slot, so capacity is an estimate");
	change_capacity(input->snapshot, &space, finding);
	validate(finding);
	return true;
}

enum rule_answer rule_rocksdb_unbounded(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct rocksdb_claim *claim = &engine->rocksdb;
	if (!store_in_use(input->ledger))
		return RULE_SILENT;
	if (judge_capacity(input, finding))
		return RULE_FIRED;
	if (engine->kind == ENGINE_FLINK_TASKMANAGER) {
		bool fixed = qty_known(engine->rocksdb_fixed_per_slot_bytes) ||
			     qty_known(engine->rocksdb_fixed_per_tm_bytes);
		/* A job may switch it off for itself: then every state shows a cache of its own. */
		bool own = !claim->ambiguous && claim->sharing == ROCKSDB_PER_STORE;
		return (engine->rocksdb_managed == TRISTATE_FALSE && !fixed) || own ? judge_unbounded(input, finding)
										    : RULE_SILENT;
	}
	if (engine->kind != ENGINE_KAFKA_STREAMS)
		return RULE_SILENT; /* whose cache it is nobody says */
	if (claim->ambiguous || claim->sharing == ROCKSDB_SHARING_UNKNOWN) {
		finding_missing(
			finding,
			"whether the stores share one block cache: block-cache-capacity and block-cache-usage of each store");
		return RULE_INCONCLUSIVE;
	}
	return claim->sharing == ROCKSDB_PER_STORE ? judge_unbounded(input, finding) : RULE_SILENT;
}
