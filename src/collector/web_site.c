/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are ours, and which pages may write: Host and Origin. */
#include <arpa/inet.h>
#include <strings.h>

#include "collector/listen.h"
#include "collector/web.h"

/* A host and a port, as in Host, in an Origin behind "://" and in a URL. */
struct authority {
	struct str host; /* without brackets */
	uint16_t port;   /* 0: none is named */
};

static bool is_host_byte(char c, bool v6)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.')
		return true;
	return v6 ? c == ':' : c == '-' || c == '_';
}

static bool is_v6(struct str host)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr binary;
	str_copy(text, sizeof text, host);
	return host.len < sizeof text && inet_pton(AF_INET6, text, &binary) == 1;
}

static bool authority_parse(struct str text, struct authority *ret)
{
	struct authority found = { 0 };
	bool v6 = str_take(&text, STR("["));
	uint64_t port;
	while (found.host.len < text.len && is_host_byte(text.ptr[found.host.len], v6))
		found.host.len++;
	found.host.ptr = text.ptr;
	text = str_skip(text, found.host.len);
	if (found.host.len == 0 || (v6 && (!is_v6(found.host) || !str_take(&text, STR("]")))))
		return false;
	if (str_take(&text, STR(":"))) {
		if (!str_is_u64(text, &port) || port == 0 || port > UINT16_MAX)
			return false;
		found.port = (uint16_t)port;
	} else if (text.len) {
		return false;
	}
	*ret = found;
	return true;
}

static bool scheme_take(struct str *rest, bool *ret_tls)
{
	*ret_tls = str_take(rest, STR("https://"));
	return *ret_tls || str_take(rest, STR("http://"));
}

/* Browsers leave a scheme's own port out, in Origin and in Host. */
static uint16_t port_of(const struct authority *authority, bool tls)
{
	return authority->port ? authority->port : tls ? 443 : 80;
}

static bool same_host(struct str a, struct str b)
{
	return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

int web_site_parse(const char *url, struct web_site *ret_site, struct err *err)
{
	struct web_site site = { 0 };
	struct authority authority;
	struct str rest = str_of(url ? url : "");
	if (!url) {
		*ret_site = site;
		return 0;
	}
	while (str_ends(rest, STR("/")))
		rest.len--;
	struct str whole = rest;
	if (!scheme_take(&rest, &site.tls) || !authority_parse(rest, &authority) ||
	    authority.host.len >= sizeof site.host || whole.len >= sizeof site.url)
		return err_set(err, ERR_USAGE,
			       "is no address of a site: write https://HOST or https://HOST:PORT, without a path");
	str_copy(site.host, sizeof site.host, authority.host);
	str_copy(site.url, sizeof site.url, whole);
	site.port = port_of(&authority, site.tls);
	*ret_site = site;
	return 0;
}

/*
 * A token that no browser adds by itself: a page that sends it must know it already. One that comes with a proxy's header is
 * none, for a proxy may add it to whatever a browser sends (oauth2-proxy's pass_authorization_header).
 */
static bool has_bearer(const struct web *web, const struct server_request *request)
{
	if (web->proxy_header && server_header(request, web->proxy_header).len)
		return false;
	struct str token;
	return auth_bearer(request, &token);
}

static bool is_public(const struct web *web, struct str host)
{
	return web->site.host[0] && same_host(host, str_of(web->site.host));
}

bool web_host_ok(const struct web *web, const struct server_request *request)
{
	struct str text = server_header(request, "host");
	struct authority host;
	if (listen_host_is_address(text))
		return true;
	if (authority_parse(text, &host) && is_public(web, host.host))
		return true;
	return !web->open && (!web->site.host[0] || has_bearer(web, request));
}

static bool is_same_site(const struct web *web, struct str origin, const struct server_request *request)
{
	struct authority from, host;
	bool tls;
	if (!scheme_take(&origin, &tls) || !authority_parse(origin, &from))
		return false; /* "null" too: a page in a sandbox, or led here by a redirect */
	if (is_public(web, from.host) && tls == web->site.tls && port_of(&from, tls) == web->site.port)
		return true;
	/* Who sits on the line can write every page that comes without TLS, under the name of this site too. */
	if (!tls && web->site.tls && is_public(web, from.host) && !listen_host_is_address(from.host))
		return false;
	/* The same where the request came over TLS. Where it came without, a proxy may have ended TLS. */
	return (tls || !request->is_tls) && authority_parse(server_header(request, "host"), &host) &&
	       same_host(from.host, host.host) && port_of(&from, tls) == port_of(&host, tls);
}

bool web_origin_ok(const struct web *web, const struct server_request *request)
{
	struct str origin = server_header(request, "origin");
	return origin.len ? is_same_site(web, origin, request) : web->open || has_bearer(web, request);
}
