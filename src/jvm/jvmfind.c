/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvmfind.h"

static bool is_libjvm(struct str path)
{
	if (str_ends(path, STR(" (deleted)")))
		path.len -= 10;
	return str_ends(path, STR("/libjvm.so"));
}

bool jvmfind_is_jvm(const struct vma_set *vmas)
{
	for (size_t i = 0; i < vmas->n; i++) {
		const struct vma *vma = &vmas->items[i];
		if (vma->kind == VMA_FILE && is_libjvm((struct str){ vmas->names + vma->name_at, vma->name_len }))
			return true;
	}
	return false;
}

bool jvmfind_is_jvm_maps(struct str maps)
{
	struct str line;
	while (str_line(&maps, &line)) {
		/* "start-end perms offset dev inode   /path": attribute lines of smaps hold no slash before a path. */
		size_t path = str_index(line, '/');
		size_t colon = str_find(line, STR(": "));
		if (path < colon && is_libjvm(str_skip(line, path)))
			return true;
	}
	return false;
}

enum jvm_gc jvmfind_gc(const struct jvm_heap *heap, const struct jvm_flags *flags, const struct jvm_perf *perf)
{
	if (heap && heap->gc != GC_UNKNOWN)
		return heap->gc;
	if (flags && flags->gc != GC_UNKNOWN)
		return flags->gc;
	return perf ? perf->gc : GC_UNKNOWN;
}
