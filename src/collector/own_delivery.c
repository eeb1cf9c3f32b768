/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "collector/own_parts.h"

/* A restart of Alertmanager takes less; somebody who is not called for longer should be told another way. */
enum { FAILING_MS = 300000 };

static bool fails(const struct alerts_trouble *trouble)
{
	return trouble->failing_ms >= FAILING_MS;
}

void delivery_judge(const struct delivery *delivery, struct delivery_verdict *ret_verdict)
{
	struct delivery_verdict verdict = { .severity = SEVERITY_NONE };
	size_t n_failing = 0;
	for (size_t i = 0; i < delivery->n; i++)
		n_failing += fails(&delivery->troubles[i]);
	for (size_t i = 0; i < delivery->n; i++) {
		const struct alerts_trouble *trouble = &delivery->troubles[i];
		if (!fails(trouble) && !trouble->dropped)
			continue;
		if (verdict.severity == SEVERITY_NONE && fails(trouble))
			OWN_SAY(verdict.title, "receiver '%s' of alerts has not been reached for %" PRIu64 " min",
				trouble->receiver, trouble->failing_ms / 60000);
		else if (verdict.severity == SEVERITY_NONE)
			OWN_SAY(verdict.title, "receiver '%s' would not take an alert: it was dropped",
				trouble->receiver);
		verdict.severity = SEVERITY_WARNING;
	}
	/* The last way to call anybody is gone: then this very finding is seen on the dashboard alone. */
	if (n_failing && n_failing == delivery->n_receivers)
		verdict.severity = SEVERITY_CRITICAL;
	*ret_verdict = verdict;
}

void delivery_words(const struct wire_finding *finding, const struct delivery *delivery, struct finding *whole)
{
	size_t n_failing = 0, n_dropped = 0;
	uint64_t longest_ms = 0;
	for (size_t i = 0; i < delivery->n; i++) {
		const struct alerts_trouble *trouble = &delivery->troubles[i];
		n_failing += fails(trouble);
		n_dropped += trouble->dropped;
		if (trouble->failing_ms > longest_ms)
			longest_ms = trouble->failing_ms;
	}
	OWN_SAY(whole->observation,
		"%s. %zu of %zu receivers are not reached, %zu dropped something within the hour. The last answer of the first: "
		"%s. What is due is kept and sent when the receiver answers again.",
		finding->title, n_failing, delivery->n_receivers, n_dropped,
		delivery->n && delivery->troubles[0].last_error[0] ? delivery->troubles[0].last_error : "none");
	OWN_SAY(whole->competing_causes[0],
		"The receiver is down, or between it and the collector something is: then others fail to reach it too.");
	OWN_SAY(whole->competing_causes[1],
		"Its token or certificate changed: then the answer is 401, 403 or about TLS.");
	OWN_SAY(whole->competing_causes[2],
		"It does not take what it is sent: then the answer is 400 or 422, and its own log says why.");
	whole->n_causes = 3;
	OWN_SAY(whole->change, "Make the receiver answer, or correct its url, token-file or ca-file; one at a time.");
	OWN_SAY(whole->validate[0],
		"bankfull_collector_alert_queue of the receiver falls to 0, and the log says that it is reached again.");
	whole->n_validate = 1;
	own_figure(whole, "failing", (int64_t)n_failing);
	own_figure(whole, "receivers", (int64_t)delivery->n_receivers);
	own_figure(whole, "failing_ms", (int64_t)longest_ms);
	own_figure(whole, "dropped", (int64_t)n_dropped);
}
