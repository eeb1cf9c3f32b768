/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of alerts with names in them: "{{rule}} at {{workload}}". A fixed list of names, no conditions, no code; what
 * stands between is taken as it is. PURE.
 */
#ifndef CONFIG_ALERTTEXT_H
#define CONFIG_ALERTTEXT_H

#include "base/buf.h"
#include "base/err.h"

enum { ALERTTEXT_CAP = 1024 };

enum alert_field {
	ALERT_FIELD_CLUSTER = 0,
	ALERT_FIELD_NAMESPACE,
	ALERT_FIELD_WORKLOAD,
	ALERT_FIELD_RULE,
	ALERT_FIELD_SEVERITY,
	ALERT_FIELD_PODS,          /* how many have it */
	ALERT_FIELD_WORKLOAD_PODS, /* of how many */
	ALERT_FIELD_TITLE,         /* of the worst pod's finding */
	ALERT_FIELD_WORST,         /* the worst pods by name, with what is left of each */
	ALERT_FIELD_OWNER,         /* whom the worst pod's finding names, or "none" */
	ALERT_FIELD_STARTED,       /* RFC 3339 */
	ALERT_FIELD_RUNBOOK_URL,
	ALERT_FIELD_DASHBOARD_URL,
	ALERT_FIELD_COUNT
};
extern const char *const alert_field_names[ALERT_FIELD_COUNT];

/* USAGE: a name that is none, with the nearest one; braces that do not close; longer than ALERTTEXT_CAP - 1. */
int alerttext_check(struct str text, struct err *err) __attribute__((warn_unused_result));

/* Of a text that was checked. Values that are NULL are empty. The buf's cap holds. */
void alerttext_render(const char *text, const char *const values[ALERT_FIELD_COUNT], struct buf *out);

#endif
