/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a workload, present and past, and which of them hold far more of an owner than the others do. */
#include <stdlib.h>

#include "base/auto.h"
#include "collector/api_parts.h"
#include "collector/outlier.h"
#include "wire/put.h"

enum {
	FRESH_MS = 10 * 60 * 1000, /* an older composition is no longer measured: ledger/aged.h */
	OUTLIERS_SHOWN = 10,
};

/* --- pods -------------------------------------------------------------------------------------------------------- */

struct members {
	struct api_call *call;
	struct api_named_workload of;
	size_t shown;
	int64_t last; /* that was shown */
	bool more;
};

static bool shows_another(struct members *members)
{
	members->more = members->shown == members->call->query.limit;
	members->shown += !members->more;
	return !members->more;
}

static bool put_past(void *context, const struct store_agent_row *row)
{
	struct members *members = context;
	struct js_out *out = &members->call->out;
	const struct api_query *q = &members->call->query;
	struct subject_view view;
	subject_view_of(&row->hello.subject, &view);
	if (strcmp(view.cluster, members->of.cluster) != 0 || strcmp(view.namespace_, members->of.namespace_) != 0 ||
	    (q->from.ms && row->last_seen.ms < q->from.ms) || (q->to.ms && row->first_seen.ms >= q->to.ms))
		return true;
	const struct fleet_pod *pod = fleet_find(members->call->api->fleet, row->agent);
	bool present = pod && pod->workload == members->of.present;
	if (!shows_another(members))
		return false;
	members->last = row->agent;
	js_out_object(out);
	if (present) {
		api_put_pod_members(out, pod, members->call->api->silences, members->call->now);
	} else {
		api_put_id(out, "id", row->agent);
		api_put_subject(out, &view);
	}
	api_put_wall(out, "first_seen_ms", row->first_seen);
	api_put_wall(out, "last_seen_ms", row->last_seen);
	api_put_bool(out, "present", present);
	js_out_object_end(out);
	return true;
}

static int newest_first(const void *a, const void *b)
{
	const struct fleet_pod *x = *(const struct fleet_pod *const *)a, *y = *(const struct fleet_pod *const *)b;
	return x->agent > y->agent ? -1 : x->agent < y->agent;
}

static int put_present(struct members *members, int64_t below, struct err *err)
{
	size_t n = 0;
	if (!members->of.present)
		return 0;
	auto_free const struct fleet_pod **pods = reallocarray(NULL, members->of.present->n_pods, sizeof *pods);
	if (!pods)
		return err_set(err, ERR_NOMEM, "no memory for the pods of a workload");
	for (const struct fleet_pod *pod = members->of.present->pods; pod; pod = pod->next)
		if (below == 0 || pod->agent < below)
			pods[n++] = pod;
	qsort(pods, n, sizeof(struct fleet_pod *), newest_first);
	for (size_t i = 0; i < n && shows_another(members); i++) {
		members->last = pods[i]->agent;
		js_out_object(&members->call->out);
		api_put_pod_members(&members->call->out, pods[i], members->call->api->silences, members->call->now);
		api_put_wall(&members->call->out, "first_seen_ms",
			     (struct wall){ 0 }); /* the store's: past=true asks it */
		api_put_wall(&members->call->out, "last_seen_ms", (struct wall){ 0 });
		api_put_bool(&members->call->out, "present", true);
		js_out_object_end(&members->call->out);
	}
	return 0;
}

/* Newest first, by the row of the agent: whoever comes or goes meanwhile moves no other. */
void api_workload_pods(struct api_call *call, struct str id)
{
	struct members members = { .call = call };
	int64_t below = 0;
	struct err err;
	if (!api_find_workload(call, id, &members.of))
		return;
	if (!api_cursor_row(call, &below))
		return;
	api_list_start(call);
	int rc = call->query.past
			 ? store_each_agent_of(call->api->store, members.of.name, below, put_past, &members, &err)
			 : put_present(&members, below, &err);
	if (rc < 0) {
		api_failed(call->reply, &err);
		return;
	}
	api_list_end_row(call, members.more ? members.last : 0);
}

/* --- owners ------------------------------------------------------------------------------------------------------ */

static bool is_fresh(const struct fleet_pod *pod, struct wall now)
{
	return pod->sessions > 0 && pod->composition.known && now.ms - pod->composition.taken.ms <= FRESH_MS;
}

static void put_holder(struct api_call *call, const struct holding *holding, uint64_t median)
{
	const struct fleet_pod *pod = fleet_find(call->api->fleet, holding->agent);
	struct count times = { 0 };
	times.known = outliers_times_bp(holding->bytes, median, &times.n);
	js_out_object(&call->out);
	api_put_id(&call->out, "pod", holding->agent);
	put_text(&call->out, "pod_name", pod ? pod->subject.pod : NULL);
	api_put_u64(&call->out, "bytes", holding->bytes);
	put_count(&call->out, "times_median_bp", times);
	js_out_object_end(&call->out);
}

static void put_owner(struct api_call *call, enum wire_role role, enum owner owner, struct holding *holdings, size_t n)
{
	struct js_out *out = &call->out;
	struct outliers found;
	outliers_find(holdings, n, &found);
	js_out_object(out);
	put_text(out, "owner", owner_table[owner].name);
	put_text(out, "group", ledger_group_names[owner_table[owner].group]);
	put_text(out, "role", wire_role_names[role]);
	api_put_u64(out, "pods", n);
	api_put_u64(out, "median_bytes", found.median_bytes);
	api_put_u64(out, "max_bytes", holdings[n - 1].bytes);
	api_put_id(out, "max_pod", holdings[n - 1].agent);
	api_put_u64(out, "outliers_in_all", n - found.first);
	js_out_key(out, "outliers");
	js_out_array(out);
	for (size_t i = n; i > found.first && n - i < OUTLIERS_SHOWN; i--)
		put_holder(call, &holdings[i - 1], found.median_bytes);
	js_out_array_end(out);
	js_out_object_end(out);
}

/* Of one role: a JobManager's heap says nothing of a TaskManager's. */
static void put_role(struct api_call *call, const struct fleet_workload *workload, enum wire_role role,
		     struct holding *holdings)
{
	for (unsigned owner = 0; owner < OWNER_COUNT; owner++) {
		size_t n = 0;
		for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next) {
			struct qty bytes = fleet_owner(&pod->composition, (enum owner)owner);
			if (pod->subject.role == role && is_fresh(pod, call->now) && qty_known(bytes))
				holdings[n++] = (struct holding){ pod->agent, bytes.bytes };
		}
		if (n > 0)
			put_owner(call, role, (enum owner)owner, holdings, n);
	}
}

void api_workload_owners(struct api_call *call, struct str id)
{
	struct api_named_workload named;
	struct js_out *out = &call->out;
	size_t fresh = 0, n = 0;
	unsigned roles = 0;
	if (!api_find_workload(call, id, &named))
		return;
	const struct fleet_workload *workload = named.present;
	if (!workload) {
		api_not_found(call);
		return;
	}
	auto_free struct holding *holdings = reallocarray(NULL, workload->n_pods, sizeof *holdings);
	if (!holdings) {
		struct err err;
		(void)err_set(&err, ERR_NOMEM, "no memory for the owners of a workload");
		api_failed(call->reply, &err);
		return;
	}
	for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next, n++) {
		roles |= 1U << pod->subject.role;
		fresh += is_fresh(pod, call->now);
	}
	js_out_object(out);
	api_put_u64(out, "pods", n);
	api_put_u64(out, "pods_counted", fresh);
	js_out_key(out, "owners");
	js_out_array(out);
	for (unsigned role = 0; role < ROLE_COUNT; role++)
		if (roles >> role & 1)
			put_role(call, workload, (enum wire_role)role, holdings);
	js_out_array_end(out);
	js_out_object_end(out);
	api_end(call);
}
