/* SPDX-License-Identifier: Apache-2.0 */
/* Properties: what was reduced parses to the same; detail's ranges ascend and do not overlap. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/answer.h"
#include "jvm/nmt.h"
#include "jvm/nmtdetail.h"

static void must_ascend(const struct jvm_regions *regions)
{
	for (size_t i = 0; i < regions->n; i++)
		if (regions->items[i].range.start >= regions->items[i].range.end ||
		    (i > 0 && regions->items[i].range.start < regions->items[i - 1].range.end))
			abort();
}

static int parse_reduced(enum answer answer, struct str text, struct jvm_nmt *nmt, struct jvm_regions *regions)
{
	auto_buf struct buf reduced = { .cap = 1 << 22 };
	struct err err = { 0 };
	if (answer_reduce(answer, text, &reduced, &err) < 0)
		abort();
	return nmt ? nmt_parse(buf_str(&reduced), nmt, &err) : nmtdetail_parse(buf_str(&reduced), regions, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct jvm_nmt raw, reduced;
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	auto_(jvm_regions_done) struct jvm_regions again = { 0 };
	struct err err = { 0 };

	memset(&raw, 0, sizeof raw);
	memset(&reduced, 0, sizeof reduced);
	if (nmt_parse(text, &raw, &err) == 0) {
		if (raw.n_categories > NMT_CATEGORIES_MAX)
			abort();
		if (parse_reduced(ANSWER_NMT, text, &reduced, NULL) < 0 || memcmp(&raw, &reduced, sizeof raw) != 0)
			abort();
	}
	if (nmtdetail_parse(text, &regions, &err) == 0) {
		must_ascend(&regions);
		if (parse_reduced(ANSWER_NMT_DETAIL, text, NULL, &again) < 0 || regions.n != again.n)
			abort();
	}
	return 0;
}
