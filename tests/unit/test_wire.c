/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame may be, what it may not, and what is said about it; what an encoder does with what no frame can hold. */
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
#include "wire/wire.h"

#define EPOCH "\"epoch\":\"00112233445566778899aabbccddeeff\""
#define X16   "xxxxxxxxxxxxxxxx"
#define HEAD  EPOCH ",\"seq\":1,\"mono_ms\":2,\"wall_ms\":3"

static struct wire_message message;

static int decode(const char *text, enum wire_error_code *ret_code, struct err *err)
{
	struct str tight = tight_of(str_of(text));
	memset(&message, 0x5a, sizeof message);
	*ret_code = WIRE_ERR_COUNT;
	int status = wire_decode(tight, &message, ret_code, err);
	tight_free(tight);
	return status;
}

static const struct {
	const char *frame, *message;
	enum wire_error_code code;
} refused[] = {
	{ "", "JSON", WIRE_ERR_MALFORMED },
	{ "[]", "a frame that is no JSON object", WIRE_ERR_MALFORMED },
	{ "null", "JSON", WIRE_ERR_MALFORMED },
	{ "<html>", "this is HTML or XML, not JSON", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"bye\"} x", "JSON", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"bye\",\"type\":\"bye\"}", "JSON", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"bye\",\"reason\":\"\xff\"}", "JSON", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"bye\",\"reason\":\"a\\u0000b\"}", "JSON", WIRE_ERR_MALFORMED },
	{ "{\"seq\":1}", "type: missing, or not a string", WIRE_ERR_MALFORMED },
	{ "{\"type\":7}", "type: missing, or not a string", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"\\u001b[2J\"}", "type: '\\x1b[2J' is none of ours", WIRE_ERR_TYPE },
	{ "{\"type\":\"Sample\"}", "type: 'Sample' is none of ours", WIRE_ERR_TYPE },
	{ "{\"type\":\"sample\"}", "sample: epoch: missing", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\"," EPOCH "}", "ack: seq: missing", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":-1}", "ack: seq: out of range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":1.5}", "ack: seq: not a whole number in range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":9007199254740992}", "ack: seq: out of range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":1e300}", "ack: seq: not a whole number in range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":null}", "ack: seq: not a number", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\",\"seq\":1,\"epoch\":\"00112233445566778899AABBCCDDEEFF\"}",
	  "ack: epoch: not 32 hex digits", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"ack\",\"seq\":1,\"epoch\":\"0011\"}", "ack: epoch: not 32 hex digits", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," EPOCH ",\"seq\":0,\"mono_ms\":2,\"wall_ms\":3}", "sample: seq: out of range",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," EPOCH ",\"seq\":1,\"mono_ms\":2,\"wall_ms\":253402300800000}",
	  "sample: wall_ms: out of range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"floor_bytes\":-1}", "sample: floor_bytes: out of range",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"floor_bytes\":null}", "sample: floor_bytes: not a number",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"floor_bytes\":\"7\"}", "sample: floor_bytes: not a number",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"interval_ms\":4294967296}", "sample: interval_ms: out of range",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"pid\":2147483648}", "sample: pid: out of range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"limit_bytes\":\"max\"}",
	  "sample: limit_bytes: neither a number nor \"none\"", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"groups_bytes\":{\"anon\":-4}}", "sample: groups_bytes: anon: out of range",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"derived\":[7]}", "sample: derived: not a string", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"composition\":{}}", "sample: composition: age_ms: missing",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"context\":{\"busy_bp\":true}}", "sample: context: busy_bp: not a number",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"context\":{\"job_state\":\"0123456789012345678901234\"}}",
	  "sample: context: job_state: longer than 23 bytes", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"context\":{\"restoring\":1}}",
	  "sample: context: restoring: neither true nor false", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"sample\"," HEAD ",\"forecast\":{\"owner\":\"gc\"}}", "sample: forecast: kind: missing",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"finding\"," HEAD ",\"id\":\"\",\"edge\":\"opened\"}", "finding: id: empty", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"finding\"," HEAD ",\"id\":\"i\",\"edge\":\"closed\"}", "finding: edge: none of its names",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"finding\"," HEAD ",\"severity\":\"none\"}", "finding: severity: none of its names",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"finding\"," HEAD ",\"severity\":\"fatal\"}", "finding: severity: none of its names",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"postmortem\"," HEAD ",\"id\":\"i\",\"part\":2,\"parts\":2,\"body\":{}}",
	  "postmortem: part: past parts", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"postmortem\"," HEAD ",\"id\":\"i\",\"part\":0,\"parts\":65,\"body\":{}}",
	  "postmortem: parts: more than 64", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"postmortem\"," HEAD ",\"id\":\"i\",\"part\":0,\"parts\":1}", "postmortem: body: missing",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"gap\"," EPOCH ",\"from\":5,\"to\":4}", "gap: to: before from", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{},\"mono_ms\":1,\"wall_ms\":1,\"epochs\":[]}", "hello: epochs: empty",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{},\"mono_ms\":1,\"wall_ms\":1,\"epochs\":[{" EPOCH
	  ",\"first\":1,\"last\":0},{" EPOCH ",\"first\":1,\"last\":0}]}",
	  "hello: epochs: one stands there twice", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{\"jobs\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}}",
	  "hello: subject: jobs: more than 4", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{\"jobs\":[\"a\",7]}}", "hello: subject: jobs: 1: not a string",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{\"labels\":{\"a\":7}}}", "hello: subject: labels: not a string",
	  WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{\"labels\":{\"" X16 X16 X16 X16 "\":\"\"}}}",
	  "hello: subject: labels: a name that is too long", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{\"labels\":{\"a\":\"" X16 X16 X16 X16 "\"}}}",
	  "hello: subject: labels: longer than 63 bytes", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"hello\",\"subject\":{\"labels\":{\"1\":\"\",\"2\":\"\",\"3\":\"\",\"4\":\"\",\"5\":\"\",\"6\":"
	  "\"\",\"7\":\"\",\"8\":\"\",\"9\":\"\"}}}",
	  "hello: subject: labels: more than 8", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"welcome\",\"window\":0}", "welcome: window: out of range", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"welcome\",\"window\":1,\"max_frame\":9,\"policy\":{\"version\":\"12\"}}",
	  "welcome: policy: version: not 16 hex digits", WIRE_ERR_MALFORMED },
	{ "{\"type\":\"welcome\",\"window\":1,\"max_frame\":9,\"policy\":{\"version\":\"00000000000000ff\",\"levels\":[{}]}}",
	  "welcome: policy: levels: 0: rule: missing", WIRE_ERR_MALFORMED },
};

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		enum wire_error_code code;
		struct err err = { 0 };
		if (decode(refused[i].frame, &code, &err) == 0)
			fail_msg("taken: %s", refused[i].frame);
		if (!str_starts(str_of(err.message), str_of(refused[i].message)))
			fail_msg("%s: \"%s\", not \"%s\"", refused[i].frame, err.message, refused[i].message);
		assert_int_equal(code, refused[i].code);
		/* Whole or nothing. */
		for (size_t byte = 0; byte < sizeof message; byte++)
			assert_int_equal(((const unsigned char *)&message)[byte], 0x5a);
		assert_true(wire_decode(str_of(refused[i].frame), &message, &code, NULL) < 0);
	}
}

static const struct {
	const char *frame;
} taken[] = {
	{ "{\"type\":\"bye\"}" },
	{ " {\n\"reason\" : \"x\" , \"type\":\"bye\" } " },
	{ "{\"type\":\"bye\",\"later\":{\"deep\":[[1.5e300,null,-0]]}}" },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":1e3}" },
	{ "{\"type\":\"ack\"," EPOCH ",\"seq\":9007199254740991}" },
	{ "{\"type\":\"sample\"," HEAD ",\"groups_bytes\":{\"anon\":1,\"cxl\":\"of a later version\"}}" },
	{ "{\"type\":\"sample\"," HEAD ",\"access\":\"deeper\",\"freeboard_level\":\"rack\"}" },
	{ "{\"type\":\"sample\"," HEAD ",\"forecast\":{\"kind\":\"chaotic\",\"owner\":\"gpu\"}}" },
	{ "{\"type\":\"error\",\"code\":\"of-a-later-version\"}" },
};

static void what_is_new_does_no_harm(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
		enum wire_error_code code;
		struct err err = { 0 };
		if (decode(taken[i].frame, &code, &err) < 0)
			fail_msg("%s: %s", taken[i].frame, err.message);
	}
	assert_int_equal(message.error.code, WIRE_ERR_STORE);
	enum wire_error_code code;
	assert_int_equal(decode(taken[7].frame, &code, NULL), 0);
	assert_int_equal(message.sample.forecast.owner, -1);
	assert_string_equal(message.sample.forecast.kind, "chaotic");
	assert_int_equal(decode(taken[6].frame, &code, NULL), 0);
	assert_int_equal(message.sample.access, ACCESS_NONE);
	assert_int_equal(message.sample.freeboard_level, FREEBOARD_UNREAD);
}

/* States may stand before their quantities, name what is not there, and name each other's. */
static void states_find_their_quantities(void **state)
{
	(void)state;
	enum wire_error_code code;
	struct err err = { 0 };
	assert_int_equal(
		decode("{\"inferred\":[\"floor_bytes\",\"anon\",\"gc\",\"nonsense\",\"swap_bytes\"],\"type\":\"sample\"," HEAD
		       ",\"floor_bytes\":4,\"groups_bytes\":{\"anon\":5,\"file\":6},"
		       "\"composition\":{\"derived\":[\"gc\",\"anon\"],\"age_ms\":0,\"owners_bytes\":{\"gc\":7}}}",
		       &code, &err),
		0);
	assert_int_equal(message.sample.floor_bytes.state, QTY_INFERRED);
	assert_int_equal(message.sample.groups[GROUP_ANON].state, QTY_INFERRED);
	assert_int_equal(message.sample.groups[GROUP_FILE].state, QTY_MEASURED);
	assert_int_equal(message.sample.owners[OWNER_GC].state, QTY_DERIVED);
	assert_false(qty_known(message.sample.swap_bytes));
}

static void a_policy_sets_no_url(void **state)
{
	(void)state;
	enum wire_error_code code;
	struct err err = { 0 };
	assert_int_equal(
		decode("{\"type\":\"welcome\",\"window\":1,\"max_frame\":9,\"redirect\":\"x\",\"policy\":{\"version\":\"0000000000000001\","
		       "\"\\u001burl\":\"wss://evil.example\",\"levels\":[{\"rule\":\"r\",\"name\":\"n\",\"raise\":2,\"clear\":1,"
		       "\"exec\":\"rm\"}]}}",
		       &code, &err),
		0);
	assert_int_equal(message.welcome.policy.n_refused, 2);
	assert_string_equal(message.welcome.policy.refused, "\\x1burl");
	assert_int_equal(message.welcome.policy.n_levels, 1);
}

/* A collector of tomorrow with more levels than we hold: those that we hold count. */
static void a_long_policy_is_cut_and_said(void **state)
{
	(void)state;
	auto_buf struct buf frame = { .cap = 1 << 20 };
	enum wire_error_code code;
	struct err err = { 0 };
	(void)buf_puts(
		&frame,
		"{\"type\":\"welcome\",\"window\":1,\"max_frame\":9,\"policy\":{\"version\":\"0000000000000001\",\"levels\":[");
	for (int i = 0; i < WIRE_LEVELS_MAX + 3; i++)
		(void)buf_printf(&frame, "%s{\"rule\":\"r%d\",\"name\":\"n\",\"raise\":2,\"clear\":1}", i ? "," : "",
				 i);
	(void)buf_puts(&frame, "]}}");
	assert_int_equal(decode(frame.ptr, &code, &err), 0);
	assert_int_equal(message.welcome.policy.n_levels, WIRE_LEVELS_MAX);
	assert_string_equal(message.welcome.policy.levels[WIRE_LEVELS_MAX - 1].rule, "r63");
	assert_int_equal(message.welcome.policy.n_refused, 3);
	assert_string_equal(message.welcome.policy.refused, "levels");
}

static void nested(struct buf *frame, int depth, int n_values, size_t pad)
{
	buf_clear(frame);
	(void)buf_puts(frame, "{\"type\":\"bye\",\"x\":");
	for (int i = 1; i < depth; i++)
		(void)buf_putc(frame, '[');
	for (int i = 0; i < n_values; i++)
		(void)buf_puts(frame, i ? ",0" : "0");
	for (int i = 1; i < depth; i++)
		(void)buf_putc(frame, ']');
	(void)buf_putc(frame, '}');
	while (frame->len < pad)
		(void)buf_putc(frame, ' ');
}

static void caps_hold_before_anything_is_built(void **state)
{
	(void)state;
	auto_buf struct buf frame = { .cap = 1 << 20 };
	enum wire_error_code code;
	struct err err = { 0 };
	nested(&frame, WIRE_DEPTH_MAX, 1, 0);
	assert_int_equal(decode(frame.ptr, &code, &err), 0);
	nested(&frame, WIRE_DEPTH_MAX + 1, 1, 0);
	assert_true(decode(frame.ptr, &code, &err) < 0);
	assert_int_equal(code, WIRE_ERR_MALFORMED);
	assert_int_equal(err.kind, ERR_LIMIT);
	nested(&frame, 2, 8000, 0);
	assert_int_equal(decode(frame.ptr, &code, &err), 0);
	nested(&frame, 2, 8200, 0);
	assert_true(decode(frame.ptr, &code, &err) < 0);
	assert_int_equal(code, WIRE_ERR_MALFORMED);
	nested(&frame, 2, 1, WIRE_FRAME_MAX);
	assert_int_equal(decode(frame.ptr, &code, &err), 0);
	nested(&frame, 2, 1, WIRE_FRAME_MAX + 1);
	assert_true(decode(frame.ptr, &code, &err) < 0);
	assert_int_equal(code, WIRE_ERR_SIZE);
}

static struct wire_message plain_sample(void)
{
	struct wire_message m;
	memset(&m, 0, sizeof m);
	m.type = WIRE_SAMPLE;
	m.sample.head.seq = 1;
	return m;
}

static void encoded(const struct wire_message *m, const char *expected)
{
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	struct err err = { 0 };
	(void)buf_puts(&frame, "before:");
	if (wire_encode(m, &frame, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(frame.ptr, expected);
}

#define ZERO_HEAD \
	"before:{\"type\":\"sample\",\"epoch\":\"00000000000000000000000000000000\",\"seq\":1,\"mono_ms\":0,\"wall_ms\":0"

static void what_no_frame_can_hold_is_unread(void **state)
{
	(void)state;
	struct wire_message m = plain_sample();
	encoded(&m, ZERO_HEAD "}"); /* a forecast with owner 0 and no kind was not made */
	m.sample.charge_bytes = qty_measured(UINT64_MAX);
	m.sample.floor_bytes = qty_of((uint64_t)1 << 53, QTY_DERIVED);
	m.sample.groups[GROUP_ANON] = qty_of((uint64_t)1 << 53, QTY_DERIVED);
	m.sample.residual_bytes = (struct signed_qty){ INT64_MIN, true };
	m.sample.freeboard_bytes = (struct signed_qty){ INT64_MIN, true };
	m.sample.events.oom = count_of(UINT64_MAX);
	m.sample.limit = limit_set(UINT64_MAX);
	m.sample.pid = -1;
	encoded(&m, ZERO_HEAD "}");
	m.sample.has_composition = true;
	m.sample.owners[OWNER_GC] = qty_of(0, QTY_INFERRED);
	encoded(&m, ZERO_HEAD ",\"composition\":{\"age_ms\":0,\"owners_bytes\":{\"gc\":0},\"inferred\":[\"gc\"]}}");
}

static void texts_are_cut_and_cleaned(void **state)
{
	(void)state;
	struct wire_message m;
	memset(&m, 0, sizeof m);
	m.type = WIRE_BYE;
	/* No NUL at the end; a letter cut in its middle; a control byte. */
	memset(m.bye.reason, 'x', sizeof m.bye.reason);
	m.bye.reason[0] = '\x1b';
	m.bye.reason[WIRE_REASON_CAP - 2] = '\xc3';
	m.bye.reason[WIRE_REASON_CAP - 1] = '\xa9';
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	struct err err = { 0 };
	enum wire_error_code code;
	assert_int_equal(wire_encode(&m, &frame, &err), 0);
	assert_int_equal(wire_decode(buf_str(&frame), &message, &code, &err), 0);
	assert_int_equal(strlen(message.bye.reason), WIRE_REASON_CAP - 1);
	assert_int_equal(message.bye.reason[0], '\x1b');
	assert_int_equal(message.bye.reason[WIRE_REASON_CAP - 2], '?');
}

static void what_cannot_be_sent_is_an_error(void **state)
{
	(void)state;
	struct wire_message m = plain_sample();
	auto_buf struct buf frame = { .cap = 1 << 20 }, small = { .cap = 64 };
	struct err err = { 0 };
	(void)buf_puts(&frame, "kept");
	m.sample.head.seq = 0;
	assert_true(wire_encode(&m, &frame, &err) < 0);
	assert_string_equal(err.message, "sample: seq: missing, or out of range");
	assert_string_equal(buf_str(&frame).ptr, "kept");
	m.sample.head.seq = 1;
	assert_true(wire_encode(&m, &small, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(small.len, 0);

	memset(&m, 0, sizeof m);
	m.type = WIRE_POSTMORTEM;
	m.postmortem = (struct wire_postmortem){ .head.seq = 1, .id = "i", .parts = 1 };
	const struct {
		struct str body;
		const char *message;
	} bodies[] = {
		{ STR(""), "postmortem: body: missing, or out of range" },
		{ STR("[]"), "postmortem: body: not an object" },
		{ STR("{}}"), "postmortem: body: JSON" },
		{ STR("{\"a\":[[[[[[[[[[[1]]]]]]]]]]]}"), "postmortem: body: JSON is nested deeper than 11 levels" },
	};
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		m.postmortem.body = bodies[i].body;
		assert_true(wire_encode(&m, &frame, &err) < 0);
		if (!str_starts(str_of(err.message), str_of(bodies[i].message)))
			fail_msg("\"%s\", not \"%s\"", err.message, bodies[i].message);
		assert_string_equal(frame.ptr, "kept");
	}
	auto_free char *long_text = malloc(WIRE_FRAME_MAX);
	assert_non_null(long_text);
	memset(long_text, 'x', WIRE_FRAME_MAX);
	memcpy(long_text, "{\"x\":\"", 6);
	memcpy(long_text + WIRE_FRAME_MAX - 2, "\"}", 2);
	m.postmortem.body = (struct str){ long_text, WIRE_FRAME_MAX };
	assert_true(wire_encode(&m, &frame, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(frame.ptr, "kept");
	/* White space of a body does not break the frame's one line. */
	m.postmortem.body = STR("{\n  \"a\": 1\n}");
	assert_int_equal(wire_encode(&m, &frame, &err), 0);
	assert_non_null(strstr(frame.ptr, "\"body\":{\"a\":1}}"));
}

static void the_whole_finding_goes_along(void **state)
{
	(void)state;
	static struct finding whole = {
		.rule = "freeboard-low", .severity = SEVERITY_WARNING, .title = "t", .observation = "o", .owner = -1
	};
	struct wire_message m;
	memset(&m, 0, sizeof m);
	m.type = WIRE_FINDING;
	m.finding = (struct wire_finding){ .head.seq = 1,
					   .id = "i",
					   .rule = "freeboard-low",
					   .severity = SEVERITY_WARNING,
					   .owner = -1,
					   .whole = &whole };
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	struct err err = { 0 };
	enum wire_error_code code;
	assert_int_equal(wire_encode(&m, &frame, &err), 0);
	assert_non_null(strstr(frame.ptr,
			       ",\"finding\":{\"rule\":\"freeboard-low\",\"severity\":\"warning\",\"title\":\"t\","));
	assert_int_equal(wire_decode(buf_str(&frame), &message, &code, &err), 0);
	assert_null(message.finding.whole);
}

static void a_deeper_reading_is_an_object_within_the_frame(void **state)
{
	(void)state;
	static struct finding whole = { .rule = "freeboard-low", .title = "t", .observation = "o", .owner = -1 };
	struct wire_message m;
	memset(&m, 0, sizeof m);
	m.type = WIRE_FINDING;
	m.finding = (struct wire_finding){ .head.seq = 1,
					   .id = "i",
					   .rule = "freeboard-low",
					   .severity = SEVERITY_WARNING,
					   .owner = -1,
					   .whole = &whole };
	auto_buf struct buf frame = { .cap = 1 << 20 };
	struct err err = { 0 };
	/* Longest that fits: what is left of the frame beside the rest; one byte more does not. */
	m.finding.deep = STR("{\"x\":\"\"}");
	if (wire_encode(&m, &frame, &err) < 0)
		fail_msg("%s", err.message);
	size_t room = WIRE_FRAME_MAX - frame.len;
	auto_free char *text = malloc(WIRE_FRAME_MAX + 1);
	assert_non_null(text);
	for (size_t more = 0; more < 2; more++) {
		size_t len = 8 + room + more;
		memset(text, 'x', WIRE_FRAME_MAX + 1);
		memcpy(text, "{\"x\":\"", 6);
		memcpy(text + len - 2, "\"}", 2);
		m.finding.deep = (struct str){ text, len };
		buf_clear(&frame);
		assert_int_equal(wire_encode(&m, &frame, &err) < 0, more);
		assert_int_equal(frame.len, more ? 0 : WIRE_FRAME_MAX);
	}
	assert_int_equal(err.kind, ERR_LIMIT);
	const struct {
		struct str deep;
		const char *message;
	} wrong[] = {
		{ STR("[]"), "finding: deep: not an object" },
		{ STR("{\"a\":1"), "finding: deep: JSON" },
		{ STR("{\"name\":\"\x1b\"}"), "finding: deep: JSON" },
		{ STR("{\"name\":\"\xff\"}"), "finding: deep: JSON" },
		{ STR("{\"a\":[[[[[[[[[[[1]]]]]]]]]]]}"), "finding: deep: JSON is nested deeper than 11 levels" },
		{ { text, WIRE_FRAME_MAX + 1 }, "finding: deep: JSON of 65537 bytes" },
	};
	(void)buf_puts(&frame, "kept");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		m.finding.deep = wrong[i].deep;
		assert_true(wire_encode(&m, &frame, &err) < 0);
		if (!str_starts(str_of(err.message), str_of(wrong[i].message)))
			fail_msg("\"%s\", not \"%s\"", err.message, wrong[i].message);
		assert_string_equal(frame.ptr, "kept");
	}
}

static void labels_of_one_name_go_once(void **state)
{
	(void)state;
	struct wire_message m;
	memset(&m, 0, sizeof m);
	m.type = WIRE_HELLO;
	m.hello.n_epochs = 1;
	m.hello.epochs[0].first = 1;
	m.hello.subject.n_labels = 3;
	m.hello.subject.labels[0] = (struct wire_label){ "app", "a" };
	m.hello.subject.labels[1] = (struct wire_label){ "app", "b" };
	m.hello.subject.labels[2] = (struct wire_label){ "\xff", "c" };
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	struct err err = { 0 };
	enum wire_error_code code;
	assert_int_equal(wire_encode(&m, &frame, &err), 0);
	assert_int_equal(wire_decode(buf_str(&frame), &message, &code, &err), 0);
	assert_int_equal(message.hello.subject.n_labels, 1);
	assert_string_equal(message.hello.subject.labels[0].value, "a");
}

static void an_epoch_has_one_spelling(void **state)
{
	(void)state;
	struct wire_epoch epoch, other;
	char text[WIRE_EPOCH_TEXT_CAP];
	assert_true(wire_epoch_parse(STR("000102030405060708090a0b0c0d0eff"), &epoch));
	assert_int_equal(epoch.bytes[10], 10);
	assert_string_equal(wire_epoch_format(text, epoch), "000102030405060708090a0b0c0d0eff");
	assert_true(wire_epoch_parse(STR("000102030405060708090a0b0c0d0efe"), &other));
	assert_false(wire_epoch_same(epoch, other));
	assert_true(wire_epoch_same(epoch, epoch));
	const char *const bad[] = { "", "000102030405060708090a0b0c0d0ef", "000102030405060708090a0b0c0d0efff",
				    "000102030405060708090A0b0c0d0eff", "000102030405060708090g0b0c0d0eff" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(wire_epoch_parse(str_of(bad[i]), &epoch));
	assert_int_equal(epoch.bytes[15], 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(what_is_new_does_no_harm),
		cmocka_unit_test(states_find_their_quantities),
		cmocka_unit_test(a_policy_sets_no_url),
		cmocka_unit_test(a_long_policy_is_cut_and_said),
		cmocka_unit_test(caps_hold_before_anything_is_built),
		cmocka_unit_test(what_no_frame_can_hold_is_unread),
		cmocka_unit_test(texts_are_cut_and_cleaned),
		cmocka_unit_test(what_cannot_be_sent_is_an_error),
		cmocka_unit_test(the_whole_finding_goes_along),
		cmocka_unit_test(a_deeper_reading_is_an_object_within_the_frame),
		cmocka_unit_test(labels_of_one_name_go_once),
		cmocka_unit_test(an_epoch_has_one_spelling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
