/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What browsers send, a line each: method, path, Host, Origin, Cookie, Accept, Accept-Encoding, If-None-Match, Content-Type; the
 * rest is the body. No header of a reply is written by whoever asks, a name that is not ours never passes, and a token
 * comes back from its cookie.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "collector/proxy.h"
#include "collector/web.h"

enum { LINES = 9, LINE_CAP = 600 };

static char lines[LINES][LINE_CAP];

static void check(bool good)
{
	if (!good)
		abort();
}

/* Whole lines "Name: value". */
static void check_extra(const char *extra)
{
	struct str rest = str_of(extra), line;
	while (str_line(&rest, &line)) {
		check(line.len > 3 && line.ptr[line.len - 1] == '\r');
		check(str_index(line, ':') > 0 && str_index(line, ':') < line.len);
		for (size_t i = 0; i + 1 < line.len; i++)
			check((unsigned char)line.ptr[i] >= ' ');
	}
}

static void ask(struct web *web, const struct server_request *request)
{
	struct server_reply reply = { .status = 200, .content_type = "application/json", .body.cap = 16 << 20 };
	web_request(web, request, (struct mono){ 1 }, &reply);
	web_headers(request, &reply);
	check(!buf_failed(&reply.body) && reply.headers && reply.status >= 200 && reply.status < 504);
	check(reply.status != 304 || reply.body.len == 0);
	check_extra(reply.extra);
	buf_done(&reply.body);
}

static void names(const struct server_request *request)
{
	struct web web = { .open = false };
	struct err err;
	struct str host = server_header(request, "host"), origin = server_header(request, "origin");
	check(web_site_parse("https://bankfull.example.com", &web.site, &err) == 0);
	/* Only what ends in our name, but for its port, may be ours; with the '/' of a path it is no Origin. */
	bool ours = str_has(origin, STR("://")) && !str_ends(origin, STR("/"));
	if (web_origin_ok(&web, request))
		check(ours && (origin.len == 28 || origin.len >= 7 + 1));
	web.open = true;
	if (web_host_ok(&web, request))
		check(host.len >= 2 && !str_has(host, STR("@")) && !str_has(host, STR("/")));
	struct web_site site;
	if (web_site_parse(lines[3], &site, &err) == 0)
		check(site.host[0] && site.port && site.url[strlen(site.url) - 1] != '/');
}

static void tokens(struct str body)
{
	char token[LOGIN_TOKEN_CAP], back[LOGIN_TOKEN_CAP];
	struct err err;
	for (unsigned json = 0; json < 2; json++) {
		auto_buf struct buf cookie = { .cap = 3 * LOGIN_TOKEN_CAP };
		if (login_token(body, json, token, &err) < 0)
			continue;
		login_cookie_encode(token, &cookie);
		check(!buf_failed(&cookie) && !strpbrk(cookie.ptr, " \t\r\n\",;\\"));
		check(login_cookie_decode(buf_str(&cookie), back, sizeof back) && strcmp(token, back) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct web web = { .open = true };
	struct str rest = { (const char *)data, size }, line;
	struct proxy_peers peers;
	struct err err;
	memset(lines, 0, sizeof lines);
	for (size_t i = 0; i < LINES && str_line(&rest, &line); i++)
		str_copy(lines[i], sizeof lines[i], line);
	const char *headers[] = { "host",          lines[2], "origin",       lines[3],          "cookie",
				  lines[4],        "accept", lines[5],       "accept-encoding", lines[6],
				  "if-none-match", lines[7], "content-type", lines[8],          NULL };
	struct server_request request = { .method = str_of(lines[0]),
					  .path = str_of(lines[1]),
					  .query = STR(""),
					  .body = rest,
					  .peer = "192.0.2.1",
					  .headers = headers };
	ask(&web, &request);
	names(&request);
	tokens(rest);
	if (proxy_peers_parse(lines[2], &peers, &err) == 0)
		check(peers.n > 0 && peers.n <= PROXY_PEERS_MAX);
	return 0;
}
