/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in a heap block of exactly their size: the address sanitizer sees a parser that reads one too far. */
#ifndef BANKFULL_TESTS_TIGHT_H
#define BANKFULL_TESTS_TIGHT_H

#include "base/str.h"

struct str tight_of(struct str text);    /* a copy; free with tight_free() */
struct str tight_read(const char *path); /* a file; ends the test if it cannot be read */
void tight_free(struct str text);

/*
 * Call `parse` on every prefix of `text`, shortest first, each in its own block (long texts: about `at_most` of
 * them, evenly spread, and all of the last 200).
 */
void tight_prefixes(struct str text, size_t at_most, void (*parse)(struct str prefix));

#endif
