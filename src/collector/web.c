/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/web.h"

#include <stdio.h>
#include <strings.h>

#include "collector/assets.h"
#include "collector/listen.h"
#include "collector/web_parts.h"
#include "rules/pages.h"

/* Under "no-referrer" a form that is sent without script would have Origin: null (Fetch, "append a request Origin header"). */
#define SECURITY                                                                                                   \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
	"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n"     \
	"X-Content-Type-Options: nosniff\r\n"                                                                      \
	"Referrer-Policy: same-origin\r\n"                                                                         \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                                                              \
	"Cross-Origin-Resource-Policy: same-origin\r\n"                                                            \
	"Permissions-Policy: camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()\r\n"

void web_headers(const struct server_request *request, struct server_reply *reply)
{
	static const char plain[] = SECURITY;
	/* For a name of its own alone: on localhost it would turn every other program's http:// there into https://. */
	static const char strict[] = SECURITY "Strict-Transport-Security: max-age=31536000\r\n";
	reply->headers = request->is_tls && !listen_host_is_address(server_header(request, "host")) ? strict : plain;
}

/* --- what a request asks for -------------------------------------------------------------------------------------- */

static const struct asset *find(const char *path)
{
	for (size_t i = 0; i < asset_count; i++)
		if (strcmp(asset_table[i].path, path) == 0)
			return &asset_table[i];
	return NULL;
}

static bool wants_html(const struct server_request *request)
{
	return str_has(server_header(request, "accept"), STR("text/html"));
}

/* A quality of 0 is a no (RFC 9110 section 12.4.2). */
static bool is_zero(struct str quality)
{
	return str_take(&quality, STR("q=0")) && (quality.len == 0 || str_eq(quality, STR(".0")) ||
						  str_eq(quality, STR(".00")) || str_eq(quality, STR(".000")));
}

static bool takes_gzip(const struct server_request *request)
{
	struct str rest = server_header(request, "accept-encoding"), part;
	while (str_split(&rest, ',', &part)) {
		struct str name = { part.ptr, str_index(part, ';') };
		struct str quality = str_trim(str_skip(part, name.len + 1));
		name = str_trim(name);
		if (name.len == 4 && strncasecmp(name.ptr, "gzip", 4) == 0)
			return !is_zero(quality);
	}
	return false;
}

/* One of the tags in If-None-Match is `etag`, or it is "*". Weak ones compare as well (RFC 9110 section 13.1.2). */
static bool has_tag(struct str list, const char *etag)
{
	struct str part;
	while (str_split(&list, ',', &part)) {
		part = str_trim(part);
		(void)str_take(&part, STR("W/"));
		if (str_eq(part, str_of(etag)) || str_eq(part, STR("*")))
			return true;
	}
	return false;
}

/* --- replies ------------------------------------------------------------------------------------------------------ */

void web_page(struct server_reply *reply, unsigned status, const char *title, const char *text, const char *href,
	      const char *link)
{
	reply->status = status;
	reply->content_type = "text/html; charset=utf-8";
	buf_clear(&reply->body);
	(void)buf_printf(
		&reply->body,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s - Bankfull</title>\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<link rel=\"stylesheet\" href=\"/docs.css\">\n<link rel=\"icon\" href=\"/favicon.svg\">\n</head>\n"
		"<body>\n<header><nav aria-label=\"Bankfull\"><a href=\"/\">Bankfull</a> <a href=\"/docs/\">Documentation"
		"</a></nav></header>\n<main>\n<h1>%s</h1>\n<p>%s.</p>\n<p><a href=\"%s\">%s</a></p>\n</main>\n</body>\n</html>\n",
		title, title, text, href, link);
}

static void not_found(const struct server_request *request, struct server_reply *reply)
{
	if (wants_html(request))
		web_page(reply, 404, "Nothing here", "There is no page at this address", "/", "To the fleet");
	else
		(void)server_refuse(reply, 404, "nothing is served at this path");
	str_copy(reply->extra, sizeof reply->extra, STR("Cache-Control: no-store\r\n"));
}

static void moved(struct server_reply *reply, const char *location)
{
	reply->status = 301;
	reply->content_type = "text/plain; charset=utf-8";
	(void)snprintf(reply->extra, sizeof reply->extra, "Location: %s\r\n", location);
}

static void send(const struct server_request *request, struct str text, const char *content_type, const char *etag,
		 const char *encoding, struct server_reply *reply)
{
	char tag[40];
	(void)snprintf(tag, sizeof tag, "\"%s%s%s\"", etag, encoding[0] ? "-" : "", encoding);
	(void)snprintf(reply->extra, sizeof reply->extra,
		       "ETag: %s\r\nCache-Control: no-cache\r\nVary: Accept, Accept-Encoding\r\n%s%s%s", tag,
		       encoding[0] ? "Content-Encoding: " : "", encoding, encoding[0] ? "\r\n" : "");
	if (has_tag(server_header(request, "if-none-match"), tag)) {
		reply->status = 304;
		return;
	}
	reply->content_type = content_type;
	(void)buf_add(&reply->body, text);
}

static void send_asset(const struct server_request *request, const struct asset *asset, struct server_reply *reply)
{
	bool small = asset->gzip_len < asset->len && takes_gzip(request);
	struct str text = small ? (struct str){ (const char *)asset->gzip, asset->gzip_len }
				: (struct str){ (const char *)asset->bytes, asset->len };
	send(request, text, asset->content_type, asset->etag, small ? "gzip" : "", reply);
}

/* --- documentation ------------------------------------------------------------------------------------------------ */

/* The Markdown of a rule, which agents and `curl` get: a browser that asks for it shows text and runs nothing. */
static void send_rule(const struct server_request *request, const char *rule, struct server_reply *reply)
{
	char path[160];
	const struct page *page = page_find(rule);
	(void)snprintf(path, sizeof path, "/docs/rules/%s", rule);
	const struct asset *asset = find(path);
	if (page && asset)
		send(request, str_of(page->text), "text/plain; charset=utf-8", asset->etag, "", reply);
	else
		not_found(request, reply);
}

/* `name` is what stands behind /docs/: a page as HTML for browsers, as Markdown with .md or for whoever takes no HTML. */
static void send_doc(const struct server_request *request, struct str name, struct server_reply *reply)
{
	char path[160];
	struct str rule = name;
	bool markdown = str_ends(name, STR(".md")) || !wants_html(request);
	bool is_index = name.len == 0 || str_ends(name, STR("/"));
	if (str_ends(name, STR(".md")))
		name.len -= 3;
	else if (str_ends(name, STR(".html")))
		name.len -= 5;
	if (name.len > sizeof path - sizeof "/docs/index.md") {
		not_found(request, reply);
		return;
	}
	(void)snprintf(path, sizeof path, "/docs/%.*s%s%s", (int)name.len, name.ptr, is_index ? "index" : "",
		       markdown && !str_ends(name, STR(".json")) ? ".md" : "");
	const struct asset *asset = find(path);
	if (asset) {
		send_asset(request, asset, reply);
	} else if (markdown && str_take(&rule, STR("rules/"))) {
		str_copy(path, sizeof path, (struct str){ rule.ptr, name.len - 6 });
		send_rule(request, path, reply);
	} else {
		not_found(request, reply);
	}
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

static void get(const struct web *web, const struct server_request *request, struct server_reply *reply)
{
	char path[160];
	struct str rest = request->path;
	if (str_take(&rest, STR("/docs/"))) {
		if (str_eq(rest, STR("rules")))
			moved(reply, "/docs/rules/");
		else
			send_doc(request, rest, reply);
		return;
	}
	if (str_eq(request->path, STR("/docs"))) {
		moved(reply, "/docs/");
		return;
	}
	if (str_eq(request->path, STR("/login")) && web->open) {
		moved(reply, "/");
		reply->status = 303;
		return;
	}
	str_copy(path, sizeof path, request->path);
	const struct asset *asset = find(str_eq(request->path, STR("/"))        ? "/index.html"
					 : str_eq(request->path, STR("/login")) ? "/login.html"
										: path);
	if (asset && request->path.len < sizeof path)
		send_asset(request, asset, reply);
	else
		not_found(request, reply);
}

static void not_allowed(struct server_reply *reply, const char *allow)
{
	(void)server_refuse(reply, 405, "this path is not for this method: see Allow");
	(void)snprintf(reply->extra, sizeof reply->extra, "Allow: %s\r\n", allow);
}

void web_request(struct web *web, const struct server_request *request, struct mono now, struct server_reply *reply)
{
	bool reads = str_eq(request->method, STR("GET")) || str_eq(request->method, STR("HEAD"));
	bool writes = str_eq(request->method, STR("POST"));
	if (str_eq(request->path, STR("/login")) && writes)
		web_login(web, request, now, reply);
	else if (str_eq(request->path, STR("/logout")) && writes)
		web_logout(web, request, reply);
	else if (str_eq(request->path, STR("/logout")))
		not_allowed(reply, "POST");
	else if (reads)
		get(web, request, reply);
	else
		not_allowed(reply, str_eq(request->path, STR("/login")) ? "GET, HEAD, POST" : "GET, HEAD");
	if (buf_failed(&reply->body))
		(void)server_refuse(reply, 503, "no memory for the reply");
}
