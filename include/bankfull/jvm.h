/* SPDX-License-Identifier: Apache-2.0 */
/* What a HotSpot JVM says of its own memory: hsperfdata, attach answers, its command line. */
#ifndef BANKFULL_JVM_H
#define BANKFULL_JVM_H

#include <stddef.h>

#include "bankfull/quantity.h"

enum jvm_gc { GC_UNKNOWN = 0, GC_SERIAL, GC_PARALLEL, GC_G1, GC_Z, GC_SHENANDOAH, GC_EPSILON, GC_COUNT };
extern const char
	*const jvm_gc_names[GC_COUNT]; /* "unknown", "Serial", "Parallel", "G1", "ZGC", "Shenandoah", "Epsilon" */

enum jvm_nmt_level { NMT_UNREAD = 0, NMT_OFF, NMT_SUMMARY, NMT_DETAIL };

/* Where the maximum heap comes from: an option that names it, a share of memory, or the JVM's own default (25 %). */
enum heap_origin {
	HEAP_ORIGIN_UNREAD = 0,
	HEAP_ORIGIN_SIZE,
	HEAP_ORIGIN_SHARE,
	HEAP_ORIGIN_DEFAULT,
	HEAP_ORIGIN_COUNT
};
extern const char *const heap_origin_names[HEAP_ORIGIN_COUNT];

/*
 * Sizes and switches in force. From VM.flags where the JVM answers (only flags that differ from the default
 * are printed there, so an absent one is unread), else from its options.
 */
struct jvm_flags {
	struct qty max_heap_bytes, initial_heap_bytes, max_direct_bytes, max_metaspace_bytes,
		compressed_class_space_bytes;
	struct qty reserved_code_cache_bytes, thread_stack_bytes;
	enum jvm_gc gc;
	enum jvm_nmt_level nmt;
	bool attach_disabled;  /* -XX:+DisableAttachMechanism */
	bool signals_reduced;  /* -Xrs: SIGQUIT would end the process */
	bool perf_data_off;    /* -XX:-UsePerfData */
	bool perf_memory_only; /* -XX:+PerfDisableSharedMem: no file */
	enum heap_origin
		heap_origin; /* from the options: -Xmx or -XX:MaxHeapSize, -XX:MaxRAMPercentage and the like, neither */
	uint32_t max_ram_percentage_bp; /* 0: unread or not given */
	bool container_support_off;     /* -XX:-UseContainerSupport: sizes come from the host */
	bool always_pretouch, transparent_huge_pages, large_pages;
};

enum { JVM_HEAP_RANGES_MAX = 8, JVM_CODE_RANGES_MAX = 8 };

/* GC.heap_info. Ranges are of reserved addresses; ZGC prints none (its heap is a memfd or, from 21 on, may be). */
struct jvm_heap {
	struct addr_range ranges[JVM_HEAP_RANGES_MAX];
	size_t n_ranges;
	struct qty committed_bytes, used_bytes, max_bytes;
	struct qty metaspace_used_bytes, metaspace_committed_bytes,
		metaspace_reserved_bytes; /* 17 prints them here, class space inside */
	struct qty class_space_used_bytes, class_space_committed_bytes, class_space_reserved_bytes;
	enum jvm_gc gc;
};

/* Compiler.codecache: each code heap's reserved range; used is live code, resident is what smaps says of the range. */
struct jvm_code {
	struct addr_range ranges[JVM_CODE_RANGES_MAX];
	size_t n_ranges;
	struct qty size_bytes, used_bytes, max_used_bytes;
};

/* One category of VM.native_memory summary. committed = malloc + arena + mmap_committed (+ stack). */
struct nmt_category {
	char name[40];
	struct qty reserved_bytes, committed_bytes;
	struct qty malloc_bytes, arena_bytes, mmap_reserved_bytes, mmap_committed_bytes;
};

enum { NMT_CATEGORIES_MAX = 64 };

struct jvm_nmt {
	struct nmt_category categories[NMT_CATEGORIES_MAX];
	size_t n_categories;
	struct qty total_reserved_bytes, total_committed_bytes;
	struct qty metadata_reserved_bytes, metadata_committed_bytes,
		metadata_used_bytes; /* class metadata outside class space */
	struct qty class_space_reserved_bytes, class_space_committed_bytes, class_space_used_bytes;
	struct qty stack_reserved_bytes, stack_committed_bytes;
	struct count n_threads, n_classes;
};

/* A committed address range and the NMT category that owns it: `VM.native_memory detail`, or JDK 24+'s System.map. */
struct jvm_region {
	struct addr_range range;
	char category[24];
};

struct jvm_regions {
	struct jvm_region *items; /* ascending, not overlapping; owned: jvm_regions_done() */
	size_t n, room;
};
void jvm_regions_done(struct jvm_regions *regions);

/* hsperfdata: identity, and gauges that are only as fresh as the last collection. */
struct jvm_perf {
	char vm_name[64], vm_version[64], java_version[64];
	enum jvm_gc gc;
	struct qty metaspace_used_bytes, metaspace_capacity_bytes, class_space_used_bytes, class_space_capacity_bytes;
	struct qty heap_capacity_bytes, heap_used_bytes,
		heap_max_bytes;     /* sums over generations; used is as of the last GC */
	struct qty heap_kept_bytes; /* used less eden, which allocation fills at once: what the last collection left */
	struct qty old_used_bytes, old_max_bytes; /* the old generation's; ZGC and Shenandoah have none of their own */
	struct count threads_live, threads_peak, classes_loaded, classes_unloaded, gc_count;
	bool full_was_last; /* the last collection was of the whole heap; false where that is not known */
	char gc_cause[48];  /* "No GC" when none runs */
};

/* malloc_info of the JVM's glibc (System.native_heap_info, JDK 24+), or none. */
struct jvm_malloc {
	struct qty in_use_bytes, free_bytes, system_bytes, mmapped_bytes;
};

#endif
