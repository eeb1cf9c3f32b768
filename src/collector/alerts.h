/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerting: the fleet's open findings become alerts (one per cluster, namespace, workload, rule and severity, however many
 * pods have it), and whoever is to be told of them is told, in order and until it worked. What somebody was or has to be
 * told of stands in the store, so that a restart neither forgets nor repeats it. docs/alerts.md.
 *
 * Nothing here blocks the loop: each receiver has one sending at a time, on a thread of the pool.
 */
#ifndef COLLECTOR_ALERTS_H
#define COLLECTOR_ALERTS_H

#include "collector/alert_book.h"
#include "collector/auth.h"
#include "collector/fleet.h"
#include "collector/store.h"
#include "config/alertconf.h"
#include "net/loop.h"
#include "sys/logger.h"

struct alerts;
struct silences;

struct alerts_options {
	const struct alertconf *conf;
	const char *cluster;
	const char *public_url; /* where people reach the dashboard; NULL or "": alerts have no links */
	struct logger *log;
};

/* `silences` may be NULL: none. Alerts of the time before are read back from the store. */
int alerts_new(struct loop *loop, const struct alerts_options *options, const struct fleet *fleet,
	       const struct silences *silences, struct store *store, struct alerts **ret_alerts, struct err *err)
	__attribute__((warn_unused_result));
/* Nothing is begun any more; what is under way is given up. Once alerts_in_flight() is 0 it may be freed. */
void alerts_stop(struct alerts *alerts);
unsigned alerts_in_flight(const struct alerts *alerts);
void alerts_free(struct alerts *alerts); /* NULL is fine */

/*
 * Each second, with no batch open in the store (ingest_flush()): it makes its own. Not `healthy`: nothing can be stored,
 * so the watchdog is not sent, nor are findings looked at that are not news any more.
 */
int alerts_step(struct alerts *alerts, bool healthy, struct mono now, struct wall wall, struct err *err)
	__attribute__((warn_unused_result));

struct alerts_receiver_counts {
	const char *name;
	enum receiver_type type;
	uint64_t told_total, failed_total, dropped_total;
	uint64_t queue;         /* edges that are due */
	uint64_t oldest_due_ms; /* for how long the oldest of them is */
	bool failing;           /* nothing came through since a sending failed, and something is due */
	unsigned tries;         /* that failed in a row */
	char last_error[160];   /* "" where the last sending came through */
};
/* SILENCED, or for nobody by the routes, or neither. */
enum alerts_state { ALERTS_CALLING = 0, ALERTS_SILENCED, ALERTS_UNROUTED, ALERTS_STATE_COUNT };
extern const char *const alerts_state_names[ALERTS_STATE_COUNT];
struct alerts_counts {
	uint64_t active[SEVERITY_COUNT][ALERTS_STATE_COUNT];
	uint64_t left_out;  /* past ALERTS_MAX, now */
	uint32_t concerned; /* one bit for each receiver that may be told of something the viewer sees */
	size_t n_receivers;
	struct alerts_receiver_counts receivers[ALERT_RECEIVERS_MAX];
};
/* Active ones are those that the viewer may see; NULL: all. */
void alerts_count(const struct alerts *alerts, const struct auth_viewer *viewer, struct wall now,
		  struct alerts_counts *ret_counts);

/* What alert-delivery-failing is about: receivers that are not reached, or would not take something within the hour. */
enum { ALERTS_DROPPED_MS = 3600000 };
struct alerts_trouble {
	const char *receiver;
	uint64_t failing_ms; /* 0: it is reached */
	bool dropped;
	char last_error[160];
};
/* Into `troubles`, ALERT_RECEIVERS_MAX of them. */
size_t alerts_troubles(const struct alerts *alerts, struct mono now, struct alerts_trouble *ret_troubles);

/* What covers an alert as a whole, or NULL; the silence before the acknowledgement. */
struct silence;
const struct silence *alerts_silence(const struct silences *silences, const struct alert *alert, struct wall now);

uint64_t alerts_group_wait_ms(const struct alerts *alerts);

/* For the API: active and lately ended ones, newest first. Borrowed until the next alerts_step(). */
const struct alert_book *alerts_book(const struct alerts *alerts);

#endif
