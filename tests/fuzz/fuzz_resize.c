/* SPDX-License-Identifier: Apache-2.0 */
/* A report, or a collector's answers, of anybody: readings, and what they come to, never less than was seen nor a cut fragment. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "plan/resize_pods.h"
#include "plan/streams_size.h"

enum { ROOM = 8 };

static void check_flink(const struct resize *resize)
{
	uint64_t process = resize->process_bytes;
	for (size_t i = 0; i < resize->n_steps; i++) {
		const struct resize_step *step = &resize->steps[i];
		const struct resize_row *row = &resize->rows[step->budget];
		size_t len = strlen(step->fragment);
		process = process - step->from_bytes + step->to_bytes;
		if (step->process_bytes != process || step->to_bytes == step->from_bytes ||
		    (!step->raises && step->to_bytes < row->max_bytes) || len == 0 || len + 1 >= RESIZE_TEXT_CAP ||
		    step->fragment[len - 1] != '\n')
			abort();
	}
}

static void check_streams(const struct streams_size *size)
{
	for (size_t i = 0; i < size->n_steps; i++) {
		size_t len = strlen(size->steps[i].fragment);
		if (len == 0 || len + 1 >= STREAMS_FRAGMENT_CAP || size->steps[i].fragment[len - 1] != '\n')
			abort();
	}
	if (size->cache_bytes && size->manager_bytes > size->cache_bytes)
		abort();
}

static void size_by(const struct resize_reading *reading)
{
	static struct streams_size size;
	static struct resize_reading readings[3];
	static const char *const names[] = { "a", "b", "c" };
	struct resize resize;
	struct err err = { 0 };
	for (size_t i = 0; i < 3; i++) {
		readings[i] = *reading;
		readings[i].taken.ms = 1 + (int64_t)i * RESIZE_DAY_MS;
		readings[i].restored = true;
	}
	if (reading->kind == ENGINE_KAFKA_STREAMS) {
		if (streams_size_run(readings, names, 3, 2, 7, &size, &err) == 0)
			check_streams(&size);
	} else if (resize_run(readings, names, 3, &resize, &err) == 0) {
		check_flink(&resize);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct resize_reading reading, readings[ROOM];
	struct resize_pod pod;
	struct resize_history history = { .readings = readings, .room = ROOM, .bucket_ms = 60000 };
	struct wall next;
	auto_js struct js *root = NULL;
	if (js_parse((struct str){ (const char *)data, len }, 1 << 20, &root, NULL) < 0)
		return 0;
	if (resize_read(root, "report.json", &reading, NULL) == 0)
		size_by(&reading);
	if (resize_pod_read(root, &pod, NULL) < 0)
		return 0;
	/* One document is both: a pod, and the series and events of that pod. */
	if (resize_history_add(&history, 0, &pod, root, &next, NULL) < 0)
		return 0;
	resize_history_restores(&history, 0, root);
	for (size_t i = 0; i < history.n; i++)
		size_by(&history.readings[i]);
	return 0;
}
