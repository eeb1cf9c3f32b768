/* SPDX-License-Identifier: Apache-2.0 */
/* The sidecar itself. charts/bankfull renders the same: tests/cli/inject.sh compares the two. */
#include <stdio.h>

#include "base/kubeqty.h"
#include "kube/inject_parts.h"

static void env(struct emit *e, const char *name, struct str value)
{
	emit_map(e, NULL);
	emit_word(e, "name", name);
	emit_text(e, "value", value);
	emit_end(e);
}

static void env_field(struct emit *e, const char *name, const char *path)
{
	emit_map(e, NULL);
	emit_word(e, "name", name);
	emit_map(e, "valueFrom");
	emit_map(e, "fieldRef");
	emit_word(e, "fieldPath", path);
	emit_end(e);
	emit_end(e);
	emit_end(e);
}

/* The limit as the kubelet knows it: a second word, where the container's cgroup cannot be read. */
static void env_limit(struct emit *e, struct str container)
{
	emit_map(e, NULL);
	emit_word(e, "name", "BANKFULL_LIMIT");
	emit_map(e, "valueFrom");
	emit_map(e, "resourceFieldRef");
	emit_text(e, "containerName", container);
	emit_word(e, "resource", "limits.memory");
	emit_end(e);
	emit_end(e);
	emit_end(e);
}

static void env_collector(struct emit *e, const struct inject_options *options)
{
	if (!options->collector)
		return;
	env(e, "BANKFULL_COLLECTOR", str_of(options->collector));
	if (options->audience)
		env(e, "BANKFULL_TOKEN_FILE", STR(SIDECAR_TOKEN_DIR "/token"));
	if (options->ca_pem.len) {
		emit_map(e, NULL);
		emit_word(e, "name", "BANKFULL_CA_PEM");
		emit_lines(e, "value", options->ca_pem);
		emit_end(e);
	}
}

static void env_all(struct emit *e, const struct sidecar *s)
{
	char number[32];
	emit_list(e, "env");
	env_collector(e, s->options);
	env(e, "BANKFULL_STATE_DIR", STR(SIDECAR_STATE_DIR));
	env_field(e, "BANKFULL_NAMESPACE", "metadata.namespace");
	if (s->workload.len)
		env(e, "BANKFULL_WORKLOAD", s->workload);
	env_field(e, "BANKFULL_POD", "metadata.name");
	env_field(e, "BANKFULL_POD_UID", "metadata.uid");
	env_field(e, "BANKFULL_NODE", "spec.nodeName");
	env(e, "BANKFULL_CONTAINER", s->pod->main_name);
	env(e, "BANKFULL_LABELS", str_of(s->labels));
	if (s->pod->main_limit)
		env_limit(e, s->pod->main_name);
	if (s->pod->pod_limit_bytes) {
		(void)snprintf(number, sizeof number, "%llu", (unsigned long long)s->pod->pod_limit_bytes);
		env(e, "BANKFULL_POD_LIMIT", str_of(number));
	}
	/* The agent's own default fits Kubernetes' default of 30 s. */
	if (s->pod->grace_s) {
		uint64_t grace = s->pod->grace_s > 600 ? 600 : s->pod->grace_s;
		(void)snprintf(number, sizeof number, "%llus", (unsigned long long)(grace > 5 ? grace - 3 : 2));
		env(e, "BANKFULL_GRACE", str_of(number));
	}
	if (s->metrics_url.len)
		env(e, "BANKFULL_METRICS", s->metrics_url);
	if (s->flink_rest.len)
		env(e, "BANKFULL_FLINK_REST", s->flink_rest);
	if (s->config.len)
		env(e, "BANKFULL_CONFIG", STR("/etc/bankfull/bankfull.yaml"));
	emit_end(e);
}

static void resources(struct emit *e, const struct sidecar *s)
{
	static const char guaranteed_cpu[] = "250m";
	uint64_t milli = 0;
	const char *cpu = s->options->cpu;
	/* A request that is not the limit would cost a Guaranteed pod its class; a small limit stalls the JVM. */
	if (s->pod->guaranteed && kubeqty_milli(str_of(cpu), &milli) && milli < SIDECAR_GUARANTEED_CPU_MILLI)
		cpu = guaranteed_cpu;
	emit_map(e, "resources");
	emit_map(e, "requests");
	emit_word(e, "cpu", cpu);
	emit_word(e, "memory", s->options->memory);
	emit_end(e);
	emit_map(e, "limits");
	if (s->pod->guaranteed)
		emit_word(e, "cpu", cpu);
	emit_word(e, "memory", s->options->memory);
	emit_end(e);
	emit_end(e);
}

static void security(struct emit *e, const struct sidecar *s)
{
	char number[32];
	emit_map(e, "securityContext");
	if (s->identity.known) {
		(void)snprintf(number, sizeof number, "%llu", (unsigned long long)s->identity.user);
		emit_word(e, "runAsUser", number);
	}
	if (s->identity.known || s->identity.group_known) {
		(void)snprintf(number, sizeof number, "%llu", (unsigned long long)s->identity.group);
		emit_word(e, "runAsGroup", number);
	}
	emit_word(e, "runAsNonRoot", s->identity.root ? "false" : "true");
	emit_word(e, "allowPrivilegeEscalation", "false");
	emit_word(e, "readOnlyRootFilesystem", "true");
	/* The kernel shows nothing of a process that has a capability more than the reader (ptrace(2), commoncap). */
	if (!s->identity.root || s->pod->drops_all) {
		emit_map(e, "capabilities");
		emit_list(e, "drop");
		emit_word(e, NULL, "ALL");
		emit_end(e);
		emit_end(e);
	}
	emit_map(e, "seccompProfile");
	emit_word(e, "type", "RuntimeDefault");
	emit_end(e);
	emit_end(e);
}

static void mount(struct emit *e, const char *volume, const char *path, bool read_only)
{
	emit_map(e, NULL);
	emit_word(e, "name", volume);
	emit_word(e, "mountPath", path);
	if (read_only)
		emit_word(e, "readOnly", "true");
	emit_end(e);
}

void sidecar_emit(struct emit *e, const struct sidecar *s)
{
	char port[16];
	(void)snprintf(port, sizeof port, "%d", AGENT_METRICS_PORT);
	emit_map(e, NULL);
	emit_word(e, "name", SIDECAR_NAME);
	emit_text(e, "image", str_of(s->options->image));
	emit_word(e, "imagePullPolicy", "IfNotPresent");
	if (!s->options->ordinary)
		emit_word(e, "restartPolicy", "Always");
	emit_list(e, "args");
	emit_word(e, NULL, "agent");
	emit_end(e);
	env_all(e, s);
	emit_list(e, "ports");
	emit_map(e, NULL);
	emit_word(e, "name", "bankfull");
	emit_word(e, "containerPort", port);
	emit_end(e);
	emit_end(e);
	resources(e, s);
	security(e, s);
	emit_list(e, "volumeMounts");
	mount(e, SIDECAR_STATE_VOLUME, SIDECAR_STATE_DIR, false);
	if (s->options->collector && s->options->audience)
		mount(e, SIDECAR_TOKEN_VOLUME, SIDECAR_TOKEN_DIR, true);
	if (s->config.len)
		mount(e, SIDECAR_CONFIG_VOLUME, "/etc/bankfull", true);
	emit_end(e);
	emit_end(e);
}

void sidecar_volumes_emit(struct emit *e, const struct sidecar *s)
{
	emit_map(e, NULL);
	emit_word(e, "name", SIDECAR_STATE_VOLUME);
	emit_map(e, "emptyDir");
	emit_word(e, "sizeLimit", "64Mi");
	emit_end(e);
	emit_end(e);
	if (s->options->collector && s->options->audience) {
		emit_map(e, NULL);
		emit_word(e, "name", SIDECAR_TOKEN_VOLUME);
		emit_map(e, "projected");
		emit_list(e, "sources");
		emit_map(e, NULL);
		emit_map(e, "serviceAccountToken");
		emit_text(e, "audience", str_of(s->options->audience));
		emit_word(e, "expirationSeconds", "3600");
		emit_word(e, "path", "token");
		emit_end(e);
		emit_end(e);
		emit_end(e);
		emit_end(e);
		emit_end(e);
	}
	if (s->config.len) {
		emit_map(e, NULL);
		emit_word(e, "name", SIDECAR_CONFIG_VOLUME);
		emit_map(e, "configMap");
		emit_text(e, "name", s->config);
		emit_end(e);
		emit_end(e);
	}
}
