/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/report_read.h"

static void render(const struct snapshot *s, struct buf *buf)
{
	struct js_out out;
	js_out_start(&out, buf, 0);
	js_out_object(&out);
	report_read_host(&out, s);
	report_read_tmpfs(&out, s);
	report_read_engine(&out, s);
	js_out_object_end(&out);
	assert_int_equal(js_out_end(&out, NULL), 0);
}

static void nothing_read_is_null(void **state)
{
	(void)state;
	static const struct snapshot empty;
	auto_buf struct buf buf = { .cap = 65536 };
	render(&empty, &buf);
	assert_string_equal(
		buf.ptr,
		"{\"host\":{\"memory_bytes\":null,\"available_bytes\":null,\"swap_free_bytes\":null,\"thp\":null},"
		"\"tmpfs\":null,\"engine\":{\"write_buffer_bytes\":null,\"tickers\":null,\"manual_compaction\":null,"
		"\"batch\":null,\"python\":null,\"managed_reserved_bytes\":null,"
		"\"network_bytes\":null,\"framework_off_heap_bytes\":null,"
		"\"task_off_heap_bytes\":null,\"network_pool_bytes\":null,"
		"\"rocksdb\":{\"stores\":null,\"flush_pending\":null,"
		"\"write_stopped\":null,\"write_delayed\":null,\"immutable_memtables\":null,\"open_iterators\":null,"
		"\"ticker_series\":null},\"streams\":{\"instances\":null,\"key_value_stores\":null,"
		"\"window_stores\":null,\"session_stores\":null}}}");
}

static void what_was_read(void **state)
{
	(void)state;
	static struct snapshot s;
	auto_buf struct buf buf = { .cap = 65536 };
	s.host_memory_bytes = qty_measured(UINT64_MAX);
	s.host_available_bytes = qty_measured(2);
	s.host_swap_free_bytes = qty_measured(0);
	s.thp = THP_MADVISE;
	s.tmpfs_read = true;
	s.n_tmpfs = 2;
	s.tmpfs[0] = (struct tmpfs_mount){ "/dev/shm", qty_measured(9), limit_set(64) };
	s.tmpfs[1] = (struct tmpfs_mount){ "/a\\x1b\"b", qty_measured(5), { 0, LIMIT_NONE } };
	s.engine.write_buffer_bytes = qty_measured(64);
	s.engine.tickers = TRISTATE_TRUE;
	s.engine.manual_compaction = TRISTATE_FALSE;
	s.engine.rocksdb.n_flush_pending = count_of(0);
	s.engine.rocksdb.n_ticker_series = count_of(3);
	s.engine.gauges.managed_used_bytes = qty_measured(0);
	s.engine.gauges.network_total_bytes = qty_measured(342);
	s.engine.flink.network_bytes = qty_measured(343);
	s.engine.flink.framework_off_heap_bytes = qty_measured(128);
	s.engine.flink.task_off_heap_bytes = qty_measured(7);
	s.engine.streams.n_window = count_of(4);
	render(&s, &buf);
	assert_string_equal(
		buf.ptr,
		"{\"host\":{\"memory_bytes\":18446744073709551615,\"available_bytes\":2,\"swap_free_bytes\":0,\"thp\":\"madvise\"},"
		"\"tmpfs\":[{\"path\":\"/dev/shm\",\"used_bytes\":9,\"size_bytes\":64},"
		"{\"path\":\"/a\\\\x1b\\\"b\",\"used_bytes\":5,\"size_bytes\":null}],"
		"\"engine\":{\"write_buffer_bytes\":64,\"tickers\":true,\"manual_compaction\":false,"
		"\"batch\":null,\"python\":null,\"managed_reserved_bytes\":0,"
		"\"network_bytes\":343,\"framework_off_heap_bytes\":128,"
		"\"task_off_heap_bytes\":7,\"network_pool_bytes\":342,"
		"\"rocksdb\":{\"stores\":null,\"flush_pending\":0,"
		"\"write_stopped\":null,\"write_delayed\":null,\"immutable_memtables\":null,\"open_iterators\":null,"
		"\"ticker_series\":3},\"streams\":{\"instances\":null,\"key_value_stores\":null,"
		"\"window_stores\":4,\"session_stores\":null}}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_read_is_null),
		cmocka_unit_test(what_was_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
