/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's /metrics: what it does itself, and each workload's state. docs/metrics.md names every one. Labels are
 * bounded: workloads by METRICS_WORKLOADS_MAX, pods and owners stand in the agents' own metrics.
 */
#ifndef COLLECTOR_METRICS_PAGE_H
#define COLLECTOR_METRICS_PAGE_H

#include "collector/api.h"
#include "data/prom_out.h"

enum { METRICS_WORKLOADS_MAX = 2000 };

/* `viewer`: whose namespaces are shown; one without any sees all. */
int metrics_page(const struct api *api, const struct auth_viewer *viewer, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

/* metrics_kube.c */
void metrics_kube(struct prom_out *out, const struct kube_view *kube);
/* metrics_alerts.c */
void metrics_alerts(struct prom_out *out, const struct alerts *alerts, const struct auth_viewer *viewer,
		    struct wall now);

#endif
