/* SPDX-License-Identifier: Apache-2.0 */
/* What of a message is there to be written: known, not empty, and a number that JSON can hold. Internal to the encoder. */
#ifndef WIRE_THERE_H
#define WIRE_THERE_H

#include <stddef.h>

#include "wire/field.h"

/* Is there anything to write? A required member that is not there cannot be written. `fields`: where it stands. */
bool there_is(const struct fields *fields, const struct field *field, const void *base);

const void *there_slot(const struct field *field, const void *base);
size_t there_count(const struct field *field, const void *base); /* elements of a list, at most what it may hold */
/* The number that stands there, if it is known and can be written. */
bool there_number(const struct field *field, const void *slot, int64_t *ret);
bool there_qty(struct qty qty);
bool there_signed(struct signed_qty qty);
bool there_limit(const struct limit *limit);
/* The i-th of an object of names. */
bool there_named(const struct field *field, const void *slot, int i);

#define OWNERS_ALL (((uint64_t)1 << OWNER_COUNT) - 1)

#endif
