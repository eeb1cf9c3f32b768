/* SPDX-License-Identifier: Apache-2.0 */
/* The table of owners: one row decides name, group and what a person reads about it. */
#include "bankfull/ledger.h"
#include "base/sat.h"

const char *const ledger_group_names[GROUP_COUNT] = {
	[GROUP_ANON] = "anon",     [GROUP_SHMEM] = "shmem", [GROUP_FILE] = "file",
	[GROUP_KERNEL] = "kernel", [GROUP_SOCK] = "sock",   [GROUP_HUGETLB] = "hugetlb",
};

const char *const freeboard_level_names[FREEBOARD_LEVEL_COUNT] = {
	[FREEBOARD_UNREAD] = "unread",
	[FREEBOARD_CONTAINER] = "container",
	[FREEBOARD_POD] = "pod",
	[FREEBOARD_PROCESSES] = "processes",
};

const struct owner_info owner_table[OWNER_COUNT] = {
	[OWNER_JAVA_HEAP] = { "java-heap", GROUP_ANON, "objects, live and dead, of the Java heap" },
	[OWNER_METASPACE] = { "metaspace", GROUP_ANON, "class metadata, class space included" },
	[OWNER_CODE_CACHE] = { "code-cache", GROUP_ANON, "compiled code" },
	[OWNER_JVM_CDS] = { "jvm-cds", GROUP_ANON, "written pages of the class data sharing archive" },
	[OWNER_THREAD_STACKS] = { "thread-stacks", GROUP_ANON, "touched stack of Java and native threads" },
	[OWNER_GC] = { "gc", GROUP_ANON, "card tables, bitmaps and queues of the collector" },
	[OWNER_JVM_OTHER] = { "jvm-other", GROUP_ANON, "the JVM's own malloc: compiler, symbols, internal" },
	[OWNER_DIRECT_BUFFERS] = { "direct-buffers", GROUP_ANON, "NIO direct pool, network buffers included" },
	[OWNER_MANAGED_UNSAFE] = { "managed-unsafe", GROUP_ANON, "Unsafe memory outside the direct pool" },
	[OWNER_ROCKSDB_BLOCK_CACHE] = { "rocksdb-block-cache", GROUP_ANON, "data, index and filter blocks" },
	[OWNER_ROCKSDB_MEMTABLES] = { "rocksdb-memtables", GROUP_ANON, "write buffers, active and not yet flushed" },
	[OWNER_ROCKSDB_TABLE_READERS] = { "rocksdb-table-readers", GROUP_ANON, "index and filters outside the cache" },
	[OWNER_ALLOCATOR_RETAINED] = { "allocator-retained", GROUP_ANON, "freed by the program, kept by malloc" },
	[OWNER_NATIVE_OTHER] = { "native-other", GROUP_ANON, "native memory that nobody claims" },
	[OWNER_LIBRARY_DATA] = { "library-data", GROUP_ANON, "written pages of mapped libraries" },
	[OWNER_OTHER_PROCESSES] = { "other-processes", GROUP_ANON,
				    "anonymous memory of the container's other processes" },
	[OWNER_THP_UNMAPPED] = { "thp-unmapped", GROUP_ANON, "unmapped rest of huge pages; reclaimed before any OOM" },
	[OWNER_ZGC_HEAP] = { "zgc-heap", GROUP_SHMEM,
			     "ZGC's heap file: charged when committed; this is the Java heap" },
	[OWNER_TMPFS] = { "tmpfs", GROUP_SHMEM, "files in memory: emptyDir of medium Memory, /dev/shm" },
	[OWNER_SHARED_MAPS] = { "shared-maps", GROUP_SHMEM, "shared anonymous mappings and memfds" },
	[OWNER_MAPPED_FILES] = { "mapped-files", GROUP_FILE, "mapped file pages: libraries, jars, mapped SSTs" },
	[OWNER_PAGE_CACHE] = { "page-cache", GROUP_FILE, "cached file pages; reclaimable" },
	[OWNER_KERNEL_STACKS] = { "kernel-stacks", GROUP_KERNEL, "kernel stacks of the threads" },
	[OWNER_PAGE_TABLES] = { "page-tables", GROUP_KERNEL, "page tables" },
	[OWNER_SLAB_RECLAIMABLE] = { "slab-reclaimable", GROUP_KERNEL, "dentries and inodes; reclaimable" },
	[OWNER_SLAB_UNRECLAIMABLE] = { "slab-unreclaimable", GROUP_KERNEL, "kernel objects" },
	[OWNER_PERCPU] = { "percpu", GROUP_KERNEL, "per-cpu kernel memory" },
	[OWNER_VMALLOC] = { "vmalloc", GROUP_KERNEL, "vmalloc memory" },
	[OWNER_KERNEL_OTHER] = { "kernel-other", GROUP_KERNEL, "kernel memory in no counter of its own" },
	[OWNER_SOCKETS] = { "sockets", GROUP_SOCK, "network buffers of the kernel" },
	[OWNER_HUGETLB] = { "hugetlb", GROUP_HUGETLB, "hugetlb pages, where the kernel charges them" },
};

bool owner_is_reclaimable(enum owner owner)
{
	return owner_table[owner].group == GROUP_FILE || owner == OWNER_SLAB_RECLAIMABLE || owner == OWNER_THP_UNMAPPED;
}

uint64_t ledger_rocksdb_bytes(const struct ledger *ledger)
{
	uint64_t sum = 0;
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ROCKSDB_TABLE_READERS; owner++)
		sum = sat_add(sum, ledger_bytes(ledger, (enum owner)owner));
	return sum;
}
