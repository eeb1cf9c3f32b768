/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/debug.h"

#include "base/esc.h"
#include "data/js.h"
#include "kube/pod.h"

static int which(const struct js *containers, const char *problem, struct err *err)
{
	auto_buf struct buf names = { .cap = 200 };
	for (size_t i = 0; i < js_len(containers); i++) {
		(void)buf_puts(&names, i ? ", " : "");
		(void)esc_add(&names, js_text(js_at(containers, i), "name"));
	}
	return err_set(err, ERR_USAGE, "%s: say -c NAME: %s", problem, names.len ? names.ptr : "there is none");
}

static int choose(const struct js *root, const char *container, struct str *ret_name, struct err *err)
{
	const struct js *containers = js_path(root, "spec.containers");
	const struct js *annotations = js_path(root, "metadata.annotations");
	struct str name = container ? str_of(container) : js_text(annotations, "bankfull.io/container");
	if (!name.len)
		name = js_text(annotations, "kubectl.kubernetes.io/default-container");
	if (!name.len && js_named(containers, STR(FLINK_CONTAINER)))
		name = STR(FLINK_CONTAINER);
	if (!name.len && js_len(containers) == 1)
		name = js_text(js_at(containers, 0), "name");
	if (!name.len)
		return which(containers, "which container runs the JVM?", err);
	if (!js_named(containers, name) || name.len >= DEBUG_NAME_CAP)
		return which(containers, "no such container", err);
	*ret_name = name;
	return 0;
}

static void look_identity(const struct js *context, struct debug_pod *pod)
{
	pod->user_known |= js_u64(js_get(context, "runAsUser"), &pod->user);
	pod->group_known |= js_u64(js_get(context, "runAsGroup"), &pod->group);
}

int debug_pod_parse(struct str json, const char *container, struct debug_pod *ret_pod, struct err *err)
{
	auto_js struct js *root = NULL;
	struct debug_pod pod = { 0 };
	struct str name;
	int rc = js_parse(json, DEBUG_POD_JSON_MAX, &root, err);
	if (rc < 0)
		return rc;
	if (!str_eq(js_text(root, "kind"), STR("Pod")))
		return err_set(err, ERR_MALFORMED, "what kubectl got is no Pod");
	rc = choose(root, container, &name, err);
	if (rc < 0)
		return rc;
	str_copy(pod.container, sizeof pod.container, name);
	const struct js *status = js_named(js_path(root, "status.containerStatuses"), name);
	if (!js_path(status, "state.running")) {
		char phase[32];
		return err_set(err, ERR_GONE, "container %s does not run (the pod is %s): there is nothing to look at",
			       pod.container, esc_copy(phase, sizeof phase, js_text(js_get(root, "status"), "phase")));
	}
	look_identity(js_path(root, "spec.securityContext"), &pod);
	look_identity(js_get(js_named(js_path(root, "spec.containers"), name), "securityContext"), &pod);
	(void)js_bool(js_path(root, "spec.shareProcessNamespace"), &pod.shares);
	const struct js *sidecar = js_named(js_path(root, "status.initContainerStatuses"), STR(SIDECAR_NAME));
	if (!sidecar)
		sidecar = js_named(js_path(root, "status.containerStatuses"), STR(SIDECAR_NAME));
	pod.has_sidecar = js_path(sidecar, "state.running") != NULL;
	*ret_pod = pod;
	return 0;
}

/* "Uid:\t9999\t9999\t9999\t9999" (proc_pid_status(5)): real, effective, saved, file system. */
static bool id_of(struct str status, struct str key, uint64_t *ret)
{
	struct str line;
	while (str_line(&status, &line)) {
		if (!str_take(&line, key))
			continue;
		uint64_t id[4];
		for (int i = 0; i < 4; i++) {
			str_blanks(&line);
			if (!str_u64(&line, &id[i]) || id[i] != id[0])
				return false;
		}
		*ret = id[0];
		return true;
	}
	return false;
}

void debug_pod_status(struct debug_pod *pod, struct str status)
{
	uint64_t user, group;
	if (!id_of(status, STR("Uid:"), &user) || !id_of(status, STR("Gid:"), &group))
		return;
	pod->user_from_process = true;
	pod->user_known = pod->group_known = true;
	pod->user = user;
	pod->group = group;
}

void debug_custom(const struct debug_pod *pod, struct buf *out)
{
	struct js_out js;
	if (!pod->user_known && !pod->group_known)
		return;
	js_out_start(&js, out, 0);
	js_out_object(&js);
	js_out_key(&js, "securityContext");
	js_out_object(&js);
	if (pod->user_known) {
		js_out_key(&js, "runAsUser");
		js_out_u64(&js, pod->user);
	}
	if (pod->group_known) {
		js_out_key(&js, "runAsGroup");
		js_out_u64(&js, pod->group);
	}
	if (pod->user_known && pod->user == 0) {
		js_out_key(&js, "runAsNonRoot");
		js_out_bool(&js, false);
	}
	js_out_object_end(&js);
	js_out_object_end(&js);
	if (js_out_end(&js, NULL) < 0)
		buf_clear(out);
}

struct args {
	const char **items;
	size_t n;
	struct buf *text;
	size_t at[DEBUG_ARGS_MAX]; /* of those in the text, plus one */
};

static void add(struct args *args, const char *arg)
{
	if (args->n < DEBUG_ARGS_MAX - 1)
		args->items[args->n] = arg;
	args->n++;
}

static void add_option(struct args *args, const char *option, const char *value)
{
	if (args->n < DEBUG_ARGS_MAX - 1)
		args->at[args->n] = args->text->len + 1;
	(void)buf_printf(args->text, "%s%s", option, value);
	(void)buf_putc(args->text, '\0');
	add(args, NULL);
}

static void add_target(struct args *args, const struct debug_pod *pod, const struct debug_how *how)
{
	add(args, how->pod);
	if (pod->has_sidecar) {
		add_option(args, "--container=", SIDECAR_NAME);
		return;
	}
	add_option(args, "--image=", how->image);
	add_option(args, "--target=", pod->container);
	/* Root sees root's processes with all of root's capabilities alone: no profile but this one leaves it any. */
	add_option(args, "--profile=", pod->user_known && pod->user == 0 ? "general" : "restricted");
	if (how->custom)
		add_option(args, "--custom=", how->custom);
}

int debug_command(const struct debug_pod *pod, const struct debug_how *how, struct buf *text,
		  const char *ret_args[DEBUG_ARGS_MAX], struct err *err)
{
	struct args args = { .items = ret_args, .text = text };
	add(&args, "kubectl");
	add(&args, pod->has_sidecar ? "exec" : "debug");
	if (how->context)
		add_option(&args, "--context=", how->context);
	if (how->namespace_)
		add_option(&args, "--namespace=", how->namespace_);
	add_target(&args, pod, how);
	add(&args, "--quiet");
	if (!pod->has_sidecar || how->tty)
		add(&args, "--stdin");
	if (how->tty)
		add(&args, "--tty");
	add(&args, "--");
	add(&args, "bankfull");
	for (char *const *word = how->command; word && *word; word++)
		add(&args, *word);
	if (!how->command || !how->command[0])
		add(&args, "report");
	if (args.n >= DEBUG_ARGS_MAX)
		return err_set(err, ERR_USAGE, "too many words after --");
	if (buf_failed(text))
		return err_set(err, ERR_USAGE, "names that long are none");
	for (size_t i = 0; i < args.n; i++)
		if (args.at[i])
			ret_args[i] = text->ptr + args.at[i] - 1;
	ret_args[args.n] = NULL;
	return 0;
}

static bool is_safe(const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,@%+";
	return word[0] && word[strspn(word, safe)] == '\0';
}

void debug_show(const char *const args[], struct buf *out)
{
	for (size_t i = 0; args[i]; i++) {
		(void)buf_puts(out, i ? " " : "");
		if (is_safe(args[i])) {
			(void)buf_puts(out, args[i]);
			continue;
		}
		(void)buf_putc(out, '\'');
		for (const char *at = args[i]; *at; at++)
			(void)(*at == '\'' ? buf_puts(out, "'\\''") : buf_putc(out, *at));
		(void)buf_putc(out, '\'');
	}
	(void)buf_putc(out, '\n');
}
