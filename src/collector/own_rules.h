/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the collector can find: agent-silent, agent-access-lost, store-filling, alert-delivery-failing. Stored and
 * shown like agents' findings. Called by the loop every few seconds, with no batch open in the store (ingest_flush()): it
 * makes its own.
 */
#ifndef COLLECTOR_OWN_RULES_H
#define COLLECTOR_OWN_RULES_H

#include "collector/alerts.h"
#include "collector/fleet.h"
#include "collector/store.h"

struct own_rules;

int own_rules_new(struct fleet *fleet, struct store *store, struct own_rules **ret_rules, struct err *err)
	__attribute__((warn_unused_result));
void own_rules_free(struct own_rules *rules);
/* How the receivers of alerts answer; what was said last holds. */
void own_rules_delivery(struct own_rules *rules, const struct alerts_trouble *troubles, size_t n, size_t n_receivers);
int own_rules_step(struct own_rules *rules, struct mono now, struct wall wall, struct err *err)
	__attribute__((warn_unused_result));

#endif
