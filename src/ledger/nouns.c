/* SPDX-License-Identifier: Apache-2.0 */
/* The little code that the shared nouns need: names, sums, release. */
#include "bankfull/snapshot.h"

#include <stdlib.h>
#include <string.h>

const char *const qty_state_names[QTY_STATE_COUNT] = { "unread", "measured", "derived", "inferred" };
const char *const cgroup_kind_names[CGROUP_KIND_COUNT] = { "unread", "v2", "v2-without-memory", "v1", "none" };
const char *const jvm_gc_names[GC_COUNT] = { "unknown", "Serial", "Parallel", "G1", "ZGC", "Shenandoah", "Epsilon" };
const char *const engine_names[ENGINE_COUNT] = { "unknown", "flink-taskmanager", "flink-jobmanager", "kafka-streams",
						 "jvm" };
const char *const allocator_names[ALLOCATOR_COUNT] = { "unknown", "glibc", "jemalloc", "tcmalloc", "mimalloc", "musl" };
const char *const state_backend_names[BACKEND_COUNT] = { "unknown", "hashmap", "rocksdb", "forst" };
const char *const access_level_names[ACCESS_COUNT] = { "none", "status", "process", "full" };

static enum qty_state weaker(enum qty_state a, enum qty_state b)
{
	/* Arithmetic on measured values is exact, but no longer read off one counter. */
	enum qty_state state = a > b ? a : b;
	return state == QTY_MEASURED ? QTY_DERIVED : state;
}

struct qty qty_add(struct qty a, struct qty b)
{
	uint64_t bytes;
	if (!qty_known(a) || !qty_known(b) || __builtin_add_overflow(a.bytes, b.bytes, &bytes))
		return (struct qty){ 0 };
	return qty_of(bytes, weaker(a.state, b.state));
}

struct qty qty_sub(struct qty a, struct qty b)
{
	if (!qty_known(a) || !qty_known(b))
		return (struct qty){ 0 };
	return qty_of(a.bytes > b.bytes ? a.bytes - b.bytes : 0, weaker(a.state, b.state));
}

struct qty qty_min(struct qty a, struct qty b)
{
	if (!qty_known(a) || !qty_known(b))
		return (struct qty){ 0 };
	return a.bytes <= b.bytes ? a : b;
}

void vma_set_done(struct vma_set *set)
{
	free(set->items);
	free(set->names);
	*set = (struct vma_set){ 0 };
}

void jvm_regions_done(struct jvm_regions *regions)
{
	free(regions->items);
	*regions = (struct jvm_regions){ 0 };
}

void snapshot_done(struct snapshot *snapshot)
{
	vma_set_done(&snapshot->vmas);
	jvm_regions_done(&snapshot->regions);
}

const struct gap *snapshot_gap(const struct snapshot *snapshot, const char *what)
{
	for (size_t i = 0; i < snapshot->n_gaps; i++)
		if (strcmp(snapshot->gaps[i].what, what) == 0)
			return &snapshot->gaps[i];
	return NULL;
}
const char *const thp_mode_names[THP_MODE_COUNT] = { "unread", "never", "madvise", "always" };
const char *const heap_origin_names[HEAP_ORIGIN_COUNT] = { "unread", "size", "share", "default" };
