/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `struct str`: a view of bytes that somebody else owns. It never owns, need not end in NUL and
 * may hold NUL bytes. The token readers below are the only way our parsers walk over bytes:
 * none of them reads past ptr + len.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr;
	size_t len;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })

static inline struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_starts(struct str text, struct str prefix)
{
	return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

static inline struct str str_skip(struct str text, size_t n)
{
	return n <= text.len ? (struct str){ text.ptr + n, text.len - n } : (struct str){ text.ptr + text.len, 0 };
}

bool str_ends(struct str text, struct str suffix);
bool str_has(struct str text, struct str part);

/* Position of the first `byte`, or text.len. */
size_t str_index(struct str text, char byte);

/* Position of the first `part`, or text.len. */
size_t str_find(struct str text, struct str part);

/* Blanks, tabs, CR and LF off both ends. */
struct str str_trim(struct str text);

/* Take the next line off `*rest` (without its LF; a CR before it is kept). False at the end. */
bool str_line(struct str *rest, struct str *ret_line);

/* Take the text before `separator` off `*rest` (all of it if there is none). False if `*rest` is empty. */
bool str_split(struct str *rest, char separator, struct str *ret_part);

/* Take `prefix` off `*rest` if it stands there. */
bool str_take(struct str *rest, struct str prefix);

/* Skip blanks and tabs at the start of `*rest`. */
void str_blanks(struct str *rest);

/* Take a decimal or hexadecimal (no 0x) u64 off `*rest`. False, and nothing taken, without a digit or past u64. */
bool str_u64(struct str *rest, uint64_t *ret_value);
bool str_hex(struct str *rest, uint64_t *ret_value);

/* The whole of `text` is one decimal u64. */
bool str_is_u64(struct str text, uint64_t *ret_value);

/* Copy into dest[cap] with a NUL, cut to fit. NUL bytes in the text end the copy. */
void str_copy(char *dest, size_t cap, struct str text);

#endif
