/* SPDX-License-Identifier: Apache-2.0 */
/* One value of JSON into one member of a struct, or MALFORMED and why. */
#include "wire/scalar.h"

#include "wire/wire.h"

static int malformed(struct err *err, const char *what)
{
	return err_set(err, ERR_MALFORMED, "%s", what);
}

static int64_t most_of(enum field_kind kind)
{
	switch ((int)kind) {
	case FIELD_U32:
		return UINT32_MAX;
	case FIELD_INT:
		return INT32_MAX;
	case FIELD_WALL:
		return WIRE_WALL_MAX;
	default:
		return WIRE_NUMBER_MAX;
	}
}

int scalar_integer(const struct js *value, int64_t least, int64_t most, int64_t *ret, struct err *err)
{
	int64_t number;
	if (!js_i64(value, &number))
		return malformed(err, js_kind(value) == JS_NUMBER ? "not a whole number in range" : "not a number");
	if (number < least || number > most)
		return malformed(err, "out of range");
	*ret = number;
	return 0;
}

static int decode_number(const struct field *field, const struct js *value, void *slot, struct err *err)
{
	int64_t number;
	int status = scalar_integer(value, field->least, most_of(field->kind), &number, err);
	if (status < 0)
		return status;
	switch ((int)field->kind) {
	case FIELD_U32:
		*(uint32_t *)slot = (uint32_t)number;
		break;
	case FIELD_INT:
		*(int *)slot = (int)number;
		break;
	case FIELD_WALL:
		((struct wall *)slot)->ms = number;
		break;
	case FIELD_COUNT:
		*(struct count *)slot = count_of((uint64_t)number);
		break;
	case FIELD_QTY:
		*(struct qty *)slot = qty_measured((uint64_t)number);
		break;
	default: /* FIELD_U64, FIELD_LEVEL */
		*(uint64_t *)slot = (uint64_t)number;
		break;
	}
	return 0;
}

int scalar_signed(const struct js *value, struct signed_qty *ret, struct err *err)
{
	int64_t number = 0;
	int status = scalar_integer(value, -WIRE_NUMBER_MAX, WIRE_NUMBER_MAX, &number, err);
	if (status == 0)
		*ret = (struct signed_qty){ number, true };
	return status;
}

int scalar_text(const struct js *value, size_t size, char *dest, struct err *err)
{
	struct str text;
	if (!js_str(value, &text))
		return malformed(err, "not a string");
	if (text.len >= size)
		return err_set(err, ERR_MALFORMED, "longer than %zu bytes", size - 1);
	str_copy(dest, size, text);
	return 0;
}

static int decode_hex(const struct js *value, uint64_t *ret, struct err *err)
{
	struct str text;
	uint64_t number;
	if (!js_str(value, &text) || text.len != 16 || !str_hex(&text, &number) || text.len)
		return malformed(err, "not 16 hex digits");
	*ret = number;
	return 0;
}

static int decode_name(const struct field *field, const struct js *value, unsigned *ret_name, struct err *err)
{
	struct str text;
	if (!js_str(value, &text))
		return malformed(err, "not a string");
	for (unsigned name = field->least; name < field->max; name++)
		if (str_eq(text, str_of(field->names[name]))) {
			*ret_name = name;
			return 0;
		}
	if (!field->lenient)
		return malformed(err, "none of its names");
	*ret_name = field->otherwise;
	return 0;
}

static int decode_owner(const struct js *value, int *ret_owner, struct err *err)
{
	struct str text;
	if (!js_str(value, &text))
		return malformed(err, "not a string");
	*ret_owner = field_find_name(NAMES_OWNERS, text, -1);
	return 0;
}

static int decode_limit(const struct js *value, struct limit *ret_limit, struct err *err)
{
	struct str text;
	int64_t number = 0;
	if (js_str(value, &text)) {
		if (!str_eq(text, STR("none")))
			return malformed(err, "neither a number nor \"none\"");
		*ret_limit = (struct limit){ .kind = LIMIT_NONE };
		return 0;
	}
	int status = scalar_integer(value, 0, WIRE_NUMBER_MAX, &number, err);
	if (status == 0)
		*ret_limit = limit_set((uint64_t)number);
	return status;
}

int scalar_decode(const struct field *field, const struct js *value, void *slot, struct err *err)
{
	bool truth;
	struct str text;
	switch ((int)field->kind) {
	case FIELD_EPOCH:
		return js_str(value, &text) && wire_epoch_parse(text, slot) ? 0 : malformed(err, "not 32 hex digits");
	case FIELD_HEX:
		return decode_hex(value, slot, err);
	case FIELD_TEXT: {
		int status = scalar_text(value, field->size, slot, err);
		return status == 0 && field->required && !*(const char *)slot ? malformed(err, "empty") : status;
	}
	case FIELD_NAME:
		return decode_name(field, value, slot, err);
	case FIELD_OWNER:
		return decode_owner(value, slot, err);
	case FIELD_LIMIT:
		return decode_limit(value, slot, err);
	case FIELD_SIGNED:
		return scalar_signed(value, slot, err);
	case FIELD_BOOL:
	case FIELD_TRISTATE:
		if (!js_bool(value, &truth))
			return malformed(err, "neither true nor false");
		if (field->kind == FIELD_BOOL)
			*(bool *)slot = truth;
		else
			*(enum tristate *)slot = truth ? TRISTATE_TRUE : TRISTATE_FALSE;
		return 0;
	default:
		return decode_number(field, value, slot, err);
	}
}
