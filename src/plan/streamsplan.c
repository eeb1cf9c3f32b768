/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/streamsplan.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/sat.h"
#include "base/units.h"
#include "engine/streams.h"
#include "plan/streams_checks.h"

enum {
	MIB = 1 << 20,
	SEGMENTS_DEFAULT = 3, /* of a retention of two segments or more: engine facts D.3, AbstractSegments */
	WRITE_BUFFER_BYTES = 16 << 20,
	WRITE_BUFFERS = 3,
	WARMUPS = 2, /* max.warmup.replicas */
	/*
	 * The five captures of Kafka Streams that ship with the source (tests/fixtures/streams_*) hold 72 to 118 MiB of
	 * metaspace, code, stacks, collector and direct buffers at a heap of 256 MiB; G1's own grows with the heap.
	 */
	JVM_BYTES = 112 << 20,
	JVM_OF_HEAP = 16,
};

void streamsplan_done(struct streamsplan *plan)
{
	free(plan->verdict);
	*plan = (struct streamsplan){ 0 };
}

int streams_setter_parse(struct str text, struct streams_setter *ret_setter, struct err *err)
{
	struct streams_setter setter = { .given = true };
	const struct {
		struct str name;
		uint64_t *target;
	} keys[] = {
		{ STR("cache"), &setter.cache_bytes },
		{ STR("store-cache"), &setter.store_cache_bytes },
		{ STR("write-buffer"), &setter.write_buffer_bytes },
		{ STR("write-buffers"), &setter.write_buffers },
		{ STR("manager"), &setter.manager_bytes },
	};
	struct str rest = text, pair;
	while (str_split(&rest, ',', &pair)) {
		size_t at = str_index(pair, '='), i = 0;
		struct str key = str_trim((struct str){ pair.ptr, at });
		while (i < sizeof keys / sizeof keys[0] && !str_eq(keys[i].name, key))
			i++;
		if (i == sizeof keys / sizeof keys[0] || at == pair.len)
			return err_set(
				err, ERR_USAGE,
				"--setter: '%.*s' is none of cache=SIZE, store-cache=SIZE, write-buffer=SIZE, write-buffers=N, manager=SIZE",
				(int)(pair.len < 40 ? pair.len : 40), pair.ptr);
		if (*keys[i].target)
			return err_set(err, ERR_USAGE, "--setter: %.*s stands twice: give it once", (int)key.len,
				       key.ptr);
		int rc = units_parse(str_trim(str_skip(pair, at + 1)), keys[i].target, err);
		if (rc == 0 && *keys[i].target == 0)
			rc = err_set(err, ERR_USAGE, "0 is no size");
		if (rc == 0 && *keys[i].target > INT64_MAX)
			rc = err_set(err, ERR_USAGE, "'%.*s' is more than RocksDB's 64 bits hold",
				     (int)(pair.len - at - 1), pair.ptr + at + 1);
		if (rc < 0) {
			err_wrap(err, "--setter: %.*s", (int)key.len, key.ptr);
			return rc;
		}
	}
	if (setter.cache_bytes && setter.store_cache_bytes)
		return err_set(err, ERR_USAGE,
			       "--setter: cache is one for all, store-cache one for each: only one of them");
	if (setter.manager_bytes && !setter.cache_bytes)
		return err_set(err, ERR_USAGE,
			       "--setter: manager is charged to the shared cache: give cache=SIZE, too");
	*ret_setter = setter;
	return 0;
}

uint64_t streams_memtable_bytes(const struct streams_setter *setter)
{
	return sat_mul(setter->write_buffer_bytes ? setter->write_buffer_bytes : WRITE_BUFFER_BYTES,
		       setter->write_buffers ? setter->write_buffers : WRITE_BUFFERS);
}

/* What `instances` may hold in one process. */
static struct qty bound_of(const struct streams_setter *setter, uint64_t instances)
{
	uint64_t memtables = sat_mul(streams_memtable_bytes(setter), instances), bytes;
	if (setter->cache_bytes)
		bytes = setter->manager_bytes ? setter->cache_bytes : sat_add(setter->cache_bytes, memtables);
	else
		bytes = sat_add(memtables,
				sat_mul(setter->store_cache_bytes ? setter->store_cache_bytes : STREAMS_CACHE_BYTES,
					instances));
	return qty_of(instances ? bytes : 0, QTY_INFERRED);
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* Instances that one task of a sub-topology opens, windowed stores being one for each segment. */
static uint64_t task_instances(uint64_t stores, uint64_t windowed, uint64_t segments)
{
	return sat_add(stores - windowed, sat_mul(windowed, segments));
}

struct shape {
	uint64_t each[TOPOLOGY_SUBS_MAX]; /* instances of one task */
	size_t n;
	uint64_t globals, largest, stores;
};

/*
 * By hand, or of a topology; window stores that its names do not tell are the first of those that are not known to be. A
 * topology's own windowed stores are never counted twice.
 */
static int shape_of(const struct streamsplan_ask *ask, struct shape *shape, struct err *err)
{
	uint64_t segments = ask->segments ? ask->segments : SEGMENTS_DEFAULT, left = ask->windowed, known = 0;
	if (!ask->topology) {
		shape->each[0] = task_instances(sat_add(ask->stores, ask->windowed), ask->windowed, segments);
		shape->largest = shape->each[0];
		shape->stores = sat_add(ask->stores, ask->windowed);
		shape->n = 1;
		return 0;
	}
	for (size_t i = 0; i < ask->topology->n; i++)
		known += ask->topology->subs[i].n_windowed;
	left = left > known ? left - known : 0;
	for (size_t i = 0; i < ask->topology->n; i++) {
		const struct topology_sub *sub = &ask->topology->subs[i];
		shape->stores += sub->n_stores;
		if (sub->global) {
			shape->globals += sub->n_stores;
			continue;
		}
		uint64_t more = sub->n_stores - sub->n_windowed < left ? sub->n_stores - sub->n_windowed : left;
		left -= more;
		shape->each[shape->n] = task_instances(sub->n_stores, sub->n_windowed + more, segments);
		if (shape->each[shape->n] > shape->largest)
			shape->largest = shape->each[shape->n];
		shape->n++;
	}
	if (left)
		return err_set(err, ERR_USAGE, "--windowed-stores: %llu are more stores than the topology has, by %llu",
			       (unsigned long long)ask->windowed, (unsigned long long)left);
	return 0;
}

static struct streams_pods on_pods(const struct streamsplan_ask *ask, const struct shape *shape, uint64_t pods)
{
	struct streams_pods out = { .pods = pods, .copies = sat_add(1, ask->standbys) };
	if (out.copies > pods)
		out.copies = pods;
	for (size_t i = 0; i < shape->n; i++) {
		uint64_t tasks = divide_up(sat_mul(ask->partitions, out.copies), pods);
		/* A pod has one copy of a task at most. */
		if (tasks > ask->partitions)
			tasks = ask->partitions;
		out.instances = sat_add(out.instances, sat_mul(tasks, shape->each[i]));
	}
	out.instances = sat_add(out.instances, shape->globals);
	out.native_bytes = bound_of(&ask->setter, out.instances);
	return out;
}

static void demand_put(struct demand *demand, const char *what, uint64_t bytes, uint64_t owners)
{
	if (demand->n_parts == DEMAND_PARTS_MAX)
		return;
	demand->parts[demand->n_parts++] = (struct demand_part){ .what = what, .bytes = bytes, .owners = owners };
	demand->bytes = qty_of(sat_add(demand->bytes.bytes, bytes), QTY_INFERRED);
}

#define BIT(owner) ((uint64_t)1 << (owner))

static void plan_demand(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	const struct streams_pods *worst = plan->lost.instances > plan->steady.instances ? &plan->lost : &plan->steady;
	if (plan->heap_bytes)
		demand_put(&plan->expected, "-Xmx", plan->heap_bytes, BIT(OWNER_JAVA_HEAP) | BIT(OWNER_ZGC_HEAP));
	demand_put(&plan->expected, "the JVM beside its heap", plan->jvm_bytes,
		   BIT(OWNER_METASPACE) | BIT(OWNER_CODE_CACHE) | BIT(OWNER_JVM_CDS) | BIT(OWNER_THREAD_STACKS) |
			   BIT(OWNER_GC) | BIT(OWNER_JVM_OTHER) | BIT(OWNER_DIRECT_BUFFERS));
	demand_put(&plan->expected,
		   ask->setter.cache_bytes ? "RocksDB, a target and no limit" : "RocksDB's caches and memtables",
		   worst->native_bytes.bytes, BIT(OWNER_ROCKSDB_BLOCK_CACHE) | BIT(OWNER_ROCKSDB_MEMTABLES));
	/* Neither -Xmx nor the limit that it follows from is known: then the sum is not, either. */
	if (!plan->heap_bytes)
		plan->expected.bytes = (struct qty){ 0 };
	static const struct streams_setter none = { 0 };
	plan->default_bytes = bound_of(&none, worst->instances).bytes;
	if (ask->setter.given) {
		plan->saved_bytes = plan->default_bytes > worst->native_bytes.bytes
					    ? plan->default_bytes - worst->native_bytes.bytes
					    : 0;
		return;
	}
	/* What the limit leaves beside heap and JVM and a tenth of it, in steps of 16 MiB: half of it for memtables. */
	uint64_t taken = sat_add(sat_add(plan->heap_bytes, plan->jvm_bytes), plan->limit.bytes / 10);
	if (plan->limit.kind != LIMIT_SET || taken >= plan->limit.bytes)
		return;
	uint64_t room = (plan->limit.bytes - taken) / (16ull * MIB) * (16ull * MIB);
	if (room >= plan->default_bytes || room == 0)
		return;
	plan->proposed_cache_bytes = room;
	plan->proposed_manager_bytes = room / 2;
	plan->saved_bytes = plan->default_bytes - room;
}

int streamsplan_run(const struct streamsplan_ask *ask, struct streamsplan *ret_plan, struct err *err)
{
	auto_streamsplan struct streamsplan plan = { .limit = ask->limit, .setter = ask->setter };
	struct shape shape = { .n = 0 };
	int rc = shape_of(ask, &shape, err);
	if (rc < 0)
		return rc;
	plan.verdict = calloc(1, sizeof *plan.verdict);
	if (!plan.verdict)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	plan.stores = shape.stores;
	plan.tasks = sat_mul(ask->partitions, shape.n);
	plan.steady = on_pods(ask, &shape, ask->pods);
	if (ask->pods > 1)
		plan.lost = on_pods(ask, &shape, ask->pods - 1);
	for (size_t i = 0; i < shape.n; i++)
		plan.instances_all = sat_add(plan.instances_all,
					     sat_mul(sat_mul(ask->partitions, plan.steady.copies), shape.each[i]));
	plan.instances_all = sat_add(plan.instances_all, sat_mul(shape.globals, ask->pods));
	plan.all_bytes =
		ask->setter.cache_bytes
			? qty_of(sat_mul(bound_of(&ask->setter, plan.steady.instances).bytes, ask->pods), QTY_INFERRED)
			: bound_of(&ask->setter, plan.instances_all);
	plan.instance_bytes = bound_of(&ask->setter, 1).bytes;
	plan.warmup_instances = ask->pods > 1 ? sat_mul(shape.largest, WARMUPS) : 0;
	plan.heap_bytes = ask->heap_bytes ? ask->heap_bytes : plan.limit.kind == LIMIT_SET ? plan.limit.bytes / 4 : 0;
	plan.jvm_bytes = JVM_BYTES + plan.heap_bytes / JVM_OF_HEAP;
	plan_demand(ask, &plan);
	streams_checks(ask, &plan);
	*ret_plan = plan;
	plan = (struct streamsplan){ 0 };
	return 0;
}
