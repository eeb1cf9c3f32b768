/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "jvm/answer.h"
#include "jvm/nmt.h"
#include "jvm/vmflags.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static void reduce(enum answer answer, struct str text, struct buf *out)
{
	struct err err = { 0 };
	auto_buf struct buf again = { .cap = 1 << 22 };
	struct str tight = tight_of(text);
	assert_int_equal(answer_reduce(answer, tight, out, &err), 0);
	tight_free(tight);
	assert_int_equal(answer_reduce(answer, buf_str(out), &again, &err), 0);
	assert_true(str_eq(buf_str(out), buf_str(&again)));
}

static void flags_lose_their_secrets(void **state)
{
	auto_buf struct buf out = { .cap = 1 << 20 };
	(void)state;
	reduce(ANSWER_FLAGS,
	       STR("-XX:MaxHeapSize=1073741824 -XX:OnOutOfMemoryError=curl http://CANARY-1/ -d CANARY-2 -XX:HeapDumpPath=/CANARY-3 "
		   "-XX:FlightRecorderOptions=CANARY-4 -XX:+CANARY -XX:+UseG1GC -XX:CANARY=1 \n-XX:Flags=CANARY-5\n"),
	       &out);
	assert_false(str_has(buf_str(&out), STR("CANARY")));
	assert_true(str_starts(buf_str(&out), STR("-XX:MaxHeapSize=1073741824 <redacted>")));
	assert_true(str_has(buf_str(&out), STR(" -XX:+UseG1GC ")));
}

/* Reduced, they say the same to their parsers. */
static void real_flags(void **state)
{
	static const char *const cases[] = { DIR "jdk17-g1/vm_flags.txt", DIR "jdk25-zgc/vm_flags.txt" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		auto_buf struct buf out = { .cap = 1 << 20 };
		struct jvm_flags raw, reduced;
		struct err err = { 0 };
		memset(&raw, 0, sizeof raw);
		memset(&reduced, 0, sizeof reduced);
		struct str text = tight_read(cases[i]);
		reduce(ANSWER_FLAGS, text, &out);
		assert_int_equal(vmflags_parse(text, &raw, &err), 0);
		assert_int_equal(vmflags_parse(buf_str(&out), &reduced, &err), 0);
		assert_memory_equal(&raw, &reduced, sizeof raw);
		tight_free(text);
	}
}

static void nmt_is_kept(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 1 << 20 };
	struct jvm_nmt raw, reduced;
	struct err err = { 0 };
	memset(&raw, 0, sizeof raw);
	memset(&reduced, 0, sizeof reduced);
	struct str text = tight_read(DIR "jdk25-g1/nmt.txt");
	reduce(ANSWER_NMT, text, &out);
	assert_int_equal(nmt_parse(text, &raw, &err), 0);
	assert_int_equal(nmt_parse(buf_str(&out), &reduced, &err), 0);
	assert_memory_equal(&raw, &reduced, sizeof raw);
	tight_free(text);
	buf_clear(&out);
	reduce(ANSWER_NMT, STR("Native memory tracking is not enabled\nCANARY\n"), &out);
	assert_string_equal(out.ptr, "Native memory tracking is not enabled\n");
}

static void detail_loses_its_stacks(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 1 << 20 };
	struct str text = tight_read(DIR "jdk17-g1/nmt_detail_raw.txt");
	reduce(ANSWER_NMT_DETAIL, text, &out);
	assert_true(str_has(buf_str(&out), STR("] reserved 268435456 for Java Heap")));
	assert_false(str_has(buf_str(&out), STR("::")));
	assert_false(str_has(buf_str(&out), STR("Details")));
	tight_free(text);
}

static void system_map_loses_names(void **state)
{
	auto_buf struct buf out = { .cap = 1 << 20 };
	(void)state;
	reduce(ANSWER_SYSTEM_MAP,
	       STR("Memory mappings:\nfrom               to                        vsize prot          rss      hugetlb pgsz notes            info                                  file\n"
		   "0x00007fa22d6f8000-0x00007fa22d6fc000        16384 ---p            0            0 4K   com              STACK-4411-CANARY-Thread            -\n"
		   "0x0000563a0443f000-0x0000563a04440000         4096 r--p         4096            0 4K   com              -                                     /opt/CANARY/lib.so\n"
		   "0x1-0x2\nCANARY\n"),
	       &out);
	assert_false(str_has(buf_str(&out), STR("CANARY")));
	assert_true(str_has(buf_str(&out),
			    STR("0x00007fa22d6f8000-0x00007fa22d6fc000 16384 ---p 0 0 4K com STACK-4411\n")));
}

static void the_table_is_whole(void **state)
{
	(void)state;
	for (int i = 0; i < ANSWER_COUNT; i++) {
		auto_buf struct buf out = { .cap = 10 };
		struct err err = { 0 };
		assert_true(strncmp(answer_kinds[i].evidence, "jvm/", 4) == 0 && strlen(answer_kinds[i].evidence) < 48);
		assert_non_null(answer_kinds[i].command);
		assert_true(answer_kinds[i].jdk_min >= 8);
		assert_true(
			answer_reduce(
				(enum answer)i,
				STR("Total: -XX:MaxHeapSize=1234567890\nVirtual memory map:\n[0x1 - 0x2] reserved 12345678 for A\n"
				    "0x1-0x2 1 rw-p 1 1 1K 1 1\n"),
				&out, &err) < 0);
		assert_int_equal(err.kind, ERR_LIMIT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_lose_their_secrets),
		cmocka_unit_test(real_flags),
		cmocka_unit_test(nmt_is_kept),
		cmocka_unit_test(detail_loses_its_stacks),
		cmocka_unit_test(system_map_loses_names),
		cmocka_unit_test(the_table_is_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
