/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/api_parts.h"
#include "collector/fleet_sum.h"

static bool pod_matches(const struct api_call *call, const struct fleet_pod *pod)
{
	const struct api_query *q = &call->query;
	return api_sees(call, &pod->subject) && api_has_text(call, pod) &&
	       (!q->has_connected || q->connected == (pod->sessions > 0)) &&
	       (q->least == SEVERITY_NONE || fleet_worst(&pod->findings) >= q->least);
}

void api_pods(struct api_call *call)
{
	const struct fleet_pod *const *pods;
	size_t n = fleet_pods(call->api->fleet, &pods), shown = 0;
	int64_t after = 0, next = 0;
	if (!api_cursor_row(call, &after))
		return;
	api_list_start(call);
	for (size_t i = fleet_after(call->api->fleet, after); i < n; i++) {
		if (!pod_matches(call, pods[i]))
			continue;
		if (shown == call->query.limit) {
			next = after;
			break;
		}
		api_put_pod(&call->out, pods[i], call->api->silences, call->now);
		after = pods[i]->agent;
		shown++;
	}
	api_list_end_row(call, next);
}

/* One that is in the fleet, or NULL and 404. */
static const struct fleet_pod *find_pod(struct api_call *call, struct str id)
{
	int64_t agent;
	const struct fleet_pod *pod = api_row(id, &agent) ? fleet_find(call->api->fleet, agent) : NULL;
	if (pod && auth_sees(&call->viewer, pod->subject.namespace_))
		return pod;
	api_not_found(call);
	return NULL;
}

bool api_find_agent(struct api_call *call, struct str id, int64_t *ret_agent)
{
	struct store_agent_row row;
	struct err err;
	int64_t agent = 0;
	bool seen = false, failed = false;
	const struct fleet_pod *pod = api_row(id, &agent) ? fleet_find(call->api->fleet, agent) : NULL;
	if (pod) {
		seen = auth_sees(&call->viewer, pod->subject.namespace_);
	} else if (agent) {
		int rc = store_agent_read(call->api->store, agent, &row, &err);
		failed = rc < 0 && err.kind != ERR_GONE;
		seen = rc == 0 && auth_sees(&call->viewer, row.hello.subject.namespace_);
	}
	if (seen)
		*ret_agent = agent;
	else if (failed)
		api_failed(call->reply, &err);
	else
		api_not_found(call);
	return seen;
}

void api_pod(struct api_call *call, struct str id)
{
	const struct fleet_pod *pod = find_pod(call, id);
	if (!pod)
		return;
	api_put_pod_whole(&call->out, pod, call->api->silences, call->now);
	api_end(call);
}
