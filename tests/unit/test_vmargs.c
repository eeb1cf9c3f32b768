/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "jvm/cmdline.h"
#include "jvm/vmargs.h"
#include "support/tight.h"

/* '|' stands for NUL. Parsed raw and redacted: both must say the same. */
static struct vmargs parse(const char *text)
{
	auto_buf struct buf cmdline = { .cap = 1 << 16 }, redacted = { .cap = 1 << 16 };
	struct vmargs raw, args;
	for (; *text; text++)
		(void)buf_putc(&cmdline, *text == '|' ? '\0' : *text);
	(void)buf_putc(&cmdline, '\0');
	struct str tight = tight_of(buf_str(&cmdline));
	vmargs_parse(tight, &raw);
	tight_free(tight);
	assert_true(cmdline_redact(buf_str(&cmdline), &redacted));
	vmargs_parse(buf_str(&redacted), &args);
	assert_memory_equal(&raw.flags, &args.flags, sizeof raw.flags);
	assert_string_equal(raw.main_class, args.main_class);
	return raw;
}

static void sizes(void **state)
{
	(void)state;
	struct vmargs args =
		parse("/usr/bin/java|-Xmx1g|-Xms512m|-Xss512k|-XX:MaxDirectMemorySize=64m|-XX:MaxMetaspaceSize=256m|"
		      "-XX:CompressedClassSpaceSize=128m|-XX:ReservedCodeCacheSize=48m|-XX:NativeMemoryTracking=detail|"
		      "-XX:+UseParallelGC|-XX:MaxRAMPercentage=37.25|com.example.Main|-Xmx9g");
	assert_int_equal(args.flags.max_heap_bytes.bytes, 1 << 30);
	assert_int_equal(args.flags.initial_heap_bytes.bytes, 512 << 20);
	assert_int_equal(args.flags.thread_stack_bytes.bytes, 512 << 10);
	assert_int_equal(args.flags.max_direct_bytes.bytes, 64 << 20);
	assert_int_equal(args.flags.max_metaspace_bytes.bytes, 256 << 20);
	assert_int_equal(args.flags.compressed_class_space_bytes.bytes, 128 << 20);
	assert_int_equal(args.flags.reserved_code_cache_bytes.bytes, 48 << 20);
	assert_int_equal(args.flags.nmt, NMT_DETAIL);
	assert_int_equal(args.flags.gc, GC_PARALLEL);
	assert_int_equal(args.flags.max_ram_percentage_bp, 3725);
	assert_string_equal(args.main_class, "com.example.Main");
	assert_string_equal(args.program, "java");
	assert_true(args.is_java);
	assert_false(args.is_jar);
}

static void last_one_wins(void **state)
{
	(void)state;
	struct vmargs args = parse(
		"java|-Xmx1g|-XX:MaxHeapSize=2g|-XX:ThreadStackSize=512|-Xss2m|-XX:+UseG1GC|-XX:-UseG1GC|-XX:+UseZGC|"
		"-XX:+AlwaysPreTouch|-XX:-AlwaysPreTouch|Main");
	assert_int_equal(args.flags.max_heap_bytes.bytes, 2ul << 30);
	assert_int_equal(args.flags.thread_stack_bytes.bytes, 2 << 20);
	assert_int_equal(args.flags.gc, GC_Z);
	assert_false(args.flags.always_pretouch);
}

static void switches(void **state)
{
	(void)state;
	struct vmargs args = parse("java|-XX:+DisableAttachMechanism|-Xrs|-XX:-UsePerfData|-XX:+PerfDisableSharedMem|"
				   "-XX:+UseTransparentHugePages|-XX:+UseLargePages|Main");
	assert_true(args.flags.attach_disabled && args.flags.signals_reduced && args.flags.perf_data_off &&
		    args.flags.perf_memory_only && args.flags.transparent_huge_pages && args.flags.large_pages);
	args = parse("java|-XX:-DisableAttachMechanism|-XX:+ReduceSignalUsage|-XX:+UsePerfData|Main");
	assert_true(!args.flags.attach_disabled && args.flags.signals_reduced && !args.flags.perf_data_off);
}

static void unread_is_not_zero(void **state)
{
	(void)state;
	struct vmargs args =
		parse("java|-Xmx1.5g|-Xms-1|-XX:MaxDirectMemorySize=0|-XX:MaxMetaspaceSize=99999999999999999999|"
		      "-XX:ThreadStackSize=0|-XX:ReservedCodeCacheSize=|-XX:MaxRAMPercentage=101|Main");
	assert_false(qty_known(args.flags.max_heap_bytes) || qty_known(args.flags.initial_heap_bytes) ||
		     qty_known(args.flags.max_direct_bytes) || qty_known(args.flags.max_metaspace_bytes) ||
		     qty_known(args.flags.thread_stack_bytes) || qty_known(args.flags.reserved_code_cache_bytes));
	assert_int_equal(args.flags.gc, GC_UNKNOWN);
	assert_int_equal(args.flags.nmt, NMT_UNREAD);
	assert_int_equal(args.flags.max_ram_percentage_bp, 0);
}

static void main_classes(void **state)
{
	static const struct {
		const char *cmdline, *main_class;
		size_t args_at;
		bool is_jar;
	} cases[] = {
		{ "java|-jar|/opt/app.jar|x", "app.jar", 23, true },
		{ "java|-m|a/b.C|x", "a/b.C", 14, false },
		{ "java|-cp|-Xmx1g|--add-opens|a=b|Main|x", "Main", 37, false },
		{ "java|@file|Main", "Main", 16, false },
		{ "java|-jar", "", 10, false },
		{ "java", "", 5, false },
		{ "java|-version", "", 14, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct vmargs args = parse(cases[i].cmdline);
		assert_string_equal(args.main_class, cases[i].main_class);
		assert_int_equal(args.args_at, cases[i].args_at);
		assert_int_equal(args.is_jar, cases[i].is_jar);
		assert_false(qty_known(args.flags.max_heap_bytes));
	}
	assert_false(parse("/opt/flink|x").is_java);
	struct vmargs empty;
	vmargs_parse(STR(""), &empty);
	assert_int_equal(empty.args_at, 0);
}

static void words_go_over(void **state)
{
	(void)state;
	struct vmargs args = parse("java|-Xmx1g|Main");
	vmargs_apply_words(STR("-Xmx2g <redacted> -XX:+DisableAttachMechanism"), &args.flags);
	assert_int_equal(args.flags.max_heap_bytes.bytes, 2ul << 30);
	assert_true(args.flags.attach_disabled);
}

static void heap_origins(void **state)
{
	static const struct {
		const char *cmdline;
		enum heap_origin origin;
		uint32_t bp;
	} cases[] = {
		{ "java|-Xmx1g|Main", HEAP_ORIGIN_SIZE, 0 },
		{ "java|-XX:MaxHeapSize=1g|Main", HEAP_ORIGIN_SIZE, 0 },
		/* A size decides wherever it stands. */
		{ "java|-Xmx1g|-XX:MaxRAMPercentage=75.0|Main", HEAP_ORIGIN_SIZE, 7500 },
		{ "java|-XX:MaxRAMPercentage=75|-Xmx1g|Main", HEAP_ORIGIN_SIZE, 7500 },
		{ "java|-XX:MaxRAMPercentage=50|-XX:MaxRAMPercentage=12.345|Main", HEAP_ORIGIN_SHARE, 1234 },
		{ "java|-XX:MaxRAMFraction=3|Main", HEAP_ORIGIN_SHARE, 3333 },
		{ "java|-XX:MaxRAMFraction=0|Main", HEAP_ORIGIN_SHARE, 0 },
		{ "java|-XX:MaxRAMFraction=2|-XX:MaxRAMPercentage=80|Main", HEAP_ORIGIN_SHARE, 8000 },
		{ "java|-XX:MaxRAMPercentage=80|-XX:MaxRAMFraction=2|Main", HEAP_ORIGIN_SHARE, 8000 },
		{ "java|-XX:MaxRAM=4g|Main", HEAP_ORIGIN_SHARE, 0 },
		{ "java|-XX:MinRAMPercentage=25|Main", HEAP_ORIGIN_SHARE, 0 },
		/* Sizes of something else, values that are none, arguments of the program: nobody knows. */
		{ "java|-Xms1g|-XX:InitialRAMPercentage=10|Main", HEAP_ORIGIN_UNREAD, 0 },
		{ "java|-Xmx|Main", HEAP_ORIGIN_UNREAD, 0 },
		{ "java|-Xmx1.5g|-XX:MaxRAMPercentage=x|Main", HEAP_ORIGIN_UNREAD, 0 },
		{ "java|Main|-Xmx1g|-XX:MaxRAMPercentage=75", HEAP_ORIGIN_UNREAD, 0 },
		{ "java|-cp|-Xmx1g|Main", HEAP_ORIGIN_UNREAD, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct vmargs args = parse(cases[i].cmdline);
		if (args.flags.heap_origin != cases[i].origin || args.flags.max_ram_percentage_bp != cases[i].bp)
			fail_msg("%s: %d, %u", cases[i].cmdline, (int)args.flags.heap_origin,
				 (unsigned)args.flags.max_ram_percentage_bp);
	}
	assert_true(parse("java|-XX:-UseContainerSupport|Main").flags.container_support_off);
	assert_false(parse("java|-XX:-UseContainerSupport|-XX:+UseContainerSupport|Main").flags.container_support_off);
	assert_false(parse("java|Main").flags.container_support_off);
}

static void all_words_tell_the_default(void **state)
{
	(void)state;
	struct vmargs args = parse("java|Main");
	vmargs_apply_words(STR("-Xms1g <redacted>"), &args.flags);
	assert_int_equal(args.flags.heap_origin, HEAP_ORIGIN_UNREAD);
	vmargs_apply_all(STR("-Xms1g <redacted>"), &args.flags);
	assert_int_equal(args.flags.heap_origin, HEAP_ORIGIN_DEFAULT);
	/* JAVA_TOOL_OPTIONS, which the command line does not show. */
	args = parse("java|Main");
	vmargs_apply_all(STR("-XX:MaxRAMPercentage=20"), &args.flags);
	assert_int_equal(args.flags.heap_origin, HEAP_ORIGIN_SHARE);
	args = parse("java|-Xmx1g|Main");
	vmargs_apply_all(STR(""), &args.flags);
	assert_int_equal(args.flags.heap_origin, HEAP_ORIGIN_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),        cmocka_unit_test(last_one_wins),
		cmocka_unit_test(switches),     cmocka_unit_test(unread_is_not_zero),
		cmocka_unit_test(main_classes), cmocka_unit_test(words_go_over),
		cmocka_unit_test(heap_origins), cmocka_unit_test(all_words_tell_the_default),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
