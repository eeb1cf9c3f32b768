/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_api.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "sys/file.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

static int take(char *dest, size_t cap, const char *text, const char *what, struct err *err)
{
	if (strlen(text) >= cap)
		return err_set(err, ERR_USAGE, "the %s has more than %zu characters", what, cap - 1);
	str_copy(dest, cap, str_of(text));
	return 0;
}

/* An IPv6 address of a URL stands in brackets. */
static int find_base(char dest[KUBE_URL_CAP], struct err *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
	if (!host)
		return err_set(err, ERR_UNSUPPORTED,
			       "this is no pod of Kubernetes: KUBERNETES_SERVICE_HOST is not set");
	(void)snprintf(dest, KUBE_URL_CAP, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
		       port ? port : "443");
	return 0;
}

int kube_api_set(const char *base, const char *ca_file, const char *token_file, struct kube_api *ret_api,
		 struct err *err)
{
	struct kube_api api = { 0 };
	int rc = base ? take(api.base, sizeof api.base, base, "API server's URL", err) : find_base(api.base, err);
	if (rc == 0)
		rc = take(api.ca_file, sizeof api.ca_file, ca_file ? ca_file : ACCOUNT "/ca.crt",
			  "path of the API server's CA", err);
	if (rc == 0)
		rc = take(api.token_file, sizeof api.token_file, token_file ? token_file : ACCOUNT "/token",
			  "path of the token for the API server", err);
	/* This also readies libcurl, before any thread uses it. */
	if (rc == 0)
		rc = http_url_check(api.base, false, err);
	size_t len = strlen(api.base);
	if (len && api.base[len - 1] == '/')
		api.base[len - 1] = '\0';
	if (rc == 0)
		*ret_api = api;
	return rc;
}

struct call {
	char url[2 * KUBE_URL_CAP];
	struct buf token;
	struct http_request http;
	struct http_login login;
};

static void call_done(struct call *call)
{
	if (call->token.ptr)
		explicit_bzero(call->token.ptr, call->token.room);
	buf_done(&call->token);
}

static int call_begin(const struct kube_api *api, const struct kube_request *request, struct call *call,
		      long *ret_status, struct err *err)
{
	int n = snprintf(call->url, sizeof call->url, "%s%s", api->base, request->path);
	*ret_status = 0;
	if (n < 0 || (size_t)n >= sizeof call->url)
		return err_set(err, ERR_USAGE, "a URL of the API server that is too long");
	call->token.cap = KUBE_TOKEN_MAX;
	if (api->token_file[0]) {
		int rc = file_read_at(AT_FDCWD, api->token_file, KUBE_TOKEN_MAX, &call->token, err);
		if (rc < 0) {
			err_wrap(err, "the token to ask the API server with");
			return rc;
		}
	}
	call->http = (struct http_request){
		.url = call->url,
		.want = HTTP_WANT_JSON,
		.cap = request->cap,
		.timeout_ms = request->timeout_ms,
		.connect_timeout_ms = request->timeout_ms < 10000 ? request->timeout_ms / 2 : 5000,
	};
	call->login = (struct http_login){
		.bearer = str_trim(buf_str(&call->token)),
		.ca_file = api->ca_file[0] ? api->ca_file : NULL,
		.ret_status = ret_status,
	};
	return 0;
}

int kube_call(const struct kube_api *api, const struct kube_request *request, struct buf *answer, long *ret_status,
	      struct err *err)
{
	auto_(call_done) struct call call = { 0 };
	int rc = call_begin(api, request, &call, ret_status, err);
	if (rc < 0)
		return rc;
	if (!request->method)
		return http_get_as(&call.http, &call.login, answer, NULL, err);
	const struct http_post post = {
		.login = call.login, .body = request->body, .method = request->method, .abandon = request->abandon
	};
	return http_post(&call.http, &post, answer, NULL, err);
}

int kube_follow(const struct kube_api *api, const struct kube_request *request, http_sink *sink, void *context,
		long *ret_status, struct err *err)
{
	auto_(call_done) struct call call = { 0 };
	int rc = call_begin(api, request, &call, ret_status, err);
	return rc < 0 ? rc : http_follow(&call.http, &call.login, sink, context, request->abandon, err);
}
