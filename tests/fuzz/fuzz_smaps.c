/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three properties beside "no crash": sums over mappings cannot wrap; the slim form says the same; and the fast way
 * reads what the general way reads. For the last, the text is parsed once more with blanks before each
 * unit, which no slot matches.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/smaps.h"

static void must_equal(const struct vma_set *a, const struct vma_set *b)
{
	if (a->n != b->n || a->have != b->have)
		abort();
	for (size_t i = 0; i < a->n; i++) {
		struct vma x = a->items[i], y = b->items[i];
		if (!str_eq(vma_name(a, &x), vma_name(b, &y)))
			abort();
		x.name_at = y.name_at = 0;
		if (memcmp(&x, &y, sizeof x) != 0)
			abort();
	}
}

static void check_order(const struct vma_set *set)
{
	uint64_t end = 0, rss = 0;
	for (size_t i = 0; i < set->n; i++) {
		if (set->items[i].start < end || set->items[i].end <= set->items[i].start ||
		    __builtin_add_overflow(rss, set->items[i].rss_bytes, &rss))
			abort();
		end = set->items[i].end;
	}
}

static void check_slim(const struct vma_set *set)
{
	auto_buf struct buf slim = { .cap = 64u << 20 };
	auto_(vma_set_done) struct vma_set again = { 0 };
	struct err err = { 0 };
	if (!smaps_format(set, &slim) || smaps_parse(buf_str(&slim), &again, &err) < 0)
		abort();
	must_equal(set, &again);
}

/* " kB\n" becomes "  kB\n": the same to the general way, and nothing the fast way knows. */
static bool widen(struct str text, struct buf *out)
{
	struct str line;
	while (str_line(&text, &line)) {
		bool kb = str_ends(line, STR(" kB")) && line.ptr[0] >= 'A' && line.ptr[0] <= 'Z';
		if (!buf_add(out, (struct str){ line.ptr, line.len - (kb ? 2 : 0) }) || (kb && !buf_puts(out, " kB")) ||
		    !buf_putc(out, '\n'))
			return false;
	}
	return true;
}

static void check_general_way(struct str text, const struct vma_set *set)
{
	auto_buf struct buf wide = { .cap = 64u << 20 };
	auto_(vma_set_done) struct vma_set general = { 0 };
	struct err err = { 0 };
	/* Without a newline at its end a text is refused; widen() would add it. */
	if (text.len && text.ptr[text.len - 1] != '\n')
		return;
	if (!widen(text, &wide))
		return;
	int r = smaps_parse(buf_str(&wide), &general, &err);
	if ((r == 0) != (set != NULL))
		abort();
	if (set)
		must_equal(set, &general);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	auto_(vma_set_done) struct vma_set set = { 0 };
	struct err err = { 0 };
	bool ok = smaps_parse(text, &set, &err) == 0;
	check_general_way(text, ok ? &set : NULL);
	if (ok) {
		check_order(&set);
		check_slim(&set);
	}
	return 0;
}
