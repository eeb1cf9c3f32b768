/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/region.h"

#include <stdlib.h>

#include "base/limits.h"

/* A new last item, or NULL: no memory. */
static struct jvm_region *append_item(struct jvm_regions *regions)
{
	if (!regions->items || regions->n == regions->room) {
		size_t room = regions->room ? 2 * regions->room : 256;
		struct jvm_region *items = realloc(regions->items, room * sizeof *items);
		if (!items)
			return NULL;
		regions->items = items;
		regions->room = room;
	}
	return &regions->items[regions->n++];
}

int region_add(struct jvm_regions *regions, struct addr_range range, struct str category, struct err *err)
{
	if (range.start >= range.end)
		return 0;
	if (regions->n >= LIMIT_VMAS)
		return err_set(err, ERR_LIMIT, "more than %d address ranges", LIMIT_VMAS);
	struct jvm_region *region = append_item(regions);
	if (!region)
		return err_set(err, ERR_NOMEM, "no memory for %zu address ranges", regions->n + 1);
	*region = (struct jvm_region){ .range = range };
	str_copy(region->category, sizeof region->category, category);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct jvm_region *left = a, *right = b;
	if (left->range.start != right->range.start)
		return left->range.start < right->range.start ? -1 : 1;
	if (left->range.end != right->range.end)
		return left->range.end > right->range.end ? -1 : 1; /* the outer one first */
	return strcmp(left->category, right->category);
}

/* Appends to an ordered list, joined to the last where it continues it. */
static int append(struct jvm_regions *regions, uint64_t start, uint64_t end, const struct jvm_region *of,
		  struct err *err)
{
	struct jvm_region *last = regions->n ? &regions->items[regions->n - 1] : NULL;
	if (start >= end)
		return 0;
	if (last && last->range.end == start && strcmp(last->category, of->category) == 0) {
		last->range.end = end;
		return 0;
	}
	return region_add(regions, (struct addr_range){ start, end }, str_of(of->category), err);
}

/*
 * One sweep with a stack of the ranges that are open at the current address: what starts last is on top and owns the
 * address until it ends or another starts. The stack lives in the list that was swept already, so it needs no memory.
 */
static int sweep(struct jvm_regions *from, struct jvm_regions *to, struct err *err)
{
	size_t depth = 0;
	uint64_t at = 0;
	int rc = 0;

	for (size_t i = 0; i <= from->n && rc == 0; i++) {
		bool end = i == from->n;
		struct jvm_region next = { 0 };
		if (!end)
			next = from->items[i];
		while (depth > 0 && rc == 0) {
			const struct jvm_region *top = &from->items[depth - 1];
			uint64_t until = end || top->range.end <= next.range.start ? top->range.end : next.range.start;
			rc = append(to, at, until, top, err);
			at = until > at ? until : at;
			if (!end && top->range.end > next.range.start)
				break;
			depth--;
		}
		if (!end) {
			from->items[depth++] = next;
			at = next.range.start;
		}
	}
	return rc;
}

int region_settle(struct jvm_regions *regions, struct err *err)
{
	struct jvm_regions settled = { 0 };
	if (regions->n == 0)
		return 0;
	qsort(regions->items, regions->n, sizeof regions->items[0], compare);
	int rc = sweep(regions, &settled, err);
	if (rc < 0) {
		jvm_regions_done(&settled);
		return rc;
	}
	jvm_regions_done(regions);
	*regions = settled;
	return 0;
}
