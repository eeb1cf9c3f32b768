/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts as rows, and what each receiver was told of them. A row is written when an alert starts, ends, and when nobody
 * has to be told of it any more; the figures in between are in memory alone.
 */
#ifndef COLLECTOR_STORE_ALERT_H
#define COLLECTOR_STORE_ALERT_H

#include "collector/alert_book.h"
#include "collector/store.h"

enum { STORE_ALERTS_MAX = 20000 }; /* rows; beyond it the oldest that ended go before their year is over: some 20 MiB */

/* Within a batch. Row 0 is a new one. `text`: its figures, of alert_figures.h. One key has one active alert: end it before. */
int store_alert_put(struct store *store, const struct alert *alert, struct str text, int64_t *ret_row, struct err *err)
	__attribute__((warn_unused_result));
int store_delivery_put(struct store *store, int64_t row, const char *receiver, const struct alert_delivery *delivery,
		       struct err *err) __attribute__((warn_unused_result));

/* Those that are active or of which somebody is still to be told, in the order of rows; or the newest others, newest first. */
enum store_alerts_of { STORE_ALERTS_OPEN = 0, STORE_ALERTS_OVER };
/* `alert` has all that is stored but deliveries. False stops. */
typedef bool store_alert_fn(void *context, const struct alert *alert, struct str text);
int store_each_alert(struct store *store, enum store_alerts_of which, size_t most, store_alert_fn *fn, void *context,
		     struct err *err) __attribute__((warn_unused_result));
typedef void store_delivery_fn(void *context, struct str receiver, const struct alert_delivery *delivery);
int store_each_delivery(struct store *store, int64_t row, store_delivery_fn *fn, void *context, struct err *err)
	__attribute__((warn_unused_result));

#endif
