/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/metrics_page.h"

#include "collector/fleet_sum.h"
#include "sys/usage.h"

/* --- tables: a name, its meaning, and where its number stands ---------------------------------------------------- */

struct row {
	const char *name, *help;
	enum prom_type type;
	size_t offset; /* of a uint64_t */
};

#define ROW(of, name, type, field, help)                     \
	{                                                    \
		name, help, type, offsetof(struct of, field) \
	}

static void put_rows(struct prom_out *out, const struct row *rows, size_t n, const void *from)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value;
		memcpy(&value, (const char *)from + rows[i].offset, sizeof value);
		prom_out_family(out, rows[i].name, rows[i].type, rows[i].help);
		prom_out_u64(out, value);
	}
}

static const struct row of_ingest[] = {
	ROW(ingest_counts, "bankfull_collector_sessions", PROM_GAUGE, sessions, "Agents connected now."),
	ROW(ingest_counts, "bankfull_collector_sessions_total", PROM_COUNTER, sessions_total, "Sessions of agents."),
	ROW(ingest_counts, "bankfull_collector_sessions_replaced_total", PROM_COUNTER, replaced_total,
	    "Sessions closed for a newer one of the same agent."),
	ROW(ingest_counts, "bankfull_collector_sessions_clock_offset", PROM_GAUGE, clock_offset_sessions,
	    "Sessions whose clock is more than 30 s off."),
	ROW(ingest_counts, "bankfull_collector_frames_total", PROM_COUNTER, frames_total, "Frames of agents."),
	ROW(ingest_counts, "bankfull_collector_frame_bytes_total", PROM_COUNTER, bytes_total, "Bytes of these frames."),
	ROW(ingest_counts, "bankfull_collector_samples_total", PROM_COUNTER, samples_total,
	    "Samples taken; of a batch that failed they come, and count, again."),
	ROW(ingest_counts, "bankfull_collector_findings_total", PROM_COUNTER, findings_total,
	    "States of findings taken."),
	ROW(ingest_counts, "bankfull_collector_postmortem_parts_total", PROM_COUNTER, postmortem_parts_total,
	    "Parts of post-mortems taken."),
	ROW(ingest_counts, "bankfull_collector_postmortems_inferred_total", PROM_COUNTER, inferred_postmortems_total,
	    "Post-mortems that the collector wrote for an agent that could not."),
	ROW(ingest_counts, "bankfull_collector_gaps_total", PROM_COUNTER, gaps_total, "Gaps that agents declared."),
	ROW(ingest_counts, "bankfull_collector_duplicates_total", PROM_COUNTER, duplicates_total,
	    "Messages that were stored already."),
	ROW(ingest_counts, "bankfull_collector_acks_total", PROM_COUNTER, acks_total, "Acknowledgements sent."),
	ROW(ingest_counts, "bankfull_collector_policy_left_out_total", PROM_COUNTER, policy_left_out_total,
	    "Silenced rules that an agent's policy had no room for."),
	ROW(ingest_counts, "bankfull_collector_commits_total", PROM_COUNTER, commits_total, "Batches committed."),
	ROW(ingest_counts, "bankfull_collector_commits_failed_total", PROM_COUNTER, failed_commits_total,
	    "Batches that could not be committed; their agents send them again."),
};

static const struct row of_auth[] = {
	ROW(auth_counts, "bankfull_collector_auth_accepted_total", PROM_COUNTER, accepted_total,
	    "Agents whose identity was accepted."),
	ROW(auth_counts, "bankfull_collector_auth_refused_total", PROM_COUNTER, refused_total,
	    "Agents whose identity was refused."),
	ROW(auth_counts, "bankfull_collector_auth_not_allowed_total", PROM_COUNTER, not_allowed_total,
	    "Of those, agents whose service account is none of --allow-agents."),
	ROW(auth_counts, "bankfull_collector_auth_shed_total", PROM_COUNTER, shed_total,
	    "Agents told to come back, because too many reviews were under way."),
	ROW(auth_counts, "bankfull_collector_token_reviews_total", PROM_COUNTER, reviews_total,
	    "Tokens that the API server was asked about."),
	ROW(auth_counts, "bankfull_collector_token_reviews_again_total", PROM_COUNTER, reviews_again_total,
	    "Those of them that were about agents already connected."),
	ROW(auth_counts, "bankfull_collector_token_revoked_total", PROM_COUNTER, revoked_total,
	    "Sessions ended because a further review refused their token."),
	ROW(auth_counts, "bankfull_collector_token_review_failures_total", PROM_COUNTER, review_failures_total,
	    "Reviews without an answer."),
	ROW(auth_counts, "bankfull_collector_token_review_hits_total", PROM_COUNTER, review_hits_total,
	    "Tokens whose review was remembered."),
	ROW(auth_counts, "bankfull_collector_token_reviews_in_flight", PROM_GAUGE, reviews_in_flight,
	    "Reviews under way."),
};

static const struct row of_server[] = {
	ROW(server_counts, "bankfull_collector_connections", PROM_GAUGE, connections, "Connections of all listeners."),
	ROW(server_counts, "bankfull_collector_connections_total", PROM_COUNTER, accepted_total,
	    "Connections accepted."),
	ROW(server_counts, "bankfull_collector_connections_refused_total", PROM_COUNTER, refused_connections_total,
	    "Connections closed at once: past a cap."),
	ROW(server_counts, "bankfull_collector_connection_timeouts_total", PROM_COUNTER, timeouts_total,
	    "Connections closed for slowness."),
	ROW(server_counts, "bankfull_collector_requests_too_big_total", PROM_COUNTER, too_big_total,
	    "Requests and frames past a cap."),
	ROW(server_counts, "bankfull_collector_frames_bad_total", PROM_COUNTER, bad_frames_total,
	    "WebSocket frames that are none, or no UTF-8."),
	ROW(server_counts, "bankfull_collector_received_bytes_total", PROM_COUNTER, received_bytes_total,
	    "Bytes received."),
	ROW(server_counts, "bankfull_collector_sent_bytes_total", PROM_COUNTER, sent_bytes_total, "Bytes sent."),
	ROW(server_counts, "bankfull_collector_http_requests_total", PROM_COUNTER, requests_total, "HTTP requests."),
	ROW(server_counts, "bankfull_collector_websocket_frames_total", PROM_COUNTER, frames_total,
	    "WebSocket messages received."),
};

static const struct row of_live[] = {
	ROW(live_counts, "bankfull_collector_live_viewers", PROM_GAUGE, viewers, "Viewers of the live stream now."),
	ROW(live_counts, "bankfull_collector_live_topics", PROM_GAUGE, topics, "Different things that they watch."),
	ROW(live_counts, "bankfull_collector_live_viewers_total", PROM_COUNTER, viewers_total, "Viewers let in."),
	ROW(live_counts, "bankfull_collector_live_refused_total", PROM_COUNTER, refused_total,
	    "Viewers refused: past a cap."),
	ROW(live_counts, "bankfull_collector_live_requests_total", PROM_COUNTER, requests_total,
	    "Frames of viewers, each to subscribe."),
	ROW(live_counts, "bankfull_collector_live_errors_total", PROM_COUNTER, errors_total,
	    "Those of them that could not be answered."),
	ROW(live_counts, "bankfull_collector_live_frames_total", PROM_COUNTER, frames_total, "Frames sent to viewers."),
	ROW(live_counts, "bankfull_collector_live_bytes_total", PROM_COUNTER, bytes_total, "Bytes of these frames."),
	ROW(live_counts, "bankfull_collector_live_skipped_total", PROM_COUNTER, skipped_total,
	    "States that a viewer did not get, because it did not read."),
	ROW(live_counts, "bankfull_collector_live_builds_total", PROM_COUNTER, builds_total,
	    "Looks at what has changed, each at one topic."),
};

static const struct row of_store[] = {
	ROW(store_counts, "bankfull_collector_store_bytes", PROM_GAUGE, file_bytes, "Size of the database."),
	ROW(store_counts, "bankfull_collector_store_wal_bytes", PROM_GAUGE, wal_bytes, "Size of its write-ahead log."),
	ROW(store_counts, "bankfull_collector_store_cache_bytes", PROM_GAUGE, cache_bytes,
	    "Memory that holds pages of the database."),
	ROW(store_counts, "bankfull_collector_store_disk_free_bytes", PROM_GAUGE, disk_free_bytes,
	    "Free bytes on its disk."),
	ROW(store_counts, "bankfull_collector_store_agents", PROM_GAUGE, n_agents, "Agents it knows."),
	ROW(store_counts, "bankfull_collector_store_samples", PROM_GAUGE, n_samples, "Raw samples it holds."),
	ROW(store_counts, "bankfull_collector_store_rollups", PROM_GAUGE, n_rollups, "Minutes rolled up."),
	ROW(store_counts, "bankfull_collector_store_findings", PROM_GAUGE, n_findings, "Findings it holds."),
	ROW(store_counts, "bankfull_collector_store_postmortems", PROM_GAUGE, n_postmortems, "Post-mortems it holds."),
	ROW(store_counts, "bankfull_collector_store_shed_samples_total", PROM_COUNTER, shed_samples_total,
	    "Raw samples rolled up before their time, for the cap."),
	ROW(store_counts, "bankfull_collector_store_shed_rollups_total", PROM_COUNTER, shed_rollups_total,
	    "Minutes deleted before their time, for the cap."),
	ROW(store_counts, "bankfull_collector_store_shed_others_total", PROM_COUNTER, shed_others_total,
	    "Findings, post-mortems and gaps deleted before their time, for the cap."),
	ROW(store_counts, "bankfull_collector_store_gaps", PROM_GAUGE, n_gaps, "Gaps it holds."),
};

#define PUT(out, rows, from) put_rows(out, rows, sizeof(rows) / sizeof(rows)[0], from)

/* --- of the collector itself ------------------------------------------------------------------------------------- */

static void put_process(struct prom_out *out, const struct api *api)
{
	struct usage usage;
	usage_read(&usage);
	prom_out_family(out, "bankfull_collector_build_info", PROM_GAUGE, "1, with the version of the program.");
	prom_out_label(out, "version", api->version);
	prom_out_u64(out, 1);
	prom_out_family(out, "process_start_time_seconds", PROM_GAUGE, "When the program started, since 1970.");
	prom_out_parts(out, api->started.ms, 1000);
	prom_out_family(out, "process_cpu_seconds_total", PROM_COUNTER, "User and system time of all threads.");
	prom_out_parts(out, (int64_t)usage.cpu_ms, 1000);
	if (qty_known(usage.resident_bytes))
		prom_out_gauge(out, "process_resident_memory_bytes", "Resident memory.", usage.resident_bytes.bytes);
	if (usage.open_fds.known)
		prom_out_gauge(out, "process_open_fds", "Open descriptors.", usage.open_fds.n);
	if (usage.max_fds.known)
		prom_out_gauge(out, "process_max_fds", "Most descriptors it may open.", usage.max_fds.n);
	prom_out_gauge(out, "bankfull_collector_ready", "1 when /readyz says so.", api->ready && api->store);
	if (!api->silences)
		return;
	prom_out_family(out, "bankfull_collector_silences", PROM_GAUGE, "Silences and acknowledgements that hold.");
	for (unsigned i = 0; i < SILENCE_KIND_COUNT; i++) {
		prom_out_label(out, "kind", silence_kind_names[i]);
		prom_out_u64(out, silences_active(api->silences, i));
	}
}

static void put_ingest(struct prom_out *out, const struct api *api)
{
	struct ingest_counts counts;
	if (!api->ingest)
		return;
	ingest_count(api->ingest, &counts);
	PUT(out, of_ingest, &counts);
	prom_out_family(out, "bankfull_collector_errors_total", PROM_COUNTER, "Error messages sent to agents.");
	for (unsigned i = 0; i < WIRE_ERR_COUNT; i++) {
		prom_out_label(out, "code", wire_error_names[i]);
		prom_out_u64(out, counts.errors_total[i]);
	}
}

static void put_rest(struct prom_out *out, const struct api *api)
{
	struct auth_counts auth;
	struct server_counts server;
	struct live_counts live;
	struct store_counts store;
	struct err err;
	if (api->auth) {
		auth_count(api->auth, &auth);
		PUT(out, of_auth, &auth);
	}
	if (api->server) {
		server_counts(api->server, &server);
		PUT(out, of_server, &server);
	}
	if (api->live) {
		live_count(api->live, &live);
		PUT(out, of_live, &live);
		prom_out_family(out, "bankfull_collector_live_build_seconds_total", PROM_COUNTER,
				"Time that these looks took.");
		prom_out_parts(out, (int64_t)live.build_us_total, 1000000);
	}
	/* A store that cannot count is one whose series are missing: /readyz and failed commits say that it is ill. */
	if (!api->store || store_count(api->store, &store, &err) < 0)
		return;
	PUT(out, of_store, &store);
	if (store.disk_cap_bytes)
		prom_out_gauge(out, "bankfull_collector_store_cap_bytes", "Most bytes that it may take.",
			       store.disk_cap_bytes);
}

/* --- of workloads ------------------------------------------------------------------------------------------------ */

struct shown {
	const struct fleet_workload *workload;
	struct fleet_sum sum;
};

static void workload_labels(struct prom_out *out, const struct fleet_workload *workload)
{
	prom_out_label(out, "cluster", workload->cluster);
	prom_out_label(out, "namespace", workload->namespace_);
	prom_out_label(out, "workload", workload->name);
}

static void put_workload_qty(struct prom_out *out, const struct shown *shown, size_t n, const char *name,
			     const char *help, size_t offset)
{
	prom_out_family(out, name, PROM_GAUGE, help);
	for (size_t i = 0; i < n; i++) {
		struct qty qty;
		memcpy(&qty, (const char *)&shown[i].sum + offset, sizeof qty);
		if (!qty_known(qty))
			continue;
		workload_labels(out, shown[i].workload);
		prom_out_u64(out, qty.bytes);
	}
}

static void put_pods(struct prom_out *out, const struct shown *shown, size_t n)
{
	prom_out_family(out, "bankfull_workload_pods", PROM_GAUGE, "Pods heard of within a day.");
	for (size_t i = 0; i < n; i++) {
		workload_labels(out, shown[i].workload);
		prom_out_label(out, "state", "connected");
		prom_out_u64(out, shown[i].sum.connected);
		workload_labels(out, shown[i].workload);
		prom_out_label(out, "state", "disconnected");
		prom_out_u64(out, shown[i].sum.pods - shown[i].sum.connected);
	}
}

/* A sum over those pods that could read it is no sum over all: how many they are stands beside it. */
static void put_read_pods(struct prom_out *out, const struct shown *shown, size_t n)
{
	prom_out_family(out, "bankfull_workload_pods_read", PROM_GAUGE,
			"Connected pods whose figure is known: sums and the worst freeboard are of these.");
	for (size_t i = 0; i < n; i++) {
		const struct fleet_sum *sum = &shown[i].sum;
		const struct {
			const char *figure;
			uint64_t pods;
		} rows[] = { { "limit", sum->limit_pods },
			     { "charge", sum->charge_pods },
			     { "floor", sum->floor_pods },
			     { "freeboard", sum->freeboard_pods } };
		for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
			workload_labels(out, shown[i].workload);
			prom_out_label(out, "figure", rows[k].figure);
			prom_out_u64(out, rows[k].pods);
		}
	}
}

static void put_freeboard(struct prom_out *out, const struct shown *shown, size_t n)
{
	prom_out_family(out, "bankfull_workload_worst_freeboard_bytes", PROM_GAUGE,
			"Limit less what cannot be reclaimed, of the pod that has least; negative past the limit.");
	for (size_t i = 0; i < n; i++)
		if (shown[i].sum.worst_freeboard_bytes.known) {
			workload_labels(out, shown[i].workload);
			prom_out_i64(out, shown[i].sum.worst_freeboard_bytes.bytes);
		}
	prom_out_family(out, "bankfull_workload_worst_freeboard_ratio", PROM_GAUGE,
			"The same as a part of its limit, of the pod where it is smallest.");
	for (size_t i = 0; i < n; i++)
		if (shown[i].sum.worst_freeboard_bp.known) {
			workload_labels(out, shown[i].workload);
			prom_out_parts(out, shown[i].sum.worst_freeboard_bp.bytes, 10000);
		}
}

static void put_findings(struct prom_out *out, const struct shown *shown, size_t n)
{
	prom_out_family(out, "bankfull_workload_findings", PROM_GAUGE, "Open findings.");
	for (size_t i = 0; i < n; i++)
		for (unsigned severity = SEVERITY_INFO; severity < SEVERITY_COUNT; severity++) {
			workload_labels(out, shown[i].workload);
			prom_out_label(out, "severity", severity_names[severity]);
			prom_out_u64(out, shown[i].sum.findings[severity]);
		}
}

static int put_workloads(struct prom_out *out, const struct fleet *fleet, const struct auth_viewer *viewer,
			 struct err *err)
{
	const struct fleet_workload *const *workloads;
	size_t all = fleet_workloads(fleet, &workloads), n = 0, left_out = 0;
	size_t room = all < METRICS_WORKLOADS_MAX ? all : METRICS_WORKLOADS_MAX;
	auto_free struct shown *shown = calloc(room + 1, sizeof *shown);
	if (!shown)
		return err_set(err, ERR_NOMEM, "no memory for the workloads' metrics");
	for (size_t i = 0; i < all; i++) {
		if (!auth_sees(viewer, workloads[i]->namespace_))
			continue;
		if (n == room) {
			left_out++;
			continue;
		}
		shown[n].workload = workloads[i];
		fleet_sum(workloads[i], &shown[n++].sum);
	}
	put_pods(out, shown, n);
	put_read_pods(out, shown, n);
	put_freeboard(out, shown, n);
	put_workload_qty(out, shown, n, "bankfull_workload_limit_bytes", "Sum of the limits of connected pods.",
			 offsetof(struct fleet_sum, limit_bytes));
	put_workload_qty(out, shown, n, "bankfull_workload_charge_bytes", "Sum of what is charged to connected pods.",
			 offsetof(struct fleet_sum, charge_bytes));
	put_workload_qty(out, shown, n, "bankfull_workload_floor_bytes",
			 "Sum of what cannot be reclaimed from connected pods.",
			 offsetof(struct fleet_sum, floor_bytes));
	put_findings(out, shown, n);
	prom_out_gauge(out, "bankfull_collector_workloads", "Workloads heard of within a day.", n + left_out);
	prom_out_gauge(out, "bankfull_collector_workloads_left_out", "Workloads past the cap of this page.", left_out);
	return 0;
}

static void put_own_findings(struct prom_out *out, const struct fleet *fleet)
{
	const struct fleet_findings *own = fleet_own_findings(fleet);
	uint64_t by[SEVERITY_COUNT] = { 0 };
	for (size_t i = 0; i < own->n; i++)
		by[own->items[i].severity]++;
	prom_out_family(out, "bankfull_collector_findings", PROM_GAUGE, "Open findings of the collector about itself.");
	for (unsigned i = SEVERITY_INFO; i < SEVERITY_COUNT; i++) {
		prom_out_label(out, "severity", severity_names[i]);
		prom_out_u64(out, by[i]);
	}
}

int metrics_page(const struct api *api, const struct auth_viewer *viewer, struct buf *buf, struct err *err)
{
	struct prom_out out;
	prom_out_start(&out, buf);
	put_process(&out, api);
	put_ingest(&out, api);
	put_rest(&out, api);
	put_own_findings(&out, api->fleet);
	if (api->kube)
		metrics_kube(&out, api->kube);
	if (api->alerts)
		metrics_alerts(&out, api->alerts, viewer, clock_wall());
	int rc = put_workloads(&out, api->fleet, viewer, err);
	if (rc == 0 && buf_failed(buf))
		rc = err_set(err, ERR_LIMIT, "the metrics page passes %zu bytes", buf->cap);
	return rc;
}
