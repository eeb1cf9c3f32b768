/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deaths that Kubernetes alone tells of: the agent died too, or did not run then. Of those that have to do with memory
 * (OOMKilled, SIGKILL that no deletion explains, -XX:+ExitOnOutOfMemoryError's status, an eviction for memory) the collector
 * writes the post-mortem, from what it holds of the quarter of an hour before.
 */
#ifndef COLLECTOR_KUBE_ALONE_H
#define COLLECTOR_KUBE_ALONE_H

#include "collector/pod_seen.h"
#include "collector/store.h"

/* How a container ended, or its pod as a whole ("" for the container). */
struct kube_end {
	char pod_uid[40], namespace_[64], name[WIRE_NAME_CAP], pod_reason[64], pod_message[256];
	struct pod_end end;
	struct wall at; /* when it ended, or was heard of */
	struct wall asked_to_stop;
	struct mono until; /* kept */
};

enum { KUBE_ALONE_OLDEST_MS = 86400000 };

/* PURE. Ends of more than KUBE_ALONE_OLDEST_MS ago are none: a watch that begins lists those, too. */
bool kube_alone_is_one(const struct kube_end *end, struct wall now);
/* PURE. The same for the same end, whichever run of the collector hears of it. */
void kube_alone_id(const struct kube_end *end, char dest[WIRE_ID_CAP]);

/*
 * Inside a batch of the store, whose agent's row this is. `scratch` is anybody's. `*ret_at_limit`: what was stored last, of this
 * life of the container.
 */
int kube_alone_write(struct store *store, int64_t agent, const struct kube_end *end, struct wire_message *scratch,
		     struct wall received, enum tristate *ret_at_limit, struct err *err)
	__attribute__((warn_unused_result));

/* What the kernel cannot take back is 95 % of the limit, or more. UNREAD where either is unknown. */
enum tristate kube_alone_at_limit(struct qty floor, struct qty limit);

#endif
