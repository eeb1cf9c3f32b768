/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine tells: its configuration file, its metrics pages, its REST API, the stores it holds open. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/build.h"
#include "agent/collect_parts.h"
#include "base/limits.h"
#include "engine/build.h"
#include "engine/flinkconf.h"
#include "engine/flinkjobs.h"
#include "engine/flinkrest.h"
#include "engine/jolokia.h"
#include "engine/metricmap.h"
#include "kernel/smaps.h"
#include "net/http.h"
#include "sys/file.h"
#include "sys/proc.h"

/* One body through its reducer, so that a large page is never held whole. */
static int metrics_sink(void *context, struct str piece, struct err *err)
{
	return metrics_reducer_feed(context, piece, err);
}

bool collect_url_shown(struct str url, struct buf *out)
{
	size_t scheme = str_find(url, STR("://"));
	struct str rest = url;
	if (scheme < url.len) {
		if (!buf_add(out, (struct str){ url.ptr, scheme + 3 }))
			return false;
		rest = str_skip(url, scheme + 3);
	}
	size_t end = 0, host = 0;
	while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?' && rest.ptr[end] != '#') {
		if (rest.ptr[end++] == '@')
			host = end;
	}
	while (end < rest.len && rest.ptr[end] != '?' && rest.ptr[end] != '#')
		end++;
	return buf_add(out, (struct str){ rest.ptr + host, end - host });
}

static void fetch_metrics(struct collecting *c, const char *url, bool discovered, size_t index)
{
	char name[EVIDENCE_NAME_CAP], fact[EVIDENCE_NAME_CAP];
	(void)snprintf(name, sizeof name, "http/metrics.%zu", index);
	(void)snprintf(fact, sizeof fact, "metrics_url.%zu", index);
	auto_buf struct buf shown = { .cap = 512 };
	if (collect_url_shown(str_of(url), &shown))
		(void)evidence_fact_str(c->evidence, fact, buf_str(&shown));
	struct buf *out = evidence_new(c->evidence, name, LIMIT_HTTP_BODY);
	if (!out)
		return;
	struct err err = { 0 };
	struct http_meta meta;
	auto_metrics_reducer struct metrics_reducer reducer;
	metrics_reducer_start(&reducer, out);
	struct http_request request = { .url = url,
					.discovered = discovered,
					.want = HTTP_WANT_METRICS,
					.timeout_ms = c->options->http_timeout_ms };
	int rc = http_get_to(&request, metrics_sink, &reducer, &meta, &err);
	if (rc == 0)
		rc = metrics_reducer_end(&reducer, &err);
	if (rc < 0)
		evidence_fail(c->evidence, name, &err);
}

typedef int reduce_fn(struct str text, struct buf *out, struct err *err);

/* True: the endpoint answers, if not always well, and may be asked for more. One that hangs costs one deadline, not one a question. */
static bool fetch_json(struct collecting *c, const char *base, const char *path, bool discovered, const char *name,
		       reduce_fn *reduce)
{
	char url[512];
	struct err err = { 0 };
	struct http_meta meta;
	auto_buf struct buf body = { .cap = LIMIT_HTTP_BODY };
	size_t len = strlen(base);
	while (len && base[len - 1] == '/')
		len--;
	int written = snprintf(url, sizeof url, "%.*s%s", (int)len, base, path);
	struct http_request request = {
		.url = url, .discovered = discovered, .want = HTTP_WANT_JSON, .timeout_ms = c->options->http_timeout_ms
	};
	int rc = written < 0 || (size_t)written >= sizeof url
			 ? err_set(&err, ERR_USAGE, "URL longer than %zu bytes", sizeof url)
			 : http_get(&request, &body, &meta, &err);
	struct buf *out = evidence_new(c->evidence, name, LIMIT_HTTP_BODY);
	if (rc == 0 && out)
		rc = reduce(buf_str(&body), out, &err);
	if (rc < 0)
		evidence_fail(c->evidence, name, &err);
	return rc == 0 || err.kind == ERR_MALFORMED || err.kind == ERR_UNSUPPORTED || err.kind == ERR_LIMIT;
}

static void fetch_jolokia(struct collecting *c, const char *base, bool discovered)
{
	for (size_t i = 0; i < ENGINE_ANSWERS_MAX && jolokia_requests[i]; i++) {
		char name[EVIDENCE_NAME_CAP];
		(void)snprintf(name, sizeof name, "http/jolokia.%zu", i);
		if (!fetch_json(c, base, jolokia_requests[i], discovered, name, jolokia_reduce))
			return;
	}
}

/* Our own TaskManager's id, from its metrics page or because it is the only one, and what the JobManager knows of it. */
static bool fetch_taskmanager(struct collecting *c, const char *base)
{
	char tm_id[128] = "", id[FLINKREST_ID_CAP], path[FLINKREST_ID_CAP + 32];
	if (!evidence_has(c->evidence, "http/flink_taskmanagers"))
		return true;
	metricmap_tm_id(evidence_text(c->evidence, "http/metrics.0"), tm_id);
	struct flinkrest_self self = { .tm_id = str_of(tm_id) };
	struct err err = { 0 };
	if (flinkrest_find(evidence_text(c->evidence, "http/flink_taskmanagers"), &self, id, &err) < 0 ||
	    !flinkrest_path(id, path, sizeof path)) {
		evidence_fail(c->evidence, "http/flink_taskmanager", &err);
		return true;
	}
	return fetch_json(c, base, path, false, "http/flink_taskmanager", flinkrest_reduce);
}

static void fetch_jobs(struct collecting *c, const char *base)
{
	char path[FLINKJOBS_PATH_CAP];
	if (fetch_json(c, base, FLINKJOBS_OVERVIEW, false, "http/flink_jobs", flinkjobs_reduce) &&
	    flinkjobs_metrics_path(evidence_text(c->evidence, "http/flink_jobs"), path))
		(void)fetch_json(c, base, path, false, "http/flink_job_metrics", flinkjobs_metrics_reduce);
}

static void fetch_flink_rest(struct collecting *c)
{
	const char *base = c->options->flink_rest;
	if (base && fetch_json(c, base, FLINKREST_CONFIG, false, "http/flink_config", flinkrest_reduce) &&
	    fetch_json(c, base, FLINKREST_TASKMANAGERS, false, "http/flink_taskmanagers", flinkrest_reduce) &&
	    fetch_taskmanager(c, base) &&
	    fetch_json(c, base, FLINKREST_JM_CONFIG, false, "http/flink_jobmanager_config", flinkrest_config_reduce))
		fetch_jobs(c, base);
}

static int read_conf(struct collecting *c, const char *path, bool own_file, struct err *err)
{
	auto_buf struct buf raw = { .cap = LIMIT_CONFIG_FILE };
	int rc = own_file ? file_read_at(AT_FDCWD, path, LIMIT_CONFIG_FILE, &raw, err)
			  : file_read_under(c->root_fd, path, LIMIT_CONFIG_FILE, NULL, &raw, err);
	if (rc < 0)
		return rc;
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	struct buf *kept = evidence_new(c->evidence, "conf/flink", 2 * LIMIT_CONFIG_FILE);
	if (kept)
		rc = flinkconf_redact(buf_str(&raw), flinkconf_format_of(str_of(base)), base, kept, err);
	if (rc == 0)
		(void)evidence_fact(c->evidence, "conf_name", "%s", base);
	return rc;
}

/* Flink 1.20 takes flink-conf.yaml if it is there, 2.x reads config.yaml alone: the version is not sure yet, so the first that is there. */
static void collect_conf(struct collecting *c, const struct detection *detection)
{
	struct err err = { 0 };
	int rc;
	if (c->options->flink_conf) {
		rc = read_conf(c, c->options->flink_conf, true, &err);
	} else {
		if (!detection->conf_dir[0] || c->root_fd < 0)
			return;
		char path[256];
		bool legacy_first = detection->version[0] == '1';
		(void)snprintf(path, sizeof path, "%s/%s", detection->conf_dir,
			       legacy_first ? "flink-conf.yaml" : "config.yaml");
		rc = read_conf(c, path, false, &err);
		if (rc < 0 && err.kind == ERR_GONE && legacy_first) {
			(void)snprintf(path, sizeof path, "%s/config.yaml", detection->conf_dir);
			rc = read_conf(c, path, false, &err);
		}
	}
	if (rc < 0)
		evidence_fail(c->evidence, "conf/flink", &err);
}

/* Each open RocksDB holds a descriptor of its LOCK file, wherever state.dir is: told as the CURRENT file beside it. */
static bool one_descriptor(void *context, const char *name)
{
	struct collecting *c = context;
	char path[64], target[512];
	struct err ignored;
	(void)snprintf(path, sizeof path, "fd/%s", name);
	if (proc_link(c->pid_fd, path, target, sizeof target, &ignored) < 0)
		return true;
	struct str text = str_of(target);
	if (!str_ends(text, STR("/LOCK")) || str_has(text, STR("\n")))
		return true;
	struct buf *out = NULL;
	for (size_t i = 0; i < c->evidence->n; i++)
		if (strcmp(c->evidence->items[i].name, "proc/state_dirs") == 0)
			out = &c->evidence->items[i].bytes;
	text.len -= 4;
	text = str_skip(text, 1);
	return out && buf_add(out, text) && buf_puts(out, "CURRENT\n");
}

static void collect_state_dirs(struct collecting *c)
{
	struct err err = { 0 };
	auto_close int fd = -1;
	struct buf *out = evidence_new(c->evidence, "proc/state_dirs", LIMIT_PROC_FILE);
	if (out &&
	    (dir_open_at(c->pid_fd, "fd", &fd, &err) < 0 || dir_list(fd, LIMIT_PROCS, one_descriptor, c, &err) < 0))
		evidence_fail(c->evidence, "proc/state_dirs", &err);
}

static void collect_metrics(struct collecting *c, const struct detection *detection)
{
	if (c->options->no_metrics) {
		evidence_fail_set(c->evidence, "http/metrics", ERR_UNSUPPORTED, "metrics switched off by --no-metrics");
		return;
	}
	size_t page = 0;
	for (size_t i = 0; i < c->options->n_metrics_urls && page < ENGINE_PAGES_MAX; i++) {
		const char *url = c->options->metrics_urls[i];
		if (strstr(url, "/jolokia"))
			fetch_jolokia(c, url, false);
		else
			fetch_metrics(c, url, false, page++);
	}
	if (c->options->n_metrics_urls)
		return;
	if (detection->n_endpoints == 0) {
		evidence_fail_set(c->evidence, "http/metrics", ERR_UNSUPPORTED,
				  detection->no_endpoint[0] ? detection->no_endpoint : "no metrics endpoint found");
		return;
	}
	for (size_t i = 0; i < detection->n_endpoints; i++) {
		const struct endpoint *endpoint = &detection->endpoints[i];
		if (endpoint->kind == ENDPOINT_JOLOKIA)
			fetch_jolokia(c, endpoint->url, true);
		else if (endpoint->kind != ENDPOINT_FLINK_REST && page < ENGINE_PAGES_MAX)
			fetch_metrics(c, endpoint->url, true, page++);
	}
}

void collect_engine(struct collecting *c)
{
	struct detection detection;
	struct vma_set maps = { 0 };
	struct err ignored = { 0 };
	auto_buf struct buf mapped = { .cap = LIMIT_PROC_FILE };
	if (maps_parse(buf_str(&c->maps), &maps, &ignored) == 0)
		(void)build_mapped_names(&maps, &mapped);
	vma_set_done(&maps);
	struct str cmdline = evidence_text(c->evidence, "proc/cmdline");
	detect_engine(cmdline, buf_str(&mapped), NULL, &detection);
	if (detection.kind == ENGINE_FLINK_TASKMANAGER || detection.kind == ENGINE_FLINK_JOBMANAGER ||
	    c->options->flink_conf)
		collect_conf(c, &detection);
	auto_flinkconf struct flinkconf conf = { 0 };
	struct str text = evidence_text(c->evidence, "conf/flink"), conf_name = STR("config.yaml");
	(void)evidence_fact_find(c->evidence, "conf_name", &conf_name);
	char name[64];
	str_copy(name, sizeof name, conf_name);
	if (text.len && flinkconf_parse(text, flinkconf_format_of(conf_name), name, &conf, &ignored) == 0)
		detect_engine(cmdline, buf_str(&mapped), &conf, &detection);
	collect_metrics(c, &detection);
	fetch_flink_rest(c);
	if (detection.kind == ENGINE_KAFKA_STREAMS)
		collect_state_dirs(c);
}
