/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of `bankfull agent`, by one table: flags, BANKFULL_* variables, --config FILE (flag beats variable beats
 * file), help text and docs/configuration.md. Secrets come from files only; a secret given as a value is refused.
 */
#ifndef CONFIG_AGENTCONF_H
#define CONFIG_AGENTCONF_H

#include "bankfull/subject.h"
#include "config/ruleconf.h"
#include "config/settings.h"

enum { AGENT_URLS_MAX = 8, AGENT_TARGETS_MAX = 128 };

struct agentconf {
	/* what to watch */
	int pid; /* 0: the one JVM here that runs an engine, whenever it appears */
	const char *cgroup_directory;
	struct limit limit, pod_limit;
	const char *metrics_urls[AGENT_URLS_MAX];
	size_t n_metrics_urls;
	const char *flink_rest, *flink_conf;
	bool no_attach, no_metrics;
	uint64_t http_timeout_ms;
	/* node mode: one agent for all pods of a node */
	bool node;
	const char *match;       /* NAMESPACE/POD patterns, comma-separated; NULL: all */
	uint64_t max_targets;    /* 32 */
	const char *node_logs;   /* /var/log of the node, or at least its pods/ and containers/; NULL: not mounted */
	const char *node_cgroup; /* /sys/fs/cgroup of the node; NULL: not mounted */
	bool in_pod;             /* only JVMs of the pod subject.pod_uid: what node mode starts for each */
	/* how often */
	uint64_t interval_ms;        /* 5 s */
	uint64_t scrape_interval_ms; /* 15 s */
	uint64_t attach_interval_ms; /* 5 min */
	uint64_t smaps_interval_ms;  /* at least so long between scans; the budget may make it longer: 30 s */
	uint64_t smaps_share_bp;     /* of wall time inside the kernel's walk: 20 (0.2 %) */
	uint64_t smaps_hold_ms;      /* longest predicted hold of one mapping: 50 */
	/* where to */
	const char *collector; /* ws:// or wss://; NULL: none */
	const char *token_file, *ca_file, *ca_pem, *cert_file, *key_file, *server_name;
	const char *state_dir;
	uint64_t spool_bytes;
	const char *listen; /* ADDRESS:PORT, "off" */
	uint64_t grace_ms;  /* SIGTERM: longest wait for an unacked post-mortem: 27 s */
	bool log_debug;
	struct wire_subject subject; /* what the environment says of the pod: BANKFULL_NAMESPACE, ... */
	/* --config FILE */
	const char *config;
	struct ruleconf rules;
	struct settings_text text; /* strings live here */
	bool help;
};

/* USAGE: "--flag: what", "BANKFULL_X: what" or "FILE:LINE: what". `environment` as environ(7). */
int agentconf_parse(int argc, char **argv, char *const environment[], struct agentconf *ret_conf, struct err *err)
	__attribute__((warn_unused_result));
void agentconf_done(struct agentconf *conf);
void agentconf_help(struct buf *out);
/* What was said, and by what: a line a setting. */
void agentconf_show(const struct agentconf *conf, struct buf *out);

#endif
