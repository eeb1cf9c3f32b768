/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics pages (Prometheus text) to gauges and claims, by tables of names: Flink's reporter, jmx_exporter (its
 * own JVM families, its default and Confluent's names of Kafka Streams MBeans) and Micrometer. And the reduction
 * every page goes through before it is kept.
 *
 * A value that is no whole number of bytes (NaN, Inf, negative, a fraction) is unread. A series that comes twice
 * with two values is unread, with a note. A Flink gauge that comes from two TaskManagers is neither's.
 */
#ifndef ENGINE_METRICMAP_H
#define ENGINE_METRICMAP_H

#include "bankfull/engine.h"
#include "base/buf.h"
#include "engine/notes.h"

/*
 * Pages (reduced or whole) into state->gauges, state->rocksdb and state->streams. Reads state->kind, its budget
 * and settings, which decide how caches are counted: fill those first. `whats` are the pages' evidence names.
 * MALFORMED for a page that is no metrics page; a page with bad lines is used and noted.
 */
int metricmap_read(const struct str *pages, const char *const *whats, size_t n_pages, struct engine_state *state,
		   struct engine_notes *notes, struct err *err) __attribute__((warn_unused_result));

/* The tm_id label of the page's Flink gauges, "" if none or several. */
void metricmap_tm_id(struct str page, char ret_id[128]);

/*
 * The reduction: only families some table uses, only allow-listed labels, no HELP text; valid Prometheus text with
 * the same numbers as written. Whole page at once, or in pieces of any size: memory is one line.
 */
int metrics_reduce(struct str page, struct buf *ret_page, struct err *err) __attribute__((warn_unused_result));

struct metrics_reducer {
	struct buf *out;
	struct buf line; /* the unfinished one */
	bool head_checked, ended;
	bool skipping; /* inside a line that is too long */
	uint64_t n_lines, n_kept;
	uint64_t n_samples, n_bad; /* of the lines that were parsed: all up to the first sample */
};
void metrics_reducer_start(struct metrics_reducer *reducer, struct buf *ret_page);
int metrics_reducer_feed(struct metrics_reducer *reducer, struct str piece, struct err *err)
	__attribute__((warn_unused_result));
/* A last line without LF is dropped. MALFORMED if no sample was among bad lines. */
int metrics_reducer_end(struct metrics_reducer *reducer, struct err *err) __attribute__((warn_unused_result));
void metrics_reducer_done(struct metrics_reducer *reducer);
#define auto_metrics_reducer auto_(metrics_reducer_done)

#endif
