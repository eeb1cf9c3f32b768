/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector's own rules compute and say: PURE. Internal to src/collector/own_*.c. */
#ifndef COLLECTOR_OWN_PARTS_H
#define COLLECTOR_OWN_PARTS_H

#include "bankfull/finding.h"
#include "collector/alerts.h"
#include "collector/fleet_read.h"
#include "collector/store.h"

/* How fast the database grows: a point a minute of the last hour. */
enum { PACE_POINTS = 61, PACE_EVERY_MS = 60000, PACE_LEAST_MS = 600000 };
struct pace {
	struct pace_point {
		struct mono at;
		uint64_t used_bytes, shed;
	} points[PACE_POINTS]; /* oldest first */
	size_t n;
};
void pace_push(struct pace *pace, struct mono now, uint64_t used_bytes, uint64_t shed_total);
/* 0: it does not grow, or was watched for less than PACE_LEAST_MS. */
uint64_t pace_per_day(const struct pace *pace);
/* What the cap took early within the last hour. */
uint64_t pace_shed(const struct pace *pace);

struct filling {
	enum severity severity;
	char title[160];
};
/* `open`: what is open is judged by its clear levels. */
void filling_judge(const struct store_counts *counts, const struct pace *pace, enum severity open,
		   struct filling *ret_filling);

/* --- alert-delivery-failing (own_delivery.c) --- */

struct delivery {
	struct alerts_trouble troubles[ALERT_RECEIVERS_MAX];
	size_t n, n_receivers;
};
struct delivery_verdict {
	enum severity severity;
	char title[160];
};
/* Nobody that is left: critical. */
void delivery_judge(const struct delivery *delivery, struct delivery_verdict *ret_verdict);
void delivery_words(const struct wire_finding *finding, const struct delivery *delivery, struct finding *whole);

/* --- words (own_text.c) --- */

#define OWN_SAY(dest, ...) ((void)snprintf((dest), sizeof(dest), __VA_ARGS__))
void own_figure(struct finding *whole, const char *name, int64_t value);

/* The whole text of a finding of ours. `pod` NULL: about the collector itself. */
struct own_sight {
	const struct pace *pace;
	const struct delivery *delivery;
	struct wall now;
};
void own_whole(const struct wire_finding *finding, const struct fleet_pod *pod, const struct own_sight *sight,
	       struct finding *ret_whole);

#endif
