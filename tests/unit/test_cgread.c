/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "kernel/cgread.h"
#include "support/scratch.h"

static const struct {
	const char *name, *text;
} tree[] = {
	{ "memory.current", "1000\n" },
	{ "memory.stat", "anon 600\nfile 300\n" },
	{ "memory.max", "2000\n" },
	{ "memory.high", "max\n" },
	{ "memory.low", "0\n" },
	{ "memory.min", "1\n" },
	{ "memory.peak", "1500\n" },
	{ "memory.events", "max 3\n" },
	{ "memory.events.local", "max 2\n" },
	{ "memory.pressure", "some avg10=0.01 avg60=0.00 avg300=0.00 total=5\n" },
	{ "memory.swap.current", "10\n" },
	{ "memory.swap.max", "0\n" },
	{ "memory.swap.peak", "20\n" },
	{ "memory.zswap.current", "30\n" },
	{ "memory.zswap.max", "40\n" },
	{ "cgroup.procs", "7\n42\n" },
};

static void a_whole_directory(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	int dirfd = scratch.fd;
	struct err err = { 0 };
	for (size_t i = 0; i < sizeof tree / sizeof tree[0]; i++)
		scratch_file(&scratch, tree[i].name, tree[i].text);
	struct cgroup_memory cg = { 0 };
	for (size_t i = 0; i < cg_n_files; i++) {
		auto_buf struct buf bytes = { 0 };
		assert_int_equal(cg_read_file(dirfd, &cg_files[i], &bytes, &err), 0);
		if (cg_parse_file(cg_files[i].name, buf_str(&bytes), 42, &cg, &err) < 0)
			fail_msg("%s", err.message);
	}
	cg_settle(&cg);
	assert_int_equal(cg.current_bytes.bytes, 1000);
	assert_int_equal(cg.current_after_bytes.bytes, 1000);
	assert_int_equal(cg.stat.anon_bytes.bytes, 600);
	assert_int_equal(cg.max.bytes, 2000);
	assert_int_equal(cg.high.kind, LIMIT_NONE);
	assert_int_equal(cg.low.kind, LIMIT_SET);
	assert_int_equal(cg.min.bytes, 1);
	assert_int_equal(cg.peak_bytes.bytes, 1500);
	assert_int_equal(cg.events.max.n, 3);
	assert_int_equal(cg.events_local.max.n, 2);
	assert_int_equal(cg.pressure.some.avg10_bp, 1);
	assert_int_equal(cg.swap_current_bytes.bytes, 10);
	assert_int_equal(cg.swap_max.kind, LIMIT_SET);
	assert_int_equal(cg.swap_peak_bytes.bytes, 20);
	assert_int_equal(cg.zswap_current_bytes.bytes, 30);
	assert_int_equal(cg.zswap_max.bytes, 40);
	assert_int_equal(cg.n_procs.n, 2);
	assert_true(cg.target_is_member);
	assert_false(cg.is_root);
	assert_int_equal(unlinkat(dirfd, "memory.current", 0), 0);
	auto_buf struct buf bytes = { 0 };
	assert_int_equal(cg_read_file(dirfd, &cg_files[0], &bytes, &err), -ENOENT);
	assert_int_equal(err.kind, ERR_GONE);
}

/* A torn reading shows only if nothing comes between the two readings of memory.current but memory.stat. */
static void the_order_of_the_table(void **state)
{
	(void)state;
	assert_string_equal(cg_files[0].name, "memory.current");
	assert_string_equal(cg_files[1].name, "memory.stat");
	assert_string_equal(cg_files[2].name, "memory.current.after");
	assert_string_equal(cg_files[2].file, "memory.current");
}

static void the_root_cgroup(void **state)
{
	(void)state;
	struct cgroup_memory cg = { 0 };
	cg_settle(&cg);
	assert_false(cg.is_root); /* nothing read says nothing */
	assert_int_equal(cg_parse_file("memory.stat", STR("anon 4096\n"), 1, &cg, NULL), 0);
	cg_settle(&cg);
	assert_true(cg.is_root);
	assert_int_equal(cg_parse_file("memory.max", STR("max\n"), 1, &cg, NULL), 0);
	cg_settle(&cg);
	assert_false(cg.is_root);
}

static void names_the_file_at_fault(void **state)
{
	(void)state;
	struct cgroup_memory cg = { 0 };
	struct err err = { 0 };
	assert_int_equal(cg_parse_file("memory.max", STR("lots\n"), 1, &cg, &err), -EBADMSG);
	assert_string_equal(err.message, "memory.max: neither a number nor 'max'");
	assert_int_equal(cg_parse_file("cpu.max", STR("1\n"), 1, &cg, &err), -EINVAL);
	assert_int_equal(err.kind, ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_directory),
		cmocka_unit_test(the_order_of_the_table),
		cmocka_unit_test(the_root_cgroup),
		cmocka_unit_test(names_the_file_at_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
