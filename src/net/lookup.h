/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host name to addresses, in a forked child: getaddrinfo(3) blocks for as long as its resolver likes (5 s a server
 * and search domain by default), and the loop must not. There is no deadline here: free the lookup to end it.
 */
#ifndef NET_LOOKUP_H
#define NET_LOOKUP_H

#include <netinet/in.h>

#include "base/err.h"
#include "net/loop.h"

enum { LOOKUP_MAX = 8 };

struct lookup_result {
	size_t n; /* 0: none, see why */
	char addresses[LOOKUP_MAX][INET6_ADDRSTRLEN];
	char why[160];
};

struct lookup;
typedef void lookup_fn(void *context, const struct lookup_result *result);

/* `fn` is called once, from the loop; it may free the lookup. */
int lookup_new(struct loop *loop, const char *host, lookup_fn *fn, void *context, struct lookup **ret_lookup,
	       struct err *err) __attribute__((warn_unused_result));
void lookup_free(struct lookup *lookup); /* NULL is fine */

/* `host` is a numeric address: no lookup is needed. */
bool lookup_is_numeric(const char *host);
/* A numeric address of 127.0.0.0/8 or ::1. */
bool lookup_is_loopback(const char *address);

#endif
