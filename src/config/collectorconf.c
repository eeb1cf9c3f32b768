/* SPDX-License-Identifier: Apache-2.0 */
#include "config/collectorconf.h"

#include <stddef.h>
#include <stdlib.h>

#define AT(field) offsetof(struct collectorconf, field)

enum { ALL = SETTING_BY_FLAG | SETTING_BY_ENV | SETTING_BY_FILE, RUN = SETTING_BY_FLAG | SETTING_BY_ENV };

static const struct setting_info table[] = {
	{ "data", "DIR", "where the database is kept; it must exist", ALL, SETTING_FILE, AT(data), 0, 0, 0, 0 },
	{ "listen", "ADDRESS:PORT", "dashboard, API and metrics; alone and on loopback, agents (at /agent) too", ALL,
	  SETTING_LISTEN, AT(listen), 0, 0, 0, 0 },
	{ "listen-agents", "ADDRESS:PORT", "agents alone, at /agent", ALL, SETTING_LISTEN, AT(listen_agents), 0, 0, 0,
	  0 },
	{ "listen-metrics", "ADDRESS:PORT", "/metrics, /healthz, /readyz alone, without authentication", ALL,
	  SETTING_LISTEN, AT(listen_metrics), 0, 0, 0, 0 },
	{ "tls-cert", "FILE", "the certificate of all listeners but that of metrics; read again when it changes", ALL,
	  SETTING_FILE, AT(tls_cert), 0, 0, 0, 0 },
	{ "tls-key", "FILE", "its private key", ALL, SETTING_FILE, AT(tls_key), 0, 0, 0, 0 },
	{ "tls-ca", "DIR", "ca.crt and ca.key of an authority that makes both, and anew in time", ALL, SETTING_FILE,
	  AT(tls_ca), 0, 0, 0, 0 },
	{ "tls-names", "NAME,...", "for whom it makes them: names and addresses by which agents reach the collector",
	  ALL, SETTING_TEXT, AT(tls_names), 0, 0, 0, 0 },
	{ "client-ca", "FILE", "authorities whose client certificates name agents by their SAN", ALL, SETTING_FILE,
	  AT(client_ca), 0, 0, 0, 0 },
	{ "agent-tokens", "FILE", "lines \"AGENT-ID TOKEN\": who shows the token is that agent", ALL, SETTING_FILE,
	  AT(agent_tokens), 0, 0, 0, 0 },
	{ "viewer-tokens", "FILE", "lines \"viewer|operator NAME TOKEN [NAMESPACE,...]\"", ALL, SETTING_FILE,
	  AT(viewer_tokens), 0, 0, 0, 0 },
	{ "proxy-viewers", "FILE",
	  "lines \"viewer|operator USER|group:NAME|* [NAMESPACE,...]\" of users whom a proxy names", ALL, SETTING_FILE,
	  AT(proxy_viewers), 0, 0, 0, 0 },
	{ "proxy-peers", "ADDRESS[/LEN],...", "the proxies whose word on that counts", ALL, SETTING_TEXT,
	  AT(proxy_peers), 0, 0, 0, 0 },
	{ "proxy-user-header", "NAME", "the header that names the user (X-Forwarded-User)", ALL, SETTING_TEXT,
	  AT(proxy_user_header), 0, 0, 0, 0 },
	{ "proxy-groups-header", "NAME", "the header that lists the user's groups, such as X-Forwarded-Groups", ALL,
	  SETTING_TEXT, AT(proxy_groups_header), 0, 0, 0, 0 },
	{ "token", NULL, "secrets come from files: name one with agent-tokens or viewer-tokens", ALL, SETTING_REFUSED,
	  0, 0, 0, 0, 0 },
	{ "review-url", "URL", "Kubernetes' token review, asked for tokens that no file names", ALL, SETTING_URL,
	  AT(review_url), 0, 0, 0, 0 },
	{ "review-ca", "FILE", "the authority of its certificate", ALL, SETTING_FILE, AT(review_ca), 0, 0, 0, 0 },
	{ "review-token", "FILE", "the token that may ask it", ALL, SETTING_FILE, AT(review_token), 0, 0, 0, 0 },
	{ "review-again", "TIME", "how long a review holds for an agent that is connected, 10s to 1h (10m)", ALL,
	  SETTING_SECONDS, AT(review_again_s), 10, 3600, 0, 0 },
	{ "audience", "NAME", "what agents' tokens must have been made for", ALL, SETTING_TEXT, AT(audience), 0, 0, 0,
	  0 },
	{ "allow-agents", "NAMESPACE[/ACCOUNT],...",
	  "service accounts whose pods may be agents; * and ? as in a shell (all)", ALL, SETTING_TEXT, AT(allow_agents),
	  0, 0, 0, 0 },
	{ "kube-events", "", "findings of warning and above become Events of Kubernetes on their pods", ALL,
	  SETTING_SWITCH, AT(kube_events), 0, 0, 0, 0 },
	{ "kube-pods", "", "watch Kubernetes' pods: on which node one is, and how its containers ended", ALL,
	  SETTING_SWITCH, AT(kube_pods), 0, 0, 0, 0 },
	{ "kube-namespaces", "NAME,...", "of these alone, 8 at most (all)", ALL, SETTING_TEXT, AT(kube_namespaces), 0,
	  0, 0, 0 },
	{ "kube-url", "URL", "Kubernetes' API server (as a pod finds it)", ALL, SETTING_URL, AT(kube_url), 0, 0, 0, 0 },
	{ "kube-ca", "FILE", "the authority of its certificate (as a pod finds it)", ALL, SETTING_FILE, AT(kube_ca), 0,
	  0, 0, 0 },
	{ "kube-token", "FILE", "the token that may ask it (as a pod finds it)", ALL, SETTING_FILE, AT(kube_token), 0,
	  0, 0, 0 },
	{ "node-agents", "NAMESPACE/ACCOUNT,...",
	  "service accounts (or ids of agent-tokens and certificates) of agents in node mode: they speak for other pods",
	  ALL, SETTING_TEXT, AT(node_agents), 0, 0, 0, 0 },
	{ "public-url", "URL", "where browsers find this site, such as https://bankfull.example.com; stands in links",
	  ALL, SETTING_URL, AT(public_url), 0, 0, 0, 0 },
	{ "insecure", "", "listen beyond loopback without TLS or authentication", ALL, SETTING_SWITCH, AT(insecure), 0,
	  0, 0, 0 },
	{ "cluster", "NAME", "stands in every subject (default)", ALL, SETTING_TEXT, AT(cluster), 0, 0, 0, 0 },
	{ "keep-samples", "TIME", "raw samples, 1h to 90d (48h)", ALL, SETTING_SECONDS, AT(raw_s), 3600, 90 * 86400, 0,
	  0 },
	{ "keep-minutes", "TIME", "their roll-ups by the minute, 1h to 3650d (30d)", ALL, SETTING_SECONDS, AT(rollup_s),
	  3600, UINT64_C(3650) * 86400, 0, 0 },
	{ "keep-findings", "TIME", "findings and post-mortems, 1d to 3650d (365d)", ALL, SETTING_SECONDS,
	  AT(findings_s), 86400, UINT64_C(3650) * 86400, 0, 0 },
	{ "disk-cap", "SIZE", "most that the database may take, from 16Mi on; the oldest samples go first (none)", ALL,
	  SETTING_SIZE, AT(disk_cap_bytes), 16 << 20, UINT64_MAX, 0, 0 },
	{ "window", "N", "messages an agent may have unacked, 1 to 10000 (256)", ALL, SETTING_COUNT, AT(window), 1,
	  10000, 0, 0 },
	{ "min-interval", "TIME", "ask agents for samples no closer than this, 1s to 5m (1s)", ALL, SETTING_TIME,
	  AT(min_interval_ms), 1000, 300000, 0, 0 },
	{ "max-connections", "N", "in all, 1 to 200000 (20000)", ALL, SETTING_COUNT, AT(max_connections), 1, 200000, 0,
	  0 },
	{ "max-per-address", "N", "from one peer address, 1 to 200000 (20000)", ALL, SETTING_COUNT, AT(max_per_address),
	  1, 200000, 0, 0 },
	{ "max-viewers", "N", "of the live stream, 1 to 100000 (1000)", ALL, SETTING_COUNT, AT(max_viewers), 1, 100000,
	  0, 0 },
	{ "max-viewers-per-address", "N", "from one peer address, or of one user of a proxy, 1 to 100000 (64)", ALL,
	  SETTING_COUNT, AT(max_viewers_per_address), 1, 100000, 0, 0 },
	{ "debug", "", "log more", ALL, SETTING_SWITCH, AT(log_debug), 0, 0, 0, 0 },
	{ "alertmanager", "URL", "told of warnings and above; receivers and routes stand in the file, below alerts",
	  ALL, SETTING_URL, AT(alertmanager), 0, 0, 0, 0 },
	{ "config", "FILE", "a YAML file: these settings by name, policies for agents, alerts", RUN, SETTING_FILE,
	  AT(config), 0, 0, 0, 0 },
};

static bool is_section(struct str key)
{
	return policyconf_is_key(key) || alertconf_is_key(key);
}

static const char *const sections[] = { "policies", "alerts", NULL };

static const struct settings_source source = { table, sizeof table / sizeof table[0], is_section, sections };

static int check_identities(const struct collectorconf *conf, struct err *err)
{
	if (conf->client_ca && !conf->tls_cert)
		return err_set(err, ERR_USAGE, "client-ca needs TLS: add tls-cert and tls-key");
	if (!conf->proxy_viewers != !conf->proxy_peers)
		return err_set(err, ERR_USAGE, "proxy-viewers and proxy-peers go together: %s is missing",
			       conf->proxy_viewers ? "proxy-peers" : "proxy-viewers");
	if (conf->review_url && (!conf->review_token || !conf->audience))
		return err_set(err, ERR_USAGE, "review-url needs %s too",
			       conf->review_token ? "audience" : "review-token");
	if (conf->allow_agents && !conf->review_url)
		return err_set(err, ERR_USAGE, "allow-agents is about service accounts: it needs review-url too");
	return 0;
}

static int check(const struct collectorconf *conf, struct err *err)
{
	if (!conf->data)
		return err_set(err, ERR_USAGE, "where to keep the database is not said: add --data DIR");
	if (!conf->listen && !conf->listen_agents)
		return err_set(err, ERR_USAGE, "nowhere to listen: add --listen 127.0.0.1:8480");
	if (!conf->tls_cert != !conf->tls_key)
		return err_set(err, ERR_USAGE, "tls-cert and tls-key go together: %s is missing",
			       conf->tls_cert ? "tls-key" : "tls-cert");
	if (conf->tls_ca && (!conf->tls_cert || !conf->tls_names))
		return err_set(err, ERR_USAGE, "tls-ca needs %s too",
			       conf->tls_cert ? "tls-names" : "tls-cert and tls-key");
	if (conf->tls_names && !conf->tls_ca)
		return err_set(err, ERR_USAGE, "tls-names needs tls-ca too");
	return check_identities(conf, err);
}

static int parse(int argc, char **argv, char *const environment[], struct collectorconf *conf, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	int rc = settings_load(&source, argc, argv, environment, conf, &conf->text, &yml, &conf->help, err);
	if (rc == 0 && !conf->help && conf->config)
		rc = policyconf_parse(&yml, conf->config, &conf->policies, err);
	if (rc == 0 && !conf->help)
		rc = alertconf_parse(&yml, conf->config ? conf->config : "", conf->alertmanager, &conf->alerts, err);
	return rc < 0 || conf->help ? rc : check(conf, err);
}

int collectorconf_parse(int argc, char **argv, char *const environment[], struct collectorconf *ret_conf,
			struct err *err)
{
	struct collectorconf conf = { .cluster = "default" };
	int rc = parse(argc, argv, environment, &conf, err);
	if (rc < 0)
		collectorconf_done(&conf);
	else
		*ret_conf = conf;
	return rc;
}

void collectorconf_done(struct collectorconf *conf)
{
	settings_text_done(&conf->text);
	policyconf_done(&conf->policies);
	alertconf_free(conf->alerts);
}

void collectorconf_help(struct buf *out)
{
	settings_help(&source, out);
}
