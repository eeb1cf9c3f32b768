/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header line of a mapping ("start-end rwxp offset dev inode   name") and the set being built. Of use to
 * the parsers of smaps and maps only.
 */
#ifndef KERNEL_VMA_H
#define KERNEL_VMA_H

#include "bankfull/process.h"
#include "base/buf.h"
#include "base/err.h"

/* `{ .names.cap = VMA_NAMES_CAP }` is an empty one; vma_builder_done() unless vma_builder_take() came first. */
struct vma_builder {
	struct vma_set set;
	struct buf names;     /* becomes set.names */
	uint64_t end;         /* of the mapping before */
	struct str last_name; /* in the text, as last stored at name_at */
	uint32_t name_at, name_len;
};

enum {
	/* PATH_MAX, " (deleted)", and each byte escaped to four. */
	VMA_NAME_MAX = 4 * 4096 + 256,
	/* LIMIT_SMAPS of nothing but control bytes. */
	VMA_NAMES_CAP = 256 * 1024 * 1024,
};

void vma_builder_done(struct vma_builder *build);

/* Room for about as many mappings as `len` bytes of text have, `each` bytes a mapping. */
int vma_builder_room(struct vma_builder *build, size_t len, size_t each, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Parse the line (with its LF) into *ret, names stored and escaped, sizes 0. MALFORMED if it is no header, or does not
 * follow the mapping before.
 */
int vma_header(struct vma_builder *build, struct str line, struct vma *ret, struct err *err)
	__attribute__((warn_unused_result));

int vma_add(struct vma_builder *build, const struct vma *vma, struct err *err) __attribute__((warn_unused_result));

/* Hand the set over. */
struct vma_set vma_builder_take(struct vma_builder *build);

/* A key starts with a capital, an address with a lower-case hex digit. */
static inline bool vma_is_header(char first)
{
	return (first >= '0' && first <= '9') || (first >= 'a' && first <= 'f');
}

#endif
