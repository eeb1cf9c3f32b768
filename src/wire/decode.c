/* SPDX-License-Identifier: Apache-2.0 */
/* From JSON to structs, by the tables of table.c. Strict about what it knows, blind to what it does not. */
#include <errno.h>

#include "base/esc.h"
#include "data/js.h"
#include "wire/field.h"
#include "wire/scalar.h"
#include "wire/wire.h"

struct decoder {
	struct wire_policy *policy; /* where members that no policy may have are counted */
	struct err *err;
};

static int decode_fields(const struct decoder *decoder, const struct fields *fields, const struct js *object,
			 void *base);

static int malformed(const struct decoder *decoder, const char *what)
{
	return err_set(decoder->err, ERR_MALFORMED, "%s", what);
}

static void *slot_of(const struct field *field, void *base)
{
	return (char *)base + field->at;
}

static int decode_named(const struct decoder *decoder, const struct field *field, const struct js *value, void *slot)
{
	if (js_kind(value) != JS_OBJECT)
		return malformed(decoder, "not an object");
	struct js_iter iter = { 0 };
	struct str key;
	const struct js *member;
	int name = -1;
	while (js_each(value, &iter, &key, &member)) {
		int64_t number;
		int status, found = field_find_name(field->of, key, name);
		if (found < 0)
			continue;
		name = found;
		if (field->kind == FIELD_LIMITS) {
			static const struct field limit = { .kind = FIELD_LIMIT };
			status = scalar_decode(&limit, member, &((struct limit *)slot)[name], decoder->err);
		} else if (field->kind == FIELD_SIGNEDS) {
			status = scalar_signed(member, &((struct signed_qty *)slot)[name], decoder->err);
		} else {
			status = scalar_integer(member, 0, WIRE_NUMBER_MAX, &number, decoder->err);
			if (status == 0)
				((struct qty *)slot)[name] = qty_measured((uint64_t)number);
		}
		if (status < 0) {
			err_wrap(decoder->err, "%s", field_name(field->of, name));
			return status;
		}
	}
	return 0;
}

/* Owners of a later version are left out. */
static int decode_owners(const struct decoder *decoder, const struct js *value, uint64_t *ret_owners)
{
	uint64_t owners = 0;
	int name = -1;
	if (js_kind(value) != JS_ARRAY)
		return malformed(decoder, "not an array");
	for (size_t i = 0; i < js_len(value); i++) {
		struct str text;
		if (!js_str(js_at(value, i), &text))
			return malformed(decoder, "not a string");
		int found = field_find_name(NAMES_OWNERS, text, name);
		if (found >= 0)
			owners |= (uint64_t)1 << (name = found);
	}
	*ret_owners = owners;
	return 0;
}

/* One quantity of this object, by its name: it is known, but not measured. */
static void set_state(const struct fields *fields, void *base, struct str name, enum qty_state state)
{
	for (size_t row = 0; row < fields->n; row++) {
		const struct field *field = &fields->rows[row];
		struct qty *qty = slot_of(field, base);
		int i = -1;
		if (field->kind == FIELD_QTY && str_eq(field->key, name))
			i = 0;
		else if (field->kind == FIELD_QTYS)
			i = field_find_name(field->of, name, -1);
		if (i >= 0 && qty_known(qty[i]))
			qty[i].state = state;
	}
}

static int decode_states(const struct decoder *decoder, const struct fields *fields, const struct js *object,
			 void *base)
{
	for (size_t row = 0; row < fields->n; row++) {
		const struct field *field = &fields->rows[row];
		const struct js *names = field->kind == FIELD_STATE ? js_get(object, field->key.ptr) : NULL;
		for (size_t i = 0; i < js_len(names); i++) {
			struct str name;
			if (!js_str(js_at(names, i), &name)) {
				(void)malformed(decoder, "not a string");
				err_wrap(decoder->err, "%s", field->key.ptr);
				return -EINVAL;
			}
			set_state(fields, base, name, (enum qty_state)field->least);
		}
	}
	return 0;
}

static size_t *count_at(const struct field *field, void *base)
{
	return (size_t *)(void *)((char *)base + field->count_at);
}

/* A policy of a later collector may hold more than we take: what is past it is refused, and said. */
static int check_list(const struct decoder *decoder, const struct field *field, const struct js *value, size_t *ret_n)
{
	size_t n = js_len(value);
	if (js_kind(value) != JS_ARRAY)
		return malformed(decoder, "not an array");
	if (n < field->least)
		return malformed(decoder, "empty");
	if (n > field->max && field->fields && field->fields->closed) {
		decoder->policy->n_refused += n - field->max;
		if (!decoder->policy->refused[0])
			str_copy(decoder->policy->refused, sizeof decoder->policy->refused, field->key);
		n = field->max;
	}
	if (n > field->max)
		return err_set(decoder->err, ERR_MALFORMED, "more than %u", (unsigned)field->max);
	*ret_n = n;
	return 0;
}

static int decode_list(const struct decoder *decoder, const struct field *field, const struct js *value, void *base)
{
	size_t n = 0;
	char *element = slot_of(field, base);
	int status = check_list(decoder, field, value, &n);
	for (size_t i = 0; status == 0 && i < n; i++, element += field->size) {
		status = field->kind == FIELD_TEXTS ? scalar_text(js_at(value, i), field->size, element, decoder->err)
						    : decode_fields(decoder, field->fields, js_at(value, i), element);
		if (status < 0)
			err_wrap(decoder->err, "%zu", i);
	}
	if (status == 0)
		*count_at(field, base) = n;
	return status;
}

static int decode_labels(const struct decoder *decoder, const struct field *field, const struct js *value, void *base)
{
	if (js_kind(value) != JS_OBJECT)
		return malformed(decoder, "not an object");
	if (js_len(value) > field->max)
		return err_set(decoder->err, ERR_MALFORMED, "more than %u", (unsigned)field->max);
	struct wire_label *label = slot_of(field, base);
	struct js_iter iter = { 0 };
	struct str key;
	const struct js *member;
	while (js_each(value, &iter, &key, &member)) {
		if (key.len >= sizeof label->key)
			return malformed(decoder, "a name that is too long");
		str_copy(label->key, sizeof label->key, key);
		int status = scalar_text(member, sizeof label->value, label->value, decoder->err);
		if (status < 0)
			return status;
		label++;
	}
	*count_at(field, base) = js_len(value);
	return 0;
}

static int decode_value(const struct decoder *decoder, const struct field *field, const struct js *value, void *base)
{
	void *slot = slot_of(field, base);
	switch ((int)field->kind) {
	case FIELD_OBJECT:
		if (field->flagged)
			*(bool *)((char *)base + field->count_at) = true;
		return decode_fields(decoder, field->fields, value, slot);
	case FIELD_LIST:
	case FIELD_TEXTS:
		return decode_list(decoder, field, value, base);
	case FIELD_LABELS:
		return decode_labels(decoder, field, value, base);
	case FIELD_QTYS:
	case FIELD_SIGNEDS:
	case FIELD_LIMITS:
		return decode_named(decoder, field, value, slot);
	case FIELD_OWNERS:
		return decode_owners(decoder, value, slot);
	case FIELD_STATE: /* when all quantities are read: decode_states() */
		return js_kind(value) == JS_ARRAY ? 0 : malformed(decoder, "not an array");
	case FIELD_FINDING:
	case FIELD_BODY:
		return js_kind(value) == JS_OBJECT ? 0 : malformed(decoder, "not an object");
	default:
		return scalar_decode(field, value, slot, decoder->err);
	}
}

/* The row of this key, searched from `*at`, where the next one is when members come in our order. */
static const struct field *find_field(const struct fields *fields, struct str key, size_t *at)
{
	for (size_t i = 0; i < fields->n; i++) {
		size_t row = *at + i < fields->n ? *at + i : *at + i - fields->n;
		if (str_eq(fields->rows[row].key, key)) {
			*at = row + 1 < fields->n ? row + 1 : 0;
			return &fields->rows[row];
		}
	}
	return NULL;
}

static void count_refused(struct wire_policy *policy, struct str key)
{
	if (policy->n_refused++ == 0)
		(void)esc_copy(policy->refused, sizeof policy->refused, key);
}

static int decode_fields(const struct decoder *decoder, const struct fields *fields, const struct js *object,
			 void *base)
{
	if (js_kind(object) != JS_OBJECT)
		return malformed(decoder, "not an object");
	struct js_iter iter = { 0 };
	struct str key;
	const struct js *value;
	uint64_t seen = 0;
	size_t at = 0;
	while (js_each(object, &iter, &key, &value)) {
		const struct field *field = find_field(fields, key, &at);
		if (!field) {
			if (fields->closed)
				count_refused(decoder->policy, key);
			continue;
		}
		seen |= (uint64_t)1 << (field - fields->rows);
		int status = decode_value(decoder, field, value, base);
		if (status < 0) {
			err_wrap(decoder->err, "%s", field->key.ptr);
			return status;
		}
	}
	for (size_t row = 0; row < fields->n; row++)
		if (fields->rows[row].required && !(seen >> row & 1))
			return err_set(decoder->err, ERR_MALFORMED, "%s: missing", fields->rows[row].key.ptr);
	return decode_states(decoder, fields, object, base);
}

/* Nobody, where no owner is named. */
static void set_nobody(struct wire_message *message)
{
	if (message->type == WIRE_SAMPLE)
		message->sample.forecast.owner = -1;
	else if (message->type == WIRE_FINDING)
		message->finding.owner = -1;
	else if (message->type == WIRE_POSTMORTEM)
		message->postmortem.owner = -1;
}

static int find_type(const struct js *root, enum wire_type *ret_type, enum wire_error_code *ret_code, struct err *err)
{
	struct str text;
	*ret_code = WIRE_ERR_MALFORMED;
	if (js_kind(root) != JS_OBJECT)
		return err_set(err, ERR_MALFORMED, "a frame that is no JSON object");
	if (!js_str(js_get(root, "type"), &text))
		return err_set(err, ERR_MALFORMED, "type: missing, or not a string");
	for (int type = 0; type < WIRE_TYPE_COUNT; type++)
		if (str_eq(text, str_of(wire_type_names[type]))) {
			*ret_type = (enum wire_type)type;
			return 0;
		}
	char shown[32];
	*ret_code = WIRE_ERR_TYPE;
	return err_set(err, ERR_MALFORMED, "type: '%s' is none of ours", esc_copy(shown, sizeof shown, text));
}

int wire_decode(struct str frame, struct wire_message *ret_message, enum wire_error_code *ret_code, struct err *err)
{
	auto_js struct js *root = NULL;
	static const struct js_caps caps = { WIRE_FRAME_MAX, WIRE_DEPTH_MAX, WIRE_VALUES_MAX };
	int status = js_parse_within(frame, &caps, &root, err);
	if (status < 0) {
		*ret_code = frame.len > WIRE_FRAME_MAX ? WIRE_ERR_SIZE
			    : status == -ENOMEM        ? WIRE_ERR_STORE
						       : WIRE_ERR_MALFORMED;
		return status;
	}
	struct wire_message message;
	status = find_type(root, &message.type, ret_code, err);
	if (status < 0)
		return status;
	/* Only the type's own struct is cleared and copied: a welcome is ten times a sample. */
	size_t size = type_table[message.type].size;
	memset(&message.hello, 0, size);
	set_nobody(&message);
	struct decoder decoder = { &message.welcome.policy, err };
	status = decode_fields(&decoder, type_table[message.type].fields, root, &message.hello);
	if (status == 0)
		status = check_whole(message.type, &message.hello, err);
	if (status < 0) {
		err_wrap(err, "%s", wire_type_names[message.type]);
		return status;
	}
	ret_message->type = message.type;
	memcpy(&ret_message->hello, &message.hello, size);
	return 0;
}
