/* SPDX-License-Identifier: Apache-2.0 */
#include "support/snap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ledger/reconcile.h"

#define PLAIN_SHAPE                                                                                            \
	.heap = 400, .code = 30, .cds = 5, .library = 6, .stacks = 20, .arenas = 40, .pool = 300, .shmem = 10, \
	.mapped = 50, .cache = 200, .kernel_stack = 2, .pagetables = 4, .slab_reclaimable = 8,                 \
	.slab_unreclaimable = 3, .percpu = 1, .kernel_other = 5, .sock = 2,

const struct snap_shape snap_plain = { PLAIN_SHAPE };
const struct snap_shape snap_crowded = { PLAIN_SHAPE.others = 9, .thp_unmapped = 3 };

static void *must(void *pointer)
{
	if (!pointer) {
		perror("tests: no memory");
		abort();
	}
	return pointer;
}

struct vma *snap_vma(struct snapshot *s, enum vma_kind kind, uint32_t flags, const char *name, uint64_t size,
		     uint64_t anon)
{
	struct vma_set *set = &s->vmas;
	if (set->n == set->room) {
		set->room = set->room ? set->room * 2 : 64;
		set->items = must(realloc(set->items, set->room * sizeof *set->items));
	}
	size_t len = strlen(name);
	if (set->names_len + len > set->names_room) {
		set->names_room = (set->names_len + len) * 2 + 64;
		set->names = must(realloc(set->names, set->names_room));
	}
	if (len)
		memcpy(set->names + set->names_len, name, len);
	/* One free page between two: nothing here is adjacent but a stack and its guard. */
	uint64_t start = set->n ? set->items[set->n - 1].end + 4096 : 0x10000;
	struct vma *vma = &set->items[set->n++];
	*vma = (struct vma){ .start = start,
			     .end = start + size,
			     .flags = flags,
			     .kind = kind,
			     .name_at = (uint32_t)set->names_len,
			     .name_len = (uint32_t)len };
	vma->rss_bytes = vma->pss_bytes = vma->pss_anon_bytes = vma->anonymous_bytes = anon;
	set->names_len += len;
	return vma;
}

static uint64_t mib(unsigned n)
{
	return (uint64_t)n * MIB;
}

static void mappings(struct snapshot *s, const struct snap_shape *shape)
{
	const uint32_t rw = VMA_READ | VMA_WRITE | VMA_ACCOUNT;
	struct vma *vma = snap_vma(s, VMA_ANON, rw, "", mib(shape->heap) + MIB, mib(shape->heap));
	s->heap.ranges[s->heap.n_ranges++] = (struct addr_range){ vma->start, vma->end };
	vma = snap_vma(s, VMA_ANON, rw | VMA_EXEC, "", mib(shape->code) + MIB, mib(shape->code));
	s->code.ranges[s->code.n_ranges++] = (struct addr_range){ vma->start, vma->end };
	(void)snap_vma(s, VMA_FILE, rw, "/jdk/lib/server/classes.jsa", mib(shape->cds) + MIB, mib(shape->cds));
	(void)snap_vma(s, VMA_FILE, rw, "/jdk/lib/server/libjvm.so", mib(shape->library) + MIB, mib(shape->library));
	for (unsigned i = 0; i < shape->stacks; i++) { /* 1 MiB each, a guard right below, marked as Linux 6.7+ does */
		uint64_t guard_end = snap_vma(s, VMA_ANON, 0, "", 16 * KIB, 0)->end;
		vma = snap_vma(s, VMA_ANON, rw | VMA_NOHUGEPAGE, "", MIB, MIB);
		vma->end -= vma->start - guard_end;
		vma->start = guard_end;
	}
	(void)snap_vma(s, VMA_BRK, rw, "[heap]", mib(shape->arenas) + MIB, mib(shape->arenas));
	(void)snap_vma(s, VMA_ANON, rw, "", mib(shape->pool) + MIB, mib(shape->pool));
	s->vmas.have = VMA_HAVE_LAZYFREE | VMA_HAVE_VMFLAGS;
	s->vmas_read = true;
}

static void charges(struct snapshot *s, const struct snap_shape *p)
{
	struct cgroup_memory *cg = &s->cgroup;
	struct cgroup_stat *stat = &cg->stat;
	unsigned own = p->heap + p->code + p->cds + p->library + p->stacks + p->arenas + p->pool;
	unsigned kernel = p->kernel_stack + p->pagetables + p->slab_reclaimable + p->slab_unreclaimable + p->percpu +
			  p->kernel_other;
	unsigned file = p->shmem + p->mapped + p->cache;
	cg->kind = CGROUP_V2;
	stat->anon_bytes = qty_measured(mib(own + p->others));
	stat->file_bytes = qty_measured(mib(file));
	stat->shmem_bytes = qty_measured(mib(p->shmem));
	stat->file_mapped_bytes = qty_measured(mib(p->mapped));
	stat->inactive_anon_bytes = qty_measured(mib(own + p->others + p->thp_unmapped + p->shmem));
	stat->active_anon_bytes = qty_measured(0);
	stat->inactive_file_bytes = qty_measured(mib(p->mapped + p->cache));
	stat->active_file_bytes = qty_measured(0);
	stat->unevictable_bytes = qty_measured(0);
	stat->kernel_bytes = qty_measured(mib(kernel));
	stat->kernel_stack_bytes = qty_measured(mib(p->kernel_stack));
	stat->pagetables_bytes = qty_measured(mib(p->pagetables));
	stat->slab_reclaimable_bytes = qty_measured(mib(p->slab_reclaimable));
	stat->slab_unreclaimable_bytes = qty_measured(mib(p->slab_unreclaimable));
	stat->percpu_bytes = qty_measured(mib(p->percpu));
	stat->sock_bytes = qty_measured(mib(p->sock));
	cg->current_bytes = qty_measured(mib(own + p->others + p->thp_unmapped + file + kernel + p->sock));
	cg->current_after_bytes = cg->current_bytes;
	cg->max.kind = LIMIT_NONE;
	cg->n_procs = count_of(p->others ? 2 : 1);
	cg->target_is_member = true;
}

struct snapshot *snap_new(const struct snap_shape *shape)
{
	struct snapshot *s = must(calloc(1, sizeof *s));
	s->taken.ms = 1700000000000;
	s->host_cpus = 2;
	s->page_bytes = 4096;
	s->process = (struct process_id){ 42, 1000 };
	s->process_read = s->is_jvm = true;
	s->gc = GC_UNKNOWN; /* no collector, so no tables of one to be found by their shape */
	s->allocator = ALLOCATOR_GLIBC;
	s->access = ACCESS_FULL;
	s->engine.kind = ENGINE_JVM;
	mappings(s, shape);
	charges(s, shape);
	return s;
}

void snap_free(struct snapshot *snapshot)
{
	snapshot_done(snapshot);
	free(snapshot);
}

void snap_no_cgroup(struct snapshot *snapshot)
{
	memset(&snapshot->cgroup, 0, sizeof snapshot->cgroup);
	snapshot->cgroup.kind = CGROUP_V1;
	snapshot->access = ACCESS_PROCESS;
}

void snap_nmt(struct snapshot *snapshot, const char *name, uint64_t malloc_bytes, uint64_t mmap_committed_bytes)
{
	struct nmt_category *c = &snapshot->nmt.categories[snapshot->nmt.n_categories++];
	str_copy(c->name, sizeof c->name, str_of(name));
	c->malloc_bytes = qty_measured(malloc_bytes);
	c->mmap_committed_bytes = qty_measured(mmap_committed_bytes);
	c->committed_bytes = qty_add(c->malloc_bytes, c->mmap_committed_bytes);
	snapshot->nmt_read = true;
}

void snap_flink(struct snapshot *snapshot, uint64_t heap, uint64_t managed, uint64_t network, uint64_t direct,
		uint64_t overhead, uint64_t process)
{
	const uint64_t metaspace = 256 * MIB;
	struct flink_budget *f = &snapshot->engine.flink;
	snapshot->engine.kind = ENGINE_FLINK_TASKMANAGER;
	f->heap_bytes = qty_measured(heap);
	f->managed_bytes = qty_measured(managed);
	f->network_bytes = qty_measured(network);
	f->direct_bytes = qty_measured(direct);
	f->overhead_bytes = qty_measured(overhead);
	f->metaspace_bytes = qty_measured(metaspace);
	f->flink_bytes = qty_of(process - metaspace - overhead, QTY_DERIVED);
	f->process_bytes = qty_of(process, QTY_DERIVED);
	f->n_slots = count_of(1);
	snapshot->flags.max_heap_bytes = qty_measured(heap);
	snapshot->flags.max_direct_bytes = qty_measured(direct);
	snapshot->flags.max_metaspace_bytes = qty_measured(metaspace);
}

void snap_gap(struct snapshot *snapshot, const char *what, int kind, const char *reason)
{
	struct gap *gap = &snapshot->gaps[snapshot->n_gaps++];
	str_copy(gap->what, sizeof gap->what, str_of(what));
	str_copy(gap->reason, sizeof gap->reason, str_of(reason));
	gap->kind = kind;
}

void snap_setting(struct snapshot *snapshot, const char *key, const char *value, const char *where)
{
	struct setting *setting = &snapshot->settings[snapshot->n_settings++];
	str_copy(setting->key, sizeof setting->key, str_of(key));
	str_copy(setting->value, sizeof setting->value, str_of(value));
	str_copy(setting->where, sizeof setting->where, str_of(where));
}

struct ledger *snap_ledger(const struct snapshot *snapshot)
{
	struct ledger *ledger = must(malloc(sizeof *ledger));
	recon_run(snapshot, ledger);
	return ledger;
}

static uint64_t sum_where(const struct ledger *ledger, int group)
{
	uint64_t sum = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!ledger->listed[owner] || (group >= 0 && owner_table[owner].group != (enum ledger_group)group))
			continue;
		if (__builtin_add_overflow(sum, qty_or(ledger->lines[owner].bytes, 0), &sum)) {
			(void)fprintf(stderr, "tests: lines pass 64 bits\n");
			abort();
		}
	}
	return sum;
}

uint64_t snap_group_lines(const struct ledger *ledger, enum ledger_group group)
{
	return sum_where(ledger, (int)group);
}

uint64_t snap_all_lines(const struct ledger *ledger)
{
	return sum_where(ledger, -1);
}
