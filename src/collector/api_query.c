/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/api_query.h"

#include <inttypes.h>

#include "base/date.h"
#include "base/esc.h"
#include "base/units.h"
#include "collector/live_request.h"
#include "rules/rules.h"

enum { SHOWN_CAP = 80 };

static int refuse(struct err *err, struct str name, struct str value, const char *wanted)
{
	char shown[SHOWN_CAP], what[SHOWN_CAP];
	return err_set(err, ERR_USAGE, "%s: '%s' is %s", esc_copy(what, sizeof what, name),
		       esc_copy(shown, sizeof shown, value), wanted);
}

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* RFC 3986: a '+' is a plus, as in an offset of time. Appended to `dest` with a NUL; false: malformed, or a NUL. */
static bool decode(struct str text, char mark, char *dest, size_t cap, size_t *ret_len)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == mark) {
			int high = i + 2 < text.len ? hex_of(text.ptr[i + 1]) : -1;
			int low = high >= 0 ? hex_of(text.ptr[i + 2]) : -1;
			if (low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (c == '\0' || n + 1 >= cap)
			return false;
		dest[n++] = c;
	}
	dest[n] = '\0';
	*ret_len = n;
	return true;
}

/* --- each parameter ------------------------------------------------------------------------------------------------ */

static int parse_role(struct api_query *q, const char *value, struct err *err)
{
	for (unsigned i = 0; i < ROLE_COUNT; i++)
		if (strcmp(value, wire_role_names[i]) == 0) {
			q->filter.has_role = true;
			q->filter.role = (enum wire_role)i;
			return 0;
		}
	return refuse(err, STR("role"), str_of(value), "none of unknown, taskmanager, jobmanager, streams, jvm");
}

static int parse_limit(struct api_query *q, const char *value, struct err *err)
{
	uint64_t n;
	if (!str_is_u64(str_of(value), &n) || n < 1 || n > API_LIMIT_MAX)
		return refuse(err, STR("limit"), str_of(value), "no number from 1 to 1000");
	q->limit = (size_t)n;
	return 0;
}

static int parse_cursor(struct api_query *q, const char *value, struct err *err)
{
	if (!value[0] || strlen(value) >= API_CURSOR_CAP)
		return refuse(err, STR("cursor"), str_of(value), "no cursor: give the `next` of the page before");
	q->cursor = value;
	return 0;
}

static int parse_rule(struct api_query *q, const char *value, struct err *err)
{
	(void)err;
	q->rule = value;
	return 0;
}

static int parse_severity(struct api_query *q, const char *value, struct err *err)
{
	if (severity_find(str_of(value), &q->least))
		return 0;
	return refuse(err, STR("severity"), str_of(value), "none of info, notice, warning, critical");
}

static int parse_bool(const char *name, const char *value, bool *ret, struct err *err)
{
	bool yes = strcmp(value, "true") == 0;
	if (!yes && strcmp(value, "false") != 0)
		return refuse(err, str_of(name), str_of(value), "neither true nor false");
	*ret = yes;
	return 0;
}

static int parse_open(struct api_query *q, const char *value, struct err *err)
{
	return parse_bool("open", value, &q->open_only, err);
}

static int parse_connected(struct api_query *q, const char *value, struct err *err)
{
	q->has_connected = true;
	return parse_bool("connected", value, &q->connected, err);
}

static int parse_past(struct api_query *q, const char *value, struct err *err)
{
	return parse_bool("past", value, &q->past, err);
}

static int parse_active(struct api_query *q, const char *value, struct err *err)
{
	q->has_active = true;
	return parse_bool("active", value, &q->active, err);
}

static int parse_cause(struct api_query *q, const char *value, struct err *err)
{
	for (unsigned i = 0; i < DEATH_CAUSE_COUNT; i++)
		if (strcmp(value, death_cause_names[i]) == 0) {
			q->has_cause = true;
			q->cause = (enum death_cause)i;
			return 0;
		}
	return refuse(err, STR("cause"), str_of(value), "no cause of a death: see the OpenAPI file");
}

/* RFC 3339, or milliseconds since 1970. */
static int parse_time(const char *name, const char *value, struct wall *ret_time, struct err *err)
{
	uint64_t ms;
	int64_t date;
	if (str_is_u64(str_of(value), &ms) && ms > 0 && ms <= (uint64_t)INT64_MAX)
		*ret_time = (struct wall){ (int64_t)ms };
	else if (date_parse(str_of(value), &date))
		*ret_time = (struct wall){ date };
	else
		return refuse(err, str_of(name), str_of(value),
			      "no time: 2026-12-31T08:00:00Z, or milliseconds since 1970");
	return 0;
}

static int parse_from(struct api_query *q, const char *value, struct err *err)
{
	return parse_time("from", value, &q->from, err);
}

static int parse_to(struct api_query *q, const char *value, struct err *err)
{
	return parse_time("to", value, &q->to, err);
}

static int parse_step(struct api_query *q, const char *value, struct err *err)
{
	q->has_step = true;
	if (str_is_u64(str_of(value), &q->step_ms) || units_parse_ms(str_of(value), &q->step_ms, NULL) == 0)
		return 0;
	return refuse(err, STR("step"), str_of(value), "no step: 10s, 5m, or milliseconds; 0 for all points");
}

/* --- of a view ------------------------------------------------------------------------------------------------- */

static int parse_view(struct api_query *q, const char *value, struct err *err)
{
	return view_kind_parse(str_of(value), &q->view.kind)
		       ? 0
		       : refuse(err, STR("view"), str_of(value), "neither workloads nor pods");
}

static int parse_sort(struct api_query *q, const char *value, struct err *err)
{
	return view_sort_parse(str_of(value), &q->view.sort)
		       ? 0
		       : refuse(err, STR("sort"), str_of(value),
				"none of danger, freeboard, severity, name, namespace, charge, heard");
}

static int parse_state(struct api_query *q, const char *value, struct err *err)
{
	q->view.filter.has_state = true;
	return pod_state_parse(str_of(value), &q->view.filter.state)
		       ? 0
		       : refuse(err, STR("state"), str_of(value), "none of connected, stale, gone");
}

static int parse_descending(struct api_query *q, const char *value, struct err *err)
{
	return parse_bool("descending", value, &q->view.descending, err);
}

static int parse_place(const char *name, const char *value, uint64_t most, uint32_t *ret, struct err *err)
{
	uint64_t n;
	if (!str_is_u64(str_of(value), &n) || n > most)
		return err_set(err, ERR_USAGE, "%s is no number from 0 to %llu", name, (unsigned long long)most);
	*ret = (uint32_t)n;
	return 0;
}

static int parse_first(struct api_query *q, const char *value, struct err *err)
{
	return parse_place("from", value, VIEW_FROM_MAX, &q->view.from, err);
}

static int parse_count(struct api_query *q, const char *value, struct err *err)
{
	return parse_place("count", value, VIEW_COUNT_MAX, &q->view.count, err);
}

typedef int parse_fn(struct api_query *q, const char *value, struct err *err);

static const struct parameter {
	const char *name;
	unsigned allowed;
	size_t text_offset; /* of a const char * that takes the value as it is; with parse NULL */
	parse_fn *parse;
} parameters[] = {
	{ "cluster", API_SUBJECT | API_VIEW, offsetof(struct api_query, filter.cluster), NULL },
	{ "namespace", API_SUBJECT | API_VIEW, offsetof(struct api_query, filter.namespace_), NULL },
	{ "workload", API_SUBJECT | API_VIEW, offsetof(struct api_query, filter.workload), NULL },
	{ "pod", API_SUBJECT, offsetof(struct api_query, filter.pod), NULL },
	{ "node", API_SUBJECT, offsetof(struct api_query, filter.node), NULL },
	{ "container", API_SUBJECT, offsetof(struct api_query, filter.container), NULL },
	{ "job", API_SUBJECT | API_VIEW, offsetof(struct api_query, filter.job), NULL },
	{ "role", API_SUBJECT | API_VIEW, 0, parse_role },
	{ "limit", API_PAGE, 0, parse_limit },
	{ "cursor", API_PAGE, 0, parse_cursor },
	{ "rule", API_RULE, 0, parse_rule },
	{ "severity", API_SEVERITY, 0, parse_severity },
	{ "open", API_OPEN, 0, parse_open },
	{ "cause", API_CAUSE, 0, parse_cause },
	{ "from", API_RANGE, 0, parse_from },
	{ "to", API_RANGE, 0, parse_to },
	{ "step", API_STEP, 0, parse_step },
	{ "connected", API_CONNECTED, 0, parse_connected },
	{ "active", API_ACTIVE, 0, parse_active },
	{ "past", API_PAST, 0, parse_past },
	{ "q", API_TEXT, offsetof(struct api_query, q), NULL },
	{ "engine", API_TEXT, offsetof(struct api_query, engine), NULL },
	{ "view", API_VIEW, 0, parse_view },
	{ "sort", API_VIEW, 0, parse_sort },
	{ "descending", API_VIEW, 0, parse_descending },
	{ "state", API_VIEW, 0, parse_state },
	{ "from", API_VIEW, 0, parse_first },
	{ "count", API_VIEW, 0, parse_count },
};

static const struct parameter *find(struct str name, unsigned allowed, unsigned *ret_bit)
{
	for (unsigned i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
		if ((parameters[i].allowed & allowed) && str_eq(name, str_of(parameters[i].name))) {
			*ret_bit = 1U << i;
			return &parameters[i];
		}
	return NULL;
}

static int take_label(struct api_query *q, const char *key, const char *value, struct err *err)
{
	if (q->filter.n_labels == FLEET_FILTER_LABELS_MAX)
		return err_set(err, ERR_USAGE, "at most %d labels", FLEET_FILTER_LABELS_MAX);
	q->filter.labels[q->filter.n_labels].key = key;
	q->filter.labels[q->filter.n_labels++].value = value;
	return 0;
}

/* Decoded into q->text. */
static const char *keep(struct api_query *q, struct str text)
{
	size_t len;
	char *at = q->text + q->used;
	if (!decode(text, '%', at, sizeof q->text - q->used, &len))
		return NULL;
	q->used += len + 1;
	return at;
}

static int take_pair(struct api_query *q, struct str pair, unsigned allowed, struct err *err)
{
	size_t equals = str_index(pair, '=');
	struct str name = { pair.ptr, equals }, value = str_skip(pair, equals + 1);
	unsigned bit;
	const struct parameter *parameter = find(name, allowed, &bit);
	const char *text = keep(q, value);
	char shown[SHOWN_CAP];
	if (!text)
		return refuse(err, name, value, "malformed");
	if (parameter) {
		if (q->given & bit)
			return err_set(err, ERR_USAGE, "%s is given twice", parameter->name);
		q->given |= bit;
		if (parameter->parse)
			return parameter->parse(q, text, err);
		memcpy((char *)q + parameter->text_offset, &text, sizeof text);
		return 0;
	}
	const char *key = keep(q, name);
	if (key && (allowed & API_SUBJECT) && strncmp(key, "label.", 6) == 0 && key[6])
		return take_label(q, key + 6, text, err);
	return err_set(err, ERR_USAGE, "no parameter '%s' here", esc_copy(shown, sizeof shown, name));
}

int api_query_parse(struct str query, unsigned allowed, struct api_query *q, struct err *err)
{
	struct str pair;
	*q = (struct api_query){ .limit = API_LIMIT, .view.count = VIEW_COUNT };
	while (query.len) {
		size_t end = str_index(query, '&');
		pair = (struct str){ query.ptr, end };
		query = str_skip(query, end + 1);
		int rc = pair.len ? take_pair(q, pair, allowed, err) : 0;
		if (rc < 0)
			return rc;
	}
	if (q->from.ms && q->to.ms && q->from.ms >= q->to.ms)
		return err_set(err, ERR_USAGE, "from is not before to");
	return 0;
}

/* --- ids ---------------------------------------------------------------------------------------------- */

static void put_part(struct buf *out, const char *part)
{
	for (const char *at = part; *at; at++) {
		bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
			     *at == '-' || *at == '_' || (*at == '.' && at != part);
		if (plain)
			(void)buf_putc(out, *at);
		else
			(void)buf_printf(out, "~%02x", (unsigned)(unsigned char)*at);
	}
}

bool api_workload_id(struct buf *out, const char *cluster, const char *namespace_, const char *name)
{
	put_part(out, cluster);
	(void)buf_putc(out, ':');
	put_part(out, namespace_);
	(void)buf_putc(out, ':');
	put_part(out, name);
	return !buf_failed(out);
}

bool api_workload_parse(struct str id, char cluster[64], char namespace_[64], char name[WIRE_NAME_CAP])
{
	size_t first = str_index(id, ':'), len;
	struct str rest = str_skip(id, first + 1);
	size_t second = str_index(rest, ':');
	return first < id.len && second < rest.len && decode((struct str){ id.ptr, first }, '~', cluster, 64, &len) &&
	       decode((struct str){ rest.ptr, second }, '~', namespace_, 64, &len) &&
	       decode(str_skip(rest, second + 1), '~', name, WIRE_NAME_CAP, &len);
}

bool api_finding_id(struct buf *out, int64_t agent, const char *id)
{
	(void)buf_printf(out, "%" PRId64 ":", agent);
	put_part(out, id);
	return !buf_failed(out);
}

bool api_finding_parse(struct str text, int64_t *ret_agent, char id[WIRE_ID_CAP])
{
	uint64_t agent;
	size_t len;
	if (!str_u64(&text, &agent) || agent > INT64_MAX || !str_take(&text, STR(":")) ||
	    !decode(text, '~', id, WIRE_ID_CAP, &len) || len == 0)
		return false;
	*ret_agent = (int64_t)agent;
	return true;
}
