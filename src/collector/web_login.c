/* SPDX-License-Identifier: Apache-2.0 */
/* POST /login: a token becomes a cookie. POST /logout: it is gone. */
#include <stdio.h>

#include "base/esc.h"
#include "collector/web_parts.h"
#include "data/js.h"

#define COOKIE_RULES "; Path=/; HttpOnly; Secure; SameSite=Strict\r\n"

/* A form without script is answered by pages, a script's JSON by JSON. */
enum content { CONTENT_OTHER, CONTENT_FORM, CONTENT_JSON };

static enum content content_of(const struct server_request *request)
{
	if (server_body_is(request, "application/json"))
		return CONTENT_JSON;
	return server_body_is(request, "application/x-www-form-urlencoded") ? CONTENT_FORM : CONTENT_OTHER;
}

static void see_other(struct server_reply *reply, const char *location)
{
	size_t len = strlen(reply->extra);
	reply->status = 303;
	reply->content_type = "text/plain; charset=utf-8";
	(void)snprintf(reply->extra + len, sizeof reply->extra - len, "Location: %s\r\n", location);
}

static void say_no(enum content content, struct server_reply *reply, unsigned status, const char *why)
{
	if (content == CONTENT_FORM)
		web_page(reply, status, "Not logged in", why, "/login", "Back to the login page");
	else
		(void)server_refuse(reply, status, why);
	str_copy(reply->extra, sizeof reply->extra, STR("Cache-Control: no-store\r\n"));
}

/* A page of somebody else must not log its visitor in under a name of its choice, nor out. */
static bool is_foreign(const struct web *web, const struct server_request *request)
{
	return !web_host_ok(web, request) || (server_header(request, "origin").len && !web_origin_ok(web, request));
}

static bool set_cookie(const char *token, struct server_reply *reply)
{
	auto_buf struct buf value = { .cap = 3 * LOGIN_TOKEN_CAP };
	login_cookie_encode(token, &value);
	int len = snprintf(reply->extra, sizeof reply->extra,
			   "Cache-Control: no-store\r\nSet-Cookie: " LOGIN_COOKIE "=%s; Max-Age=%d" COOKIE_RULES,
			   buf_str(&value).ptr, LOGIN_COOKIE_S);
	bool good = !buf_failed(&value) && len > 0 && (size_t)len < sizeof reply->extra;
	if (!good)
		reply->extra[0] = '\0';
	if (value.ptr)
		explicit_bzero(value.ptr, value.room);
	return good;
}

static void welcome(enum content content, const struct auth_viewer *viewer, struct server_reply *reply)
{
	struct js_out out;
	struct err err;
	if (content == CONTENT_FORM) {
		see_other(reply, "/");
		return;
	}
	reply->status = 200;
	js_out_start(&out, &reply->body, 0);
	js_out_object(&out);
	js_out_key(&out, "name");
	js_out_text(&out, viewer->name);
	js_out_key(&out, "role");
	js_out_text(&out, viewer->role == AUTH_OPERATOR ? "operator" : "viewer");
	js_out_object_end(&out);
	if (js_out_end(&out, &err) < 0)
		(void)server_refuse(reply, 503, "no memory");
}

/* The token is ours to wipe. */
static void try_token(struct web *web, const struct server_request *request, enum content content, const char *token,
		      struct mono now, struct server_reply *reply)
{
	struct auth_viewer viewer;
	char shown[2 * sizeof viewer.name];
	if (!auth_token(web->auth, str_of(token), &viewer)) {
		login_failed(&web->limit, request->peer, now);
		logger_say(web->log, SAY_WARNING, "login-refused",
			   "somebody at %s tried to log in with a token that is not known", request->peer);
		say_no(content, reply, 401, "this token is not known here");
		return;
	}
	if (!set_cookie(token, reply)) {
		say_no(content, reply, 503, "no memory");
		return;
	}
	logger_say(web->log, SAY_INFO, "login", "%s logged in from %s",
		   esc_copy(shown, sizeof shown, str_of(viewer.name)), request->peer);
	if (web->deed)
		web->deed(web->deed_context, "login", viewer.name, request->peer);
	welcome(content, &viewer, reply);
}

void web_login(struct web *web, const struct server_request *request, struct mono now, struct server_reply *reply)
{
	enum content content = content_of(request);
	char token[LOGIN_TOKEN_CAP];
	struct err err;
	unsigned wait_s = login_wait_s(&web->limit, request->peer, now);
	if (is_foreign(web, request)) {
		say_no(content, reply, 403, "this form belongs to another site");
	} else if (web->open) {
		welcome(content, &(struct auth_viewer){ .role = AUTH_OPERATOR, .name = "anonymous" }, reply);
	} else if (wait_s) {
		say_no(content, reply, 429, "too many wrong tokens from this address: try again later");
		reply->retry_after_s = wait_s;
	} else if (content == CONTENT_OTHER) {
		say_no(content, reply, 415, "send a form, or JSON");
	} else if (request->body.len > LOGIN_BODY_MAX) {
		say_no(content, reply, 413, "the body is too large");
	} else if (login_token(request->body, content == CONTENT_JSON, token, &err) < 0) {
		say_no(content, reply, 400, "no token of at most 519 characters in the body");
	} else {
		try_token(web, request, content, token, now, reply);
		explicit_bzero(token, sizeof token);
	}
}

void web_logout(const struct web *web, const struct server_request *request, struct server_reply *reply)
{
	enum content content = content_of(request);
	if (is_foreign(web, request)) {
		say_no(content, reply, 403, "this form belongs to another site");
		return;
	}
	str_copy(reply->extra, sizeof reply->extra,
		 STR("Cache-Control: no-store\r\nSet-Cookie: " LOGIN_COOKIE "=; Max-Age=0" COOKIE_RULES));
	if (content == CONTENT_FORM)
		see_other(reply, "/login");
	else
		reply->status = 204;
}
