/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod as the agent's parsers would have told it: the capture's own snapshot (engine, settings, flags, gaps), with the
 * mappings put together by owner, and the cgroup, gauges and answers of the moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/build.h"
#include "replay/pod.h"
#include "support/snap.h"

/* The mappings, in the order of their addresses. */
enum { MAP_HEAP, MAP_CODE, MAP_CDS, MAP_LIBRARY, MAP_GUARD, MAP_STACKS, MAP_BRK, MAP_POOL, MAP_FILES, MAPS };

static uint64_t bytes(double mib)
{
	return mib <= 0 ? 0 : (uint64_t)(mib * 256) * 4096; /* whole pages */
}

static struct qty measured(double mib)
{
	return qty_measured(bytes(mib));
}

static double leaked_in(const struct pod *pod, enum owner owner)
{
	return pod->leak.share_percent > 0 && pod->leak.owner == owner ? pod->leaked : 0;
}

static bool may_leak(const struct pod *pod, enum owner owner)
{
	return pod->leak.share_percent > 0 && pod->leak.owner == owner;
}

static void mappings(const struct pod *pod, struct snapshot *s)
{
	const uint32_t rw = VMA_READ | VMA_WRITE | VMA_ACCOUNT;
	uint64_t most = bytes(2 * pod->kind->limit);
	vma_set_done(&s->vmas);
	jvm_regions_done(&s->regions);
	memset(&s->vmas, 0, sizeof s->vmas);
	memset(&s->regions, 0, sizeof s->regions);
	memset(&s->heap, 0, sizeof s->heap);
	memset(&s->code, 0, sizeof s->code);
	s->n_residents = 0;
	s->memfd_heap_bytes = (struct qty){ 0 };
	struct vma *vma = snap_vma(s, VMA_ANON, rw, "", most, 0);
	s->heap.ranges[s->heap.n_ranges++] = (struct addr_range){ vma->start, vma->end };
	vma = snap_vma(s, VMA_ANON, rw | VMA_EXEC, "", 240 * MIB, 0);
	s->code.ranges[s->code.n_ranges++] = (struct addr_range){ vma->start, vma->end };
	(void)snap_vma(s, VMA_FILE, rw, "/jdk/lib/server/classes.jsa", 32 * MIB, 0);
	(void)snap_vma(s, VMA_FILE, rw, "/jdk/lib/server/libjvm.so", 32 * MIB, 0);
	uint64_t guard_end = snap_vma(s, VMA_ANON, 0, "", 16 * KIB, 0)->end;
	vma = snap_vma(s, VMA_ANON, rw | VMA_NOHUGEPAGE, "", 256 * MIB, 0);
	vma->end -= vma->start - guard_end;
	vma->start = guard_end;
	(void)snap_vma(s, VMA_BRK, rw, "[heap]", most, 0);
	(void)snap_vma(s, VMA_ANON, rw, "", most, 0);
	(void)snap_vma(s, VMA_FILE, VMA_READ, pod->kind->rocksdb ? "/tmp/librocksdbjni-linux64.so" : "/jdk/lib/modules",
		       128 * MIB, 0);
	s->vmas.have = VMA_HAVE_LAZYFREE | VMA_HAVE_VMFLAGS;
	s->vmas_read = true;
}

static bool is_of_cgroup(const char *what)
{
	return strncmp(what, "cgroup", 6) == 0 || strcmp(what, "proc/pagemap") == 0;
}

static bool is_instrument(const char *what)
{
	return strncmp(what, "http/", 5) == 0 || strcmp(what, "jvm/nmt") == 0;
}

static void gaps(const struct pod *pod, struct snapshot *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->n_gaps; i++)
		if (!is_of_cgroup(s->gaps[i].what) && !is_instrument(s->gaps[i].what))
			s->gaps[kept++] = s->gaps[i];
	s->n_gaps = kept;
	if (pod->instrumented)
		return;
	snap_gap(s, "http/metrics", 3, "no metrics reporter in the configuration, and no Java agent serves metrics");
	snap_gap(s, "jvm/nmt", 3, "Native memory tracking is not enabled");
}

static void limits(const struct pod *pod, struct snapshot *s)
{
	const struct pod_kind *kind = pod->kind;
	memset(&s->cgroup, 0, sizeof s->cgroup);
	s->cgroup.kind = CGROUP_V2;
	s->cgroup.max = limit_set(bytes(kind->limit));
	s->cgroup.high = s->cgroup.swap_max = (struct limit){ .kind = LIMIT_NONE };
	s->told_limit = (struct limit){ 0 };
	s->machine_cgroup[0] = 0;
	s->access = ACCESS_FULL;
	double heap = may_leak(pod, OWNER_JAVA_HEAP) ? 1.2 * kind->limit : kind->heap;
	s->flags.max_heap_bytes = s->flags.initial_heap_bytes = measured(heap);
	s->flags.heap_origin = HEAP_ORIGIN_SIZE;
	s->flags.nmt = pod->instrumented ? NMT_SUMMARY : NMT_OFF;
	if (may_leak(pod, OWNER_DIRECT_BUFFERS))
		s->flags.max_direct_bytes = measured(4 * kind->limit);
	if (kind->flink)
		snap_flink(s, bytes(kind->heap), bytes(kind->managed), bytes(kind->network), bytes(kind->network + 128),
			   bytes(kind->process / 10 < 192 ? 192 : kind->process / 10), bytes(kind->process));
	if (kind->flink && may_leak(pod, OWNER_ROCKSDB_TABLE_READERS))
		s->engine.rocksdb_managed = TRISTATE_FALSE;
}

struct snapshot *world_new(const struct pod *pod)
{
	struct err err = { 0 };
	struct snapshot *s = NULL;
	if (build_run(&pod->kind->evidence, &s, &err) < 0) {
		(void)fprintf(stderr, "replay: %s\n", err.message);
		abort();
	}
	mappings(pod, s);
	gaps(pod, s);
	limits(pod, s);
	/* Nothing is known before it is read. */
	s->nmt_read = s->metrics_read = false;
	memset(&s->nmt, 0, sizeof s->nmt);
	memset(&s->engine.gauges, 0, sizeof s->engine.gauges);
	memset(&s->engine.context, 0, sizeof s->engine.context);
	struct rocksdb_claim claim = s->engine.rocksdb;
	memset(&s->engine.rocksdb, 0, sizeof s->engine.rocksdb);
	if (!pod->instrumented)
		memset(&s->engine.streams, 0, sizeof s->engine.streams);
	s->engine.rocksdb.sharing = claim.sharing;
	s->malloc_info = (struct jvm_malloc){ 0 };
	memset(&s->perf.metaspace_used_bytes, 0, sizeof s->perf.metaspace_used_bytes);
	s->process.start_ticks = pod->start_ticks;
	world_scan(pod, s);
	world_tick(pod, s);
	return s;
}

static void charge(const struct pod *pod, struct cgroup_memory *cg)
{
	struct cgroup_stat *stat = &cg->stat;
	double anon = pod_anon(pod), tmpfs = leaked_in(pod, OWNER_TMPFS), mapped = pod->kind->was.mapped;
	double file = pod->page_cache + mapped, tables = anon * 0.0025, stacks = pod->threads / 64;
	double kernel = tables + stacks + 3.5 + pod->slab;
	stat->anon_bytes = measured(anon);
	stat->shmem_bytes = measured(tmpfs);
	stat->file_bytes = measured(file + tmpfs);
	stat->file_mapped_bytes = measured(mapped);
	stat->file_dirty_bytes = measured(pod->dirty);
	stat->file_writeback_bytes = measured(0);
	stat->inactive_anon_bytes = qty_measured(stat->anon_bytes.bytes + stat->shmem_bytes.bytes);
	stat->active_anon_bytes = qty_measured(0);
	stat->active_file_bytes = measured(file / 3);
	stat->inactive_file_bytes =
		qty_measured(stat->file_bytes.bytes - stat->shmem_bytes.bytes - stat->active_file_bytes.bytes);
	stat->unevictable_bytes = qty_measured(0);
	stat->kernel_bytes = measured(kernel);
	stat->kernel_stack_bytes = measured(stacks);
	stat->pagetables_bytes = measured(tables);
	stat->slab_reclaimable_bytes = measured(pod->slab);
	stat->slab_unreclaimable_bytes = measured(2.5);
	stat->percpu_bytes = measured(0.5);
	stat->sock_bytes = measured(pod->sock);
	stat->workingset_refault_file = count_of(pod->refaults);
	cg->current_bytes =
		qty_measured(stat->inactive_anon_bytes.bytes + stat->active_file_bytes.bytes +
			     stat->inactive_file_bytes.bytes + stat->kernel_bytes.bytes + stat->sock_bytes.bytes);
	cg->current_after_bytes = cg->current_bytes;
}

void world_tick(const struct pod *pod, struct snapshot *s)
{
	struct cgroup_memory *cg = &s->cgroup;
	s->taken.ms = 1700000000000 + (int64_t)(pod->now_s * 1000);
	charge(pod, cg);
	cg->swap_current_bytes = qty_measured(0);
	cg->n_procs = count_of(leaked_in(pod, OWNER_OTHER_PROCESSES) > 0 ? 2 : 1);
	cg->target_is_member = true;
	cg->events = (struct cgroup_events){ count_of(0), count_of(0), count_of(pod->max_events),
					     count_of(0), count_of(0), count_of(0) };
	cg->events_local = cg->events;
	cg->pressure.some.known = cg->pressure.full.known = true;
	s->process_read = true;
	s->status.n_threads = count_of((uint64_t)pod->threads);
	s->status.rss_anon_bytes = measured(pod_anon(pod) - leaked_in(pod, OWNER_OTHER_PROCESSES));
	s->status.vm_swap_bytes = qty_measured(0);
	s->n_tmpfs = leaked_in(pod, OWNER_TMPFS) > 0;
	s->tmpfs_read = true;
	s->tmpfs[0] = (struct tmpfs_mount){ "/cache", measured(leaked_in(pod, OWNER_TMPFS)), { .kind = LIMIT_NONE } };
}

static void hold(struct snapshot *s, size_t map, double mib)
{
	struct vma *vma = &s->vmas.items[map];
	vma->rss_bytes = vma->pss_bytes = vma->pss_anon_bytes = vma->anonymous_bytes = bytes(mib);
}

void world_scan(const struct pod *pod, struct snapshot *s)
{
	const struct recorded *was = &pod->kind->was;
	double pool = pod_native(pod);
	hold(s, MAP_HEAP, pod->heap + leaked_in(pod, OWNER_JAVA_HEAP));
	hold(s, MAP_CODE, pod->code);
	hold(s, MAP_CDS, was->cds);
	hold(s, MAP_LIBRARY, was->library);
	hold(s, MAP_STACKS, was->stacks / was->threads * pod->threads);
	hold(s, MAP_BRK, 0.4 * pool);
	hold(s, MAP_POOL, 0.6 * pool);
	s->vmas.items[MAP_FILES].rss_bytes = s->vmas.items[MAP_FILES].pss_bytes = bytes(was->mapped);
	struct jvm_perf *perf = &s->perf;
	double metaspace = pod->metaspace + leaked_in(pod, OWNER_METASPACE);
	/* Of a real process the mappings' shapes tell metaspace at each scan; these here have none. */
	s->heap.metaspace_committed_bytes = measured(metaspace);
	if (s->nmt_read)
		s->nmt.metadata_committed_bytes = measured(metaspace);
	/* hsperfdata is read with it; its gauges are those of the last collection. */
	if (!s->perf_read)
		return;
	perf->metaspace_used_bytes = measured(metaspace * 0.98);
	perf->metaspace_capacity_bytes = measured(metaspace);
	perf->class_space_used_bytes = perf->class_space_capacity_bytes = measured(0);
	perf->heap_capacity_bytes = measured(pod->kind->heap);
	perf->heap_max_bytes = s->flags.max_heap_bytes;
	perf->heap_used_bytes = measured(pod->live + 0.2 * (pod->heap - pod->live));
	perf->heap_kept_bytes = measured(pod->live);
	perf->old_used_bytes = measured(pod->live * 0.95);
	perf->old_max_bytes = qty_of(s->flags.max_heap_bytes.bytes / 3 * 2, QTY_MEASURED);
	if (s->gc == GC_G1)
		perf->old_max_bytes = s->flags.max_heap_bytes;
	perf->threads_live = count_of((uint64_t)pod->threads - 20);
	perf->classes_loaded = count_of((uint64_t)(metaspace * 180));
	perf->classes_unloaded = count_of(0);
	perf->gc_count = count_of(pod->gc_count);
	perf->full_was_last = false;
}

static void context(const struct pod *pod, struct engine_context *c)
{
	bool running = pod->restore.left_s <= 0;
	str_copy(c->job_state, sizeof c->job_state, str_of(running ? "running" : "initializing"));
	c->checkpointing = pod->checkpoint.left_s > 0 ? TRISTATE_TRUE : TRISTATE_FALSE;
	c->restoring = running ? TRISTATE_FALSE : TRISTATE_TRUE;
	c->rebalancing = pod->rebalance.left_s > 0 ? TRISTATE_TRUE : TRISTATE_FALSE;
	c->restarts = count_of(pod->restarts);
	c->busy_bp = count_of(4000);
	c->backpressured_bp = count_of(0);
}

static void claims(const struct pod *pod, struct snapshot *s)
{
	struct rocksdb_claim *claim = &s->engine.rocksdb;
	const struct pod_kind *kind = pod->kind;
	bool together = kind->flink || !kind->unmanaged;
	claim->sharing = kind->unmanaged ? ROCKSDB_PER_STORE : kind->flink ? ROCKSDB_PER_SLOT : ROCKSDB_PER_PROCESS;
	claim->memtables_in_cache = together;
	claim->n_stores = count_of(4);
	claim->n_caches = count_of(kind->unmanaged ? 4 : 1);
	claim->n_caches_certain = true;
	claim->cache_usage_bytes = measured(pod->cache + (together ? pod->memtables : 0));
	claim->cache_capacity_bytes = measured(kind->managed);
	claim->cache_pinned_bytes = measured(together ? pod->memtables : 0);
	claim->memtables_bytes = claim->memtables_unpinned_bytes = measured(pod->memtables);
	claim->table_readers_bytes = measured(leaked_in(pod, OWNER_ROCKSDB_TABLE_READERS));
	claim->live_data_bytes = measured(kind->managed * 1.5);
	claim->sst_bytes = measured(kind->managed * 2);
	claim->n_flush_pending = claim->n_write_stopped = claim->n_write_delayed = claim->n_immutable = count_of(0);
	claim->cache_hits = count_of(pod->hits);
	claim->cache_misses = count_of(pod->misses);
}

void world_scrape(const struct pod *pod, struct snapshot *s)
{
	struct engine_gauges *g = &s->engine.gauges;
	double metaspace = pod->metaspace + leaked_in(pod, OWNER_METASPACE);
	if (!pod->instrumented)
		return;
	s->metrics_read = true;
	g->heap_used_bytes = measured(pod->live + 0.5 * (pod->heap - pod->live));
	g->heap_committed_bytes = g->heap_max_bytes = s->flags.max_heap_bytes;
	g->metaspace_used_bytes = measured(metaspace * 0.98);
	g->metaspace_committed_bytes = measured(metaspace);
	g->direct_used_bytes = g->direct_capacity_bytes = measured(pod->direct + leaked_in(pod, OWNER_DIRECT_BUFFERS));
	g->mapped_used_bytes = qty_measured(0);
	g->threads = count_of((uint64_t)pod->threads);
	g->classes_loaded = count_of((uint64_t)(metaspace * 180));
	if (pod->kind->flink) {
		g->network_total_bytes = measured(pod->kind->network);
		g->managed_total_bytes = measured(pod->kind->managed);
		g->managed_used_bytes = measured(pod->kind->rocksdb ? pod->kind->managed : 0);
	}
	context(pod, &s->engine.context);
	if (pod->kind->rocksdb)
		claims(pod, s);
	s->engine.streams.native_bound_bytes =
		pod->kind->rocksdb && !pod->kind->flink ? measured(pod->kind->managed) : (struct qty){ 0 };
}

void world_attach(const struct pod *pod, struct snapshot *s)
{
	double metaspace = pod->metaspace + leaked_in(pod, OWNER_METASPACE);
	s->heap.committed_bytes = s->heap.max_bytes = s->flags.max_heap_bytes;
	s->heap.used_bytes = measured(pod->live + 0.5 * (pod->heap - pod->live));
	s->heap.metaspace_used_bytes = measured(metaspace * 0.98);
	s->heap.metaspace_committed_bytes = measured(metaspace);
	s->code.used_bytes = measured(pod->code);
	if (!pod->instrumented)
		return;
	memset(&s->nmt, 0, sizeof s->nmt);
	snap_nmt(s, "Java Heap", 0, s->flags.max_heap_bytes.bytes);
	snap_nmt(s, "GC", bytes(pod->gc), 0);
	snap_nmt(s, "Internal", bytes(pod->jvm), 0);
	snap_nmt(s, "Other", bytes(pod->direct + leaked_in(pod, OWNER_DIRECT_BUFFERS) + 0.2), 0);
	s->nmt.metadata_committed_bytes = measured(metaspace);
	s->nmt.metadata_used_bytes = measured(metaspace * 0.98);
	s->nmt.class_space_committed_bytes = s->nmt.class_space_used_bytes = measured(0);
}
