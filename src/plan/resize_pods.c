/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/resize_pods.h"

#include <stdio.h>

#include "plan/resize_parts.h"

#define BIT(owner) ((uint64_t)1 << (owner))

/* --- a pod -------------------------------------------------------------------------------------------------------- */

static enum engine kind_of(struct str role)
{
	static const struct {
		struct str role;
		enum engine kind;
	} roles[] = {
		{ STR("taskmanager"), ENGINE_FLINK_TASKMANAGER },
		{ STR("jobmanager"), ENGINE_FLINK_JOBMANAGER },
		{ STR("streams"), ENGINE_KAFKA_STREAMS },
		{ STR("jvm"), ENGINE_JVM },
	};
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
		if (str_eq(role, roles[i].role))
			return roles[i].kind;
	return ENGINE_UNKNOWN;
}

static uint64_t owner_bit(const struct js *name)
{
	struct str said;
	for (unsigned i = 0; js_str(name, &said) && i < OWNER_COUNT; i++)
		if (str_eq(said, str_of(owner_table[i].name)))
			return BIT(i);
	return 0;
}

static void read_budgets(const struct js *budgets, struct resize_pod *pod)
{
	for (size_t i = 0; i < js_len(budgets); i++) {
		const struct js *budget = js_at(budgets, i), *owners = js_get(budget, "owners");
		int at = resize_budget_find(js_get(budget, "budget"));
		if (at < 0)
			continue;
		pod->base.set[at] = resize_bytes(js_get(budget, "bytes"));
		for (size_t o = 0; o < js_len(owners); o++)
			pod->owners[at] |= owner_bit(js_at(owners, o));
		/* One of its owners is there and cannot be read: no point of the series has it whole. */
		if (!qty_known(resize_bytes(js_get(budget, "used_bytes"))))
			pod->owners[at] = 0;
	}
}

int resize_pod_read(const struct js *whole, struct resize_pod *ret_pod, struct err *err)
{
	struct resize_pod pod = { 0 };
	const struct js *subject = js_get(whole, "subject"), *ledger = js_get(whole, "ledger"),
			*findings = js_get(whole, "findings");
	struct str id = js_text(whole, "id"), namespace = js_text(subject, "namespace"), name = js_text(subject, "pod");
	if (!id.len || id.len >= sizeof pod.id)
		return err_set(err, ERR_MALFORMED, "a pod without an id");
	str_copy(pod.id, sizeof pod.id, id);
	(void)snprintf(pod.name, sizeof pod.name, "%.*s%s%.*s", (int)(namespace.len < 64 ? namespace.len : 64),
		       namespace.ptr, namespace.len ? "/" : "", (int)(name.len < 90 ? name.len : 90), name.ptr);
	pod.base.kind = kind_of(js_text(subject, "role"));
	if (pod.base.kind == ENGINE_UNKNOWN || pod.base.kind == ENGINE_JVM)
		return err_set(err, ERR_UNSUPPORTED, "%s is neither Flink nor Kafka Streams", pod.name);
	read_budgets(js_get(whole, "budgets"), &pod);
	for (size_t i = 0; i < js_len(ledger); i++)
		if (qty_known(resize_bytes(js_get(js_at(ledger, i), "bytes"))))
			pod.known |= owner_bit(js_get(js_at(ledger, i), "owner"));
	const struct js *engine = js_get(whole, "engine");
	resize_read_facts(engine, &pod.base.facts);
	pod.base.facts.backend = resize_backend_find(js_get(engine, "state_backend"));
	pod.base.facts.streams_instances.known =
		js_u64(js_get(engine, "streams_instances"), &pod.base.facts.streams_instances.n);
	/* Of now alone: a point of yesterday does not have it. */
	pod.reserved = pod.base.facts.managed_reserved_bytes;
	pod.base.facts.managed_reserved_bytes = (struct qty){ 0 };
	if (pod.base.kind == ENGINE_KAFKA_STREAMS)
		resize_read_ledger(ledger, &pod.base);
	pod.base.cache_bytes = pod.base.memtables_bytes = pod.base.readers_bytes = (struct qty){ 0 };
	for (size_t i = 0; i < js_len(findings); i++)
		if (str_eq(js_text(js_at(findings, i), "rule"), STR("heap-pressure")))
			pod.base.heap_pressure = true;
	struct qty limit = resize_bytes(js_path(whole, "sample.limit_bytes"));
	if (qty_known(limit))
		pod.base.limit = limit_set(limit.bytes);
	(void)js_i64(js_get(whole, "heard_ms"), &pod.heard.ms);
	if (!resize_is_sized(&pod.base) || pod.heard.ms <= 0)
		return err_set(err, ERR_UNSUPPORTED, "%s: its budgets are not known, or told more than 15 minutes ago",
			       pod.name);
	*ret_pod = pod;
	return 0;
}

/* --- its history -------------------------------------------------------------------------------------------------- */

static struct qty owner_of(const struct js *owners, unsigned owner)
{
	return resize_bytes(js_get(owners, owner_table[owner].name));
}

/* Unread where one that the ledger knows is missing from this point: less than all is no use of a budget. */
static struct qty sum_of(const struct js *owners, uint64_t which, uint64_t known)
{
	struct qty sum = { 0 };
	bool any = false;
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		struct qty bytes = which & BIT(i) ? owner_of(owners, i) : (struct qty){ 0 };
		if (!(which & BIT(i)) || (!qty_known(bytes) && !(known & BIT(i))))
			continue;
		sum = any ? qty_add(sum, bytes) : bytes;
		any = true;
	}
	return sum;
}

static void read_point(const struct resize_pod *pod, const struct js *point, struct resize_reading *reading)
{
	const struct js *owners = js_get(point, "owners");
	*reading = pod->base;
	(void)js_i64(js_get(point, "received_ms"), &reading->taken.ms);
	reading->floor_bytes = resize_bytes(js_get(point, "floor_max_bytes"));
	if (js_kind(owners) != JS_OBJECT)
		return;
	for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
		reading->used[b] = sum_of(owners, pod->owners[b], pod->known);
	if (pod->heard.ms - reading->taken.ms <= WIRE_BOOKS_MS)
		reading->facts.managed_reserved_bytes = pod->reserved;
	resize_see_reserved(reading);
	reading->cache_bytes = owner_of(owners, OWNER_ROCKSDB_BLOCK_CACHE);
	reading->memtables_bytes = owner_of(owners, OWNER_ROCKSDB_MEMTABLES);
	reading->readers_bytes = owner_of(owners, OWNER_ROCKSDB_TABLE_READERS);
}

static void raise_to(struct qty *highest, struct qty seen)
{
	if (qty_known(seen) && (!qty_known(*highest) || seen.bytes > highest->bytes))
		*highest = seen;
}

static void merge(struct resize_reading *into, const struct resize_reading *reading)
{
	for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
		raise_to(&into->used[b], reading->used[b]);
	raise_to(&into->floor_bytes, reading->floor_bytes);
	raise_to(&into->cache_bytes, reading->cache_bytes);
	raise_to(&into->memtables_bytes, reading->memtables_bytes);
	raise_to(&into->readers_bytes, reading->readers_bytes);
	into->taken = reading->taken;
}

static bool of_this_limit(const struct resize_pod *pod, const struct js *point)
{
	struct qty limit = resize_bytes(js_get(point, "limit_bytes"));
	return pod->base.limit.kind == LIMIT_SET ? qty_known(limit) && limit.bytes == pod->base.limit.bytes
						 : !qty_known(limit);
}

static int add_reading(struct resize_history *history, const struct resize_reading *reading, struct err *err)
{
	struct resize_reading *last = history->n ? &history->readings[history->n - 1] : NULL;
	uint64_t bucket = history->bucket_ms ? history->bucket_ms : 1;
	if (last && last->pod == reading->pod &&
	    (uint64_t)last->taken.ms / bucket == (uint64_t)reading->taken.ms / bucket) {
		merge(last, reading);
		return 0;
	}
	if (history->n == history->room)
		return err_set(err, ERR_LIMIT, "more than %zu readings", history->room);
	history->readings[history->n++] = *reading;
	return 0;
}

int resize_history_add(struct resize_history *history, uint32_t number, const struct resize_pod *pod,
		       const struct js *series, struct wall *ret_next, struct err *err)
{
	const struct js *points = js_get(series, "points");
	struct wall next = { 0 };
	int rc = 0;
	if (js_kind(points) != JS_ARRAY)
		return err_set(err, ERR_MALFORMED, "a series without points");
	for (size_t i = 0; rc == 0 && i < js_len(points); i++) {
		const struct js *point = js_at(points, i);
		struct resize_reading reading;
		read_point(pod, point, &reading);
		reading.pod = number;
		if (reading.taken.ms <= 0)
			return err_set(err, ERR_MALFORMED, "a point without its time");
		if (!of_this_limit(pod, point))
			history->n_left_out++;
		else
			rc = add_reading(history, &reading, err);
	}
	(void)js_i64(js_get(series, "next_ms"), &next.ms);
	if (rc == 0)
		*ret_next = next;
	return rc;
}

void resize_history_restores(struct resize_history *history, uint32_t number, const struct js *events)
{
	const struct js *items = js_get(events, "items");
	for (size_t i = 0; i < js_len(items); i++) {
		const struct js *item = js_at(items, i);
		struct str kind = js_text(item, "kind");
		int64_t at = 0;
		/* A JVM that was there before its agent is a start without a value: nobody saw it restore. */
		bool start = str_eq(kind, STR("jvm-start")) && js_kind(js_get(item, "value")) == JS_NUMBER;
		if ((!start && !str_eq(kind, STR("restart"))) || !js_i64(js_get(item, "at_ms"), &at))
			continue;
		for (size_t r = 0; r < history->n; r++)
			if (history->readings[r].pod == number && history->readings[r].taken.ms >= at) {
				history->readings[r].restored = true;
				break;
			}
	}
}
