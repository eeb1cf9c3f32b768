/* SPDX-License-Identifier: Apache-2.0 */
/* What happened to a pod: the marks of its time axis. */
#include "collector/api_parts.h"
#include "collector/store_event.h"
#include "wire/put.h"

enum { EVENTS_MAX = 5000 };

struct axis {
	struct js_out *out;
	size_t n;
	struct wall next; /* of the first one that was left out; 0: none */
};

static const char *name_of(const struct event_mark *mark)
{
	static const char *const names[HAPPENED_COUNT] = {
		[HAPPENED_JVM_START] = "jvm-start",   [HAPPENED_JVM_END] = "jvm-end",
		[HAPPENED_LIMIT] = "limit",           [HAPPENED_CHECKPOINT] = "checkpoint-start",
		[HAPPENED_RESTART] = "restart",       [HAPPENED_AGENT_START] = "agent-start",
		[HAPPENED_AGENT_LOST] = "agent-lost", [HAPPENED_AGENT_BYE] = "agent-bye",
		[HAPPENED_OOM_KILL] = "oom-kill",     [HAPPENED_JVM_SEEN] = "jvm-start",
	};
	return mark->kind == HAPPENED_CHECKPOINT && mark->is_end ? "checkpoint-end" : names[mark->kind];
}

/* Which kinds have a value, and which one to compare it with. */
static void put_values(struct js_out *out, const struct event_mark *mark)
{
	bool compares =
		mark->kind == HAPPENED_LIMIT || mark->kind == HAPPENED_RESTART || mark->kind == HAPPENED_OOM_KILL;
	bool has = compares || mark->kind == HAPPENED_JVM_START || mark->kind == HAPPENED_JVM_END || mark->is_end;
	put_signed(out, "value", (struct signed_qty){ mark->value, has && mark->value >= 0 });
	put_signed(out, "before", (struct signed_qty){ mark->before, compares && mark->before >= 0 });
}

static bool put_mark(void *context, const struct event_mark *mark)
{
	struct axis *axis = context;
	/* Those of one moment stay together: the next page begins with it. */
	if (axis->n >= EVENTS_MAX) {
		axis->next = mark->at;
		return false;
	}
	axis->n++;
	js_out_object(axis->out);
	api_put_wall(axis->out, "at_ms", mark->at);
	put_text(axis->out, "kind", name_of(mark));
	put_values(axis->out, mark);
	js_out_object_end(axis->out);
	return true;
}

void api_events(struct api_call *call, struct str id)
{
	struct axis axis = { .out = &call->out };
	struct wall from, to;
	int64_t agent;
	struct err err;
	if (!api_find_agent(call, id, &agent) || !api_range(call, &from, &to))
		return;
	js_out_object(axis.out);
	api_put_id(axis.out, "pod", agent);
	api_put_wall(axis.out, "from_ms", from);
	api_put_wall(axis.out, "to_ms", to);
	js_out_key(axis.out, "items");
	js_out_array(axis.out);
	int rc = store_each_event(call->api->store, agent, from, to, put_mark, &axis, &err);
	js_out_array_end(axis.out);
	api_put_wall(axis.out, "next_ms", axis.next);
	js_out_object_end(axis.out);
	if (rc < 0)
		api_failed(call->reply, &err);
	else
		api_end(call);
}
