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
	js_out_key(out, "namespaces");
	if (viewer->n_namespaces) {
		js_out_array(out);
		for (size_t i = 0; i < viewer->n_namespaces; i++)
			js_out_text(out, viewer->namespaces[i]);
		js_out_array_end(out);
	} else {
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
