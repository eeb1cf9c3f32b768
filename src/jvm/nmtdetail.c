/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/nmtdetail.h"

#include "jvm/region.h"
#include "jvm/take.h"

/* The reservation that the committed lines below it belong to. */
struct reservation {
	struct addr_range range;
	struct str category; /* len 0: none yet */
	bool whole;          /* its committed parts are not told, or tell less than is true */
	bool parted;         /* one of them was told */
};

static struct str category_of(struct str rest)
{
	struct str category = rest;
	category.len = str_find(rest, STR(" from"));
	return str_trim(category);
}

/*
 * A heap of ZGC commits pages of a file and maps them, three times on JDK 17: its reservations have no committed parts,
 * and all that is resident in them is heap.
 */
static int end_reservation(struct reservation *reservation, struct jvm_regions *regions, struct err *err)
{
	if (reservation->parted || !str_eq(reservation->category, STR("Java Heap")))
		return 0;
	reservation->parted = true;
	return region_add(regions, reservation->range, reservation->category, err);
}

static int parse_line(struct str line, struct reservation *reservation, struct jvm_regions *regions, struct err *err)
{
	uint64_t at[4], bytes;
	struct str rest = str_trim(line);
	struct addr_range range;

	if (!str_starts(rest, STR("[0x")))
		return 0;
	/* Call stacks start with one address: "[0x00007fe1c2ae46cf]JNI_CreateJavaVM+0x4f". */
	if (!str_has(rest, STR(" - ")) || str_find(rest, STR(" - ")) > str_index(rest, ']'))
		return 0;
	if (take_addresses(&rest, at) != 2)
		return err_set(err, ERR_MALFORMED, "a broken address range");
	range = (struct addr_range){ at[0], at[1] };
	str_blanks(&rest);
	bool reserved = str_take(&rest, STR("reserved "));
	bool committed = str_take(&rest, STR("and committed ")) || str_take(&rest, STR("committed "));
	if ((!reserved && !committed) || !str_u64(&rest, &bytes))
		return err_set(err, ERR_MALFORMED, "an address range that is neither reserved nor committed");
	if (reserved) {
		int rc = end_reservation(reservation, regions, err);
		if (rc < 0)
			return rc;
		if (!str_take(&rest, STR(" for ")))
			return err_set(err, ERR_MALFORMED, "a reserved range of no category");
		reservation->range = range;
		reservation->parted = false;
		reservation->category = category_of(rest);
		/*
		 * Of a stack the committed part is what was resident when the JVM looked: pages touched since are in
		 * the reservation only, and nobody else's pages can be.
		 */
		reservation->whole = committed || str_eq(reservation->category, STR("Thread Stack"));
		if (!reservation->whole)
			return 0;
	} else if (reservation->category.len == 0 || reservation->whole) {
		return 0;
	} else if (range.start < reservation->range.start || range.end > reservation->range.end) {
		return err_set(err, ERR_MALFORMED, "a committed range outside its reservation");
	}
	reservation->parted = true;
	return region_add(regions, range, reservation->category, err);
}

static int parse_lines(struct str text, struct jvm_regions *regions, struct err *err)
{
	struct reservation reservation = { 0 };
	struct str line;
	bool in_map = false;

	for (unsigned n = 1; str_line(&text, &line); n++) {
		if (str_starts(line, STR("Virtual memory map:"))) {
			in_map = true;
			continue;
		}
		/* Offsets in ZGC's file, then the call stacks of every malloc. */
		if (in_map && (str_starts(line, STR("Memory file details")) || str_starts(line, STR("Details:"))))
			break;
		if (!in_map)
			continue;
		int rc = parse_line(line, &reservation, regions, err);
		if (rc < 0) {
			err_wrap(err, "nmt detail: line %u", n);
			return rc;
		}
	}
	if (!in_map)
		return err_set(err, ERR_UNSUPPORTED,
			       "nmt detail: no memory map: start the JVM with -XX:NativeMemoryTracking=detail");
	int rc = end_reservation(&reservation, regions, err);
	return rc < 0 ? rc : region_settle(regions, err);
}

int nmtdetail_parse(struct str text, struct jvm_regions *ret_regions, struct err *err)
{
	struct jvm_regions regions = { 0 };
	int rc = parse_lines(text, &regions, err);
	if (rc < 0) {
		jvm_regions_done(&regions);
		return rc;
	}
	*ret_regions = regions;
	return 0;
}
