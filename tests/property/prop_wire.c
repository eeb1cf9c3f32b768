/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 300 */
/* The wire: what is said is what is heard; nothing else is taken; no prefix and no wrong kind passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/js.h"
#include "support/tight.h"
#include "support/wiremsg.h"
#include "wire/wire.h"

enum { ROUNDS = 3000 };

static int decode(struct str frame, struct wire_message *ret, struct err *err)
{
	enum wire_error_code code = WIRE_ERR_COUNT;
	struct str tight = tight_of(frame);
	int status = wire_decode(tight, ret, &code, err);
	tight_free(tight);
	assert_true(status == 0 || code < WIRE_ERR_COUNT);
	return status;
}

/* With FRAMES_OUT in the environment, every frame goes there too: tests/cli/wire_schema.sh asks the schema about them. */
static FILE *frames_out(void)
{
	const char *path = getenv("FRAMES_OUT");
	FILE *file = path ? fopen(path, "we") : NULL;
	assert_true(!path || file);
	return file;
}

static void what_is_said_is_heard(void **state)
{
	(void)state;
	FILE *out = frames_out();
	struct prng prng = prng_start("what_is_said_is_heard");
	struct wire_message said, heard;
	auto_buf struct buf frame = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
	for (int i = 0; i < ROUNDS; i++) {
		struct err err = { 0 };
		buf_clear(&frame);
		buf_clear(&again);
		wiremsg_random(&prng, (enum wire_type)(i % WIRE_TYPE_COUNT), false, &said);
		if (wire_encode(&said, &frame, &err) < 0)
			fail_msg("round %d: %s", i, err.message);
		assert_null(memchr(frame.ptr, '\n', frame.len));
		if (out)
			(void)fprintf(out, "%s\n", frame.ptr);
		memset(&heard, 0xa5, sizeof heard);
		if (decode(buf_str(&frame), &heard, &err) < 0)
			fail_msg("round %d: %s in %s", i, err.message, frame.ptr);
		if (!wiremsg_same(&said, &heard))
			fail_msg("round %d: not the same: %s", i, frame.ptr);
		if (heard.type == WIRE_POSTMORTEM)
			heard.postmortem.body = said.postmortem.body;
		assert_int_equal(wire_encode(&heard, &again, &err), 0);
		assert_string_equal(frame.ptr, again.ptr);
	}
	if (out)
		(void)fclose(out);
}

/* Whatever an agent puts into its structs: the collector takes the frame, or none was made. */
static void no_frame_of_ours_is_refused(void **state)
{
	(void)state;
	struct prng prng = prng_start("no_frame_of_ours_is_refused");
	struct wire_message said, heard;
	auto_buf struct buf frame = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
	int n_sent = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct err err = { 0 };
		buf_clear(&frame);
		buf_clear(&again);
		wiremsg_random(&prng, (enum wire_type)(i % WIRE_TYPE_COUNT), true, &said);
		if (wire_encode(&said, &frame, &err) < 0) {
			assert_int_equal(frame.len, 0);
			continue;
		}
		n_sent++;
		if (decode(buf_str(&frame), &heard, &err) < 0)
			fail_msg("round %d: %s in %s", i, err.message, frame.ptr);
		if (heard.type == WIRE_POSTMORTEM)
			heard.postmortem.body = said.postmortem.body;
		assert_int_equal(wire_encode(&heard, &again, &err), 0);
		if (heard.type != WIRE_HELLO) /* names that stood twice may have left an empty object */
			assert_string_equal(frame.ptr, again.ptr);
	}
	assert_true(n_sent > ROUNDS / 3);
}

static void frame_of(struct prng *prng, int i, struct buf *frame)
{
	struct wire_message said;
	struct err err = { 0 };
	buf_clear(frame);
	wiremsg_random(prng, (enum wire_type)(i % WIRE_TYPE_COUNT), false, &said);
	if (wire_encode(&said, frame, &err) < 0)
		fail_msg("round %d: %s", i, err.message);
}

static void fails_cleanly(struct str prefix)
{
	struct wire_message heard, before;
	enum wire_error_code code = WIRE_ERR_COUNT;
	struct err err = { 0 };
	memset(&heard, 0x5a, sizeof heard);
	before = heard;
	assert_true(wire_decode(prefix, &heard, &code, &err) < 0);
	assert_int_equal(code, WIRE_ERR_MALFORMED);
	assert_true(err.message[0]);
	assert_memory_equal(&heard, &before, sizeof heard);
}

static void every_prefix_fails_and_changes_nothing(void **state)
{
	(void)state;
	struct prng prng = prng_start("every_prefix_fails_and_changes_nothing");
	auto_buf struct buf frame = { .cap = 1 << 20 };
	for (int i = 0; i < 4 * WIRE_TYPE_COUNT; i++) {
		frame_of(&prng, i, &frame);
		tight_prefixes(buf_str(&frame), 300, fails_cleanly);
	}
}

/* --- one member at a time changed for something else --------------------------------------------- */

enum { MUTANT_UNKNOWN = 0, MUTANT_KIND };

/* What the walk is to do at its `target`-th member, and what it did. */
struct mutation {
	int what;
	size_t target, at;
	bool done;
	enum js_kind was;
};

/* Members whose value is not ours to judge, or in whose place several kinds may stand. */
static bool is_free(struct str key)
{
	return str_eq(key, STR("finding")) || str_eq(key, STR("body"));
}

/* A value of a kind that no member has in this one's place. */
static void put_wrong(struct js_out *out, enum js_kind was)
{
	if (was == JS_STRING || was == JS_OBJECT) {
		js_out_array(out);
		js_out_array_end(out);
	} else if (was == JS_BOOL || was == JS_ARRAY) {
		js_out_u64(out, 1);
	} else {
		js_out_bool(out, true);
	}
}

static void copy_mutated(struct js_out *out, const struct js *value, struct mutation *m);

static void copy_member(struct js_out *out, struct str key, const struct js *value, struct mutation *m)
{
	bool here = m->at++ == m->target;
	if (here && m->what == MUTANT_UNKNOWN) {
		js_out_key(out, "x_of_a_later_version");
		js_out_object(out);
		js_out_key(out, "seq");
		js_out_null(out);
		js_out_object_end(out);
		m->done = true;
	}
	js_out_key_str(out, key);
	if (here && m->what == MUTANT_KIND) {
		m->was = js_kind(value);
		put_wrong(out, m->was);
		m->done = true;
	} else if (is_free(key)) {
		js_out_value(out, value);
	} else {
		copy_mutated(out, value, m);
	}
}

static void copy_mutated(struct js_out *out, const struct js *value, struct mutation *m)
{
	struct js_iter iter = { 0 };
	struct str key;
	const struct js *member;
	if (js_kind(value) == JS_OBJECT) {
		js_out_object(out);
		while (js_each(value, &iter, &key, &member))
			copy_member(out, key, member, m);
		js_out_object_end(out);
	} else if (js_kind(value) == JS_ARRAY) {
		js_out_array(out);
		for (size_t i = 0; i < js_len(value); i++)
			copy_mutated(out, js_at(value, i), m);
		js_out_array_end(out);
	} else {
		js_out_value(out, value);
	}
}

/* The frame with its `target`-th member mutated; false when there are no so many. */
static bool mutate(const struct js *root, int what, size_t target, struct buf *out_frame)
{
	struct mutation m = { .what = what, .target = target };
	struct js_out out;
	struct err err = { 0 };
	buf_clear(out_frame);
	js_out_start(&out, out_frame, 0);
	copy_mutated(&out, root, &m);
	assert_int_equal(js_out_end(&out, &err), 0);
	return m.done;
}

static void a_wrong_kind_is_malformed(void **state)
{
	(void)state;
	struct prng prng = prng_start("a_wrong_kind_is_malformed");
	auto_buf struct buf frame = { .cap = 1 << 20 }, mutant = { .cap = 1 << 20 };
	size_t n_mutants = 0;
	for (int i = 0; i < 20 * WIRE_TYPE_COUNT; i++) {
		auto_js struct js *root = NULL;
		struct err err = { 0 };
		frame_of(&prng, i, &frame);
		assert_int_equal(js_parse(buf_str(&frame), 1 << 20, &root, &err), 0);
		for (size_t target = 0; target < 200 && mutate(root, MUTANT_KIND, target, &mutant); target++) {
			struct wire_message heard;
			enum wire_error_code code;
			err = (struct err){ 0 };
			if (wire_decode(buf_str(&mutant), &heard, &code, &err) == 0)
				fail_msg("taken: %s", mutant.ptr);
			assert_int_equal(code, WIRE_ERR_MALFORMED);
			assert_int_equal(err.kind, ERR_MALFORMED);
			n_mutants++;
		}
	}
	assert_true(n_mutants > 1000);
}

static void unknown_members_are_ignored(void **state)
{
	(void)state;
	struct prng prng = prng_start("unknown_members_are_ignored");
	auto_buf struct buf frame = { .cap = 1 << 20 }, mutant = { .cap = 1 << 20 };
	for (int i = 0; i < 20 * WIRE_TYPE_COUNT; i++) {
		auto_js struct js *root = NULL;
		struct wire_message said, heard;
		struct err err = { 0 };
		frame_of(&prng, i, &frame);
		assert_int_equal(decode(buf_str(&frame), &said, &err), 0);
		assert_int_equal(js_parse(buf_str(&frame), 1 << 20, &root, &err), 0);
		for (size_t target = 0; target < 200 && mutate(root, MUTANT_UNKNOWN, target, &mutant); target++) {
			bool in_labels = said.type == WIRE_HELLO && str_has(buf_str(&mutant), STR("\"labels\""));
			if (in_labels && decode(buf_str(&mutant), &heard, &err) < 0)
				continue; /* an object among labels is no label */
			if (decode(buf_str(&mutant), &heard, &err) < 0)
				fail_msg("%s: %s", err.message, mutant.ptr);
			if (heard.type == WIRE_WELCOME && heard.welcome.policy.n_refused) {
				assert_string_equal(heard.welcome.policy.refused, "x_of_a_later_version");
				assert_int_equal(heard.welcome.policy.n_refused, 1);
				heard.welcome.policy.n_refused = 0;
				heard.welcome.policy.refused[0] = '\0';
			}
			assert_true(wiremsg_same(&said, &heard));
		}
	}
}

/* Bytes changed at random: refused, or it is a message that can be said again. */
static void noise_is_refused_or_means_something(void **state)
{
	(void)state;
	struct prng prng = prng_start("noise_is_refused_or_means_something");
	auto_buf struct buf frame = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
	for (int i = 0; i < 20000; i++) {
		struct wire_message heard;
		struct err err = { 0 };
		if (i % 20 == 0)
			frame_of(&prng, i / 20, &frame);
		size_t at = prng_below(&prng, frame.len);
		char old = frame.ptr[at];
		frame.ptr[at] = prng_one_in(&prng, 2) ? "0123456789-.eE\"{}[],:x"[prng_below(&prng, 22)]
						      : (char)prng_u64(&prng);
		buf_clear(&again);
		if (decode(buf_str(&frame), &heard, &err) == 0) {
			if (heard.type == WIRE_POSTMORTEM)
				heard.postmortem.body = STR("{}");
			if (wire_encode(&heard, &again, &err) < 0)
				fail_msg("%s: from %s", err.message, frame.ptr);
		}
		frame.ptr[at] = old;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_is_heard),
		cmocka_unit_test(no_frame_of_ours_is_refused),
		cmocka_unit_test(every_prefix_fails_and_changes_nothing),
		cmocka_unit_test(a_wrong_kind_is_malformed),
		cmocka_unit_test(unknown_members_are_ignored),
		cmocka_unit_test(noise_is_refused_or_means_something),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
