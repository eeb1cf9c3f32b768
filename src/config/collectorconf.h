/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of bankfull-collector, by one table like the agent's. */
#ifndef CONFIG_COLLECTORCONF_H
#define CONFIG_COLLECTORCONF_H

#include "config/alertconf.h"
#include "config/policyconf.h"
#include "config/settings.h"

struct collectorconf {
	const char *data;                                    /* directory of the database */
	const char *listen, *listen_agents, *listen_metrics; /* ADDRESS:PORT; NULL: not given */
	const char *tls_cert, *tls_key, *client_ca;
	const char *tls_ca, *tls_names; /* an authority of our own, which makes the two */
	bool insecure;
	const char *agent_tokens, *viewer_tokens; /* files */
	const char *review_url, *review_ca, *review_token, *audience, *allow_agents;
	uint64_t review_again_s;
	/* who may speak for other pods: "NAMESPACE/SERVICEACCOUNT" of tokens, else agents' ids */
	const char *node_agents;
	const char *proxy_viewers, *proxy_peers, *proxy_user_header, *proxy_groups_header;
	bool kube_pods, kube_events;
	const char *kube_url, *kube_ca, *kube_token, *kube_namespaces; /* NULL: as a pod finds them; all */
	const char *public_url;                                        /* as browsers know this site; NULL: not said */
	const char *cluster;
	uint64_t raw_s, rollup_s, findings_s, disk_cap_bytes;
	uint64_t window, min_interval_ms, max_connections, max_per_address, max_viewers, max_viewers_per_address;
	bool log_debug;
	const char *config;
	struct policies policies;
	const char *alertmanager; /* a receiver of all warnings, in short */
	struct alertconf *alerts; /* never NULL */
	struct settings_text text;
	bool help;
};

int collectorconf_parse(int argc, char **argv, char *const environment[], struct collectorconf *ret_conf,
			struct err *err) __attribute__((warn_unused_result));
void collectorconf_done(struct collectorconf *conf);
void collectorconf_help(struct buf *out);

#endif
