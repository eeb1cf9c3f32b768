/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: 100 columns, no control bytes of others, nothing unread that looks like zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/err.h"
#include "cli/report.h"
#include "rules/rules.h"
#include "support/snap.h"

enum { CAP = 1 << 20, COLUMNS = 100, NARROW = 80 };

/* The text, after it was checked: columns counted without colour, no control byte but newlines and colour. */
static char *table_in(const struct snapshot *s, bool color, unsigned columns)
{
	struct ledger *l = snap_ledger(s);
	struct verdict *v = calloc(1, sizeof *v);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
	struct buf out = { .cap = CAP };
	struct err err = { 0 };
	rules_run(&input, v);
	assert_int_equal(report_table(s, l, v, color, columns, &out, &err), 0);
	size_t column = 0;
	for (size_t i = 0; i < out.len; i++) {
		unsigned char c = (unsigned char)out.ptr[i];
		if (color && c == '\033') {
			while (out.ptr[i] != 'm')
				assert_true(++i < out.len);
			continue;
		}
		column = c == '\n' ? 0 : column + ((c & 0xc0) != 0x80);
		if (column > columns)
			fail_msg("longer than %d columns: %.*s", COLUMNS, (int)column, out.ptr + i + 1 - column);
		if ((c < 0x20 && c != '\n') || c == 0x7f)
			fail_msg("control byte %d", c);
	}
	assert_null(strstr(out.ptr, "nan"));
	assert_null(strstr(out.ptr, "(null)"));
	free(v);
	free(l);
	return out.ptr;
}

/* On a terminal of 100 columns; one of 80 must hold it as well. */
static char *table_of(const struct snapshot *s, bool color)
{
	free(table_in(s, color, NARROW));
	return table_in(s, color, COLUMNS);
}

static void has(const char *table, const char *part)
{
	if (!strstr(table, part))
		fail_msg("no '%s' in\n%s", part, table);
}

static struct snapshot *taskmanager(void)
{
	struct snapshot *s = snap_new(&snap_crowded);
	snap_flink(s, 500 * MIB, 300 * MIB, 64 * MIB, 128 * MIB, 192 * MIB, 1728ull * MIB);
	s->cgroup.max = limit_set(900 * MIB);
	s->cgroup.high = limit_set(850 * MIB);
	s->status.n_threads = count_of(60);
	return s;
}

static void it_says_what_matters(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	char *table = table_of(s, false);
	has(table, "pid 42 flink-taskmanager");
	has(table, "limit 900.0 MiB   charged 1.07 GiB   floor 837.0 MiB   freeboard 63.0 MiB\n");
	has(table, "memory.high 850.0 MiB, passed by 248.0 MiB: it throttles\n");
	has(table, "  java-heap               400.0 MiB  measured  500.0 MiB  500.0 MiB");
	has(table, "anon                      813.0 MiB  counted 813.0 MiB: closed");
	has(table, "residual                        0 B  charge less owners; the kernel's own: 0 B, tolerance 1.0 MiB");
	has(table, "heap               500.0 MiB     400.0 MiB  [#############...]  80%  -Xmx");
	has(table, "managed            300.0 MiB");
	has(table, "warning  freeboard-low: ");
	assert_null(strstr(table, "\033"));
	free(table);
	table = table_of(s, true);
	has(table, "\033[0m");
	free(table);
	snap_free(s);
}

static void unread_is_not_zero(void **state)
{
	(void)state;
	struct snapshot *s = calloc(1, sizeof *s);
	s->process.pid = 42;
	s->is_jvm = true;
	char *table = table_of(s, false);
	has(table, "limit unread   charged unread   floor unread   freeboard unread");
	has(table, "expected demand unread");
	has(table, "JDK unread");
	assert_null(strstr(table, "0 B"));
	assert_null(strstr(table, "residual "));
	free(table);
	snap_free(s);
}

static void bars(void **state)
{
	(void)state;
	static const struct {
		uint64_t budget;
		const char *bar;
	} table[] = {
		{ 400 * MIB, "[################] 100%" }, { 400 * MIB - 1, "[###############!] 100%" },
		{ 200 * MIB, "[###############!] 200%" }, { 40 * MIB, "[###############!] >10x" },
		{ 1, "[###############!] >10x" },         { 0, "[###############!] >10x" },
		{ 800 * MIB, "[########........]  50%" }, { UINT64_MAX / 4, "[................]   0%" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snapshot *s = taskmanager();
		s->engine.flink.heap_bytes = qty_measured(table[i].budget);
		char *text = table_of(s, false);
		has(text, table[i].bar);
		free(text);
		snap_free(s);
	}
}

/* Columns hold for the largest figures, the longest names, and words that are longer than a line. */
static void a_hundred_columns(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	char word[320];
	memset(word, 'w', sizeof word);
	word[sizeof word - 1] = '\0';
	str_copy(s->jdk, sizeof s->jdk, str_of(word));
	str_copy(s->engine.version, sizeof s->engine.version, str_of(word));
	str_copy(s->container_id, sizeof s->container_id, str_of(word));
	for (int i = 0; i < GAPS_MAX; i++)
		snap_gap(s, "http/metrics.0", ERR_IO, word);
	for (int i = 0; i < 80; i++) /* U+00E4 twice a byte pair: no character is cut in two */
		memcpy(word + 2 * i, "\xc3\xa4", 2);
	snap_gap(s, "x", ERR_IO, word);
	s->n_gaps--;
	snap_setting(s, "-Xmx", word, word);
	s->cgroup.current_bytes = qty_measured(1023 * MIB + 1023 * KIB);
	s->cgroup.stat.sock_bytes = qty_measured(UINT64_MAX / 3);
	s->cgroup.stat.inactive_file_bytes = qty_measured(1000 * GIB);
	s->host_cpus = 4096;
	free(table_of(s, false));
	free(table_of(s, true));
	snap_free(s);
}

static void hostile_names_move_no_cursor(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	static const char hostile[] = "a\033[2Jb\nc\rd\x9b"
				      "e\x7f";
	str_copy(s->jdk, sizeof s->jdk, str_of(hostile));
	str_copy(s->engine.version, sizeof s->engine.version, str_of(hostile));
	snap_gap(s, hostile, ERR_IO, hostile);
	snap_setting(s, "-Xmx", hostile, hostile);
	char *table = table_of(s, false);
	has(table, "a\\x1b[2Jb\\x0ac");
	free(table);
	snap_free(s);
}

static void a_full_buffer_is_an_error(void **state)
{
	(void)state;
	struct snapshot *s = taskmanager();
	struct ledger *l = snap_ledger(s);
	struct verdict *v = calloc(1, sizeof *v);
	auto_buf struct buf out = { .cap = 200 };
	struct err err = { 0 };
	assert_true(report_table(s, l, v, false, COLUMNS, &out, &err) < 0);
	assert_int_equal(err.kind, ERR_NOMEM);
	free(v);
	free(l);
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_matters),
		cmocka_unit_test(unread_is_not_zero),
		cmocka_unit_test(bars),
		cmocka_unit_test(a_hundred_columns),
		cmocka_unit_test(hostile_names_move_no_cursor),
		cmocka_unit_test(a_full_buffer_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
