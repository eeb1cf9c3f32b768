/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kafka Streams' Topology.describe() prints (TopologyDescription's toString, the same in 1.0 to 4.4): which
 * sub-topologies there are and which stores each has. A store is named by every processor that uses it and counts once.
 * The text says nothing of a store's kind; the DSL's own names tell the window stores of stream-stream joins.
 */
#ifndef PLAN_TOPOLOGY_H
#define PLAN_TOPOLOGY_H

#include "base/err.h"
#include "base/str.h"

enum { TOPOLOGY_SUBS_MAX = 128, TOPOLOGY_STORES_MAX = 1024, TOPOLOGY_TEXT_MAX = 1 << 20 };

struct topology_sub {
	unsigned number;
	bool global; /* for a global store: each process has one copy, and no task */
	unsigned n_stores;
	unsigned n_windowed; /* of them, by their names: those of joins */
	unsigned n_sources;
};

struct topology {
	struct topology_sub subs[TOPOLOGY_SUBS_MAX];
	size_t n;
};

/* MALFORMED with the line: no sub-topology at all, a list without its end. LIMIT: too much of anything. */
int topology_parse(struct str text, const char *name, struct topology *ret_topology, struct err *err)
	__attribute__((warn_unused_result));

#endif
