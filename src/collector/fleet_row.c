/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_row.h"

#include "collector/api_parts.h"
#include "collector/fleet_sum.h"
#include "wire/put.h"

/* --- findings ---------------------------------------------------------------------------------------------------- */

struct worst {
	const struct fleet_pod *pod;
	const struct fleet_finding *finding; /* NULL: there is none */
	uint64_t n;
};

/* The worst, and of equals the oldest: it does not change its place while others come and go. */
static void add_findings(struct worst *worst, const struct fleet_pod *pod)
{
	if (fleet_is_over(pod))
		return;
	worst->n += pod->findings.n + pod->findings.left_out;
	for (size_t i = 0; i < pod->findings.n; i++) {
		const struct fleet_finding *finding = &pod->findings.items[i], *so_far = worst->finding;
		if (so_far && (finding->severity < so_far->severity ||
			       (finding->severity == so_far->severity && finding->opened.ms >= so_far->opened.ms)))
			continue;
		worst->pod = pod;
		worst->finding = finding;
	}
}

static void put_worst(struct js_out *out, const struct row_context *context, const struct worst *worst)
{
	const struct fleet_finding *finding = worst->finding;
	put_text(out, "severity", finding ? severity_names[finding->severity] : NULL);
	api_put_u64(out, "findings", worst->n);
	js_out_key(out, "finding");
	if (!finding) {
		js_out_null(out);
		api_put_bool(out, "silenced", false);
		return;
	}
	js_out_object(out);
	api_put_finding_id(out, "id", worst->pod->agent, finding->id);
	put_text(out, "title", finding->title);
	put_text(out, "rule", finding->rule);
	js_out_object_end(out);
	api_put_bool(out, "silenced",
		     context->silences && silences_on(context->silences, &worst->pod->subject, finding->rule,
						      finding->severity, context->now));
}

/* --- figures ----------------------------------------------------------------------------------------------------- */

static int largest_owner(const struct fleet_composition *composition, uint64_t *ret_bytes)
{
	int largest = -1;
	*ret_bytes = 0;
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		struct qty qty = fleet_owner(composition, (enum owner)i);
		if (!qty_known(qty) || (largest >= 0 && qty.bytes <= *ret_bytes))
			continue;
		largest = (int)i;
		*ret_bytes = qty.bytes;
	}
	return largest;
}

static void put_figures(struct js_out *out, const struct fleet_pod *pod, struct wall now)
{
	const struct fleet_latest *latest = &pod->latest;
	uint64_t owner_bytes;
	char spark[SPARK_MINUTES + 1];
	int owner = largest_owner(&pod->composition, &owner_bytes);
	put_limit(out, "limit", latest->limit);
	api_put_bool(out, "no_limit", latest->limit.kind == LIMIT_NONE);
	put_qty(out, "charge", latest->charge_bytes);
	put_qty(out, "floor", latest->floor_bytes);
	put_signed(out, "freeboard", latest->freeboard_bytes);
	put_signed(out, "freeboard_bp", fleet_freeboard_bp(latest));
	put_text(out, "level",
		 latest->freeboard_level == FREEBOARD_UNREAD ? NULL : freeboard_level_names[latest->freeboard_level]);
	put_text(out, "forecast", latest->forecast.kind[0] ? latest->forecast.kind : NULL);
	put_count(out, "likely_s", latest->forecast.likely_s);
	put_count(out, "earliest_s", latest->forecast.earliest_s);
	put_count(out, "latest_s", latest->forecast.latest_s);
	api_put_owner(out, "grows", latest->forecast.kind[0] ? latest->forecast.owner : -1);
	api_put_owner(out, "owner", owner);
	put_qty(out, "owner_bytes", owner < 0 ? (struct qty){ 0 } : qty_measured(owner_bytes));
	api_put_bool(out, "urgent", latest->urgent);
	spark_text(&pod->spark, now, spark);
	put_text(out, "spark", spark);
}

static void put_versions(struct js_out *out, const struct fleet_pod *pod)
{
	put_text(out, "role", wire_role_names[pod->subject.role]);
	put_texts(out, "jobs", pod->subject.jobs, pod->subject.n_jobs);
	put_text(out, "engine", pod->engine);
	put_text(out, "agent_version", pod->program);
	put_text(out, "jdk", pod->jdk);
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void put_pod(struct js_out *out, const struct row_context *context, const struct index_pod *entry)
{
	const struct fleet_pod *pod = entry->pod;
	struct worst worst = { 0 };
	add_findings(&worst, pod);
	api_put_id(out, "id", pod->agent);
	put_text(out, "pod", pod->subject.pod);
	put_text(out, "workload", pod->subject.workload);
	api_put_workload_id(out, "workload_id", &pod->subject);
	put_text(out, "namespace", pod->subject.namespace_);
	put_text(out, "cluster", pod->subject.cluster);
	put_text(out, "node", pod->subject.node);
	api_put_bool(out, "asserted", pod->subject.asserted);
	put_versions(out, pod);
	put_text(out, "state", pod_state_names[entry->state]);
	put_worst(out, context, &worst);
	put_figures(out, pod, context->now);
}

/* How many different versions of the agent; past what is told apart here it is that many. */
static uint64_t versions_of(const struct fleet_workload *workload)
{
	const char *seen[8];
	size_t n = 0;
	for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next) {
		size_t i = 0;
		while (i < n && seen[i] != pod->program)
			i++;
		if (i == n && n < sizeof seen / sizeof seen[0] && pod->program)
			seen[n++] = pod->program;
	}
	return n;
}

static void put_workload(struct js_out *out, const struct row_context *context, const struct view_row *row)
{
	const struct index_workload *entry = row->workload;
	const struct fleet_workload *workload = entry->workload;
	const struct subject_view view = { .cluster = workload->cluster,
					   .namespace_ = workload->namespace_,
					   .workload = workload->name };
	struct worst worst = { 0 };
	struct wall last_postmortem = { 0 };
	for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next) {
		add_findings(&worst, pod);
		if (pod->last_postmortem.ms > last_postmortem.ms)
			last_postmortem = pod->last_postmortem;
	}
	api_put_workload_id(out, "id", &view);
	put_text(out, "workload", workload->name);
	put_text(out, "namespace", workload->namespace_);
	put_text(out, "cluster", workload->cluster);
	put_versions(out, row->pod->pod);
	put_text(out, "state", pod_state_names[row->pod->state]);
	put_worst(out, context, &worst);
	put_figures(out, row->pod->pod, context->now);
	api_put_u64(out, "pods", entry->n);
	api_put_u64(out, "connected", entry->by_state[POD_CONNECTED]);
	api_put_u64(out, "stale", entry->by_state[POD_STALE]);
	api_put_u64(out, "versions", versions_of(workload));
	api_put_id(out, "worst_pod", row->pod->pod->agent);
	put_text(out, "worst_pod_name", row->pod->pod->subject.pod);
	api_put_wall(out, "last_postmortem_ms", last_postmortem);
}

void fleet_put_row(struct js_out *out, const struct row_context *context, enum view_kind kind,
		   const struct view_row *row)
{
	if (kind == VIEW_PODS)
		put_pod(out, context, row->pod);
	else
		put_workload(out, context, row);
}

/* --- above and beside them --------------------------------------------------------------------------------------- */

void fleet_put_summary(struct js_out *out, const struct view_summary *summary)
{
	js_out_key(out, "summary");
	js_out_object(out);
	api_put_u64(out, "pods", summary->pods);
	for (unsigned i = 0; i < POD_STATE_COUNT; i++)
		api_put_u64(out, pod_state_names[i], summary->by_state[i]);
	for (unsigned i = SEVERITY_CRITICAL; i >= SEVERITY_NOTICE; i--)
		api_put_u64(out, severity_names[i], summary->by_severity[i]);
	api_put_u64(out, "workloads", summary->workloads);
	js_out_object_end(out);
}

void fleet_put_facets(struct js_out *out, const struct view_facets *facets)
{
	js_out_key(out, "facets");
	js_out_object(out);
	put_texts(out, "cluster", facets->clusters, facets->n_clusters);
	put_texts(out, "namespace", facets->namespaces, facets->n_namespaces);
	put_texts(out, "engine", facets->engines, facets->n_engines);
	js_out_object_end(out);
}
