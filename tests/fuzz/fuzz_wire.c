/* SPDX-License-Identifier: Apache-2.0 */
/* A frame from anybody: refused, untouched, or a message that can be said again and is heard the same. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

/* Both are 15 KiB: kept off the stack of the fuzzer. */
static struct wire_message heard, again;

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str frame = { (const char *)data, size };
	enum wire_error_code code = WIRE_ERR_COUNT;
	struct err err = { 0 };
	memset(&heard, 0x5a, sizeof heard);
	memset(&again, 0x5a, sizeof again);
	if (wire_decode(frame, &heard, &code, &err) < 0) {
		must(code < WIRE_ERR_COUNT && err.message[0] && memcmp(&heard, &again, sizeof heard) == 0);
		return 0;
	}
	struct str body = STR("{}");
	if (heard.type == WIRE_POSTMORTEM)
		heard.postmortem.body = body;
	auto_buf struct buf out = { .cap = 1 << 20 }, twice = { .cap = 1 << 20 };
	if (wire_encode(&heard, &out, &err) < 0) {
		/* Only what grew by its escapes: a byte of a control character is six. */
		must(err.kind == ERR_LIMIT && size > WIRE_FRAME_MAX / 6);
		return 0;
	}
	must(wire_decode(buf_str(&out), &again, &code, &err) == 0);
	if (again.type == WIRE_POSTMORTEM)
		again.postmortem.body = body;
	must(wire_encode(&again, &twice, &err) == 0 && str_eq(buf_str(&out), buf_str(&twice)));
	return 0;
}
