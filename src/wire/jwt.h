/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in a Kubernetes service-account token (a JWT, RFC 7519; the claims under "kubernetes.io" are those of bound
 * tokens, KEP-1205). PURE, and it proves nothing: the signature is not looked at. It spares the API server tokens that
 * cannot be good, names the pod of a token whose hash was reviewed before, and tells an agent when its own ends.
 */
#ifndef WIRE_JWT_H
#define WIRE_JWT_H

#include "bankfull/quantity.h"
#include "bankfull/subject.h"
#include "base/err.h"
#include "base/str.h"

enum { JWT_MAX = 8192 };

struct jwt {
	struct wall expires;
	bool for_audience; /* the one asked about is among its own */
	/* "" where it has none; `account` is the service account's name */
	char namespace_[64], account[WIRE_NAME_CAP], pod[WIRE_NAME_CAP], pod_uid[40], node[WIRE_NAME_CAP];
};

/* MALFORMED: not three base64url parts of at most JWT_MAX bytes in all, or its payload is no object with "exp". */
int jwt_parse(struct str token, const char *audience, struct jwt *ret_jwt, struct err *err)
	__attribute__((warn_unused_result));

#endif
