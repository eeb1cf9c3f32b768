/* SPDX-License-Identifier: Apache-2.0 */
/* One value of JSON into one member of a struct: MALFORMED with what it is not. Internal to the decoder. */
#ifndef WIRE_SCALAR_H
#define WIRE_SCALAR_H

#include "base/err.h"
#include "data/js.h"
#include "wire/field.h"

/* Any kind that is one number or one word, into `slot`. */
int scalar_decode(const struct field *field, const struct js *value, void *slot, struct err *err)
	__attribute__((warn_unused_result));

int scalar_integer(const struct js *value, int64_t least, int64_t most, int64_t *ret, struct err *err)
	__attribute__((warn_unused_result));
int scalar_signed(const struct js *value, struct signed_qty *ret, struct err *err) __attribute__((warn_unused_result));
/* Into dest[size] with its NUL. */
int scalar_text(const struct js *value, size_t size, char *dest, struct err *err) __attribute__((warn_unused_result));

#endif
