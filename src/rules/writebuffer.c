/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write buffers too small for the number of states, so that RocksDB flushes all the time: much CPU and I/O, tiny
 * files, backpressure. Flink warns of the first case (RocksDBMemoryControllerUtils, FLINK-19238).
 */
#include <stdio.h>

#include "rules/all.h"
#include "rules/grow.h"
#include "rules/room.h"
#include "rules/store.h"
#include "rules/text.h"
#include "rules/version.h"

enum { RATIO_DEFAULT_BP = 5000, LEAST_BUFFER_MIB = 16 };

/* One shared write buffer manager, and the column families that write through it. */
struct buffers {
	bool known;
	uint64_t grant_bytes, manager_bytes; /* 2 * grant * ratio / 3 */
	uint64_t buffer_bytes, arena_bytes, declared_bytes;
	uint64_t ratio_bp, slots;
	struct count states; /* for each manager */
	bool within_managed;
};

static bool is_flink_store(const struct engine_state *engine)
{
	return engine->kind == ENGINE_FLINK_TASKMANAGER &&
	       (engine->backend == BACKEND_ROCKSDB || engine->backend == BACKEND_FORST);
}

/* What one manager was given: fixed per slot before managed before fixed per process, as Flink decides. */
static bool grant_of(const struct engine_state *engine, struct buffers *buffers)
{
	const struct flink_budget *flink = &engine->flink;
	if (qty_known(engine->rocksdb_fixed_per_slot_bytes)) {
		buffers->grant_bytes = engine->rocksdb_fixed_per_slot_bytes.bytes;
	} else if (engine->rocksdb_managed != TRISTATE_FALSE) {
		if (!qty_known(flink->managed_bytes) || !flink->n_slots.known || flink->n_slots.n == 0)
			return false;
		buffers->grant_bytes = flink->managed_bytes.bytes / flink->n_slots.n;
		buffers->within_managed = true;
	} else if (qty_known(engine->rocksdb_fixed_per_tm_bytes)) {
		buffers->grant_bytes = engine->rocksdb_fixed_per_tm_bytes.bytes;
	} else {
		return false;
	}
	return true;
}

static struct count states_each(const struct rocksdb_claim *claim)
{
	if (claim->ambiguous || !claim->n_stores.known || !claim->n_caches.known || claim->n_caches.n == 0)
		return (struct count){ 0 };
	return count_of(claim->n_stores.n / claim->n_caches.n + (claim->n_stores.n % claim->n_caches.n != 0));
}

static struct buffers buffers_of(const struct engine_state *engine)
{
	struct buffers buffers = { 0 };
	if (!is_flink_store(engine) || engine->rocksdb.sharing == ROCKSDB_PER_STORE || !grant_of(engine, &buffers))
		return buffers;
	buffers.known = true;
	buffers.ratio_bp = engine->write_buffer_ratio_bp ? engine->write_buffer_ratio_bp : RATIO_DEFAULT_BP;
	if (buffers.ratio_bp > 10000)
		buffers.ratio_bp = 10000;
	buffers.manager_bytes = store_ratio(buffers.grant_bytes, 2 * buffers.ratio_bp, 30000);
	buffers.buffer_bytes = store_write_buffer(engine);
	buffers.declared_bytes = store_arena_declared(buffers.buffer_bytes);
	buffers.arena_bytes = store_arena_real(engine, buffers.buffer_bytes);
	buffers.slots = engine->flink.n_slots.known && engine->flink.n_slots.n ? engine->flink.n_slots.n : 1;
	buffers.states = states_each(&engine->rocksdb);
	return buffers;
}

/* What is wrong, gravest first. */
enum thrash {
	THRASH_NONE = 0,
	THRASH_ARENA,    /* one block passes the level at which a flush starts */
	THRASH_STATES,   /* the states' first blocks do not fit together */
	THRASH_STOPPED,  /* writes are stopped, and a flush is due */
	THRASH_STALLED,  /* writes are stopped or delayed */
	THRASH_DECLARED, /* Flink warns, though RocksDB's own blocks are smaller */
};

static bool any(struct count count)
{
	return count.known && count.n > 0;
}

static bool states_pass(const struct rule_input *input, struct count states, uint64_t arena, uint64_t room)
{
	return states.known && states.n > 1 &&
	       store_ratio(states.n, arena, 1) > judged_share(input, T_WRITE_BUFFER_THRASH_STORES, room);
}

static enum thrash find_thrash(const struct rule_input *input, const struct buffers *buffers)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct rocksdb_claim *claim = &engine->rocksdb;
	uint64_t mutable_bytes =
		buffers->known ? judged_share(input, T_WRITE_BUFFER_THRASH_ARENA, buffers->manager_bytes) : 0;
	if (buffers->known && buffers->arena_bytes > mutable_bytes)
		return THRASH_ARENA;
	if (buffers->known && states_pass(input, buffers->states, buffers->arena_bytes, buffers->manager_bytes))
		return THRASH_STATES;
	/* A shared cache holds the write buffers of all instances: not even one block each. */
	if (engine->kind == ENGINE_KAFKA_STREAMS && claim->sharing == ROCKSDB_PER_PROCESS && !claim->ambiguous &&
	    qty_known(claim->cache_capacity_bytes) &&
	    states_pass(input, engine->streams.n_instances, STORE_MIB, claim->cache_capacity_bytes.bytes))
		return THRASH_STATES;
	/* Files of level 0 and pending compactions stop writes as well: a flush that is due points at the buffers. */
	if (any(claim->n_write_stopped) && any(claim->n_flush_pending))
		return THRASH_STOPPED;
	if (any(claim->n_write_stopped) || any(claim->n_write_delayed))
		return THRASH_STALLED;
	return buffers->known && buffers->declared_bytes > mutable_bytes ? THRASH_DECLARED : THRASH_NONE;
}

/* Names what would have to be read; only where RocksDB is used and nothing was found. */
static bool name_missing(const struct rule_input *input, const struct buffers *buffers, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct rocksdb_claim *claim = &engine->rocksdb;
	bool unshared = claim->sharing == ROCKSDB_PER_STORE ||
			(engine->rocksdb_managed == TRISTATE_FALSE && !qty_known(engine->rocksdb_fixed_per_tm_bytes) &&
			 !qty_known(engine->rocksdb_fixed_per_slot_bytes));
	if (is_flink_store(engine) && !unshared && !buffers->known)
		finding_missing(
			finding,
			"what a slot was given: managed memory and number of slots (the -D options of the command line)");
	if (is_flink_store(engine) && !unshared && !buffers->states.known)
		finding_missing(
			finding,
			"the number of states in a slot: one of RocksDB's metrics for each (%s.metrics.size-all-mem-tables: true)",
			store_options(engine));
	if (engine->kind == ENGINE_KAFKA_STREAMS &&
	    (claim->ambiguous || claim->sharing == ROCKSDB_SHARING_UNKNOWN ||
	     (claim->sharing == ROCKSDB_PER_PROCESS &&
	      (!qty_known(claim->cache_capacity_bytes) || !engine->streams.n_instances.known))))
		finding_missing(finding,
				"the shared cache and how many instances use it: block-cache-capacity of each store");
	return finding->n_missing > 0;
}

static void change_size(const struct buffers *buffers, uint64_t needed, uint64_t budget,
			const struct snapshot *snapshot, struct finding *finding)
{
	/* 8.0 of the manager over the states, 7.0 for one: an eighth of the write buffer is the block that must fit. */
	uint64_t states = buffers->states.known && buffers->states.n ? buffers->states.n : 1;
	uint64_t fits = store_ratio(buffers->manager_bytes, 8, states), one = store_ratio(buffers->manager_bytes, 7, 1);
	uint64_t mib = (fits < one ? fits : one) >> 20;
	if (mib >= LEAST_BUFFER_MIB && buffers->arena_bytes == buffers->declared_bytes) {
		finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_DOWN);
		finding_change(
			finding,
			"set %s.writebuffer.size: %llumb, so that the first block of each state, an eighth of it, fits",
			store_options(&snapshot->engine), (unsigned long long)mib);
		return;
	}
	if (!buffers->within_managed) {
		finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_UP);
		finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
		finding_turn(finding, KNOB_LIMIT, TURN_UP);
		finding_change(
			finding,
			"set %s.memory.%s: %llum, and raise taskmanager.memory.process.size and the container's limit by %llum",
			store_options(&snapshot->engine),
			qty_known(snapshot->engine.rocksdb_fixed_per_slot_bytes) ? "fixed-per-slot" : "fixed-per-tm",
			store_mib_up(needed), store_mib_up(budget));
		return;
	}
	finding_turn(finding, KNOB_MANAGED, TURN_UP);
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	finding_change(
		finding,
		"set taskmanager.memory.managed.size: %llum (%llum for each of %llu slots), and raise taskmanager.memory.process.size and the container's limit by %llum",
		store_mib_up(store_ratio(needed, buffers->slots, 1)), store_mib_up(needed),
		(unsigned long long)buffers->slots, store_mib_up(budget));
}

static void change_flink(const struct buffers *buffers, enum thrash thrash, const struct snapshot *snapshot,
			 struct finding *finding)
{
	if (thrash == THRASH_STOPPED || thrash == THRASH_STALLED) {
		finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_SET);
		finding_change(finding,
			       "set %s.thread.num: 4 (2 by default), so that flushes do not wait behind compactions",
			       store_options(&snapshot->engine));
		return;
	}
	if (thrash == THRASH_DECLARED) {
		uint64_t mib = store_ratio(buffers->manager_bytes, 7, 1) >> 20;
		finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_DOWN);
		finding_change(
			finding,
			"set %s.writebuffer.size: %llumb: a larger one can never fill, and Flink warns no longer",
			store_options(&snapshot->engine), (unsigned long long)(mib ? mib : 1));
		return;
	}
	/* What the blocks need of the manager: below 7/8 of it for one, all of it for the states. */
	uint64_t states = buffers->states.known && buffers->states.n ? buffers->states.n : 1;
	uint64_t one = store_ratio(buffers->arena_bytes, 8, 7), all = store_ratio(buffers->arena_bytes, states, 1);
	uint64_t needed = store_ratio(all > one ? all : one, 30000, 2 * buffers->ratio_bp);
	uint64_t grant = needed > buffers->grant_bytes ? needed - buffers->grant_bytes : 0;
	change_size(buffers, needed, buffers->within_managed ? store_ratio(grant, buffers->slots, 1) : grant, snapshot,
		    finding);
}

/* Memtables fill three quarters of a shared cache: their manager is too small for them, and nothing is left for blocks. */
static bool fill_the_cache(const struct rocksdb_claim *claim)
{
	return claim->sharing == ROCKSDB_PER_PROCESS && qty_known(claim->memtables_bytes) &&
	       qty_known(claim->cache_capacity_bytes) &&
	       claim->memtables_bytes.bytes >=
		       claim->cache_capacity_bytes.bytes - claim->cache_capacity_bytes.bytes / 4;
}

static void change_streams(const struct rule_input *input, enum thrash thrash, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_SET);
	const struct rocksdb_claim *claim = &engine->rocksdb;
	if (thrash != THRASH_STATES && !fill_the_cache(claim)) {
		finding_change(
			finding,
			"in the RocksDBConfigSetter call options.setMaxBackgroundJobs(4), so that flushes do not wait behind compactions");
		return;
	}
	/* Half of the cache for write buffers, four blocks of 1 MiB each: what a store fills before it flushes. */
	uint64_t stores = engine->streams.n_instances.known ? engine->streams.n_instances.n : 1;
	uint64_t wanted = store_ratio(stores, 8 * (uint64_t)STORE_MIB, 1),
		 twice = qty_or(claim->cache_capacity_bytes, 0);
	/* A manager of twice what the memtables hold now, and as much again for blocks. */
	twice = sat_add(twice, twice);
	twice = sat_add(twice, twice);
	wanted = room_round_up(thrash != THRASH_STATES && twice > wanted ? twice : wanted);
	uint64_t more = qty_or(claim->cache_capacity_bytes, 0);
	more = wanted > more ? wanted - more : 0;
	finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_UP);
	if (grow_fits(input, more)) {
		finding_change(
			finding,
			"in the RocksDBConfigSetter make the shared LRUCache %llu MiB and the WriteBufferManager %llu MiB; the container's limit has room for it",
			store_mib_up(wanted), store_mib_up(wanted / 2));
		return;
	}
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	finding_change(
		finding,
		"in the RocksDBConfigSetter make the shared LRUCache %llu MiB and the WriteBufferManager %llu MiB, and raise the container's limit by %llu MiB",
		store_mib_up(wanted), store_mib_up(wanted / 2), store_mib_up(more));
}

static const char *sentence(enum thrash thrash)
{
	static const char *const sentences[] = {
		[THRASH_NONE] = "",
		[THRASH_ARENA] = "One write fills RocksDB's write buffers.",
		[THRASH_STATES] = "RocksDB's write buffers are too small for the number of states.",
		[THRASH_STOPPED] = "RocksDB stopped writes while a flush was due.",
		[THRASH_STALLED] = "RocksDB stops or delays writes.",
		[THRASH_DECLARED] = "RocksDB's write buffers are smaller than Flink asks for.",
	};
	return sentences[thrash];
}

static void title(const struct rule_input *input, const struct buffers *buffers, enum thrash thrash,
		  struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (thrash == THRASH_STOPPED || thrash == THRASH_STALLED) {
		bool stopped = any(engine->rocksdb.n_write_stopped);
		finding_title(finding, "RocksDB %s writes to %llu of its states", stopped ? "has stopped" : "delays",
			      (unsigned long long)(stopped ? engine->rocksdb.n_write_stopped.n
							   : engine->rocksdb.n_write_delayed.n));
		return;
	}
	if (engine->kind == ENGINE_KAFKA_STREAMS) {
		finding_title(finding, "%llu RocksDB stores share a cache of %s, not one write block each",
			      (unsigned long long)engine->streams.n_instances.n,
			      units_format(a, engine->rocksdb.cache_capacity_bytes.bytes));
		return;
	}
	(void)units_format(b, buffers->manager_bytes);
	if (thrash == THRASH_STATES)
		finding_title(finding, "%llu states share write buffers of %s in blocks of %s",
			      (unsigned long long)buffers->states.n, b, units_format(a, buffers->arena_bytes));
	else
		finding_title(finding, "a write block of %s against write buffers of %s a slot",
			      units_format(a, thrash == THRASH_ARENA ? buffers->arena_bytes : buffers->declared_bytes),
			      b);
}

static void figure_of(struct finding *finding, const char *name, struct count count)
{
	if (count.known)
		finding_figure(finding, name, count.n > INT64_MAX ? INT64_MAX : (int64_t)count.n);
}

static void observe_buffers(const struct rule_input *input, const struct buffers *buffers, enum thrash thrash,
			    struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	if (engine->kind == ENGINE_KAFKA_STREAMS && thrash == THRASH_STATES) {
		finding_observation(
			finding,
			"Each of %llu instances starts with a block of 1 MiB, and cache and write buffers share %s.",
			(unsigned long long)engine->streams.n_instances.n,
			units_format(a, engine->rocksdb.cache_capacity_bytes.bytes));
		finding_bytes(finding, "cache_capacity_bytes", engine->rocksdb.cache_capacity_bytes.bytes);
	}
	if (!buffers->known)
		return;
	finding_observation(
		finding,
		"A slot's share of %s gives its write buffers %s; a flush starts at seven eighths of it, and the first write to a state takes a block of %s.",
		units_format(a, buffers->grant_bytes), units_format(b, buffers->manager_bytes),
		units_format(c, buffers->arena_bytes));
	if (buffers->arena_bytes != buffers->declared_bytes)
		finding_observation(
			finding,
			"Flink's own warning reckons with %s, an eighth of the write buffer: RocksDB 8 takes 1 MiB at most.",
			units_format(a, buffers->declared_bytes));
	finding_bytes(finding, "grant_bytes", buffers->grant_bytes);
	finding_bytes(finding, "write_buffer_manager_bytes", buffers->manager_bytes);
	finding_bytes(finding, "arena_block_bytes", buffers->arena_bytes);
	figure_of(finding, "slots", count_of(buffers->slots));
	figure_of(finding, "states_per_slot", buffers->states);
}

static void observe_count(struct finding *finding, const char *what, struct count count)
{
	if (any(count))
		finding_observation(finding, "%s: %llu state%s.", what, (unsigned long long)count.n,
				    count.n == 1 ? "" : "s");
}

static void observe(const struct rule_input *input, const struct buffers *buffers, enum thrash thrash,
		    struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	finding_observation(finding, "%s", sentence(thrash));
	observe_buffers(input, buffers, thrash, finding);
	observe_count(finding, "Writes stopped", claim->n_write_stopped);
	observe_count(finding, "Writes delayed", claim->n_write_delayed);
	observe_count(finding, "Flush due", claim->n_flush_pending);
	if (claim->largest_store[0])
		finding_observation(finding, "Largest store: %s.", claim->largest_store);
	figure_of(finding, "write_stopped", claim->n_write_stopped);
	figure_of(finding, "write_delayed", claim->n_write_delayed);
	figure_of(finding, "flush_pending", claim->n_flush_pending);
	figure_of(finding, "immutable_memtables", claim->n_immutable);
	if (finding->n_evidence == 0)
		figure_of(finding, "stores", input->snapshot->engine.streams.n_instances);
}

static void explain(const struct rule_input *input, enum thrash thrash, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	if (thrash == THRASH_STOPPED || thrash == THRASH_STALLED) {
		finding_cause(
			finding,
			"compactions cannot keep up: compaction-pending or estimate-pending-compaction-bytes is then high, and the disk is busy");
		finding_cause(
			finding,
			"write buffers fill faster than they are flushed: num-immutable-mem-table and mem-table-flush-pending then stay above 0");
	} else {
		finding_cause(
			finding,
			"too many slots or states for the memory: files flushed are then far smaller than the write buffer");
		finding_cause(finding,
			      "a write buffer set larger than the memory carries: the first block is an eighth of it");
	}
	finding_cause(
		finding,
		"write buffers that take the whole shared cache: reads then miss, for nothing is left for blocks");
	store_show(finding, snapshot, "writebuffer.size");
	store_show(finding, snapshot, "memory.write-buffer-ratio");
	finding_setting(finding, snapshot, "taskmanager.numberOfTaskSlots");
	finding_setting(finding, snapshot, "taskmanager.memory.managed.size");
	if (snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER && snapshot->engine.backend == BACKEND_ROCKSDB &&
	    version_from(&snapshot->engine, 2) == TRISTATE_UNREAD)
		finding_missing(
			finding,
			"Flink's version: from 2.0 on a first block is 1 MiB at most, before an eighth of the buffer");
	finding_validate(
		finding,
		"steady: is-write-stopped and actual-delayed-write-rate stay 0 through a day's peak, and flushed files come near the write buffer's size");
	finding_validate(finding, "restore: the same while state is restored, when all states write at once");
}

/*
 * Only Flink 1's constant flushing, and writes that stand still while a flush is due, are known to hurt: the rest
 * may.
 */
static enum severity severity_of(const struct rule_input *input, enum thrash thrash)
{
	const struct engine_state *engine = &input->snapshot->engine;
	bool sure = engine->backend == BACKEND_FORST || version_from(engine, 2) != TRISTATE_UNREAD;
	bool stalls = any(engine->rocksdb.n_write_stopped) && any(engine->rocksdb.n_flush_pending);
	if (thrash == THRASH_STOPPED || (thrash == THRASH_ARENA && sure) || (thrash == THRASH_STATES && stalls))
		return SEVERITY_WARNING;
	return thrash == THRASH_ARENA && stalls ? SEVERITY_WARNING : SEVERITY_NOTICE;
}

enum rule_answer rule_write_buffer_thrash(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	struct buffers buffers = buffers_of(engine);
	enum thrash thrash;
	if (!store_in_use(input->ledger) ||
	    (engine->kind != ENGINE_FLINK_TASKMANAGER && engine->kind != ENGINE_KAFKA_STREAMS))
		return RULE_SILENT;
	thrash = find_thrash(input, &buffers);
	if (thrash == THRASH_NONE)
		return name_missing(input, &buffers, finding) ? RULE_INCONCLUSIVE : RULE_SILENT;
	finding->severity = severity_of(input, thrash);
	finding->owner = OWNER_ROCKSDB_MEMTABLES;
	title(input, &buffers, thrash, finding);
	observe(input, &buffers, thrash, finding);
	explain(input, thrash, finding);
	if (engine->kind == ENGINE_KAFKA_STREAMS)
		change_streams(input, thrash, finding);
	else
		change_flink(&buffers, thrash, input->snapshot, finding);
	return RULE_FIRED;
}
