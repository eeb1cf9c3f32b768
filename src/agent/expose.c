/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/expose.h"

#include "agent/expose_parts.h"

void expose_qty(struct prom_out *out, const char *name, const char *help, struct qty qty)
{
	if (qty_known(qty))
		prom_out_gauge(out, name, help, qty.bytes);
}

void expose_signed(struct prom_out *out, const char *name, const char *help, struct signed_qty qty)
{
	if (!qty.known)
		return;
	prom_out_family(out, name, PROM_GAUGE, help);
	prom_out_i64(out, qty.bytes);
}

static void put_room(struct prom_out *out, const struct expose_input *in)
{
	const struct ledger *ledger = in->ledger;
	if (ledger->limit.kind == LIMIT_SET)
		prom_out_gauge(out, "bankfull_limit_bytes", "Memory limit of the container.", ledger->limit.bytes);
	expose_qty(out, "bankfull_charge_bytes", "memory.current of the container.", ledger->charge_bytes);
	expose_qty(out, "bankfull_floor_bytes", "What the kernel cannot reclaim.", ledger->floor_bytes);
	expose_signed(out, "bankfull_freeboard_bytes", "Limit less floor: the head-room.", ledger->freeboard_bytes);
	expose_signed(out, "bankfull_throttle_room_bytes", "memory.high less charge.", ledger->throttle_room_bytes);
	expose_qty(out, "bankfull_swap_bytes", "Swap in use by the container.",
		   in->snapshot->cgroup.swap_current_bytes);
	expose_qty(out, "bankfull_expected_demand_bytes", "What the JVM may come to need as it is configured and used.",
		   ledger->expected.bytes);
	expose_qty(out, "bankfull_legal_demand_bytes", "Sum of all bounds: what it is allowed to take.",
		   ledger->legal.bytes);
	expose_qty(out, "bankfull_host_available_bytes", "MemAvailable of the host.",
		   in->snapshot->host_available_bytes);
}

static void put_groups(struct prom_out *out, const struct expose_input *in)
{
	struct signed_qty grown[GROUP_COUNT];
	aged_grown(in->mark, in->ledger, grown);
	prom_out_family(out, "bankfull_group_bytes", PROM_GAUGE, "Charge by the kernel's own counters.");
	for (int i = 0; i < GROUP_COUNT; i++) {
		if (!qty_known(in->ledger->groups[i].counter_bytes))
			continue;
		prom_out_label(out, "group", ledger_group_names[i]);
		prom_out_u64(out, in->ledger->groups[i].counter_bytes.bytes);
	}
	prom_out_family(out, "bankfull_group_growth_bytes", PROM_GAUGE, "Change of the group since the last scan.");
	for (int i = 0; i < GROUP_COUNT; i++) {
		if (!grown[i].known)
			continue;
		prom_out_label(out, "group", ledger_group_names[i]);
		prom_out_i64(out, grown[i].bytes);
	}
}

/* One family of one figure of each line. */
static void put_lines(struct prom_out *out, const struct ledger *ledger, const char *name, const char *help,
		      struct qty (*figure)(const struct ledger_line *line))
{
	prom_out_family(out, name, PROM_GAUGE, help);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		struct qty qty = figure(&ledger->lines[owner]);
		if (!ledger->listed[owner] || !qty_known(qty))
			continue;
		prom_out_label(out, "owner", owner_table[owner].name);
		prom_out_label(out, "group", ledger_group_names[owner_table[owner].group]);
		prom_out_u64(out, qty.bytes);
	}
}

static struct qty resident(const struct ledger_line *line)
{
	return line->bytes;
}

static struct qty bound(const struct ledger_line *line)
{
	return line->bound.kind == LIMIT_SET ? qty_measured(line->bound.bytes) : (struct qty){ 0 };
}

static struct qty claim(const struct ledger_line *line)
{
	return line->claim_bytes;
}

static void put_composition(struct prom_out *out, const struct expose_input *in)
{
	const struct ledger *ledger = in->ledger;
	if (!in->mark->known)
		return;
	put_lines(out, ledger, "bankfull_owner_resident_bytes",
		  "Resident or charged bytes of each owner, at the last scan.", resident);
	put_lines(out, ledger, "bankfull_owner_bound_bytes", "What the owner can grow to.", bound);
	put_lines(out, ledger, "bankfull_owner_claim_bytes", "What engine or JVM says of the owner.", claim);
	prom_out_family(out, "bankfull_composition_age_seconds", PROM_GAUGE, "Age of the scan that the owners are of.");
	prom_out_parts(out, in->snapshot->age_ms, 1000);
	expose_signed(out, "bankfull_residual_bytes", "Charge less all owners; signed.", ledger->residual_bytes);
	prom_out_family(out, "bankfull_budget_bytes", PROM_GAUGE, "What configuration set aside.");
	for (size_t i = 0; i < ledger->n_budgets; i++) {
		prom_out_label(out, "budget", ledger->budgets[i].name);
		prom_out_u64(out, ledger->budgets[i].budget_bytes);
	}
	prom_out_family(out, "bankfull_budget_used_bytes", PROM_GAUGE,
			"Resident bytes of those who live on the budget.");
	for (size_t i = 0; i < ledger->n_budgets; i++) {
		if (!qty_known(ledger->budgets[i].actual_bytes))
			continue;
		prom_out_label(out, "budget", ledger->budgets[i].name);
		prom_out_u64(out, ledger->budgets[i].actual_bytes.bytes);
	}
}

static void put_forecast(struct prom_out *out, const struct forecast *forecast)
{
	const struct {
		const char *bound;
		uint64_t seconds;
	} bounds[] = { { "earliest", forecast->earliest_s },
		       { "likely", forecast->likely_s },
		       { "latest", forecast->latest_s } };
	prom_out_family(out, "bankfull_forecast_seconds", PROM_GAUGE,
			"Time until the limit is reached; absent where it is not within a month.");
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		if (forecast->kind != FORECAST_REACHES || bounds[i].seconds == FORECAST_NEVER)
			continue;
		prom_out_label(out, "bound", bounds[i].bound);
		prom_out_u64(out, bounds[i].seconds);
	}
}

static void put_findings_of(struct prom_out *out, const struct expose_input *in, bool silenced)
{
	for (size_t i = 0; i < rule_count; i++) {
		if (!in->standings->of[i].open ||
		    (silence_find(in->silences, rule_table[i].name, in->now) != NULL) != silenced)
			continue;
		prom_out_label(out, "rule", rule_table[i].name);
		prom_out_label(out, "severity", severity_names[in->standings->of[i].open]);
		prom_out_u64(out, 1);
	}
}

static void put_findings(struct prom_out *out, const struct expose_input *in)
{
	prom_out_family(out, "bankfull_finding_open", PROM_GAUGE, "1 for each finding that is open and not silenced.");
	put_findings_of(out, in, false);
	prom_out_family(out, "bankfull_finding_silenced", PROM_GAUGE,
			"1 for each finding that is open and that somebody silenced at the collector.");
	put_findings_of(out, in, true);
}

static void put_kernel(struct prom_out *out, const struct cgroup_memory *cg)
{
	const struct {
		const char *event;
		struct count n;
	} events[] = { { "low", cg->events.low },           { "high", cg->events.high },
		       { "max", cg->events.max },           { "oom", cg->events.oom },
		       { "oom_kill", cg->events.oom_kill }, { "oom_group_kill", cg->events.oom_group_kill } };
	prom_out_family(out, "bankfull_memory_events_total", PROM_COUNTER, "memory.events of the container.");
	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
		if (!events[i].n.known)
			continue;
		prom_out_label(out, "event", events[i].event);
		prom_out_u64(out, events[i].n.n);
	}
	const struct cgroup_pressure_line *lines[] = { &cg->pressure.some, &cg->pressure.full };
	prom_out_family(out, "bankfull_memory_pressure_ratio", PROM_GAUGE,
			"Share of the last 10 s that some or all tasks of the container waited for memory.");
	for (size_t i = 0; i < 2; i++) {
		if (!lines[i]->known)
			continue;
		prom_out_label(out, "kind", i ? "full" : "some");
		prom_out_parts(out, lines[i]->avg10_bp, 10000);
	}
	if (cg->stat.workingset_refault_file.known)
		prom_out_counter(out, "bankfull_refaults_file_total",
				 "Pages of files read again soon after they were dropped.",
				 cg->stat.workingset_refault_file.n);
}

static void put_switch(struct prom_out *out, const char *doing, enum tristate state)
{
	if (state == TRISTATE_UNREAD)
		return;
	prom_out_label(out, "doing", doing);
	prom_out_u64(out, state == TRISTATE_TRUE);
}

static void put_context(struct prom_out *out, const struct engine_context *context)
{
	prom_out_family(out, "bankfull_engine_doing", PROM_GAUGE, "1 while the engine does this.");
	put_switch(out, "checkpoint", context->checkpointing);
	put_switch(out, "restore", context->restoring);
	put_switch(out, "rebalance", context->rebalancing);
	const struct {
		const char *kind;
		struct count bp;
	} shares[] = { { "backpressured", context->backpressured_bp }, { "busy", context->busy_bp } };
	prom_out_family(out, "bankfull_engine_time_ratio", PROM_GAUGE, "Share of time, the highest of all tasks.");
	for (size_t i = 0; i < 2; i++) {
		if (!shares[i].bp.known)
			continue;
		prom_out_label(out, "kind", shares[i].kind);
		prom_out_parts(out, (int64_t)(shares[i].bp.n & INT64_MAX), 10000);
	}
	if (context->records_lag_max.known)
		prom_out_gauge(out, "bankfull_engine_records_lag_max", "Records a consumer is behind, the most of all.",
			       context->records_lag_max.n);
	if (context->restarts.known)
		prom_out_counter(out, "bankfull_engine_restarts_total",
				 "Restarts of the job, as the engine counts them.", context->restarts.n);
}

static void put_target(struct prom_out *out, const struct expose_input *in)
{
	const struct snapshot *s = in->snapshot;
	prom_out_gauge(out, "bankfull_target_up", "1 while there is a JVM to watch.", s != NULL);
	if (!s)
		return;
	prom_out_family(out, "bankfull_target_info", PROM_GAUGE, "What is watched.");
	prom_out_label(out, "engine", engine_names[s->engine.kind]);
	prom_out_label(out, "engine_version", s->engine.version);
	prom_out_label(out, "jdk", s->jdk);
	prom_out_label(out, "gc", jvm_gc_names[s->gc]);
	prom_out_label(out, "access", access_level_names[s->access]);
	prom_out_u64(out, 1);
	put_room(out, in);
	put_groups(out, in);
	put_composition(out, in);
	if (in->history)
		put_forecast(out, &in->history->forecast);
	put_kernel(out, &s->cgroup);
	put_context(out, &s->engine.context);
}

bool expose_metrics(const struct expose_input *input, struct buf *out)
{
	struct prom_out prom;
	prom_out_start(&prom, out);
	put_target(&prom, input);
	put_findings(&prom, input);
	expose_self(&prom, input);
	return !buf_failed(out);
}
