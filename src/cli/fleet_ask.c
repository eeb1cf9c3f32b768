/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/fleet.h"
#include "net/http.h"

enum { URL_CAP = 2048, CONNECT_MS = 5000 };

void fleet_answer_done(struct fleet_answer *answer)
{
	for (size_t i = 0; i < answer->n_pages; i++)
		js_free(answer->pages[i]);
	answer->n_pages = 0;
}

/* --- the address -------------------------------------------------------------------------------------------------- */

/* RFC 3986, 2.3: what is not unreserved is escaped. */
static void add_value(struct buf *out, const char *name, const char *value)
{
	static const char plain[] = "-._~";
	if (!value)
		return;
	(void)buf_printf(out, "&%s=", name);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		bool alnum = (*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z');
		if (alnum || strchr(plain, *p))
			(void)buf_putc(out, (char)*p);
		else
			(void)buf_printf(out, "%%%02X", *p);
	}
}

static int check_base(const char *url, struct err *err)
{
	struct str text = str_of(url);
	if (str_starts(text, STR("ws://")) || str_starts(text, STR("wss://")))
		return err_set(
			err, ERR_USAGE,
			"--collector: ws%s:// is what agents speak; give the address of its dashboard: http%s://HOST:8481",
			url[2] == 's' ? "s" : "", url[2] == 's' ? "s" : "");
	if (strpbrk(url, "?#"))
		return err_set(err, ERR_USAGE, "--collector: an address without '?' and '#': http://HOST:8481");
	int rc = http_url_check(url, false, err);
	if (rc < 0)
		err_wrap(err, "--collector");
	return rc;
}

int fleet_url(const struct fleet_query *q, const char *severity, uint64_t from, uint64_t count, struct buf *out,
	      struct err *err)
{
	int rc = check_base(q->collector, err);
	if (rc < 0)
		return rc;
	struct str base = str_of(q->collector);
	while (base.len && base.ptr[base.len - 1] == '/')
		base.len--;
	(void)buf_add(out, base);
	(void)buf_printf(out, "/api/v1/fleet?from=%" PRIu64 "&count=%" PRIu64, from, count);
	add_value(out, "view", q->view);
	add_value(out, "cluster", q->cluster);
	add_value(out, "namespace", q->namespace_);
	add_value(out, "workload", q->workload);
	add_value(out, "job", q->job);
	add_value(out, "engine", q->engine);
	add_value(out, "role", q->role);
	add_value(out, "severity", severity);
	add_value(out, "state", q->state);
	add_value(out, "q", q->q);
	add_value(out, "sort", q->sort);
	add_value(out, "descending", q->descending ? "true" : NULL);
	return buf_failed(out) ? err_set(err, ERR_USAGE, "so many and so long filters are no address") : 0;
}

/* --- one page ----------------------------------------------------------------------------------------------------- */

static int explain(const struct fleet_query *q, long status, int rc, struct err *err)
{
	char base[160];
	(void)snprintf(base, sizeof base, "%.150s", q->collector);
	if (status == 401 && q->token.len)
		return err_set(err, ERR_DENIED, "%s answers 401: it does not know the token of --token-file", base);
	if (status == 401)
		return err_set(err, ERR_DENIED, "%s answers 401: it wants a viewer's token: --token-file FILE", base);
	if (status == 403)
		return err_set(err, ERR_DENIED,
			       "%s answers 403: not under this host name, or not with this token (--token-file FILE)",
			       base);
	if (status == 404)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s answers 404: no collector, one older than this program, or its agents' port", base);
	if (status == 400)
		return err_set(err, ERR_USAGE,
			       "%s answers 400: it does not take one of the filters, or a value of --view or --sort",
			       base);
	if (status == 429 || status == 503)
		return err_set(err, ERR_TIMEOUT, "%s answers %ld: it is busy, ask again", base, status);
	if (err->kind == ERR_DENIED && !q->ca_file)
		(void)snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
			       "; name the authority of your own with --ca-file");
	if (err->kind == ERR_USAGE && q->token.len && strstr(err->message, "a token is sent"))
		(void)snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
			       "; --insecure sends it all the same");
	return rc;
}

int fleet_check(const struct js *page, uint64_t *ret_matching, struct err *err)
{
	struct str type;
	const struct js *rows = js_get(page, "rows");
	uint64_t matching;
	if (!js_str(js_get(page, "type"), &type) || !str_eq(type, STR("fleet")) || js_kind(rows) != JS_ARRAY ||
	    !js_u64(js_get(page, "matching"), &matching))
		return err_set(err, ERR_MALFORMED, "it has no type, rows and matching");
	for (size_t i = 0; i < js_len(rows); i++)
		if (js_kind(js_at(rows, i)) != JS_OBJECT)
			return err_set(err, ERR_MALFORMED, "row %zu is none", i);
	*ret_matching = matching;
	return 0;
}

static int get_page(const struct fleet_query *q, const char *severity, uint64_t from, uint64_t count,
		    struct js **ret_page, uint64_t *ret_matching, struct err *err)
{
	auto_buf struct buf url = { .cap = URL_CAP }, body = { .cap = FLEET_BODY_MAX };
	long status = 0;
	auto_js struct js *page = NULL;
	int rc = fleet_url(q, severity, from, count, &url, err);
	if (rc < 0)
		return rc;
	const struct http_request request = { .url = url.ptr,
					      .want = HTTP_WANT_JSON,
					      .cap = FLEET_BODY_MAX,
					      .timeout_ms = (unsigned)q->timeout_ms,
					      .connect_timeout_ms = q->timeout_ms < CONNECT_MS ? (unsigned)q->timeout_ms
											       : CONNECT_MS };
	const struct http_login login = { q->token, q->ca_file, q->insecure, &status };
	rc = http_get_as(&request, &login, &body, NULL, err);
	if (rc < 0)
		return explain(q, status, rc, err);
	rc = js_parse(buf_str(&body), FLEET_BODY_MAX, &page, err);
	if (rc == 0)
		rc = fleet_check(page, ret_matching, err);
	if (rc < 0)
		err_wrap(err, "what %.100s answers is no fleet", q->collector);
	else
		*ret_page = TAKE_PTR(page);
	return rc;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static bool at_least_warning(struct str severity)
{
	return str_eq(severity, str_of(severity_names[SEVERITY_WARNING])) ||
	       str_eq(severity, str_of(severity_names[SEVERITY_CRITICAL]));
}

bool fleet_is_alarming(const struct js *row)
{
	struct str severity;
	bool silenced = false;
	(void)js_bool(js_get(row, "silenced"), &silenced);
	return !silenced && js_str(js_get(row, "severity"), &severity) && at_least_warning(severity);
}

static bool any_alarming(const struct js *page)
{
	const struct js *rows = js_get(page, "rows");
	for (size_t i = 0; i < js_len(rows); i++)
		if (fleet_is_alarming(js_at(rows, i)))
			return true;
	return false;
}

/* Of all that matches, shown or not: what is grave may stand below the rows that are shown, by another order. */
static int look_for_alarm(const struct fleet_query *q, struct fleet_answer *answer, struct err *err)
{
	const char *severity = severity_names[SEVERITY_WARNING];
	if (q->severity && at_least_warning(str_of(q->severity)))
		severity = q->severity;
	uint64_t matching = 1;
	for (uint64_t from = 0; from < matching && from < FLEET_LIMIT_MAX && !answer->alarming; from += FLEET_PAGE) {
		auto_js struct js *page = NULL;
		int rc = get_page(q, severity, from, FLEET_PAGE, &page, &matching, err);
		if (rc < 0)
			return rc;
		answer->alarming = any_alarming(page);
	}
	return 0;
}

int fleet_ask(const struct fleet_query *q, struct fleet_answer *ret_answer, struct err *err)
{
	struct fleet_answer answer = { 0 };
	uint64_t left = q->limit ? q->limit : FLEET_LIMIT;
	int rc = 0;
	do {
		uint64_t count = left < FLEET_PAGE ? left : FLEET_PAGE;
		rc = get_page(q, q->severity, answer.n_pages * FLEET_PAGE, count, &answer.pages[answer.n_pages],
			      &answer.matching, err);
		if (rc < 0)
			break;
		answer.alarming |= any_alarming(answer.pages[answer.n_pages++]);
		left -= count;
	} while (left && answer.n_pages < FLEET_PAGES_MAX && answer.n_pages * FLEET_PAGE < answer.matching);
	uint64_t shown = q->limit ? q->limit : FLEET_LIMIT;
	if (rc == 0 && !answer.alarming && shown < answer.matching)
		rc = look_for_alarm(q, &answer, err);
	if (rc < 0)
		fleet_answer_done(&answer);
	else
		*ret_answer = answer;
	return rc;
}

static bool same_id(const struct js *a, const struct js *b)
{
	struct str one, other;
	return js_str(js_get(a, "id"), &one) && js_str(js_get(b, "id"), &other) && str_eq(one, other);
}

/* Only the page before can hold it: whoever moves further than a page between two requests is worth a second row. */
static bool was_before(const struct fleet_answer *answer, size_t page, const struct js *row)
{
	const struct js *rows = page ? js_get(answer->pages[page - 1], "rows") : NULL;
	for (size_t i = 0; i < js_len(rows); i++)
		if (same_id(js_at(rows, i), row))
			return true;
	return false;
}

const struct js *fleet_row_at(const struct fleet_answer *answer, size_t *page, size_t *row)
{
	for (; *page < answer->n_pages; ++*page, *row = 0) {
		const struct js *rows = js_get(answer->pages[*page], "rows");
		while (*row < js_len(rows)) {
			const struct js *found = js_at(rows, (*row)++);
			if (!was_before(answer, *page, found))
				return found;
		}
	}
	return NULL;
}
