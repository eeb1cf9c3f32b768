/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/pod.h"

#include "base/esc.h"
#include "base/kubeqty.h"

static bool is_true(struct str text)
{
	return str_eq(text, STR("true")) || str_eq(text, STR("True")) || str_eq(text, STR("TRUE"));
}

struct str pod_annotation(const struct yml_tree *tree, const struct site *site, const char *key)
{
	unsigned metadata = yml_tree_merged(tree, site->template_, "metadata");
	return yml_text(tree, yml_tree_merged(tree, yml_tree_merged(tree, metadata, "annotations"), key));
}

/* What a label may hold: no sign that means something in the agent's list, and none that is somebody's template. */
static bool is_label(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		      c == '_' || c == '.'))
			return false;
	}
	return text.len > 0 && text.len < 64;
}

void pod_labels(const struct yml_tree *tree, const struct site *site, const struct pod *pod, char ret[POD_LABELS_CAP])
{
	/* In the order of the alphabet, as the chart's library has them. */
	static const char *const keys[] = { "app",
					    "app.kubernetes.io/component",
					    "app.kubernetes.io/instance",
					    "app.kubernetes.io/name",
					    "app.kubernetes.io/version",
					    "component" };
	unsigned metadata = yml_tree_merged(tree, site->template_, "metadata");
	unsigned labels = yml_tree_merged(tree, metadata, "labels");
	struct buf out = { .cap = POD_LABELS_CAP - 1 };
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		struct str value = yml_text(tree, yml_tree_merged(tree, labels, keys[i]));
		if (is_label(value))
			(void)buf_printf(&out, "%s=%.*s,", keys[i], (int)value.len, value.ptr);
	}
	(void)buf_printf(&out, "qos=%s", pod->class_guaranteed ? "Guaranteed" : "Burstable");
	str_copy(ret, POD_LABELS_CAP, buf_str(&out));
	buf_done(&out);
}

static int say(const struct yml_tree *tree, const char *name, unsigned context, const char *key, struct said *ret,
	       struct err *err)
{
	unsigned at = yml_tree_merged(tree, context, key);
	uint64_t value;
	if (yml_is_null(tree, at))
		return 0;
	unsigned line = yml_at(tree, at)->line;
	if (!str_is_u64(yml_text(tree, at), &value) || value > UINT32_MAX)
		return err_set(err, ERR_USAGE, "%s:%u: %s is no number", name, line, key);
	*ret = (struct said){ .known = true, .value = value, .line = line, .map = context };
	return 0;
}

/* The container's word holds over the pod's. */
static int look_identity(const struct yml_tree *tree, const char *name, struct pod *pod, struct err *err)
{
	unsigned contexts[2] = { yml_tree_merged(tree, pod->spec, "securityContext"),
				 yml_tree_merged(tree, pod->main, "securityContext") };
	for (int i = 0; i < 2; i++) {
		int rc = say(tree, name, contexts[i], "runAsUser", &pod->user, err);
		if (rc == 0)
			rc = say(tree, name, contexts[i], "runAsGroup", &pod->group, err);
		if (rc < 0)
			return rc;
	}
	unsigned drop =
		yml_follow(tree, yml_tree_merged(tree, yml_tree_merged(tree, contexts[1], "capabilities"), "drop"));
	if (yml_at(tree, drop)->kind == YML_LIST)
		for (unsigned at = yml_at(tree, drop)->first; at; at = yml_at(tree, at)->next)
			pod->drops_all |= str_eq(yml_text(tree, at), STR("ALL"));
	return 0;
}

static struct str container_name(const struct yml_tree *tree, unsigned container)
{
	return yml_text(tree, yml_tree_merged(tree, container, "name"));
}

static struct str resource(const struct yml_tree *tree, unsigned holder, const char *kind, const char *what)
{
	unsigned resources = yml_tree_merged(tree, holder, "resources");
	return yml_text(tree, yml_tree_merged(tree, yml_tree_merged(tree, resources, kind), what));
}

/* Limits and requests of both kinds, and the same: requests that are left out are the limits. */
static bool is_guaranteed(const struct yml_tree *tree, unsigned container)
{
	static const char *const what[] = { "cpu", "memory" };
	for (int i = 0; i < 2; i++) {
		uint64_t limit, request;
		struct str said = resource(tree, container, "requests", what[i]);
		if (!kubeqty_milli(resource(tree, container, "limits", what[i]), &limit))
			return false;
		if (said.len && (!kubeqty_milli(said, &request) || request != limit))
			return false;
	}
	return true;
}

/* Flink's own containers have limits of the budget times a factor, 1.0 by default. */
static bool flink_guaranteed(const struct yml_tree *tree, const struct site *site)
{
	static const char *const keys[] = { "kubernetes.taskmanager.cpu.limit-factor",
					    "kubernetes.taskmanager.memory.limit-factor",
					    "kubernetes.jobmanager.cpu.limit-factor",
					    "kubernetes.jobmanager.memory.limit-factor" };
	for (int i = 0; i < 4; i++) {
		struct str said = site_flink_setting(tree, site, keys[i]);
		uint64_t milli;
		if (said.len && (!kubeqty_milli(said, &milli) || milli != 1000))
			return false;
	}
	return true;
}

static int named_twice(const struct yml_tree *tree, const char *name, struct pod *pod, struct err *err)
{
	for (unsigned a = yml_at(tree, pod->containers)->first; a; a = yml_at(tree, a)->next)
		for (unsigned b = yml_at(tree, pod->containers)->first; b != a; b = yml_at(tree, b)->next) {
			char shown[80];
			struct str text = container_name(tree, a);
			if (text.len && str_eq(text, container_name(tree, b)))
				return err_set(
					err, ERR_USAGE,
					"%s:%u: the container '%s' stands already on line %u: Kubernetes takes one of a name",
					name, yml_at(tree, a)->line, esc_copy(shown, sizeof shown, text),
					yml_at(tree, b)->line);
		}
	return 0;
}

static unsigned find(const struct yml_tree *tree, const struct pod *pod, struct str wanted)
{
	for (unsigned at = yml_at(tree, pod->containers)->first; at; at = yml_at(tree, at)->next)
		if (str_eq(container_name(tree, at), wanted))
			return at;
	return 0;
}

static int which_of(const struct yml_tree *tree, const char *name, const struct site *site, const struct pod *pod,
		    struct err *err)
{
	auto_buf struct buf names = { .cap = 200 };
	unsigned line = site->line;
	for (unsigned at = yml_at(tree, pod->containers)->first; at; at = yml_at(tree, at)->next) {
		(void)buf_puts(&names, names.len ? ", " : "");
		(void)esc_add(&names, container_name(tree, at));
	}
	if (pod->containers)
		line = yml_at(tree, pod->containers)->line;
	return err_set(err, ERR_USAGE, "%s:%u: which container runs the JVM? Say --container NAME: %s", name, line,
		       names.len ? names.ptr : "none is listed");
}

/* Which container is meant, in the order in which somebody has said so. */
static int look_main(const struct yml_tree *tree, const char *name, const struct site *site, const char *container,
		     struct pod *pod, struct err *err)
{
	unsigned n = 0, alone = 0;
	struct str wanted = container ? str_of(container) : pod_annotation(tree, site, "bankfull.io/container");
	if (!wanted.len)
		wanted = pod_annotation(tree, site, "kubectl.kubernetes.io/default-container");
	if (!wanted.len && (site->type == SITE_FLINK || find(tree, pod, STR(FLINK_CONTAINER))))
		wanted = STR(FLINK_CONTAINER);
	for (unsigned at = yml_at(tree, pod->containers)->first; at; at = yml_at(tree, at)->next)
		if (!str_eq(container_name(tree, at), STR(SIDECAR_NAME))) {
			n++;
			alone = at;
		}
	if (!wanted.len && n == 1)
		wanted = container_name(tree, alone);
	if (!wanted.len)
		return which_of(tree, name, site, pod, err);
	pod->main = find(tree, pod, wanted);
	pod->main_name = wanted;
	pod->flink = str_eq(wanted, STR(FLINK_CONTAINER));
	/* The operator adds its own where the template has none. */
	if (!pod->main && !(pod->flink && site->type == SITE_FLINK))
		return which_of(tree, name, site, pod, err);
	return 0;
}

/* The kubelet's class counts the init containers as well. Flink's own container is the operator's to describe. */
static bool all_guaranteed(const struct yml_tree *tree, const struct site *site, unsigned list)
{
	if (yml_at(tree, list)->kind != YML_LIST)
		return true;
	for (unsigned at = yml_at(tree, list)->first; at; at = yml_at(tree, at)->next)
		if (!str_eq(container_name(tree, at), STR(SIDECAR_NAME)) &&
		    !(site->type == SITE_FLINK && str_eq(container_name(tree, at), STR(FLINK_CONTAINER))) &&
		    !is_guaranteed(tree, at))
			return false;
	return true;
}

static void look_resources(const struct yml_tree *tree, const struct site *site, struct pod *pod)
{
	uint64_t milli;
	unsigned own = yml_tree_merged(tree, pod->spec, "resources");
	unsigned init = yml_follow(tree, yml_tree_merged(tree, pod->spec, "initContainers"));
	pod->guaranteed = (site->type != SITE_FLINK || flink_guaranteed(tree, site)) &&
			  all_guaranteed(tree, site, pod->containers) && all_guaranteed(tree, site, init);
	/* Where a pod has resources of its own, its class is by those alone (KEP-2837). */
	bool has_own = !yml_is_null(tree, yml_tree_merged(tree, own, "limits")) ||
		       !yml_is_null(tree, yml_tree_merged(tree, own, "requests"));
	pod->class_guaranteed = has_own ? is_guaranteed(tree, pod->spec) : pod->guaranteed;
	pod->main_limit = site->type == SITE_FLINK || resource(tree, pod->main, "limits", "memory").len > 0;
	if (kubeqty_milli(resource(tree, pod->spec, "limits", "memory"), &milli))
		pod->pod_limit_bytes = milli / 1000;
}

int pod_look(const struct yml_tree *tree, const char *name, const struct site *site, const char *container,
	     struct pod *ret_pod, struct err *err)
{
	struct pod pod = { .spec = site->spec };
	pod.containers = yml_follow(tree, yml_tree_merged(tree, pod.spec, "containers"));
	if (yml_is_null(tree, pod.containers))
		pod.containers = 0;
	else if (yml_at(tree, pod.containers)->kind != YML_LIST)
		return err_set(err, ERR_USAGE, "%s:%u: containers is no list", name,
			       yml_at(tree, pod.containers)->line);
	pod.shares = is_true(yml_text(tree, yml_tree_merged(tree, pod.spec, "shareProcessNamespace")));
	pod.host_pid = is_true(yml_text(tree, yml_tree_merged(tree, pod.spec, "hostPID")));
	unsigned grace = yml_tree_merged(tree, pod.spec, "terminationGracePeriodSeconds");
	if (!str_is_u64(yml_text(tree, grace), &pod.grace_s))
		pod.grace_s = 0;
	int rc = named_twice(tree, name, &pod, err);
	if (rc == 0)
		rc = look_main(tree, name, site, container, &pod, err);
	if (rc == 0)
		rc = look_identity(tree, name, &pod, err);
	if (rc < 0)
		return rc;
	look_resources(tree, site, &pod);
	*ret_pod = pod;
	return 0;
}
