/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/plan.h"
#include "wire/put.h"
#include "wire/put_finding.h"

static const char schema[] = "bankfull.plan.v1";

void plan_put_demand(struct js_out *out, const char *key, const struct demand *demand)
{
	js_out_key(out, key);
	js_out_object(out);
	put_qty(out, "bytes", demand->bytes);
	js_out_key(out, "parts");
	js_out_array(out);
	for (size_t i = 0; i < demand->n_parts; i++) {
		const struct demand_part *part = &demand->parts[i];
		js_out_object(out);
		put_text(out, "what", part->what);
		js_out_key(out, "bytes");
		js_out_u64(out, part->bytes);
		put_owner_names(out, part->owners);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	js_out_object_end(out);
}

void plan_put_verdict(struct js_out *out, const struct verdict *verdict)
{
	put_text(out, "headline", verdict->headline);
	put_text(out, "worst", verdict->worst == SEVERITY_NONE ? NULL : severity_names[verdict->worst]);
	js_out_key(out, "findings");
	js_out_array(out);
	for (size_t i = 0; i < verdict->n_findings; i++)
		put_finding(out, &verdict->findings[i]);
	js_out_array_end(out);
}

static void put_sizes(struct js_out *out, const struct derived *derived)
{
	const struct flink_budget *b = &derived->budget;
	js_out_key(out, "sizes");
	js_out_object(out);
	put_qty(out, "framework_heap_bytes", b->framework_heap_bytes);
	put_qty(out, "task_heap_bytes", b->task_heap_bytes);
	put_qty(out, "framework_off_heap_bytes", b->framework_off_heap_bytes);
	put_qty(out, "task_off_heap_bytes", b->task_off_heap_bytes);
	put_qty(out, "network_bytes", b->network_bytes);
	put_qty(out, "managed_bytes", b->managed_bytes);
	put_qty(out, "heap_bytes", b->heap_bytes);
	put_qty(out, "direct_bytes", b->direct_bytes);
	put_qty(out, "flink_bytes", b->flink_bytes);
	put_qty(out, "metaspace_bytes", b->metaspace_bytes);
	put_qty(out, "overhead_bytes", b->overhead_bytes);
	put_qty(out, "process_bytes", b->process_bytes);
	put_count(out, "slots", b->n_slots);
	js_out_object_end(out);
}

static void put_options(struct js_out *out, const struct derived *derived)
{
	struct flinkplan_option options[FLINKPLAN_OPTIONS_MAX];
	size_t n = flinkplan_options(derived, options);
	auto_buf struct buf flags = { .cap = 1024 };
	(void)flinkplan_flags(derived, &flags);
	put_text(out, "jvm_flags", buf_failed(&flags) ? NULL : flags.ptr);
	js_out_key(out, "options");
	js_out_array(out);
	for (size_t i = 0; i < n; i++) {
		char value[32];
		(void)snprintf(value, sizeof value, "%llub", (unsigned long long)options[i].bytes.bytes);
		js_out_object(out);
		put_text(out, "key", options[i].key);
		put_text(out, "value", value);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_rocksdb(struct js_out *out, const struct flinkplan *plan)
{
	static const char *const sharing[] = { NULL, "slot", "process", "store" };
	js_out_key(out, "rocksdb");
	if (plan->rocksdb.sharing == ROCKSDB_SHARING_UNKNOWN) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_text(out, "shared_by", sharing[plan->rocksdb.sharing]);
	put_count(out, "caches", plan->rocksdb.n_caches);
	put_qty(out, "grant_bytes", plan->rocksdb.grant_bytes);
	put_qty(out, "cache_bytes", plan->rocksdb.cache_bytes);
	put_qty(out, "write_buffers_bytes", plan->rocksdb.write_buffers_bytes);
	js_out_key(out, "within_managed");
	js_out_bool(out, plan->rocksdb.within_managed);
	put_qty(out, "outside_bytes", plan->rocksdb_outside_bytes);
	put_qty(out, "first_block_bytes", plan->arena_bytes);
	js_out_object_end(out);
}

static int finish(struct js_out *out, struct buf *buf, struct err *err)
{
	js_out_object_end(out);
	int rc = js_out_end(out, err);
	if (rc == 0 && !buf_putc(buf, '\n'))
		rc = err_set(err, ERR_NOMEM, "no memory for the plan");
	return rc;
}

int plan_flink_json(const struct flinkplan *plan, const char *file, struct buf *buf, struct err *err)
{
	struct js_out out;
	js_out_start(&out, buf, 2);
	js_out_object(&out);
	put_text(&out, "schema", schema);
	put_text(&out, "kind", "flink");
	put_text(&out, "refused", NULL);
	put_text(&out, "engine", engine_names[plan->snapshot->engine.kind]);
	put_text(&out, "version", plan->snapshot->engine.version);
	put_text(&out, "file", file);
	put_text(&out, "sized_by", derive_way_names[plan->derived.way]);
	put_text(&out, "state_backend",
		 plan->snapshot->engine.backend == BACKEND_UNKNOWN
			 ? NULL
			 : state_backend_names[plan->snapshot->engine.backend]);
	put_sizes(&out, &plan->derived);
	put_options(&out, &plan->derived);
	put_rocksdb(&out, plan);
	put_limit(&out, "limit_bytes", plan->ledger->limit);
	put_text(&out, "limit_from", plan->limit_told ? "told" : "native-kubernetes");
	js_out_key(&out, "kubernetes_limit_bytes");
	js_out_u64(&out, plan->kubernetes_bytes);
	plan_put_demand(&out, "expected_demand", &plan->ledger->expected);
	plan_put_demand(&out, "legal_demand", &plan->ledger->legal);
	plan_put_verdict(&out, plan->verdict);
	return finish(&out, buf, err);
}

int plan_refused_json(const char *why, struct buf *buf, struct err *err)
{
	struct js_out out;
	js_out_start(&out, buf, 2);
	js_out_object(&out);
	put_text(&out, "schema", schema);
	put_text(&out, "kind", "flink");
	put_text(&out, "refused", why);
	return finish(&out, buf, err);
}
