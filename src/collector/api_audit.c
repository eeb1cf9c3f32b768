/* SPDX-License-Identifier: Apache-2.0 */
/* What people did here, for operators: newest first. */
#include "collector/api_parts.h"
#include "collector/store_audit.h"
#include "wire/put.h"

enum { LOOKS_MAX = 5000, ENTRY_CAP = 32 << 10 };

struct listing {
	struct api_call *call;
	size_t shown, looks;
	int64_t last; /* that was looked at */
	bool more;
};

static void put_json(struct js_out *out, const char *key, struct str text)
{
	auto_js struct js *root = NULL;
	struct err err;
	js_out_key(out, key);
	if (text.len && js_parse(text, ENTRY_CAP, &root, &err) == 0)
		js_out_value(out, root);
	else
		js_out_null(out);
}

/* Deeds that concern no one namespace are for those who see all. */
static bool list_one(void *context, int64_t row, const struct audit_entry *entry)
{
	struct listing *list = context;
	const struct auth_viewer *viewer = &list->call->viewer;
	struct js_out *out = &list->call->out;
	if (list->shown == list->call->query.limit || list->looks == LOOKS_MAX) {
		list->more = true;
		return false;
	}
	list->last = row;
	list->looks++;
	if (viewer->n_namespaces && (!entry->namespace_[0] || !auth_sees(viewer, entry->namespace_)))
		return true;
	js_out_object(out);
	api_put_id(out, "id", row);
	api_put_wall(out, "at_ms", entry->at);
	put_text(out, "who", entry->who);
	put_text(out, "peer", entry->peer);
	put_text(out, "what", entry->what);
	put_text(out, "namespace", entry->namespace_);
	put_json(out, "before", entry->before);
	put_json(out, "after", entry->after);
	js_out_object_end(out);
	list->shown++;
	return true;
}

void api_audit(struct api_call *call)
{
	struct listing list = { .call = call };
	int64_t below = 0;
	struct err err;
	if (!api_cursor_row(call, &below))
		return;
	api_list_start(call);
	if (store_each_audit(call->api->store, below, LOOKS_MAX + 1, list_one, &list, &err) < 0) {
		api_failed(call->reply, &err);
		return;
	}
	api_list_end_row(call, list.more ? list.last : 0);
}
