/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people's browsers ask for: the dashboard, the documentation and the login page, all from memory (assets.h), and
 * whether a browser that asks was led here by a page of somebody else.
 *
 * Assets, documentation and the login page hold no data and are anybody's; data stands behind the API.
 */
#ifndef COLLECTOR_WEB_H
#define COLLECTOR_WEB_H

#include "collector/auth.h"
#include "collector/login.h"
#include "net/server.h"

/* Where this site is, as --public-url says. */
struct web_site {
	bool tls;
	char host[256]; /* lower case, v6 without brackets; "": not said */
	uint16_t port;
	char url[300]; /* without the '/' at its end, for links in alerts; "": not said */
};

/* Somebody did something that is to be remembered: store_audit.h. */
typedef void web_deed_fn(void *context, const char *what, const char *who, const char *peer);

struct web {
	struct web_site site;
	bool open;                /* no viewer has to say who he is */
	const char *proxy_header; /* auth_proxy_header() */
	struct auth *auth;        /* borrowed */
	struct logger *log;
	struct login_limit limit;
	web_deed_fn *deed; /* NULL: nobody is told */
	void *deed_context;
};

/* PURE. `url`: http(s)://HOST[:PORT] without path, or NULL. USAGE. */
int web_site_parse(const char *url, struct web_site *ret_site, struct err *err) __attribute__((warn_unused_result));

/*
 * Host is an address, localhost or that of --public-url. Another name can be one that a page's owner lets resolve to us
 * (DNS rebinding), and that page is then of our origin. It is no harm where viewers show who they are: a cookie is of
 * the name that set it. So another name is refused where nobody has to, and, but for those with a Bearer token, where
 * --public-url says which it would be.
 */
bool web_host_ok(const struct web *web, const struct server_request *request);

/*
 * An Origin header, where there is one, names this very site: the host and port of Host, or --public-url. Without one
 * it is no browser's request (they send it with every write and every upgrade): let it pass with a Bearer token, or
 * where nobody has to say who he is; what a browser adds by itself, a cookie or a proxy's header, is not enough.
 */
bool web_origin_ok(const struct web *web, const struct server_request *request);

/* A request outside of /api, /metrics and health, any method: always a reply. */
void web_request(struct web *web, const struct server_request *request, struct mono now, struct server_reply *reply);

/* Headers that each reply to a browser has; those of `reply->extra` stay. */
void web_headers(const struct server_request *request, struct server_reply *reply);

#endif
