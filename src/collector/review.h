/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kubernetes TokenReview (authentication.k8s.io/v1): is this service-account token good, for our audience, and whose
 * pod is it bound to. request and answer are PURE; review_ask() blocks and runs on a thread of its own.
 */
#ifndef COLLECTOR_REVIEW_H
#define COLLECTOR_REVIEW_H

#include "base/buf.h"
#include "base/err.h"
#include "collector/auth.h"
#include "collector/kube_api.h"
#include "wire/jwt.h"

enum {
	REVIEW_TIMEOUT_MS = 8000,
	REVIEW_BODY_MAX = 64 * 1024,
	REVIEW_AUDIENCE_CAP = 256,
};

/* Where to ask. A copy goes with each review, which may outlive whoever began it. */
struct review_target {
	struct kube_api api; /* its base is the URL of reviews */
	char audience[REVIEW_AUDIENCE_CAP];
};

/* USAGE: a URL that is none, a name that is too long. */
int review_target_set(const struct auth_options *options, struct review_target *ret_target, struct err *err)
	__attribute__((warn_unused_result));

int review_request(struct str token, const char *audience, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));
/* DENIED with the reason: not authenticated, another audience, bound to no pod. MALFORMED: no TokenReview. */
int review_answer(struct str body, const char *audience, struct auth_agent *ret_agent, struct err *err)
	__attribute__((warn_unused_result));

/* DENIED is the API server's answer about the token; every other error says nothing about it. */
int review_ask(const struct review_target *target, struct str token, const atomic_bool *abandon,
	       struct auth_agent *ret_agent, struct err *err) __attribute__((warn_unused_result));

#endif
