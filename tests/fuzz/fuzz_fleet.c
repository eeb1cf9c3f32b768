/* SPDX-License-Identifier: Apache-2.0 */
/* What a collector, or whoever sits there, may answer to `bankfull fleet`: checked, then shown in some widths. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "cli/fleet.h"
#include "watch/glyph.h"

enum { CAP = 1 << 20 };

/* No byte of it may steer a terminal. */
static void check_bytes(const struct buf *out)
{
	for (size_t i = 0; i < out->len; i++)
		if (((unsigned char)out->ptr[i] < 0x20 && out->ptr[i] != '\n') || out->ptr[i] == 0x7f)
			abort();
}

/* And no line of the table passes its width. */
static void check_text(const struct buf *out, unsigned columns, bool utf8)
{
	struct str rest = buf_str(out), line;
	check_bytes(out);
	for (bool first = true; str_line(&rest, &line); first = false)
		if (!first && !str_has(line, STR("match")) && !str_has(line, STR("heard of")) &&
		    glyph_columns(line, utf8) > columns)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct fleet_answer answer = { .n_pages = 1 };
	struct str text = { (const char *)data, size };
	if (js_parse(text, CAP, &answer.pages[0], &err) < 0)
		return 0;
	if (fleet_check(answer.pages[0], &answer.matching, &err) == 0) {
		for (unsigned i = 0; i < 4; i++) {
			static const unsigned widths[] = { 40, 80, 100, 200 };
			auto_buf struct buf out = { .cap = 16 * CAP };
			const struct fleet_face face = { .pods = i & 1, .utf8 = i & 2, .columns = widths[i] };
			if (fleet_table(&answer, &face, &out, &err) == 0)
				check_text(&out, face.columns, face.utf8);
		}
		auto_buf struct buf out = { .cap = 16 * CAP };
		if (fleet_json(&answer, "pods", &out, &err) < 0)
			abort();
		check_bytes(&out);
	}
	fleet_answer_done(&answer);
	return 0;
}
