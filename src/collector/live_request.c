/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live_request.h"

#include <stdio.h>

#include "base/esc.h"
#include "collector/api_parts.h"
#include "data/js.h"

enum { SHOWN_CAP = 80, DEPTH_MAX = 3, VALUES_MAX = 64 };

/* --- words ------------------------------------------------------------------------------------------------------- */

static bool word_of(struct str text, const char *const *names, unsigned first, unsigned n, unsigned *ret_value)
{
	for (unsigned i = first; i < n; i++)
		if (str_eq(text, str_of(names[i]))) {
			*ret_value = i;
			return true;
		}
	return false;
}

bool view_kind_parse(struct str text, enum view_kind *ret_kind)
{
	unsigned value;
	bool found = word_of(text, view_kind_names, 0, VIEW_KIND_COUNT, &value);
	if (found)
		*ret_kind = (enum view_kind)value;
	return found;
}

bool view_sort_parse(struct str text, enum view_sort *ret_sort)
{
	unsigned value;
	bool found = word_of(text, view_sort_names, 0, VIEW_SORT_COUNT, &value);
	if (found)
		*ret_sort = (enum view_sort)value;
	return found;
}

bool pod_state_parse(struct str text, enum pod_state *ret_state)
{
	unsigned value;
	bool found = word_of(text, pod_state_names, 0, POD_STATE_COUNT, &value);
	if (found)
		*ret_state = (enum pod_state)value;
	return found;
}

/* --- members ----------------------------------------------------------------------------------------------------- */

static int refuse(struct err *err, struct str key, const char *wanted)
{
	char shown[SHOWN_CAP];
	return err_set(err, ERR_USAGE, "%s: %s", esc_copy(shown, sizeof shown, key), wanted);
}

/* null is as if it were not there. */
static int take_text(struct str key, const struct js *value, char *dest, size_t cap, struct err *err)
{
	struct str text;
	if (js_kind(value) == JS_NULL)
		return 0;
	if (!js_str(value, &text))
		return refuse(err, key, "expected a text");
	if (text.len >= cap)
		return refuse(err, key, "longer than any that there is");
	str_copy(dest, cap, text);
	return 0;
}

static int take_number(struct str key, const struct js *value, uint64_t most, uint32_t *ret, struct err *err)
{
	uint64_t n;
	char wanted[48];
	if (js_u64(value, &n) && n <= most) {
		*ret = (uint32_t)n;
		return 0;
	}
	(void)snprintf(wanted, sizeof wanted, "expected a whole number up to %llu", (unsigned long long)most);
	return refuse(err, key, wanted);
}

typedef int take_fn(struct live_request *r, struct str key, const struct js *value, struct err *err);

static int take_role(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	unsigned role;
	if (js_kind(value) == JS_NULL)
		return 0;
	if (!js_str(value, &text) || !word_of(text, wire_role_names, 0, ROLE_COUNT, &role))
		return refuse(err, key, "none of unknown, taskmanager, jobmanager, streams, jvm");
	r->query.filter.has_role = true;
	r->query.filter.role = (enum wire_role)role;
	return 0;
}

static int take_severity(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	unsigned severity;
	if (js_kind(value) == JS_NULL)
		return 0;
	if (!js_str(value, &text) || !word_of(text, severity_names, SEVERITY_INFO, SEVERITY_COUNT, &severity))
		return refuse(err, key, "none of info, notice, warning, critical");
	r->query.filter.least = (enum severity)severity;
	return 0;
}

static int take_state(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	if (js_kind(value) == JS_NULL)
		return 0;
	if (!js_str(value, &text) || !pod_state_parse(text, &r->query.filter.state))
		return refuse(err, key, "none of connected, stale, gone");
	r->query.filter.has_state = true;
	return 0;
}

static int take_view(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	return js_str(value, &text) && view_kind_parse(text, &r->query.kind)
		       ? 0
		       : refuse(err, key, "neither workloads nor pods");
}

static int take_sort(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	return js_str(value, &text) && view_sort_parse(text, &r->query.sort)
		       ? 0
		       : refuse(err, key, "none of danger, freeboard, severity, name, namespace, charge, heard");
}

static int take_descending(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	return js_bool(value, &r->query.descending) ? 0 : refuse(err, key, "neither true nor false");
}

static int take_moves(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	return js_bool(value, &r->moves) ? 0 : refuse(err, key, "neither true nor false");
}

static int take_from(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	return take_number(key, value, VIEW_FROM_MAX, &r->query.from, err);
}

static int take_count(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	return take_number(key, value, VIEW_COUNT_MAX, &r->query.count, err);
}

/* A row of a member: a text of the filter, or a function. */
struct member {
	const char *name;
	take_fn *take;
	size_t offset, cap; /* of a text, in struct live_request */
};

#define FILTER_TEXT(name, field)                                               \
	{                                                                      \
		name, NULL, offsetof(struct live_request, query.filter.field), \
			sizeof(((struct live_request *)0)->query.filter.field) \
	}

static const struct member of_filter[] = {
	FILTER_TEXT("cluster", cluster), FILTER_TEXT("namespace", namespace_), FILTER_TEXT("workload", workload),
	FILTER_TEXT("job", job),         FILTER_TEXT("engine", engine),        FILTER_TEXT("q", q),
	{ "role", take_role, 0, 0 },     { "severity", take_severity, 0, 0 },  { "state", take_state, 0, 0 },
};

static int take_members(struct live_request *r, const struct js *object, const struct member *members, size_t n,
			unsigned but, struct err *err);

static int take_filter(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	if (js_kind(value) != JS_OBJECT)
		return refuse(err, key, "expected an object");
	return take_members(r, value, of_filter, sizeof of_filter / sizeof of_filter[0], 0, err);
}

static const struct member of_fleet[] = {
	{ "view", take_view, 0, 0 },   { "filter", take_filter, 0, 0 },
	{ "sort", take_sort, 0, 0 },   { "descending", take_descending, 0, 0 },
	{ "moves", take_moves, 0, 0 }, { "from", take_from, 0, 0 },
	{ "count", take_count, 0, 0 },
};

static int take_pod(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	return js_str(value, &text) && api_row(text, &r->pod) ? 0 : refuse(err, key, "expected the id of a pod");
}

static int take_workload(struct live_request *r, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	if (js_str(value, &text) && text.len < LIVE_WORKLOAD_ID_CAP &&
	    api_workload_parse(text, r->cluster, r->namespace_, r->name))
		return 0;
	return refuse(err, key, "expected the id of a workload");
}

static const struct member of_pod[] = { { "pod", take_pod, 0, 0 } };
static const struct member of_workload[] = { { "workload", take_workload, 0, 0 } };

/* --- the whole --------------------------------------------------------------------------------------------------- */

enum { BUT_NONE = 0, BUT_SUBSCRIBE_AND_N };

/* Each member of `object` by its row; a member without one is not ignored: who asks for it would get something else. */
static int take_members(struct live_request *r, const struct js *object, const struct member *members, size_t n,
			unsigned but, struct err *err)
{
	struct js_iter iter = { 0 };
	const struct js *value;
	struct str key;
	while (js_each(object, &iter, &key, &value)) {
		const struct member *member = NULL;
		if (but == BUT_SUBSCRIBE_AND_N && (str_eq(key, STR("subscribe")) || str_eq(key, STR("n"))))
			continue;
		for (size_t i = 0; i < n && !member; i++)
			if (str_eq(key, str_of(members[i].name)))
				member = &members[i];
		if (!member)
			return refuse(err, key, "no such member here");
		int rc = member->take ? member->take(r, key, value, err)
				      : take_text(key, value, (char *)r + member->offset, member->cap, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_kind(const struct js *root, struct live_request *r, struct err *err)
{
	static const struct {
		struct str word;
		enum live_kind kind;
		const struct member *members;
		size_t n;
		const char *needed;
	} kinds[] = {
		{ STR("fleet"), LIVE_FLEET, of_fleet, sizeof of_fleet / sizeof of_fleet[0], NULL },
		{ STR("pod"), LIVE_POD, of_pod, 1, "pod" },
		{ STR("workload"), LIVE_WORKLOAD, of_workload, 1, "workload" },
	};
	struct str word = { 0 };
	(void)js_str(js_get(root, "subscribe"), &word);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!str_eq(word, kinds[i].word))
			continue;
		r->kind = kinds[i].kind;
		if (kinds[i].needed && !js_get(root, kinds[i].needed))
			return err_set(err, ERR_USAGE, "%s is missing", kinds[i].needed);
		return take_members(r, root, kinds[i].members, kinds[i].n, BUT_SUBSCRIBE_AND_N, err);
	}
	return err_set(err, ERR_USAGE, "subscribe: none of fleet, pod, workload");
}

int live_request_parse(struct str text, struct live_request *ret_request, int64_t *ret_n, struct err *err)
{
	auto_js struct js *root = NULL;
	const struct js_caps caps = { .bytes = LIVE_FRAME_MAX, .depth = DEPTH_MAX, .n_values = VALUES_MAX };
	struct live_request request;
	*ret_n = 0;
	memset(&request, 0, sizeof request);
	request.query.count = VIEW_COUNT;
	int rc = js_parse_within(text, &caps, &root, err);
	if (rc < 0)
		return rc;
	if (js_kind(root) != JS_OBJECT)
		return err_set(err, ERR_USAGE, "expected an object");
	if (js_get(root, "n") && !js_i64(js_get(root, "n"), ret_n))
		return err_set(err, ERR_USAGE, "n: expected a whole number");
	rc = take_kind(root, &request, err);
	if (rc == 0)
		memcpy(ret_request, &request, sizeof request); /* with its padding */
	return rc;
}
