/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half of js.h: the one file that knows jansson. */
#include "data/js.h"

#include "base/limits.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* The opaque name of json_t. */
static const json_t *as_json(const struct js *value)
{
	return (const json_t *)(const void *)value;
}

static const struct js *as_js(const json_t *value)
{
	return (const struct js *)(const void *)value;
}

/* Depth and the number of values, found by brackets and commas outside strings, before anything is built. */
static int check_shape(struct str text, const struct js_caps *caps, struct err *err)
{
	unsigned depth = 0, n_values = 1;
	bool in_string = false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
			continue;
		}
		switch (c) {
		case '"':
			in_string = true;
			break;
		case '{':
		case '[':
			n_values++;
			if (++depth > caps->depth)
				return err_set(err, ERR_LIMIT, "JSON is nested deeper than %u levels", caps->depth);
			break;
		case '}':
		case ']':
			depth -= depth > 0;
			break;
		case ',':
			n_values++;
			break;
		default:
			break;
		}
		if (n_values > caps->n_values)
			return err_set(err, ERR_LIMIT, "JSON holds more than %u values", caps->n_values);
	}
	return 0;
}

/*
 * jansson 2.14 reports most of its failed allocations as syntax errors, and drops what it was building after some. So
 * its allocator is ours, and remembers: for its own thread, since answers of an API server are parsed beside the loop.
 */
static _Thread_local bool allocation_failed;

static void *remembering_malloc(size_t size)
{
	void *memory = malloc(size);
	allocation_failed |= memory == NULL;
	return memory;
}

int js_parse_within(struct str text, const struct js_caps *caps, struct js **ret_root, struct err *err)
{
	if (text.len > caps->bytes)
		return err_set(err, ERR_LIMIT, "JSON of %zu bytes: at most %zu are read", text.len, caps->bytes);
	struct js_caps both = *caps;
	if (both.depth > LIMIT_JSON_DEPTH)
		both.depth = LIMIT_JSON_DEPTH;
	if (both.n_values > JS_VALUES_MAX)
		both.n_values = JS_VALUES_MAX;
	int status = check_shape(text, &both, err);
	if (status < 0)
		return status;
	struct str head = str_trim(text);
	if (head.len && head.ptr[0] == '<')
		return err_set(err, ERR_MALFORMED, "this is HTML or XML, not JSON");
	json_error_t why;
	json_set_alloc_funcs(remembering_malloc, free);
	allocation_failed = false;
	json_t *root = json_loadb(text.len ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, &why);
	if (allocation_failed) {
		json_decref(root);
		return err_set(err, ERR_NOMEM, "no memory for a JSON document");
	}
	if (!root) {
		/* jansson quotes the text near the error: that may be a secret, so only the position goes on. */
		size_t len = str_find(str_of(why.text), STR(" near "));
		return err_set(err, ERR_MALFORMED, "JSON, line %d column %d: %.*s", why.line, why.column, (int)len,
			       why.text);
	}
	*ret_root = (struct js *)(void *)root;
	return 0;
}

int js_parse(struct str text, size_t cap, struct js **ret_root, struct err *err)
{
	struct js_caps caps = { cap, LIMIT_JSON_DEPTH, JS_VALUES_MAX };
	return js_parse_within(text, &caps, ret_root, err);
}

void js_free(struct js *root)
{
	json_decref((json_t *)(void *)root);
}

enum js_kind js_kind(const struct js *value)
{
	if (!value)
		return JS_ABSENT;
	switch (json_typeof(as_json(value))) {
	case JSON_NULL:
		return JS_NULL;
	case JSON_TRUE:
	case JSON_FALSE:
		return JS_BOOL;
	case JSON_INTEGER:
	case JSON_REAL:
		return JS_NUMBER;
	case JSON_STRING:
		return JS_STRING;
	case JSON_ARRAY:
		return JS_ARRAY;
	case JSON_OBJECT:
		return JS_OBJECT;
	}
	return JS_ABSENT;
}

const struct js *js_get(const struct js *object, const char *key)
{
	return object ? as_js(json_object_get(as_json(object), key)) : NULL;
}

const struct js *js_path(const struct js *object, const char *dotted)
{
	struct str rest = str_of(dotted), part;
	while (object && str_split(&rest, '.', &part)) {
		char key[128];
		if (part.len >= sizeof key)
			return NULL;
		str_copy(key, sizeof key, part);
		object = js_get(object, key);
	}
	return object;
}

const struct js *js_at(const struct js *array, size_t index)
{
	return array ? as_js(json_array_get(as_json(array), index)) : NULL;
}

size_t js_len(const struct js *value)
{
	switch (js_kind(value)) {
	case JS_ARRAY:
		return json_array_size(as_json(value));
	case JS_OBJECT:
		return json_object_size(as_json(value));
	case JS_ABSENT:
	case JS_NULL:
	case JS_BOOL:
	case JS_NUMBER:
	case JS_STRING:
		break;
	}
	return 0;
}

bool js_i64(const struct js *value, int64_t *ret)
{
	if (!value || !json_is_number(as_json(value)))
		return false;
	if (json_is_integer(as_json(value))) {
		*ret = json_integer_value(as_json(value));
		return true;
	}
	double real = json_real_value(as_json(value));
	if (floor(real) != real || real < -9223372036854775808.0 || real >= 9223372036854775808.0)
		return false;
	*ret = (int64_t)real;
	return true;
}

bool js_u64(const struct js *value, uint64_t *ret)
{
	int64_t number;
	if (js_i64(value, &number)) {
		if (number < 0)
			return false;
		*ret = (uint64_t)number;
		return true;
	}
	double real;
	if (!js_double(value, &real) || floor(real) != real || real < 0 || real >= 18446744073709551616.0)
		return false;
	*ret = (uint64_t)real;
	return true;
}

bool js_double(const struct js *value, double *ret)
{
	if (!value || !json_is_number(as_json(value)))
		return false;
	*ret = json_number_value(as_json(value));
	return true;
}

bool js_bool(const struct js *value, bool *ret)
{
	if (!value || !json_is_boolean(as_json(value)))
		return false;
	*ret = json_is_true(as_json(value));
	return true;
}

bool js_str(const struct js *value, struct str *ret)
{
	if (!value || !json_is_string(as_json(value)))
		return false;
	*ret = (struct str){ json_string_value(as_json(value)), json_string_length(as_json(value)) };
	return true;
}

struct str js_text(const struct js *object, const char *key)
{
	struct str text = STR("");
	(void)js_str(js_get(object, key), &text);
	return text;
}

const struct js *js_named(const struct js *list, struct str name)
{
	for (size_t i = 0; i < js_len(list); i++)
		if (str_eq(js_text(js_at(list, i), "name"), name))
			return js_at(list, i);
	return NULL;
}

bool js_each(const struct js *object, struct js_iter *iter, struct str *ret_key, const struct js **ret_value)
{
	if (js_kind(object) != JS_OBJECT)
		return false;
	json_t *json = (json_t *)(uintptr_t)(const void *)object;
	iter->at = iter->begun ? json_object_iter_next(json, iter->at) : json_object_iter(json);
	iter->begun = true;
	if (!iter->at)
		return false;
	*ret_key = str_of(json_object_iter_key(iter->at));
	*ret_value = as_js(json_object_iter_value(iter->at));
	return true;
}
