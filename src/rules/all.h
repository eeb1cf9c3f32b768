/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, one function each. Internal to src/rules: the table is the way in. */
#ifndef RULES_ALL_H
#define RULES_ALL_H

#include "rules/rules.h"

rule_fn rule_freeboard_low;            /* limit.c */
rule_fn rule_demand_over_limit;        /* limit.c */
rule_fn rule_limit_below_process_size; /* limit.c */
rule_fn rule_limit_above_process_size; /* headroom.c */
rule_fn rule_heap_sized_from_host;     /* heap.c */
rule_fn rule_heap_pressure;            /* heapfull.c */
rule_fn rule_metaspace_near_limit;     /* jvm.c */
rule_fn rule_direct_near_limit;        /* jvm.c */
rule_fn rule_rocksdb_over_budget;      /* rocksdb.c */
rule_fn rule_rocksdb_unbounded;        /* unbounded.c */
rule_fn rule_rocksdb_pinned;           /* pinned.c */
rule_fn rule_write_buffer_thrash;      /* writebuffer.c */
rule_fn rule_managed_idle;             /* managed.c */
rule_fn rule_allocator_retention;      /* retained.c */
rule_fn rule_native_unexplained;       /* native.c */
rule_fn rule_known_leak;               /* leak.c */
rule_fn rule_other_process;            /* process.c */
rule_fn rule_tmpfs_charged;            /* tmpfs.c */
rule_fn rule_socket_memory;            /* kernel.c */
rule_fn rule_kernel_memory;            /* kernel.c */
rule_fn rule_thp_inflation;            /* thp.c */
rule_fn rule_dirty_cache;              /* cache.c */
rule_fn rule_page_cache_benign;        /* cache.c */
rule_fn rule_swap_in_use;              /* swap.c */
rule_fn rule_memory_high_throttling;   /* pressure.c */
rule_fn rule_pressure_stall;           /* pressure.c */
rule_fn rule_reclaim_thrash;           /* thrash.c */
rule_fn rule_oom_kill;                 /* kill.c */
rule_fn rule_metrics_missing;          /* metrics.c */
rule_fn rule_access_degraded;          /* access.c */
/* These need a history. */
rule_fn rule_limit_forecast;          /* forecast.c */
rule_fn rule_native_growth;           /* growth.c */
rule_fn rule_step_growth;             /* growth.c */
rule_fn rule_metaspace_growth;        /* classes.c */
rule_fn rule_thread_growth;           /* classes.c */
rule_fn rule_rocksdb_metadata_thrash; /* metadata.c */
rule_fn rule_limit_changed;           /* changed.c */

#endif
