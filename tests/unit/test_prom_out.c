/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus text as we write it, and that our own reader reads it back. */
#include "data/prom_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/prom.h"
#include "sys/usage.h"

static void a_page(void **state)
{
	(void)state;
	auto_buf struct buf buf = { .cap = 4096 };
	struct prom_out out;
	prom_out_start(&out, &buf);
	prom_out_counter(&out, "a_total", "How many.", UINT64_MAX);
	prom_out_family(&out, "b_bytes", PROM_GAUGE, "How large.");
	prom_out_label(&out, "x", "a\"b\\c\nd\x1b[2J\xff");
	prom_out_label(&out, "y", "");
	prom_out_i64(&out, -5);
	prom_out_label(&out, "x", "second");
	prom_out_u64(&out, 7);
	prom_out_family(&out, "c_seconds", PROM_GAUGE, "How long.");
	prom_out_parts(&out, 12005, 1000);
	prom_out_family(&out, "d_ratio", PROM_GAUGE, "How much.");
	prom_out_parts(&out, -50, 10000);
	assert_string_equal(buf.ptr, "# HELP a_total How many.\n# TYPE a_total counter\na_total 18446744073709551615\n"
				     "# HELP b_bytes How large.\n# TYPE b_bytes gauge\n"
				     "b_bytes{x=\"a\\\"b\\\\c\\nd\xef\xbf\xbd[2J\xef\xbf\xbd\",y=\"\"} -5\n"
				     "b_bytes{x=\"second\"} 7\n"
				     "# HELP c_seconds How long.\n# TYPE c_seconds gauge\nc_seconds 12.005\n"
				     "# HELP d_ratio How much.\n# TYPE d_ratio gauge\nd_ratio -0.0050\n");
	struct prom prom;
	struct prom_sample sample;
	size_t n = 0;
	for (prom_start(&prom, buf_str(&buf)); prom_next(&prom, &sample); n++)
		;
	assert_int_equal(n, 5);
	assert_int_equal(prom.n_bad, 0);
}

static void what_we_use(void **state)
{
	(void)state;
	struct usage usage;
	usage_read(&usage);
	assert_true(qty_known(usage.resident_bytes));
	assert_true(usage.resident_bytes.bytes > 100000);
	assert_true(usage.open_fds.known);
	assert_true(usage.open_fds.n >= 1);
	assert_true(!usage.max_fds.known || usage.max_fds.n >= usage.open_fds.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page),
		cmocka_unit_test(what_we_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
