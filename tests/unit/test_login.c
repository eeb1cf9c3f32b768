/* SPDX-License-Identifier: Apache-2.0 */
/* A token becomes a cookie; wrong ones are limited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/scratch.h"
#include "support/webask.h"

#define JSON_TYPE "content-type", "application/json; charset=utf-8"
#define FORM_TYPE "content-type", "application/x-www-form-urlencoded"
#define HOST      "host", "b.example"

struct site {
	struct scratch scratch;
	struct loop *loop;
	struct web web;
};

static void site_init(struct site *site)
{
	struct err err;
	char path[300];
	*site = (struct site){ .scratch = scratch_new() };
	scratch_file(&site->scratch, "viewers",
		     "viewer ann secret-token-of-ann team-0\noperator bob odd;\"to,ken\\of%bob+\n");
	(void)snprintf(path, sizeof path, "%s/viewers", site->scratch.path);
	assert_int_equal(chmod(path, 0600), 0);
	struct auth_options options = { .open = true, .viewer_tokens_file = path };
	if (loop_new(LOOP_POLL, NULL, NULL, &site->loop, &err) < 0 ||
	    auth_new(site->loop, &options, NULL, &site->web.auth, &err) < 0)
		fail_msg("%s", err.message);
}

static void site_done(struct site *site)
{
	auth_free(site->web.auth);
	loop_free(site->loop);
	scratch_done(&site->scratch);
}

static void logging_in(void **state)
{
	static const struct {
		struct ask ask;
		unsigned status;
		const char *part; /* of the body */
	} rows[] = {
		{ { .body = "{\"token\":\"secret-token-of-ann\"}", .headers = { HOST, JSON_TYPE } },
		  200,
		  "{\"name\":\"ann\",\"role\":\"viewer\"}" },
		{ { .body = "token=secret-token-of-ann", .headers = { HOST, FORM_TYPE } }, 303, NULL },
		{ { .body = "x=y&token=secret%2Dtoken-of-ann&z", .headers = { HOST, FORM_TYPE } }, 303, NULL },
		{ { .body = "token=odd%3B%22to%2Cken%5Cof%25bob%2B", .headers = { HOST, FORM_TYPE } }, 303, NULL },
		{ { .body = "{\"token\":\"odd;\\\"to,ken\\\\of%bob+\"}", .headers = { HOST, JSON_TYPE } }, 200, "bob" },
		{ { .body = "token=secret-token-of-ann",
		    .headers = { HOST, FORM_TYPE, "origin", "https://b.example" } },
		  303,
		  NULL },
		{ { .body = "token=secret-token-of-ann",
		    .headers = { HOST, FORM_TYPE, "origin", "https://evil.example" } },
		  403,
		  "another site" },
		{ { .body = "token=secret-token-of-ann", .headers = { HOST, FORM_TYPE, "origin", "null" } },
		  403,
		  "another site" },
		{ { .body = "token=another-token-of-ann", .headers = { HOST, FORM_TYPE } }, 401, "<h1>Not logged in" },
		{ { .body = "{\"token\":\"secret-token-of-an\"}", .headers = { HOST, JSON_TYPE } },
		  401,
		  "\"unauthorized\"" },
		{ { .body = "token=", .headers = { HOST, FORM_TYPE } }, 400, NULL },
		{ { .body = "token=a%00b", .headers = { HOST, FORM_TYPE } }, 400, NULL },
		{ { .body = "token=a%2", .headers = { HOST, FORM_TYPE } }, 400, NULL },
		{ { .body = "tokens=x", .headers = { HOST, FORM_TYPE } }, 400, NULL },
		{ { .body = "", .headers = { HOST, FORM_TYPE } }, 400, NULL },
		{ { .body = "{\"token\":[\"x\"]}", .headers = { HOST, JSON_TYPE } }, 400, NULL },
		{ { .body = "{", .headers = { HOST, JSON_TYPE } }, 400, NULL },
		{ { .body = "[[[[[[[[]]]]]]]]", .headers = { HOST, JSON_TYPE } }, 400, NULL },
		{ { .body = "token=secret-token-of-ann", .headers = { HOST } }, 415, NULL },
		{ { .body = "token=x", .headers = { HOST, "content-type", "multipart/form-data" } }, 415, NULL },
		{ { .body = "{}", .headers = { HOST, "content-type", "application/jsonp" } }, 415, NULL },
		{ { .body = "{}", .headers = { HOST, "content-type", "application/js" } }, 415, NULL },
		{ { .body = "{}", .headers = { HOST, "content-type", "Application/JSON ; q" } }, 400, NULL },
	};
	(void)state;
	struct site site;
	site_init(&site);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ask ask = rows[i].ask;
		ask.path = "/login";
		ask.method = "POST";
		ask.tls = true;
		struct server_reply reply = web_answer_at(&site.web, &ask, i * LOGIN_REFILL_MS);
		if (reply.status != rows[i].status || (rows[i].part && !strstr(reply.body.ptr, rows[i].part)))
			fail_msg("%zu %s: %u %.300s", i, ask.body, reply.status, reply.body.len ? reply.body.ptr : "");
		bool in = reply.status == 200 || reply.status == 303;
		if ((strstr(reply.extra, "Set-Cookie: __Host-bankfull=") != NULL) != in)
			fail_msg("%zu %s", i, reply.extra);
		if (in)
			assert_non_null(
				strstr(reply.extra, "; Max-Age=604800; Path=/; HttpOnly; Secure; SameSite=Strict\r\n"));
		assert_non_null(strstr(reply.extra, "Cache-Control: no-store\r\n"));
		assert_null(reply.body.len ? strstr(reply.body.ptr, "token-of-ann") : NULL);
		buf_done(&reply.body);
	}
	site_done(&site);
}

/* Each token comes back from its cookie, and the cookie is one by RFC 6265. */
static void the_cookie_is_the_token(void **state)
{
	static const char *const bodies[] = { "token=secret-token-of-ann", "token=odd%3B%22to%2Cken%5Cof%25bob%2B" };
	static const char *const names[] = { "ann", "bob" };
	(void)state;
	struct site site;
	site_init(&site);
	for (size_t i = 0; i < 2; i++) {
		char value[600], cookie[700];
		struct ask ask = {
			.path = "/login", .method = "POST", .body = bodies[i], .headers = { HOST, FORM_TYPE }
		};
		struct server_reply reply = web_answer(&site.web, &ask);
		web_header(&reply, "Set-Cookie: ", value, sizeof value);
		value[strcspn(value, ";")] = '\0';
		assert_null(strpbrk(value, " \",\\"));
		(void)snprintf(cookie, sizeof cookie, "other=1; %s; more=2", value);
		struct ask with = { .path = "/api/v1/me", .headers = { "cookie", cookie } };
		struct server_request request = web_ask_request(&with);
		struct auth_viewer viewer;
		assert_true(auth_viewer(site.web.auth, &request, &viewer, &reply));
		assert_string_equal(viewer.name, names[i]);
		/* A wrong token beside it: not the cookie's either. */
		struct ask both = { .path = "/api/v1/me",
				    .headers = { "cookie", cookie, "authorization", "Bearer something-else-123" } };
		request = web_ask_request(&both);
		assert_false(auth_viewer(site.web.auth, &request, &viewer, &reply));
		buf_done(&reply.body);
	}
	struct ask out = { .path = "/logout", .method = "POST", .headers = { HOST } };
	struct server_reply reply = web_answer(&site.web, &out);
	assert_int_equal(reply.status, 204);
	assert_non_null(strstr(reply.extra, "Set-Cookie: __Host-bankfull=; Max-Age=0; Path=/; HttpOnly; Secure; "));
	buf_done(&reply.body);
	struct ask foreign = { .path = "/logout",
			       .method = "POST",
			       .headers = { HOST, "origin", "https://evil.example" } };
	reply = web_answer(&site.web, &foreign);
	assert_int_equal(reply.status, 403);
	assert_null(strstr(reply.extra, "Set-Cookie"));
	buf_done(&reply.body);
	site_done(&site);
}

static void wrong_tokens_are_limited(void **state)
{
	struct ask wrong = {
		.path = "/login", .method = "POST", .body = "token=wrong-token-12345", .headers = { HOST, FORM_TYPE }
	};
	struct ask right = wrong;
	right.body = "token=secret-token-of-ann";
	(void)state;
	struct site site;
	site_init(&site);
	for (unsigned i = 0; i < 10000; i++) {
		struct server_reply reply = web_answer(&site.web, &wrong);
		assert_int_equal(reply.status, i < LOGIN_TRIES ? 401 : 429);
		assert_int_equal(reply.retry_after_s, i < LOGIN_TRIES ? 0 : LOGIN_REFILL_MS / 1000);
		buf_done(&reply.body);
	}
	/* The right one has to wait too: otherwise guessing would go on. */
	struct server_reply reply = web_answer(&site.web, &right);
	assert_int_equal(reply.status, 429);
	buf_done(&reply.body);
	reply = web_answer_at(&site.web, &right, LOGIN_REFILL_MS);
	assert_int_equal(reply.status, 303);
	buf_done(&reply.body);
	site_done(&site);
}

static void limits_by_address(void **state)
{
	struct mono now = { 1 };
	char peer[64];
	(void)state;
	struct login_limit *limit = calloc(1, sizeof *limit);
	assert_non_null(limit);
	for (unsigned i = 0; i < LOGIN_TRIES; i++) {
		assert_int_equal(login_wait_s(limit, "192.0.2.1", now), 0);
		login_failed(limit, "192.0.2.1", now);
		(void)snprintf(peer, sizeof peer, "2001:db8:0:1::%x", i);
		login_failed(limit, peer, now);
	}
	assert_int_equal(login_wait_s(limit, "192.0.2.1", now), LOGIN_REFILL_MS / 1000);
	assert_int_equal(login_wait_s(limit, "192.0.2.2", now), 0);
	assert_int_equal(login_wait_s(limit, "2001:db8:0:1:ffff::9", now), LOGIN_REFILL_MS / 1000);
	assert_int_equal(login_wait_s(limit, "2001:db8:0:2::9", now), 0);
	/* So many addresses that the table is full: bounded, and those that failed last are still held. */
	for (unsigned i = 0; i < 10 * LOGIN_ADDRESSES_MAX; i++) {
		(void)snprintf(peer, sizeof peer, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		login_failed(limit, peer, now);
	}
	assert_int_equal(limit->n, LOGIN_ADDRESSES_MAX);
	assert_int_equal(login_wait_s(limit, "192.0.2.1", now), LOGIN_REFILL_MS / 1000);
	assert_int_equal(login_wait_s(limit, "192.0.2.1", mono_add_ms(now, 20ull * LOGIN_REFILL_MS)), 0);
	free(limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logging_in),
		cmocka_unit_test(the_cookie_is_the_token),
		cmocka_unit_test(wrong_tokens_are_limited),
		cmocka_unit_test(limits_by_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
