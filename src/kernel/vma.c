/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/vma.h"

#include "base/esc.h"
#include "base/limits.h"
#include "kernel/keys.h"
#include "kernel/smaps.h"

/* A smaps has thousands of twelve digits: a table, and no look at the end of the line, which ends in LF. */
static const uint8_t hex_value[256] = {
	['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

static bool take_hex(const char **at, uint64_t *ret_value)
{
	const char *p = *at;
	uint64_t value = 0;
	int digit;
	while ((digit = hex_value[(unsigned char)*p]) != 0) {
		value = value << 4 | (uint64_t)(digit - 1);
		p++;
	}
	size_t n = (size_t)(p - *at);
	if (n == 0 || n > 16)
		return false;
	*at = p;
	*ret_value = value;
	return true;
}

static bool take_decimal(const char **at, uint64_t *ret_value)
{
	const char *p = *at;
	uint64_t value = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	if (p == *at)
		return false;
	*at = p;
	*ret_value = value;
	return true;
}

static bool take_char(const char **at, char byte)
{
	if (**at != byte)
		return false;
	++*at;
	return true;
}

/* One of two characters: the permission or what stands for its absence. */
static bool take_flag(const char **at, char yes, char no, uint32_t flag, uint32_t *flags)
{
	if (take_char(at, yes))
		*flags |= flag;
	else if (!take_char(at, no))
		return false;
	return true;
}

static bool take_numbers(const char **at, struct vma *vma)
{
	uint64_t device;
	return take_hex(at, &vma->start) && take_char(at, '-') && take_hex(at, &vma->end) && take_char(at, ' ') &&
	       take_flag(at, 'r', '-', VMA_READ, &vma->flags) && take_flag(at, 'w', '-', VMA_WRITE, &vma->flags) &&
	       take_flag(at, 'x', '-', VMA_EXEC, &vma->flags) && take_flag(at, 's', 'p', VMA_SHARED, &vma->flags) &&
	       take_char(at, ' ') && take_hex(at, &vma->offset) && take_char(at, ' ') && take_hex(at, &device) &&
	       take_char(at, ':') && take_hex(at, &device) && take_char(at, ' ') && take_decimal(at, &vma->inode) &&
	       (**at == ' ' || **at == '\n');
}

static bool is_shmem(struct str name, const struct vma *vma)
{
	/* Private and not deleted, /dev/zero is the old way to say anonymous. */
	if (str_starts(name, STR("/dev/zero")))
		return (vma->flags & VMA_SHARED) != 0 || (vma->flags & VMA_DELETED) != 0;
	return str_starts(name, STR("/memfd:")) || str_starts(name, STR("/dev/shm/")) || str_starts(name, STR("/SYSV"));
}

static enum vma_kind kind_of(struct str name, const struct vma *vma)
{
	if (name.len == 0)
		return VMA_ANON;
	if (name.ptr[0] == '[') {
		if (str_starts(name, STR("[anon:")))
			return VMA_ANON;
		if (str_starts(name, STR("[anon_shmem:")))
			return VMA_SHMEM;
		if (str_eq(name, STR("[heap]")))
			return VMA_BRK;
		/* "[stack:TID]" until Linux 4.5 */
		return str_starts(name, STR("[stack")) ? VMA_STACK : VMA_SPECIAL;
	}
	if (is_shmem(name, vma))
		return VMA_SHMEM;
	if (str_eq(name, STR("/dev/zero")) || str_starts(name, STR("/anon_hugepage")))
		return VMA_ANON;
	return name.ptr[0] == '/' ? VMA_FILE : VMA_SPECIAL; /* anon_inode:..., socket:... */
}

static bool has_control(struct str text)
{
	unsigned found = 0;
	for (size_t i = 0; i < text.len; i++)
		found |= (unsigned char)(text.ptr[i] - 0x20) > 0x7e - 0x20;
	return found != 0;
}

static int keep_name(struct vma_builder *build, struct str name, struct vma *vma, struct err *err)
{
	if (name.len == 0)
		return 0;
	/* Files come as four or five mappings in a row. */
	if (!build->last_name.ptr || !str_eq(name, build->last_name)) {
		if (name.len > VMA_NAME_MAX || str_index(name, '\0') < name.len)
			return err_set(err, ERR_MALFORMED, "name too long, or holds a NUL byte");
		size_t at = build->names.len;
		if (!(has_control(name) ? esc_add(&build->names, name) : buf_add(&build->names, name)))
			return err_set(err, build->names.state == BUF_FULL ? ERR_LIMIT : ERR_NOMEM,
				       "names of mappings");
		if (build->names.len - at > VMA_NAME_MAX)
			return err_set(err, ERR_MALFORMED, "name too long");
		build->last_name = name;
		build->name_at = (uint32_t)at;
		build->name_len = (uint32_t)(build->names.len - at);
	}
	vma->name_at = build->name_at;
	vma->name_len = build->name_len;
	return 0;
}

int vma_header(struct vma_builder *build, struct str line, struct vma *ret, struct err *err)
{
	const char *at = line.ptr;
	*ret = (struct vma){ 0 };
	if (!take_numbers(&at, ret))
		return err_set(err, ERR_MALFORMED, "not the header of a mapping");
	/* The gate page of x86-64 ends below 2^64 as well, so every mapping has a size. */
	if (ret->start >= ret->end || (ret->start | ret->end) & 0xfff)
		return err_set(err, ERR_MALFORMED, "not a range of whole pages");
	if (ret->start < build->end)
		return err_set(err, ERR_MALFORMED, "overlaps the mapping before: they changed while being read");
	while (*at == ' ')
		at++;
	struct str name = { at, (size_t)(line.ptr + line.len - 1 - at) };
	if (str_ends(name, STR(" (deleted)")))
		ret->flags |= VMA_DELETED;
	ret->kind = kind_of(name, ret);
	build->end = ret->end;
	return keep_name(build, name, ret, err);
}

void vma_builder_done(struct vma_builder *build)
{
	vma_set_done(&build->set);
	buf_done(&build->names);
}

static int grow(struct vma_builder *build, size_t room, struct err *err)
{
	struct vma *items = realloc(build->set.items, room * sizeof *items);
	if (!items)
		return err_set(err, ERR_NOMEM, "no memory for %zu mappings", room);
	build->set.items = items;
	build->set.room = room;
	return 0;
}

int vma_builder_room(struct vma_builder *build, size_t len, size_t each, struct err *err)
{
	size_t room = len / each + 16;
	return grow(build, room < LIMIT_VMAS ? room : LIMIT_VMAS, err);
}

int vma_add(struct vma_builder *build, const struct vma *vma, struct err *err)
{
	struct vma_set *set = &build->set;
	if (set->n == LIMIT_VMAS)
		return err_set(err, ERR_LIMIT, "more than %d mappings", LIMIT_VMAS);
	if (set->n == set->room) {
		int r = grow(build, set->room * 2 + 16, err);
		if (r < 0)
			return r;
	}
	set->items[set->n++] = *vma;
	return 0;
}

struct vma_set vma_builder_take(struct vma_builder *build)
{
	struct vma_set set = build->set;
	set.names = build->names.ptr;
	set.names_len = build->names.len;
	set.names_room = build->names.room;
	*build = (struct vma_builder){ .names.cap = build->names.cap };
	return set;
}

struct str vma_name(const struct vma_set *set, const struct vma *vma)
{
	return vma->name_len ? (struct str){ set->names + vma->name_at, vma->name_len } : STR("");
}

/* A line of maps without a name is 50 bytes. */
enum { MAPS_BYTES_EACH = 64 };

int maps_parse(struct str text, struct vma_set *ret, struct err *err)
{
	if (text.len > LIMIT_SMAPS)
		return err_set(err, ERR_LIMIT, "larger than %d bytes", LIMIT_SMAPS);
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	struct vma_builder build = { .names.cap = VMA_NAMES_CAP };
	r = vma_builder_room(&build, text.len, MAPS_BYTES_EACH, err);
	struct str line;
	while (r == 0 && str_line(&text, &line)) {
		struct vma vma;
		line.len++; /* with its LF, which is there: the text ends in one */
		r = vma_header(&build, line, &vma, err);
		if (r == 0)
			r = vma_add(&build, &vma, err);
		if (r < 0)
			err_wrap(err, "mapping %zu", build.set.n + 1);
	}
	if (r == 0)
		*ret = vma_builder_take(&build);
	else
		vma_builder_done(&build);
	return r;
}
