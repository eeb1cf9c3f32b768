/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jvm/heapinfo.h"
#include "support/tight.h"

#define DIR  "tests/fixtures/jvm/"
#define K(n) ((uint64_t)(n) << 10)
#define M(n) ((uint64_t)(n) << 20)

/* 0 for a figure: unread. The whole heap of 256 MiB lies at 0xf0000000. */
static const struct {
	const char *path;
	enum jvm_gc gc;
	size_t n_ranges;
	uint64_t committed, used, max, metaspace_committed;
} real[] = {
	{ DIR "jdk17-parallel/heap_info.txt", GC_PARALLEL, 2, M(36) + K(1024) + M(43), 0, M(256), K(320) },
	{ DIR "jdk17-serial/heap_info.txt", GC_SERIAL, 2, 0, 0, M(256), K(384) },
	{ DIR "jdk17-g1/heap_info.txt", GC_G1, 1, 0, 0, M(256), K(320) },
	{ DIR "jdk17-zgc/heap_info.txt", GC_Z, 0, 0, 0, M(256), K(384) },
	{ DIR "jdk17-shenandoah/heap_info.txt", GC_SHENANDOAH, 1, 0, 0, M(256), K(384) },
	{ DIR "jdk17-epsilon/heap_info.txt", GC_EPSILON, 1, M(64), 0x32ae7a8, 0, K(384) },
	{ DIR "jdk25-parallel/heap_info.txt", GC_PARALLEL, 2, 0, 0, M(256), 0 },
	{ DIR "jdk25-serial/heap_info.txt", GC_SERIAL, 2, 0, 0, M(256), 0 },
	{ DIR "jdk25-g1/heap_info.txt", GC_G1, 1, 0, 0, M(256), 0 },
	{ DIR "jdk25-zgc/heap_info.txt", GC_Z, 0, 0, 0, M(256), 0 },
	{ DIR "jdk25-shenandoah/heap_info.txt", GC_SHENANDOAH, 1, 0, 0, M(256), 0 },
	{ DIR "jdk25-epsilon/heap_info.txt", GC_EPSILON, 1, M(64), 0x335a648, 0, 0 },
};

static void answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
		struct jvm_heap heap;
		struct err err = { 0 };
		struct str text = tight_read(real[i].path);
		if (heapinfo_parse(text, &heap, &err) < 0)
			fail_msg("%s: %s", real[i].path, err.message);
		assert_int_equal(heap.gc, real[i].gc);
		assert_int_equal(heap.n_ranges, real[i].n_ranges);
		assert_true(qty_known(heap.committed_bytes) && qty_known(heap.used_bytes));
		/* 50 MiB of arrays, and what the JVM commits is between that and -Xmx. */
		assert_true(heap.used_bytes.bytes >= M(50) && heap.used_bytes.bytes <= heap.committed_bytes.bytes);
		assert_true(heap.committed_bytes.bytes <= M(256));
		if (real[i].committed && heap.committed_bytes.bytes != real[i].committed)
			fail_msg("%s: committed %llu", real[i].path, (unsigned long long)heap.committed_bytes.bytes);
		if (real[i].used)
			assert_int_equal(heap.used_bytes.bytes, real[i].used);
		assert_int_equal(qty_or(heap.max_bytes, 0), real[i].max);
		assert_int_equal(qty_or(heap.metaspace_committed_bytes, 0), real[i].metaspace_committed);
		assert_int_equal(qty_known(heap.class_space_used_bytes), real[i].metaspace_committed != 0);
		for (size_t j = 0; j < heap.n_ranges; j++)
			assert_true(heap.ranges[j].start >= 0xf0000000 && heap.ranges[j].end <= 0x100000000);
		tight_free(text);
	}
}

static void jdk11(void **state)
{
	struct jvm_heap heap;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(
		heapinfo_parse(
			STR(" garbage-first heap   total 262144K, used 55296K [0x00000000f0000000, 0x0000000100000000)\n"
			    "  region size 1024K, 3 young (3072K), 0 survivors (0K)\n"
			    " Metaspace       used 5990K, capacity 6120K, committed 6784K, reserved 1056768K\n"
			    "  class space    used 607K, capacity 700K, committed 936K, reserved 1048576K\n"),
			&heap, &err),
		0);
	assert_int_equal(heap.committed_bytes.bytes, M(256));
	assert_int_equal(heap.metaspace_committed_bytes.bytes, K(6784));
	assert_int_equal(heap.class_space_reserved_bytes.bytes, K(1048576));
}

static void refused(void **state)
{
	static const char *const cases[] = {
		"",
		"no heap here\n",
		"garbage-first heap\n",
		"garbage-first heap   total 1K, used 1K [0x10, 0x20\n",
		"garbage-first heap   total 1K, used 1K [0x20, 0x10)\n",
		"garbage-first heap   total 1K, used 1K [0x20, 0x20)\n",
		"garbage-first heap   total 1K, used [0x10, 0x20)\n",
		"garbage-first heap   total 99999999999999999999K, used 1K [0x10, 0x20)\n",
		"garbage-first heap   total 1K, used 1K [0x11111111111111111, 0x20)\n",
		"ZHeap           used 108M, capacity 112M\n",
		"ZHeap           used 108M, capacity 99999999999999M, max capacity 256M\n",
		"Shenandoah Heap\n",
		"Shenandoah Heap\n x max, y soft max, 1 committed, 3 used\n",
		"Epsilon Heap\n",
		"Epsilon Heap\n space 65536K,  79% used [0x1, 0x2)\n",
		"ZHeap used 1M, capacity 1M, max capacity 1M\nTenured total 1K, used 1K [0x1, 0x2, 0x3)\n",
		"ZHeap used 1M, capacity 1M, max capacity 1M\nMetaspace used 1K, committed\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_heap heap, before;
		struct err err = { 0 };
		memset(&heap, 0x5a, sizeof heap);
		before = heap;
		struct str text = tight_of(str_of(cases[i]));
		if (heapinfo_parse(text, &heap, &err) >= 0)
			fail_msg("taken: %s", cases[i]);
		assert_int_equal(err.kind, ERR_MALFORMED);
		assert_memory_equal(&heap, &before, sizeof heap);
		tight_free(text);
	}
}

static void too_many_ranges(void **state)
{
	static const char line[] = "Tenured total 1K, used 1K [0x1, 0x2, 0x3)\n";
	char text[sizeof line * (JVM_HEAP_RANGES_MAX + 1)] = "";
	struct jvm_heap heap;
	struct err err = { 0 };
	(void)state;
	for (int i = 0; i <= JVM_HEAP_RANGES_MAX; i++)
		strcat(text, line);
	assert_true(heapinfo_parse(str_of(text), &heap, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

static void parse_prefix(struct str prefix)
{
	struct jvm_heap heap;
	struct err err = { 0 };
	if (heapinfo_parse(prefix, &heap, &err) < 0)
		assert_int_equal(err.kind, ERR_MALFORMED);
}

static void prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
		struct str text = tight_read(real[i].path);
		tight_prefixes(text, 1000, parse_prefix);
		tight_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),         cmocka_unit_test(jdk11),    cmocka_unit_test(refused),
		cmocka_unit_test(too_many_ranges), cmocka_unit_test(prefixes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
