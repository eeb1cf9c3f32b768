/* SPDX-License-Identifier: Apache-2.0 */
/* From structs to JSON, by the tables of table.c. What is unread, empty, or no number that JSON can hold is left out. */
#include "base/esc.h"
#include "data/js.h"
#include "wire/put_finding.h"
#include "wire/there.h"
#include "wire/wire.h"

static int encode_fields(struct js_out *out, const struct fields *fields, const void *base, struct err *err);

/*
 * A text is cut to what its reader takes. Bytes that are no UTF-8 become '?': U+FFFD is three bytes for one, and a text
 * that grows on its way would be refused at its end, for ever.
 */
static void put_cut(struct js_out *out, const char *text, size_t cap)
{
	char clean[512];
	struct str rest = { text, strnlen(text, (cap < sizeof clean ? cap : sizeof clean) - 1) };
	size_t len = 0;
	while (rest.len) {
		size_t taken = esc_utf8_len(rest);
		if (taken)
			memcpy(clean + len, rest.ptr, taken);
		else
			clean[len] = '?';
		len += taken ? taken : 1;
		rest = str_skip(rest, taken ? taken : 1);
	}
	js_out_str(out, (struct str){ clean, len });
}

static void put_epoch(struct js_out *out, const struct wire_epoch *epoch)
{
	char text[WIRE_EPOCH_TEXT_CAP];
	js_out_text(out, wire_epoch_format(text, *epoch));
}

static void put_hex(struct js_out *out, uint64_t number)
{
	struct wire_epoch bytes = { 0 };
	for (int i = 0; i < 8; i++)
		bytes.bytes[i] = (uint8_t)(number >> (56 - 8 * i));
	char text[WIRE_EPOCH_TEXT_CAP];
	js_out_str(out, (struct str){ wire_epoch_format(text, bytes), 16 });
}

static void put_limit_value(struct js_out *out, const struct limit *limit)
{
	if (limit->kind == LIMIT_SET)
		js_out_u64(out, limit->bytes);
	else
		js_out_text(out, "none");
}

static void put_named(struct js_out *out, const struct field *field, const void *slot)
{
	js_out_object(out);
	for (int i = 0; i < field_names(field->of); i++) {
		if (!there_named(field, slot, i))
			continue;
		js_out_key(out, field_name(field->of, i));
		if (field->kind == FIELD_QTYS)
			js_out_u64(out, ((const struct qty *)slot)[i].bytes);
		else if (field->kind == FIELD_LIMITS)
			put_limit_value(out, &((const struct limit *)slot)[i]);
		else
			js_out_i64(out, ((const struct signed_qty *)slot)[i].bytes);
	}
	js_out_object_end(out);
}

static void put_owners(struct js_out *out, uint64_t owners)
{
	js_out_array(out);
	for (int i = 0; i < OWNER_COUNT; i++)
		if (owners >> i & 1)
			js_out_text(out, owner_table[i].name);
	js_out_array_end(out);
}

static void put_state(struct js_out *out, const struct fields *fields, const void *base, enum qty_state state)
{
	js_out_array(out);
	for (size_t row = 0; row < fields->n; row++) {
		const struct field *field = &fields->rows[row];
		const struct qty *qty = there_slot(field, base);
		if (field->kind == FIELD_QTY && qty->state == state && there_qty(*qty))
			js_out_str(out, field->key);
		for (int i = 0; field->kind == FIELD_QTYS && i < field_names(field->of); i++)
			if (qty[i].state == state && there_qty(qty[i]))
				js_out_text(out, field_name(field->of, i));
	}
	js_out_array_end(out);
}

static void put_texts(struct js_out *out, const struct field *field, const void *base)
{
	const char *text = there_slot(field, base);
	js_out_array(out);
	for (size_t i = 0; i < there_count(field, base); i++)
		put_cut(out, text + i * field->size, field->size);
	js_out_array_end(out);
}

static bool is_label_repeated(const struct wire_label *labels, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (strncmp(labels[before].key, labels[i].key, sizeof labels[i].key) == 0)
			return true;
	return false;
}

/* A name that stands twice would make the whole hello malformed: the first one counts. So would a name of no UTF-8. */
static void put_labels(struct js_out *out, const struct field *field, const void *base)
{
	const struct wire_label *labels = there_slot(field, base);
	js_out_object(out);
	for (size_t i = 0; i < there_count(field, base); i++) {
		struct str key = { labels[i].key, strnlen(labels[i].key, sizeof labels[i].key) }, rest = key;
		while (esc_utf8_len(rest))
			rest = str_skip(rest, esc_utf8_len(rest));
		if (rest.len || is_label_repeated(labels, i))
			continue;
		js_out_key_str(out, key);
		put_cut(out, labels[i].value, sizeof labels[i].value);
	}
	js_out_object_end(out);
}

static int encode_list(struct js_out *out, const struct field *field, const void *base, struct err *err)
{
	const char *element = there_slot(field, base);
	js_out_array(out);
	for (size_t i = 0; i < there_count(field, base); i++) {
		js_out_object(out);
		int status = encode_fields(out, field->fields, element + i * field->size, err);
		if (status < 0)
			return status;
		js_out_object_end(out);
	}
	js_out_array_end(out);
	return 0;
}

/* The body was written elsewhere: it is read, so that no frame of ours can be broken by it. */
static int encode_body(struct js_out *out, struct str body, struct err *err)
{
	auto_js struct js *root = NULL;
	struct js_caps caps = { WIRE_FRAME_MAX, WIRE_DEPTH_MAX - 1, WIRE_VALUES_MAX };
	int status = js_parse_within(body, &caps, &root, err);
	if (status < 0)
		return status;
	if (js_kind(root) != JS_OBJECT)
		return err_set(err, ERR_MALFORMED, "not an object");
	js_out_value(out, root);
	return 0;
}

static int encode_value(struct js_out *out, const struct fields *fields, const struct field *field, const void *base,
			struct err *err)
{
	const void *slot = there_slot(field, base);
	int64_t number = 0;
	int status = 0;
	switch ((int)field->kind) {
	case FIELD_SIGNED:
		js_out_i64(out, ((const struct signed_qty *)slot)->bytes);
		break;
	case FIELD_EPOCH:
		put_epoch(out, slot);
		break;
	case FIELD_HEX:
		put_hex(out, *(const uint64_t *)slot);
		break;
	case FIELD_TEXT:
		put_cut(out, slot, field->size);
		break;
	case FIELD_NAME:
		js_out_text(out, field->names[*(const unsigned *)slot]);
		break;
	case FIELD_OWNER:
		js_out_text(out, owner_table[*(const int *)slot].name);
		break;
	case FIELD_BOOL:
		js_out_bool(out, *(const bool *)slot);
		break;
	case FIELD_TRISTATE:
		js_out_bool(out, *(const enum tristate *)slot == TRISTATE_TRUE);
		break;
	case FIELD_LIMIT:
		put_limit_value(out, slot);
		break;
	case FIELD_OBJECT:
		js_out_object(out);
		status = encode_fields(out, field->fields, slot, err);
		js_out_object_end(out);
		break;
	case FIELD_LIST:
		status = encode_list(out, field, base, err);
		break;
	case FIELD_TEXTS:
		put_texts(out, field, base);
		break;
	case FIELD_LABELS:
		put_labels(out, field, base);
		break;
	case FIELD_QTYS:
	case FIELD_SIGNEDS:
	case FIELD_LIMITS:
		put_named(out, field, slot);
		break;
	case FIELD_OWNERS:
		put_owners(out, *(const uint64_t *)slot);
		break;
	case FIELD_STATE:
		put_state(out, fields, base, (enum qty_state)field->least);
		break;
	case FIELD_FINDING:
		put_finding(out, *(const struct finding *const *)slot);
		break;
	case FIELD_BODY:
		status = encode_body(out, *(const struct str *)slot, err);
		break;
	default:
		(void)there_number(field, slot, &number);
		js_out_i64(out, number);
		break;
	}
	return status;
}

static int encode_fields(struct js_out *out, const struct fields *fields, const void *base, struct err *err)
{
	for (size_t row = 0; row < fields->n; row++) {
		const struct field *field = &fields->rows[row];
		int status = 0;
		if (there_is(fields, field, base)) {
			js_out_key_str(out, field->key);
			status = encode_value(out, fields, field, base, err);
		} else if (field->required) {
			status = err_set(err, ERR_LIMIT, "missing, or out of range");
		}
		if (status < 0) {
			err_wrap(err, "%s", field->key.ptr);
			return status;
		}
	}
	return 0;
}

static int encode_type(enum wire_type type, const void *content, struct buf *frame, struct err *err)
{
	struct js_out out;
	struct buf before = *frame;
	js_out_start(&out, frame, 0);
	js_out_object(&out);
	js_out_key(&out, "type");
	js_out_text(&out, wire_type_names[type]);
	int status = check_whole(type, content, err);
	if (status == 0)
		status = encode_fields(&out, type_table[type].fields, content, err);
	js_out_object_end(&out);
	if (status == 0)
		status = js_out_end(&out, err);
	if (status == 0 && frame->len - before.len > WIRE_FRAME_MAX)
		status = err_set(err, ERR_LIMIT, "a frame of %zu bytes: at most %d may be sent",
				 frame->len - before.len, WIRE_FRAME_MAX);
	if (status < 0) {
		frame->len = before.len;
		frame->state = before.state;
		if (frame->ptr)
			frame->ptr[frame->len] = '\0';
		err_wrap(err, "%s", wire_type_names[type]);
	}
	return status;
}

int wire_encode(const struct wire_message *message, struct buf *frame, struct err *err)
{
	if ((unsigned)message->type >= WIRE_TYPE_COUNT)
		return err_set(err, ERR_LIMIT, "type: no such message");
	/* All members of the union begin where it does. */
	return encode_type(message->type, &message->hello, frame, err);
}

int wire_encode_sample(const struct wire_sample *sample, struct buf *out, struct err *err)
{
	return encode_type(WIRE_SAMPLE, sample, out, err);
}
