/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/api_parts.h"
#include "collector/fleet_sum.h"
#include "wire/put.h"

static struct subject_view view_of(const struct fleet_workload *workload)
{
	return (struct subject_view){ .cluster = workload->cluster,
				      .namespace_ = workload->namespace_,
				      .workload = workload->name };
}

static void put_sum(struct js_out *out, const char *key, struct qty sum, uint64_t of_pods)
{
	js_out_key(out, key);
	js_out_object(out);
	put_qty(out, "bytes", sum);
	api_put_u64(out, "of_pods", of_pods);
	js_out_object_end(out);
}

static void put_workload(struct js_out *out, const struct fleet_workload *workload, const struct fleet_sum *sum)
{
	struct subject_view view = view_of(workload);
	js_out_object(out);
	api_put_workload_id(out, "id", &view);
	put_text(out, "cluster", workload->cluster);
	put_text(out, "namespace", workload->namespace_);
	put_text(out, "workload", workload->name);
	js_out_key(out, "roles");
	js_out_array(out);
	for (unsigned i = 0; i < ROLE_COUNT; i++)
		if (sum->roles >> i & 1)
			js_out_text(out, wire_role_names[i]);
	js_out_array_end(out);
	api_put_u64(out, "pods", sum->pods);
	api_put_u64(out, "pods_connected", sum->connected);
	put_sum(out, "limit", sum->limit_bytes, sum->limit_pods);
	put_sum(out, "charge", sum->charge_bytes, sum->charge_pods);
	put_sum(out, "floor", sum->floor_bytes, sum->floor_pods);
	put_signed(out, "worst_freeboard_bytes", sum->worst_freeboard_bytes);
	put_signed(out, "worst_freeboard_bp", sum->worst_freeboard_bp);
	if (sum->worst_pod)
		api_put_id(out, "worst_pod", sum->worst_pod->agent);
	else
		put_text(out, "worst_pod", NULL);
	put_text(out, "severity", sum->worst == SEVERITY_NONE ? NULL : severity_names[sum->worst]);
	js_out_key(out, "findings");
	js_out_object(out);
	for (unsigned i = SEVERITY_INFO; i < SEVERITY_COUNT; i++)
		api_put_u64(out, severity_names[i], sum->findings[i]);
	js_out_object_end(out);
	api_put_wall(out, "last_postmortem_ms", sum->last_postmortem);
	js_out_object_end(out);
}

void api_put_workload(struct js_out *out, const struct fleet_workload *workload)
{
	struct fleet_sum sum;
	fleet_sum(workload, &sum);
	put_workload(out, workload, &sum);
}

/* The severity asked for, and that one of its pods matches: a filter by node shows the workloads on that node. */
static bool workload_matches(const struct api_call *call, const struct fleet_workload *workload,
			     const struct fleet_sum *sum)
{
	if (!auth_sees(&call->viewer, workload->namespace_) || sum->worst < call->query.least)
		return false;
	for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next)
		if (subject_matches(&call->query.filter, &pod->subject) && api_has_text(call, pod))
			return true;
	return false;
}

/* Where the page begins: behind the workload that the cursor names, whether or not it is still there. */
static bool workload_start(const struct api_call *call, size_t *ret_at)
{
	char cluster[64], namespace_[64], name[WIRE_NAME_CAP];
	bool there;
	*ret_at = 0;
	if (!call->query.cursor)
		return true;
	if (!api_workload_parse(str_of(call->query.cursor), cluster, namespace_, name))
		return false;
	*ret_at = fleet_workload_at(call->api->fleet, cluster, namespace_, name, &there);
	*ret_at += there;
	return true;
}

void api_workloads(struct api_call *call)
{
	const struct fleet_workload *const *workloads, *last = NULL;
	size_t n = fleet_workloads(call->api->fleet, &workloads), shown = 0, i;
	auto_buf struct buf next = { .cap = API_CURSOR_CAP };
	if (!workload_start(call, &i)) {
		api_error(call->reply, 400, "bad-parameter", "cursor: none of ours");
		return;
	}
	api_list_start(call);
	for (; i < n; i++) {
		struct fleet_sum sum;
		fleet_sum(workloads[i], &sum);
		if (!workload_matches(call, workloads[i], &sum))
			continue;
		if (shown == call->query.limit) {
			(void)api_workload_id(&next, last->cluster, last->namespace_, last->name);
			break;
		}
		put_workload(&call->out, workloads[i], &sum);
		last = workloads[i];
		shown++;
	}
	api_list_end(call, next.len ? next.ptr : NULL);
}

bool api_find_workload(struct api_call *call, struct str id, struct api_named_workload *ret_named)
{
	struct api_named_workload *named = ret_named;
	const struct fleet_workload *const *workloads;
	bool there;
	if (!api_workload_parse(id, named->cluster, named->namespace_, named->name) ||
	    !auth_sees(&call->viewer, named->namespace_)) {
		api_not_found(call);
		return false;
	}
	(void)fleet_workloads(call->api->fleet, &workloads);
	size_t at = fleet_workload_at(call->api->fleet, named->cluster, named->namespace_, named->name, &there);
	named->present = there ? workloads[at] : NULL;
	return true;
}

void api_workload(struct api_call *call, struct str id)
{
	struct api_named_workload named;
	if (!api_find_workload(call, id, &named))
		return;
	if (!named.present) {
		api_not_found(call);
		return;
	}
	api_put_workload(&call->out, named.present);
	api_end(call);
}
