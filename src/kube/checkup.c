/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/checkup.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/esc.h"
#include "data/js.h"
#include "kube/debug.h"
#include "kube/pod.h"

enum { SAID_CAP = 400, NATIVE_MINOR = 29, POLICY_MINOR = 36 };

void checkup_say(struct checkup *checkup, enum checkup_state state, const char *what, const char *fix,
		 const char *format, ...)
{
	static const char *const words[] = { "ok", "note", "bad" };
	char text[SAID_CAP];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	(void)buf_printf(checkup->out, "%-5s %s: ", words[state], what);
	(void)esc_add(checkup->out, str_of(text));
	(void)buf_putc(checkup->out, '\n');
	checkup->n_bad += state == CHECKUP_BAD;
	if (fix && state != CHECKUP_OK)
		(void)buf_printf(checkup->out, "      fix: %s\n", fix);
}

void checkup_server(struct checkup *checkup, unsigned minor, struct str admission)
{
	bool native = minor >= NATIVE_MINOR, policies = str_has(admission, STR("\"mutatingadmissionpolicies\""));
	checkup_say(
		checkup, native ? CHECKUP_OK : CHECKUP_BAD, "Kubernetes",
		"bankfull inject --kube-version says so and adds an ordinary sidecar; Flink drops a TaskManager when that ends",
		"1.%u %s native sidecars (1.%d)", minor, native ? "has" : "has no", NATIVE_MINOR);
	checkup_say(checkup, policies ? CHECKUP_OK : CHECKUP_NOTE, "injection by label",
		    "add the sidecar by bankfull inject, or by the chart's library template",
		    policies ? "the server has MutatingAdmissionPolicy v1"
			     : "the server has no MutatingAdmissionPolicy v1 (Kubernetes 1.%d)",
		    POLICY_MINOR);
}

static void say_absent(struct checkup *checkup, const struct js *root)
{
	struct str label = js_text(js_path(root, "metadata.labels"), "bankfull.io/inject");
	if (str_eq(label, STR("enabled")))
		checkup_say(
			checkup, CHECKUP_BAD, "sidecar",
			"the policy acts when a pod is made: restart it; is injection.enabled on, and has the policy its parameters?",
			"the pod has the label bankfull.io/inject=enabled and no container %s", SIDECAR_NAME);
	else
		checkup_say(
			checkup, CHECKUP_BAD, "sidecar",
			"label the namespace or the pod with bankfull.io/inject=enabled and restart it, or use bankfull inject; bankfull debug needs none",
			"the pod has no container %s", SIDECAR_NAME);
}

static bool say_state(struct checkup *checkup, const struct js *status, bool native)
{
	const struct js *waiting = js_path(status, "state.waiting"), *ended = js_path(status, "state.terminated");
	const struct js *last = js_path(status, "lastState.terminated");
	uint64_t restarts = 0;
	char reason[64], text[160], message[160];
	(void)js_u64(js_get(status, "restartCount"), &restarts);
	const struct js *why = waiting ? waiting : ended;
	(void)esc_copy(reason, sizeof reason, js_text(why, "reason"));
	(void)esc_copy(message, sizeof message, js_text(why, "message"));
	if (why && (str_has(js_text(why, "reason"), STR("Image")) || str_has(js_text(why, "reason"), STR("ErrImage"))))
		checkup_say(
			checkup, CHECKUP_BAD, "sidecar",
			"is the image's name right, and has the pod's namespace a pull secret for it (imagePullSecrets of the pod or of its service account)?",
			"its image cannot be had: %s %s", reason, message);
	else if (why)
		checkup_say(checkup, CHECKUP_BAD, "sidecar", "kubectl logs POD -c bankfull --previous says why",
			    "it does not run: %s %s", reason, message);
	else if (!js_path(status, "state.running"))
		checkup_say(checkup, CHECKUP_BAD, "sidecar", "kubectl describe pod says what the pod waits for",
			    "it has not started");
	else
		checkup_say(checkup, CHECKUP_OK, "sidecar", NULL, "it runs");
	if (!native)
		checkup_say(checkup, CHECKUP_NOTE, "sidecar",
			    "bankfull inject on Kubernetes 1.29 or newer adds a native one",
			    "it is an ordinary container: Flink drops a TaskManager when it ends");
	if (restarts && last)
		checkup_say(checkup, CHECKUP_NOTE, "sidecar",
			    str_eq(js_text(last, "reason"), STR("OOMKilled"))
				    ? "give it more memory (sidecar.resources.memory)"
				    : "kubectl logs POD -c bankfull --previous",
			    "it was restarted %llu times, last for %s", (unsigned long long)restarts,
			    esc_copy(text, sizeof text, js_text(last, "reason")));
	return js_path(status, "state.running") != NULL;
}

struct ids {
	uint64_t user, group;
	bool user_known, group_known;
};

static struct ids ids_of(const struct js *root, const struct js *container)
{
	struct ids ids = { 0 };
	const struct js *contexts[] = { js_path(root, "spec.securityContext"), js_get(container, "securityContext") };
	for (int i = 0; i < 2; i++) {
		ids.user_known |= js_u64(js_get(contexts[i], "runAsUser"), &ids.user);
		ids.group_known |= js_u64(js_get(contexts[i], "runAsGroup"), &ids.group);
	}
	return ids;
}

static struct str watched_name(const struct js *sidecar)
{
	const struct js *env = js_get(sidecar, "env");
	return js_text(js_named(env, STR("BANKFULL_CONTAINER")), "value");
}

static void say_identity(struct checkup *checkup, const struct js *root, const struct js *sidecar)
{
	bool shares = false;
	struct str name = watched_name(sidecar);
	char shown[80];
	(void)js_bool(js_path(root, "spec.shareProcessNamespace"), &shares);
	checkup_say(checkup, shares ? CHECKUP_OK : CHECKUP_BAD, "process namespace",
		    "set shareProcessNamespace: true in the pod's spec",
		    shares ? "the containers of the pod share one" : "the sidecar sees no process but its own");
	const struct js *main = js_named(js_path(root, "spec.containers"), name);
	if (!main) {
		checkup_say(checkup, CHECKUP_BAD, "watched container", "say it by the annotation bankfull.io/container",
			    "the pod has none of the name '%s'", esc_copy(shown, sizeof shown, name));
		return;
	}
	struct ids own = ids_of(root, sidecar), other = ids_of(root, main);
	bool same_user = own.user_known == other.user_known && own.user == other.user;
	bool same_group = own.group_known == other.group_known && own.group == other.group;
	if (!same_user || !same_group)
		checkup_say(checkup, CHECKUP_BAD, "user and group",
			    "say runAsUser and runAsGroup for the whole pod, or the same ones for both containers",
			    "those of the sidecar are not those of %s: it can read neither its mappings nor its cgroup",
			    esc_copy(shown, sizeof shown, name));
	else if (!own.user_known || !own.group_known)
		checkup_say(
			checkup, CHECKUP_NOTE, "user and group",
			"say runAsUser and runAsGroup for the pod, unless the platform gives all containers one user",
			"the pod leaves them to each image");
	else
		checkup_say(checkup, CHECKUP_OK, "user and group", NULL, "both run as %llu:%llu",
			    (unsigned long long)own.user, (unsigned long long)own.group);
}

int checkup_pod(struct checkup *checkup, struct str json, bool *ret_running, struct err *err)
{
	auto_js struct js *root = NULL;
	char phase[32];
	int rc = js_parse(json, DEBUG_POD_JSON_MAX, &root, err);
	if (rc < 0)
		return rc;
	if (!str_eq(js_text(root, "kind"), STR("Pod")))
		return err_set(err, ERR_MALFORMED, "what kubectl got is no Pod");
	struct str said = js_text(js_get(root, "status"), "phase");
	bool runs = str_eq(said, STR("Running"));
	checkup_say(checkup, runs ? CHECKUP_OK : CHECKUP_BAD, "pod", "kubectl describe pod says what it waits for",
		    "%s", esc_copy(phase, sizeof phase, said));
	const struct js *native = js_named(js_path(root, "spec.initContainers"), STR(SIDECAR_NAME));
	const struct js *sidecar = native ? native : js_named(js_path(root, "spec.containers"), STR(SIDECAR_NAME));
	*ret_running = false;
	if (!sidecar) {
		say_absent(checkup, root);
		return 0;
	}
	const char *list = native ? "status.initContainerStatuses" : "status.containerStatuses";
	*ret_running = say_state(checkup, js_named(js_path(root, list), STR(SIDECAR_NAME)), native != NULL);
	say_identity(checkup, root, sidecar);
	return 0;
}
