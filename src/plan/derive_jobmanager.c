/* SPDX-License-Identifier: Apache-2.0 */
/* JobManagerFlinkMemoryUtils and JobManagerProcessUtils. */
#include <stdio.h>

#include "plan/derive_parts.h"

enum { OFF_HEAP_BYTES = 128 << 20 };

#define JM_HEAP     "jobmanager.memory.heap.size"
#define JM_OFF_HEAP "jobmanager.memory.off-heap.size"
#define JM_FLINK    "jobmanager.memory.flink.size"

static void keep(struct flink_budget *budget, uint64_t heap, uint64_t off_heap)
{
	budget->heap_bytes = qty_of(heap, QTY_DERIVED);
	budget->direct_bytes = qty_of(off_heap, QTY_DERIVED);
}

static int from_parts(const struct deriving *d, struct flink_budget *budget, uint64_t *ret_flink, struct err *err)
{
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP], c[DERIVE_SIZE_CAP];
	char heap_key[DERIVE_KEY_CAP], flink_key[DERIVE_KEY_CAP];
	(void)derive_key_text(d, JM_HEAP, heap_key);
	(void)derive_key_text(d, JM_FLINK, flink_key);
	uint64_t heap, off_heap, flink = 0, sum;
	int rc = derive_get(d, JM_HEAP, 0, &heap, err);
	if (rc == 0)
		rc = derive_get(d, JM_OFF_HEAP, OFF_HEAP_BYTES, &off_heap, err);
	if (rc == 0 && derive_has(d, JM_FLINK))
		rc = derive_get(d, JM_FLINK, 0, &flink, err);
	if (rc < 0)
		return rc;
	if (derive_has(d, JM_FLINK) && !derive_has(d, JM_OFF_HEAP)) {
		if (flink < heap)
			return err_set(err, ERR_USAGE, "%s is %s, %llu bytes more than %s, %s", heap_key,
				       derive_size_text(a, heap), (unsigned long long)(heap - flink), flink_key,
				       derive_size_text(b, flink));
		off_heap = flink - heap;
	}
	sum = heap;
	rc = derive_add(&sum, off_heap, err);
	if (rc < 0)
		return rc;
	if (derive_has(d, JM_FLINK) && sum != flink)
		return err_set(err, ERR_USAGE, "%s, %s, and " JM_OFF_HEAP ", %s, are not %s, %s: %llu bytes apart",
			       heap_key, derive_size_text(a, heap), derive_size_text(b, off_heap), flink_key,
			       derive_size_text(c, flink),
			       (unsigned long long)(sum > flink ? sum - flink : flink - sum));
	keep(budget, heap, off_heap);
	*ret_flink = sum;
	return 0;
}

static int from_flink(const struct deriving *d, uint64_t flink, struct flink_budget *budget, struct err *err)
{
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP], key[DERIVE_KEY_CAP];
	uint64_t off_heap;
	int rc = derive_get(d, JM_OFF_HEAP, OFF_HEAP_BYTES, &off_heap, err);
	if (rc < 0)
		return rc;
	if (flink <= off_heap)
		return err_set(err, ERR_USAGE,
			       "Flink's memory, %s, leaves no heap beside %s, %s: %llu bytes are missing",
			       derive_size_text(a, flink), derive_key_text(d, JM_OFF_HEAP, key),
			       derive_size_text(b, off_heap), (unsigned long long)(off_heap - flink + 1));
	keep(budget, flink - off_heap, off_heap);
	return 0;
}

static int finish(const struct deriving *d, struct derived *derived, struct err *err)
{
	struct flink_budget *budget = &derived->budget;
	budget->flink_bytes = qty_add(budget->heap_bytes, budget->direct_bytes);
	budget->process_bytes = qty_add(qty_add(budget->flink_bytes, budget->metaspace_bytes), budget->overhead_bytes);
	if (!qty_known(budget->process_bytes) || budget->process_bytes.bytes > INT64_MAX)
		return err_set(err, ERR_USAGE, "the sizes sum up to more than 64 bits hold");
	return declared_bool(d->declared, "jobmanager.memory.enable-jvm-direct-memory-limit", false,
			     &derived->direct_limited, err);
}

const struct derive_keys derive_jobmanager_keys = {
	.process = "jobmanager.memory.process.size",
	.flink = JM_FLINK,
	.metaspace = "jobmanager.memory.jvm-metaspace.size",
	.overhead_min = "jobmanager.memory.jvm-overhead.min",
	.overhead_max = "jobmanager.memory.jvm-overhead.max",
	.overhead_fraction = "jobmanager.memory.jvm-overhead.fraction",
	.part = JM_HEAP,
	.parts_text = JM_HEAP,
	.legacy_heap = "jobmanager.heap.size",
	.legacy_heap_mb = "jobmanager.heap.mb",
	.mapped = JM_HEAP,
	.from_parts = from_parts,
	.from_flink = from_flink,
	.finish = finish,
};
