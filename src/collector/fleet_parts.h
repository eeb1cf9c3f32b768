/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet from inside. Internal to src/collector/fleet*.c. */
#ifndef COLLECTOR_FLEET_PARTS_H
#define COLLECTOR_FLEET_PARTS_H

#include "base/auto.h"
#include "collector/fleet_read.h"
#include "collector/intern.h"

struct fleet {
	struct intern names;
	struct fleet_pod **pods; /* by agent, ascending */
	size_t n_pods, pods_room;
	struct fleet_workload **workloads; /* by cluster, namespace, name */
	size_t n_workloads, workloads_room;
	struct fleet_findings own;
	uint64_t generation, shape;
};

/* The pod, to change it; NULL if it is not known. */
struct fleet_pod *fleet_pod(const struct fleet *fleet, int64_t agent);

/* Whoever shows this pod has to look again. */
void fleet_mark(struct fleet *fleet, struct fleet_pod *pod);

/* The subject with strings of the fleet's own; nothing changes on failure. */
int fleet_subject_set(struct fleet *fleet, struct subject_view *subject, const struct wire_subject *from,
		      struct err *err) __attribute__((warn_unused_result));
void fleet_subject_drop(struct fleet *fleet, struct subject_view *subject);

/* fleet_books.c: where there is no memory for them there are none. */
struct fleet_books;
void fleet_books_set(struct fleet *fleet, struct fleet_books **books, const struct wire_books *from, struct wall taken);
void fleet_books_drop(struct fleet *fleet, struct fleet_books **books);

void fleet_findings_done(struct fleet *fleet, struct fleet_findings *findings);

#endif
