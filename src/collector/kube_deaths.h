/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How Kubernetes says that containers ended, beside the post-mortems that agents or the collector wrote of the same
 * deaths: reason, exit status, and what that makes of the verdict (ledger/death_told.h). Whichever comes first waits for the
 * other, an end for KUBE_END_KEPT_MS; what was put down is put down again where an inferred post-mortem gave way to the
 * agent's own. An end that has to do with memory and that nobody told of for KUBE_ALONE_AFTER_MS gets a post-mortem by Kubernetes'
 * word alone (kube_alone.h), unless it is of a container that no agent ever told of.
 */
#ifndef COLLECTOR_KUBE_DEATHS_H
#define COLLECTOR_KUBE_DEATHS_H

#include "collector/fleet_read.h"
#include "collector/pod_seen.h"
#include "collector/store.h"
#include "sys/clock.h"
#include "sys/logger.h"

/* Alone after INFER_AFTER_MS (inferred.h), and the minute in which a stream that is cut is noticed. */
enum { KUBE_ENDS_MAX = 1024, KUBE_END_KEPT_MS = 600000, KUBE_ALONE_AFTER_MS = 180000 };

struct kube_deaths;

int kube_deaths_new(struct fleet *fleet, struct store *store, struct logger *log, struct kube_deaths **ret_deaths,
		    struct err *err) __attribute__((warn_unused_result));
void kube_deaths_free(struct kube_deaths *deaths); /* NULL is fine */

/* The ends that this pod has, and are not known yet. Past KUBE_ENDS_MAX the oldest goes. */
void kube_deaths_take(struct kube_deaths *deaths, const struct pod_seen *pod, struct mono now, struct wall wall);
/* With no batch open in the store. */
void kube_deaths_step(struct kube_deaths *deaths, struct mono now, struct wall wall);

struct kube_deaths_counts {
	uint64_t told_total;  /* post-mortems that Kubernetes' word stands beside */
	uint64_t alone_total; /* those of them that it alone told of */
};
void kube_deaths_count(const struct kube_deaths *deaths, struct kube_deaths_counts *ret_counts);

#endif
