/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties: redacting twice changes nothing; arguments keep their number; the redacted line means the same JVM; and the
 * text "=/CANARY", which stands for secrets in the corpus, never passes.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/cmdline.h"
#include "jvm/vmargs.h"

static size_t count_arguments(struct str text)
{
	struct str argument;
	size_t n = 0;
	while (str_split(&text, '\0', &argument))
		n++;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	auto_buf struct buf once = { .cap = 1 << 24 }, twice = { .cap = 1 << 24 };
	auto_buf struct buf words = { .cap = 1 << 24 }, command = { .cap = 1 << 24 };
	struct vmargs raw, redacted;

	if (size > 1 << 16)
		return 0;
	if (!cmdline_redact(text, &once) || !cmdline_redact(buf_str(&once), &twice) ||
	    !cmdline_redact_words(text, &words) || !cmdline_redact_command(text, &command))
		abort();
	if (!str_eq(buf_str(&once), buf_str(&twice)) || count_arguments(text) != count_arguments(buf_str(&once)))
		abort();
	if (str_has(buf_str(&once), STR("=/CANARY")) || str_has(buf_str(&words), STR("=/CANARY")) ||
	    str_has(buf_str(&command), STR("=/CANARY")))
		abort();
	memset(&raw, 0, sizeof raw);
	memset(&redacted, 0, sizeof redacted);
	vmargs_parse(text, &raw);
	vmargs_parse(buf_str(&once), &redacted);
	if (memcmp(&raw.flags, &redacted.flags, sizeof raw.flags) != 0)
		abort();
	return 0;
}
