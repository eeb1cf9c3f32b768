/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/build.h"

#include "engine/flinkbudget.h"
#include "engine/flinkjobs.h"
#include "engine/flinkrest.h"
#include "engine/flinkswitch.h"
#include "engine/jolokia.h"
#include "engine/metricmap.h"
#include "engine/streams.h"

#include <stdio.h>

static bool is_flink(enum engine kind)
{
	return kind == ENGINE_FLINK_TASKMANAGER || kind == ENGINE_FLINK_JOBMANAGER;
}

/* A failure to parse is noted; only want of memory goes on up. */
static int noted(int status, const char *what, const struct err *why, struct engine_notes *notes, struct err *err)
{
	if (status == 0)
		return 0;
	if (why->kind == ERR_NOMEM) {
		if (err)
			*err = *why;
		return status;
	}
	engine_note_err(notes, what, why);
	return 0;
}

static int read_conf(const struct engine_evidence *evidence, struct flinkconf *conf, bool *ret_have,
		     struct engine_notes *notes, struct err *err)
{
	struct err why = { 0 };
	const char *name = evidence->conf_name ? evidence->conf_name : "config.yaml";
	*ret_have = false;
	if (!evidence->conf.len)
		return 0;
	int status = flinkconf_parse(evidence->conf, flinkconf_format_of(str_of(name)), name, conf, &why);
	*ret_have = status == 0;
	return noted(status, "conf/flink", &why, notes, err);
}

/* The JobManager's configuration counts where the process's own file has no such key, or was not read. */
static int read_jm_conf(const struct engine_evidence *evidence, struct flinkconf *conf, bool *ret_have,
			struct engine_notes *notes, struct err *err)
{
	struct err why = { 0 };
	*ret_have = false;
	if (!evidence->flink_jm_config.len)
		return 0;
	int status = flinkrest_config_parse(evidence->flink_jm_config, conf, &why);
	*ret_have = status == 0;
	return noted(status, "http/flink_jobmanager_config", &why, notes, err);
}

static int read_pages(const struct engine_evidence *evidence, struct engine_state *state, struct engine_notes *notes,
		      struct err *err)
{
	for (size_t i = 0; i < evidence->n_pages && i < ENGINE_PAGES_MAX; i++) {
		char what[48];
		const char *whats[] = { what };
		struct err why = { 0 };
		(void)snprintf(what, sizeof what, "http/metrics.%zu", i);
		int status = metricmap_read(&evidence->pages[i], whats, 1, state, notes, &why);
		status = noted(status, what, &why, notes, err);
		if (status < 0)
			return status;
	}
	return 0;
}

static int read_jolokia(const struct engine_evidence *evidence, struct engine_state *state, struct engine_notes *notes,
			struct err *err)
{
	char names[ENGINE_ANSWERS_MAX][24];
	const char *whats[ENGINE_ANSWERS_MAX];
	size_t n = evidence->n_jolokia < ENGINE_ANSWERS_MAX ? evidence->n_jolokia : ENGINE_ANSWERS_MAX;
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof names[i], "http/jolokia.%zu", i);
		whats[i] = names[i];
	}
	return n ? jolokia_read(evidence->jolokia, whats, n, state, notes, err) : 0;
}

static int read_rest(const struct engine_evidence *evidence, struct engine_state *state, struct engine_notes *notes,
		     struct err *err)
{
	struct err why = { 0 };
	if (state->version[0] == '\0' && evidence->flink_config.len)
		(void)flinkrest_version(evidence->flink_config, state->version);
	if (is_flink(state->kind))
		flinkjobs_read(evidence->flink_jobs, evidence->flink_job_metrics, &state->context);
	if (!evidence->flink_taskmanager.len || state->kind != ENGINE_FLINK_TASKMANAGER)
		return 0;
	int status = flinkrest_read(evidence->flink_taskmanager, state, notes, &why);
	return noted(status, "http/flink_taskmanager", &why, notes, err);
}

static void set_backend(const struct detection *detection, struct engine_state *state)
{
	state->backend = detection->backend;
	/* A job may choose its backend itself: its RocksDB metrics prove one. ForSt's carry the same names. */
	if (state->rocksdb.n_stores.known && (state->backend == BACKEND_UNKNOWN || state->backend == BACKEND_HASHMAP))
		state->backend = BACKEND_ROCKSDB;
}

static bool gauges_any(const struct engine_gauges *gauges)
{
	const struct qty bytes[] = {
		gauges->heap_used_bytes,         gauges->heap_committed_bytes,       gauges->heap_max_bytes,
		gauges->metaspace_used_bytes,    gauges->metaspace_committed_bytes,  gauges->metaspace_max_bytes,
		gauges->code_cache_used_bytes,   gauges->code_cache_committed_bytes, gauges->direct_used_bytes,
		gauges->direct_capacity_bytes,   gauges->mapped_used_bytes,          gauges->managed_used_bytes,
		gauges->managed_total_bytes,     gauges->network_used_bytes,         gauges->network_total_bytes,
		gauges->network_available_bytes,
	};
	for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
		if (qty_known(bytes[i]))
			return true;
	return gauges->direct_buffers.known || gauges->threads.known || gauges->classes_loaded.known;
}

int engine_build(const struct engine_evidence *evidence, struct engine_state *ret_state,
		 struct detection *ret_detection, bool *ret_metrics_read, struct engine_notes *notes, struct err *err)
{
	auto_flinkconf struct flinkconf conf = { 0 }, jm_conf = { 0 };
	struct engine_state state = { 0 };
	struct detection detection;
	bool have_conf, have_jm = false;
	int status = read_conf(evidence, &conf, &have_conf, notes, err);
	if (status == 0)
		status = read_jm_conf(evidence, &jm_conf, &have_jm, notes, err);
	if (status < 0)
		return status;
	const struct flinkconf *known = have_conf ? &conf : have_jm ? &jm_conf : NULL;
	conf.below = have_conf && have_jm ? &jm_conf : NULL;
	detect_engine(evidence->cmdline, evidence->mapped, known, &detection);
	state.kind = detection.kind;
	state.backend = detection.backend;
	memcpy(state.version, detection.version, sizeof state.version);
	if (is_flink(state.kind)) {
		flinkbudget_read(evidence->cmdline, known, state.kind, &state.flink, notes);
		flink_settings_read(evidence->cmdline, known, &state, notes);
		flink_switches_read(evidence->cmdline, evidence->mapped, known, &state, notes);
	}
	uint64_t instances;
	if (state.kind == ENGINE_KAFKA_STREAMS && streams_count_directories(evidence->state_dirs, &instances))
		state.streams = (struct streams_bound){ .n_instances = count_of(instances), .from_directories = true };
	/* Budgets first: the pages need the number of slots to count caches. */
	status = read_rest(evidence, &state, notes, err);
	struct engine_gauges rest_gauges = state.gauges;
	state.gauges = (struct engine_gauges){ 0 };
	if (status == 0)
		status = read_pages(evidence, &state, notes, err);
	if (status == 0)
		status = read_jolokia(evidence, &state, notes, err);
	if (status < 0)
		return status;
	bool metrics = gauges_any(&state.gauges) || state.rocksdb.n_stores.known || state.rocksdb.n_ticker_series.n;
	if (!gauges_any(&state.gauges))
		state.gauges = rest_gauges;
	set_backend(&detection, &state);
	if (state.rocksdb.n_ticker_series.n)
		state.tickers = TRISTATE_TRUE;
	if (state.kind == ENGINE_KAFKA_STREAMS)
		streams_bound_set(&state.streams, &state.rocksdb);
	*ret_state = state;
	*ret_metrics_read = metrics;
	if (ret_detection)
		*ret_detection = detection;
	return 0;
}
