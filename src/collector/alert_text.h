/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts as receivers take them: a POST to Alertmanager's v2 API (api/v2/openapi.yaml, postableAlerts), or one event of
 * CloudEvents 1.0 in structured mode. PURE. All that agents said is escaped and cut: no control byte, no mark that turns a
 * line around, no name of 4 kB.
 */
#ifndef COLLECTOR_ALERT_TEXT_H
#define COLLECTOR_ALERT_TEXT_H

#include "collector/alert_book.h"

#define ALERT_EVENT_TYPE "application/cloudevents+json; charset=utf-8"
#define ALERT_WATCHDOG   "BankfullWatchdog"

enum {
	ALERT_BODY_MAX = 4 << 20, /* ALERT_BATCH_MAX alerts of some 4 KiB, and room */
	ALERT_SHOWN_CAP = 256,    /* of one name */
	ALERT_TITLE_MAX = 512,    /* of the two texts that people read */
	ALERT_DESCRIPTION_MAX = 4096,
};

struct alert_origin {
	const struct alertconf *conf;
	const char *cluster;
	const char *public_url; /* "": no links */
};

/* "/api/v2/alerts" of this base, into dest[ALERT_URL_CAP + 32]. */
void alert_url(const struct alert_receiver *receiver, char *dest, size_t cap);

/* An array of alerts, and the watchdog if asked for. */
int alert_encode_batch(const struct alert_origin *origin, const struct alert_item *items, size_t n, bool watchdog,
		       struct wall now, struct buf *out, struct err *err) __attribute__((warn_unused_result));
/* One event. The same edge has the same id, whenever and however often it is written; a repetition has its own. */
int alert_encode_event(const struct alert_origin *origin, unsigned receiver, const struct alert_item *item,
		       struct wall now, struct buf *out, struct err *err) __attribute__((warn_unused_result));
int alert_encode_watchdog(const struct alert_origin *origin, struct wall now, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

/* "BankfullFreeboardLow" of "freeboard-low". Returns dest. */
const char *alert_name_of(char dest[ALERT_NAME_CAP + 16], const char *rule);

#endif
