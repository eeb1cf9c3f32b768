/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which engine a JVM runs, of which version, and where its metrics may be read: from its command line (main class,
 * base names of the class path, Java agents), the names of its mapped files and Flink's configuration. Pure;
 * nothing is tried.
 *
 * Flink is known by its main class (TaskManagerRunner, KubernetesTaskExecutorRunner, ...ClusterEntrypoint). Kafka
 * Streams is a library: a kafka-streams jar on the class path, or librocksdbjni mapped in a JVM that is no Flink.
 * Endpoints are on loopback, whatever address they listen on: the agent shares the pod's network. A Flink REST
 * endpoint is only listed for a JobManager that configures it.
 */
#ifndef ENGINE_DETECT_H
#define ENGINE_DETECT_H

#include "bankfull/engine.h"
#include "engine/flinkconf.h"

enum endpoint_kind {
	ENDPOINT_FLINK_PROMETHEUS = 0,
	ENDPOINT_JMX_EXPORTER,
	ENDPOINT_JOLOKIA,
	ENDPOINT_FLINK_REST,
	ENDPOINT_KIND_COUNT
};

struct endpoint {
	enum endpoint_kind kind;
	char url[160];  /* for Prometheus the page itself, for Jolokia and REST the base, without a slash at its end */
	char where[80]; /* "command line", "config.yaml:12", "default port" */
	bool guessed;   /* nothing names it: a default that may not be there */
};

enum { ENDPOINTS_MAX = 12 };

struct detection {
	enum engine kind;
	char why[96];         /* what it was known by */
	char main_class[128]; /* "" if unread */
	char version[32];     /* "" if unread */
	char conf_dir[160];   /* Flink's --configDir, "" if unread or redacted */
	enum state_backend backend;
	char backend_where[80];
	struct endpoint endpoints[ENDPOINTS_MAX];
	size_t n_endpoints;
	char no_endpoint[200]; /* why there is none; "" if there is one */
};

/* `cmdline` NUL-separated; `mapped` one path a line (may be empty); `conf` may be NULL. Never fails. */
void detect_engine(struct str cmdline, struct str mapped, const struct flinkconf *conf,
		   struct detection *ret_detection);

#endif
