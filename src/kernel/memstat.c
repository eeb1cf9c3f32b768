/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/memstat.h"

#include <stddef.h>

#include "kernel/keys.h"

/* In the order of mm/memcontrol.c: memory_stats[], then memcg_vm_event_stat[]. */
static const struct key keys[] = {
	KEY("anon", cgroup_stat, anon_bytes, KEY_BYTES),
	KEY("file", cgroup_stat, file_bytes, KEY_BYTES),
	KEY("kernel", cgroup_stat, kernel_bytes, KEY_BYTES),
	KEY("kernel_stack", cgroup_stat, kernel_stack_bytes, KEY_BYTES),
	KEY("pagetables", cgroup_stat, pagetables_bytes, KEY_BYTES),
	KEY("sec_pagetables", cgroup_stat, sec_pagetables_bytes, KEY_BYTES),
	KEY("percpu", cgroup_stat, percpu_bytes, KEY_BYTES),
	KEY("sock", cgroup_stat, sock_bytes, KEY_BYTES),
	KEY("vmalloc", cgroup_stat, vmalloc_bytes, KEY_BYTES),
	KEY("shmem", cgroup_stat, shmem_bytes, KEY_BYTES),
	KEY("zswap", cgroup_stat, zswap_bytes, KEY_BYTES),
	KEY("zswapped", cgroup_stat, zswapped_bytes, KEY_BYTES),
	KEY("file_mapped", cgroup_stat, file_mapped_bytes, KEY_BYTES),
	KEY("file_dirty", cgroup_stat, file_dirty_bytes, KEY_BYTES),
	KEY("file_writeback", cgroup_stat, file_writeback_bytes, KEY_BYTES),
	KEY("swapcached", cgroup_stat, swapcached_bytes, KEY_BYTES),
	KEY("anon_thp", cgroup_stat, anon_thp_bytes, KEY_BYTES),
	KEY("file_thp", cgroup_stat, file_thp_bytes, KEY_BYTES),
	KEY("shmem_thp", cgroup_stat, shmem_thp_bytes, KEY_BYTES),
	KEY("inactive_anon", cgroup_stat, inactive_anon_bytes, KEY_BYTES),
	KEY("active_anon", cgroup_stat, active_anon_bytes, KEY_BYTES),
	KEY("inactive_file", cgroup_stat, inactive_file_bytes, KEY_BYTES),
	KEY("active_file", cgroup_stat, active_file_bytes, KEY_BYTES),
	KEY("unevictable", cgroup_stat, unevictable_bytes, KEY_BYTES),
	KEY("slab_reclaimable", cgroup_stat, slab_reclaimable_bytes, KEY_BYTES),
	KEY("slab_unreclaimable", cgroup_stat, slab_unreclaimable_bytes, KEY_BYTES),
	KEY("slab", cgroup_stat, slab_bytes, KEY_BYTES),
	KEY("hugetlb", cgroup_stat, hugetlb_bytes, KEY_BYTES),
	KEY("workingset_refault_anon", cgroup_stat, workingset_refault_anon, KEY_COUNT),
	KEY("workingset_refault_file", cgroup_stat, workingset_refault_file, KEY_COUNT),
	KEY("pgscan", cgroup_stat, pgscan, KEY_COUNT),
	KEY("pgsteal", cgroup_stat, pgsteal, KEY_COUNT),
	KEY("pgfault", cgroup_stat, pgfault, KEY_COUNT),
	KEY("pgmajfault", cgroup_stat, pgmajfault, KEY_COUNT),
};

int memstat_parse(struct str text, struct cgroup_stat *ret, struct err *err)
{
	struct cgroup_stat stat = { 0 };
	int r = keys_parse(text, keys, sizeof keys / sizeof keys[0], ' ', &stat, err);
	if (r < 0)
		return r;
	/* Every kernel prints it: a file without is none (an empty read of a dying cgroup). */
	if (!qty_known(stat.anon_bytes))
		return err_set(err, ERR_MALFORMED, "no line 'anon'");
	*ret = stat;
	return 0;
}
