/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/chart_values.h"

#include <stdio.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "sys/file.h"

void chart_values_done(struct chart_values *values)
{
	yml_done(&values->yml);
	buf_done(&values->text);
}

static struct str value_of(const struct chart_values *values, const char *key)
{
	for (size_t i = 0; i < values->yml.n; i++)
		if (str_eq(values->yml.items[i].key, str_of(key)))
			return values->yml.items[i].value;
	return STR("");
}

/* The chart's bankfull.fullname: the release, which stands for the chart's name where it has it in it. */
static void fullname(const struct chart_values *values, const char *release, char *name, size_t cap)
{
	struct str whole = value_of(values, "fullnameOverride"), part = value_of(values, "nameOverride");
	if (!part.len)
		part = STR("bankfull");
	if (whole.len)
		str_copy(name, cap, whole);
	else if (str_has(str_of(release), part))
		str_copy(name, cap, str_of(release));
	else
		(void)snprintf(name, cap, "%s-%.*s", release, (int)part.len, part.ptr);
}

static void image(struct chart_values *v)
{
	struct str repository = value_of(v, "image.repository"), tag = value_of(v, "image.tag"),
		   digest = value_of(v, "image.digest");
	if (!repository.len)
		repository = STR("bankfull");
	(void)snprintf(v->image, sizeof v->image, "%.*s:%.*s%s%.*s", (int)repository.len, repository.ptr,
		       tag.len ? (int)tag.len : (int)strlen(bankfull_version), tag.len ? tag.ptr : bankfull_version,
		       digest.len ? "@" : "", (int)digest.len, digest.ptr);
}

int chart_values_read(const char *file, const char *release, struct chart_values *ret_values, struct err *err)
{
	char name[128] = "bankfull", namespace_[128] = "bankfull", full[128];
	if (release) {
		struct str rest = str_of(release), part;
		if (!str_split(&rest, '/', &part) || !part.len || !rest.len)
			return err_set(err, ERR_USAGE, "--release: NAME/NAMESPACE, not '%.80s'", release);
		str_copy(name, sizeof name, part);
		str_copy(namespace_, sizeof namespace_, rest);
	}
	auto_chart_values struct chart_values v = { .text = { .cap = LIMIT_CONFIG_FILE } };
	int rc = file_read_named(file, LIMIT_CONFIG_FILE, &v.text, err);
	if (rc == 0)
		rc = yml_parse(buf_str(&v.text), file, &v.yml, err);
	if (rc < 0)
		return rc;
	image(&v);
	fullname(&v, name, full, sizeof full);
	struct str url = value_of(&v, "sidecar.collectorUrl"), audience = value_of(&v, "sidecar.audience");
	(void)snprintf(v.collector, sizeof v.collector, "wss://%s.%s.svc:8480/agent", full, namespace_);
	(void)snprintf(v.audience, sizeof v.audience, "bankfull.%s.%s", name, namespace_);
	if (url.len)
		str_copy(v.collector, sizeof v.collector, url);
	if (audience.len)
		str_copy(v.audience, sizeof v.audience, audience);
	str_copy(v.cpu_text, sizeof v.cpu_text, value_of(&v, "sidecar.resources.cpu"));
	str_copy(v.memory_text, sizeof v.memory_text, value_of(&v, "sidecar.resources.memory"));
	*ret_values = v;
	v = (struct chart_values){ 0 };
	return 0;
}

void chart_values_fill(const struct chart_values *values, struct inject_options *options)
{
	options->image = values->image;
	options->collector = values->collector;
	options->audience = values->audience;
	if (values->cpu_text[0])
		options->cpu = values->cpu_text;
	if (values->memory_text[0])
		options->memory = values->memory_text;
}
