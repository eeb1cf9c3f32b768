/* SPDX-License-Identifier: Apache-2.0 */
/* Native memory without a name, where a metric of the engine would give it one: which, how to have it, what it costs. */
#include <stdio.h>
#include <string.h>

#include "rules/all.h"
#include "rules/store.h"
#include "rules/text.h"
#include "rules/version.h"

/* What each of RocksDB's lines is made of. Properties alone: a ticker of Flink 2 leaks (FLINK-39923). */
struct wanted {
	enum owner owner;
	const char *first; /* without it the line is unread */
	const char *others[3];
};

static const struct wanted wanted[] = {
	{ OWNER_ROCKSDB_BLOCK_CACHE, "block-cache-usage", { "block-cache-capacity", "block-cache-pinned-usage" } },
	{ OWNER_ROCKSDB_MEMTABLES, "size-all-mem-tables", { "cur-size-all-mem-tables" } },
	{ OWNER_ROCKSDB_TABLE_READERS, "estimate-table-readers-mem", { NULL } },
};

enum { WANTED_COUNT = sizeof wanted / sizeof wanted[0], LINES_CAP = 420, NAMES_CAP = 160 };

static void append(char *dest, size_t cap, const char *prefix, const char *name, const char *suffix)
{
	size_t used = strlen(dest);
	(void)snprintf(dest + used, cap - used, "%s%s%s%s", used ? ", " : "", prefix, name, suffix);
}

/* "<options>.metrics.<name>: true" of every metric of the lines that are missing. */
static void option_lines(char dest[LINES_CAP], const struct rule_input *input)
{
	char prefix[64];
	(void)snprintf(prefix, sizeof prefix, "%s.metrics.", store_options(&input->snapshot->engine));
	dest[0] = '\0';
	for (size_t i = 0; i < WANTED_COUNT; i++) {
		if (!store_line_unread(input, wanted[i].owner))
			continue;
		append(dest, LINES_CAP, prefix, wanted[i].first, ": true");
		for (size_t j = 0; wanted[i].others[j]; j++)
			append(dest, LINES_CAP, prefix, wanted[i].others[j], ": true");
	}
}

/* Flink 2 reads config.yaml alone; 1.19 and 1.20 take flink-conf.yaml where there is one; before there was no other. */
static const char *conf_file(const struct engine_state *engine)
{
	static const struct version yaml = { .parts = { 1, 19 } };
	struct version version;
	if (!version_parse(engine->version, &version))
		return "Flink's configuration";
	if (version.parts[0] >= 2)
		return "config.yaml";
	return version_compare(&version, &yaml) >= 0 ? "config.yaml (flink-conf.yaml where that exists)"
						     : "flink-conf.yaml";
}

static void change_flink(const struct rule_input *input, struct finding *finding)
{
	char lines[LINES_CAP];
	const struct snapshot *snapshot = input->snapshot;
	option_lines(lines, input);
	finding_change(
		finding, "in %s: %s%s", conf_file(&snapshot->engine), lines,
		snapshot->metrics_read
			? ""
			: ", metrics.reporter.prom.factory.class: org.apache.flink.metrics.prometheus.PrometheusReporterFactory, metrics.reporter.prom.port: 9249");
}

static void change_streams(const struct rule_input *input, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	if (claim->ambiguous)
		finding_change(
			finding,
			"in jmx_exporter's file let the rule for kafka.streams:type=stream-state-metrics keep thread-id, task-id and the store's key (rocksdb-state-id and the like) as labels: without them the stores overwrite each other");
	else if (input->snapshot->metrics_read)
		finding_change(
			finding,
			"in jmx_exporter's file let a rule pass kafka.streams:type=stream-state-metrics with thread-id, task-id and the store's key (rocksdb-state-id and the like) as labels: the attributes are there at metrics.recording.level INFO");
	else
		finding_change(
			finding,
			"start the JVM with -javaagent:jmx_prometheus_javaagent.jar=9404:FILE, where FILE passes kafka.streams:type=stream-state-metrics and keeps thread-id, task-id and the store's key as labels (or with Jolokia's agent); the attributes are there at metrics.recording.level INFO");
}

static void names_of(char dest[NAMES_CAP], const struct rule_input *input)
{
	dest[0] = '\0';
	for (size_t i = 0; i < WANTED_COUNT; i++)
		if (store_line_unread(input, wanted[i].owner))
			append(dest, NAMES_CAP, "", wanted[i].first, "");
}

static void explain(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	bool flink = snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER;
	const struct gap *gap = snapshot_gap(snapshot, "http/metrics.0");
	if (!gap)
		gap = snapshot_gap(snapshot, "http/metrics");
	if (gap)
		finding_missing(finding, "%s: %s", gap->what, gap->reason);
	for (size_t i = 0; i < WANTED_COUNT; i++)
		if (store_line_unread(input, wanted[i].owner))
			finding_missing(finding, "%s: the metric %s", owner_table[wanted[i].owner].name,
					wanted[i].first);
	if (flink)
		finding_observation(
			finding,
			"They cost one property read for each state every 5 s, when Flink's metrics are updated; leave tickers (block-cache-hit, bytes-read and the like) off, which leak in Flink 2.");
	else
		finding_observation(
			finding,
			"Kafka Streams has them in JMX already: they cost one property read for each store and scrape.");
	finding_cause(
		finding,
		flink ? "RocksDB's native metrics are off by default: no page of this TaskManager then has a name with rocksdb_"
		      : "no agent serves the JVM's MBeans over HTTP, or its rules leave stream-state-metrics out");
	finding_cause(
		finding,
		"the page is there and was not found, or did not answer: then it is named with --metrics URL and missing inputs say why");
	finding_setting(finding, snapshot, "metrics.reporter.prom.factory.class");
	finding_setting(finding, snapshot, "metrics.reporter.prom.port");
	finding_validate(finding, "steady: the rocksdb lines of the next report have bytes, and native-other shrinks");
	finding_validate(finding,
			 "failure: the same after a restart of the pod, with processing as fast as it was before");
}

enum rule_answer rule_metrics_missing(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct ledger *ledger = input->ledger;
	char names[NAMES_CAP], a[UNITS_TEXT_CAP];
	bool flink = snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER;
	if (!store_in_use(ledger) || (!flink && snapshot->engine.kind != ENGINE_KAFKA_STREAMS))
		return RULE_SILENT;
	names_of(names, input);
	if (names[0] == '\0')
		return RULE_SILENT;
	if (!qty_known(ledger->lines[OWNER_NATIVE_OTHER].bytes)) {
		finding_missing(finding, "the native pool: smaps");
		return RULE_INCONCLUSIVE;
	}
	uint64_t unnamed = ledger->lines[OWNER_NATIVE_OTHER].bytes.bytes;
	if (unnamed <= judged_level(input, T_METRICS_MISSING_POOL_BYTES))
		return RULE_SILENT;
	finding->severity = SEVERITY_INFO;
	finding->owner = OWNER_NATIVE_OTHER;
	finding_title(finding, "%s of native memory has no name for want of RocksDB's metrics",
		      units_format(a, unnamed));
	finding_observation(finding, "%s in native-other may be RocksDB's: %s %s not read.", a, names,
			    strchr(names, ',') ? "were" : "was");
	finding_bytes(finding, "native_other_bytes", unnamed);
	if (qty_known(ledger->native_pool_bytes))
		finding_bytes(finding, "native_pool_bytes", ledger->native_pool_bytes.bytes);
	explain(input, finding);
	finding_turn(finding, KNOB_SIGHT, TURN_SET);
	if (flink)
		change_flink(input, finding);
	else
		change_streams(input, finding);
	return RULE_FIRED;
}
