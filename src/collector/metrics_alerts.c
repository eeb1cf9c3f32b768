/* SPDX-License-Identifier: Apache-2.0 */
/* Alerting on the metrics page. Receivers are those of the configuration: ALERT_RECEIVERS_MAX at most. */
#include "collector/alerts.h"
#include "collector/metrics_page.h"

struct row {
	const char *name, *help;
	enum prom_type type;
	size_t offset; /* of a uint64_t in struct alerts_receiver_counts */
};

#define ROW(name, type, field, help)                                             \
	{                                                                        \
		name, help, type, offsetof(struct alerts_receiver_counts, field) \
	}

static const struct row rows[] = {
	ROW("bankfull_collector_alert_deliveries_total", PROM_COUNTER, told_total,
	    "Edges of alerts, and repetitions, that this receiver took."),
	ROW("bankfull_collector_alert_deliveries_failed_total", PROM_COUNTER, failed_total,
	    "Sendings to this receiver that failed; they are tried again."),
	ROW("bankfull_collector_alert_deliveries_dropped_total", PROM_COUNTER, dropped_total,
	    "Edges that it would not take, or that waited for a week."),
	ROW("bankfull_collector_alert_queue", PROM_GAUGE, queue, "Edges that are due there and were not taken yet."),
};

void metrics_alerts(struct prom_out *out, const struct alerts *alerts, const struct auth_viewer *viewer,
		    struct wall now)
{
	struct alerts_counts counts;
	alerts_count(alerts, viewer, now, &counts);
	prom_out_family(out, "bankfull_collector_alerts", PROM_GAUGE, "Active alerts.");
	for (unsigned severity = SEVERITY_INFO; severity < SEVERITY_COUNT; severity++)
		for (unsigned state = 0; state < ALERTS_STATE_COUNT; state++) {
			prom_out_label(out, "severity", severity_names[severity]);
			prom_out_label(out, "state", alerts_state_names[state]);
			prom_out_u64(out, counts.active[severity][state]);
		}
	prom_out_gauge(out, "bankfull_collector_alerts_left_out", "Workloads and rules past the cap of alerts.",
		       counts.left_out);
	if (viewer && viewer->n_namespaces)
		return; /* how much others are told is not this viewer's */
	for (size_t r = 0; r < sizeof rows / sizeof rows[0] && counts.n_receivers; r++) {
		prom_out_family(out, rows[r].name, rows[r].type, rows[r].help);
		for (size_t i = 0; i < counts.n_receivers; i++) {
			uint64_t value;
			memcpy(&value, (const char *)&counts.receivers[i] + rows[r].offset, sizeof value);
			prom_out_label(out, "receiver", counts.receivers[i].name);
			prom_out_u64(out, value);
		}
	}
	if (counts.n_receivers)
		prom_out_family(out, "bankfull_collector_alert_oldest_due_seconds", PROM_GAUGE,
				"For how long the oldest edge of the queue is due; 0: none is.");
	for (size_t i = 0; i < counts.n_receivers; i++) {
		prom_out_label(out, "receiver", counts.receivers[i].name);
		prom_out_parts(out, (int64_t)counts.receivers[i].oldest_due_ms, 1000);
	}
}
