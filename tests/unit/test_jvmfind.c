/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jvm/jvmfind.h"
#include "support/tight.h"

static void maps(void **state)
{
	static const struct {
		const char *text;
		bool is_jvm;
	} cases[] = {
		{ "7f00-7f10 r-xp 00000000 08:01 7   /usr/lib/jvm/x/lib/server/libjvm.so\n", true },
		{ "7f00-7f10 r-xp 00000000 08:01 7   /usr/lib/jvm/x/lib/server/libjvm.so (deleted)\n", true },
		{ "7f00-7f10 r-xp 00000000 08:01 7   /with blank: and colon/libjvm.so", true },
		{ "7f00-7f10 r-xp 00000000 08:01 7   /tmp/notlibjvm.so\n", false },
		{ "7f00-7f10 r-xp 00000000 08:01 7   /tmp/libjvm.so.txt\n", false },
		{ "Name: /libjvm.so\n", false },
		{ "", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct str text = tight_of(str_of(cases[i].text));
		assert_int_equal(jvmfind_is_jvm_maps(text), cases[i].is_jvm);
		tight_free(text);
	}
}

static void mappings(void **state)
{
	char names[] = "/a/libjvm.so/b/libc.so";
	struct vma items[2] = { { .kind = VMA_FILE, .name_at = 12, .name_len = 10 },
				{ .kind = VMA_FILE, .name_at = 0, .name_len = 12 } };
	struct vma_set set = { .items = items, .n = 1, .names = names };
	(void)state;
	assert_false(jvmfind_is_jvm(&set));
	set.n = 2;
	assert_true(jvmfind_is_jvm(&set));
	items[1].kind = VMA_SHMEM;
	assert_false(jvmfind_is_jvm(&set));
}

static void collectors(void **state)
{
	struct jvm_heap heap = { 0 };
	struct jvm_flags flags = { 0 };
	struct jvm_perf perf = { .gc = GC_SERIAL };
	(void)state;
	assert_int_equal(jvmfind_gc(NULL, NULL, NULL), GC_UNKNOWN);
	assert_int_equal(jvmfind_gc(&heap, &flags, &perf), GC_SERIAL);
	flags.gc = GC_G1;
	assert_int_equal(jvmfind_gc(&heap, &flags, &perf), GC_G1);
	heap.gc = GC_Z;
	assert_int_equal(jvmfind_gc(&heap, &flags, &perf), GC_Z);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(maps), cmocka_unit_test(mappings),
					    cmocka_unit_test(collectors) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
