/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in a Kubernetes service-account token (a JWT, RFC 7519; the claims under "kubernetes.io" are those of bound
 * tokens, KEP-1205). PURE, and it proves nothing: the signature is not looked at. It spares the API server tokens that
 * cannot be good, and names the pod of a token whose hash was reviewed before.
 */
#ifndef COLLECTOR_JWT_H
#define COLLECTOR_JWT_H

#include "bankfull/quantity.h"
#include "bankfull/subject.h"
#include "base/err.h"
#include "base/str.h"

enum { JWT_MAX = 8192 };

struct jwt {
	struct wall expires;
	bool for_audience; /* the one asked about is among its own */
	char namespace_[64], pod[WIRE_NAME_CAP], pod_uid[40], node[WIRE_NAME_CAP]; /* "" where it has none */
};

/* MALFORMED: not three base64url parts of at most JWT_MAX bytes in all, or its payload is no object with "exp". */
int jwt_parse(struct str token, const char *audience, struct jwt *ret_jwt, struct err *err)
	__attribute__((warn_unused_result));

#endif
