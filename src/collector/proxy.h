/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a proxy that people log in at (oauth2-proxy, an ingress with OIDC) says is asking. Its header counts from listed
 * peers alone; from any other it is somebody's own invention, and that request is nobody's, whatever else it shows.
 * Who the user is decides a file of roles, read like those of tokens.
 *
 * The proxy must replace the header that a client sends, not add a second one: libwebsockets 4.1.6 gives the first of two.
 */
#ifndef COLLECTOR_PROXY_H
#define COLLECTOR_PROXY_H

#include <netinet/in.h>

#include "collector/tokens.h"

enum { PROXY_PEERS_MAX = 16, PROXY_HEADER_CAP = 64, PROXY_GROUPS_MAX = 256 };

struct proxy_peers {
	struct {
		struct in6_addr address; /* v4 mapped */
		unsigned bits;           /* of 128 */
	} nets[PROXY_PEERS_MAX];
	size_t n;
};

/* PURE. "10.0.0.0/8,fd00::/8,192.0.2.7". USAGE. */
int proxy_peers_parse(const char *text, struct proxy_peers *ret_peers, struct err *err)
	__attribute__((warn_unused_result));
bool proxy_peers_has(const struct proxy_peers *peers, const char *peer);

struct proxy {
	struct proxy_peers peers;
	char user_header[PROXY_HEADER_CAP], groups_header[PROXY_HEADER_CAP]; /* lower case; groups: "" for none */
};

/* `user_header` NULL: x-forwarded-user; `groups_header` NULL: none. USAGE. */
int proxy_init(struct proxy *proxy, const char *peers, const char *user_header, const char *groups_header,
	       struct err *err) __attribute__((warn_unused_result));

enum proxy_says {
	PROXY_NOTHING,  /* no such header */
	PROXY_USER,     /* `*ret_viewer` */
	PROXY_NO_ROLE,  /* a user that no line of the file fits */
	PROXY_STRANGER, /* the header, and not from a listed peer */
};

/* `roles` is of kind TOKENS_PROXY. The first line that fits the user, one of the groups or is "*" holds. */
enum proxy_says proxy_viewer(const struct proxy *proxy, const struct tokens *roles,
			     const struct server_request *request, struct auth_viewer *ret_viewer);

/* PURE. The same of the headers' texts, from a listed peer. */
enum proxy_says proxy_role(const struct tokens *roles, struct str user, struct str groups,
			   struct auth_viewer *ret_viewer);

#endif
