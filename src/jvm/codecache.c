/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codecache.h"

#include "jvm/take.h"

static int bad(unsigned line, const char *what, struct err *err)
{
	return err_set(err, ERR_MALFORMED, "codecache: line %u: %s", line, what);
}

static bool size_after(struct str line, struct str word, uint64_t *ret_bytes)
{
	struct str rest = str_skip(line, str_find(line, word) + word.len);
	return str_has(line, word) && take_size(&rest, ret_bytes);
}

static struct qty sum(struct qty total, uint64_t bytes)
{
	return qty_known(total) ? qty_add(total, qty_measured(bytes)) : qty_measured(bytes);
}

/* A heap is its sizes and then its bounds; JDK 25's total line has no bounds and is left out so. */
static int add_heap(struct jvm_code *code, struct str sizes, struct str bounds, unsigned n, struct err *err)
{
	uint64_t used, max_used, at[4];
	if (!size_after(sizes, STR(" used="), &used) || !size_after(sizes, STR(" max_used="), &max_used))
		return bad(n, "a code heap without used= and max_used=", err);
	if (take_addresses(&bounds, at) != 3 || at[0] == at[2])
		return bad(n, "bounds that are no three addresses", err);
	if (code->n_ranges == JVM_CODE_RANGES_MAX)
		return bad(n, "too many code heaps", err);
	code->ranges[code->n_ranges++] = (struct addr_range){ at[0], at[2] };
	code->size_bytes = sum(code->size_bytes, at[2] - at[0]);
	code->used_bytes = sum(code->used_bytes, used);
	code->max_used_bytes = sum(code->max_used_bytes, max_used);
	return 0;
}

int codecache_parse(struct str text, struct jvm_code *ret_code, struct err *err)
{
	struct jvm_code code = { 0 };
	struct str line, sizes = { "", 0 };

	for (unsigned n = 1; str_line(&text, &line); n++) {
		line = str_trim(line);
		if (str_starts(line, STR("CodeHeap '")) || str_starts(line, STR("CodeCache:"))) {
			sizes = line;
		} else if (str_take(&line, STR("bounds "))) {
			int rc = add_heap(&code, sizes, line, n, err);
			if (rc < 0)
				return rc;
			sizes.len = 0;
		}
	}
	if (code.n_ranges == 0)
		return err_set(err, ERR_MALFORMED, "codecache: no code heap with bounds");
	*ret_code = code;
	return 0;
}
