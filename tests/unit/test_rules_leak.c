/* SPDX-License-Identifier: Apache-2.0 */
/* known-leak: versions, each row inside and outside its range, each condition met, not met and unread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rules/leaktable.h"
#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "known-leak";
static const struct snap_shape plain = { .heap = 400, .pool = 100 };

static struct snapshot *flink(const char *version)
{
	struct snapshot *s = snap_new(&plain);
	snap_flink(s, 500 * MIB, 512 * MIB, 0, 0, 192 * MIB, 4 * GIB);
	strcpy(s->engine.version, version);
	s->engine.backend = BACKEND_ROCKSDB;
	s->engine.manual_compaction = s->engine.tickers = s->engine.python = TRISTATE_FALSE;
	return s;
}

static struct snapshot *streams(const char *version, uint64_t kv, uint64_t window, uint64_t session)
{
	struct snapshot *s = snap_new(&plain);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	strcpy(s->engine.version, version);
	s->engine.streams.n_kv = count_of(kv);
	s->engine.streams.n_window = count_of(window);
	s->engine.streams.n_session = count_of(session);
	return s;
}

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

static int sign(const char *a, const char *b)
{
	struct version x, y;
	assert_true(version_parse(a, &x));
	assert_true(version_parse(b, &y));
	return version_compare(&x, &y);
}

static void versions_compare_by_number(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		int order;
	} table[] = {
		{ "1.9.3", "1.20.0", -1 },
		{ "1.20.5", "1.20.4", 1 },
		{ "4.3", "4.3.0", 0 },
		{ "2.0.0", "1.20.5", 1 },
		{ "4.3.1-rc2", "4.3.1", 0 }, /* cut with the fixes in */
		{ "4.3.1-SNAPSHOT", "4.3.1", -1 },
		{ "4.3.1-SNAPSHOT", "4.3.0", 1 },
		{ "1.20.1-cp1", "1.20.1", 0 },
		{ "1.19.1-csa1.14.0.0", "1.19.1", 0 },
		{ "1.20.0-vvr-11.0.1", "1.20.0", 0 },
		{ "1.20.0-amzn-0", "1.20.0", 0 },
		{ "2.0.0-ververica-1.0", "2.0.0", 0 },
		{ "4.3.0-ccs", "4.3.0", 0 },
		{ "8.3.1-ccs", "4.3.0", 0 }, /* Confluent Platform: the line, not the patch */
		{ "7.9.2-ccs", "3.9.0", 0 },
		{ "6.2.0-ce", "2.8.0", 0 },
		{ "5.5.1-ccs", "2.5.0", 0 },
		{ "9.0.0-ccs", "9.0.0", 0 },
		{ "99999999999.1", "2.4.0", 1 },
		{ "1.2.3.4.5", "1.2.3.4", 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		if (sign(table[i].a, table[i].b) != table[i].order)
			fail_msg("%s against %s", table[i].a, table[i].b);
		assert_int_equal(sign(table[i].b, table[i].a), -table[i].order);
	}
	static const char *const none[] = {
		"", "SNAPSHOT", "v2.0", "2", "2-SNAPSHOT", ".1", "99999999999999999999999.1"
	};
	struct version version;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_false(version_parse(none[i], &version));
}

/* Rows are whole, and no two rows of one leak overlap. */
static void rows_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < leak_count; i++) {
		const struct leak *leak = &leak_table[i];
		assert_true(leak->id && leak->condition && leak->wants && leak->what && leak->watch);
		assert_true(sign(leak->from, leak->fixed_in) < 0);
		assert_true((leak->change != NULL) == (leak->knob != KNOB_NONE));
		assert_true(leak->released || leak->change); /* something helps */
		for (size_t j = 0; j < i; j++)
			if (strcmp(leak->id, leak_table[j].id) == 0)
				assert_true(sign(leak_table[j].fixed_in, leak->from) <= 0);
	}
}

enum bend { COMPACTION, TICKERS, ROCKSDB, PYTHON };

static struct snapshot *bent(const char *version, enum bend bend, enum tristate on)
{
	struct snapshot *s = flink(version);
	switch (bend) {
	case COMPACTION:
		s->engine.manual_compaction = on;
		break;
	case TICKERS:
		s->engine.tickers = on;
		break;
	case ROCKSDB:
		s->engine.backend = on == TRISTATE_TRUE    ? BACKEND_ROCKSDB
				    : on == TRISTATE_FALSE ? BACKEND_HASHMAP
							   : BACKEND_UNKNOWN;
		break;
	case PYTHON:
		s->engine.python = on;
		break;
	}
	return s;
}

/* Just inside and just outside each range, with the condition met, not met, and unread. */
static void flink_rows(void **state)
{
	(void)state;
	static const struct {
		const char *id, *version;
		enum bend bend;
		bool covered;
		enum severity severity;
	} table[] = {
		{ "FLINK-39753", "1.19.3", COMPACTION, false, SEVERITY_NONE },
		{ "FLINK-39753", "1.20.0", COMPACTION, true, SEVERITY_NOTICE },
		{ "FLINK-39753", "1.20.4", COMPACTION, true, SEVERITY_NOTICE },
		{ "FLINK-39753", "1.20.5", COMPACTION, false, SEVERITY_NONE },
		{ "FLINK-39753", "2.0.0", COMPACTION, true, SEVERITY_NOTICE },
		{ "FLINK-39753", "2.1.3", COMPACTION, true, SEVERITY_NOTICE },
		{ "FLINK-39753", "2.2.1", COMPACTION, true, SEVERITY_NOTICE },
		{ "FLINK-39753", "2.2.2", COMPACTION, false, SEVERITY_NONE },
		{ "FLINK-39753", "2.3.0", COMPACTION, false, SEVERITY_NONE },
		{ "FLINK-39923", "1.20.5", TICKERS, false, SEVERITY_NONE },
		{ "FLINK-39923", "2.0.0", TICKERS, true, SEVERITY_NOTICE },
		{ "FLINK-39923", "2.3.0", TICKERS, true, SEVERITY_NOTICE },
		{ "FLINK-39923", "2.4-SNAPSHOT", TICKERS, true, SEVERITY_NOTICE },
		{ "FLINK-39923", "2.4.0", TICKERS, false, SEVERITY_NONE },
		{ "FLINK-21986", "1.9.3", ROCKSDB, false, SEVERITY_NONE },
		{ "FLINK-21986", "1.10.0", ROCKSDB, true, SEVERITY_INFO },
		{ "FLINK-21986", "1.11.3", ROCKSDB, true, SEVERITY_INFO },
		{ "FLINK-21986", "1.11.4", ROCKSDB, false, SEVERITY_NONE },
		{ "FLINK-21986", "1.12.0", ROCKSDB, true, SEVERITY_INFO },
		{ "FLINK-21986", "1.12.2", ROCKSDB, true, SEVERITY_INFO },
		{ "FLINK-21986", "1.12.3", ROCKSDB, false, SEVERITY_NONE },
		{ "FLINK-32110", "1.16.3", PYTHON, false, SEVERITY_NONE },
		{ "FLINK-32110", "1.17.0", PYTHON, true, SEVERITY_INFO },
		{ "FLINK-32110", "1.17.1", PYTHON, true, SEVERITY_INFO },
		{ "FLINK-32110", "1.17.2", PYTHON, false, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer met = ask(bent(table[i].version, table[i].bend, TRISTATE_TRUE), &f);
		if (met != (table[i].covered ? RULE_FIRED : RULE_SILENT))
			fail_msg("%s in %s", table[i].id, table[i].version);
		if (table[i].covered) {
			judge_whole(&f);
			assert_non_null(strstr(f.title, table[i].id));
			assert_non_null(strstr(f.title, table[i].version));
			assert_int_equal(f.severity, table[i].severity);
		}
		assert_int_equal(ask(bent(table[i].version, table[i].bend, TRISTATE_FALSE), &f), RULE_SILENT);
		enum rule_answer unread = ask(bent(table[i].version, table[i].bend, TRISTATE_UNREAD), &f);
		assert_int_equal(unread, table[i].covered ? RULE_INCONCLUSIVE : RULE_SILENT);
		if (table[i].covered)
			judge_missing(&f, table[i].id);
	}
}

static void streams_rows(void **state)
{
	(void)state;
	static const struct {
		const char *id, *version;
		uint64_t kv, window, session;
		enum severity severity;
	} table[] = {
		{ "KAFKA-20616", "4.2.1", 3, 3, 3, SEVERITY_NONE },
		{ "KAFKA-20616", "4.3.0", 0, 1, 0, SEVERITY_NOTICE },
		{ "KAFKA-20616", "4.3.0", 0, 0, 1, SEVERITY_NOTICE },
		{ "KAFKA-20616", "4.3.0", 1, 0, 0, SEVERITY_INFO },
		{ "KAFKA-20616", "4.3.0", 0, 0, 0, SEVERITY_NONE },
		{ "KAFKA-20688", "4.3.0", 1, 1, 0, SEVERITY_NOTICE },
		{ "KAFKA-20616", "4.3.1", 3, 3, 3, SEVERITY_NONE },
		{ "KAFKA-20616", "8.3.1-ccs", 3, 3, 3, SEVERITY_INFO }, /* Confluent may have the fix */
		{ "KAFKA-19748", "4.0.1", 1, 1, 1, SEVERITY_NONE },
		{ "KAFKA-19748", "4.1.0", 0, 0, 1, SEVERITY_NOTICE },
		{ "KAFKA-19748", "4.1.0", 0, 1, 0, SEVERITY_INFO },
		{ "KAFKA-19748", "4.1.0", 1, 0, 0, SEVERITY_INFO },
		{ "KAFKA-19748", "4.1.0", 0, 0, 0, SEVERITY_NONE },
		{ "KAFKA-19748", "4.1.1", 1, 1, 1, SEVERITY_NONE },
		{ "KAFKA-8637", "2.0.1", 1, 1, 1, SEVERITY_NONE },
		{ "KAFKA-8637", "2.1.0", 0, 1, 0, SEVERITY_INFO },
		{ "KAFKA-8637", "2.2.1", 0, 0, 1, SEVERITY_INFO },
		{ "KAFKA-8637", "2.2.2", 1, 1, 1, SEVERITY_NONE },
		{ "KAFKA-8637", "2.3.0", 0, 1, 0, SEVERITY_INFO },
		{ "KAFKA-8637", "2.3.0", 1, 0, 0, SEVERITY_NONE },
		{ "KAFKA-8637", "2.3.1", 1, 1, 1, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer =
			ask(streams(table[i].version, table[i].kv, table[i].window, table[i].session), &f);
		if (answer != (table[i].severity ? RULE_FIRED : RULE_SILENT))
			fail_msg("row %zu", i);
		if (!table[i].severity)
			continue;
		judge_whole(&f);
		assert_non_null(strstr(f.title, table[i].id));
		if (f.severity != table[i].severity)
			fail_msg("row %zu: severity %d", i, (int)f.severity);
	}
	struct finding f;
	struct snapshot *s = streams("4.1.0", 0, 0, 0);
	s->engine.streams.n_kv.known = s->engine.streams.n_window.known = s->engine.streams.n_session.known = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "rocksdb-session-state-id");
	s = streams("2.3.0", 0, 0, 0);
	s->engine.streams.n_window.known = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	s = streams("4.3.0", 0, 0, 0); /* RocksDB is there: which stores, no metric says */
	s->engine.streams.n_kv.known = s->engine.streams.n_window.known = s->engine.streams.n_session.known = false;
	s->engine.backend = BACKEND_ROCKSDB;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_INFO);
}

static void what_helps(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(bent("1.20.4", COMPACTION, TRISTATE_TRUE), &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "set state.backend.rocksdb.manual-compaction.min-interval: 0"));
	assert_non_null(strstr(f.observation, "Fixed in Flink 1.20.5."));
	assert_int_equal(ask(bent("2.1.3", COMPACTION, TRISTATE_TRUE), &f), RULE_FIRED);
	assert_non_null(strstr(f.observation, "Fixed in Flink 2.2.2."));
	assert_int_equal(ask(bent("2.3.0", TICKERS, TRISTATE_TRUE), &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "turn the tickers off"));
	assert_non_null(strstr(f.observation, "no release had it when this was written"));
	assert_int_equal(ask(bent("2.4-SNAPSHOT", TICKERS, TRISTATE_TRUE), &f), RULE_FIRED);
	assert_non_null(strstr(f.observation, "A snapshot may have the fix already."));
	assert_int_equal(ask(streams("4.3.0", 0, 1, 0), &f), RULE_FIRED);
	assert_string_equal(f.change, "upgrade to Kafka Streams 4.3.1 or a later release");
	assert_int_equal(f.turns[0].knob, KNOB_VERSION);
	/* The page shows a ticker, whatever the configuration says. */
	struct snapshot *s = flink("2.3.0");
	s->engine.rocksdb.n_ticker_series = count_of(3);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	s = flink("2.3.0");
	s->engine.rocksdb.n_ticker_series = count_of(0);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = flink("2.1.0");
	s->engine.manual_compaction = s->engine.tickers = TRISTATE_TRUE;
	s->engine.backend = BACKEND_FORST;
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

/* Several are one finding; what is unread of the others is said. */
static void several_at_once(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = flink("2.1.0");
	s->engine.manual_compaction = s->engine.tickers = TRISTATE_TRUE;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.title, "FLINK-39753"));
	assert_non_null(strstr(f.observation, "Also in this version: FLINK-39923."));
	s = flink("2.1.0");
	s->engine.manual_compaction = TRISTATE_UNREAD;
	s->engine.tickers = TRISTATE_TRUE;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.title, "FLINK-39923"));
	judge_missing(&f, "FLINK-39753: state.backend.rocksdb.manual-compaction.min-interval");
	assert_null(strstr(f.observation, "Also in this version"));
	s = flink("2.1.0");
	s->engine.manual_compaction = s->engine.tickers = TRISTATE_UNREAD;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	assert_int_equal(f.n_missing, 2);
}

/* A warning only where the memory it would fill is full, and nothing else explains it. */
static void warns_where_it_shows(void **state)
{
	(void)state;
	static const struct {
		unsigned
			pool_mib; /* with 40 MiB of arenas; 192 of overhead and 256 of metaspace, which is unread, excuse a part */
		uint64_t limit;
		enum severity severity;
	} table[] = {
		{ 536, 2 * GIB, SEVERITY_NOTICE }, /* 128 MiB past it */
		{ 537, 2 * GIB, SEVERITY_WARNING },
		{ 817, 8 * GIB, SEVERITY_NOTICE }, /* 5 % are 409.6 MiB */
		{ 818, 8 * GIB, SEVERITY_WARNING },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		const struct snap_shape shape = { .heap = 400, .pool = table[i].pool_mib, .arenas = 40 };
		struct snapshot *s = snap_new(&shape);
		snap_flink(s, 500 * MIB, 512 * MIB, 0, 0, 192 * MIB, 4 * GIB);
		strcpy(s->engine.version, "2.3.0");
		s->engine.backend = BACKEND_ROCKSDB;
		s->engine.tickers = TRISTATE_TRUE;
		s->cgroup.max = limit_set(table[i].limit);
		s->engine.gauges.direct_used_bytes = qty_measured(0);
		s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.memtables_bytes = qty_measured(0);
		s->engine.rocksdb.table_readers_bytes = qty_measured(0);
		assert_int_equal(ask(s, &f), RULE_FIRED);
		judge_whole(&f);
		if (f.severity != table[i].severity)
			fail_msg("row %zu: %s", i, f.observation);
		if (f.severity == SEVERITY_WARNING) {
			assert_int_equal(f.owner, OWNER_NATIVE_OTHER);
			assert_int_equal(f.excess_bytes, (uint64_t)(table[i].pool_mib + 40 - 192 - 256) * MIB);
			judge_figure(&f, "unexplained_bytes", f.excess_bytes);
		}
	}
	/* Where RocksDB's metrics are unread it may be all in there, up to its budget of 512 MiB. */
	for (unsigned pool = 1000; pool <= 2000; pool += 1000) {
		struct finding f;
		const struct snap_shape full = { .heap = 400, .pool = pool };
		struct snapshot *s = snap_new(&full);
		snap_flink(s, 500 * MIB, 512 * MIB, 0, 0, 192 * MIB, 4 * GIB);
		strcpy(s->engine.version, "2.3.0");
		s->engine.backend = BACKEND_ROCKSDB;
		s->engine.tickers = TRISTATE_TRUE;
		s->engine.gauges.direct_used_bytes = qty_measured(0);
		assert_int_equal(ask(s, &f), RULE_FIRED);
		assert_int_equal(f.severity, pool == 1000 ? SEVERITY_NOTICE : SEVERITY_WARNING);
	}
}

static void heap_leaks_show_in_the_heap(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams("4.1.0", 0, 0, 1);
	s->perf_read = true;
	s->flags.max_heap_bytes = qty_measured(1000 * MIB);
	s->perf.heap_used_bytes = qty_measured(850 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = streams("4.1.0", 0, 0, 1);
	s->perf_read = true;
	s->flags.max_heap_bytes = qty_measured(1000 * MIB);
	s->perf.heap_used_bytes = qty_measured(850 * MIB + 1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_int_equal(f.owner, OWNER_JAVA_HEAP);
	judge_figure(&f, "heap_used_bytes", 850 * MIB + 1);
	assert_non_null(strstr(f.title, "leaks heap"));
}

static void unknown_versions(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(flink(""), &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "the version of Flink");
	assert_int_equal(f.n_missing, 1);
	assert_int_equal(ask(flink("SNAPSHOT"), &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "\"SNAPSHOT\" is none");
	assert_int_equal(ask(streams("", 1, 1, 1), &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "the version of Kafka Streams");
	struct snapshot *s = flink("");
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	assert_int_equal(ask(snap_new(&plain), &f), RULE_SILENT);
	assert_int_equal(ask(flink("99999999999.99999999999"), &f), RULE_SILENT);
}

static void longest(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = flink("2.1.0-SNAPSHOT-1234567890123456");
	s->engine.tickers = s->engine.manual_compaction = TRISTATE_TRUE;
	s->engine.gauges.direct_used_bytes = qty_measured(0);
	s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.memtables_bytes = qty_measured(0);
	s->engine.rocksdb.table_readers_bytes = qty_measured(0);
	s->engine.flink.overhead_bytes = qty_measured(0);
	s->vmas.items[s->vmas.n - 1].anonymous_bytes = (uint64_t)1 << 45;
	s->vmas.items[s->vmas.n - 1].pss_anon_bytes = (uint64_t)1 << 45;
	snap_setting(s, "state.backend.type", "rocksdb", "config.yaml:12");
	snap_setting(s, "state.backend.rocksdb.manual-compaction.min-interval", "1", "config.yaml:12");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_int_equal(f.n_settings, 2);
	s = streams("8.3.1-ccs-SNAPSHOT-12345678901", 1, 1, 1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.observation, "has patches of its own"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_compare_by_number),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(flink_rows),
		cmocka_unit_test(streams_rows),
		cmocka_unit_test(what_helps),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(warns_where_it_shows),
		cmocka_unit_test(heap_leaks_show_in_the_heap),
		cmocka_unit_test(unknown_versions),
		cmocka_unit_test(longest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
