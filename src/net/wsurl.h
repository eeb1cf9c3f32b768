/* SPDX-License-Identifier: Apache-2.0 */
/* A WebSocket URL taken apart (RFC 6455, section 3), without what we never send: user, query, fragment. */
#ifndef NET_WSURL_H
#define NET_WSURL_H

#include "base/err.h"
#include "base/str.h"

enum { WSURL_HOST_CAP = 254, WSURL_PATH_CAP = 256 };

struct wsurl {
	bool tls;                  /* wss */
	char host[WSURL_HOST_CAP]; /* a name or a numeric address, v6 without its brackets */
	uint16_t port;             /* 80 or 443 where none is written */
	char path[WSURL_PATH_CAP]; /* "/" where none is written */
};

/* USAGE, with what to write. */
int wsurl_parse(const char *url, struct wsurl *ret_url, struct err *err) __attribute__((warn_unused_result));

#endif
