/* SPDX-License-Identifier: Apache-2.0 */
/* A report in JSON, as far as its size matters. */
#include <string.h>

#include "plan/resize_parts.h"

const char *const resize_budget_names[RESIZE_BUDGET_COUNT] = { "jvm-overhead", "metaspace", "direct", "managed",
							       "heap" };

static bool is_text(const struct js *value, const char *text)
{
	struct str said;
	return js_str(value, &said) && str_eq(said, str_of(text));
}

struct qty resize_bytes(const struct js *value)
{
	uint64_t bytes;
	return js_u64(value, &bytes) && bytes <= INT64_MAX ? qty_measured(bytes) : (struct qty){ 0 };
}

int resize_budget_find(const struct js *name)
{
	for (int i = 0; i < RESIZE_BUDGET_COUNT; i++)
		if (is_text(name, resize_budget_names[i]))
			return i;
	return -1;
}

static enum tristate tristate_of(const struct js *value)
{
	bool answer;
	return !js_bool(value, &answer) ? TRISTATE_UNREAD : answer ? TRISTATE_TRUE : TRISTATE_FALSE;
}

static void read_budget(const struct js *budget, struct resize_reading *reading)
{
	int i = resize_budget_find(js_get(budget, "budget"));
	if (i < 0)
		return;
	reading->set[i] = resize_bytes(js_get(budget, "budget_bytes"));
	reading->used[i] = resize_bytes(js_get(budget, "actual_bytes"));
}

/* RocksDB's three lines of a ledger, of a report or of the API. */
void resize_read_ledger(const struct js *ledger, struct resize_reading *reading)
{
	for (size_t i = 0; i < js_len(ledger); i++) {
		const struct js *line = js_at(ledger, i), *owner = js_get(line, "owner");
		struct qty bytes = resize_bytes(js_get(line, "bytes"));
		struct qty bound = resize_bytes(js_get(line, "bound_bytes"));
		if (is_text(owner, owner_table[OWNER_ROCKSDB_MEMTABLES].name))
			reading->memtables_bytes = bytes;
		if (is_text(owner, owner_table[OWNER_ROCKSDB_TABLE_READERS].name))
			reading->readers_bytes = bytes;
		if (!is_text(owner, owner_table[OWNER_ROCKSDB_BLOCK_CACHE].name))
			continue;
		reading->cache_bytes = bytes;
		if (qty_known(bound))
			reading->cache_bound = limit_set(bound.bytes);
	}
}

enum state_backend resize_backend_find(const struct js *name)
{
	for (int backend = BACKEND_UNKNOWN + 1; backend < BACKEND_COUNT; backend++)
		if (is_text(name, state_backend_names[backend]))
			return (enum state_backend)backend;
	return BACKEND_UNKNOWN;
}

void resize_read_facts(const struct js *engine, struct engine_facts *facts)
{
	facts->batch = tristate_of(js_get(engine, "batch"));
	facts->python = tristate_of(js_get(engine, "python"));
	facts->managed_reserved_bytes = resize_bytes(js_get(engine, "managed_reserved_bytes"));
	facts->network_bytes = resize_bytes(js_get(engine, "network_bytes"));
	facts->framework_off_heap_bytes = resize_bytes(js_get(engine, "framework_off_heap_bytes"));
	facts->task_off_heap_bytes = resize_bytes(js_get(engine, "task_off_heap_bytes"));
	facts->network_pool_bytes = resize_bytes(js_get(engine, "network_pool_bytes"));
}

bool resize_managed_is_idle(const struct engine_facts *facts)
{
	return facts->backend == BACKEND_HASHMAP && facts->batch == TRISTATE_FALSE && facts->python == TRISTATE_FALSE;
}

void resize_see_reserved(struct resize_reading *reading)
{
	const struct qty reserved = reading->facts.managed_reserved_bytes;
	if (resize_managed_is_idle(&reading->facts) && qty_known(reserved) && reserved.bytes == 0 &&
	    !qty_known(reading->used[RESIZE_MANAGED]))
		reading->used[RESIZE_MANAGED] = qty_of(0, QTY_DERIVED);
}

static void read_target(const struct js *report, struct resize_reading *reading)
{
	const struct js *target = js_get(report, "target");
	for (int kind = 0; kind < ENGINE_COUNT; kind++)
		if (is_text(js_get(target, "engine"), engine_names[kind]))
			reading->kind = (enum engine)kind;
	struct engine_facts *facts = &reading->facts;
	resize_read_facts(js_get(report, "engine"), facts);
	facts->backend = resize_backend_find(js_get(target, "state_backend"));
	facts->streams_instances.known =
		js_u64(js_path(report, "engine.streams.instances"), &facts->streams_instances.n);
}

bool resize_is_sized(const struct resize_reading *reading)
{
	return qty_known(reading->set[RESIZE_HEAP]) &&
	       (reading->kind == ENGINE_KAFKA_STREAMS || qty_known(reading->set[RESIZE_OVERHEAD]));
}

int resize_read(const struct js *report, const char *name, struct resize_reading *ret_reading, struct err *err)
{
	struct resize_reading reading = { 0 };
	const struct js *budgets = js_get(report, "budgets"), *findings = js_get(report, "findings");
	struct str schema;
	if (js_str(js_get(report, "schema"), &schema) && str_starts(schema, STR("bankfull.report.")) &&
	    !str_eq(schema, STR("bankfull.report.v1")))
		return err_set(err, ERR_MALFORMED,
			       "%.120s: its schema is %.*s, and this Bankfull reads bankfull.report.v1 alone", name,
			       (int)(schema.len < 40 ? schema.len : 40), schema.ptr);
	if (!is_text(js_get(report, "schema"), "bankfull.report.v1"))
		return err_set(err, ERR_MALFORMED,
			       "%.120s: no report of Bankfull: what `bankfull report --format json` prints is expected",
			       name);
	read_target(report, &reading);
	if (reading.kind != ENGINE_FLINK_TASKMANAGER && reading.kind != ENGINE_FLINK_JOBMANAGER &&
	    reading.kind != ENGINE_KAFKA_STREAMS)
		return err_set(err, ERR_UNSUPPORTED,
			       "%.120s: a report of %s: Flink and Kafka Streams alone have sizes to propose", name,
			       engine_names[reading.kind]);
	(void)js_i64(js_get(report, "taken_ms"), &reading.taken.ms);
	for (size_t i = 0; i < js_len(budgets); i++)
		read_budget(js_at(budgets, i), &reading);
	resize_see_reserved(&reading);
	if (reading.kind == ENGINE_KAFKA_STREAMS)
		resize_read_ledger(js_get(report, "ledger"), &reading);
	for (size_t i = 0; i < js_len(findings); i++)
		reading.heap_pressure =
			reading.heap_pressure || is_text(js_get(js_at(findings, i), "rule"), "heap-pressure");
	reading.floor_bytes = resize_bytes(js_get(report, "floor_bytes"));
	struct qty limit = resize_bytes(js_get(report, "limit_bytes"));
	if (qty_known(limit))
		reading.limit = limit_set(limit.bytes);
	if (!resize_is_sized(&reading))
		return err_set(err, ERR_UNSUPPORTED,
			       "%.120s: its budgets are unread: the JVM's command line, or --flink-conf, was not there",
			       name);
	*ret_reading = reading;
	return 0;
}
