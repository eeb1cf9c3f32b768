/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/sysmap.h"

#include "jvm/region.h"
#include "jvm/take.h"

/* Counted in blank-separated words of a row; the header may move it. */
enum { INFO_COLUMN = 7 };

/* The short tags of memMapPrinter.cpp whose mapping to NMT's names is not the name itself. */
static const struct {
	struct str tag;
	struct str category;
} tags[] = {
	{ { "JAVAHEAP", 8 }, { "Java Heap", 9 } },
	{ { "CLASS", 5 }, { "Class", 5 } },
	{ { "META", 4 }, { "Metaspace", 9 } },
	{ { "CODE", 4 }, { "Code", 4 } },
	{ { "CDS", 3 }, { "Shared class space", 18 } },
	{ { "GC", 2 }, { "GC", 2 } },
	{ { "CARDTBL", 7 }, { "GC", 2 } },
	{ { "INTERN", 6 }, { "Internal", 8 } },
	{ { "POLL", 4 }, { "Safepoint", 9 } },
	{ { "JDK", 3 }, { "Other", 5 } },
	{ { "STACK", 5 }, { "Thread Stack", 12 } },
	{ { "TEST", 4 }, { "Test", 4 } },
};

/* "CODE,GC" is one mapping of two: the first tag is taken. "STACK-4411-Attach-Listener" is a stack. */
static struct str category_of(struct str info)
{
	struct str tag = { info.ptr, str_index(info, ',') };
	if (str_starts(tag, STR("STACK-")))
		tag.len = 5;
	for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
		if (str_eq(tag, tags[i].tag))
			return tags[i].category;
	return tag;
}

static bool take_word(struct str *rest, struct str *ret_word)
{
	str_blanks(rest);
	if (rest->len == 0)
		return false;
	size_t len = 0;
	while (len < rest->len && rest->ptr[len] != ' ' && rest->ptr[len] != '\t')
		len++;
	*ret_word = (struct str){ rest->ptr, len };
	*rest = str_skip(*rest, len);
	return true;
}

/* "from to vsize prot rss hugetlb pgsz notes info file": a row has from and to in one word. */
static unsigned info_column(struct str header)
{
	struct str word;
	for (unsigned i = 0; take_word(&header, &word); i++)
		if (i > 0 && str_eq(word, STR("info")))
			return i - 1;
	return INFO_COLUMN;
}

static int parse_row(struct str line, unsigned column, struct jvm_regions *regions, struct err *err)
{
	struct addr_range range;
	struct str word;

	if (!take_address(&line, &range.start) || !str_take(&line, STR("-")) || !take_address(&line, &range.end) ||
	    range.end < range.start)
		return err_set(err, ERR_MALFORMED, "a broken address range");
	for (unsigned i = 1; take_word(&line, &word); i++) {
		if (i < column)
			continue;
		if (str_eq(word, STR("-")))
			return 0;
		return region_add(regions, range, category_of(word), err);
	}
	return err_set(err, ERR_MALFORMED, "a row that ends before its tag");
}

static int parse_rows(struct str text, struct jvm_regions *regions, struct err *err)
{
	unsigned column = INFO_COLUMN;
	bool any = false;
	struct str line;

	for (unsigned n = 1; str_line(&text, &line); n++) {
		line = str_trim(line);
		if (str_starts(line, STR("from ")) && str_has(line, STR(" info"))) {
			column = info_column(line);
			continue;
		}
		if (!str_starts(line, STR("0x")))
			continue;
		any = true;
		int rc = parse_row(line, column, regions, err);
		if (rc < 0) {
			err_wrap(err, "System.map: line %u", n);
			return rc;
		}
	}
	if (!any)
		return err_set(err, ERR_UNSUPPORTED, "System.map: there is no map in the answer");
	return region_settle(regions, err);
}

int sysmap_parse(struct str text, struct jvm_regions *ret_regions, struct err *err)
{
	struct jvm_regions regions = { 0 };
	int rc = parse_rows(text, &regions, err);
	if (rc < 0) {
		jvm_regions_done(&regions);
		return rc;
	}
	*ret_regions = regions;
	return 0;
}
