/* SPDX-License-Identifier: Apache-2.0 */
/* One window of the fleet, as the live stream would show it first: for scripts, and for `bankfull fleet`. */
#include "collector/api_parts.h"
#include "collector/fleet_row.h"

bool api_has_text(const struct api_call *call, const struct fleet_pod *pod)
{
	const struct api_query *q = &call->query;
	return (!q->q || view_has_text(pod, q->q)) && (!q->engine || view_is_engine(pod->engine, q->engine));
}

/* What would not fit is longer than any that there is. */
static bool take(char *dest, size_t cap, const char *value)
{
	if (value && strlen(value) >= cap)
		return false;
	if (value)
		str_copy(dest, cap, str_of(value));
	return true;
}

static bool query_of(const struct api_query *q, struct view_query *ret_query)
{
	*ret_query = q->view;
	struct view_filter *filter = &ret_query->filter;
	filter->least = q->least;
	filter->has_role = q->filter.has_role;
	filter->role = q->filter.role;
	return take(filter->cluster, sizeof filter->cluster, q->filter.cluster) &&
	       take(filter->namespace_, sizeof filter->namespace_, q->filter.namespace_) &&
	       take(filter->workload, sizeof filter->workload, q->filter.workload) &&
	       take(filter->job, sizeof filter->job, q->filter.job) &&
	       take(filter->engine, sizeof filter->engine, q->engine) && take(filter->q, sizeof filter->q, q->q);
}

/* Large: not on the stack. */
struct work {
	struct fleet_index index;
	struct view_scratch scratch;
	struct view_window window;
	struct view_facets facets;
};

static void put_frame(struct api_call *call, const struct view_query *query, struct work *work)
{
	const struct row_context context = { call->api->silences, call->now };
	struct js_out *out = &call->out;
	struct view_summary summary;
	js_out_object(out);
	js_out_key(out, "type");
	js_out_text(out, "fleet");
	api_put_wall(out, "at_ms", call->now);
	api_put_u64(out, "total", work->window.total);
	api_put_u64(out, "matching", work->window.matching);
	fleet_view_summary(&work->index, &call->viewer, &summary);
	fleet_put_summary(out, &summary);
	api_put_u64(out, "from", query->from);
	js_out_key(out, "rows");
	js_out_array(out);
	for (size_t i = 0; i < work->window.n; i++) {
		int64_t age_ms = call->now.ms - work->window.rows[i].pod->pod->heard.ms;
		js_out_object(out);
		fleet_put_row(out, &context, query->kind, &work->window.rows[i]);
		api_put_u64(out, "age_ms", age_ms > 0 ? (uint64_t)age_ms : 0);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	fleet_view_facets(&work->index, &call->viewer, &work->facets);
	fleet_put_facets(out, &work->facets);
	js_out_object_end(out);
	api_end(call);
}

void api_fleet(struct api_call *call)
{
	struct view_query query;
	struct err err;
	if (!query_of(&call->query, &query)) {
		api_error(call->reply, 400, "bad-parameter", "a value is longer than any that there is");
		return;
	}
	struct work *work = calloc(1, sizeof *work);
	int rc = work ? 0 : err_set(&err, ERR_NOMEM, "no memory for a view of the fleet");
	if (work)
		fleet_index_init(&work->index, call->api->fleet);
	if (rc == 0)
		rc = fleet_index_refresh(&work->index, call->now, &err);
	if (rc == 0)
		rc = fleet_view(&work->index, &query, &call->viewer, &work->scratch, &work->window, &err);
	if (rc == 0)
		put_frame(call, &query, work);
	else
		api_failed(call->reply, &err);
	if (work) {
		fleet_index_done(&work->index);
		view_scratch_done(&work->scratch);
	}
	free(work);
}
