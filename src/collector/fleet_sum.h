/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload's pods taken together: PURE. Figures are of connected pods alone: what a pod held that is gone is no longer
 * held. A sum says of how many pods it is; with none it is unread.
 */
#ifndef COLLECTOR_FLEET_SUM_H
#define COLLECTOR_FLEET_SUM_H

#include "collector/fleet_read.h"

struct fleet_sum {
	uint64_t pods, connected;
	unsigned roles; /* bit set of 1 << enum wire_role */
	struct qty limit_bytes, charge_bytes, floor_bytes;
	uint64_t limit_pods, charge_pods, floor_pods, freeboard_pods; /* of which it is known */
	struct signed_qty worst_freeboard_bytes, worst_freeboard_bp;  /* each the smallest of any pod */
	const struct fleet_pod *worst_pod;                            /* of the smallest part of its limit */
	enum severity worst;
	uint64_t findings[SEVERITY_COUNT]; /* open ones, of pods that did not end on purpose */
	struct wall last_postmortem;
};

void fleet_sum(const struct fleet_workload *workload, struct fleet_sum *ret_sum);

enum severity fleet_worst(const struct fleet_findings *findings);

/* Freeboard as a part of the limit, in basis points; unknown where either is. */
struct signed_qty fleet_freeboard_bp(const struct fleet_latest *latest);

#endif
