/* SPDX-License-Identifier: Apache-2.0 */
/* A report in JSON, as far as its size matters. */
#include <string.h>

#include "plan/resize.h"

const char *const resize_budget_names[RESIZE_BUDGET_COUNT] = { "jvm-overhead", "metaspace", "direct", "managed",
							       "heap" };

static bool is_text(const struct js *value, const char *text)
{
	struct str said;
	return js_str(value, &said) && str_eq(said, str_of(text));
}

static struct qty bytes_of(const struct js *value)
{
	uint64_t bytes;
	return js_u64(value, &bytes) && bytes <= INT64_MAX ? qty_measured(bytes) : (struct qty){ 0 };
}

static enum tristate tristate_of(const struct js *value)
{
	bool answer;
	return !js_bool(value, &answer) ? TRISTATE_UNREAD : answer ? TRISTATE_TRUE : TRISTATE_FALSE;
}

static void read_budget(const struct js *budget, struct resize_reading *reading)
{
	for (int i = 0; i < RESIZE_BUDGET_COUNT; i++)
		if (is_text(js_get(budget, "budget"), resize_budget_names[i])) {
			reading->set[i] = bytes_of(js_get(budget, "budget_bytes"));
			reading->used[i] = bytes_of(js_get(budget, "actual_bytes"));
		}
}

int resize_read(const struct js *report, const char *name, struct resize_reading *ret_reading, struct err *err)
{
	struct resize_reading reading = { 0 };
	const struct js *budgets = js_get(report, "budgets"), *findings = js_get(report, "findings");
	if (!is_text(js_get(report, "schema"), "bankfull.report.v1"))
		return err_set(err, ERR_MALFORMED,
			       "%.120s: no report of Bankfull: what `bankfull report --format json` prints is expected",
			       name);
	for (int kind = 0; kind < ENGINE_COUNT; kind++)
		if (is_text(js_path(report, "target.engine"), engine_names[kind]))
			reading.kind = (enum engine)kind;
	for (int backend = 1; backend < BACKEND_COUNT; backend++)
		if (is_text(js_path(report, "target.state_backend"), state_backend_names[backend]))
			reading.backend = (enum state_backend)backend;
	if (reading.kind != ENGINE_FLINK_TASKMANAGER && reading.kind != ENGINE_FLINK_JOBMANAGER)
		return err_set(
			err, ERR_UNSUPPORTED,
			"%.120s: a report of %s: only Flink has budgets to size; plan Kafka Streams with --streams",
			name, engine_names[reading.kind]);
	reading.batch = tristate_of(js_path(report, "engine.batch"));
	reading.python = tristate_of(js_path(report, "engine.python"));
	for (size_t i = 0; i < js_len(budgets); i++)
		read_budget(js_at(budgets, i), &reading);
	for (size_t i = 0; i < js_len(findings); i++)
		reading.heap_pressure =
			reading.heap_pressure || is_text(js_get(js_at(findings, i), "rule"), "heap-pressure");
	reading.floor_bytes = bytes_of(js_get(report, "floor_bytes"));
	struct qty limit = bytes_of(js_get(report, "limit_bytes"));
	if (qty_known(limit))
		reading.limit = limit_set(limit.bytes);
	if (!qty_known(reading.set[RESIZE_HEAP]) || !qty_known(reading.set[RESIZE_OVERHEAD]))
		return err_set(err, ERR_UNSUPPORTED,
			       "%.120s: its budgets are unread: the JVM's command line, or --flink-conf, was not there",
			       name);
	*ret_reading = reading;
	return 0;
}
