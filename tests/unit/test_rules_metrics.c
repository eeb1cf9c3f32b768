/* SPDX-License-Identifier: Apache-2.0 */
/* metrics-missing: what is unread, the exact lines by engine and version, and when nothing is to be said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "metrics-missing";

/* `pool` bytes of native memory, and RocksDB without a metric. */
static struct snapshot *with(enum engine kind, const char *version, uint64_t pool)
{
	static const struct snap_shape plain = { .heap = 400, .pool = 1 };
	struct snapshot *s = snap_new(&plain);
	struct vma *vma = &s->vmas.items[s->vmas.n - 1];
	vma->end = vma->start + (pool + 4095) / 4096 * 4096;
	vma->anonymous_bytes = vma->pss_anon_bytes = pool;
	if (kind == ENGINE_FLINK_TASKMANAGER)
		snap_flink(s, 500 * MIB, 512 * MIB, 0, 0, 192 * MIB, 4 * GIB);
	s->engine.kind = kind;
	s->engine.backend = BACKEND_ROCKSDB;
	strcpy(s->engine.version, version);
	return s;
}

static struct snapshot *tm(const char *version, uint64_t pool)
{
	return with(ENGINE_FLINK_TASKMANAGER, version, pool);
}

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

static void never_a_ticker(const struct finding *f)
{
	static const char *const tickers[] = { "block-cache-hit: true", "block-cache-miss: true", "bytes-read: true",
					       "bytes-written: true", "stall-micros: true" };
	for (size_t i = 0; i < sizeof tickers / sizeof tickers[0]; i++)
		assert_null(strstr(f->change, tickers[i]));
}

static void borders(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(tm("2.3.0", 64 * MIB), &f), RULE_SILENT);
	assert_int_equal(ask(tm("2.3.0", 64 * MIB + 1), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_INFO);
	assert_int_equal(f.turns[0].knob, KNOB_SIGHT);
	judge_figure(&f, "native_other_bytes", 64 * MIB + 1);
	assert_int_equal(ask(tm("2.3.0", 0), &f), RULE_SILENT);
}

static void flink_lines(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(tm("2.3.0", GIB), &f), RULE_FIRED);
	judge_whole(&f);
	never_a_ticker(&f);
	static const char *const lines[] = {
		"in config.yaml: ",
		"state.backend.rocksdb.metrics.block-cache-usage: true",
		"state.backend.rocksdb.metrics.block-cache-capacity: true",
		"state.backend.rocksdb.metrics.block-cache-pinned-usage: true",
		"state.backend.rocksdb.metrics.size-all-mem-tables: true",
		"state.backend.rocksdb.metrics.cur-size-all-mem-tables: true",
		"state.backend.rocksdb.metrics.estimate-table-readers-mem: true",
		"metrics.reporter.prom.factory.class: org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
		"metrics.reporter.prom.port: 9249",
	};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strstr(f.change, lines[i]))
			fail_msg("no '%s' in '%s'", lines[i], f.change);
	assert_non_null(strstr(f.observation, "every 5 s"));

	static const struct {
		const char *version, *file;
	} files[] = {
		{ "1.20.5", "in config.yaml (flink-conf.yaml where that exists): " },
		{ "1.19.0", "in config.yaml (flink-conf.yaml where that exists): " },
		{ "1.18.1", "in flink-conf.yaml: " },
		{ "", "in Flink's configuration: " },
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		assert_int_equal(ask(tm(files[i].version, GIB), &f), RULE_FIRED);
		judge_whole(&f);
		assert_int_equal(strncmp(f.change, files[i].file, strlen(files[i].file)), 0);
	}
	struct snapshot *s = tm("2.3.0", GIB);
	s->engine.backend = BACKEND_FORST;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "state.backend.forst.metrics.block-cache-usage: true"));
	s = tm("2.3.0", GIB); /* the reporter is there, the metrics are not */
	s->metrics_read = true;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_null(strstr(f.change, "metrics.reporter"));
}

/* One of three is asked for alone. */
static void what_is_missing_alone(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("2.3.0", GIB);
	s->metrics_read = true;
	s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.memtables_bytes = qty_measured(MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_string_equal(f.change, "in config.yaml: state.backend.rocksdb.metrics.estimate-table-readers-mem: true");
	assert_int_equal(f.n_missing, 1);
	assert_non_null(strstr(f.observation, "estimate-table-readers-mem was not read."));
	s = tm("2.3.0", GIB);
	s->metrics_read = true;
	s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.table_readers_bytes = qty_measured(MIB);
	s->engine.rocksdb.memtables_in_cache = true; /* they are inside the usage that is read */
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("2.3.0", GIB);
	s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.memtables_bytes = qty_measured(MIB);
	s->engine.rocksdb.table_readers_bytes = qty_measured(0);
	assert_int_equal(ask(s, &f), RULE_SILENT); /* all is read, whatever else fills the pool */
}

static void streams(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with(ENGINE_KAFKA_STREAMS, "4.4.0", GIB);
	snap_gap(s, "http/metrics", 4, "neither a jmx_exporter nor a Jolokia agent is on the command line");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "-javaagent:jmx_prometheus_javaagent.jar=9404:FILE"));
	assert_non_null(strstr(f.change, "stream-state-metrics"));
	judge_missing(&f, "http/metrics: neither a jmx_exporter");
	s = with(ENGINE_KAFKA_STREAMS, "4.4.0", GIB);
	s->metrics_read = true;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_null(strstr(f.change, "-javaagent"));
	s = with(ENGINE_KAFKA_STREAMS, "4.4.0", GIB);
	s->metrics_read = s->engine.rocksdb.ambiguous = true;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "overwrite each other"));
}

static void silent(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("2.3.0", GIB);
	s->engine.backend = BACKEND_HASHMAP;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("2.3.0", GIB);
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	assert_int_equal(ask(with(ENGINE_JVM, "", GIB), &f), RULE_SILENT); /* no metrics to ask for */
	s = tm("2.3.0", GIB);
	s->vmas_read = false; /* nothing is composed: access-degraded says so */
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

static void longest_and_largest(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("1.20.5", (uint64_t)1 << 45);
	char reason[sizeof s->gaps[0].reason];
	memset(reason, 'y', sizeof reason);
	reason[sizeof reason - 1] = '\0';
	snap_gap(s, "http/metrics.0", 4, reason);
	snap_setting(s, "metrics.reporter.prom.factory.class", "1", "config.yaml:12");
	snap_setting(s, "metrics.reporter.prom.port", "1", "config.yaml:12");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.n_missing, 4);
	assert_non_null(strstr(f.missing[0], reason));
	assert_non_null(strstr(f.change, "metrics.reporter.prom.port: 9249"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders), cmocka_unit_test(flink_lines), cmocka_unit_test(what_is_missing_alone),
		cmocka_unit_test(streams), cmocka_unit_test(silent),      cmocka_unit_test(longest_and_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
