/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are a list of "key value" lines, into the fields of a struct, by a table. Of use to the parsers of
 * this folder only. A key that is not in the table is ignored, whatever stands behind it.
 */
#ifndef KERNEL_KEYS_H
#define KERNEL_KEYS_H

#include "bankfull/quantity.h"
#include "base/err.h"
#include "base/str.h"

enum key_unit {
	KEY_BYTES, /* "anon 4096" into a struct qty */
	KEY_KB,    /* "Rss:     4 kB" into a struct qty, as bytes */
	KEY_COUNT, /* "pgfault 17" into a struct count */
};

struct key {
	struct str name; /* without the colon */
	size_t offset;   /* of the field in the struct */
	enum key_unit unit;
};

#define KEY(text, type, field, unit)                                               \
	{                                                                          \
		{ (text), sizeof(text) - 1 }, offsetof(struct type, field), (unit) \
	}

/*
 * Fill `dest` from all of `text`. At most 64 keys. A line is a key, then `separator` (a blank or a colon), blanks
 * and the value. MALFORMED (with the line's number) for a known key twice or a value that does not fit its unit;
 * `dest` may be half filled then, so give a scratch copy.
 */
int keys_parse(struct str text, const struct key *keys, size_t n_keys, char separator, void *dest, struct err *err)
	__attribute__((warn_unused_result));

/* What every text file of the kernel fulfils: it ends in a newline (or is empty) and has no NUL. MALFORMED else. */
int keys_check_text(struct str text, struct err *err) __attribute__((warn_unused_result));

/* "123 kB" after blanks, the whole of `text`, as bytes; false if it is anything else or passes u64. */
bool keys_kb(struct str text, uint64_t *ret_bytes);

#endif
