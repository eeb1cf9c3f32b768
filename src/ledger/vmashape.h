/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How HotSpot's and glibc's mappings look, and which address ranges of a process they fill. PURE. Internal to
 * src/ledger, but for the rule on huge pages, which looks at mappings too.
 *
 * Two marks of VmFlags carry nearly everything. HotSpot reserves address space with PROT_NONE and MAP_NORESERVE
 * (os_linux.cpp anon_mmap) and commits by mapping over it without MAP_NORESERVE (commit_memory_impl): a reserve is
 * `---p nr`, what is committed `rw-p ac`. glibc maps a whole arena with MAP_NORESERVE and then only mprotects
 * (arena.c new_heap): an arena is `rw-p nr` and `---p nr`. So a commit that touches a reserve is HotSpot's.
 * With vm.overcommit_memory=2 the kernel ignores MAP_NORESERVE: no mapping has the mark, and only sizes that the JVM
 * told itself are trusted.
 */
#ifndef LEDGER_VMASHAPE_H
#define LEDGER_VMASHAPE_H

#include "bankfull/snapshot.h"
#include "base/str.h"
#include "ledger/vmasplit.h"

#define SHAPE_MIB (UINT64_C(1) << 20)

struct vma_view {
	const struct snapshot *snapshot;
	const struct vma_set *set;
	uint64_t page_bytes;
	bool stack_marks;     /* some mapping has `nh`: every stack then has it */
	bool noreserve_marks; /* some mapping has `nr`: arenas and reserves can be told from commits */
	bool account_marks;   /* some mapping has `ac`: what is committed has it */
};

void view_of(const struct snapshot *snapshot, struct vma_view *ret_view);

/* Index of the first mapping that ends after `address`; set->n if none. */
size_t view_find(const struct vma_view *view, uint64_t address);

struct str view_name(const struct vma_view *view, const struct vma *vma);
uint64_t view_anon_bytes(const struct vma_view *view, const struct vma *vma);

bool shape_is_commit(const struct vma_view *view, const struct vma *vma);
bool shape_is_reserve(const struct vma_view *view, const struct vma *vma);
bool shape_is_archive(const struct vma_view *view, const struct vma *vma);
bool shape_is_stack(const struct vma_view *view, size_t index);
/* ThreadStackSize and VMThreadStackSize where nothing was told: 1 MiB, on arm64 2 MiB (os_cpu/linux_{x86,aarch64}/globals_linux_*.hpp). */
uint64_t shape_stack_default_bytes(const struct snapshot *snapshot);
/* Without such marks: how much of the mapping, from its start, is a stack; 0 if none. */
uint64_t shape_stack_bytes(const struct vma_view *view, size_t index);
bool shape_is_arena(const struct vma_view *view, const struct vma *vma);

/* The class of a mapping as a whole, where nothing is known of its parts. */
enum vma_class shape_class(const struct vma_view *view, size_t index);

/*
 * The committed bytes of a range that is nothing but commits and reserves, without a gap, beginning with a commit,
 * and with every border inside it a multiple of `granule` from its start. 0 if it is not.
 */
uint64_t shape_committed(const struct vma_view *view, struct addr_range range, uint64_t granule);

/* Ranges with one owner, ascending and not overlapping. */
struct vma_mark {
	struct addr_range range;
	enum vma_class class;
};

enum { VMA_MARKS_MAX = 256 };

struct vma_marks {
	struct vma_mark items[VMA_MARKS_MAX];
	size_t n;
	bool sure[CLASS_COUNT]; /* the class was looked for, and all of it that matters was found */
	bool exact_heap;
};

/* What is known of this process's ranges, those that only shapes tell included if asked for (vmamark.c). */
void marks_find(const struct vma_view *view, bool by_shape, struct vma_marks *ret_marks);

/* Adds a range; false, and nothing added, if it is empty, overlaps another or there is no room. */
bool marks_add(struct vma_marks *marks, struct addr_range range, enum vma_class class);
bool marks_overlap(const struct vma_marks *marks, struct addr_range range);
void marks_drop(struct vma_marks *marks, enum vma_class class);

/* The parts of marks_find(): each sees what the ones before it have marked. */
void marks_gc_mirrors(const struct vma_view *view, struct vma_marks *marks); /* vmagc.c */
void marks_metaspace(const struct vma_view *view, struct vma_marks *marks);  /* vmameta.c */
void marks_gc(const struct vma_view *view, struct vma_marks *marks);         /* vmagc.c */

#endif
