/* SPDX-License-Identifier: Apache-2.0 */
#include "support/webask.h"

struct server_request web_ask_request(const struct ask *ask)
{
	return (struct server_request){ .method = str_of(ask->method ? ask->method : "GET"),
					.path = str_of(ask->path),
					.query = STR(""),
					.body = str_of(ask->body ? ask->body : ""),
					.peer = "192.0.2.1",
					.is_tls = ask->tls,
					.headers = ask->headers };
}

struct server_reply web_answer_at(struct web *web, const struct ask *ask, uint64_t ms)
{
	struct server_request request = web_ask_request(ask);
	struct server_reply reply = { .status = 200, .content_type = "application/json", .body.cap = 16 << 20 };
	web_request(web, &request, mono_add_ms((struct mono){ 1 }, ms), &reply);
	web_headers(&request, &reply);
	return reply;
}

struct server_reply web_answer(struct web *web, const struct ask *ask)
{
	return web_answer_at(web, ask, 0);
}

const char *web_header(const struct server_reply *reply, const char *name, char *dest, size_t cap)
{
	const char *at = strstr(reply->extra, name);
	dest[0] = '\0';
	if (at)
		str_copy(dest, cap, (struct str){ at + strlen(name), strcspn(at + strlen(name), "\r") });
	return dest;
}
