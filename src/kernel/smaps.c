/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it is fast: the kernel prints the same lines in the same order for every mapping, each a 16 column
 * key, a number in 8 columns and " kB". The lines of the first mapping are remembered (slots); each later mapping is
 * first compared with them, a line being three loads, and only what differs (a number of more than 8 digits,
 * THPeligible on old kernels, VmFlags, or a text from somewhere else) goes the general way, line by line. Both ways
 * accept the same texts: a slot takes only what the general way would have read alike.
 */
#include "kernel/smaps.h"

#include <endian.h>
#include <stddef.h>

#include "base/limits.h"
#include "kernel/keys.h"
#include "kernel/vma.h"

enum { SLOTS_MAX = 32, KEY_COLUMNS = 16, LINE_KB_LEN = 28, LINE_BARE_LEN = 25 };

/* A line as the first mapping had it. */
struct slot {
	uint64_t key[2];    /* the 16 columns of the key */
	uint32_t tail_mask; /* of the 4 bytes after the number: " kB\n", or "\n" and whatever comes next */
	uint32_t tail;
	uint32_t len;
	uint32_t seen; /* bit of the field */
	size_t offset; /* of the field in struct lines */
};

/* A mapping being read. `unused` takes the numbers that nobody wants. */
struct lines {
	struct vma vma;
	uint64_t unused;
	uint32_t seen;
};

struct field {
	struct str key; /* with the colon */
	size_t offset;
	uint32_t have;
};

#define FIELD(text, member, have_bit)                                                                \
	{                                                                                            \
		{ (text ":"), sizeof(text ":") - 1 }, offsetof(struct lines, vma.member), (have_bit) \
	}

/* In the order of fs/proc/task_mmu.c: __show_smap(). Pss_Anon stands there for rollups; a capture may hold it. */
static const struct field fields[] = {
	FIELD("Rss", rss_bytes, 0),
	FIELD("Pss", pss_bytes, 0),
	FIELD("Pss_Anon", pss_anon_bytes, VMA_HAVE_PSS_ANON),
	FIELD("Anonymous", anonymous_bytes, 0),
	FIELD("LazyFree", lazyfree_bytes, VMA_HAVE_LAZYFREE),
	FIELD("AnonHugePages", anon_huge_bytes, 0),
	FIELD("Shared_Hugetlb", shared_hugetlb_bytes, 0),
	FIELD("Private_Hugetlb", private_hugetlb_bytes, 0),
	FIELD("Swap", swap_bytes, 0),
	FIELD("Locked", locked_bytes, 0),
};
enum { N_FIELDS = sizeof fields / sizeof fields[0], SEEN_RSS = 1, SEEN_VMFLAGS = 1 << N_FIELDS };

struct parse {
	const char *at, *end;
	struct vma_builder build;
	struct slot slots[SLOTS_MAX];
	size_t n_slots;
	uint32_t first_seen; /* fields of the first mapping */
	bool learned;
};

static uint64_t load64(const char *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return le64toh(value);
}

static uint32_t load32(const char *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof value);
	return le32toh(value);
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Blanks, then digits up to the last of eight columns. All eight at once; the first column is the lowest byte. */
static bool columns_u64(uint64_t columns, uint64_t *ret_value)
{
	uint64_t digits = columns ^ EACH_BYTE('0'); /* a blank becomes 0x10 */
	uint64_t blank = digits & EACH_BYTE(0x10);
	uint64_t blanks = (blank >> 4) * 0xff; /* whole bytes */
	digits ^= blank;
	bool ok = (((digits + EACH_BYTE(0x7f - 9)) | digits) & EACH_BYTE(0x80)) == 0 && /* each 0 to 9 */
		  (digits & blanks) == 0 &&       /* blanks and not their neighbours */
		  (blanks & (blanks + 1)) == 0 && /* at the front only */
		  blanks >> 56 == 0;
	digits = digits * 10 + (digits >> 8); /* tens and ones side by side, then hundreds, then tens of thousands */
	digits = (((digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
		  (((digits >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
		 32;
	*ret_value = digits & UINT32_MAX;
	return ok;
}

/* The lines that look like the first mapping's from slot `i` on. Returns the first slot that is not met. */
static size_t take_slots(struct parse *p, struct lines *lines, size_t i)
{
	const char *at = p->at;
	for (; i < p->n_slots && p->end - at >= LINE_KB_LEN; i++) {
		const struct slot *slot = &p->slots[i];
		uint64_t kb;
		if ((load64(at) ^ slot->key[0]) | (load64(at + 8) ^ slot->key[1]) |
		    ((load32(at + 24) ^ slot->tail) & slot->tail_mask))
			break;
		if ((lines->seen & slot->seen) || !columns_u64(load64(at + KEY_COLUMNS), &kb))
			break;
		*(uint64_t *)((char *)lines + slot->offset) = kb * 1024;
		lines->seen |= slot->seen;
		at += slot->len;
	}
	p->at = at;
	return i;
}

/* Remember a line of the first mapping if later ones can be told by its columns. */
static void learn(struct parse *p, struct str line, size_t offset, uint32_t seen)
{
	uint64_t ignored;
	bool kb = line.len == LINE_KB_LEN && memcmp(line.ptr + 24, " kB\n", 4) == 0;
	bool bare = line.len == LINE_BARE_LEN && seen == 0;
	if (p->learned || p->n_slots == SLOTS_MAX || (!kb && !bare))
		return;
	/* A number that is wider than its columns would lose its head. */
	char before = line.ptr[KEY_COLUMNS - 1];
	if ((before != ' ' && before != ':') || !columns_u64(load64(line.ptr + KEY_COLUMNS), &ignored))
		return;
	struct slot *slot = &p->slots[p->n_slots++];
	*slot = (struct slot){ .key = { load64(line.ptr), load64(line.ptr + 8) },
			       .len = (uint32_t)line.len,
			       .seen = seen,
			       .offset = offset };
	slot->tail_mask = kb ? UINT32_MAX : 0xff;
	slot->tail = kb ? load32(line.ptr + 24) : '\n';
}

static const struct field *find_field(struct str line, size_t *ret_index)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (str_starts(line, fields[i].key)) {
			*ret_index = i;
			return &fields[i];
		}
	return NULL;
}

static void take_flags(struct str flags, struct vma *vma)
{
	static const struct {
		char name[3];
		uint32_t flag;
	} known[] = { { "nh", VMA_NOHUGEPAGE }, { "hg", VMA_HUGEPAGE },  { "ht", VMA_HUGETLB },
		      { "lo", VMA_LOCKED },     { "nr", VMA_NORESERVE }, { "ac", VMA_ACCOUNT } };
	for (size_t i = 0; i + 2 <= flags.len; i++) {
		/* Two letters each; on words of another length the next blank sets it right. */
		while (i < flags.len && flags.ptr[i] == ' ')
			i++;
		size_t from = i;
		while (i < flags.len && flags.ptr[i] != ' ')
			i++;
		if (i - from != 2)
			continue;
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
			if (flags.ptr[from] == known[k].name[0] && flags.ptr[from + 1] == known[k].name[1])
				vma->flags |= known[k].flag;
	}
}

/* Any line of a mapping but its header, with its LF. */
static int general_line(struct parse *p, struct str line, struct lines *lines, struct err *err)
{
	struct str text = { line.ptr, line.len - 1 };
	struct str flags = text;
	size_t index = 0;
	bool is_flags = str_take(&flags, STR("VmFlags:"));
	const struct field *field = is_flags ? NULL : find_field(text, &index);
	if (!is_flags && !field) {
		if (str_index(text, ':') == text.len || str_index(text, '\0') < text.len)
			return err_set(err, ERR_MALFORMED, "a line without a key, or with a NUL byte");
		learn(p, line, offsetof(struct lines, unused), 0);
		return 0;
	}
	uint32_t bit = is_flags ? SEEN_VMFLAGS : UINT32_C(1) << index;
	if (lines->seen & bit)
		return err_set(err, ERR_MALFORMED, "'%.*s' twice", (int)str_index(text, ':'), text.ptr);
	lines->seen |= bit;
	if (is_flags) {
		if (str_index(text, '\0') < text.len)
			return err_set(err, ERR_MALFORMED, "'VmFlags' holds a NUL byte");
		take_flags(flags, &lines->vma);
		return 0;
	}
	if (!keys_kb(str_skip(text, field->key.len), (uint64_t *)((char *)lines + field->offset)))
		return err_set(err, ERR_MALFORMED, "no number of kB after '%s'", field->key.ptr);
	learn(p, line, field->offset, bit);
	return 0;
}

/* No part can be larger than the whole, so no later sum over mappings can pass u64. */
static int check_sizes(const struct lines *lines, struct err *err)
{
	uint64_t size = lines->vma.end - lines->vma.start;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (*(const uint64_t *)((const char *)lines + fields[i].offset) > size)
			return err_set(err, ERR_MALFORMED, "'%s' above the size of the mapping", fields[i].key.ptr);
	if (!(lines->seen & SEEN_RSS))
		return err_set(err, ERR_MALFORMED, "no line 'Rss'");
	return 0;
}

static struct str next_line(const struct parse *p)
{
	const char *end = memchr(p->at, '\n', (size_t)(p->end - p->at)); /* there: the text ends in one */
	return (struct str){ p->at, (size_t)(end - p->at) + 1 };
}

static int take_mapping(struct parse *p, struct lines *lines, struct err *err)
{
	struct str line = next_line(p);
	int r = vma_header(&p->build, line, &lines->vma, err);
	if (r < 0)
		return r;
	lines->seen = 0;
	p->at += line.len;
	size_t slot = 0;
	for (;;) {
		slot = take_slots(p, lines, slot);
		if (p->at == p->end || vma_is_header(*p->at))
			break;
		line = next_line(p);
		r = general_line(p, line, lines, err);
		if (r < 0)
			return r;
		p->at += line.len;
		slot++;
	}
	p->learned = true;
	return check_sizes(lines, err);
}

static uint32_t have_of(uint32_t seen)
{
	uint32_t have = seen & SEEN_VMFLAGS ? VMA_HAVE_VMFLAGS : 0;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (seen & UINT32_C(1) << i)
			have |= fields[i].have;
	return have;
}

static int take_all(struct parse *p, struct err *err)
{
	struct lines lines = { 0 };
	uint32_t seen = 0;
	while (p->at != p->end) {
		int r = take_mapping(p, &lines, err);
		if (r == 0)
			r = vma_add(&p->build, &lines.vma, err);
		if (r < 0)
			return r;
		if (p->build.set.n == 1)
			p->first_seen = lines.seen;
		seen |= lines.seen;
	}
	/* One kernel prints the same keys for all mappings, so a last one with fewer was cut. */
	if (p->build.set.n && (lines.seen & p->first_seen) != p->first_seen)
		return err_set(err, ERR_MALFORMED, "the text is cut");
	p->build.set.have = have_of(seen);
	return 0;
}

/* A mapping is 600 to 700 bytes; too much room is never touched. */
enum { SMAPS_BYTES_EACH = 560 };

static void parse_done(struct parse *p)
{
	vma_builder_done(&p->build);
}

int smaps_parse(struct str text, struct vma_set *ret, struct err *err)
{
	if (text.len > LIMIT_SMAPS)
		return err_set(err, ERR_LIMIT, "larger than %d bytes", LIMIT_SMAPS);
	if (text.len && text.ptr[text.len - 1] != '\n')
		return err_set(err, ERR_MALFORMED, "the last line is cut");
	auto_(parse_done) struct parse p = { .at = text.ptr,
					     .end = text.ptr + text.len,
					     .build.names.cap = VMA_NAMES_CAP };
	int r = vma_builder_room(&p.build, text.len, SMAPS_BYTES_EACH, err);
	if (r < 0)
		return r;
	r = take_all(&p, err);
	if (r < 0) {
		err_wrap(err, "mapping %zu", p.build.set.n + 1);
		return r;
	}
	*ret = vma_builder_take(&p.build);
	return 0;
}
