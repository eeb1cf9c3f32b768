/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/nmt.h"

#include "jvm/take.h"

/* Where the reader stands inside a category: two lines of class metadata have sub-lines of equal words. */
enum section { SECTION_NONE, SECTION_METADATA, SECTION_CLASS_SPACE };

struct reader {
	struct jvm_nmt nmt;
	struct nmt_category *category;
	enum section section;
	unsigned line;
};

static int bad_line(const struct reader *reader, const char *what, struct err *err)
{
	return err_set(err, ERR_MALFORMED, "nmt: line %u: %s", reader->line, what);
}

/* "reserved=N, committed=N": both or an error. */
static int take_pair(const struct reader *reader, struct str *rest, struct qty *ret_reserved, struct qty *ret_committed,
		     struct err *err)
{
	uint64_t reserved, committed;
	if (!str_take(rest, STR("reserved=")) || !take_size(rest, &reserved))
		return bad_line(reader, "no number after 'reserved='", err);
	if (!str_take(rest, STR(", committed=")) || !take_size(rest, &committed))
		return bad_line(reader, "no number after 'committed='", err);
	*ret_reserved = qty_measured(reserved);
	*ret_committed = qty_measured(committed);
	return 0;
}

/* "-                 Java Heap (reserved=N, committed=N)" */
static int parse_category(struct reader *reader, struct str line, struct err *err)
{
	struct nmt_category category = { 0 };
	size_t at = str_find(line, STR(" (reserved="));
	struct str name = str_trim((struct str){ line.ptr, at });
	struct str rest = str_skip(line, at + 2);

	if (name.len == 0 || name.len >= sizeof category.name)
		return bad_line(reader, "a category with no name or one too long", err);
	str_copy(category.name, sizeof category.name, name);
	int rc = take_pair(reader, &rest, &category.reserved_bytes, &category.committed_bytes, err);
	if (rc < 0)
		return rc;
	if (nmt_find(&reader->nmt, category.name))
		return bad_line(reader, "a category stands twice", err);
	if (reader->nmt.n_categories == NMT_CATEGORIES_MAX)
		return bad_line(reader, "too many categories", err);
	reader->category = &reader->nmt.categories[reader->nmt.n_categories++];
	*reader->category = category;
	reader->section = SECTION_NONE;
	return 0;
}

/* "    reserved=N, committed=N" and "    used=N" below "  Metadata:" or "  Class space:" */
static int parse_section(struct reader *reader, struct str rest, struct err *err)
{
	struct jvm_nmt *nmt = &reader->nmt;
	bool class_space = reader->section == SECTION_CLASS_SPACE;
	uint64_t used;

	if (str_starts(rest, STR("reserved=")))
		return take_pair(reader, &rest,
				 class_space ? &nmt->class_space_reserved_bytes : &nmt->metadata_reserved_bytes,
				 class_space ? &nmt->class_space_committed_bytes : &nmt->metadata_committed_bytes, err);
	if (str_take(&rest, STR("used="))) {
		if (!take_size(&rest, &used))
			return bad_line(reader, "no number after 'used='", err);
		*(class_space ? &nmt->class_space_used_bytes : &nmt->metadata_used_bytes) = qty_measured(used);
	}
	return 0;
}

/* "(malloc=N tag=GC #4)" and its like, without the first parenthesis. */
static int parse_part(struct reader *reader, struct str rest, struct err *err)
{
	struct jvm_nmt *nmt = &reader->nmt;
	struct nmt_category *category = reader->category;
	uint64_t number;

	str_blanks(&rest);
	bool arena = str_starts(rest, STR("arena="));
	if (str_take(&rest, arena ? STR("arena=") : STR("malloc="))) {
		if (!take_size(&rest, &number))
			return bad_line(reader, "no number after 'malloc=' or 'arena='", err);
		*(arena ? &category->arena_bytes : &category->malloc_bytes) = qty_measured(number);
	} else if (str_take(&rest, STR("mmap: "))) {
		return take_pair(reader, &rest, &category->mmap_reserved_bytes, &category->mmap_committed_bytes, err);
	} else if (str_take(&rest, STR("stack: "))) {
		return take_pair(reader, &rest, &nmt->stack_reserved_bytes, &nmt->stack_committed_bytes, err);
	} else if (str_take(&rest, STR("classes #"))) {
		if (!str_u64(&rest, &number))
			return bad_line(reader, "no number after 'classes #'", err);
		nmt->n_classes = count_of(number);
	} else if (str_take(&rest, STR("threads #")) || str_take(&rest, STR("thread #"))) {
		if (!str_u64(&rest, &number))
			return bad_line(reader, "no number after 'threads #'", err);
		nmt->n_threads = count_of(number);
	} else if (str_starts(rest, STR("Metadata:"))) {
		reader->section = SECTION_METADATA;
	} else if (str_starts(rest, STR("Class space:"))) {
		reader->section = SECTION_CLASS_SPACE;
	} else if (reader->section != SECTION_NONE) {
		return parse_section(reader, rest, err);
	}
	return 0;
}

static int parse_line(struct reader *reader, struct str line, struct err *err)
{
	struct str rest = str_trim(line);
	struct jvm_nmt *nmt = &reader->nmt;

	if (str_take(&rest, STR("Total: "))) {
		if (qty_known(nmt->total_reserved_bytes))
			return bad_line(reader, "a second total", err);
		return take_pair(reader, &rest, &nmt->total_reserved_bytes, &nmt->total_committed_bytes, err);
	}
	if (str_starts(rest, STR("-")) && str_has(rest, STR(" (reserved=")))
		return str_ends(rest, STR(")")) ? parse_category(reader, str_skip(rest, 1), err)
						: bad_line(reader, "the text ends inside a category", err);
	if (!reader->category || !str_take(&rest, STR("(")))
		return 0;
	if (!str_ends(rest, STR(")")))
		return bad_line(reader, "the text ends inside a category", err);
	return parse_part(reader, rest, err);
}

int nmt_parse(struct str text, struct jvm_nmt *ret_nmt, struct err *err)
{
	struct reader reader = { 0 };
	struct str line;

	if (str_has(text, STR("racking is not enabled")))
		return err_set(err, ERR_UNSUPPORTED,
			       "native memory tracking is off: start the JVM with -XX:NativeMemoryTracking=summary");
	if (str_has(text, STR("racking has been shutdown")))
		return err_set(err, ERR_UNSUPPORTED,
			       "native memory tracking was shut down; only a restart brings it back");
	while (str_line(&text, &line)) {
		reader.line++;
		/* `detail` starts with the summary. */
		if (str_starts(line, STR("Virtual memory map:")))
			break;
		int rc = parse_line(&reader, line, err);
		if (rc < 0)
			return rc;
	}
	if (!qty_known(reader.nmt.total_committed_bytes))
		return err_set(err, ERR_MALFORMED, "nmt: there is no total");
	if (reader.nmt.n_categories == 0)
		return err_set(err, ERR_MALFORMED, "nmt: there is no category");
	*ret_nmt = reader.nmt;
	return 0;
}

const struct nmt_category *nmt_find(const struct jvm_nmt *nmt, const char *name)
{
	for (size_t i = 0; i < nmt->n_categories; i++)
		if (strcmp(nmt->categories[i].name, name) == 0)
			return &nmt->categories[i];
	return NULL;
}
