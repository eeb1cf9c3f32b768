/* SPDX-License-Identifier: Apache-2.0 */
/* TaskExecutorFlinkMemoryUtils and TaskExecutorProcessUtils. */
#include <stdio.h>

#include "base/units.h"
#include "engine/flinkbudget.h"
#include "plan/derive_parts.h"
#include "plan/flinkkeys.h"

enum { MIB = 1 << 20, SEGMENT_BYTES = 32 << 10, SEGMENT_BYTES_MIN = 4096 };

#define TM_PROCESS "taskmanager.memory.process.size"
#define TM_FLINK   "taskmanager.memory.flink.size"
#define TM_HEAP    "taskmanager.memory.task.heap.size"
#define TM_MANAGED "taskmanager.memory.managed.size"
#define TM_BUFFERS "taskmanager.network.numberOfBuffers"
#define TM_SEGMENT "taskmanager.memory.segment-size"
#define TM_SLOTS   "taskmanager.numberOfTaskSlots"
#define TM_CPU     "taskmanager.cpu.cores"
#define TM_NETWORK "taskmanager.memory.network."

static const struct range_keys network_keys = { TM_NETWORK "min", TM_NETWORK "max", TM_NETWORK "fraction",
						64ull * MIB,      INT64_MAX,        DERIVE_TENTH };

struct parts {
	uint64_t framework_heap, framework_off_heap, task_heap, task_off_heap, managed, network;
};

static int read_fixed(const struct deriving *d, struct parts *parts, struct err *err)
{
	int rc = derive_get(d, "taskmanager.memory.framework.heap.size", 128ull * MIB, &parts->framework_heap, err);
	if (rc == 0)
		rc = derive_get(d, "taskmanager.memory.framework.off-heap.size", 128ull * MIB,
				&parts->framework_off_heap, err);
	if (rc == 0)
		rc = derive_get(d, "taskmanager.memory.task.off-heap.size", 0, &parts->task_off_heap, err);
	return rc;
}

static int add_all(const uint64_t *parts, size_t n, uint64_t *ret_sum, struct err *err)
{
	uint64_t sum = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = derive_add(&sum, parts[i], err);
	*ret_sum = sum;
	return rc;
}

/* 1.20 takes a number of buffers where nothing newer says how large the network is. */
static bool counts_buffers(const struct deriving *d)
{
	return flinkkeys_is_1x(d->declared->version) && derive_has(d, TM_BUFFERS) && !derive_has(d, network_keys.min) &&
	       !derive_has(d, network_keys.max) && !derive_has(d, network_keys.fraction);
}

static int buffers_bytes(const struct deriving *d, uint64_t *ret_bytes, struct err *err)
{
	int32_t n;
	uint64_t page;
	int rc = declared_int(d->declared, TM_BUFFERS, 2048, &n, err);
	if (rc == 0)
		rc = derive_get(d, TM_SEGMENT, SEGMENT_BYTES, &page, err);
	if (rc < 0)
		return rc;
	if (page < SEGMENT_BYTES_MIN || page > INT32_MAX || (page & (page - 1)))
		return err_set(err, ERR_USAGE,
			       TM_SEGMENT " is %llu: a power of two from 4096 to 1073741824 is accepted",
			       (unsigned long long)page);
	if (n < 0)
		return err_set(err, ERR_USAGE, TM_BUFFERS " is %d: less than 0", (int)n);
	*ret_bytes = (uint64_t)n * page;
	return 0;
}

/* With heap and total both said, the network is what is left, and must be what it may be. */
static int network_as_rest(const struct deriving *d, uint64_t network, struct err *err)
{
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP], total[DERIVE_KEY_CAP], key[DERIVE_KEY_CAP];
	struct range range;
	uint64_t wanted;
	(void)derive_key_text(d, TM_FLINK, total);
	if (counts_buffers(d)) {
		int rc = buffers_bytes(d, &wanted, err);
		if (rc < 0 || wanted == network)
			return rc;
		return err_set(err, ERR_USAGE,
			       "the other parts of %s leave %s to the network, and %s asks for %s: %llu bytes apart",
			       total, derive_size_text(a, network), derive_key_text(d, TM_BUFFERS, key),
			       derive_size_text(b, wanted),
			       (unsigned long long)(wanted > network ? wanted - network : network - wanted));
	}
	int rc = derive_range(d, &network_keys, &range, err);
	if (rc < 0 || (network >= range.min && network <= range.max))
		return rc;
	bool less = network < range.min;
	return err_set(err, ERR_USAGE,
		       "the other parts of %s leave %s to the network, %llu bytes %s than %s allows, %s", total,
		       derive_size_text(a, network),
		       (unsigned long long)(less ? range.min - network : network - range.max), less ? "less" : "more",
		       derive_key_text(d, less ? network_keys.min : network_keys.max, key),
		       derive_size_text(b, less ? range.min : range.max));
}

static int too_much(const struct parts *parts, uint64_t sum, uint64_t flink, const char *last, uint64_t last_bytes,
		    struct err *err)
{
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP];
	char heap[UNITS_TEXT_CAP], off[UNITS_TEXT_CAP], task[UNITS_TEXT_CAP], managed[UNITS_TEXT_CAP],
		rest[UNITS_TEXT_CAP];
	return err_set(
		err, ERR_USAGE,
		"Flink's memory, %s, is %llu bytes less than its parts, %s: framework heap %s and off-heap %s, task off-heap %s, managed %s, %s %s",
		derive_size_text(a, flink), (unsigned long long)(sum - flink), derive_size_text(b, sum),
		units_format(heap, parts->framework_heap), units_format(off, parts->framework_off_heap),
		units_format(task, parts->task_off_heap), units_format(managed, parts->managed), last,
		units_format(rest, last_bytes));
}

static void keep(const struct parts *parts, struct flink_budget *budget)
{
	budget->framework_heap_bytes = qty_of(parts->framework_heap, QTY_DERIVED);
	budget->framework_off_heap_bytes = qty_of(parts->framework_off_heap, QTY_DERIVED);
	budget->task_heap_bytes = qty_of(parts->task_heap, QTY_DERIVED);
	budget->task_off_heap_bytes = qty_of(parts->task_off_heap, QTY_DERIVED);
	budget->managed_bytes = qty_of(parts->managed, QTY_DERIVED);
	budget->network_bytes = qty_of(parts->network, QTY_DERIVED);
}

static int read_managed(const struct deriving *d, uint64_t flink, uint64_t *ret_bytes, struct err *err)
{
	char where[DECLARED_WHERE_CAP];
	struct range range = { 0, INT64_MAX, 0 };
	if (derive_has(d, TM_MANAGED))
		return derive_get(d, TM_MANAGED, 0, ret_bytes, err);
	static const char key[] = "taskmanager.memory.managed.fraction";
	int rc = declared_float(d->declared, key, (double)0.4f, &range.fraction, err);
	if (rc < 0)
		return rc;
	if (!(range.fraction >= 0 && range.fraction < 1))
		return err_set(err, ERR_USAGE, "%s: %s is %g: at least 0 and less than 1 is accepted",
			       declared_where(d->declared, key, where), key, range.fraction);
	return derive_share(&range, flink, false, ret_bytes, err);
}

/* All but the network is known: in a given total it is the rest, else a share of what it and they make together. */
static int with_heap(const struct deriving *d, uint64_t flink, bool has_total, struct parts *parts, struct err *err)
{
	uint64_t sum = 0;
	struct range range;
	const uint64_t all[] = { parts->framework_heap, parts->framework_off_heap, parts->task_heap,
				 parts->task_off_heap, parts->managed };
	int rc = add_all(all, sizeof all / sizeof all[0], &sum, err);
	if (rc < 0)
		return rc;
	if (has_total && sum > flink)
		return too_much(parts, sum, flink, "task heap", parts->task_heap, err);
	if (has_total) {
		parts->network = flink - sum;
		return network_as_rest(d, parts->network, err);
	}
	if (counts_buffers(d))
		return buffers_bytes(d, &parts->network, err);
	rc = derive_range(d, &network_keys, &range, err);
	return rc < 0 ? rc : derive_share(&range, sum, true, &parts->network, err);
}

static int from_parts(const struct deriving *d, struct flink_budget *budget, uint64_t *ret_flink, struct err *err)
{
	struct parts parts = { 0 };
	uint64_t flink = 0;
	bool has_total = derive_has(d, TM_FLINK);
	int rc = derive_get(d, TM_HEAP, 0, &parts.task_heap, err);
	if (rc == 0)
		rc = derive_get(d, TM_MANAGED, 0, &parts.managed, err);
	if (rc == 0)
		rc = read_fixed(d, &parts, err);
	if (rc == 0 && has_total)
		rc = derive_get(d, TM_FLINK, 0, &flink, err);
	if (rc == 0)
		rc = with_heap(d, flink, has_total, &parts, err);
	const uint64_t all[] = { parts.framework_heap, parts.framework_off_heap,
				 parts.task_heap,      parts.task_off_heap,
				 parts.managed,        parts.network };
	if (rc == 0)
		rc = add_all(all, sizeof all / sizeof all[0], ret_flink, err);
	if (rc == 0)
		keep(&parts, budget);
	return rc;
}

static int from_flink(const struct deriving *d, uint64_t flink, struct flink_budget *budget, struct err *err)
{
	struct parts parts = { 0 };
	struct range range;
	uint64_t sum = 0;
	int rc = read_fixed(d, &parts, err);
	bool has_heap = derive_has(d, TM_HEAP);
	if (rc == 0 && has_heap)
		rc = derive_get(d, TM_HEAP, 0, &parts.task_heap, err);
	if (rc == 0)
		rc = read_managed(d, flink, &parts.managed, err);
	if (rc < 0)
		return rc;
	if (has_heap) {
		rc = with_heap(d, flink, true, &parts, err);
		if (rc == 0)
			keep(&parts, budget);
		return rc;
	}
	if (counts_buffers(d)) {
		rc = buffers_bytes(d, &parts.network, err);
	} else {
		rc = derive_range(d, &network_keys, &range, err);
		if (rc == 0)
			rc = derive_share(&range, flink, false, &parts.network, err);
	}
	const uint64_t all[] = { parts.framework_heap, parts.framework_off_heap, parts.task_off_heap, parts.managed,
				 parts.network };
	if (rc == 0)
		rc = add_all(all, sizeof all / sizeof all[0], &sum, err);
	if (rc < 0)
		return rc;
	if (sum > flink)
		return too_much(&parts, sum, flink, "network", parts.network, err);
	parts.task_heap = flink - sum;
	keep(&parts, budget);
	return 0;
}

/* Slots and cores: a TaskManager without a core is refused, and what has -1 slots has one. */
static int finish(const struct deriving *d, struct derived *derived, struct err *err)
{
	int32_t slots;
	double cores;
	char where[DECLARED_WHERE_CAP];
	int rc = declared_int(d->declared, TM_SLOTS, 1, &slots, err);
	if (rc == 0)
		rc = declared_double(d->declared, TM_CPU, slots, &cores, err);
	if (rc < 0)
		return rc;
	if (slots < 1 && !(slots == -1 && cores > 0))
		return err_set(err, ERR_USAGE, "%s: " TM_SLOTS " is %d: at least 1 is accepted",
			       declared_where(d->declared, TM_SLOTS, where), (int)slots);
	if (!(cores > 0) || cores > 1e12)
		return err_set(err, ERR_USAGE, "%s: " TM_CPU " is %g: more than 0 is accepted",
			       declared_where(d->declared, TM_CPU, where), cores);
	derived->budget.n_slots = count_of(slots == -1 ? 1 : (uint64_t)slots);
	derived->direct_limited = true;
	flinkbudget_sum(&derived->budget);
	if (!qty_known(derived->budget.process_bytes) || derived->budget.process_bytes.bytes > INT64_MAX)
		return err_set(err, ERR_USAGE, "the sizes sum up to more than 64 bits hold");
	return 0;
}

const struct derive_keys derive_taskmanager_keys = {
	.process = TM_PROCESS,
	.flink = TM_FLINK,
	.metaspace = "taskmanager.memory.jvm-metaspace.size",
	.overhead_min = "taskmanager.memory.jvm-overhead.min",
	.overhead_max = "taskmanager.memory.jvm-overhead.max",
	.overhead_fraction = "taskmanager.memory.jvm-overhead.fraction",
	.part = TM_HEAP,
	.other_part = TM_MANAGED,
	.parts_text = TM_HEAP " and " TM_MANAGED " both",
	.legacy_heap = "taskmanager.heap.size",
	.legacy_heap_mb = "taskmanager.heap.mb",
	.mapped = TM_FLINK,
	.from_parts = from_parts,
	.from_flink = from_flink,
	.finish = finish,
};
