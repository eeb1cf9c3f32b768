/* SPDX-License-Identifier: Apache-2.0 */
/* What the two right sizes, of Flink and of Kafka Streams, print alike. Internal to src/cli. */
#ifndef CLI_PLAN_RESIZE_H
#define CLI_PLAN_RESIZE_H

#include "cli/plan_collector.h"
#include "data/js.h"
#include "plan/streams_size.h"

struct plan_step {
	const char *title, *fragment, *steady, *restore;
	uint64_t limit_bytes; /* that goes with it; 0: none */
};

void plan_resize_head(struct paint *paint);
void plan_resize_row(struct paint *paint, const char *name, const struct resize_row *row);
void plan_resize_step(struct paint *paint, size_t number, const struct plan_step *step);
void plan_resize_row_json(const char *name, const struct resize_row *row, struct js_out *out);
void plan_resize_source_json(const struct plan_source *source, size_t n_readings, uint64_t span_ms, struct js_out *out);

void plan_streams_size_table(const struct streams_size *size, struct paint *paint);
/* Members of an object that is open. */
void plan_streams_size_json(const struct streams_size *size, const struct plan_source *source, struct js_out *out);

#endif
