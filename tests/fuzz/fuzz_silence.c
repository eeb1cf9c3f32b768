/* SPDX-License-Identifier: Apache-2.0 */
/* A body that asks for a silence: what is taken is whole and within its caps, and says the same when it is read back. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "base/date.h"
#include "base/esc.h"
#include "collector/silence_json.h"
#include "collector/silence_parts.h"

static const struct wall now = { INT64_C(1764489600000) };

static void check(const struct silence *s)
{
	const struct silence_matchers *m = &s->matchers;
	struct silence_matchers again;
	struct js_out out;
	struct err err = { 0 };
	auto_buf struct buf text = { .cap = 64 << 10 };
	size_t len = strlen(s->reason);
	if (len == 0 || len > SILENCE_REASON_MAX || s->until.ms <= now.ms ||
	    s->until.ms > now.ms + SILENCE_LONGEST_DAYS * DATE_DAY_MS || s->id || s->author[0])
		abort();
	if ((!m->given && m->severity == SEVERITY_NONE) || (m->patterns & ~m->given) || m->given > SILENCE_ALL_FIELDS)
		abort();
	for (struct str rest = str_of(s->reason); rest.len;) {
		size_t n = esc_utf8_len(rest);
		if (n == 0 || (unsigned char)rest.ptr[0] < 0x20)
			abort();
		rest = str_skip(rest, n);
	}
	js_out_start(&out, &text, 0);
	silence_put_matchers(&out, m);
	if (js_out_end(&out, &err) < 0 || silence_matchers_read(buf_str(&text), s->kind, &again, &err) < 0)
		abort();
	if (!silence_same(m, &again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str body = { (const char *)data, size };
	struct silence silence;
	struct err err = { 0 };
	if (silence_parse(body, now, &silence, &err) == 0)
		check(&silence);
	else if (!err.message[0])
		abort();
	/* A preview wants less, so what it refuses is no silence either. */
	if (silence_parse_preview(body, &silence, &err) == 0 && silence.until.ms != 0)
		abort();
	return 0;
}
