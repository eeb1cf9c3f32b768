/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of `warning` or above become Events of Kubernetes on their pods: one when a finding opens and one when its
 * severity rises, one at a time and at most one a second. Findings that were open when the collector started are told as well, once
 * their pod is heard of: an Event has the same name in each run, so Kubernetes keeps no second while it has the first. Only of pods whose identity the API server vouches for: the agent's token was reviewed, or the pods are watched
 * and the pod of this UID is there under this name. Silenced ones are not told.
 */
#ifndef COLLECTOR_KUBE_EVENTS_H
#define COLLECTOR_KUBE_EVENTS_H

#include "collector/fleet_read.h"
#include "collector/kube_pods.h"
#include "collector/silences.h"

enum { KUBE_TOLD_MAX = 20000 };

struct kube_events;

struct kube_events_options {
	struct kube_api api;
	const char (*namespaces)[KUBE_NAMESPACE_CAP];
	size_t n_namespaces; /* 0: all */
	const char *instance, *public_url;
	struct logger *log; /* or NULL */
};

struct kube_events_counts {
	uint64_t events_total;   /* that the API server took; not those that it had already */
	uint64_t failures_total; /* sendings that failed, and are tried again */
	uint64_t refused_total;  /* that it will not take: not tried again */
	uint64_t unvouched;      /* findings now, of pods whose identity nobody vouches for */
};

/* `silences` NULL: none. `book` NULL: pods are not watched. */
int kube_events_new(struct loop *loop, const struct kube_events_options *options, const struct fleet *fleet,
		    const struct silences *silences, const struct podbook *book, struct kube_events **ret_events,
		    struct err *err) __attribute__((warn_unused_result));
void kube_events_step(struct kube_events *events, struct mono now, struct wall wall); /* each second */
/* As kube_pods_stop(). */
void kube_events_stop(struct kube_events *events);
unsigned kube_events_in_flight(const struct kube_events *events);
void kube_events_free(struct kube_events *events); /* NULL is fine */
void kube_events_count(const struct kube_events *events, struct kube_events_counts *ret_counts);

#endif
