/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server of Kubernetes, as a service account. Its token is read anew for each request, since the kubelet rotates
 * it within the hour. Every call blocks and belongs on a thread of its own (loop_work()).
 */
#ifndef COLLECTOR_KUBE_API_H
#define COLLECTOR_KUBE_API_H

#include "base/buf.h"
#include "base/err.h"
#include "net/http.h"

enum { KUBE_URL_CAP = 1024, KUBE_PATH_CAP = 512, KUBE_TOKEN_MAX = 16 * 1024 };

/* A copy goes with each request, which may outlive whoever began it. */
struct kube_api {
	char base[KUBE_URL_CAP], ca_file[KUBE_PATH_CAP], token_file[KUBE_PATH_CAP];
};

/*
 * `base` NULL: as a pod finds it (KUBERNETES_SERVICE_HOST); UNSUPPORTED where this is none. The files NULL: those of the
 * pod's service account. USAGE: no URL, or one of them is too long. "" is no file.
 */
int kube_api_set(const char *base, const char *ca_file, const char *token_file, struct kube_api *ret_api,
		 struct err *err) __attribute__((warn_unused_result));

struct kube_request {
	const char *method; /* NULL: GET */
	const char *path;   /* below the base: "/api/v1/..." */
	struct str body;    /* JSON */
	size_t cap;         /* most bytes of the answer */
	unsigned timeout_ms;
	const atomic_bool *abandon; /* as of http_post; not looked at with GET */
};
/* `*ret_status` also of what was refused; 0: there was no answer. What of the caller is secret in `answer`, is the caller's to wipe. */
int kube_call(const struct kube_api *api, const struct kube_request *request, struct buf *answer, long *ret_status,
	      struct err *err) __attribute__((warn_unused_result));

/* A watch: http_follow() of `path`, for at most `timeout_ms` and `cap` bytes. */
int kube_follow(const struct kube_api *api, const struct kube_request *request, http_sink *sink, void *context,
		long *ret_status, struct err *err) __attribute__((warn_unused_result));

#endif
