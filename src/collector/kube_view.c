/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_view.h"

#include <stdlib.h>

struct kube_view {
	struct loop *loop;
	struct kube_pods *pods;     /* NULL: not watched */
	struct kube_deaths *deaths; /* with pods */
	struct kube_events *events; /* NULL: none are told */
	char namespaces[KUBE_NAMESPACES_MAX][KUBE_NAMESPACE_CAP];
	size_t n_namespaces;
};

/* Names of namespaces are labels of DNS (RFC 1123). */
static bool is_namespace(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!((name.ptr[i] >= 'a' && name.ptr[i] <= 'z') || (name.ptr[i] >= '0' && name.ptr[i] <= '9') ||
		      (name.ptr[i] == '-' && i > 0 && i + 1 < name.len)))
			return false;
	return name.len > 0 && name.len < KUBE_NAMESPACE_CAP;
}

static int take_namespaces(struct kube_view *view, const char *list, struct err *err)
{
	struct str rest = str_of(list ? list : ""), part;
	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (!is_namespace(part))
			return err_set(err, ERR_USAGE, "kube-namespaces: names of namespaces, between commas");
		if (view->n_namespaces == KUBE_NAMESPACES_MAX)
			return err_set(err, ERR_USAGE,
				       "kube-namespaces: more than %d; leave it out to watch those of the cluster",
				       KUBE_NAMESPACES_MAX);
		str_copy(view->namespaces[view->n_namespaces++], KUBE_NAMESPACE_CAP, part);
	}
	return 0;
}

static void on_pod(void *context, const struct pod_seen *pod, bool gone)
{
	struct kube_view *view = context;
	(void)gone; /* the last that is told of a pod is like what was told before */
	kube_deaths_take(view->deaths, pod, loop_now(view->loop), clock_wall());
}

static int make(struct kube_view *view, struct loop *loop, const struct collectorconf *conf, struct fleet *fleet,
		const struct silences *silences, struct store *store, struct logger *log, struct err *err)
{
	struct kube_api api;
	int rc = take_namespaces(view, conf->kube_namespaces, err);
	if (rc == 0)
		rc = kube_api_set(conf->kube_url, conf->kube_ca, conf->kube_token, &api, err);
	if (rc == 0 && conf->kube_pods) {
		const struct kube_pods_options options = {
			.api = api, .namespaces = view->namespaces, .n_namespaces = view->n_namespaces, .log = log
		};
		rc = kube_deaths_new(fleet, store, log, &view->deaths, err);
		if (rc == 0)
			rc = kube_pods_new(loop, &options, on_pod, view, &view->pods, err);
	}
	if (rc == 0 && conf->kube_events) {
		const struct kube_events_options options = { .api = api,
							     .namespaces = view->namespaces,
							     .n_namespaces = view->n_namespaces,
							     .instance = conf->cluster,
							     .public_url = conf->public_url,
							     .log = log };
		rc = kube_events_new(loop, &options, fleet, silences, kube_view_book(view), &view->events, err);
	}
	return rc;
}

int kube_view_new(struct loop *loop, const struct collectorconf *conf, struct fleet *fleet,
		  const struct silences *silences, struct store *store, struct logger *log, struct kube_view **ret_view,
		  struct err *err)
{
	struct kube_view *view = NULL;
	if (conf->kube_pods || conf->kube_events) {
		view = calloc(1, sizeof *view);
		if (!view)
			return err_set(err, ERR_NOMEM, "no memory for the view of Kubernetes");
		view->loop = loop;
		int rc = make(view, loop, conf, fleet, silences, store, log, err);
		if (rc < 0) {
			kube_view_free(view);
			return rc;
		}
	}
	*ret_view = view;
	return 0;
}

void kube_view_step(struct kube_view *view, bool healthy, struct mono now, struct wall wall)
{
	if (view && view->pods)
		kube_pods_step(view->pods, now);
	if (view && view->deaths && healthy)
		kube_deaths_step(view->deaths, now, wall);
	if (view && view->events)
		kube_events_step(view->events, now, wall);
}

void kube_view_stop(struct kube_view *view)
{
	if (view && view->pods)
		kube_pods_stop(view->pods);
	if (view && view->events)
		kube_events_stop(view->events);
}

unsigned kube_view_in_flight(const struct kube_view *view)
{
	return view ? (view->pods ? kube_pods_in_flight(view->pods) : 0) +
			       (view->events ? kube_events_in_flight(view->events) : 0)
		    : 0;
}

void kube_view_free(struct kube_view *view)
{
	if (!view)
		return;
	kube_events_free(view->events);
	kube_pods_free(view->pods);
	kube_deaths_free(view->deaths);
	free(view);
}

const struct podbook *kube_view_book(const struct kube_view *view)
{
	return view && view->pods ? kube_pods_book(view->pods) : NULL;
}

void kube_view_count(const struct kube_view *view, struct kube_view_counts *ret_counts)
{
	*ret_counts =
		(struct kube_view_counts){ .pods_watched = view && view->pods, .events_told = view && view->events };
	if (ret_counts->pods_watched)
		kube_pods_count(view->pods, &ret_counts->pods);
	if (view && view->deaths)
		kube_deaths_count(view->deaths, &ret_counts->deaths);
	if (ret_counts->events_told)
		kube_events_count(view->events, &ret_counts->events);
}
