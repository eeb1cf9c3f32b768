/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/host.h"
#include "support/tight.h"

/* Linux 6.18, shortened. */
static const char real[] = "MemTotal:       24684092 kB\nMemFree:        23506300 kB\nMemAvailable:   24174716 kB\n"
			   "SwapCached:            0 kB\nActive(anon):       1580 kB\nSwapTotal:       1048576 kB\n"
			   "SwapFree:        1000000 kB\nHugePages_Total:       0\nDirectMap1G:    22020096 kB\n";

static void memory(void **state)
{
	(void)state;
	struct host_memory m;
	struct err err = { 0 };
	struct str text = tight_of(str_of(real));
	assert_int_equal(host_meminfo_parse(text, &m, &err), 0);
	tight_free(text);
	assert_int_equal(m.total_bytes.bytes, 24684092ull * 1024);
	assert_int_equal(m.available_bytes.bytes, 24174716ull * 1024);
	assert_int_equal(m.swap_free_bytes.bytes, 1000000ull * 1024);
	assert_int_equal(host_meminfo_parse(STR("MemTotal: 1 kB\n"), &m, &err), 0);
	assert_false(qty_known(m.available_bytes) || qty_known(m.swap_free_bytes));
}

static void bad_memory(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"\n",
		"MemTotal:\n",
		"MemTotal: 1 kB",
		"MemTotal: 1\n",
		"MemTotal: 1 MB\n",
		"MemTotal: -1 kB\n",
		"MemTotal: 18446744073709551615 kB\n",
		"MemTotal: 1 kB\nMemTotal: 1 kB\n",
		"MemTotal: 1 kB\nSwapFree: x kB\n",
		"memtotal: 1 kB\n",
		"MemFree: 1 kB\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct host_memory m = { .total_bytes = { 7, QTY_MEASURED } };
		struct err err = { 0 };
		if (host_meminfo_parse(str_of(bad[i]), &m, &err) == 0 || err.kind != ERR_MALFORMED ||
		    m.total_bytes.bytes != 7)
			fail_msg("case %zu", i);
	}
	struct host_memory m;
	assert_true(host_meminfo_parse(STR("MemTotal: 1 kB\n\0\n"), &m, NULL) < 0);
}

static void huge_pages(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum thp_mode mode; /* THP_UNREAD: refused */
	} cases[] = {
		{ "always [madvise] never\n", THP_MADVISE },
		{ "[always] madvise never\n", THP_ALWAYS },
		{ "always madvise [never]\n", THP_NEVER },
		{ "[never]\n", THP_NEVER },
		{ "", THP_UNREAD },
		{ "always madvise never\n", THP_UNREAD },
		{ "[always] [never]\n", THP_UNREAD },
		{ "[]\n", THP_UNREAD },
		{ "[unread]\n", THP_UNREAD },
		{ "[inherit]\n", THP_UNREAD },
		{ "[neverland]\n", THP_UNREAD },
		{ "[never\n", THP_UNREAD },
		{ "always [madvise] never", THP_UNREAD },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		enum thp_mode mode = THP_UNREAD;
		struct err err = { 0 };
		struct str text = tight_of(str_of(cases[i].text));
		int r = host_thp_parse(text, &mode, &err);
		tight_free(text);
		if (mode != cases[i].mode || (r < 0) != (cases[i].mode == THP_UNREAD) ||
		    err.kind != (r < 0 ? ERR_MALFORMED : ERR_NONE))
			fail_msg("case %zu: %d", i, (int)mode);
	}
}

static void prefix(struct str text)
{
	struct host_memory m;
	enum thp_mode mode;
	(void)!host_meminfo_parse(text, &m, NULL);
	(void)!host_thp_parse(text, &mode, NULL);
}

static void prefixes(void **state)
{
	(void)state;
	tight_prefixes(str_of(real), 1000, prefix);
	tight_prefixes(STR("always [madvise] never\n"), 100, prefix);
}

static void this_machine(void **state)
{
	(void)state;
	auto_buf struct buf buf = { 0 };
	struct host_memory m;
	struct err err = { 0 };
	if (host_meminfo_read(&buf, &err) < 0)
		skip();
	assert_int_equal(host_meminfo_parse(buf_str(&buf), &m, &err), 0);
	assert_true(qty_known(m.available_bytes) && m.available_bytes.bytes <= m.total_bytes.bytes);
	enum thp_mode mode;
	if (host_thp_read(&buf, &err) == 0)
		assert_int_equal(host_thp_parse(buf_str(&buf), &mode, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),   cmocka_unit_test(bad_memory),   cmocka_unit_test(huge_pages),
		cmocka_unit_test(prefixes), cmocka_unit_test(this_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
