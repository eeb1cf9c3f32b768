/* SPDX-License-Identifier: Apache-2.0 */
#include "net/server.h"

/* The words of docs/openapi.json. */
static const char *word(unsigned status)
{
	switch (status) {
	case 401:
		return "unauthorized";
	case 403:
		return "forbidden";
	case 404:
		return "not-found";
	case 405:
		return "method-not-allowed";
	case 408:
		return "too-slow";
	case 413:
	case 431:
		return "too-large";
	case 426:
		return "upgrade-required";
	case 429:
		return "too-many";
	case 503:
		return "unavailable";
	default:
		return status < 500 ? "bad-request" : "failed";
	}
}

bool server_refuse(struct server_reply *reply, unsigned status, const char *why)
{
	reply->status = status;
	reply->content_type = "application/json";
	buf_clear(&reply->body);
	return buf_printf(&reply->body, "{\"error\":{\"status\":%u,\"code\":\"%s\",\"message\":\"%s\"}}\n", status,
			  word(status), why);
}
