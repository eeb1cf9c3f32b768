/* SPDX-License-Identifier: Apache-2.0 */
/* Both formats: what is redacted parses again, holds nothing that is not public, and redacts to itself. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "engine/flinkconf.h"

static void one_format(struct str text, enum flinkconf_format format)
{
	auto_buf struct buf out = { .cap = 1 << 21 }, again = { .cap = 1 << 21 };
	auto_flinkconf struct flinkconf conf = { 0 }, original = { 0 };
	if (flinkconf_redact(text, format, "f", &out, NULL) < 0)
		return;
	if (flinkconf_parse(buf_str(&out), format, "f", &conf, NULL) < 0 ||
	    flinkconf_parse(text, format, "f", &original, NULL) < 0)
		abort();
	if (conf.n > original.n)
		abort();
	for (size_t i = 0; i < conf.n; i++)
		if (!conf.items[i].redacted && !flinkconf_is_public(conf.items[i].key, conf.items[i].value) &&
		    !str_starts(conf.items[i].key, STR("execution.")))
			abort();
	if (flinkconf_redact(buf_str(&out), format, "f", &again, NULL) < 0 || !str_eq(buf_str(&out), buf_str(&again)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	one_format(text, FLINKCONF_YAML);
	one_format(text, FLINKCONF_LEGACY);
	return 0;
}
