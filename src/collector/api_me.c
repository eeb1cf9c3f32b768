/* SPDX-License-Identifier: Apache-2.0 */
/* Who the asking one is to us: what a dashboard offers him. */
#include "collector/api_parts.h"
#include "wire/put.h"

void api_me(struct api_call *call)
{
	static const char *const roles[AUTH_ROLE_COUNT] = { "none", "viewer", "operator" };
	const struct auth_viewer *viewer = &call->viewer;
	struct js_out *out = &call->out;
	js_out_object(out);
	put_text(out, "name", viewer->name);
	put_text(out, "role", roles[viewer->role]);
	if (viewer->n_namespaces) {
		put_strings(out, "namespaces", viewer->namespaces[0], sizeof viewer->namespaces[0],
			    viewer->n_namespaces);
	} else {
		js_out_key(out, "namespaces");
		js_out_null(out);
	}
	api_put_bool(out, "open", call->api->web && call->api->web->open);
	put_text(out, "version", call->api->version);
	put_text(out, "cluster", call->api->cluster ? call->api->cluster : "");
	js_out_key(out, "now_ms");
	js_out_i64(out, call->now.ms);
	js_out_object_end(out);
	api_end(call);
}
