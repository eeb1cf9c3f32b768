/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/mallocinfo.h"

/* name="number" anywhere in the tag. */
static bool attribute(struct str tag, struct str name, uint64_t *ret_value)
{
	struct str rest = str_skip(tag, str_find(tag, name) + name.len);
	return str_has(tag, name) && str_u64(&rest, ret_value) && str_starts(rest, STR("\""));
}

int mallocinfo_parse(struct str text, struct jvm_malloc *ret_malloc, struct err *err)
{
	struct jvm_malloc info = { 0 };
	struct qty fast = { 0 }, rest = { 0 };
	bool in_heap = false, started = false, ended = false;
	struct str line;

	for (unsigned n = 1; str_line(&text, &line); n++) {
		struct qty *target = NULL;
		line = str_trim(line);
		if (str_starts(line, STR("<malloc ")))
			started = true;
		else if (str_starts(line, STR("<heap ")))
			in_heap = true;
		else if (str_starts(line, STR("</heap>")))
			in_heap = false;
		else if (str_starts(line, STR("</malloc>")))
			ended = true;
		else if (!in_heap && str_starts(line, STR("<total type=\"fast\"")))
			target = &fast;
		else if (!in_heap && str_starts(line, STR("<total type=\"rest\"")))
			target = &rest;
		else if (!in_heap && str_starts(line, STR("<total type=\"mmap\"")))
			target = &info.mmapped_bytes;
		else if (!in_heap && str_starts(line, STR("<system type=\"current\"")))
			target = &info.system_bytes;
		uint64_t bytes;
		if (target && !attribute(line, STR(" size=\""), &bytes))
			return err_set(err, ERR_MALFORMED, "malloc_info: line %u: no size", n);
		if (target)
			*target = qty_measured(bytes);
	}
	if (!started)
		return err_set(err, ERR_UNSUPPORTED, "malloc_info: the answer holds none");
	info.free_bytes = qty_add(fast, rest);
	if (!ended || !qty_known(info.free_bytes) || !qty_known(info.system_bytes))
		return err_set(err, ERR_MALFORMED, "malloc_info: it ends before its totals");
	info.in_use_bytes = qty_sub(info.system_bytes, info.free_bytes);
	*ret_malloc = info;
	return 0;
}
