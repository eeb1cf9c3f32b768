/* SPDX-License-Identifier: Apache-2.0 */
/* What browsers are served. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/assets.h"
#include "rules/pages.h"
#include "support/webask.h"

enum { CAP = 16 << 20, PAGE_BYTES_MAX = 200 * 1000 };

static void paths(void **state)
{
	static const struct {
		struct ask ask;
		unsigned status;
		const char *type, *part; /* of the body */
	} rows[] = {
		{ { .path = "/" }, 200, "text/html; charset=utf-8", "<!doctype html>" },
		{ { .path = "/docs.css" }, 200, "text/css; charset=utf-8", ":root" },
		{ { .path = "/login.js" }, 200, "text/javascript; charset=utf-8", "fetch(" },
		{ { .path = "/favicon.svg" }, 200, "image/svg+xml", "<svg" },
		{ { .path = "/NOTICE" }, 200, "text/plain; charset=utf-8", "Permission is hereby granted" },
		{ { .path = "/dygraph.min.js" }, 200, "text/javascript; charset=utf-8", "Dygraph" },
		{ { .path = "/docs/", .headers = { WEB_BROWSER } }, 200, "text/html; charset=utf-8", "<h1 id=" },
		{ { .path = "/docs/" }, 200, "text/plain; charset=utf-8", "# Documentation\n" },
		{ { .path = "/docs/rules/", .headers = { WEB_BROWSER } }, 200, "text/html; charset=utf-8", "oom-kill" },
		{ { .path = "/docs/collector", .headers = { WEB_BROWSER } },
		  200,
		  "text/html; charset=utf-8",
		  "<title>" },
		{ { .path = "/docs/collector.html", .headers = { WEB_BROWSER } },
		  200,
		  "text/html; charset=utf-8",
		  "<title>" },
		{ { .path = "/docs/collector" }, 200, "text/plain; charset=utf-8", "# The collector\n" },
		{ { .path = "/docs/collector.md", .headers = { WEB_BROWSER } },
		  200,
		  "text/plain; charset=utf-8",
		  "# The collector\n" },
		{ { .path = "/docs/openapi.json", .headers = { WEB_BROWSER } }, 200, "application/json", "openapi" },
		{ { .path = "/docs/openapi.json" }, 200, "application/json", "openapi" },
		{ { .path = "/docs/rules/oom-kill", .headers = { WEB_BROWSER } },
		  200,
		  "text/html; charset=utf-8",
		  "<title>oom-kill - Bankfull</title>" },
		{ { .path = "/docs/rules/oom-kill" }, 200, "text/plain; charset=utf-8", "# oom-kill\n" },
		{ { .path = "/docs/rules/oom-kill.md", .headers = { WEB_BROWSER } },
		  200,
		  "text/plain; charset=utf-8",
		  "# oom-kill\n" },
		{ { .path = "/docs" }, 301, "text/plain; charset=utf-8", NULL },
		{ { .path = "/docs/rules" }, 301, "text/plain; charset=utf-8", NULL },
		{ { .path = "/login" }, 303, "text/plain; charset=utf-8", NULL },
		{ { .path = "/nothing" }, 404, "application/json", "\"not-found\"" },
		{ { .path = "/nothing", .headers = { WEB_BROWSER } }, 404, "text/html; charset=utf-8", "Nothing here" },
		{ { .path = "/index" }, 404, "application/json", NULL },
		{ { .path = "/app.css/" }, 404, "application/json", NULL },
		{ { .path = "/docs/nothing" }, 404, "application/json", NULL },
		{ { .path = "/docs/rules/nothing", .headers = { WEB_BROWSER } },
		  404,
		  "text/html; charset=utf-8",
		  NULL },
		{ { .path = "/docs/rules/nothing" }, 404, "application/json", NULL },
		{ { .path = "/docs/rules/nothing/" }, 404, "application/json", NULL },
		{ { .path = "/docs/../app.css" }, 404, "application/json", NULL },
		{ { .path = "/docs/.md" }, 404, "application/json", NULL },
		{ { .path = "/docs/rules/.md" }, 404, "application/json", NULL },
		{ { .path = "/docs/<script>" }, 404, "application/json", NULL },
		{ { .path = "/docs/%s%s%s" }, 404, "application/json", NULL },
		{ { .path = "//" }, 404, "application/json", NULL },
		{ { .path = "/\\..\\app.css" }, 404, "application/json", NULL },
		{ { .path = "/", .method = "HEAD" }, 200, "text/html; charset=utf-8", NULL },
		{ { .path = "/", .method = "POST" }, 405, "application/json", NULL },
		{ { .path = "/app.css", .method = "DELETE" }, 405, "application/json", NULL },
		{ { .path = "/logout" }, 405, "application/json", NULL },
		{ { .path = "/login", .method = "PUT" }, 405, "application/json", NULL },
	};
	(void)state;
	struct web web = { .open = true };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct server_reply reply = web_answer(&web, &rows[i].ask);
		if (reply.status != rows[i].status || strcmp(reply.content_type, rows[i].type) != 0 ||
		    (rows[i].part && !strstr(reply.body.ptr, rows[i].part)))
			fail_msg("%zu %s: %u %s %.100s", i, rows[i].ask.path, reply.status, reply.content_type,
				 reply.body.len ? reply.body.ptr : "");
		if (!strstr(reply.headers, "Content-Security-Policy: default-src 'none'; script-src 'self'; ") ||
		    strstr(reply.headers, "unsafe"))
			fail_msg("%s: %s", rows[i].ask.path, reply.headers);
		assert_int_equal(strstr(reply.extra, "Allow: ") != NULL, reply.status == 405);
		assert_int_equal(strstr(reply.extra, "Location: /") != NULL, reply.status / 100 == 3);
		buf_done(&reply.body);
	}
}

static void long_paths(void **state)
{
	char path[2000];
	(void)state;
	struct web web = { .open = true };
	for (size_t len = 100; len < 300; len++) {
		for (unsigned docs = 0; docs < 3; docs++) {
			static const char *const starts[] = { "/", "/docs/", "/docs/rules/" };
			int n = snprintf(path, sizeof path, "%s", starts[docs]);
			memset(path + n, 'a', len);
			path[(size_t)n + len] = '\0';
			struct ask ask = { .path = path };
			struct server_reply reply = web_answer(&web, &ask);
			assert_int_equal(reply.status, 404);
			buf_done(&reply.body);
		}
	}
}

static void tags_and_gzip(void **state)
{
	static const struct {
		const char *accept, *encoding;
	} rows[] = { { "gzip", "gzip" },
		     { "deflate, GZIP;q=0.5, br", "gzip" },
		     { "gzip ; q=1", "gzip" },
		     { "gzip;q=0", "" },
		     { "gzip; q=0.000", "" },
		     { "gzip;q=0.001", "gzip" },
		     { "br", "" },
		     { "xgzip", "" },
		     { "", "" } };
	char tag[64], encoding[16], list[160];
	(void)state;
	struct web web = { .open = true };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ask ask = { .path = "/docs.css", .headers = { "accept-encoding", rows[i].accept } };
		struct server_reply reply = web_answer(&web, &ask);
		if (strcmp(web_header(&reply, "Content-Encoding: ", encoding, sizeof encoding), rows[i].encoding) != 0)
			fail_msg("%s: \"%s\"", rows[i].accept, encoding);
		assert_int_equal((unsigned char)reply.body.ptr[0] == 0x1f, rows[i].encoding[0] != '\0');
		assert_non_null(strstr(reply.extra, "Vary: Accept, Accept-Encoding\r\n"));
		web_header(&reply, "ETag: ", tag, sizeof tag);
		buf_done(&reply.body);
		static const struct {
			const char *format;
			unsigned status;
		} tags[] = { { "%s", 304 },    { "W/%s", 304 }, { "\"x\", %s", 304 }, { "*", 304 },
			     { "\"0%s", 200 }, { "\"\"", 200 }, { "", 200 } };
		for (size_t j = 0; j < sizeof tags / sizeof tags[0]; j++) {
			const char *at = strstr(tags[j].format, "%s");
			(void)snprintf(list, sizeof list, "%.*s%s",
				       (int)(at ? (size_t)(at - tags[j].format) : strlen(tags[j].format)),
				       tags[j].format, at ? tag : "");
			struct ask again = { .path = "/docs.css",
					     .headers = { "accept-encoding", rows[i].accept, "if-none-match", list } };
			reply = web_answer(&web, &again);
			if (reply.status != tags[j].status || (reply.status == 304 && reply.body.len))
				fail_msg("%s: %s: %u", rows[i].accept, list, reply.status);
			assert_non_null(strstr(reply.extra, tag));
			buf_done(&reply.body);
		}
	}
}

/* Each page that stands in docs/ is there, says its name, and loads nothing but the one stylesheet and the picture. */
static void documents(void **state)
{
	(void)state;
	struct web web = { .open = true };
	size_t n_rules = 0;
	for (size_t i = 0; i < asset_count; i++) {
		const struct asset *asset = &asset_table[i];
		assert_true(asset->len > 0 && asset->gzip_len > 0 && strlen(asset->etag) == 16);
		if (strcmp(asset->content_type, "text/html; charset=utf-8") != 0 || !strstr(asset->path, "/docs/"))
			continue;
		auto_buf struct buf text = { .cap = CAP };
		(void)buf_add(&text, (struct str){ (const char *)asset->bytes, asset->len });
		assert_null(strstr(text.ptr, "<script"));
		assert_null(strstr(text.ptr, " style="));
		assert_null(strstr(text.ptr, ".md\""));
		assert_non_null(strstr(text.ptr, "<link rel=\"stylesheet\" href=\"/docs.css\">"));
	}
	for (size_t i = 0; i < page_count; i++) {
		char path[100], title[100];
		(void)snprintf(path, sizeof path, "/docs/rules/%s", page_table[i].name);
		(void)snprintf(title, sizeof title, "<title>%s - Bankfull</title>", page_table[i].name);
		struct ask ask = { .path = path, .headers = { WEB_BROWSER } };
		struct server_reply reply = web_answer(&web, &ask);
		if (reply.status != 200 || !strstr(reply.body.ptr, title))
			fail_msg("%s: %u", path, reply.status);
		n_rules++;
		buf_done(&reply.body);
	}
	assert_true(n_rules > 30);
}

/* --- weight and policy ------------------------------------------------------------------------------------------- */

static const struct asset *asset_at(const char *path)
{
	for (size_t i = 0; i < asset_count; i++)
		if (strcmp(asset_table[i].path, path) == 0)
			return &asset_table[i];
	return NULL;
}

/* Bytes of this file and of all that it loads before it runs, each once. */
static size_t weigh(const char *path, bool *seen)
{
	static const char *const loads[] = { "from './", "from \"./", "import './", "href=\"/", "src=\"/" };
	char name[100];
	const struct asset *asset = asset_at(path);
	if (!asset)
		fail_msg("%s is loaded, and is not there", path);
	if (seen[asset - asset_table] || strncmp(path, "/dygraph", 8) == 0)
		return 0;
	seen[asset - asset_table] = true;
	size_t bytes = asset->len;
	auto_buf struct buf text = { .cap = CAP };
	(void)buf_add(&text, (struct str){ (const char *)asset->bytes, asset->len });
	for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
		for (const char *at = text.ptr; (at = strstr(at, loads[i]));) {
			at += strlen(loads[i]);
			(void)snprintf(name, sizeof name, "/%.*s", (int)strcspn(at, "'\""), at);
			bytes += weigh(name, seen);
		}
	}
	return bytes;
}

/* The shell, and each page of the dashboard on top of it, without the chart library. */
static void weight(void **state)
{
	(void)state;
	size_t n = 0;
	for (size_t i = 0; i < asset_count; i++) {
		bool seen[1000] = { false };
		assert_true(asset_count <= sizeof seen);
		if (strncmp(asset_table[i].path, "/page_", 6) != 0)
			continue;
		size_t bytes = weigh("/index.html", seen) + weigh(asset_table[i].path, seen);
		if (bytes > PAGE_BYTES_MAX)
			fail_msg("%s weighs %zu bytes, and may weigh %d", asset_table[i].path, bytes, PAGE_BYTES_MAX);
		assert_true(bytes > 20000); /* it was followed */
		n++;
	}
	assert_true(n >= 5);
}

static void nothing_that_the_policy_forbids(void **state)
{
	static const char *const forbidden[] = { "innerHTML", "outerHTML",     "insertAdjacentHTML", "document.write",
						 "eval(",     "new Function(", "importScripts" };
	static const char *const inline_[] = { " style=", " onclick=", " onload=", "<style", "<script>" };
	(void)state;
	for (size_t i = 0; i < asset_count; i++) {
		const struct asset *asset = &asset_table[i];
		if (strncmp(asset->path, "/docs/", 6) == 0 || strncmp(asset->path, "/dygraph", 8) == 0)
			continue;
		auto_buf struct buf text = { .cap = CAP };
		(void)buf_add(&text, (struct str){ (const char *)asset->bytes, asset->len });
		for (size_t j = 0; j < sizeof forbidden / sizeof forbidden[0]; j++)
			if (strstr(text.ptr, forbidden[j]))
				fail_msg("%s: %s", asset->path, forbidden[j]);
		for (size_t j = 0; j < sizeof inline_ / sizeof inline_[0]; j++)
			if (strstr(asset->content_type, "html") && strstr(text.ptr, inline_[j]))
				fail_msg("%s: %s within the page", asset->path, inline_[j]);
	}
}

static void strict_transport(void **state)
{
	static const struct {
		const char *host;
		bool tls, strict;
	} rows[] = { { "bankfull.example.com", true, true },   { "bankfull.example.com:8481", true, true },
		     { "bankfull.example.com", false, false }, { "localhost:8481", true, false },
		     { "10.0.0.1:8481", true, false },         { "[::1]:8481", true, false } };
	(void)state;
	struct web web = { .open = true };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ask ask = { .path = "/docs.css", .headers = { "host", rows[i].host }, .tls = rows[i].tls };
		struct server_reply reply = web_answer(&web, &ask);
		if ((strstr(reply.headers, "Strict-Transport-Security: ") != NULL) != rows[i].strict)
			fail_msg("%s: %s", rows[i].host, reply.headers);
		buf_done(&reply.body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(long_paths),
		cmocka_unit_test(tags_and_gzip),
		cmocka_unit_test(documents),
		cmocka_unit_test(weight),
		cmocka_unit_test(nothing_that_the_policy_forbids),
		cmocka_unit_test(strict_transport),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
