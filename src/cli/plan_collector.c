/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plan_collector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collector_ask.h"
#include "plan/resize_pods.h"

enum {
	BODY_MAX = 4 << 20,
	STEP_MS = 60000,    /* the collector keeps minutes for weeks, and the last owners of each */
	PAGE_POINTS = 1000, /* of some 50 values each: within what data/js.h reads */
	SINCE_MS = 7 * RESIZE_DAY_MS,
};

void plan_source_done(struct plan_source *source)
{
	free(source->readings);
	free(source->names);
	free(source->pods);
	*source = (struct plan_source){ 0 };
}

struct asking {
	struct collector_ask ask;
	uint64_t since_ms, bucket_ms, step_ms;
};

/* path?query, both without what is to be escaped. */
static int get(const struct asking *asking, const char *path, struct js **ret_answer, struct err *err)
{
	auto_buf struct buf url = { .cap = COLLECTOR_URL_CAP };
	int rc = collector_url(&asking->ask, path, &url, err);
	return rc < 0 ? rc : collector_get(&asking->ask, url.ptr, ret_answer, err);
}

static int ask_pods(const struct plan_options *options, const struct asking *asking, const char *connected,
		    struct js **ret_list, struct err *err)
{
	auto_buf struct buf url = { .cap = COLLECTOR_URL_CAP };
	auto_js struct js *list = NULL;
	int rc = collector_url(&asking->ask, "/api/v1/pods?limit=1000", &url, err);
	if (rc < 0)
		return rc;
	collector_add_value(&url, "connected", connected);
	collector_add_value(&url, "cluster", options->cluster);
	collector_add_value(&url, "namespace", options->namespace_);
	collector_add_value(&url, "workload", options->workload);
	collector_add_value(&url, "pod", options->pod);
	collector_add_value(&url, "job", options->job);
	collector_add_value(&url, "role", options->role);
	if (buf_failed(&url))
		return err_set(err, ERR_USAGE, "so many and so long filters are no address");
	rc = collector_get(&asking->ask, url.ptr, &list, err);
	if (rc < 0)
		return rc;
	if (js_kind(js_get(list, "items")) != JS_ARRAY)
		return err_set(err, ERR_MALFORMED, "what %.100s answers is no list of pods", asking->ask.collector);
	*ret_list = TAKE_PTR(list);
	return 0;
}

/* Those that run: what they followed had perhaps another configuration, and is no pod that can be lost. If none runs, all. */
static int list_pods(const struct plan_options *options, const struct asking *asking, struct js **ret_list,
		     struct err *err)
{
	auto_js struct js *running = NULL, *all = NULL;
	int rc = ask_pods(options, asking, "true", &running, err);
	if (rc == 0 && js_len(js_get(running, "items")) == 0)
		rc = ask_pods(options, asking, NULL, &all, err);
	if (rc < 0)
		return rc;
	const struct js *list = all ? all : running, *items = js_get(list, "items");
	if (js_len(items) == 0)
		return err_set(
			err, ERR_USAGE,
			"no pod of the last day matches: look at `bankfull fleet --collector %.100s --view pods`",
			asking->ask.collector);
	if (js_len(items) > RESIZE_PODS_MAX || js_kind(js_get(list, "next")) == JS_STRING)
		return err_set(
			err, ERR_USAGE,
			"more than %d pods match: name one configuration with --namespace, --workload, --job or --role",
			RESIZE_PODS_MAX);
	*ret_list = all ? TAKE_PTR(all) : TAKE_PTR(running);
	return 0;
}

/* Row numbers are digits: what else an answer has is not put into an address. */
static bool is_row(struct str id)
{
	uint64_t number;
	return id.len < RESIZE_POD_ID_CAP && str_is_u64(id, &number);
}

static int read_pod(const struct asking *asking, struct str id, struct resize_pod *ret_pod, struct err *err)
{
	char path[64];
	auto_js struct js *whole = NULL;
	if (!is_row(id))
		return err_set(err, ERR_MALFORMED, "a pod's id is no number");
	(void)snprintf(path, sizeof path, "/api/v1/pods/%.*s", (int)id.len, id.ptr);
	int rc = get(asking, path, &whole, err);
	return rc < 0 ? rc : resize_pod_read(whole, ret_pod, err);
}

/* In stretches that one answer holds, the oldest first. */
static int read_history(const struct asking *asking, const struct resize_pod *pod, uint32_t number,
			struct resize_history *history, struct err *err)
{
	int64_t end = pod->heard.ms + 1, from = end > (int64_t)asking->since_ms ? end - (int64_t)asking->since_ms : 1;
	char path[160];
	int rc = 0;
	auto_js struct js *events = NULL;
	(void)snprintf(path, sizeof path, "/api/v1/pods/%s/events?from=%" PRId64 "&to=%" PRId64, pod->id, from, end);
	while (rc == 0 && from < end) {
		auto_js struct js *series = NULL;
		struct wall next = { 0 };
		int64_t page_ms = (int64_t)asking->step_ms * PAGE_POINTS;
		int64_t to = end - from > page_ms ? from + page_ms : end;
		char page[160];
		(void)snprintf(page, sizeof page,
			       "/api/v1/pods/%s/samples?from=%" PRId64 "&to=%" PRId64 "&step=%" PRIu64, pod->id, from,
			       to, asking->step_ms);
		rc = get(asking, page, &series, err);
		if (rc == 0)
			rc = resize_history_add(history, number, pod, series, &next, err);
		from = next.ms > from && next.ms < to ? next.ms : to;
	}
	if (rc == 0)
		rc = get(asking, path, &events, err);
	if (rc == 0)
		resize_history_restores(history, number, events);
	return rc;
}

static int read_all(const struct asking *asking, const struct js *items, struct plan_source *source, struct err *err)
{
	struct resize_history history = { .readings = source->readings,
					  .room = js_len(items) * RESIZE_REPORTS_MAX,
					  .bucket_ms = asking->bucket_ms };
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < js_len(items); i++) {
		struct resize_pod *pod = &source->pods[source->n_pods];
		size_t before = history.n;
		struct err why = { 0 };
		rc = read_pod(asking, js_text(js_at(items, i), "id"), pod, &why);
		if (rc < 0 && why.kind == ERR_UNSUPPORTED) {
			if (source->n_pods_left_out++ == 0)
				str_copy(source->left_out, sizeof source->left_out, str_of(why.message));
			rc = 0;
			continue;
		}
		if (rc < 0 && err)
			*err = why;
		if (rc == 0)
			rc = read_history(asking, pod, (uint32_t)source->n_pods, &history, err);
		for (size_t r = before; rc == 0 && r < history.n; r++)
			source->names[r] = pod->name;
		source->n_pods++;
	}
	source->n = history.n;
	source->n_points_left_out = history.n_left_out;
	if (rc == 0 && source->n == 0)
		rc = err_set(err, ERR_USAGE, "no history to size by%s%s", source->left_out[0] ? ": " : "",
			     source->left_out);
	return rc;
}

int plan_collector(const struct plan_options *options, struct plan_source *ret_source, struct err *err)
{
	auto_plan_source struct plan_source source = { 0 };
	auto_buf struct buf token = { .cap = COLLECTOR_TOKEN_CAP };
	auto_js struct js *list = NULL;
	struct asking asking = {
		.ask = { .option = "--from-report",
			 .collector = options->reports[0],
			 .ca_file = options->ca_file,
			 .insecure = options->insecure,
			 .timeout_ms = options->timeout_ms ? options->timeout_ms : COLLECTOR_TIMEOUT_MS,
			 .body_max = BODY_MAX,
			 .not_taken = "one of the filters" },
		.since_ms = options->since_ms ? options->since_ms : SINCE_MS,
	};
	asking.bucket_ms = asking.since_ms / (RESIZE_REPORTS_MAX - 2) + 1;
	asking.step_ms = asking.bucket_ms < STEP_MS ? asking.bucket_ms : STEP_MS;
	int rc = collector_read_token(options->token_file, &token, &asking.ask.token, err);
	if (rc == 0)
		rc = collector_check_ca(options->ca_file, err);
	if (rc == 0)
		rc = list_pods(options, &asking, &list, err);
	if (rc == 0) {
		size_t n = js_len(js_get(list, "items"));
		source.pods = calloc(n, sizeof *source.pods);
		source.readings = calloc(n * RESIZE_REPORTS_MAX, sizeof *source.readings);
		source.names = calloc(n * RESIZE_REPORTS_MAX, sizeof *source.names);
		rc = source.pods && source.readings && source.names
			     ? read_all(&asking, js_get(list, "items"), &source, err)
			     : err_set(err, ERR_NOMEM, "no memory for a plan");
	}
	if (token.ptr)
		explicit_bzero(token.ptr, token.room);
	if (rc < 0)
		return rc;
	*ret_source = source;
	source = (struct plan_source){ 0 };
	return 0;
}
