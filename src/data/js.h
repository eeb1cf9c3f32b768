/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON both ways. js.c is the one owner of jansson; no type of it shows here.
 *
 * Reading builds a tree, which costs up to 79 bytes a byte of input: so text size, depth (LIMIT_JSON_DEPTH)
 * and the number of values (JS_VALUES_MAX) are checked before jansson sees a byte. Duplicate keys, bad UTF-8,
 * \u0000, trailing bytes and integers past i64 are MALFORMED. Values are borrowed from the root and live until
 * js_free(root). Every getter takes NULL and a value of another kind: it answers "not there".
 *
 * Writing is a stream over a buf: deterministic, keys in the order written, u64 in full, no floats.
 */
#ifndef DATA_JS_H
#define DATA_JS_H

#include "base/buf.h"
#include "base/err.h"

enum { JS_VALUES_MAX = 131072 };

struct js; /* one value */

enum js_kind { JS_ABSENT = 0, JS_NULL, JS_BOOL, JS_NUMBER, JS_STRING, JS_ARRAY, JS_OBJECT };

/* `cap`: most bytes of text (LIMIT error beyond). `*ret_root` is owned: js_free(). */
int js_parse(struct str text, size_t cap, struct js **ret_root, struct err *err) __attribute__((warn_unused_result));

/* The same within bounds of the caller's own; those of depth and values count where they are lower than ours. */
struct js_caps {
	size_t bytes;
	unsigned depth, n_values;
};
int js_parse_within(struct str text, const struct js_caps *caps, struct js **ret_root, struct err *err)
	__attribute__((warn_unused_result));
void js_free(struct js *root);
static inline void js_freep(struct js **root)
{
	js_free(*root);
}
#define auto_js auto_(js_freep)

enum js_kind js_kind(const struct js *value);
const struct js *js_get(const struct js *object, const char *key);     /* NULL if absent */
const struct js *js_path(const struct js *object, const char *dotted); /* "metrics.heapUsed" */
const struct js *js_at(const struct js *array, size_t index);
size_t js_len(const struct js *value);              /* of an array or object, else 0 */
bool js_u64(const struct js *value, uint64_t *ret); /* whole numbers >= 0; 1.5E8 counts */
bool js_i64(const struct js *value, int64_t *ret);
bool js_double(const struct js *value, double *ret);
bool js_bool(const struct js *value, bool *ret);
bool js_str(const struct js *value, struct str *ret); /* valid UTF-8 without NUL */

/* The text of a member; "" where there is none. */
struct str js_text(const struct js *object, const char *key);
/* The object of a list whose member "name" says so; NULL: none. */
const struct js *js_named(const struct js *list, struct str name);

/* Members in the document's order. Start with `struct js_iter iter = { 0 }`. */
struct js_iter {
	void *at;
	bool begun;
};
bool js_each(const struct js *object, struct js_iter *iter, struct str *ret_key, const struct js **ret_value);

/*
 * The writer. Misuse (a key in an array, a missing key, an unbalanced end, a depth past JS_OUT_DEPTH_MAX) and a
 * failed buf are sticky and come out of js_out_end(), so a chain of puts needs one check.
 */
enum { JS_OUT_DEPTH_MAX = 32 };

struct js_out {
	struct buf *buf;
	unsigned indent; /* spaces a level; 0: one line */
	unsigned depth;
	uint64_t in_object; /* one bit a level */
	uint64_t has_member;
	bool after_key, broken;
};

void js_out_start(struct js_out *out, struct buf *buf, unsigned indent);
void js_out_object(struct js_out *out);
void js_out_object_end(struct js_out *out);
void js_out_array(struct js_out *out);
void js_out_array_end(struct js_out *out);
void js_out_key(struct js_out *out, const char *key);
void js_out_key_str(struct js_out *out, struct str key);
void js_out_u64(struct js_out *out, uint64_t value);
void js_out_i64(struct js_out *out, int64_t value);
void js_out_bool(struct js_out *out, bool value);
void js_out_null(struct js_out *out);
void js_out_text(struct js_out *out, const char *text); /* NULL writes null */
/* Bytes that are no UTF-8 become U+FFFD; C0, DEL and C1 are written as \u00XX, so a terminal sees none. */
void js_out_str(struct js_out *out, struct str text);
/* A value that was read, with all below it, as it was written but for white space and the spelling of doubles. */
void js_out_value(struct js_out *out, const struct js *value);
/* A number in its decimal digits as the source wrote it (checked to be a JSON number; else null). */
void js_out_number(struct js_out *out, struct str digits);

int js_out_end(struct js_out *out, struct err *err) __attribute__((warn_unused_result));

#endif
