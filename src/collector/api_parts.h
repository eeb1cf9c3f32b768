/* SPDX-License-Identifier: Apache-2.0 */
/* The API from inside: one request on its way to its reply. Internal to src/collector/api*.c. */
#ifndef COLLECTOR_API_PARTS_H
#define COLLECTOR_API_PARTS_H

#include "collector/api.h"
#include "collector/api_query.h"
#include "data/js.h"
#include "wire/wire.h"

enum { API_BODY_MAX = 16 << 10 };

struct api_call {
	struct api *api;
	const struct server_request *request;
	struct server_reply *reply;
	struct wall now;
	struct auth_viewer viewer;
	struct api_query query;
	struct js_out out; /* into reply->body */
};

/* {"error": {...}} in place of whatever the body held. `code` is a word for machines. */
void api_error(struct server_reply *reply, unsigned status, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* What the store or memory could not do: 503. */
void api_failed(struct server_reply *reply, const struct err *err);
void api_not_found(struct api_call *call);

/* The one row number in an id or cursor; 0 is none. */
bool api_row(struct str text, int64_t *ret_row);

/* May this viewer see it, and does it match the filter? */
bool api_sees(const struct api_call *call, const struct subject_view *subject);

/* Its `q` and `engine`, of the query. */
bool api_has_text(const struct api_call *call, const struct fleet_pod *pod);

/* A pod that the viewer may see, or 404; it may be gone: its history is in the store. Whether there is one that he may not see is not told. */
bool api_find_agent(struct api_call *call, struct str id, int64_t *ret_agent);
/* A workload by its id, as far as the viewer may see it, or 404. It may have had pods and have none now. */
struct api_named_workload {
	char cluster[64], namespace_[64], name[WIRE_NAME_CAP];
	const struct fleet_workload *present; /* NULL: none of its pods is */
};
bool api_find_workload(struct api_call *call, struct str id, struct api_named_workload *ret_named);
/* from and to as given, or the last hour. False: 400, one is not before the other. */
bool api_range(struct api_call *call, struct wall *ret_from, struct wall *ret_to);

/* The cursor of a list that goes by rows; without one `*ret_row` stays. False: 400. */
bool api_cursor_row(struct api_call *call, int64_t *ret_row);

/* A list: {"items": [, then items, then ], "next": cursor}. */
void api_list_start(struct api_call *call);
void api_list_end(struct api_call *call, const char *next); /* NULL: that was all */
void api_list_end_row(struct api_call *call, int64_t next); /* 0: it is over */
void api_end(struct api_call *call);                        /* of every reply that was written with `out` */

/*
 * ETag of this text; true: the client has it (304, no body). For what changes rarely.
 */
bool api_unchanged(struct api_call *call, const char *etag);

/* --- members (api_json.c) -------------------------------------------------------------------------------------- */

void api_put_u64(struct js_out *out, const char *key, uint64_t value);
void api_put_bool(struct js_out *out, const char *key, bool value);
void api_put_wall(struct js_out *out, const char *key, struct wall wall); /* milliseconds since 1970; null for 0 */
void api_put_id(struct js_out *out, const char *key, int64_t row);
void api_put_owner(struct js_out *out, const char *key, int owner);
void api_put_subject(struct js_out *out, const struct subject_view *subject);
void api_put_workload_id(struct js_out *out, const char *key, const struct subject_view *subject);
void api_put_workload(struct js_out *out, const struct fleet_workload *workload);
void api_put_finding_id(struct js_out *out, const char *key, int64_t agent, const char *id);
void api_put_groups(struct js_out *out, const char *key, const struct qty groups[GROUP_COUNT]);
void api_put_pod(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences,
		 struct wall now); /* as it stands in lists */
void api_put_pod_members(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences,
			 struct wall now);
/* The same and its ledger: as GET /pods/{id} shows it (api_ledger.c). */
void api_put_pod_whole(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences,
		       struct wall now);

/* --- paths ----------------------------------------------------------------------------------------------------- */

typedef void api_list_fn(struct api_call *call);
typedef void api_item_fn(struct api_call *call, struct str id);
api_list_fn api_me, api_fleet, api_workloads, api_pods, api_findings, api_postmortems, api_silences, api_silence_create,
	api_silence_preview, api_audit, api_alerts;
api_item_fn api_workload, api_workload_pods, api_workload_owners, api_pod, api_samples, api_events, api_finding,
	api_postmortem, api_silence, api_silence_end;

#endif
