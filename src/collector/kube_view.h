/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' own view, for collectors that were told to have it: pods that are watched (--kube-pods), findings that become
 * Events (--kube-events). Agents never call the API server.
 */
#ifndef COLLECTOR_KUBE_VIEW_H
#define COLLECTOR_KUBE_VIEW_H

#include "collector/kube_deaths.h"
#include "collector/kube_events.h"
#include "config/collectorconf.h"

struct kube_view;

/* `*ret_view` NULL: the configuration wants none. USAGE: of its settings; UNSUPPORTED: this is no pod, and no URL is given. */
int kube_view_new(struct loop *loop, const struct collectorconf *conf, struct fleet *fleet,
		  const struct silences *silences, struct store *store, struct logger *log, struct kube_view **ret_view,
		  struct err *err) __attribute__((warn_unused_result));
/* Each second, with no batch open in the store (ingest_flush()): it makes its own where `healthy`. All take NULL. */
void kube_view_step(struct kube_view *view, bool healthy, struct mono now, struct wall wall);
void kube_view_stop(struct kube_view *view);
unsigned kube_view_in_flight(const struct kube_view *view);
void kube_view_free(struct kube_view *view);

/* NULL: pods are not watched. */
const struct podbook *kube_view_book(const struct kube_view *view);

struct kube_view_counts {
	bool pods_watched, events_told;
	struct kube_pods_counts pods;
	struct kube_deaths_counts deaths;
	struct kube_events_counts events;
};
void kube_view_count(const struct kube_view *view, struct kube_view_counts *ret_counts);

#endif
