/* SPDX-License-Identifier: Apache-2.0 */
/* An Event of Kubernetes (events.k8s.io/v1) about a pod, of a finding. PURE. */
#ifndef COLLECTOR_KUBE_EVENT_H
#define COLLECTOR_KUBE_EVENT_H

#include "bankfull/finding.h"
#include "bankfull/subject.h"
#include "base/buf.h"
#include "base/err.h"

enum { KUBE_EVENT_NAME_CAP = 254, KUBE_EVENT_NOTE_MAX = 1024, KUBE_EVENT_BODY_MAX = 16 * 1024 };

struct kube_event {
	const char *namespace_, *pod, *pod_uid, *container; /* container "": the pod as a whole */
	const char *finding, *rule, *title;
	enum severity severity;
	const char *owner;    /* NULL: none */
	const char *instance; /* who reports */
	const char *link;     /* "": none */
	struct wall at;
};

/* The same for the same finding at the same severity of the same pod: a second one is refused as a double (409). */
void kube_event_name(const struct kube_event *event, char dest[KUBE_EVENT_NAME_CAP]);
/* "freeboard-low": "FreeboardLow" */
void kube_event_reason(const char *rule, char *dest, size_t cap);
int kube_event_encode(const struct kube_event *event, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

#endif
