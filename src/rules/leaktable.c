/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/leaktable.h"

#include "rules/store.h"

/* Flink's RocksDB, where one of its switches decides. ForSt has neither the compactor nor a published leak. */
static enum leak_answer by_switch(const struct rule_input *input, enum tristate on)
{
	switch (input->snapshot->engine.backend) {
	case BACKEND_ROCKSDB:
		return on == TRISTATE_UNREAD ? LEAK_UNREAD : on == TRISTATE_TRUE ? LEAK_PRESENT : LEAK_ABSENT;
	case BACKEND_UNKNOWN:
		return on == TRISTATE_FALSE ? LEAK_ABSENT : LEAK_UNREAD;
	case BACKEND_HASHMAP:
	case BACKEND_FORST:
	case BACKEND_COUNT:
		break;
	}
	return LEAK_ABSENT;
}

static enum leak_answer manual_compaction(const struct rule_input *input)
{
	return by_switch(input, input->snapshot->engine.manual_compaction);
}

static enum leak_answer tickers(const struct rule_input *input)
{
	const struct engine_state *engine = &input->snapshot->engine;
	bool shown = engine->rocksdb.n_ticker_series.known && engine->rocksdb.n_ticker_series.n > 0;
	return by_switch(input, shown ? TRISTATE_TRUE : engine->tickers);
}

static enum leak_answer flink_rocksdb(const struct rule_input *input)
{
	enum leak_answer answer = by_switch(input, TRISTATE_TRUE);
	return answer == LEAK_PRESENT ? LEAK_LATENT : answer;
}

/* Thread mode and time windows are asked for as well, and nobody sees them from outside. */
static enum leak_answer python(const struct rule_input *input)
{
	enum tristate on = input->snapshot->engine.python;
	return on == TRISTATE_UNREAD ? LEAK_UNREAD : on == TRISTATE_TRUE ? LEAK_LATENT : LEAK_ABSENT;
}

static bool some(struct count count)
{
	return count.known && count.n > 0;
}

/* Segments of window and session stores are opened and closed as time goes by; others only when tasks move. */
static enum leak_answer store_closes(const struct rule_input *input)
{
	const struct streams_bound *streams = &input->snapshot->engine.streams;
	if (some(streams->n_window) || some(streams->n_session))
		return LEAK_PRESENT;
	if (store_in_use(input->ledger) || some(streams->n_kv))
		return LEAK_LATENT;
	return LEAK_ABSENT; /* no RocksDB is mapped */
}

/* Session windows leak. Window stores may serve sliding windows and joins, which do, or tumbling ones, which do not. */
static enum leak_answer session_windows(const struct rule_input *input)
{
	const struct streams_bound *streams = &input->snapshot->engine.streams;
	if (some(streams->n_session))
		return LEAK_PRESENT;
	if (some(streams->n_window) || some(streams->n_kv))
		return LEAK_LATENT;
	return streams->n_session.known ? LEAK_ABSENT : LEAK_UNREAD;
}

static enum leak_answer segmented_stores(const struct rule_input *input)
{
	const struct streams_bound *streams = &input->snapshot->engine.streams;
	if (some(streams->n_window) || some(streams->n_session))
		return LEAK_LATENT;
	return streams->n_window.known && streams->n_session.known ? LEAK_ABSENT : LEAK_UNREAD;
}

#define COMPACTOR                                                                                                                            \
	.id = "FLINK-39753", .engine = ENGINE_FLINK_TASKMANAGER, .released = true, .condition = manual_compaction,                           \
	.wants = "state.backend.rocksdb.manual-compaction.min-interval (--flink-conf FILE)",                                                 \
	.what = "Every manual compaction leaks column family options that keep the slot's whole block cache alive after the job has ended.", \
	.watch = "native-other grows by about one block cache each time a job is stopped and started again",                                 \
	.change =                                                                                                                            \
		"set state.backend.rocksdb.manual-compaction.min-interval: 0, the default, and restart the TaskManagers",                    \
	.knob = KNOB_WRITE_BUFFERS

#define DESCRIPTOR                                                                                             \
	.id = "FLINK-21986", .engine = ENGINE_FLINK_TASKMANAGER, .released = true, .condition = flink_rocksdb, \
	.wants = "the state backend: state.backend (--flink-conf FILE)",                                       \
	.what = "Every restart of a job leaks column family options that keep its block cache alive.",         \
	.watch = "native-other grows by about one block cache with each restart of a job (numRestarts)"

#define WRITE_BATCH                                                                                                     \
	.id = "KAFKA-8637", .engine = ENGINE_KAFKA_STREAMS, .released = true, .condition = segmented_stores,            \
	.wants =                                                                                                        \
		"the kinds of stores: their metrics, with the key rocksdb-window-state-id or rocksdb-session-state-id", \
	.what = "Every batch that restores a window or session store leaks its write batch.",                           \
	.watch = "native-other grows while window or session stores are restored, and does not fall afterwards"

/*
 * Ranges as the projects' release notes and branches have them; for FLINK-39753 and FLINK-39923 the published jars were
 * looked into: Compactor closes the options in 1.20.5 and 2.3.0 and not in 1.20.4, 2.1.3 and 2.2.1; no
 * RocksDBNativeMetricMonitor up to 2.3.0 closes its Statistics.
 */
const struct leak leak_table[] = {
	/* Manual compaction came with 1.20. Backported to 1.20, 2.2 and 2.3, not to 2.0 and 2.1. */
	{ COMPACTOR, .from = "1.20.0", .fixed_in = "1.20.5" },
	{ COMPACTOR, .from = "2.0.0", .fixed_in = "2.2.2" },
	/* Finalizers hid it until frocksdb 8.10, which came with 2.0. */
	{ .id = "FLINK-39923",
	  .engine = ENGINE_FLINK_TASKMANAGER,
	  .from = "2.0.0",
	  .fixed_in = "2.4.0",
	  .released = false,
	  .condition = tickers,
	  .wants = "whether a ticker metric is on: state.backend.rocksdb.metrics.* (--flink-conf FILE)",
	  .what = "With any RocksDB ticker metric on, every start of a keyed operator leaks its Statistics.",
	  .watch = "native-other grows with each restart of a job (numRestarts), whatever the caches do",
	  .change =
		  "turn the tickers off, in state.backend.rocksdb.metrics.: block-cache-hit, block-cache-miss, bloom-filter-useful, bloom-filter-full-positive, bloom-filter-full-true-positive, bytes-read, iter-bytes-read, bytes-written, compaction-read-bytes, compaction-write-bytes, stall-micros: false",
	  .knob = KNOB_SIGHT },
	{ DESCRIPTOR, .from = "1.10.0", .fixed_in = "1.11.4" },
	{ DESCRIPTOR, .from = "1.12.0", .fixed_in = "1.12.3" },
	{ .id = "FLINK-32110",
	  .engine = ENGINE_FLINK_TASKMANAGER,
	  .from = "1.17.0",
	  .fixed_in = "1.17.2",
	  .released = true,
	  .condition = python,
	  .wants = "whether the job is PyFlink (python.* options)",
	  .what = "PyFlink in thread mode leaks native memory with time windows.",
	  .watch = "native-other grows with the number of windows; python.execution-mode: process does not have it" },
	{ .id = "KAFKA-20616, KAFKA-20688",
	  .engine = ENGINE_KAFKA_STREAMS,
	  .from = "4.3.0",
	  .fixed_in = "4.3.1",
	  .released = true,
	  .condition = store_closes,
	  .wants = "the kinds of stores: their metrics",
	  .what = "Every RocksDB store leaks column family options, with a block cache, when it is opened and closed.",
	  .watch =
		  "native-other grows with each segment of a window or session store that expires, and with each rebalance" },
	{ .id = "KAFKA-19748",
	  .engine = ENGINE_KAFKA_STREAMS,
	  .from = "4.1.0",
	  .fixed_in = "4.1.1",
	  .released = true,
	  .kind = LEAK_HEAP,
	  .condition = session_windows,
	  .wants = "the kinds of stores: their metrics, with the key rocksdb-session-state-id",
	  .what = "Range scans, session and sliding windows, stream-stream and foreign-key joins leak iterators' metrics on the heap.",
	  .watch = "the heap after a full collection grows from hour to hour" },
	/* Picked to 2.1, 2.2 and 2.3; 2.1.2 was never released. */
	{ WRITE_BATCH, .from = "2.1.0", .fixed_in = "2.2.2" },
	{ WRITE_BATCH, .from = "2.3.0", .fixed_in = "2.3.1" },
};

const size_t leak_count = sizeof leak_table / sizeof leak_table[0];

bool leak_covers(const struct leak *leak, enum engine engine, const struct version *version)
{
	struct version from, fixed;
	if (leak->engine != engine || !version_parse(leak->from, &from) || !version_parse(leak->fixed_in, &fixed))
		return false;
	return version_compare(version, &from) >= 0 && version_compare(version, &fixed) < 0;
}
