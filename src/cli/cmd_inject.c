/* SPDX-License-Identifier: Apache-2.0 */
/* The sidecar into other people's YAML, and out of it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/esc.h"
#include "base/kubeqty.h"
#include "cli/chart_values.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "config/settings.h"
#include "data/yml_tree.h"
#include "kube/diff.h"
#include "kube/inject.h"
#include "kube/pod.h"
#include "sys/file.h"

enum { HELP_CAP = 64 * 1024, NOTES_CAP = 4 * 1024 * 1024, CA_CAP = 256 * 1024 };

struct inject_flags {
	const char *file, *image, *collector, *ca_file, *audience, *container, *user, *group, *resources, *values,
		*release, *kube_version;
	bool remove, dry_run, help;
	struct settings_text text;
};

#define AT(field) offsetof(struct inject_flags, field)

enum { BY = SETTING_BY_FLAG };

static const struct setting_info table[] = {
	{ "filename", "FILE", "the YAML to read; \"-\": standard input (also -f FILE)", BY, SETTING_TEXT, AT(file), 0,
	  0, 0, 0 },
	{ "image", "IMAGE", "of the sidecar (bankfull:VERSION)", BY, SETTING_TEXT, AT(image), 0, 0, 0, 0 },
	{ "collector", "URL", "wss://HOST:8480/agent; without it /metrics and log only", BY, SETTING_TEXT,
	  AT(collector), 0, 0, 0, 0 },
	{ "ca-file", "FILE", "the authority of the collector's certificate; its text goes into the YAML", BY,
	  SETTING_FILE, AT(ca_file), 0, 0, 0, 0 },
	{ "audience", "NAME", "for whom the pod's token is made: the collector's --audience", BY, SETTING_TEXT,
	  AT(audience), 0, 0, 0, 0 },
	{ "container", "NAME", "which one runs the JVM, where it is not plain", BY, SETTING_TEXT, AT(container), 0, 0,
	  0, 0 },
	{ "uid", "N", "the user that the JVM runs as, where the YAML does not say", BY, SETTING_TEXT, AT(user), 0, 0, 0,
	  0 },
	{ "gid", "N", "its group; written beside a runAsUser that has none", BY, SETTING_TEXT, AT(group), 0, 0, 0, 0 },
	{ "resources", "cpu=C,memory=M", "requests of the sidecar; the memory is its limit, too (cpu=50m,memory=64Mi)",
	  BY, SETTING_TEXT, AT(resources), 0, 0, 0, 0 },
	{ "from-chart-values", "FILE", "image, collector, audience and resources as the chart's values say", BY,
	  SETTING_FILE, AT(values), 0, 0, 0, 0 },
	{ "release", "NAME/NAMESPACE", "of that chart (bankfull/bankfull)", BY, SETTING_TEXT, AT(release), 0, 0, 0, 0 },
	{ "kube-version", "1.N", "the cluster's; below 1.29 the sidecar is an ordinary one", BY, SETTING_TEXT,
	  AT(kube_version), 0, 0, 0, 0 },
	{ "remove", "", "take the sidecar out, and what came with it", BY, SETTING_SWITCH, AT(remove), 0, 0, 0, 0 },
	{ "dry-run", "", "print the difference, as patch takes it", BY, SETTING_SWITCH, AT(dry_run), 0, 0, 0, 0 },
};

static const struct settings_source source = { table, sizeof table / sizeof table[0], NULL, NULL };

static int help(void)
{
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = HELP_CAP };
	(void)buf_puts(
		&out,
		"usage: bankfull inject -f FILE|- [OPTION]...\n"
		"Prints Kubernetes YAML with the agent as a sidecar of each pod that it describes, all else as it was.\n\n");
	settings_help(&source, &out);
	(void)buf_puts(
		&out,
		"\nexit status: 0 printed, 2 usage, or a pod that can have no sidecar, 3 could not read or write\n");
	return command_print(&out, "the help", &err) < 0 ? command_error("inject", &err) : EXIT_OK;
}

static int number(const char *option, const char *text, bool *ret_has, uint64_t *ret, struct err *err)
{
	if (!text)
		return 0;
	if (!str_is_u64(str_of(text), ret) || *ret > INT32_MAX)
		return err_set(err, ERR_USAGE, "--%s: '%.40s' is no number of a user or group", option, text);
	*ret_has = true;
	return 0;
}

enum { QUANTITY_CAP = 32 };

struct said_resources {
	char cpu[QUANTITY_CAP], memory[QUANTITY_CAP];
};

/* "cpu=50m,memory=64Mi" */
static int resources(struct str text, struct said_resources *said, struct inject_options *options, struct err *err)
{
	struct str part;
	while (str_split(&text, ',', &part)) {
		struct str value = part;
		uint64_t milli;
		bool cpu = str_take(&value, STR("cpu="));
		if (!cpu && !str_take(&value, STR("memory=")))
			value = STR("");
		if (!kubeqty_milli(value, &milli) || milli == 0 || value.len >= QUANTITY_CAP)
			return err_set(err, ERR_USAGE, "--resources: '%.*s' is neither cpu=C nor memory=M",
				       part.len > 60 ? 60 : (int)part.len, part.ptr);
		str_copy(cpu ? said->cpu : said->memory, QUANTITY_CAP, value);
	}
	options->cpu = said->cpu[0] ? said->cpu : options->cpu;
	options->memory = said->memory[0] ? said->memory : options->memory;
	return 0;
}

static int version(const char *text, bool *ret_ordinary, struct err *err)
{
	uint64_t minor = 0;
	if (!text)
		return 0;
	struct str rest = str_of(text);
	(void)str_take(&rest, STR("v"));
	if (!str_take(&rest, STR("1.")) || !str_u64(&rest, &minor) ||
	    (rest.len && rest.ptr[0] != '.' && rest.ptr[0] != '+'))
		return err_set(err, ERR_USAGE, "--kube-version: '%.40s' is none, such as 1.33", text);
	*ret_ordinary = minor < 29;
	return 0;
}

/* What stands in YAML must not end its line there, nor move a cursor. */
static int plain(const char *option, const char *text, struct err *err)
{
	if (text && (!text[0] || !esc_is_plain(str_of(text)) || strchr(text, ' ')))
		return err_set(err, ERR_USAGE, "--%s: empty, or with characters that do not belong there", option);
	return 0;
}

static int read_ca(const char *file, struct buf *pem, struct err *err)
{
	auto_buf struct buf raw = { .cap = CA_CAP };
	if (!file)
		return 0;
	int rc = file_read_named(file, CA_CAP, &raw, err);
	for (size_t i = 0; rc == 0 && i < raw.len; i++) {
		unsigned char c = (unsigned char)raw.ptr[i];
		if (c >= 0x7f || (c < ' ' && c != '\n' && c != '\r'))
			return err_set(err, ERR_USAGE, "--ca-file: %.200s is no PEM text", file);
		if (c != '\r')
			(void)buf_putc(pem, (char)c);
	}
	if (rc == 0 && !str_has(buf_str(pem), STR("-----BEGIN CERTIFICATE-----")))
		return err_set(err, ERR_USAGE, "--ca-file: no certificate stands in %.200s", file);
	if (rc == 0 && str_has(buf_str(pem), STR("PRIVATE KEY")))
		return err_set(err, ERR_USAGE, "--ca-file: %.200s holds a private key, too: it would stand in the YAML",
			       file);
	if (rc == 0 && pem->ptr[pem->len - 1] != '\n')
		(void)buf_putc(pem, '\n');
	return rc;
}

static int check(const struct inject_options *options, struct err *err)
{
	int rc = plain("image", options->image, err);
	if (rc == 0)
		rc = plain("collector", options->collector, err);
	if (rc == 0)
		rc = plain("audience", options->audience, err);
	if (rc == 0)
		rc = plain("container", options->container, err);
	if (rc < 0 || !options->collector)
		return rc;
	if (!str_starts(str_of(options->collector), STR("wss://")) &&
	    !str_starts(str_of(options->collector), STR("ws://")))
		return err_set(err, ERR_USAGE, "--collector: wss://HOST:8480/agent, not '%.80s'", options->collector);
	if (!options->audience && str_starts(str_of(options->collector), STR("wss://")))
		return err_set(
			err, ERR_USAGE,
			"--collector without --audience: the pod's token is made for somebody; the chart's is bankfull.RELEASE.NAMESPACE");
	return 0;
}

static int read_input(const char *file, struct buf *text, struct err *err)
{
	if (strcmp(file, "-") == 0)
		return file_read_fd(STDIN_FILENO, "standard input", YML_TREE_TEXT_MAX, text, err);
	return file_read_named(file, YML_TREE_TEXT_MAX, text, err);
}

static int run(const struct inject_flags *flags, const struct inject_options *options, struct buf *notes,
	       struct err *err)
{
	auto_buf struct buf text = { .cap = YML_TREE_TEXT_MAX }, edited = { .cap = INJECT_OUT_MAX },
			    shown = { .cap = INJECT_OUT_MAX };
	const char *name = strcmp(flags->file, "-") == 0 ? "standard input" : flags->file;
	int rc = read_input(flags->file, &text, err);
	if (rc == 0)
		rc = flags->remove ? inject_remove(buf_str(&text), name, &edited, notes, err)
				   : inject_add(buf_str(&text), name, options, &edited, notes, err);
	if (rc == 0 && flags->dry_run)
		rc = diff_unified(buf_str(&text), buf_str(&edited), name, &shown, err);
	return rc < 0 ? rc : command_print(flags->dry_run ? &shown : &edited, "the YAML", err);
}

static int parse(int argc, char **argv, struct inject_flags *flags, struct err *err)
{
	static char filename[] = "--filename";
	char *const environment[] = { NULL };
	auto_yml struct yml yml = { 0 };
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-f") == 0)
			argv[i] = filename;
	int rc = settings_load(&source, argc, argv, environment, flags, &flags->text, &yml, &flags->help, err);
	if (rc == 0 && !flags->help && !flags->file)
		rc = err_set(err, ERR_USAGE, "say which file: -f FILE, or -f - for standard input");
	return rc;
}

static int inject(struct inject_flags *flags, struct buf *notes, struct err *err)
{
	char image[128];
	struct said_resources said = { 0 };
	auto_buf struct buf ca = { .cap = CA_CAP };
	auto_chart_values struct chart_values values = { 0 };
	(void)snprintf(image, sizeof image, "bankfull:%s", bankfull_version);
	struct inject_options options = { .image = image, .memory = "64Mi", .cpu = "50m" };
	int rc = flags->values ? chart_values_read(flags->values, flags->release, &values, err) : 0;
	if (rc == 0 && flags->values)
		chart_values_fill(&values, &options);
	options.image = flags->image ? flags->image : options.image;
	options.collector = flags->collector ? flags->collector : options.collector;
	options.audience = flags->audience ? flags->audience : options.audience;
	options.container = flags->container;
	if (rc == 0)
		rc = resources(str_of(flags->resources ? flags->resources : ""), &said, &options, err);
	if (rc == 0)
		rc = number("uid", flags->user, &options.has_user, &options.user, err);
	if (rc == 0)
		rc = number("gid", flags->group, &options.has_group, &options.group, err);
	if (rc == 0)
		rc = version(flags->kube_version, &options.ordinary, err);
	if (rc == 0)
		rc = check(&options, err);
	if (rc == 0)
		rc = read_ca(flags->ca_file, &ca, err);
	options.ca_pem = buf_str(&ca);
	return rc < 0 ? rc : run(flags, &options, notes, err);
}

int cmd_inject(int argc, char **argv)
{
	struct err err = { 0 };
	struct inject_flags flags = { 0 };
	auto_buf struct buf notes = { .cap = NOTES_CAP };
	int rc = parse(argc, argv, &flags, &err), status = EXIT_OK;
	if (rc == 0 && flags.help) {
		status = help();
	} else {
		if (rc == 0)
			rc = inject(&flags, &notes, &err);
		if (rc == 0 && notes.len)
			(void)fputs(notes.ptr, stderr);
		if (rc < 0 && (err.kind == ERR_MALFORMED || err.kind == ERR_UNSUPPORTED || err.kind == ERR_LIMIT))
			err.kind = ERR_USAGE; /* the YAML is what the user gave */
		status = rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
	}
	settings_text_done(&flags.text);
	return status;
}
