/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bankfull inject` as text to text: adds the agent as a sidecar to every pod that the YAML describes, takes it out
 * again, and touches nothing else. Adding twice is adding once; what was added besides the sidecar stands in the
 * annotation INJECTED_ANNOTATION, by which removal knows what was there before.
 */
#ifndef KUBE_INJECT_H
#define KUBE_INJECT_H

#include "base/buf.h"
#include "base/err.h"

#define INJECTED_ANNOTATION "bankfull.io/injected"
#define SIDECAR_TOKEN_DIR   "/var/run/secrets/bankfull.io"
#define SIDECAR_STATE_DIR   "/var/lib/bankfull"

enum { INJECT_OUT_MAX = 64 * 1024 * 1024, SIDECAR_GUARANTEED_CPU_MILLI = 250, AGENT_METRICS_PORT = 9482 };

struct inject_options {
	const char *image;
	const char *collector;    /* wss://...; NULL: none, the agent serves /metrics and its log alone */
	const char *audience;     /* of the token that the pod shows to the collector; NULL: it shows none */
	struct str ca_pem;        /* the authorities of the collector's certificate; empty: the system's */
	const char *container;    /* which one runs the JVM; NULL: found */
	const char *memory, *cpu; /* requests; the memory is the limit, too */
	bool has_user, has_group;
	uint64_t user, group;
	bool ordinary; /* Kubernetes before 1.29 has no native sidecars */
};

/*
 * Appends the edited text to `out`, and to `notes` a line for each workload and for whatever should be known of it.
 * USAGE and MALFORMED name the line; then nothing was appended to `out`.
 */
int inject_add(struct str text, const char *name, const struct inject_options *options, struct buf *out,
	       struct buf *notes, struct err *err) __attribute__((warn_unused_result));
int inject_remove(struct str text, const char *name, struct buf *out, struct buf *notes, struct err *err)
	__attribute__((warn_unused_result));

#endif
