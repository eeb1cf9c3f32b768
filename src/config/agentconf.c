/* SPDX-License-Identifier: Apache-2.0 */
#include "config/agentconf.h"

#include <errno.h>
#include <stddef.h>

#include "base/globs.h"

#define AT(field) offsetof(struct agentconf, field)

enum { TARGETS_DEFAULT = 32 };
enum { ALL = SETTING_BY_FLAG | SETTING_BY_ENV | SETTING_BY_FILE, RUN = SETTING_BY_FLAG | SETTING_BY_ENV };

static const char no_secret[] = "secrets come from files, which other processes cannot see: name one with token-file";

static const struct setting_info table[] = {
	/* what to watch */
	{ "pid", "N", "the JVM to watch; without it, the one that runs Flink or Kafka Streams, once it is there", RUN,
	  SETTING_PID, AT(pid), 0, 0, 0, 0 },
	{ "limit", "SIZE", "the container's memory limit, where its cgroup cannot be read (1728m, 4Gi, bytes)", ALL,
	  SETTING_LIMIT, AT(limit), 0, 0, 0, 0 },
	{ "pod-limit", "SIZE", "the pod's memory limit, if it has one of its own", ALL, SETTING_LIMIT, AT(pod_limit), 0,
	  0, 0, 0 },
	{ "cgroup", "DIR", "the container's cgroup v2 directory; without it, found through the process", ALL,
	  SETTING_FILE, AT(cgroup_directory), 0, 0, 0, 0 },
	{ "metrics", "URL", "a metrics page of the engine; may be repeated. Without it, discovered", ALL, SETTING_URLS,
	  AT(metrics_urls), 0, 0, AGENT_URLS_MAX, AT(n_metrics_urls) },
	{ "flink-rest", "URL", "Flink's REST endpoint, such as http://jobmanager:8081", ALL, SETTING_URL,
	  AT(flink_rest), 0, 0, 0, 0 },
	{ "flink-conf", "FILE", "Flink's config.yaml or flink-conf.yaml; without it, the target's own if readable", ALL,
	  SETTING_FILE, AT(flink_conf), 0, 0, 0, 0 },
	{ "no-attach", "", "do not ask the JVM by the attach protocol", ALL, SETTING_SWITCH, AT(no_attach), 0, 0, 0,
	  0 },
	{ "no-metrics", "", "do not fetch any metrics page", ALL, SETTING_SWITCH, AT(no_metrics), 0, 0, 0, 0 },
	/* node mode */
	{ "node-mode", "",
	  "watch every JVM that runs Flink or Kafka Streams in a pod of this node, each in a process of its own; --node alone says the same",
	  RUN, SETTING_SWITCH, AT(node), 0, 0, 0, 0 },
	{ "match", "NAMESPACE/POD,...", "with --node-mode, pods whose names fit one of these patterns alone (*/*)", ALL,
	  SETTING_TEXT, AT(match), 0, 0, 0, 0 },
	{ "max-targets", "N", "with --node-mode, watch so many pods at most, 1 to 128 (32)", ALL, SETTING_COUNT,
	  AT(max_targets), 1, AGENT_TARGETS_MAX, 0, 0 },
	{ "node-logs", "DIR",
	  "where the node's /var/log/pods and /var/log/containers are mounted: their names tell pods'", ALL,
	  SETTING_FILE, AT(node_logs), 0, 0, 0, 0 },
	{ "node-cgroup", "DIR", "where the node's /sys/fs/cgroup is mounted: it tells limits and classes of pods", ALL,
	  SETTING_FILE, AT(node_cgroup), 0, 0, 0, 0 },
	{ "in-pod", "", "watch a JVM of the pod with --pod-uid alone: what --node-mode starts for each pod", RUN,
	  SETTING_SWITCH, AT(in_pod), 0, 0, 0, 0 },
	/* how often */
	{ "interval", "TIME", "from one sample to the next, 1s to 5m (5s); 1s near the limit", ALL, SETTING_TIME,
	  AT(interval_ms), 1000, 300000, 0, 0 },
	{ "scrape-interval", "TIME", "from one fetch of the metrics to the next, 5s to 1h (15s)", ALL, SETTING_TIME,
	  AT(scrape_interval_ms), 5000, 3600000, 0, 0 },
	{ "attach-interval", "TIME", "from one question to the JVM to the next, 30s to 1d (5m)", ALL, SETTING_TIME,
	  AT(attach_interval_ms), 30000, 86400000, 0, 0 },
	{ "smaps-interval", "TIME", "at least so long between scans of the mappings, 5s to 1h (30s)", ALL, SETTING_TIME,
	  AT(smaps_interval_ms), 5000, 3600000, 0, 0 },
	{ "smaps-share", "SHARE", "of wall time that scans may hold the JVM's address space, 0.01% to 5% (0.2%)", ALL,
	  SETTING_SHARE, AT(smaps_share_bp), 1, 500, 0, 0 },
	{ "smaps-hold", "TIME", "no scan whose longest hold would pass this, 1ms to 1s (50ms)", ALL, SETTING_TIME,
	  AT(smaps_hold_ms), 1, 1000, 0, 0 },
	{ "http-timeout", "TIME", "deadline of one HTTP request, 100ms to 60s (2s)", ALL, SETTING_TIME,
	  AT(http_timeout_ms), 100, 60000, 0, 0 },
	/* where to */
	{ "collector", "URL", "the collector: ws://HOST:PORT/agent or wss://...; without it, /metrics and log only",
	  ALL, SETTING_WS_URL, AT(collector), 0, 0, 0, 0 },
	{ "token-file", "FILE", "holds the token to show to the collector; read anew for each session", ALL,
	  SETTING_FILE, AT(token_file), 0, 0, 0, 0 },
	{ "token", NULL, no_secret, ALL, SETTING_REFUSED, 0, 0, 0, 0, 0 },
	{ "password", NULL, no_secret, ALL, SETTING_REFUSED, 0, 0, 0, 0, 0 },
	{ "key", NULL, "a private key comes from a file: name it with key-file", ALL, SETTING_REFUSED, 0, 0, 0, 0, 0 },
	{ "ca-file", "FILE", "certificates of the authorities to trust, and no others", ALL, SETTING_FILE, AT(ca_file),
	  0, 0, 0, 0 },
	{ "ca-pem", "PEM", "the same as text, where no file can be mounted", SETTING_BY_ENV | SETTING_BY_FILE,
	  SETTING_TEXT, AT(ca_pem), 0, 0, 0, 0 },
	{ "cert-file", "FILE", "a client certificate for the collector", ALL, SETTING_FILE, AT(cert_file), 0, 0, 0, 0 },
	{ "key-file", "FILE", "its private key", ALL, SETTING_FILE, AT(key_file), 0, 0, 0, 0 },
	{ "server-name", "NAME", "the name in the collector's certificate, where it is not the URL's host", ALL,
	  SETTING_TEXT, AT(server_name), 0, 0, 0, 0 },
	{ "state-dir", "DIR", "where unsent messages and the last 15 minutes are kept; without it, in memory", ALL,
	  SETTING_FILE, AT(state_dir), 0, 0, 0, 0 },
	{ "spool-size", "SIZE", "most that the state directory may hold, 1Mi to 1Gi (16Mi)", ALL, SETTING_SIZE,
	  AT(spool_bytes), 1 << 20, 1 << 30, 0, 0 },
	{ "listen", "ADDRESS:PORT",
	  "for /metrics, /healthz, /readyz; \"off\": none (:9482 in a pod, else 127.0.0.1:9482)", ALL, SETTING_LISTEN,
	  AT(listen), 0, 0, 0, 0 },
	{ "grace", "TIME", "at the end, wait so long for an unacked post-mortem, up to 10m (27s)", ALL, SETTING_TIME,
	  AT(grace_ms), 1, 600000, 0, 0 },
	{ "debug", "", "log more", ALL, SETTING_SWITCH, AT(log_debug), 0, 0, 0, 0 },
	/* whom it is about */
	{ "namespace", "NAME", "of the pod", ALL, SETTING_NAME, AT(subject.namespace_), 0, 0,
	  sizeof(((struct wire_subject *)0)->namespace_), 0 },
	{ "workload", "NAME", "what the pod belongs to: history and alerts are the workload's", ALL, SETTING_NAME,
	  AT(subject.workload), 0, 0, WIRE_NAME_CAP, 0 },
	{ "pod", "NAME", "the pod", ALL, SETTING_NAME, AT(subject.pod), 0, 0, WIRE_NAME_CAP, 0 },
	{ "pod-uid", "UID", "the pod's UID", ALL, SETTING_NAME, AT(subject.pod_uid), 0, 0,
	  sizeof(((struct wire_subject *)0)->pod_uid), 0 },
	{ "node", "NAME", "the node it runs on", ALL, SETTING_NAME, AT(subject.node), 0, 0, WIRE_NAME_CAP, 0 },
	{ "container", "NAME", "the watched container", ALL, SETTING_NAME, AT(subject.container), 0, 0,
	  sizeof(((struct wire_subject *)0)->container), 0 },
	{ "labels", "KEY=VALUE,...", "labels of the pod to pass on, 8 at most", ALL, SETTING_LABELS, AT(subject.labels),
	  0, 0, WIRE_LABELS_MAX, AT(subject.n_labels) },
	{ "config", "FILE", "a YAML file: these settings by name, levels of rules, silences", RUN, SETTING_FILE,
	  AT(config), 0, 0, 0, 0 },
};

static const char *const sections[] = { "rules", "silences", NULL };

static const struct settings_source source = { table, sizeof table / sizeof table[0], ruleconf_is_key, sections };

static void set_defaults(struct agentconf *conf)
{
	*conf = (struct agentconf){ .interval_ms = 5000,
				    .scrape_interval_ms = 15000,
				    .attach_interval_ms = 300000,
				    .smaps_interval_ms = 30000,
				    .smaps_share_bp = 20,
				    .smaps_hold_ms = 50,
				    .http_timeout_ms = 2000,
				    .max_targets = TARGETS_DEFAULT,
				    .grace_ms = 27000 };
	ruleconf_init(&conf->rules);
}

/* What is of one pod has no place where many are watched. */
static const char *of_one_pod(const struct agentconf *conf)
{
	const struct wire_subject *subject = &conf->subject;
	const struct {
		bool said;
		const char *name;
	} one_pods[] = {
		{ conf->pid != 0, "pid" },
		{ conf->cgroup_directory != NULL, "cgroup" },
		{ conf->limit.kind != LIMIT_UNREAD, "limit" },
		{ conf->pod_limit.kind != LIMIT_UNREAD, "pod-limit" },
		{ conf->n_metrics_urls > 0, "metrics" },
		{ conf->flink_rest != NULL, "flink-rest" },
		{ conf->flink_conf != NULL, "flink-conf" },
		{ conf->in_pod, "in-pod" },
		{ subject->namespace_[0] != '\0', "namespace" },
		{ subject->workload[0] != '\0', "workload" },
		{ subject->pod[0] != '\0', "pod" },
		{ subject->pod_uid[0] != '\0', "pod-uid" },
		{ subject->container[0] != '\0', "container" },
		{ subject->n_labels > 0, "labels" },
	};
	for (size_t i = 0; i < sizeof one_pods / sizeof one_pods[0]; i++)
		if (one_pods[i].said)
			return one_pods[i].name;
	return NULL;
}

static int check_node(const struct agentconf *conf, struct err *err)
{
	const char *one = conf->node ? of_one_pod(conf) : NULL;
	if (one)
		return err_set(err, ERR_USAGE, "%s is of one pod, and node-mode watches many: leave it out", one);
	if (!conf->node && !conf->in_pod && (conf->match || conf->max_targets != TARGETS_DEFAULT))
		return err_set(err, ERR_USAGE, "%s goes with node-mode", conf->match ? "match" : "max-targets");
	if (conf->in_pod && !conf->subject.pod_uid[0])
		return err_set(err, ERR_USAGE, "in-pod needs pod-uid");
	if (conf->match && globs_check(str_of(conf->match), err) < 0) {
		err_wrap(err, "match");
		return -EINVAL;
	}
	return 0;
}

/* What one setting cannot see of another. */
static int check(const struct agentconf *conf, struct err *err)
{
	if (conf->ca_file && conf->ca_pem)
		return err_set(err, ERR_USAGE, "ca-file and ca-pem are both set: keep one");
	if (!conf->cert_file != !conf->key_file)
		return err_set(err, ERR_USAGE, "cert-file and key-file go together: %s is missing",
			       conf->cert_file ? "key-file" : "cert-file");
	if ((conf->token_file || conf->cert_file) && !conf->collector)
		return err_set(err, ERR_USAGE, "credentials, and nobody to show them to: set collector");
	if (conf->smaps_interval_ms < conf->interval_ms)
		return err_set(
			err, ERR_USAGE,
			"smaps-interval is shorter than interval: a scan is made at a sample; set it to the same or more");
	return check_node(conf, err);
}

static int parse(int argc, char **argv, char *const environment[], struct agentconf *conf, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	int rc = settings_load(&source, argc, argv, environment, conf, &conf->text, &yml, &conf->help, err);
	if (rc == 0 && !conf->help && conf->config)
		rc = ruleconf_parse_standing(&yml, conf->config, &conf->rules, err);
	return rc < 0 || conf->help ? rc : check(conf, err);
}

int agentconf_parse(int argc, char **argv, char *const environment[], struct agentconf *ret_conf, struct err *err)
{
	/* With its silences it is some 15 KiB: not for a stack. */
	auto_free struct agentconf *conf = malloc(sizeof *conf);
	if (!conf)
		return err_set(err, ERR_NOMEM, "no memory for the settings");
	set_defaults(conf);
	int rc = parse(argc, argv, environment, conf, err);
	if (rc < 0)
		agentconf_done(conf);
	else
		*ret_conf = *conf;
	return rc;
}

void agentconf_done(struct agentconf *conf)
{
	settings_text_done(&conf->text);
}

void agentconf_help(struct buf *out)
{
	settings_help(&source, out);
}

void agentconf_show(const struct agentconf *conf, struct buf *out)
{
	settings_show(&source, conf, &conf->text, out);
}
