/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as a watch of Kubernetes' API tells of it: one JSON object a line, {"type": ..., "object": ...}
 * (k8s.io/apimachinery, meta/v1 WatchEvent). Of a pod's object who it is, where it runs, and how its containers ended; the
 * rest is not looked at. PURE.
 */
#ifndef COLLECTOR_POD_SEEN_H
#define COLLECTOR_POD_SEEN_H

#include "bankfull/quantity.h"
#include "bankfull/subject.h"
#include "base/err.h"
#include "base/str.h"

enum {
	/* etcd takes 1.5 MiB; a TaskManager's pod has 10 to 30 KiB. A longer line is left out, and counted. */
	POD_LINE_MAX = 512 * 1024,
	POD_VALUES_MAX = 20000,
	POD_ENDS_MAX = 8,
	POD_VERSION_CAP = 32,
};

/* One end of one container. state.terminated is the present one, lastState.terminated that of the life before. */
struct pod_end {
	char container[64];
	char reason[32];   /* "OOMKilled", "Error", "Completed", "ContainerCannotRun"; "" where only the pod ended */
	char message[160]; /* escaped, one line */
	int exit_code;     /* -1: not said */
	int signal;        /* 0: not said */
	struct wall started, finished; /* ms 0: not said */
};

struct pod_seen {
	char namespace_[64], name[WIRE_NAME_CAP], uid[40], node[WIRE_NAME_CAP];
	/* Of the pod: "Evicted" and such, else why it is being disrupted: "EvictionByEvictionAPI"; "" where neither is said. */
	char reason[64];
	char message[256]; /* escaped, one line */
	/* Somebody deleted it then, with a time of grace that ends later; ms 0: nobody did. */
	struct wall asked_to_stop;
	unsigned n_ends;
	struct pod_end ends[POD_ENDS_MAX];
};

enum pod_news_kind {
	POD_NEWS_SEEN = 0, /* it is there: ADDED, MODIFIED */
	POD_NEWS_GONE,     /* DELETED: the last that was known of it */
	POD_NEWS_BOOKMARK, /* all up to `version` has been told */
	POD_NEWS_ERROR,    /* `status`; 410: the version is too old, begin anew */
};

struct pod_news {
	enum pod_news_kind kind;
	long status;
	char version[POD_VERSION_CAP]; /* resourceVersion, to go on from */
	struct pod_seen pod;
};

/* MALFORMED: no such object, or a pod without a name, namespace or uid. LIMIT: past the caps above. */
int pod_news_parse(struct str line, struct pod_news *ret_news, struct err *err) __attribute__((warn_unused_result));

#endif
