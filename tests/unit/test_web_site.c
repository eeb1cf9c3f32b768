/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are ours, and which pages may write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/webask.h"

static void sites(void **state)
{
	static const struct {
		const char *url, *host, *kept;
		uint16_t port;
		bool tls;
	} good[] = { { "https://bankfull.example.com", "bankfull.example.com", "https://bankfull.example.com", 443,
		       true },
		     { "https://B.example:8443/", "B.example", "https://B.example:8443", 8443, true },
		     { "http://[fd00::1]:80", "fd00::1", "http://[fd00::1]:80", 80, false },
		     { "http://10.0.0.1", "10.0.0.1", "http://10.0.0.1", 80, false } };
	static const char *const bad[] = { "",
					   "bankfull",
					   "ftp://x",
					   "https://",
					   "https://x/path",
					   "https://u@x",
					   "https://x:0",
					   "https://x:y",
					   "https://[x]",
					   "https://[::1",
					   "https://x?y",
					   "https://x:65536",
					   "https:///",
					   "https://x y" };
	struct web_site site;
	struct err err;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		if (web_site_parse(good[i].url, &site, &err) < 0)
			fail_msg("%s: %s", good[i].url, err.message);
		assert_string_equal(site.host, good[i].host);
		assert_string_equal(site.url, good[i].kept);
		assert_int_equal(site.port, good[i].port);
		assert_int_equal(site.tls, good[i].tls);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		site.port = 7;
		if (web_site_parse(bad[i], &site, &err) == 0)
			fail_msg("%s is taken", bad[i]);
		assert_int_equal(site.port, 7);
	}
	assert_int_equal(web_site_parse(NULL, &site, &err), 0);
	assert_string_equal(site.host, "");
}

enum { OPEN = 1, PUBLIC = 2, TLS = 4, BEARER = 8, COOKIE = 16, PROXIED = 32 };

/* A request of this kind; PUBLIC: --public-url https://bankfull.example.com. */
static void ask_kind(unsigned kind, const char *host, const char *origin, struct web *web, struct ask *ask)
{
	struct err err;
	size_t n = 0;
	*web = (struct web){ .open = kind & OPEN, .proxy_header = "x-forwarded-user" };
	assert_int_equal(web_site_parse(kind & PUBLIC ? "https://bankfull.example.com" : NULL, &web->site, &err), 0);
	*ask = (struct ask){ .path = "/api/v1/silences", .method = "POST", .tls = kind & TLS };
	const char *pairs[][2] = { { "host", host },
				   { "origin", origin },
				   { "authorization", kind & BEARER ? "bearer some-token-of-a-tool" : NULL },
				   { "cookie", kind & COOKIE ? "__Host-bankfull=x" : NULL },
				   { "x-forwarded-user", kind & PROXIED ? "ann" : NULL } };
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		if (!pairs[i][1])
			continue;
		ask->headers[n++] = pairs[i][0];
		ask->headers[n++] = pairs[i][1];
	}
}

static void hosts(void **state)
{
	static const struct {
		unsigned kind;
		const char *host;
		bool good;
	} rows[] = {
		{ OPEN, "localhost:8480", true },
		{ OPEN, "127.0.0.1:8480", true },
		{ OPEN, "[::1]:8480", true },
		{ OPEN, "LOCALHOST", true },
		{ OPEN, "evil.example", false },
		{ OPEN, "127.0.0.1.evil.example", false },
		{ OPEN, "localhost.evil.example:8480", false },
		{ OPEN, "", false },
		{ OPEN, NULL, false },
		{ OPEN, "[::1", false },
		{ OPEN, "localhost:80/x", false },
		{ OPEN, "localhost:", false },
		{ OPEN, "[::1]x", false },
		{ OPEN | BEARER, "evil.example", false }, /* whatever it shows: nobody looks at it */
		{ OPEN | PUBLIC, "bankfull.example.com", true },
		{ OPEN | PUBLIC, "BANKFULL.example.com:8481", true },
		{ OPEN | PUBLIC, "bankfull.example.com.evil.example", false },
		{ OPEN | PUBLIC, "bankfull.example.com:x", false },
		{ OPEN | PUBLIC, "10.0.0.1", true },
		{ 0, "any.example", true },
		{ COOKIE, "any.example", true },
		{ PUBLIC | COOKIE, "any.example", false },
		{ PUBLIC | COOKIE, "bankfull.example.com", true },
		{ PUBLIC | BEARER, "bankfull.monitoring.svc:8481", true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct web web;
		struct ask ask;
		ask_kind(rows[i].kind, rows[i].host, NULL, &web, &ask);
		struct server_request request = web_ask_request(&ask);
		if (web_host_ok(&web, &request) != rows[i].good)
			fail_msg("%zu %s", i, rows[i].host ? rows[i].host : "(none)");
	}
}

static void origins(void **state)
{
	static const struct {
		unsigned kind;
		const char *host, *origin;
		bool good;
	} rows[] = {
		{ OPEN, "localhost:8480", NULL, true },
		{ OPEN, "localhost:8480", "http://localhost:8480", true },
		{ OPEN, "localhost:8480", "http://LOCALHOST:8480", true },
		{ OPEN, "localhost:8480", "http://localhost:8481", false },
		{ OPEN, "localhost:8480", "http://localhost", false },
		{ OPEN, "localhost:8480", "http://127.0.0.1:8480", false },
		{ OPEN, "localhost:8480", "http://evil.example:8480", false },
		{ OPEN, "localhost:8480", "null", false },
		{ OPEN, "localhost:8480", "file://", false },
		{ OPEN, "localhost:8480", "http://localhost:8480@evil.example", false },
		{ OPEN, "localhost:8480", "http://localhost:8480/", false },
		{ OPEN, "localhost:8480", "http://localhost:8480 http://evil.example", false },
		{ OPEN, "localhost:8480", "chrome-extension://localhost:8480", false },
		{ OPEN, "localhost", "http://localhost", true },
		{ OPEN, "localhost:80", "http://localhost", true },
		{ OPEN, "localhost", "http://localhost:80", true },
		{ OPEN, "[::1]:8480", "http://[::1]:8480", true },
		{ OPEN, "[::1]:8480", "http://[::2]:8480", false },
		{ OPEN, "", "http://", false },
		{ OPEN, NULL, "http://localhost", false },
		{ TLS, "b.example", "https://b.example", true },
		{ TLS, "b.example:443", "https://b.example", true },
		{ TLS, "b.example", "http://b.example", false }, /* from a page that anybody on the line can write */
		{ TLS, "b.example:443", "http://b.example:443", false },
		{ 0, "b.example", "https://b.example", true }, /* TLS ended at a proxy */
		{ PUBLIC | TLS, "bankfull.example.com", "https://bankfull.example.com", true },
		{ PUBLIC, "bankfull.svc:8481", "https://bankfull.example.com", true },
		{ PUBLIC, "bankfull.svc:8481", "https://bankfull.example.com:443", true },
		{ PUBLIC, "bankfull.svc:8481", "http://bankfull.example.com", false },
		{ PUBLIC, "bankfull.svc:8481", "https://bankfull.example.com:8443", false },
		/* TLS ended at a proxy, and somebody on the line between there and the browser */
		{ PUBLIC, "bankfull.example.com", "https://bankfull.example.com", true },
		{ PUBLIC, "bankfull.example.com", "http://bankfull.example.com", false },
		{ PUBLIC, "BANKFULL.example.com:8481", "http://bankfull.example.COM:8481", false },
		{ PUBLIC, "localhost:8481", "http://localhost:8481", true },
		{ PUBLIC, "bankfull.svc:8481", "https://evil.example", false },
		{ 0, "b.example", NULL, false },
		{ COOKIE, "b.example", NULL, false }, /* what a browser adds by itself is not enough */
		{ BEARER, "b.example", NULL, true },
		{ PROXIED, "b.example", NULL, false },
		{ BEARER | PROXIED, "b.example", NULL, false }, /* the proxy added it, perhaps */
		{ PROXIED | TLS, "b.example", "https://b.example", true },
		{ PROXIED | TLS, "b.example", "https://evil.example", false },
		{ BEARER, "b.example", "https://evil.example", false },
		{ COOKIE | TLS, "b.example", "https://b.example", true },
		{ COOKIE | TLS, "b.example", "https://evil.example", false },
		{ COOKIE | TLS, "b.example", "https://sub.b.example", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct web web;
		struct ask ask;
		ask_kind(rows[i].kind, rows[i].host, rows[i].origin, &web, &ask);
		struct server_request request = web_ask_request(&ask);
		if (web_origin_ok(&web, &request) != rows[i].good)
			fail_msg("%zu host %s origin %s", i, rows[i].host ? rows[i].host : "(none)",
				 rows[i].origin ? rows[i].origin : "(none)");
	}
}

/* What auth_viewer() takes for no token, and looks at the cookie instead, is none here either. */
static void a_bearer_without_a_token(void **state)
{
	static const char *const headers[] = { "Bearer", "Bearer ", "Bearer  \t", "Basic some-token-of-a-tool" };
	(void)state;
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		struct web web;
		struct ask ask;
		ask_kind(COOKIE, "b.example", NULL, &web, &ask);
		ask.headers[4] = "authorization";
		ask.headers[5] = headers[i];
		struct server_request request = web_ask_request(&ask);
		assert_string_equal(ask.headers[2], "cookie");
		if (web_origin_ok(&web, &request))
			fail_msg("'%s'", headers[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites),
		cmocka_unit_test(hosts),
		cmocka_unit_test(origins),
		cmocka_unit_test(a_bearer_without_a_token),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
