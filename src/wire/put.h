/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a JSON object whose values may be unknown: null then. For what people and their programs read; on the
 * wire an unknown member is left out.
 */
#ifndef WIRE_PUT_H
#define WIRE_PUT_H

#include "bankfull/books.h"
#include "bankfull/context.h"
#include "bankfull/ledger.h"
#include "bankfull/quantity.h"
#include "data/js.h"

void put_qty(struct js_out *out, const char *key, struct qty qty);
void put_count(struct js_out *out, const char *key, struct count count);
void put_signed(struct js_out *out, const char *key, struct signed_qty qty);
void put_limit(struct js_out *out, const char *key, struct limit limit); /* null where none is set, too */
void put_text(struct js_out *out, const char *key, const char *text);    /* null for NULL and for "" */

void put_tristate(struct js_out *out, const char *key, enum tristate value);
void put_context(struct js_out *out, const char *key, const struct engine_context *context);

/* Sizes of the engine's facts, as members of an object that is open. */
void put_fact_sizes(struct js_out *out, const struct engine_facts *facts);

/* "owners": the names of a set, a bit an owner. */
void put_owner_names(struct js_out *out, uint64_t owners);

/* An array of `n` texts that stand `stride` bytes apart. */
void put_strings(struct js_out *out, const char *key, const char *first, size_t stride, size_t n);
/* The same of texts that stand elsewhere. */
void put_texts(struct js_out *out, const char *key, const char *const *texts, size_t n);

#endif
