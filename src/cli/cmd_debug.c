/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a pod that nobody prepared: an ephemeral container beside it, by kubectl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/kubectl.h"
#include "cli/options.h"
#include "config/settings.h"
#include "kube/debug.h"

enum { HELP_CAP = 64 * 1024, TEXT_CAP = 16 * 1024, TIMEOUT_MS = 30000 };

struct debug_flags {
	const char *pod, *namespace_, *container, *image, *context, *user, *group;
	char *const *command;
	bool print, help;
	struct settings_text text;
};

#define AT(field) offsetof(struct debug_flags, field)

enum { BY = SETTING_BY_FLAG };

static const struct setting_info table[] = {
	{ "namespace", "NAME", "of the pod (also -n NAME)", BY, SETTING_TEXT, AT(namespace_), 0, 0, 0, 0 },
	{ "container", "NAME", "which one runs the JVM, where it is not plain (also -c NAME)", BY, SETTING_TEXT,
	  AT(container), 0, 0, 0, 0 },
	{ "image", "IMAGE", "of the ephemeral container (bankfull:VERSION)", BY, SETTING_TEXT, AT(image), 0, 0, 0, 0 },
	{ "context", "NAME", "of kubectl's configuration", BY, SETTING_TEXT, AT(context), 0, 0, 0, 0 },
	{ "uid", "N", "the user that the JVM runs as, where neither the pod nor its process says it", BY, SETTING_TEXT,
	  AT(user), 0, 0, 0, 0 },
	{ "gid", "N", "its group", BY, SETTING_TEXT, AT(group), 0, 0, 0, 0 },
	{ "print", "", "print the command instead of running it", BY, SETTING_SWITCH, AT(print), 0, 0, 0, 0 },
};

static const struct settings_source source = { table, sizeof table / sizeof table[0], NULL, NULL };

static int help(void)
{
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = HELP_CAP };
	(void)buf_puts(
		&out,
		"usage: bankfull debug POD [OPTION]... [-- COMMAND...]\n"
		"The report (or `-- watch`, `-- capture -o DIR`) of a running pod that nobody prepared: no restart, no\n"
		"install. Without kubectl on PATH it prints what to run.\n\n");
	settings_help(&source, &out);
	(void)buf_puts(&out, "\nexit status: kubectl's; 2 usage, 3 the pod could not be read, or does not run\n");
	return command_print(&out, "the help", &err) < 0 ? command_error("debug", &err) : EXIT_OK;
}

static int split(int argc, char **argv, struct debug_flags *flags, int *ret_n, struct err *err)
{
	static char namespace_[] = "--namespace", container[] = "--container";
	int n = 1;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			flags->command = argv + i + 1;
			break;
		}
		if (strcmp(argv[i], "-n") == 0)
			argv[i] = namespace_;
		if (strcmp(argv[i], "-c") == 0)
			argv[i] = container;
		bool option = argv[i][0] == '-';
		bool alone = strcmp(argv[i], "--print") == 0 || strcmp(argv[i], "--help") == 0 ||
			     strcmp(argv[i], "-h") == 0 || strchr(argv[i], '=');
		if (!option && flags->pod)
			return err_set(err, ERR_USAGE, "one pod at a time, and what to run behind --");
		if (option)
			argv[n++] = argv[i];
		else
			flags->pod = argv[i];
		if (option && !alone && i + 1 < argc)
			argv[n++] = argv[++i];
	}
	*ret_n = n;
	return 0;
}

/* A name of Kubernetes, so that nothing can be taken for an option, nor for two words. */
static int check_name(const char *option, const char *name, struct err *err)
{
	for (const char *at = name; at && *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", *at) || name[0] == '-')
			return err_set(err, ERR_USAGE, "%s: '%.60s' is no name of Kubernetes", option, name);
	return 0;
}

static int parse(int argc, char **argv, struct debug_flags *flags, struct err *err)
{
	char *const environment[] = { NULL };
	auto_yml struct yml yml = { 0 };
	int n = 0, rc = split(argc, argv, flags, &n, err);
	if (rc == 0)
		rc = settings_load(&source, n, argv, environment, flags, &flags->text, &yml, &flags->help, err);
	if (rc < 0 || flags->help)
		return rc;
	if (!flags->pod)
		return err_set(err, ERR_USAGE, "say which pod: bankfull debug POD -n NAMESPACE");
	if (strncmp(flags->pod, "pod/", 4) == 0)
		flags->pod += 4;
	rc = check_name("POD", flags->pod, err);
	if (rc == 0)
		rc = check_name("--namespace", flags->namespace_, err);
	return rc == 0 ? check_name("--container", flags->container, err) : rc;
}

static int number(const char *option, const char *text, bool *ret_known, uint64_t *ret, struct err *err)
{
	if (!text)
		return 0;
	if (!str_is_u64(str_of(text), ret) || *ret > INT32_MAX)
		return err_set(err, ERR_USAGE, "--%s: '%.40s' is no number of a user or group", option, text);
	*ret_known = true;
	return 0;
}

/* kubectl, its verb, where, and the rest */
static int ask(const struct debug_flags *flags, const char *const rest[], struct buf *out, struct err *err)
{
	const char *args[24] = { "kubectl", rest[0] };
	size_t n = 2;
	if (flags->context) {
		args[n++] = "--context";
		args[n++] = flags->context;
	}
	if (flags->namespace_) {
		args[n++] = "--namespace";
		args[n++] = flags->namespace_;
	}
	for (size_t i = 1; rest[i] && n < 23; i++)
		args[n++] = rest[i];
	return kubectl_ask(args, TIMEOUT_MS, DEBUG_POD_JSON_MAX, out, err);
}

static int look(const struct debug_flags *flags, struct debug_pod *pod, struct err *err)
{
	auto_buf struct buf out = { .cap = DEBUG_POD_JSON_MAX }, status = { .cap = TEXT_CAP };
	const char *const get[] = { "get", "pod", flags->pod, "--output", "json", NULL };
	int rc = ask(flags, get, &out, err);
	if (rc == 0)
		rc = debug_pod_parse(buf_str(&out), flags->container, pod, err);
	if (rc < 0 || (pod->user_known && pod->group_known) || pod->has_sidecar || flags->user)
		return rc;
	/* Who steps down, as some images do, is told by the first process; that of a shared namespace is another's. */
	const char *file = pod->shares ? "/proc/self/status" : "/proc/1/status";
	const char *const exec[] = { "exec", flags->pod, "--container", pod->container, "--", "cat", file, NULL };
	struct err ignored;
	if (ask(flags, exec, &status, &ignored) == 0)
		debug_pod_status(pod, buf_str(&status));
	return 0;
}

static void print(const struct debug_pod *pod, const struct buf *custom, const char *const args[], struct buf *out)
{
	if (!pod->user_known && !pod->has_sidecar)
		(void)buf_puts(
			out,
			"# The user of the JVM is not known: the report needs it, and its group. Say --uid and --gid\n"
			"# where it is not that of the image, 9999:9999.\n");
	if (custom->len && !pod->has_sidecar)
		(void)buf_printf(out, "echo '%s' >bankfull-debug.json\n", custom->ptr);
	debug_show(args, out);
}

static int debug(struct debug_flags *flags, struct err *err)
{
	char image[128], path[32] = "bankfull-debug.json";
	const char *args[DEBUG_ARGS_MAX];
	auto_buf struct buf custom = { .cap = TEXT_CAP }, text = { .cap = TEXT_CAP }, out = { .cap = TEXT_CAP };
	struct debug_pod pod = { 0 };
	bool there = kubectl_is_there();
	(void)snprintf(image, sizeof image, "bankfull:%s", bankfull_version);
	str_copy(pod.container, sizeof pod.container,
		 str_of(flags->container ? flags->container : "flink-main-container"));
	int rc = there ? look(flags, &pod, err) : 0;
	if (rc == 0)
		rc = number("uid", flags->user, &pod.user_known, &pod.user, err);
	if (rc == 0)
		rc = number("gid", flags->group, &pod.group_known, &pod.group, err);
	if (rc < 0)
		return rc;
	bool run = there && !flags->print;
	debug_custom(&pod, &custom);
	if (run && custom.len)
		rc = kubectl_file(buf_str(&custom), path, err);
	struct debug_how how = { .context = flags->context,
				 .namespace_ = flags->namespace_,
				 .pod = flags->pod,
				 .image = flags->image ? flags->image : image,
				 .custom = custom.len ? path : NULL,
				 .command = flags->command,
				 .tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
	if (rc == 0)
		rc = debug_command(&pod, &how, &text, args, err);
	if (rc < 0)
		return rc;
	if (run)
		return kubectl_become(args, err);
	print(&pod, &custom, args, &out);
	return command_print(&out, "the command", err);
}

int cmd_debug(int argc, char **argv)
{
	struct err err = { 0 };
	struct debug_flags flags = { 0 };
	int rc = parse(argc, argv, &flags, &err), status = EXIT_OK;
	if (rc == 0 && flags.help) {
		status = help();
	} else {
		if (rc == 0)
			rc = debug(&flags, &err);
		status = rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
	}
	settings_text_done(&flags.text);
	return status;
}
