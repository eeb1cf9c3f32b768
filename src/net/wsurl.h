/* SPDX-License-Identifier: Apache-2.0 */
/* ws://HOST[:PORT][/PATH] and wss://, nothing else: no user, no query, no fragment. HOST may be [v6]. */
#ifndef NET_WSURL_H
#define NET_WSURL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct wsurl {
	bool tls;
	char host[256]; /* without brackets */
	uint16_t port;  /* 80 and 443 where none is given */
	char path[512]; /* begins with '/' */
	bool is_v6;     /* stood in brackets */
};

int wsurl_parse(const char *text, struct wsurl *ret_url, struct err *err) __attribute__((warn_unused_result));

#endif
