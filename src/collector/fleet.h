/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of every agent right now, in memory: its subject, latest sample and composition, open findings, whether
 * it is connected. The API's lists and the collector's own rules read it; ingest feeds it after each commit, so that it
 * never shows what is not stored. At start it is filled from the store. Compact: 10,000 pods in some tens of MiB.
 */
#ifndef COLLECTOR_FLEET_H
#define COLLECTOR_FLEET_H

#include "bankfull/wire.h"
#include "base/err.h"
#include "sys/clock.h"

struct fleet;

/* After a day without a word an agent is taken as gone: what it was is history. */
enum { FLEET_FORGET_MS = 24 * 3600 * 1000 };

int fleet_new(struct fleet **ret_fleet, struct err *err) __attribute__((warn_unused_result));
void fleet_free(struct fleet *fleet);

/*
 * Everything that happens to one agent. `agent` is the store's row, `agent_id` its identity. NOMEM alone can fail (or
 * LIMIT, past FLEET_PODS_MAX); what is of an agent that is not known here is dropped. Each fleet_connected() is followed
 * by one fleet_disconnected(): of two sessions of one agent the older one's may come after the newer one's begin.
 */
int fleet_connected(struct fleet *fleet, int64_t agent, const char *agent_id, const struct wire_hello *hello,
		    int64_t offset_ms, struct wall now, struct err *err) __attribute__((warn_unused_result));
/* What its subject says is not only asserted any more. */
void fleet_confirmed(struct fleet *fleet, int64_t agent);
void fleet_sample(struct fleet *fleet, int64_t agent, const struct wire_sample *sample, struct wall received);
/* `agent` 0: the collector's own, about itself. */
int fleet_finding(struct fleet *fleet, int64_t agent, const struct wire_finding *finding, struct wall received,
		  struct err *err) __attribute__((warn_unused_result));
/* `said_bye`: it ended on purpose. */
void fleet_disconnected(struct fleet *fleet, int64_t agent, bool said_bye, struct wall now);
void fleet_postmortem(struct fleet *fleet, int64_t agent, struct wall received);
/* An agent that the store knows, not connected, before any of the above: at start. Of `hello` who it is and its versions. See also fleet_load.h. */
int fleet_restored(struct fleet *fleet, int64_t agent, const char *agent_id, const struct wire_hello *hello,
		   bool said_bye, struct wall heard, struct err *err) __attribute__((warn_unused_result));
/* Agents not heard of for so long are forgotten here (their history stays in the store). */
void fleet_expire(struct fleet *fleet, struct wall now, uint64_t after_ms);

#endif
