/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked and told of Kubernetes, on the metrics page. */
#include "collector/kube_view.h"
#include "collector/metrics_page.h"

static void put_pods(struct prom_out *out, const struct kube_pods_counts *counts)
{
	prom_out_gauge(out, "bankfull_collector_kube_pods", "Pods that Kubernetes' API server tells of.", counts->pods);
	prom_out_gauge(out, "bankfull_collector_kube_watches", "Watches of pods under way.", counts->watches);
	prom_out_counter(out, "bankfull_collector_kube_watches_total", "Watches of pods begun.", counts->begun_total);
	prom_out_counter(out, "bankfull_collector_kube_watch_failures_total",
			 "Watches of pods that were refused or broke.", counts->failures_total);
	prom_out_counter(out, "bankfull_collector_kube_pod_news_total", "News of pods, by these watches.",
			 counts->news_total);
	prom_out_counter(out, "bankfull_collector_kube_pod_news_skipped_total",
			 "News of pods that were past a cap, or none.", counts->skipped_total);
}

static void put_deaths(struct prom_out *out, const struct kube_deaths_counts *counts)
{
	prom_out_counter(out, "bankfull_collector_kube_postmortems_total",
			 "Post-mortems beside which stands what Kubernetes says of the death.", counts->told_total);
	prom_out_counter(out, "bankfull_collector_kube_postmortems_alone_total",
			 "Those of them that were written by its word alone, for no agent told of the death.",
			 counts->alone_total);
}

static void put_events(struct prom_out *out, const struct kube_events_counts *counts)
{
	prom_out_counter(out, "bankfull_collector_kube_events_total", "Events that the API server took.",
			 counts->events_total);
	prom_out_counter(out, "bankfull_collector_kube_event_failures_total",
			 "Sendings of Events that failed, and are tried again.", counts->failures_total);
	prom_out_counter(out, "bankfull_collector_kube_events_refused_total",
			 "Events that the API server will not take.", counts->refused_total);
	prom_out_gauge(out, "bankfull_collector_kube_findings_unvouched",
		       "Open findings that are no Event because nobody vouches for their pod's identity.",
		       counts->unvouched);
}

void metrics_kube(struct prom_out *out, const struct kube_view *kube)
{
	struct kube_view_counts counts;
	kube_view_count(kube, &counts);
	if (counts.pods_watched)
		put_pods(out, &counts.pods);
	if (counts.pods_watched)
		put_deaths(out, &counts.deaths);
	if (counts.events_told)
		put_events(out, &counts.events);
}
