/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of an alert as JSON, for the store, the API and webhooks alike. PURE. */
#ifndef COLLECTOR_ALERT_FIGURES_H
#define COLLECTOR_ALERT_FIGURES_H

#include "collector/alert_group.h"
#include "data/js.h"

enum { ALERT_FIGURES_TEXT_MAX = 16 * 1024 };

/* Members "pods", "workload_pods", "title", "owner" and "worst", into an object that is open. */
enum alert_names {
	ALERT_NAMES_RAW = 0, /* what agents said, for programs of ours */
	ALERT_NAMES_ESCAPED, /* for whoever may show it as it is */
};
void alert_figures_put(struct js_out *out, const struct alert_figures *figures, enum alert_names names);
/* What is not there, or wrong, is not known. */
void alert_figures_read(const struct js *object, struct alert_figures *ret_figures);

#endif
