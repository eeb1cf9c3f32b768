/* SPDX-License-Identifier: Apache-2.0 */
/* Properties: reduced flags say the same, reducing twice changes nothing, and only words of the table pass. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/answer.h"
#include "jvm/option.h"
#include "jvm/vmflags.h"

static void must_be_open(struct str text)
{
	struct str line, word;
	while (str_line(&text, &line))
		while (str_split(&line, ' ', &word)) {
			auto_buf struct buf kept = { .cap = 1 << 20 };
			if (!str_eq(word, STR("<redacted>")) && !option_keep(word, &kept))
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	auto_buf struct buf once = { .cap = 1 << 22 }, twice = { .cap = 1 << 22 };
	struct jvm_flags raw, reduced;
	struct err err = { 0 };

	memset(&raw, 0, sizeof raw);
	memset(&reduced, 0, sizeof reduced);
	int rc = vmflags_parse(text, &raw, &err);
	if (size > 1 << 16)
		return 0;
	if (answer_reduce(ANSWER_FLAGS, text, &once, &err) < 0 ||
	    answer_reduce(ANSWER_FLAGS, buf_str(&once), &twice, &err) < 0)
		abort();
	if (!str_eq(buf_str(&once), buf_str(&twice)))
		abort();
	must_be_open(buf_str(&once));
	if (rc == 0 && vmflags_parse(buf_str(&once), &reduced, &err) == 0 && memcmp(&raw, &reduced, sizeof raw) != 0)
		abort();
	return 0;
}
