/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/review.h"

#include <stdio.h>

#include "base/esc.h"
#include "data/js.h"

int review_target_set(const struct auth_options *options, struct review_target *ret_target, struct err *err)
{
	struct review_target target = { 0 };
	/* Without an audience of its own a token meant for another service would be as good here. */
	if (!options->audience || !options->audience[0])
		return err_set(err, ERR_USAGE, "reviewing tokens needs the audience that they are made for");
	if (strlen(options->audience) >= sizeof target.audience)
		return err_set(err, ERR_USAGE, "the audience has more than %zu characters", sizeof target.audience - 1);
	str_copy(target.audience, sizeof target.audience, str_of(options->audience));
	int rc = kube_api_set(options->review_url, options->review_ca_file ? options->review_ca_file : "",
			      options->review_token_file ? options->review_token_file : "", &target.api, err);
	if (rc == 0)
		*ret_target = target;
	return rc;
}

int review_request(struct str token, const char *audience, struct buf *out, struct err *err)
{
	struct js_out js;
	js_out_start(&js, out, 0);
	js_out_object(&js);
	js_out_key(&js, "apiVersion");
	js_out_text(&js, "authentication.k8s.io/v1");
	js_out_key(&js, "kind");
	js_out_text(&js, "TokenReview");
	js_out_key(&js, "spec");
	js_out_object(&js);
	js_out_key(&js, "token");
	js_out_str(&js, token);
	js_out_key(&js, "audiences");
	js_out_array(&js);
	js_out_text(&js, audience);
	js_out_array_end(&js);
	js_out_object_end(&js);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

/* Every value of "extra" is an array of strings. */
static bool take_extra(const struct js *extra, const char *key, char *dest, size_t cap)
{
	struct str text;
	if (!js_str(js_at(js_get(extra, key), 0), &text) || !text.len || text.len >= cap)
		return false;
	str_copy(dest, cap, text);
	return true;
}

static bool has_audience(const struct js *list, const char *audience)
{
	struct str text;
	for (size_t i = 0; i < js_len(list); i++)
		if (js_str(js_at(list, i), &text) && str_eq(text, str_of(audience)))
			return true;
	return false;
}

/* "system:serviceaccount:NAMESPACE:NAME" */
static bool take_account(const struct js *username, struct auth_agent *agent)
{
	struct str text;
	if (!js_str(username, &text) || !str_take(&text, STR("system:serviceaccount:")))
		return false;
	size_t len = str_index(text, ':');
	struct str account = str_skip(text, len + 1);
	if (!len || len >= sizeof agent->namespace_ || !account.len || account.len >= sizeof agent->account)
		return false;
	str_copy(agent->namespace_, sizeof agent->namespace_, (struct str){ text.ptr, len });
	str_copy(agent->account, sizeof agent->account, account);
	return true;
}

int review_answer(struct str body, const char *audience, struct auth_agent *ret_agent, struct err *err)
{
	auto_js struct js *root = NULL;
	struct auth_agent agent = { .method = "review" };
	struct str text;
	bool authenticated;
	int rc = js_parse(body, REVIEW_BODY_MAX, &root, err);
	if (rc < 0)
		return rc;
	const struct js *status = js_get(root, "status");
	if (js_kind(status) != JS_OBJECT)
		return err_set(err, ERR_MALFORMED, "the answer is no TokenReview: it has no status");
	if (!js_bool(js_get(status, "authenticated"), &authenticated) || !authenticated) {
		char shown[128] = "";
		if (js_str(js_get(status, "error"), &text))
			(void)esc_copy(shown, sizeof shown, text);
		return err_set(err, ERR_DENIED, "not authenticated%s%s", shown[0] ? ": " : "", shown);
	}
	/* An API server that knows no audiences answers without them, and has then not looked at ours. */
	if (!has_audience(js_get(status, "audiences"), audience))
		return err_set(err, ERR_DENIED, "the token is not for our audience");
	const struct js *user = js_get(status, "user"), *extra = js_get(user, "extra");
	if (!take_account(js_get(user, "username"), &agent))
		return err_set(err, ERR_DENIED, "the token is no service account's");
	if (!take_extra(extra, "authentication.kubernetes.io/pod-uid", agent.id, sizeof agent.id))
		return err_set(err, ERR_DENIED, "the token is bound to no pod: project it into the pod's volume");
	(void)take_extra(extra, "authentication.kubernetes.io/pod-name", agent.pod, sizeof agent.pod);
	/* Since Kubernetes 1.32; before that no node agent can be told by it. */
	(void)take_extra(extra, "authentication.kubernetes.io/node-name", agent.node, sizeof agent.node);
	*ret_agent = agent;
	return 0;
}

int review_ask(const struct review_target *target, struct str token, const atomic_bool *abandon,
	       struct auth_agent *ret_agent, struct err *err)
{
	auto_buf struct buf request = { .cap = JWT_MAX + 1024 }, answer = { .cap = REVIEW_BODY_MAX };
	int rc = review_request(token, target->audience, &request, err);
	if (rc < 0)
		return rc;
	const struct kube_request ask = { .method = "POST",
					  .path = "",
					  .body = buf_str(&request),
					  .cap = REVIEW_BODY_MAX,
					  .timeout_ms = REVIEW_TIMEOUT_MS,
					  .abandon = abandon };
	struct err failure = { 0 };
	long status;
	rc = kube_call(&target->api, &ask, &answer, &status, &failure);
	explicit_bzero(request.ptr, request.room);
	/* A 403 is about our own right to ask, not about the token that was asked about. */
	if (rc < 0)
		return err_set(err, failure.kind == ERR_DENIED ? ERR_UNSUPPORTED : failure.kind, "%s", failure.message);
	return review_answer(buf_str(&answer), target->audience, ret_agent, err);
}
