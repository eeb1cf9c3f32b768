/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/there.h"

const void *there_slot(const struct field *field, const void *base)
{
	return (const char *)base + field->at;
}

size_t there_count(const struct field *field, const void *base)
{
	size_t n = *(const size_t *)(const void *)((const char *)base + field->count_at);
	return n < field->max ? n : field->max;
}

static bool fits(uint64_t number)
{
	return number <= (uint64_t)WIRE_NUMBER_MAX;
}

/* The number that stands there, if it is known and can be written. */
bool there_number(const struct field *field, const void *slot, int64_t *ret)
{
	uint64_t number = 0;
	bool known = true;
	switch ((int)field->kind) {
	case FIELD_U64:
	case FIELD_LEVEL:
		number = *(const uint64_t *)slot;
		break;
	case FIELD_U32:
		number = *(const uint32_t *)slot;
		break;
	case FIELD_INT:
		known = *(const int *)slot >= 0;
		number = (uint64_t) * (const int *)slot;
		break;
	case FIELD_WALL:
		known = ((const struct wall *)slot)->ms >= 0 && ((const struct wall *)slot)->ms <= WIRE_WALL_MAX;
		number = (uint64_t)((const struct wall *)slot)->ms;
		break;
	case FIELD_COUNT:
		known = ((const struct count *)slot)->known;
		number = ((const struct count *)slot)->n;
		break;
	case FIELD_QTY:
	default:
		known = qty_known(*(const struct qty *)slot);
		number = ((const struct qty *)slot)->bytes;
		break;
	}
	if (field->kind == FIELD_LEVEL && !fits(number))
		number = (uint64_t)WIRE_NUMBER_MAX;
	if (!known || !fits(number) || number < field->least)
		return false;
	*ret = (int64_t)number;
	return true;
}

bool there_signed(struct signed_qty qty)
{
	return qty.known && qty.bytes >= -WIRE_NUMBER_MAX && qty.bytes <= WIRE_NUMBER_MAX;
}

bool there_qty(struct qty qty)
{
	return qty_known(qty) && fits(qty.bytes);
}

bool there_limit(const struct limit *limit)
{
	return limit->kind == LIMIT_NONE || (limit->kind == LIMIT_SET && fits(limit->bytes));
}

bool there_named(const struct field *field, const void *slot, int i)
{
	if (field->kind == FIELD_QTYS)
		return there_qty(((const struct qty *)slot)[i]);
	if (field->kind == FIELD_LIMITS)
		return there_limit(&((const struct limit *)slot)[i]);
	return there_signed(((const struct signed_qty *)slot)[i]);
}

static bool any_named(const struct field *field, const void *slot)
{
	for (int i = 0; i < field_names(field->of); i++)
		if (there_named(field, slot, i))
			return true;
	return false;
}

/* Any quantity of this object in the state that the row lists. */
static bool any_in_state(const struct fields *fields, const void *base, enum qty_state state)
{
	for (size_t row = 0; row < fields->n; row++) {
		const struct field *field = &fields->rows[row];
		const struct qty *qty = there_slot(field, base);
		int n = field->kind == FIELD_QTY ? 1 : field->kind == FIELD_QTYS ? field_names(field->of) : 0;
		for (int i = 0; i < n; i++)
			if (qty[i].state == state && there_qty(qty[i]))
				return true;
	}
	return false;
}

/* An enum, or an owner: -1 is past all names. */
static unsigned name_at(const void *slot)
{
	return *(const unsigned *)slot;
}

static bool is_name_there(const struct field *field, unsigned name)
{
	return name < field->max && name >= field->least && (field->required || name != 0);
}

static bool is_word_there(const struct field *field, const void *slot)
{
	switch ((int)field->kind) {
	case FIELD_HEX:
		return *(const uint64_t *)slot != 0;
	case FIELD_TEXT:
		return *(const char *)slot != '\0';
	case FIELD_NAME:
		return is_name_there(field, name_at(slot));
	case FIELD_OWNER:
		return name_at(slot) < OWNER_COUNT;
	case FIELD_BOOL:
		return *(const bool *)slot;
	case FIELD_TRISTATE:
		return name_at(slot) == TRISTATE_FALSE || name_at(slot) == TRISTATE_TRUE;
	case FIELD_LIMIT:
		return there_limit(slot);
	case FIELD_OWNERS:
		return (*(const uint64_t *)slot & OWNERS_ALL) != 0;
	default: /* FIELD_EPOCH */
		return true;
	}
}

static bool any_there(const struct fields *fields, const void *base);

/* An object whose first member is required is there when that one is: a forecast without a kind was not made. */
static bool is_object_there(const struct field *field, const void *base)
{
	const void *inner = there_slot(field, base);
	if (field->required)
		return true;
	if (field->flagged)
		return *(const bool *)((const char *)base + field->count_at);
	const struct field *first = field->fields->rows;
	return first->required ? is_word_there(first, there_slot(first, inner)) : any_there(field->fields, inner);
}

/* Is there anything to write? A required member that is not there cannot be written. */
bool there_is(const struct fields *fields, const struct field *field, const void *base)
{
	const void *slot = there_slot(field, base);
	int64_t number;
	switch ((int)field->kind) {
	case FIELD_U64:
	case FIELD_U32:
	case FIELD_INT:
	case FIELD_WALL:
		return there_number(field, slot, &number) && (field->required || number != 0);
	case FIELD_LEVEL:
	case FIELD_COUNT:
	case FIELD_QTY:
		return there_number(field, slot, &number);
	case FIELD_SIGNED:
		return there_signed(*(const struct signed_qty *)slot);
	case FIELD_OBJECT:
		return is_object_there(field, base);
	case FIELD_LIST:
	case FIELD_TEXTS:
	case FIELD_LABELS:
		return there_count(field, base) > 0;
	case FIELD_QTYS:
	case FIELD_SIGNEDS:
	case FIELD_LIMITS:
		return any_named(field, slot);
	case FIELD_STATE:
		return any_in_state(fields, base, (enum qty_state)field->least);
	case FIELD_FINDING:
		return *(const struct finding *const *)slot != NULL;
	case FIELD_BODY:
		return ((const struct str *)slot)->len > 0;
	default:
		return is_word_there(field, slot);
	}
}

static bool any_there(const struct fields *fields, const void *base)
{
	for (size_t row = 0; row < fields->n; row++)
		if (there_is(fields, &fields->rows[row], base))
			return true;
	return false;
}
