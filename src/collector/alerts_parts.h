/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of alerting share: alerts.c looks and stores, alert_post.c tells. Internal to src/collector/alert*.c. */
#ifndef COLLECTOR_ALERTS_PARTS_H
#define COLLECTOR_ALERTS_PARTS_H

#include "collector/alert_send.h"
#include "collector/alert_text.h"
#include "collector/alerts.h"

/* A message under way. It outlives the alerts where a thread is slow to end: then `post` is NULL. */
struct alert_job {
	struct alert_message message;
	struct alert_post *post;
	size_t n_items;
	bool watchdog;
	struct alert_item items[ALERT_BATCH_MAX];
};

/* One receiver: what it was told is in the book, how it answers here. */
struct alert_post {
	struct alerts *alerts;
	const struct alert_receiver *conf;
	unsigned receiver;
	struct alert_job *job; /* NULL: none is under way */
	unsigned failures;     /* in a row */
	unsigned singly;       /* so many more of a batch that was refused go one by one, to find the one it is about */
	bool failing, dropped;
	struct mono next, watchdog_due, failing_since, dropped_at;
	uint64_t told_total, failed_total, dropped_total;
	char last_error[160];
};

struct alerts {
	struct loop *loop;
	const struct alertconf *conf;
	struct alert_origin origin;
	char cluster[64];
	struct logger *log;
	const struct fleet *fleet;
	const struct silences *silences;
	struct store *store;
	struct alert_book book;
	struct alert_group *groups; /* ALERT_GROUPS_MAX of them, of the latest look */
	size_t left_out;
	struct mono look_due;
	struct wall wall; /* of the step */
	bool healthy, stopped;
	unsigned in_flight;
	struct alert_post posts[ALERT_RECEIVERS_MAX];
};

/* alert_post.c: begins the next message to this receiver, if one is due and none is under way. */
void alert_post_pump(struct alert_post *post, struct mono now, struct wall wall);

void alert_hide_path(char *text); /* of addresses in it */

/* alert_load.c: what the store has, into the book; and what of the book is not stored. */
int alert_load(struct alerts *alerts, struct mono now, struct wall wall, struct err *err)
	__attribute__((warn_unused_result));
int alert_save(struct alerts *alerts, struct err *err) __attribute__((warn_unused_result));

#endif
