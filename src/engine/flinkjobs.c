/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flinkjobs.h"

#include <stdio.h>

#include "base/limits.h"
#include "data/js.h"

enum { JOB_ID_LEN = 32 };

/* JobStatus.java: as it is said, as a context says it, and whether the job has ended for good or for now. */
static const struct {
	const char *said, *name;
	bool ended;
} states[] = {
	{ "INITIALIZING", "initializing", false },
	{ "CREATED", "created", false },
	{ "RUNNING", "running", false },
	{ "FAILING", "failing", false },
	{ "FAILED", "failed", true },
	{ "CANCELLING", "cancelling", false },
	{ "CANCELED", "canceled", true },
	{ "FINISHED", "finished", true },
	{ "RESTARTING", "restarting", false },
	{ "SUSPENDED", "suspended", true },
	{ "RECONCILING", "reconciling", false },
};
enum { N_STATES = sizeof states / sizeof states[0] };

static const char *const kept_metrics[] = { "numRestarts", "numberOfInProgressCheckpoints" };
enum { RESTARTS, CHECKPOINTS, N_METRICS };

static bool is_job_id(struct str id)
{
	for (size_t i = 0; i < id.len; i++)
		if (!((id.ptr[i] >= '0' && id.ptr[i] <= '9') || (id.ptr[i] >= 'a' && id.ptr[i] <= 'f')))
			return false;
	return id.len == JOB_ID_LEN;
}

/* False: it is none that we know. */
static bool read_job(const struct js *job, struct str *ret_id, size_t *ret_state)
{
	struct str state;
	if (!js_str(js_get(job, "jid"), ret_id) || !is_job_id(*ret_id) || !js_str(js_get(job, "state"), &state))
		return false;
	for (*ret_state = 0; *ret_state < N_STATES; ++*ret_state)
		if (str_eq(state, str_of(states[*ret_state].said)))
			return true;
	return false;
}

static int parse(struct str text, enum js_kind kind, struct js **ret_root, struct err *err)
{
	struct js *root;
	int status = js_parse(text, LIMIT_HTTP_BODY, &root, err);
	if (status < 0)
		return status;
	if (js_kind(root) != kind) {
		js_free(root);
		return err_set(err, ERR_MALFORMED, "this JSON is no answer of Flink's REST API about jobs");
	}
	*ret_root = root;
	return 0;
}

static int end(struct js_out *out, struct buf *text, size_t before, struct err *err)
{
	int status = js_out_end(out, err);
	if (status == 0)
		return 0;
	text->len = before;
	if (text->ptr)
		text->ptr[before] = '\0';
	return status;
}

int flinkjobs_reduce(struct str overview, struct buf *ret_overview, struct err *err)
{
	auto_js struct js *root = NULL;
	size_t before = ret_overview->len, state;
	struct js_out out;
	struct str id;
	int status = parse(overview, JS_OBJECT, &root, err);
	if (status < 0)
		return status;
	const struct js *jobs = js_get(root, "jobs");
	if (js_kind(jobs) != JS_ARRAY)
		return err_set(err, ERR_MALFORMED, "the answer holds no list of jobs");
	js_out_start(&out, ret_overview, 0);
	js_out_object(&out);
	js_out_key(&out, "jobs");
	js_out_array(&out);
	for (size_t i = 0; i < js_len(jobs); i++) {
		if (!read_job(js_at(jobs, i), &id, &state))
			continue;
		js_out_object(&out);
		js_out_key(&out, "jid");
		js_out_str(&out, id);
		js_out_key(&out, "state");
		js_out_text(&out, states[state].said);
		js_out_object_end(&out);
	}
	js_out_array_end(&out);
	js_out_object_end(&out);
	return end(&out, ret_overview, before, err);
}

/* A metric's value is a number in a string. */
static bool find_metric(const struct js *metrics, const char *name, uint64_t *ret_value)
{
	struct str id, value;
	for (size_t i = 0; i < js_len(metrics); i++)
		if (js_str(js_get(js_at(metrics, i), "id"), &id) && str_eq(id, str_of(name)))
			return js_str(js_get(js_at(metrics, i), "value"), &value) && str_is_u64(value, ret_value);
	return false;
}

int flinkjobs_metrics_reduce(struct str metrics, struct buf *ret_metrics, struct err *err)
{
	auto_js struct js *root = NULL;
	size_t before = ret_metrics->len;
	struct js_out out;
	uint64_t value;
	char digits[24];
	int status = parse(metrics, JS_ARRAY, &root, err);
	if (status < 0)
		return status;
	js_out_start(&out, ret_metrics, 0);
	js_out_array(&out);
	for (size_t i = 0; i < N_METRICS; i++) {
		if (!find_metric(root, kept_metrics[i], &value))
			continue;
		(void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
		js_out_object(&out);
		js_out_key(&out, "id");
		js_out_text(&out, kept_metrics[i]);
		js_out_key(&out, "value");
		js_out_text(&out, digits);
		js_out_object_end(&out);
	}
	js_out_array_end(&out);
	return end(&out, ret_metrics, before, err);
}

/* The one that has not ended, or, where all have, the only one there is. */
static bool find_job(const struct js *root, struct str *ret_id, size_t *ret_state)
{
	const struct js *jobs = js_get(root, "jobs");
	struct str id;
	size_t state, n[2] = { 0 };
	for (size_t i = 0; i < js_len(jobs); i++) {
		if (!read_job(js_at(jobs, i), &id, &state))
			continue;
		bool ended = states[state].ended;
		n[ended]++;
		if (ended && n[false])
			continue;
		*ret_id = id;
		*ret_state = state;
	}
	return n[false] == 1 || (n[false] == 0 && n[true] == 1);
}

bool flinkjobs_metrics_path(struct str overview, char ret_path[FLINKJOBS_PATH_CAP])
{
	auto_js struct js *root = NULL;
	struct err ignored;
	struct str id;
	size_t state;
	if (parse(overview, JS_OBJECT, &root, &ignored) < 0 || !find_job(root, &id, &state) || states[state].ended)
		return false;
	(void)snprintf(ret_path, FLINKJOBS_PATH_CAP, "/jobs/%.*s/metrics?get=%s,%s", (int)id.len, id.ptr,
		       kept_metrics[RESTARTS], kept_metrics[CHECKPOINTS]);
	return true;
}

void flinkjobs_read(struct str overview, struct str metrics, struct engine_context *context)
{
	auto_js struct js *jobs = NULL, *numbers = NULL;
	struct err ignored;
	struct str id;
	size_t state;
	uint64_t value;
	if (!overview.len || parse(overview, JS_OBJECT, &jobs, &ignored) < 0 || !find_job(jobs, &id, &state))
		return;
	if (!context->job_state[0])
		str_copy(context->job_state, sizeof context->job_state, str_of(states[state].name));
	if (!metrics.len || parse(metrics, JS_ARRAY, &numbers, &ignored) < 0)
		return;
	if (!context->restarts.known && find_metric(numbers, kept_metrics[RESTARTS], &value))
		context->restarts = count_of(value);
	if (context->checkpointing == TRISTATE_UNREAD && find_metric(numbers, kept_metrics[CHECKPOINTS], &value))
		context->checkpointing = value > 0 ? TRISTATE_TRUE : TRISTATE_FALSE;
}
