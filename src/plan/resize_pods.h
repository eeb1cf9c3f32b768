/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings from what a collector answers (docs/openapi.json): a pod's budgets as they are, and its history against them.
 * PURE. The caller gives the room.
 *
 * Points are folded into buckets: the highest of each, so that a peak of a minute counts over a window of weeks. A point of
 * another limit than the present one is of another configuration and left out.
 */
#ifndef PLAN_RESIZE_PODS_H
#define PLAN_RESIZE_PODS_H

#include "plan/resize.h"

enum { RESIZE_PODS_MAX = 64, RESIZE_POD_ID_CAP = 32, RESIZE_POD_NAME_CAP = 160 };

struct resize_pod {
	char id[RESIZE_POD_ID_CAP], name[RESIZE_POD_NAME_CAP]; /* name: namespace/pod */
	struct resize_reading base;                            /* what is set, the limit, open findings */
	uint64_t owners[RESIZE_BUDGET_COUNT];                  /* bit sets of 1 << enum owner */
	uint64_t known;                                        /* owners that the ledger knows now */
	struct wall heard;                                     /* by the collector's clock */
	struct qty reserved;                                   /* managed memory, as told within five minutes */
};

/* GET /pods/{id}. MALFORMED: none. UNSUPPORTED: nothing of it can be sized, and why. */
int resize_pod_read(const struct js *pod, struct resize_pod *ret_pod, struct err *err)
	__attribute__((warn_unused_result));

struct resize_history {
	struct resize_reading *readings; /* the caller's */
	size_t n, room;
	uint64_t bucket_ms;
	uint64_t n_left_out; /* points of another limit */
};

/* A page of GET /pods/{id}/samples, the oldest first. `ret_next`: as the API has it; 0: that was all. MALFORMED, LIMIT. */
int resize_history_add(struct resize_history *history, uint32_t number, const struct resize_pod *pod,
		       const struct js *series, struct wall *ret_next, struct err *err)
	__attribute__((warn_unused_result));

/* GET /pods/{id}/events: which of this pod's readings are the first after a restart of its job or process. */
void resize_history_restores(struct resize_history *history, uint32_t number, const struct js *events);

#endif
