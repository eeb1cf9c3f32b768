/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jvm/vmflags.h"
#include "support/tight.h"

#define DIR "tests/fixtures/jvm/"

static void answers(void **state)
{
	static const struct {
		const char *path;
		enum jvm_gc gc;
		enum jvm_nmt_level nmt;
	} cases[] = {
		{ DIR "jdk17-g1/vm_flags.txt", GC_G1, NMT_DETAIL },
		{ DIR "jdk17-parallel/vm_flags.txt", GC_PARALLEL, NMT_DETAIL },
		{ DIR "jdk17-epsilon/vm_flags.txt", GC_EPSILON, NMT_UNREAD },
		{ DIR "jdk25-serial/vm_flags.txt", GC_SERIAL, NMT_DETAIL },
		{ DIR "jdk25-zgc/vm_flags.txt", GC_Z, NMT_DETAIL },
		{ DIR "jdk25-shenandoah/vm_flags.txt", GC_SHENANDOAH, NMT_DETAIL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_flags flags = { 0 };
		struct err err = { 0 };
		struct str text = tight_read(cases[i].path);
		assert_int_equal(vmflags_parse(text, &flags, &err), 0);
		assert_int_equal(flags.gc, cases[i].gc);
		assert_int_equal(flags.nmt, cases[i].nmt);
		assert_int_equal(flags.max_heap_bytes.bytes, 256 << 20);
		assert_int_equal(flags.initial_heap_bytes.bytes, 64 << 20);
		assert_int_equal(flags.max_direct_bytes.bytes, 64 << 20);
		/* Not set: not printed. */
		assert_false(qty_known(flags.max_metaspace_bytes));
		assert_false(flags.attach_disabled || flags.always_pretouch);
		tight_free(text);
	}
}

static void goes_over_options(void **state)
{
	struct jvm_flags flags = { .max_heap_bytes = { 5, QTY_MEASURED }, .max_direct_bytes = { 7, QTY_MEASURED } };
	struct err err = { 0 };
	(void)state;
	assert_int_equal(vmflags_parse(STR("-XX:MaxHeapSize=6 -XX:ThreadStackSize=1024 \n"), &flags, &err), 0);
	assert_int_equal(flags.max_heap_bytes.bytes, 6);
	assert_int_equal(flags.max_direct_bytes.bytes, 7);
	assert_int_equal(flags.thread_stack_bytes.bytes, 1 << 20);
}

/* As a JVM of 23 GiB without any option prints it, and one with JAVA_TOOL_OPTIONS. */
static void a_chosen_heap_is_no_option(void **state)
{
	struct jvm_flags flags = { 0 };
	struct err err = { 0 };
	(void)state;
	assert_int_equal(vmflags_parse(STR("-XX:MaxHeapSize=6319767552 -XX:MaxRAM=25276510208 \n"), &flags, &err), 0);
	assert_int_equal(flags.max_heap_bytes.bytes, 6319767552);
	assert_int_equal(flags.heap_origin, HEAP_ORIGIN_UNREAD);
	flags.heap_origin = HEAP_ORIGIN_DEFAULT;
	assert_int_equal(vmflags_parse(STR("-XX:MaxHeapSize=6319767552 -XX:-UseContainerSupport\n"), &flags, &err), 0);
	assert_int_equal(flags.heap_origin, HEAP_ORIGIN_DEFAULT);
	assert_true(flags.container_support_off);
	assert_int_equal(vmflags_parse(STR("-XX:MaxHeapSize=5 -XX:MaxRAMPercentage=20.000000\n"), &flags, &err), 0);
	assert_int_equal(flags.heap_origin, HEAP_ORIGIN_SHARE);
	assert_int_equal(flags.max_ram_percentage_bp, 2000);
	flags.heap_origin = HEAP_ORIGIN_SIZE;
	assert_int_equal(vmflags_parse(STR("-XX:MaxHeapSize=5 -XX:MaxRAMPercentage=20.000000\n"), &flags, &err), 0);
	assert_int_equal(flags.heap_origin, HEAP_ORIGIN_SIZE);
}

static void refused(void **state)
{
	struct jvm_flags flags = { 0 };
	struct err err = { 0 };
	(void)state;
	assert_true(vmflags_parse(STR("nothing\n"), &flags, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

static void parse_prefix(struct str prefix)
{
	struct jvm_flags flags = { 0 };
	struct err err = { 0 };
	if (vmflags_parse(prefix, &flags, &err) < 0)
		assert_int_equal(err.kind, ERR_MALFORMED);
}

static void prefixes(void **state)
{
	(void)state;
	struct str text = tight_read(DIR "jdk25-g1/vm_flags.txt");
	tight_prefixes(text, 1000, parse_prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(goes_over_options),
					    cmocka_unit_test(a_chosen_heap_is_no_option), cmocka_unit_test(refused),
					    cmocka_unit_test(prefixes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
