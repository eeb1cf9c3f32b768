/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/pod_seen.h"

#include <limits.h>

#include "base/date.h"
#include "base/esc.h"
#include "data/js.h"

/* Names that Kubernetes has checked stand as they are; one that does not fit is none of ours. */
static bool take_name(const struct js *object, const char *key, char *dest, size_t cap)
{
	struct str text = js_text(object, key);
	if (text.len >= cap || !esc_is_plain(text))
		return false;
	str_copy(dest, cap, text);
	return text.len > 0;
}

static void take_text(const struct js *object, const char *key, char *dest, size_t cap)
{
	(void)esc_copy(dest, cap, str_trim(js_text(object, key)));
}

static int take_int(const struct js *object, const char *key, int otherwise)
{
	int64_t value;
	return js_i64(js_get(object, key), &value) && value >= 0 && value <= INT_MAX ? (int)value : otherwise;
}

static struct wall take_time(const struct js *object, const char *key)
{
	struct wall at = { 0 };
	struct str text = js_text(object, key);
	if (text.len && !date_parse(text, &at.ms))
		at.ms = 0;
	return at;
}

static void take_end(const struct js *status, const char *path, struct pod_seen *pod)
{
	const struct js *ended = js_path(status, path);
	struct pod_end *end = &pod->ends[pod->n_ends];
	if (js_kind(ended) != JS_OBJECT || pod->n_ends == POD_ENDS_MAX)
		return;
	*end = (struct pod_end){ .exit_code = take_int(ended, "exitCode", -1),
				 .signal = take_int(ended, "signal", 0),
				 .started = take_time(ended, "startedAt"),
				 .finished = take_time(ended, "finishedAt") };
	if (!take_name(status, "name", end->container, sizeof end->container))
		return;
	take_text(ended, "reason", end->reason, sizeof end->reason);
	take_text(ended, "message", end->message, sizeof end->message);
	pod->n_ends++;
}

/* Since Kubernetes 1.26 the condition DisruptionTarget says who ends a pod; status.reason is older, and kubelet's. */
static void take_reason(const struct js *status, struct pod_seen *pod)
{
	const struct js *conditions = js_get(status, "conditions");
	take_text(status, "reason", pod->reason, sizeof pod->reason);
	take_text(status, "message", pod->message, sizeof pod->message);
	for (size_t i = 0; !pod->reason[0] && i < js_len(conditions); i++) {
		const struct js *condition = js_at(conditions, i);
		if (!str_eq(js_text(condition, "type"), STR("DisruptionTarget")) ||
		    !str_eq(js_text(condition, "status"), STR("True")))
			continue;
		take_text(condition, "reason", pod->reason, sizeof pod->reason);
		take_text(condition, "message", pod->message, sizeof pod->message);
	}
}

/* deletionTimestamp is the end of the time of grace. */
static void take_deletion(const struct js *metadata, struct pod_seen *pod)
{
	struct wall end = take_time(metadata, "deletionTimestamp");
	if (end.ms)
		pod->asked_to_stop.ms = end.ms - 1000 * (int64_t)take_int(metadata, "deletionGracePeriodSeconds", 0);
}

static int take_pod(const struct js *object, struct pod_seen *pod, struct err *err)
{
	const struct js *metadata = js_get(object, "metadata"), *status = js_get(object, "status");
	const struct js *containers = js_get(status, "containerStatuses");
	if (!take_name(metadata, "namespace", pod->namespace_, sizeof pod->namespace_) ||
	    !take_name(metadata, "name", pod->name, sizeof pod->name) ||
	    !take_name(metadata, "uid", pod->uid, sizeof pod->uid))
		return err_set(err, ERR_MALFORMED, "a pod without a name, a namespace or a UID");
	(void)take_name(js_get(object, "spec"), "nodeName", pod->node, sizeof pod->node);
	take_reason(status, pod);
	take_deletion(metadata, pod);
	for (size_t i = 0; i < js_len(containers); i++) {
		take_end(js_at(containers, i), "state.terminated", pod);
		take_end(js_at(containers, i), "lastState.terminated", pod);
	}
	return 0;
}

static bool kind_of(struct str type, enum pod_news_kind *ret_kind)
{
	static const struct {
		struct str type;
		enum pod_news_kind kind;
	} kinds[] = { { STR("ADDED"), POD_NEWS_SEEN },
		      { STR("MODIFIED"), POD_NEWS_SEEN },
		      { STR("DELETED"), POD_NEWS_GONE },
		      { STR("BOOKMARK"), POD_NEWS_BOOKMARK },
		      { STR("ERROR"), POD_NEWS_ERROR } };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (str_eq(type, kinds[i].type)) {
			*ret_kind = kinds[i].kind;
			return true;
		}
	return false;
}

int pod_news_parse(struct str line, struct pod_news *ret_news, struct err *err)
{
	static const struct js_caps caps = { .bytes = POD_LINE_MAX, .depth = 32, .n_values = POD_VALUES_MAX };
	auto_js struct js *root = NULL;
	struct pod_news news = { 0 };
	int rc = js_parse_within(line, &caps, &root, err);
	if (rc < 0)
		return rc;
	const struct js *object = js_get(root, "object");
	if (js_kind(object) != JS_OBJECT || !kind_of(js_text(root, "type"), &news.kind))
		return err_set(err, ERR_MALFORMED, "a line that is no event of a watch");
	if (news.kind == POD_NEWS_ERROR)
		news.status = take_int(object, "code", 0);
	else if (!take_name(js_get(object, "metadata"), "resourceVersion", news.version, sizeof news.version))
		return err_set(err, ERR_MALFORMED, "an event of a watch without a resourceVersion");
	if (news.kind == POD_NEWS_SEEN || news.kind == POD_NEWS_GONE)
		rc = take_pod(object, &news.pod, err);
	if (rc == 0)
		*ret_news = news;
	return rc;
}
