/* SPDX-License-Identifier: Apache-2.0 */
/* Property: what comes out is the text after the first line, whole. Then what the small answers' parsers make of it. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/attach.h"
#include "jvm/vmversion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str reply = { (const char *)data, size };
	auto_buf struct buf text = { .cap = 1 << 22 };
	struct vmversion version;
	struct err err = { 0 };

	if (attach_parse_reply(reply, &text, &err) == 0) {
		if (!str_ends(reply, buf_str(&text)) || text.len + 2 > size)
			abort();
		if (vmversion_parse(buf_str(&text), &version, &err) == 0 && version.major <= 0)
			abort();
	} else if (err.kind == ERR_NONE || memchr(err.message, '\x1b', sizeof err.message)) {
		abort();
	}
	return 0;
}
