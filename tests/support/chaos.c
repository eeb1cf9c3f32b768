/* SPDX-License-Identifier: Apache-2.0 */
#include "support/chaos.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/snap.h"

struct chaos {
	struct prng *prng;
	bool wild;
};

static struct qty qty_any(struct chaos *c)
{
	if (prng_one_in(c->prng, 4))
		return (struct qty){ 0 };
	return qty_of(prng_size(c->prng, c->wild), prng_one_in(c->prng, 5) ? QTY_DERIVED : QTY_MEASURED);
}

static struct count count_any(struct chaos *c, uint64_t usual)
{
	if (prng_one_in(c->prng, 4))
		return (struct count){ 0 };
	return count_of(c->wild && prng_one_in(c->prng, 6) ? prng_u64(c->prng) : prng_below(c->prng, usual));
}

static struct limit limit_any(struct chaos *c)
{
	switch (prng_below(c->prng, 3)) {
	case 0:
		return (struct limit){ 0 };
	case 1:
		return (struct limit){ 0, LIMIT_NONE };
	default:
		return limit_set(prng_size(c->prng, c->wild));
	}
}

/* Every field of these structs is a struct qty or follows the byte sizes: visited as arrays, so a new field takes part. */
static void fill_qtys(struct chaos *c, void *first, size_t bytes)
{
	struct qty *at = first;
	for (size_t i = 0; i < bytes / sizeof *at; i++)
		at[i] = qty_any(c);
}

#define FILL(c, object, from, to) \
	fill_qtys(c, &(object).from, (size_t)((char *)(&(object).to + 1) - (char *)&(object).from))

static void mappings(struct chaos *c, struct snapshot *s)
{
	static const char *const names[] = { "",
					     "",
					     "",
					     "/jdk/lib/server/libjvm.so",
					     "/jdk/lib/server/classes.jsa",
					     "/tmp/librocksdbjni1.so",
					     "/memfd:java_heap (deleted)",
					     "/dev/shm/x",
					     "[heap]",
					     "[stack]" };
	size_t n = prng_below(c->prng, 14);
	s->vmas_read = !prng_one_in(c->prng, 6);
	for (size_t i = 0; s->vmas_read && i < n; i++) {
		uint64_t size = 4096 * (1 + prng_below(c->prng, (uint64_t)1 << prng_below(c->prng, 20)));
		uint64_t anon = prng_one_in(c->prng, 3) ? 0 : prng_below(c->prng, size + 1);
		struct vma *v = snap_vma(s, (enum vma_kind)prng_below(c->prng, VMA_KIND_COUNT),
					 (uint32_t)prng_below(c->prng, 1 << 11),
					 names[prng_below(c->prng, sizeof names / sizeof names[0])], size, anon);
		v->rss_bytes = anon + prng_below(c->prng, size - anon + 1);
		v->pss_bytes = v->rss_bytes / (1 + prng_below(c->prng, 3));
		v->pss_anon_bytes = anon / (1 + prng_below(c->prng, 3));
		v->lazyfree_bytes = prng_one_in(c->prng, 4) ? prng_below(c->prng, anon + 1) : 0;
		v->private_hugetlb_bytes = prng_one_in(c->prng, 9) ? size : 0;
		if (prng_one_in(c->prng, 3) && s->heap.n_ranges < JVM_HEAP_RANGES_MAX)
			s->heap.ranges[s->heap.n_ranges++] =
				(struct addr_range){ v->start, v->end - (v->end - v->start) / 4096 / 2 * 4096 };
		else if (prng_one_in(c->prng, 4) && s->code.n_ranges < JVM_CODE_RANGES_MAX)
			s->code.ranges[s->code.n_ranges++] = (struct addr_range){ v->start, v->end };
		if (prng_one_in(c->prng, 3))
			s->residents[s->n_residents++] =
				(struct resident_range){ { v->start, v->end }, prng_size(c->prng, c->wild) };
	}
	s->vmas.have = (uint32_t)prng_below(c->prng, 8);
}

static void fill_counts(struct chaos *c, struct count *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = count_any(c, 1 + prng_below(c->prng, 10));
}

static struct cgroup_pressure_line pressure_any(struct chaos *c)
{
	struct cgroup_pressure_line line = { .known = !prng_one_in(c->prng, 3) };
	line.avg10_bp = (uint32_t)prng_below(c->prng, 10001);
	line.avg60_bp = (uint32_t)prng_below(c->prng, 10001);
	line.avg300_bp = (uint32_t)prng_below(c->prng, 10001);
	line.total_us = prng_u64(c->prng);
	return line;
}

static enum tristate tristate_any(struct chaos *c)
{
	return (enum tristate)prng_below(c->prng, 3);
}

static void cgroup(struct chaos *c, struct snapshot *s)
{
	struct cgroup_memory *cg = &s->cgroup;
	cg->kind = (enum cgroup_kind)prng_below(c->prng, CGROUP_KIND_COUNT);
	if (prng_one_in(c->prng, 5))
		return; /* none at all */
	FILL(c, cg->stat, anon_bytes, hugetlb_bytes);
	FILL(c, *cg, current_bytes, current_after_bytes);
	FILL(c, *cg, peak_bytes, zswap_current_bytes);
	cg->max = limit_any(c);
	cg->high = limit_any(c);
	cg->swap_max = limit_any(c);
	cg->n_procs = count_any(c, 4);
	fill_counts(c, &cg->stat.workingset_refault_anon, 6);
	fill_counts(c, &cg->events.low, 6);
	fill_counts(c, &cg->events_local.low, 6);
	cg->pressure.some = pressure_any(c);
	cg->pressure.full = pressure_any(c);
	cg->target_is_member = prng_one_in(c->prng, 2);
}

static void jvm(struct chaos *c, struct snapshot *s)
{
	static const char *const categories[] = { "Java Heap", "Class", "Thread",
						  "Code",      "GC",    "GCCardSet",
						  "Compiler",  "Other", "Native Memory Tracking",
						  "X" };
	s->nmt_read = prng_one_in(c->prng, 2);
	for (size_t i = 0; s->nmt_read && i < prng_below(c->prng, 12); i++) {
		struct nmt_category *category = &s->nmt.categories[s->nmt.n_categories++];
		str_copy(category->name, sizeof category->name,
			 str_of(categories[prng_below(c->prng, sizeof categories / sizeof categories[0])]));
		FILL(c, *category, reserved_bytes, mmap_committed_bytes);
	}
	FILL(c, s->nmt, total_reserved_bytes, stack_committed_bytes);
	FILL(c, s->flags, max_heap_bytes, thread_stack_bytes);
	FILL(c, s->heap, committed_bytes, class_space_reserved_bytes);
	FILL(c, s->code, size_bytes, max_used_bytes);
	FILL(c, s->perf, metaspace_used_bytes, heap_max_bytes);
	FILL(c, s->malloc_info, in_use_bytes, mmapped_bytes);
	s->flags.heap_origin = (enum heap_origin)prng_below(c->prng, HEAP_ORIGIN_COUNT);
	s->flags.max_ram_percentage_bp = prng_one_in(c->prng, 3) ? (uint32_t)prng_below(c->prng, 10001) : 0;
	s->flags.container_support_off = prng_one_in(c->prng, 6);
	s->perf_read = prng_one_in(c->prng, 2);
	fill_counts(c, &s->perf.threads_live, 5);
	s->gc = (enum jvm_gc)prng_below(c->prng, GC_COUNT);
	s->memfd_heap_bytes = prng_one_in(c->prng, 4) ? qty_any(c) : (struct qty){ 0 };
}

static void engine(struct chaos *c, struct snapshot *s)
{
	struct engine_state *e = &s->engine;
	e->kind = (enum engine)prng_below(c->prng, ENGINE_COUNT);
	e->backend = (enum state_backend)prng_below(c->prng, BACKEND_COUNT);
	if (!prng_one_in(c->prng, 3))
		FILL(c, e->flink, framework_heap_bytes, process_bytes);
	e->flink.n_slots = count_any(c, 8);
	FILL(c, e->gauges, heap_used_bytes, mapped_used_bytes);
	FILL(c, e->gauges, managed_used_bytes, network_available_bytes);
	FILL(c, e->rocksdb, cache_usage_bytes, sst_bytes);
	e->rocksdb.n_caches = count_any(c, 5);
	e->rocksdb.memtables_in_cache = prng_one_in(c->prng, 2);
	e->rocksdb.ambiguous = prng_one_in(c->prng, 6);
	e->streams.native_bound_bytes = qty_any(c);
	FILL(c, *e, rocksdb_fixed_per_slot_bytes, rocksdb_fixed_per_tm_bytes);
	e->rocksdb_managed = tristate_any(c);
	e->tickers = tristate_any(c);
	e->manual_compaction = tristate_any(c);
	e->batch = tristate_any(c);
	e->python = tristate_any(c);
	e->write_buffer_bytes = qty_any(c);
	e->write_buffer_ratio_bp = (uint32_t)prng_below(c->prng, 10001);
	e->rocksdb.sharing = (enum rocksdb_sharing)prng_below(c->prng, ROCKSDB_SHARING_COUNT);
	e->rocksdb.n_stores = count_any(c, 400);
	fill_counts(c, &e->rocksdb.n_flush_pending, 6);
	e->streams.n_instances = count_any(c, 400);
	fill_counts(c, &e->streams.n_kv, 3);
	static const char *const versions[] = { "",      "1.12.0", "1.20.4", "2.0.0", "2.2.2",
						"2.3.0", "3.9.0",  "4.1.0",  "4.3.0", "4.4.0" };
	str_copy(e->version, sizeof e->version,
		 str_of(versions[prng_below(c->prng, sizeof versions / sizeof versions[0])]));
}

static void words(struct chaos *c, char *dest, size_t cap)
{
	size_t len = prng_below(c->prng, cap);
	for (size_t i = 0; i < len; i++)
		dest[i] = (char)(1 + prng_below(c->prng, 255));
	dest[len] = '\0';
}

struct snapshot *chaos_new(struct prng *prng, bool wild)
{
	struct chaos c = { prng, wild };
	struct snapshot *s = calloc(1, sizeof *s);
	if (!s)
		abort();
	s->taken.ms = (int64_t)prng_below(prng, (uint64_t)1 << 41);
	s->age_ms = prng_one_in(prng, 3) ? (uint32_t)prng_u64(prng) : 0;
	s->host_cpus = wild ? (uint32_t)prng_u64(prng) : (uint32_t)prng_below(prng, 256);
	s->page_bytes = wild ? (uint32_t)prng_u64(prng) : prng_one_in(prng, 3) ? 65536 : 4096;
	s->process = (struct process_id){ (int)(1 + prng_below(prng, 4194304)), prng_u64(prng) };
	s->process_read = prng_one_in(prng, 2);
	s->is_jvm = !prng_one_in(prng, 5);
	s->access = (enum access_level)prng_below(prng, ACCESS_COUNT);
	s->allocator = (enum allocator)prng_below(prng, ALLOCATOR_COUNT);
	FILL(&c, s->status, vm_peak_bytes, hugetlb_bytes);
	s->status.n_threads = count_any(&c, 400);
	s->told_limit = limit_any(&c);
	s->pod_limit = limit_any(&c);
	FILL(&c, *s, host_memory_bytes, host_swap_free_bytes);
	s->thp = (enum thp_mode)prng_below(prng, THP_MODE_COUNT);
	s->n_tmpfs = prng_below(prng, TMPFS_MOUNTS_MAX + 1);
	for (size_t i = 0; i < s->n_tmpfs; i++) {
		words(&c, s->tmpfs[i].path, sizeof s->tmpfs[i].path);
		s->tmpfs[i].used_bytes = qty_any(&c);
		s->tmpfs[i].size = limit_any(&c);
	}
	mappings(&c, s);
	cgroup(&c, s);
	jvm(&c, s);
	engine(&c, s);
	words(&c, s->jdk, sizeof s->jdk);
	words(&c, s->kernel, sizeof s->kernel);
	words(&c, s->engine.rocksdb.largest_store, sizeof s->engine.rocksdb.largest_store);
	for (size_t i = prng_below(prng, 8); i > 0; i--) {
		struct gap *gap = &s->gaps[s->n_gaps++];
		static const char *const whats[] = { "proc/smaps",     "cgroup",     "jvm/nmt",
						     "http/metrics.0", "conf/flink", "cgroup/memory.stat" };
		str_copy(gap->what, sizeof gap->what, str_of(whats[prng_below(prng, 6)]));
		words(&c, gap->reason, sizeof gap->reason);
		gap->kind = (int)prng_below(prng, 12);
	}
	for (size_t i = prng_below(prng, 4); i > 0; i--) {
		struct setting *setting = &s->settings[s->n_settings++];
		str_copy(setting->key, sizeof setting->key, STR("-Xmx"));
		words(&c, setting->value, sizeof setting->value);
		words(&c, setting->where, sizeof setting->where);
	}
	return s;
}

static void garbage_qtys(struct prng *prng, void *first, size_t bytes)
{
	struct qty *at = first;
	for (size_t i = 0; i < bytes / sizeof *at; i++)
		if (!qty_known(at[i]))
			at[i].bytes = prng_u64(prng) | 1;
}

#define GARBAGE(prng, object, from, to) \
	garbage_qtys(prng, &(object).from, (size_t)((char *)(&(object).to + 1) - (char *)&(object).from))

static void garbage_count(struct prng *prng, struct count *count)
{
	if (!count->known)
		count->n = prng_u64(prng) | 1;
}

static void garbage_counts(struct prng *prng, struct count *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		garbage_count(prng, &at[i]);
}

static void garbage_pressure(struct prng *prng, struct cgroup_pressure_line *line)
{
	if (line->known)
		return;
	line->avg10_bp = line->avg60_bp = line->avg300_bp = (uint32_t)prng_u64(prng);
	line->total_us = prng_u64(prng);
}

static void garbage_limit(struct prng *prng, struct limit *limit)
{
	if (limit->kind != LIMIT_SET)
		limit->bytes = prng_u64(prng) | 1;
}

void chaos_garbage(struct prng *prng, struct snapshot *s)
{
	GARBAGE(prng, s->cgroup.stat, anon_bytes, hugetlb_bytes);
	GARBAGE(prng, s->cgroup, current_bytes, current_after_bytes);
	GARBAGE(prng, s->cgroup, peak_bytes, zswap_current_bytes);
	garbage_limit(prng, &s->cgroup.max);
	garbage_limit(prng, &s->cgroup.high);
	garbage_limit(prng, &s->cgroup.swap_max);
	garbage_limit(prng, &s->told_limit);
	garbage_limit(prng, &s->pod_limit);
	garbage_count(prng, &s->cgroup.n_procs);
	garbage_count(prng, &s->status.n_threads);
	garbage_counts(prng, &s->cgroup.stat.workingset_refault_anon, 6);
	garbage_counts(prng, &s->cgroup.events.low, 6);
	garbage_counts(prng, &s->cgroup.events_local.low, 6);
	garbage_counts(prng, &s->perf.threads_live, 5);
	garbage_counts(prng, &s->engine.rocksdb.n_flush_pending, 6);
	garbage_counts(prng, &s->engine.streams.n_kv, 3);
	garbage_count(prng, &s->engine.rocksdb.n_stores);
	garbage_count(prng, &s->engine.streams.n_instances);
	garbage_pressure(prng, &s->cgroup.pressure.some);
	garbage_pressure(prng, &s->cgroup.pressure.full);
	GARBAGE(prng, *s, host_memory_bytes, host_swap_free_bytes);
	garbage_qtys(prng, &s->engine.write_buffer_bytes, sizeof(struct qty));
	for (size_t i = 0; i < s->n_tmpfs; i++) {
		garbage_qtys(prng, &s->tmpfs[i].used_bytes, sizeof(struct qty));
		garbage_limit(prng, &s->tmpfs[i].size);
	}
	GARBAGE(prng, s->status, vm_peak_bytes, hugetlb_bytes);
	for (size_t i = 0; i < s->nmt.n_categories; i++)
		GARBAGE(prng, s->nmt.categories[i], reserved_bytes, mmap_committed_bytes);
	GARBAGE(prng, s->nmt, total_reserved_bytes, stack_committed_bytes);
	GARBAGE(prng, s->flags, max_heap_bytes, thread_stack_bytes);
	GARBAGE(prng, s->heap, committed_bytes, class_space_reserved_bytes);
	GARBAGE(prng, s->code, size_bytes, max_used_bytes);
	GARBAGE(prng, s->perf, metaspace_used_bytes, heap_max_bytes);
	GARBAGE(prng, s->malloc_info, in_use_bytes, mmapped_bytes);
	GARBAGE(prng, s->engine.flink, framework_heap_bytes, process_bytes);
	garbage_count(prng, &s->engine.flink.n_slots);
	GARBAGE(prng, s->engine.gauges, heap_used_bytes, mapped_used_bytes);
	GARBAGE(prng, s->engine.gauges, managed_used_bytes, network_available_bytes);
	GARBAGE(prng, s->engine.rocksdb, cache_usage_bytes, sst_bytes);
	garbage_count(prng, &s->engine.rocksdb.n_caches);
	garbage_qtys(prng, &s->engine.streams.native_bound_bytes, sizeof(struct qty));
	GARBAGE(prng, s->engine, rocksdb_fixed_per_slot_bytes, rocksdb_fixed_per_tm_bytes);
	garbage_qtys(prng, &s->memfd_heap_bytes, sizeof(struct qty));
}

static void shuffle(struct prng *prng, void *items, size_t n, size_t size)
{
	char *at = items,
	     spare[sizeof(struct gap) > sizeof(struct nmt_category) ? sizeof(struct gap) : sizeof(struct nmt_category)];
	for (size_t i = n; i > 1; i--) {
		size_t other = prng_below(prng, i);
		memcpy(spare, at + (i - 1) * size, size);
		memmove(at + (i - 1) * size, at + other * size, size);
		memcpy(at + other * size, spare, size);
	}
}

void chaos_shuffle(struct prng *prng, struct snapshot *s)
{
	shuffle(prng, s->nmt.categories, s->nmt.n_categories, sizeof s->nmt.categories[0]);
	shuffle(prng, s->residents, s->n_residents, sizeof s->residents[0]);
	shuffle(prng, s->settings, s->n_settings, sizeof s->settings[0]);
	shuffle(prng, s->gaps, s->n_gaps, sizeof s->gaps[0]);
	shuffle(prng, s->code.ranges, s->code.n_ranges, sizeof s->code.ranges[0]);
	shuffle(prng, s->heap.ranges, s->heap.n_ranges, sizeof s->heap.ranges[0]);
}

uint64_t chaos_anon(const struct snapshot *s)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < s->vmas.n; i++)
		sum += s->vmas.have & VMA_HAVE_PSS_ANON ? s->vmas.items[i].pss_anon_bytes
							: s->vmas.items[i].anonymous_bytes;
	return sum;
}
