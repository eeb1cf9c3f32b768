/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/collector_ask.h"
#include "cli/fleet.h"

void fleet_answer_done(struct fleet_answer *answer)
{
	for (size_t i = 0; i < answer->n_pages; i++)
		js_free(answer->pages[i]);
	answer->n_pages = 0;
}

/* --- the address -------------------------------------------------------------------------------------------------- */

static struct collector_ask ask_of(const struct fleet_query *q)
{
	return (struct collector_ask){ .option = "--collector",
				       .collector = q->collector,
				       .token = q->token,
				       .ca_file = q->ca_file,
				       .insecure = q->insecure,
				       .timeout_ms = q->timeout_ms,
				       .body_max = FLEET_BODY_MAX,
				       .not_taken = "one of the filters, or a value of --view or --sort" };
}

int fleet_url(const struct fleet_query *q, const char *severity, uint64_t from, uint64_t count, struct buf *out,
	      struct err *err)
{
	const struct collector_ask ask = ask_of(q);
	int rc = collector_url(&ask, "/api/v1/fleet", out, err);
	if (rc < 0)
		return rc;
	(void)buf_printf(out, "?from=%" PRIu64 "&count=%" PRIu64, from, count);
	collector_add_value(out, "view", q->view);
	collector_add_value(out, "cluster", q->cluster);
	collector_add_value(out, "namespace", q->namespace_);
	collector_add_value(out, "workload", q->workload);
	collector_add_value(out, "job", q->job);
	collector_add_value(out, "engine", q->engine);
	collector_add_value(out, "role", q->role);
	collector_add_value(out, "severity", severity);
	collector_add_value(out, "state", q->state);
	collector_add_value(out, "q", q->q);
	collector_add_value(out, "sort", q->sort);
	collector_add_value(out, "descending", q->descending ? "true" : NULL);
	return buf_failed(out) ? err_set(err, ERR_USAGE, "so many and so long filters are no address") : 0;
}

/* --- one page ----------------------------------------------------------------------------------------------------- */

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
	auto_buf struct buf url = { .cap = COLLECTOR_URL_CAP };
	auto_js struct js *page = NULL;
	const struct collector_ask ask = ask_of(q);
	int rc = fleet_url(q, severity, from, count, &url, err);
	if (rc == 0)
		rc = collector_get(&ask, url.ptr, &page, err);
	if (rc < 0 && err->kind != ERR_MALFORMED)
		return rc;
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
