/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps an installation, or one pod, from being watched, each with what to do about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/doctor_here.h"
#include "cli/kubectl.h"
#include "cli/options.h"
#include "kube/debug.h"

enum { OUT_CAP = 256 * 1024, TIMEOUT_MS = 30000, ARGS_CAP = 24 };

struct asked {
	const char *pod, *namespace_, *context;
};

static int help(void)
{
	(void)printf(
		"usage: bankfull doctor [OPTION]...             in the sidecar: by the agent's settings (bankfull agent --help)\n"
		"       bankfull doctor POD [-n NAMESPACE] [--context NAME]     by kubectl: the cluster, the pod, its sidecar\n"
		"What keeps a pod from being watched, and what to do about it.\n\n"
		"  --collector-only  in a pod that has no JVM\n"
		"  --namespace NAME  of the pod (also -n NAME)\n"
		"  --context NAME    of kubectl's configuration\n"
		"\nexit status: 0 all is well, 1 something is not, 2 usage, 3 it could not be asked\n");
	return EXIT_OK;
}

static int ask(const struct asked *asked, const char *const rest[], struct buf *out, struct err *err)
{
	const char *args[ARGS_CAP] = { "kubectl", rest[0] };
	size_t n = 2;
	if (asked->context) {
		args[n++] = "--context";
		args[n++] = asked->context;
	}
	if (asked->namespace_) {
		args[n++] = "--namespace";
		args[n++] = asked->namespace_;
	}
	for (size_t i = 1; rest[i] && n < ARGS_CAP - 1; i++)
		args[n++] = rest[i];
	return kubectl_ask(args, TIMEOUT_MS, DEBUG_POD_JSON_MAX, out, err);
}

static int ask_server(const struct asked *asked, struct checkup *checkup, struct err *err)
{
	auto_buf struct buf version = { .cap = DEBUG_POD_JSON_MAX }, admission = { .cap = DEBUG_POD_JSON_MAX };
	struct err ignored;
	uint64_t minor = 0;
	const char *const raw[] = { "get", "--raw", "/version", NULL };
	const char *const apis[] = { "get", "--raw", "/apis/admissionregistration.k8s.io/v1", NULL };
	int rc = ask(asked, raw, &version, err);
	if (rc < 0)
		return rc;
	/* "minor": "33" or "33+" */
	struct str rest = buf_str(&version);
	rest = str_skip(rest, str_find(rest, STR("\"minor\"")));
	rest = str_skip(rest, str_find(rest, STR(":")) + 1);
	rest = str_skip(rest, str_find(rest, STR("\"")) + 1);
	if (!str_u64(&rest, &minor))
		return err_set(err, ERR_MALFORMED, "the server does not say its version");
	if (ask(asked, apis, &admission, &ignored) < 0)
		buf_clear(&admission);
	checkup_server(checkup, (unsigned)minor, buf_str(&admission));
	return 0;
}

/* The sidecar's own word: the same command there. */
static void ask_sidecar(const struct asked *asked, struct checkup *checkup)
{
	auto_buf struct buf out = { .cap = OUT_CAP };
	struct err err = { 0 };
	const char *const rest[] = { "exec", asked->pod, "--container", "bankfull", "--", "bankfull", "doctor", NULL };
	int rc = ask(asked, rest, &out, &err);
	struct str text = buf_str(&out), line;
	bool told = str_starts(text, STR("ok ")) || str_starts(text, STR("bad ")) || str_starts(text, STR("note "));
	if (rc < 0 && !told) {
		checkup_say(checkup, CHECKUP_BAD, "asking the sidecar", "it takes the right to create pods/exec", "%s",
			    err.message);
		return;
	}
	while (str_line(&text, &line)) {
		if (!str_starts(line, STR("command terminated")))
			(void)buf_printf(checkup->out, "%.*s\n", (int)line.len, line.ptr);
		checkup->n_bad += str_starts(line, STR("bad "));
	}
}

static int by_kubectl(const struct asked *asked, struct checkup *checkup, struct err *err)
{
	auto_buf struct buf pod = { .cap = DEBUG_POD_JSON_MAX };
	bool running = false;
	const char *const get[] = { "get", "pod", asked->pod, "--output", "json", NULL };
	if (!kubectl_is_there())
		return err_set(err, ERR_UNSUPPORTED, "no kubectl on PATH; in the sidecar no POD is to be said");
	int rc = ask_server(asked, checkup, err);
	if (rc == 0)
		rc = ask(asked, get, &pod, err);
	if (rc == 0)
		rc = checkup_pod(checkup, buf_str(&pod), &running, err);
	if (rc == 0 && running)
		ask_sidecar(asked, checkup);
	return rc;
}

/* --collector-only is ours, all else the agent's. */
static bool take_only(int *argc, char **argv)
{
	static const char only[] = "--collector-only";
	int n = 1;
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], only) != 0)
			argv[n++] = argv[i];
	bool taken = n < *argc;
	*argc = n;
	return taken;
}

static int here(int argc, char **argv, struct checkup *checkup, bool *ret_help, struct err *err)
{
	bool only = take_only(&argc, argv);
	auto_free struct agentconf *conf = calloc(1, sizeof *conf);
	if (!conf)
		return err_set(err, ERR_NOMEM, "no memory");
	int rc = agentconf_parse(argc, argv, environ, conf, err);
	if (rc == 0 && conf->help) {
		*ret_help = true;
	} else if (rc == 0) {
		checkup_say(checkup, CHECKUP_OK, "settings", NULL, "bankfull agent would start");
		if (!only)
			doctor_access(checkup, conf);
		doctor_files(checkup, conf);
		doctor_collector(checkup, conf);
	}
	agentconf_done(conf);
	return rc;
}

/* True: POD was said, and all else belongs to kubectl. */
static bool split(int argc, char **argv, struct asked *asked, struct err *err, int *ret_rc)
{
	for (int i = 1; i < argc; i++) {
		const char *const next = i + 1 < argc ? argv[i + 1] : NULL;
		bool namespace_ = strcmp(argv[i], "-n") == 0 || strcmp(argv[i], "--namespace") == 0;
		bool context = strcmp(argv[i], "--context") == 0;
		if (namespace_ && next)
			asked->namespace_ = argv[++i];
		else if (context && next)
			asked->context = argv[++i];
		else if (argv[i][0] != '-' && !asked->pod)
			asked->pod = strncmp(argv[i], "pod/", 4) == 0 ? argv[i] + 4 : argv[i];
		else if (!asked->pod)
			return false;
		else
			*ret_rc = err_set(err, ERR_USAGE, "'%.60s': see bankfull doctor --help", argv[i]);
	}
	return asked->pod != NULL;
}

int cmd_doctor(int argc, char **argv)
{
	struct err err = { 0 };
	struct asked asked = { 0 };
	bool wants_help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
	auto_buf struct buf out = { .cap = OUT_CAP };
	struct checkup checkup = { .out = &out };
	int rc = 0;
	if (wants_help)
		return help();
	bool remote = split(argc, argv, &asked, &err, &rc);
	if (rc == 0)
		rc = remote ? by_kubectl(&asked, &checkup, &err) : here(argc, argv, &checkup, &wants_help, &err);
	if (wants_help)
		return help();
	/* What was seen before it failed is worth showing. */
	struct err printing = { 0 };
	if (command_print(&out, "the findings", &printing) < 0 && rc == 0)
		return command_error(argv[0], &printing);
	if (rc < 0)
		return command_error(argv[0], &err);
	return checkup.n_bad ? EXIT_FINDING : EXIT_OK;
}
