/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/err.h"
#include "cli/report.h"
#include "cli/report_read.h"
#include "wire/put.h"
#include "wire/put_finding.h"

static void put_target(struct js_out *out, const struct snapshot *s)
{
	js_out_key(out, "target");
	js_out_object(out);
	js_out_key(out, "pid");
	js_out_i64(out, s->process.pid);
	put_text(out, "container_id", s->container_id);
	put_text(out, "engine", engine_names[s->engine.kind]);
	put_text(out, "engine_version", s->engine.version);
	put_text(out, "jdk", s->jdk);
	put_text(out, "gc", s->gc == GC_UNKNOWN ? NULL : jvm_gc_names[s->gc]);
	put_text(out, "heap_origin",
		 s->flags.heap_origin == HEAP_ORIGIN_UNREAD ? NULL : heap_origin_names[s->flags.heap_origin]);
	put_text(out, "allocator", s->allocator == ALLOCATOR_UNKNOWN ? NULL : allocator_names[s->allocator]);
	js_out_key(out, "malloc_arena_max");
	if (s->malloc_arena_max.known)
		js_out_u64(out, s->malloc_arena_max.n);
	else
		js_out_null(out);
	put_text(out, "state_backend",
		 s->engine.backend == BACKEND_UNKNOWN ? NULL : state_backend_names[s->engine.backend]);
	put_text(out, "kernel", s->kernel);
	js_out_object_end(out);
}

static void put_charge(struct js_out *out, const struct snapshot *s)
{
	js_out_key(out, "charge");
	js_out_object(out);
	put_qty(out, "current_bytes", s->cgroup.current_bytes);
	put_qty(out, "peak_bytes", s->cgroup.peak_bytes);
	put_qty(out, "anon_bytes", s->cgroup.stat.anon_bytes);
	put_qty(out, "file_bytes", s->cgroup.stat.file_bytes);
	put_qty(out, "shmem_bytes", s->cgroup.stat.shmem_bytes);
	put_qty(out, "kernel_bytes", s->cgroup.stat.kernel_bytes);
	put_qty(out, "sock_bytes", s->cgroup.stat.sock_bytes);
	put_qty(out, "swap_bytes", s->cgroup.swap_current_bytes);
	js_out_object_end(out);
}

static void put_line(struct js_out *out, const struct ledger_line *line)
{
	const struct owner_info *info = &owner_table[line->owner];
	js_out_object(out);
	put_text(out, "owner", info->name);
	put_text(out, "group", ledger_group_names[info->group]);
	put_qty(out, "bytes", line->bytes);
	put_text(out, "state", qty_state_names[line->bytes.state]);
	put_text(out, "source", line->source);
	js_out_key(out, "age_ms");
	js_out_u64(out, line->age_ms);
	put_qty(out, "budget_bytes", line->budget_bytes);
	put_limit(out, "bound_bytes", line->bound);
	js_out_key(out, "unbounded");
	js_out_bool(out, line->bound.kind == LIMIT_NONE);
	put_qty(out, "claim_bytes", line->claim_bytes);
	put_text(out, "note", line->note);
	js_out_object_end(out);
}

static void put_ledger(struct js_out *out, const struct ledger *ledger)
{
	js_out_key(out, "ledger");
	js_out_array(out);
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (ledger->listed[owner])
			put_line(out, &ledger->lines[owner]);
	js_out_array_end(out);
	js_out_key(out, "groups");
	js_out_array(out);
	for (int group = 0; group < GROUP_COUNT; group++) {
		const struct ledger_group_sum *sum = &ledger->groups[group];
		if (!qty_known(sum->counter_bytes) && !qty_known(sum->owners_bytes))
			continue;
		js_out_object(out);
		put_text(out, "group", ledger_group_names[group]);
		put_qty(out, "counter_bytes", sum->counter_bytes);
		put_qty(out, "owners_bytes", sum->owners_bytes);
		bool both = qty_known(sum->counter_bytes) && qty_known(sum->owners_bytes);
		put_qty(out, "tolerance_bytes", qty_of(sum->tolerance_bytes, both ? QTY_DERIVED : QTY_UNREAD));
		js_out_key(out, "closed");
		if (both)
			js_out_bool(out, sum->closed);
		else
			js_out_null(out);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_budgets(struct js_out *out, const struct ledger *ledger)
{
	js_out_key(out, "budgets");
	js_out_array(out);
	for (size_t i = 0; i < ledger->n_budgets; i++) {
		const struct ledger_budget *budget = &ledger->budgets[i];
		js_out_object(out);
		put_text(out, "budget", budget->name);
		js_out_key(out, "budget_bytes");
		js_out_u64(out, budget->budget_bytes);
		put_qty(out, "actual_bytes", budget->actual_bytes);
		put_text(out, "enforced_by", budget->enforced_by);
		put_owner_names(out, budget->owners);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_demand(struct js_out *out, const char *key, const struct demand *demand)
{
	js_out_key(out, key);
	js_out_array(out);
	for (size_t i = 0; i < demand->n_parts; i++) {
		js_out_object(out);
		put_text(out, "what", demand->parts[i].what);
		put_qty(out, "bytes",
			qty_of(demand->parts[i].bytes, demand->parts[i].unread ? QTY_UNREAD : QTY_DERIVED));
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_figures(struct js_out *out, const struct ledger *ledger)
{
	put_signed(out, "stat_residual_bytes", ledger->stat_residual_bytes);
	js_out_key(out, "stat_tolerance_bytes");
	js_out_u64(out, ledger->stat_tolerance_bytes);
	js_out_key(out, "torn");
	js_out_bool(out, ledger->torn);
	put_signed(out, "residual_bytes", ledger->residual_bytes);
	put_qty(out, "native_pool_bytes", ledger->native_pool_bytes);
	put_signed(out, "pool_minus_claims_bytes", ledger->pool_minus_claims_bytes);
	put_qty(out, "floor_bytes", ledger->floor_bytes);
	put_signed(out, "freeboard_bytes", ledger->freeboard_bytes);
	put_text(out, "freeboard_level",
		 ledger->freeboard_level == FREEBOARD_UNREAD ? NULL : freeboard_level_names[ledger->freeboard_level]);
	put_signed(out, "throttle_room_bytes", ledger->throttle_room_bytes);
	put_qty(out, "swap_room_bytes", ledger->swap_room_bytes);
	put_qty(out, "expected_demand_bytes", ledger->expected.bytes);
	put_demand(out, "expected_demand_parts", &ledger->expected);
	put_qty(out, "legal_demand_bytes", ledger->legal.bytes);
	put_demand(out, "legal_demand_parts", &ledger->legal);
}

static void put_silenced(struct js_out *out, const struct verdict *verdict)
{
	js_out_key(out, "silenced");
	js_out_array(out);
	for (size_t i = 0; i < verdict->n_silenced; i++) {
		const struct silenced *s = &verdict->silenced[i];
		js_out_object(out);
		put_text(out, "rule", s->rule);
		put_text(out, "severity", severity_names[s->severity]);
		put_text(out, "title", s->title);
		put_text(out, "reason", s->reason);
		js_out_key(out, "until_ms");
		js_out_i64(out, s->until.ms);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_verdict(struct js_out *out, const struct verdict *verdict)
{
	put_text(out, "headline", verdict->headline);
	put_text(out, "worst", verdict->worst == SEVERITY_NONE ? NULL : severity_names[verdict->worst]);
	js_out_key(out, "findings");
	js_out_array(out);
	for (size_t i = 0; i < verdict->n_findings; i++)
		put_finding(out, &verdict->findings[i]);
	js_out_array_end(out);
	put_silenced(out, verdict);
	js_out_key(out, "inconclusive");
	js_out_array(out);
	for (size_t i = 0; i < verdict->n_inconclusive; i++) {
		const struct inconclusive *open = &verdict->inconclusive[i];
		js_out_object(out);
		put_text(out, "rule", open->rule);
		put_strings(out, "missing", open->missing[0], sizeof open->missing[0], open->n_missing);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_access(struct js_out *out, const struct snapshot *s)
{
	js_out_key(out, "access");
	js_out_object(out);
	put_text(out, "level", access_level_names[s->access]);
	put_text(out, "cgroup", cgroup_kind_names[s->cgroup.kind]);
	put_text(out, "machine_cgroup", s->machine_cgroup);
	js_out_key(out, "reasons");
	js_out_array(out);
	for (size_t i = 0; i < s->n_gaps; i++) {
		js_out_object(out);
		put_text(out, "what", s->gaps[i].what);
		put_text(out, "kind",
			 s->gaps[i].kind >= 0 && s->gaps[i].kind < ERR_KIND_COUNT ? err_kind_names[s->gaps[i].kind]
										  : NULL);
		put_text(out, "reason", s->gaps[i].reason);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	js_out_object_end(out);
}

int report_json(const struct snapshot *snapshot, const struct ledger *ledger, const struct verdict *verdict,
		struct buf *buf, struct err *err)
{
	static const char *const limit_states[] = { "unread", "none", "set" };
	struct js_out out;
	js_out_start(&out, buf, 2);
	js_out_object(&out);
	put_text(&out, "schema", "bankfull.report.v1");
	js_out_key(&out, "taken_ms");
	if (snapshot->taken.ms > 0)
		js_out_i64(&out, snapshot->taken.ms);
	else
		js_out_null(&out); /* a capture that does not tell */
	put_target(&out, snapshot);
	report_read_host(&out, snapshot);
	put_limit(&out, "limit_bytes", ledger->limit);
	put_text(&out, "limit_state", ledger->limit_told ? "told" : limit_states[ledger->limit.kind]);
	put_charge(&out, snapshot);
	report_read_tmpfs(&out, snapshot);
	report_read_engine(&out, snapshot);
	put_ledger(&out, ledger);
	put_budgets(&out, ledger);
	put_figures(&out, ledger);
	put_verdict(&out, verdict);
	put_access(&out, snapshot);
	js_out_object_end(&out);
	int rc = js_out_end(&out, err);
	if (rc == 0 && !buf_putc(buf, '\n'))
		rc = err_set(err, ERR_NOMEM, "no memory for the report");
	return rc;
}
