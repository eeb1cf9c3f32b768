/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "engine/jolokia.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct engine_state state = { .kind = ENGINE_KAFKA_STREAMS };
	const char *what = "http/jolokia.0";
	auto_buf struct buf out = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
	if (jolokia_read(&text, &what, 1, &state, NULL, NULL) < 0)
		abort();
	if (jolokia_reduce(text, &out, NULL) < 0)
		return 0;
	/* What is reduced is an answer, and reduces to itself. */
	if (jolokia_reduce(buf_str(&out), &again, NULL) < 0 || !str_eq(buf_str(&out), buf_str(&again)))
		abort();
	return 0;
}
