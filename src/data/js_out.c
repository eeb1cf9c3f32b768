/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half of js.h: no library is involved. */
#include "base/esc.h"
#include "data/js.h"

#include <stdio.h>

void js_out_start(struct js_out *out, struct buf *buf, unsigned indent)
{
	*out = (struct js_out){ .buf = buf, .indent = indent };
}

static bool bit(uint64_t word, unsigned n)
{
	return (word >> n & 1) != 0;
}

static void new_line(struct js_out *out)
{
	if (!out->indent)
		return;
	(void)buf_putc(out->buf, '\n');
	for (unsigned i = 0; i < out->depth * out->indent; i++)
		(void)buf_putc(out->buf, ' ');
}

/* What goes before a member of the open collection. */
static void separate(struct js_out *out)
{
	if (bit(out->has_member, out->depth))
		(void)buf_putc(out->buf, ',');
	out->has_member |= (uint64_t)1 << out->depth;
	new_line(out);
}

/* What goes before a value. False if none may stand here. */
static bool before_value(struct js_out *out)
{
	if (out->broken)
		return false;
	if (out->after_key) {
		out->after_key = false;
		return true;
	}
	if (out->depth == 0) {
		out->broken = bit(out->has_member, 0);
		out->has_member |= 1;
		return !out->broken;
	}
	if (bit(out->in_object, out->depth)) {
		out->broken = true;
		return false;
	}
	separate(out);
	return true;
}

static void open_level(struct js_out *out, bool object)
{
	if (!before_value(out))
		return;
	if (out->depth == JS_OUT_DEPTH_MAX) {
		out->broken = true;
		return;
	}
	out->depth++;
	uint64_t mask = (uint64_t)1 << out->depth;
	out->has_member &= ~mask;
	out->in_object = object ? out->in_object | mask : out->in_object & ~mask;
	(void)buf_putc(out->buf, object ? '{' : '[');
}

static void close_level(struct js_out *out, bool object)
{
	if (out->broken || out->depth == 0 || out->after_key || bit(out->in_object, out->depth) != object) {
		out->broken = true;
		return;
	}
	bool any = bit(out->has_member, out->depth);
	out->depth--;
	if (any)
		new_line(out);
	(void)buf_putc(out->buf, object ? '}' : ']');
}

void js_out_object(struct js_out *out)
{
	open_level(out, true);
}

void js_out_object_end(struct js_out *out)
{
	close_level(out, true);
}

void js_out_array(struct js_out *out)
{
	open_level(out, false);
}

void js_out_array_end(struct js_out *out)
{
	close_level(out, false);
}

/* How many bytes at the start need no thought: most texts of ours are such a run as a whole. */
static size_t plain_len(struct str text)
{
	size_t n = 0;
	while (n < text.len && text.ptr[n] >= 0x20 && text.ptr[n] < 0x7f && text.ptr[n] != '"' && text.ptr[n] != '\\')
		n++;
	return n;
}

static void add_string(struct buf *buf, struct str text)
{
	(void)buf_putc(buf, '"');
	while (text.len) {
		size_t n_plain = plain_len(text);
		(void)buf_add(buf, (struct str){ text.ptr, n_plain });
		text = str_skip(text, n_plain);
		if (text.len == 0)
			break;
		size_t len = esc_utf8_len(text);
		unsigned char c = (unsigned char)text.ptr[0];
		if (len == 0) {
			(void)buf_puts(buf, "\\ufffd");
			len = 1;
		} else if (c == '"' || c == '\\') {
			(void)buf_putc(buf, '\\');
			(void)buf_putc(buf, (char)c);
		} else if (c == '\n') {
			(void)buf_puts(buf, "\\n");
		} else if (c == '\t') {
			(void)buf_puts(buf, "\\t");
		} else if (c < 0x20 || c == 0x7f) {
			(void)buf_printf(buf, "\\u%04x", c);
		} else if (len == 2 && c == 0xc2 && (unsigned char)text.ptr[1] < 0xa0) {
			(void)buf_printf(buf, "\\u%04x", (unsigned)(unsigned char)text.ptr[1]);
		} else {
			(void)buf_add(buf, (struct str){ text.ptr, len });
		}
		text = str_skip(text, len);
	}
	(void)buf_putc(buf, '"');
}

void js_out_key_str(struct js_out *out, struct str key)
{
	if (out->broken || out->depth == 0 || !bit(out->in_object, out->depth) || out->after_key) {
		out->broken = true;
		return;
	}
	separate(out);
	add_string(out->buf, key);
	(void)buf_puts(out->buf, out->indent ? ": " : ":");
	out->after_key = true;
}

void js_out_key(struct js_out *out, const char *key)
{
	js_out_key_str(out, str_of(key));
}

/* By hand: printf would be half of what a sample costs to write. */
static void add_number(struct js_out *out, bool negative, uint64_t value)
{
	char digits[24];
	size_t at = sizeof digits;
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (negative)
		digits[--at] = '-';
	(void)buf_add(out->buf, (struct str){ digits + at, sizeof digits - at });
}

void js_out_u64(struct js_out *out, uint64_t value)
{
	if (before_value(out))
		add_number(out, false, value);
}

void js_out_i64(struct js_out *out, int64_t value)
{
	if (before_value(out))
		add_number(out, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void js_out_bool(struct js_out *out, bool value)
{
	if (before_value(out))
		(void)buf_puts(out->buf, value ? "true" : "false");
}

void js_out_null(struct js_out *out)
{
	if (before_value(out))
		(void)buf_puts(out->buf, "null");
}

void js_out_str(struct js_out *out, struct str text)
{
	if (before_value(out))
		add_string(out->buf, text);
}

void js_out_text(struct js_out *out, const char *text)
{
	if (text)
		js_out_str(out, str_of(text));
	else
		js_out_null(out);
}

static size_t count_digits(struct str text)
{
	size_t n = 0;
	while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9')
		n++;
	return n;
}

/* RFC 8259, section 6. */
static bool is_json_number(struct str text)
{
	(void)str_take(&text, STR("-"));
	size_t n = count_digits(text);
	if (n == 0 || (n > 1 && text.ptr[0] == '0'))
		return false;
	text = str_skip(text, n);
	if (str_take(&text, STR("."))) {
		n = count_digits(text);
		if (n == 0)
			return false;
		text = str_skip(text, n);
	}
	if (str_take(&text, STR("e")) || str_take(&text, STR("E"))) {
		if (!str_take(&text, STR("+")))
			(void)str_take(&text, STR("-"));
		n = count_digits(text);
		if (n == 0)
			return false;
		text = str_skip(text, n);
	}
	return text.len == 0;
}

void js_out_number(struct js_out *out, struct str digits)
{
	if (!is_json_number(digits))
		js_out_null(out);
	else if (before_value(out))
		(void)buf_add(out->buf, digits);
}

static void number(struct js_out *out, const struct js *value)
{
	uint64_t u64;
	int64_t i64;
	double real;
	char digits[40];
	if (js_u64(value, &u64))
		js_out_u64(out, u64);
	else if (js_i64(value, &i64))
		js_out_i64(out, i64);
	else if (js_double(value, &real)) {
		int n = snprintf(digits, sizeof digits, "%.17g", real);
		js_out_number(out, (struct str){ digits, (size_t)n });
	}
}

/* How deep it goes is bounded by LIMIT_JSON_DEPTH, which js_parse() checked. */
void js_out_value(struct js_out *out, const struct js *value)
{
	struct js_iter iter = { 0 };
	const struct js *member;
	struct str text;
	bool truth;
	switch (js_kind(value)) {
	case JS_ABSENT:
	case JS_NULL:
		js_out_null(out);
		break;
	case JS_BOOL:
		js_out_bool(out, js_bool(value, &truth) && truth);
		break;
	case JS_NUMBER:
		number(out, value);
		break;
	case JS_STRING:
		js_out_str(out, js_str(value, &text) ? text : STR(""));
		break;
	case JS_ARRAY:
		js_out_array(out);
		for (size_t i = 0; i < js_len(value); i++)
			js_out_value(out, js_at(value, i));
		js_out_array_end(out);
		break;
	case JS_OBJECT:
		js_out_object(out);
		while (js_each(value, &iter, &text, &member)) {
			js_out_key_str(out, text);
			js_out_value(out, member);
		}
		js_out_object_end(out);
		break;
	}
}

int js_out_end(struct js_out *out, struct err *err)
{
	if (out->buf->state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "no memory for the JSON document");
	if (buf_failed(out->buf))
		return err_set(err, ERR_LIMIT, "the JSON document passes %zu bytes", out->buf->cap);
	if (out->broken || out->depth != 0 || out->after_key)
		return err_set(err, ERR_IO, "the JSON document was written wrong (depth %u): a bug of ours",
			       out->depth);
	return 0;
}
