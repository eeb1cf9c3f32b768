/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "kernel/smaps.h"
#include "sys/file.h"
#include "sys/proc.h"

enum { DESCRIPTORS_MAX = 1024 * 1024, LINK_CAP = 128 };

/* src/hotspot/os/linux/gc/z/zPhysicalMemoryBacking_linux.cpp: ZFILENAME_HEAP, and its huge page sibling. */
static bool is_heap(struct str name, bool *ret_hugetlb)
{
	if (!str_take(&name, STR("/memfd:java_heap")))
		return false;
	*ret_hugetlb = str_take(&name, STR(".hugetlb"));
	return name.len == 0 || str_eq(name, STR(" (deleted)"));
}

bool memfd_is_mapped(const struct vma_set *set)
{
	bool hugetlb;
	for (size_t i = 0; i < set->n; i++)
		if (is_heap(vma_name(set, &set->items[i]), &hugetlb))
			return true;
	return false;
}

struct search {
	int fd_dir;
	bool found;
	struct memfd_heap heap;
	int errnum; /* of the descriptor that looked right and could not be asked */
};

static bool each_descriptor(void *context, const char *name)
{
	struct search *search = context;
	char link[LINK_CAP];
	bool hugetlb;
	/* Gone meanwhile, or not ours to see: the next one may be it. */
	if (proc_link(search->fd_dir, name, link, sizeof link, NULL) < 0 || !is_heap(str_of(link), &hugetlb))
		return true;
	struct statx st;
	/* The name could be that of a file on a network: DONT_SYNC asks nobody but this kernel. */
	if (statx(search->fd_dir, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO | STATX_BLOCKS, &st) < 0) {
		search->errnum = errno;
		return true;
	}
	if (!S_ISREG(st.stx_mode))
		return true;
	uint64_t bytes;
	if (__builtin_mul_overflow((uint64_t)st.stx_blocks, UINT64_C(512), &bytes))
		return true;
	search->found = true;
	search->heap = (struct memfd_heap){ st.stx_ino, bytes, hugetlb };
	return false;
}

int memfd_find(int pid_dirfd, struct memfd_heap *ret, struct err *err)
{
	auto_close int fd_dir = -1;
	int r = dir_open_at(pid_dirfd, "fd", &fd_dir, err);
	if (r < 0)
		return r;
	struct search search = { .fd_dir = fd_dir };
	r = dir_list(fd_dir, DESCRIPTORS_MAX, each_descriptor, &search, err);
	if (r < 0) {
		err_wrap(err, "fd");
		return r;
	}
	if (!search.found && search.errnum)
		return err_sys(err, search.errnum, "fd: memfd java_heap");
	if (!search.found)
		return err_set(err, ERR_UNSUPPORTED, "no memfd named java_heap: its collector is not ZGC");
	*ret = search.heap;
	return 0;
}

bool memfd_format(const struct memfd_heap *heap, struct buf *out)
{
	return buf_printf(out, "java_heap inode=%" PRIu64 " bytes=%" PRIu64 " hugetlb=%d\n", heap->inode, heap->bytes,
			  heap->hugetlb);
}

int memfd_parse(struct str text, struct memfd_heap *ret, struct err *err)
{
	struct memfd_heap heap;
	if (!str_take(&text, STR("java_heap inode=")) || !str_u64(&text, &heap.inode) ||
	    !str_take(&text, STR(" bytes=")) || !str_u64(&text, &heap.bytes) || !str_take(&text, STR(" hugetlb=")))
		return err_set(err, ERR_MALFORMED, "not the line of a memfd");
	heap.hugetlb = str_eq(text, STR("1\n"));
	if (!heap.hugetlb && !str_eq(text, STR("0\n")))
		return err_set(err, ERR_MALFORMED, "not the line of a memfd");
	*ret = heap;
	return 0;
}
