/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "agent/slowtext.h"

/* Whatever comes through the pipe: what belongs to others stays, and what was merged reads back the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	static struct evidence into;
	evidence_init(&into);
	struct buf *kept = evidence_new(&into, "proc/cmdline", 16);
	if (!kept || !buf_puts(kept, "java") || !evidence_fact(&into, "pid", "42"))
		abort();
	unsigned what = size ? (data[0] & 1 ? SLOW_JVM : SLOW_ENGINE | SLOW_JVM) : SLOW_ENGINE;
	bool merged = slowtext_merge(text, what, &into, &err) == 0;
	if (!str_eq(evidence_text(&into, "proc/cmdline"), STR("java")) || evidence_fact_u64(&into, "pid", 0) != 42)
		abort();
	for (size_t i = 0; i < into.n; i++)
		if (!slowtext_is_of(what, into.items[i].name) && strcmp(into.items[i].name, "proc/cmdline") != 0)
			abort();
	if (!merged && into.n != 1)
		abort();
	auto_buf struct buf again = { .cap = 1 << 24 };
	size_t n = into.n;
	if (merged && (!slowtext_encode(&into, what, &again) ||
		       slowtext_merge(buf_str(&again), what, &into, &err) < 0 || into.n != n))
		abort();
	evidence_done(&into);
	return 0;
}
