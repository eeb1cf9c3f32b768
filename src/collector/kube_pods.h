/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' pods, watched: of all namespaces, or of some, each by a request that goes on for minutes on a thread of its
 * own. A watch without a resourceVersion tells first of all pods that are there ("Get State and Start at Most Recent" of
 * Kubernetes' API concepts), then of every change; so the verb `watch` is the only right it needs. It goes on from the
 * version that it came to; where that is too old (410) it begins anew.
 */
#ifndef COLLECTOR_KUBE_PODS_H
#define COLLECTOR_KUBE_PODS_H

#include "collector/kube_api.h"
#include "collector/podbook.h"
#include "net/loop.h"
#include "sys/logger.h"

enum { KUBE_NAMESPACES_MAX = 8, KUBE_NAMESPACE_CAP = 64 };

struct kube_pods;

struct kube_pods_options {
	struct kube_api api;
	const char (*namespaces)[KUBE_NAMESPACE_CAP];
	size_t n_namespaces; /* 0: all */
	struct logger *log;  /* or NULL */
};

/* Each news, in order, once the book has it. */
typedef void kube_pods_fn(void *context, const struct pod_seen *pod, bool gone);

struct kube_pods_counts {
	uint64_t pods;           /* that are there, now */
	uint64_t watches;        /* under way, now */
	uint64_t news_total;     /* lines of pods */
	uint64_t skipped_total;  /* lines past a cap, or no event; pods that the book had no room for */
	uint64_t begun_total;    /* watches */
	uint64_t failures_total; /* of them, that were refused or broke */
};

int kube_pods_new(struct loop *loop, const struct kube_pods_options *options, kube_pods_fn *fn, void *context,
		  struct kube_pods **ret_pods, struct err *err) __attribute__((warn_unused_result));
void kube_pods_step(struct kube_pods *pods, struct mono now); /* each second */
/* Those under way end within about a second. Not to be freed before kube_pods_in_flight() is 0. */
void kube_pods_stop(struct kube_pods *pods);
unsigned kube_pods_in_flight(const struct kube_pods *pods);
void kube_pods_free(struct kube_pods *pods); /* NULL is fine */

const struct podbook *kube_pods_book(const struct kube_pods *pods);
void kube_pods_count(const struct kube_pods *pods, struct kube_pods_counts *ret_counts);

#endif
