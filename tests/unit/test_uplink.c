/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the wire against frames that are written out here: no sockets, no clock, no chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "agent/uplink.h"
#include "support/scratch.h"
#include "wire/wire.h"

struct rig {
	struct spool *spool;
	struct uplink uplink;
	struct mono now;
	struct uplink_heard heard;
	struct uplink_ended ended;
};

static struct wire_epoch epoch_of(unsigned n)
{
	return (struct wire_epoch){ { (uint8_t)n } };
}

static struct rig *rig_new(const char *dir, unsigned epoch)
{
	struct rig *rig = calloc(1, sizeof *rig);
	struct err err = { 0 };
	static const struct wire_subject subject = { .pod = "tm-1", .workload = "job" };
	rig->now = (struct mono){ 1000000000000 };
	const struct spool_options spool = { .dir = dir, .bytes = 1 << 20, .epoch = epoch_of(epoch) };
	assert_int_equal(spool_new(&spool, rig->now, &rig->spool, &err), 0);
	const struct uplink_options options = {
		.spool = rig->spool, .version = "1.2", .backoff_min_ms = 500, .backoff_max_ms = 60000
	};
	assert_int_equal(uplink_init(&rig->uplink, &options, &subject, &err), 0);
	return rig;
}

static void rig_freep(struct rig **rig)
{
	uplink_done(&(*rig)->uplink);
	spool_free((*rig)->spool);
	free(*rig);
}
#define auto_rig auto_(rig_freep) struct rig *

static struct spool_epoch *live(struct rig *rig)
{
	return spool_at(rig->spool, spool_n(rig->spool) - 1);
}

static void pass_ms(struct rig *rig, uint64_t ms)
{
	rig->now.ns += ms * 1000000;
}

static void put_text(struct rig *rig, enum spool_kind kind, enum wire_edge edge, struct str text)
{
	struct spool_record record = { .kind = kind, .edge = edge, .key = 1 };
	spool_put(rig->spool, rig->now, &record, text);
}

/* `n` samples, as real frames. */
static void sample(struct rig *rig, int n)
{
	struct err err = { 0 };
	for (int i = 0; i < n; i++) {
		auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
		struct wire_sample s = { .interval_ms = 5000, .forecast.owner = -1 };
		s.head = (struct wire_head){ live(rig)->epoch, spool_next(live(rig)), 5, { 6 } };
		assert_int_equal(wire_encode_sample(&s, &frame, &err), 0);
		put_text(rig, SPOOL_SAMPLE, 0, buf_str(&frame));
	}
}

static void finding(struct rig *rig, enum wire_edge edge)
{
	struct err err = { 0 };
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	struct wire_message message = { .type = WIRE_FINDING };
	struct wire_finding *f = &message.finding;
	f->head = (struct wire_head){ live(rig)->epoch, spool_next(live(rig)), 5, { 6 } };
	f->edge = edge;
	f->severity = SEVERITY_WARNING;
	f->owner = -1;
	memcpy(f->id, "x", 2);
	memcpy(f->rule, "freeboard-low", 14);
	assert_int_equal(wire_encode(&message, &frame, &err), 0);
	put_text(rig, SPOOL_FINDING, edge, buf_str(&frame));
}

/* All that is said now: "hello 1:1-4 2:1-0", "1:3s", "1:4-6superseded", "bye". */
static const char *said(struct rig *rig)
{
	static char dest[1024];
	size_t len = 0;
	dest[0] = '\0';
	for (;;) {
		auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
		struct wire_message m;
		enum wire_error_code code;
		struct err err = { 0 };
		if (!uplink_next(&rig->uplink, rig->now, (struct wall){ 7 }, &frame))
			return dest;
		if (wire_decode(buf_str(&frame), &m, &code, &err) < 0)
			fail_msg("%s: %s", err.message, frame.ptr);
		char *at = dest + len;
		size_t room = sizeof dest - len;
		if (len) {
			*at++ = ' ';
			room--;
			len++;
		}
		switch ((int)m.type) {
		case WIRE_HELLO:
			len += (size_t)snprintf(at, room, "hello");
			assert_string_equal(m.hello.subject.pod, "tm-1");
			for (size_t i = 0; i < m.hello.n_epochs; i++)
				len += (size_t)snprintf(dest + len, sizeof dest - len, " %u:%llu-%llu",
							m.hello.epochs[i].epoch.bytes[0],
							(unsigned long long)m.hello.epochs[i].first,
							(unsigned long long)m.hello.epochs[i].last);
			break;
		case WIRE_SAMPLE:
			len += (size_t)snprintf(at, room, "%u:%llus", m.sample.head.epoch.bytes[0],
						(unsigned long long)m.sample.head.seq);
			break;
		case WIRE_FINDING:
			len += (size_t)snprintf(at, room, "%u:%lluf", m.finding.head.epoch.bytes[0],
						(unsigned long long)m.finding.head.seq);
			break;
		case WIRE_GAP:
			len += (size_t)snprintf(at, room, "%u:%llu-%llu%s", m.gap.epoch.bytes[0],
						(unsigned long long)m.gap.from, (unsigned long long)m.gap.to,
						m.gap.reason);
			break;
		default:
			len += (size_t)snprintf(at, room, "%s", wire_type_names[m.type]);
			break;
		}
		assert_true(len < sizeof dest);
	}
}

static void hear(struct rig *rig, const struct wire_message *message)
{
	struct err err = { 0 };
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	assert_int_equal(wire_encode(message, &frame, &err), 0);
	uplink_frame(&rig->uplink, rig->now, buf_str(&frame), &rig->heard);
}

static void hear_text(struct rig *rig, const char *text)
{
	uplink_frame(&rig->uplink, rig->now, str_of(text), &rig->heard);
}

static void welcome(struct rig *rig, uint32_t window, unsigned epoch, uint64_t acked)
{
	struct wire_message m = { .type = WIRE_WELCOME };
	m.welcome = (struct wire_welcome){ .window = window, .min_interval_ms = 1000, .max_frame = WIRE_FRAME_MAX };
	m.welcome.acked[0] = (struct wire_position){ epoch_of(epoch), acked };
	m.welcome.n_acked = 1;
	hear(rig, &m);
}

static void ack(struct rig *rig, unsigned epoch, uint64_t seq)
{
	const struct wire_message m = { .type = WIRE_ACK, .ack = { epoch_of(epoch), seq } };
	hear(rig, &m);
}

static void error(struct rig *rig, enum wire_error_code code)
{
	struct wire_message m = { .type = WIRE_ERROR, .error = { .code = code } };
	memcpy(m.error.text, "no\x1b[31m", 8);
	hear(rig, &m);
}

static void end(struct rig *rig, enum wsclient_end how, unsigned http_status, unsigned close_code, uint64_t chance)
{
	struct wsclient_ended ended = { .end = how, .http_status = http_status, .close_code = close_code };
	memcpy(ended.why, "why", 4);
	uplink_ended(&rig->uplink, rig->now, &ended, chance, &rig->ended);
}

static void open_session(struct rig *rig)
{
	uplink_opened(&rig->uplink, rig->now);
}

static void a_wish_for_silence_is_capped(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	open_session(rig);
	assert_string_equal(said(rig), "hello 1:1-0");
	hear_text(
		rig,
		"{\"type\":\"welcome\",\"acked\":[],\"window\":9,\"min_interval_ms\":4294967295,\"max_frame\":65536}");
	assert_true(rig->heard.began);
	assert_int_equal(rig->uplink.min_interval_ms, UPLINK_WISH_MAX_MS);
}

static void order_window_and_acks(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 6);
	assert_string_equal(said(rig), ""); /* not before there is a session */
	open_session(rig);
	assert_string_equal(said(rig), "hello 1:1-6");
	assert_string_equal(said(rig), "");
	ack(rig, 1, 3); /* before the welcome: nothing was sent */
	assert_int_equal(live(rig)->index.acked, 0);
	welcome(rig, 3, 1, 0);
	assert_true(rig->heard.began);
	assert_string_equal(said(rig), "1:1s 1:2s 1:3s");
	ack(rig, 1, 2);
	assert_true(rig->heard.acked);
	assert_string_equal(said(rig), "1:4s 1:5s");
	ack(rig, 1, 6); /* what was never sent */
	ack(rig, 9, 1); /* nor heard of */
	ack(rig, 1, 1); /* late */
	assert_int_equal(live(rig)->index.acked, 2);
	assert_int_equal(rig->uplink.errors_total, 2);
	ack(rig, 1, 5);
	assert_string_equal(said(rig), "1:6s");
	ack(rig, 1, 6);
	assert_string_equal(said(rig), "");
	assert_true(uplink_idle(&rig->uplink));
	assert_int_equal(rig->uplink.acked_total, 6);
	assert_int_equal(rig->uplink.resent_total, 0);
}

static void resends_from_what_is_acked(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 4);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 0);
	assert_string_equal(said(rig), "1:1s 1:2s 1:3s 1:4s");
	end(rig, WSCLIENT_CLOSED, 0, 0, 0);
	open_session(rig);
	assert_string_equal(said(rig), "hello 1:1-4");
	welcome(rig, 100, 1, 2); /* the ack was lost, not what it was for */
	assert_string_equal(said(rig), "1:3s 1:4s");
	assert_int_equal(rig->uplink.resent_total, 2);
	/* A collector that was given back an older store asks for what is gone: that is a gap. */
	ack(rig, 1, 4);
	sample(rig, 1);
	end(rig, WSCLIENT_CLOSED, 0, 0, 0);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 1);
	assert_string_equal(said(rig), "1:2-4spool-lost 1:5s");
	ack(rig, 1, 5);
	assert_true(uplink_idle(&rig->uplink));
	/* One that claims more than was ever given is not believed. */
	sample(rig, 1);
	end(rig, WSCLIENT_CLOSED, 0, 0, 0);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 99);
	assert_string_equal(said(rig), "1:1-5spool-lost 1:6s");
}

static void superseded_and_gaps_on_the_wire(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	finding(rig, WIRE_OPENED);
	finding(rig, WIRE_UPDATED);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 0);
	assert_string_equal(said(rig), "1:1f 1:2f");
	/* The next state makes one void that is on the wire already; then its ack comes. */
	finding(rig, WIRE_UPDATED);
	assert_string_equal(said(rig), "1:3f");
	ack(rig, 1, 2);
	assert_int_equal(live(rig)->index.acked, 2);
	finding(rig, WIRE_UPDATED);
	finding(rig, WIRE_UPDATED);
	end(rig, WSCLIENT_CLOSED, 0, 0, 0);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 2);
	assert_string_equal(said(rig), "1:3-4superseded 1:5f");
}

static void old_starts_and_the_live_one_in_turn(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	for (unsigned start = 1; start <= 2; start++) {
		auto_rig rig = rig_new(scratch.path, start);
		sample(rig, 3);
	}
	auto_rig rig = rig_new(scratch.path, 3);
	sample(rig, 2);
	open_session(rig);
	assert_string_equal(said(rig), "hello 1:1-3 2:1-3 3:1-2");
	welcome(rig, 5, 1, 1);
	assert_string_equal(said(rig), "3:1s 1:2s 3:2s 1:3s 2:1s");
	ack(rig, 1, 3);
	assert_int_equal(spool_n(rig->spool), 2);
	ack(rig, 1, 3); /* again, of a start that is done with */
	assert_string_equal(said(rig), "2:2s 2:3s");
	ack(rig, 3, 2);
	ack(rig, 2, 3);
	assert_true(uplink_idle(&rig->uplink));
	assert_false(rig->heard.close);
}

static void more_starts_than_a_hello_holds(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	for (unsigned start = 1; start <= 18; start++) {
		auto_rig rig = rig_new(scratch.path, start);
		sample(rig, 2);
	}
	auto_rig rig = rig_new(scratch.path, 19);
	open_session(rig);
	assert_non_null(strstr(said(rig), "hello 1:1-2 2:1-2"));
	welcome(rig, 100, 19, 0);
	assert_non_null(strstr(said(rig), "1:1-2spool-lost 2:1-2spool-lost 3:1-2spool-lost 4:1s 4:2s 5:1s"));
	for (unsigned start = 1; start <= 15; start++) {
		assert_false(rig->heard.close);
		ack(rig, start, 2);
	}
	/* There is room for the rest: a session of its own, at once. */
	assert_true(rig->heard.close);
	end(rig, WSCLIENT_CLOSED, 0, 1000, UINT64_MAX);
	assert_true(rig->ended.delay_ms <= 500);
	open_session(rig);
	assert_string_equal(said(rig), "hello 16:1-2 17:1-2 18:1-2 19:1-0");
}

static void files_that_others_wrote(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	{
		auto_rig rig = rig_new(scratch.path, 1);
		sample(rig, 1);
		put_text(rig, SPOOL_SAMPLE, 0, STR("{\"type\":\"bye\"}"));
		put_text(rig, SPOOL_SAMPLE, 0, STR("garbage"));
		sample(rig, 1);
	}
	auto_rig rig = rig_new(scratch.path, 2);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 0);
	assert_string_equal(said(rig), "1:1s 1:2-2spool-lost 1:3-3spool-lost 1:4s");
}

/* What people do at the collector reaches a session that runs: the policy and the terms, and nothing is sent again. */
static void a_further_welcome(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 3);
	open_session(rig);
	(void)said(rig);
	struct wire_message m = { .type = WIRE_WELCOME };
	m.welcome = (struct wire_welcome){ .window = 2, .max_frame = WIRE_FRAME_MAX, .policy = { .version = 7 } };
	hear(rig, &m);
	assert_true(rig->heard.began);
	assert_int_equal(rig->heard.policy->version, 7);
	assert_string_equal(said(rig), "1:1s 1:2s");
	m.welcome.window = 3;
	m.welcome.policy = (struct wire_policy){ .version = 8, .n_silences = 1 };
	memcpy(m.welcome.policy.silences[0].rule, "freeboard-low", 14);
	m.welcome.policy.silences[0].until.ms = 1798675200000;
	m.welcome.policy.silences[0].quiet = true;
	hear(rig, &m);
	assert_false(rig->heard.began);
	assert_false(rig->heard.close);
	assert_int_equal(rig->heard.policy->version, 8);
	assert_true(rig->heard.policy->silences[0].quiet);
	assert_int_equal(rig->uplink.sessions_total, 1);
	assert_int_equal(rig->uplink.errors_total, 0);
	assert_string_equal(said(rig), "1:3s");
	assert_int_equal(rig->uplink.resent_total, 0);
}

static void out_of_turn(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 3);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 2, 1, 0);
	assert_string_equal(said(rig), "1:1s 1:2s");
	welcome(rig, 2, 1, 2); /* a further one acks nothing */
	assert_int_equal(live(rig)->index.acked, 0);
	assert_false(rig->heard.began);
	assert_string_equal(said(rig), "");
	static const char *const texts[] = {
		"{\"type\":\"greeting\"}",
		"",
		"[]",
		"{",
		"{\"type\":\"hello\"}",
		"{\"type\":\"ack\"}",
		"\xff",
		"{\"type\":\"ack\",\"epoch\":\"01000000000000000000000000000000\",\"seq\":-1}",
		"{\"type\":\"bye\",\"reason\":\"x\"}",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		hear_text(rig, texts[i]);
		assert_false(rig->heard.close);
	}
	assert_int_equal(live(rig)->index.acked, 0);
	/* Fields of a later version. */
	hear_text(rig, "{\"type\":\"ack\",\"epoch\":\"01000000000000000000000000000000\",\"seq\":2,\"mood\":[1]}");
	assert_int_equal(live(rig)->index.acked, 2);
	assert_string_equal(said(rig), "1:3s");
}

static void unusable_welcome(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 1);
	open_session(rig);
	(void)said(rig);
	struct wire_message m = { .type = WIRE_WELCOME };
	m.welcome = (struct wire_welcome){ .window = 1, .max_frame = 10 };
	hear(rig, &m);
	assert_true(rig->heard.close || !rig->heard.began);
	assert_string_equal(said(rig), "");
}

static void errors_end_the_session(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 3);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 1, 1, 0);
	(void)said(rig);
	error(rig, WIRE_ERR_STORE);
	assert_string_equal(rig->heard.event, "collector-error");
	assert_null(strchr(rig->heard.text, '\x1b'));
	ack(rig, 1, 1);
	assert_string_equal(said(rig), ""); /* silent until it is closed */
	const char *event = NULL;
	assert_false(uplink_stuck(&rig->uplink, rig->now, &event));
	pass_ms(rig, UPLINK_ERROR_MS);
	assert_true(uplink_stuck(&rig->uplink, rig->now, &event));
}

static void stuck_sessions(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	const char *event = NULL;
	assert_false(uplink_stuck(&rig->uplink, rig->now, &event));
	sample(rig, 1);
	open_session(rig);
	(void)said(rig);
	pass_ms(rig, UPLINK_WELCOME_MS - 1);
	assert_false(uplink_stuck(&rig->uplink, rig->now, &event));
	pass_ms(rig, 1);
	assert_true(uplink_stuck(&rig->uplink, rig->now, &event));
	assert_string_equal(event, "collector-silent");
	welcome(rig, 10, 1, 0);
	pass_ms(rig, 10 * UPLINK_ACK_MS); /* nothing was sent: nothing is due */
	assert_false(uplink_stuck(&rig->uplink, rig->now, &event));
	(void)said(rig);
	pass_ms(rig, UPLINK_ACK_MS - 1);
	assert_false(uplink_stuck(&rig->uplink, rig->now, &event));
	pass_ms(rig, 1);
	assert_true(uplink_stuck(&rig->uplink, rig->now, &event));
	assert_string_equal(event, "collector-acks-nothing");
	ack(rig, 1, 1);
	assert_false(uplink_stuck(&rig->uplink, rig->now, &event));
}

static void backoff_doubles_and_resets_when_stable(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	static const uint64_t bounds[] = { 500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000 };
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		struct uplink before = rig->uplink;
		end(rig, WSCLIENT_UNREACHED, 0, 0, 0);
		assert_true(rig->ended.delay_ms <= 10);
		/* The highest that chance can give. */
		rig->uplink = before;
		end(rig, WSCLIENT_UNREACHED, 0, 0, bounds[i] - 10);
		assert_int_equal(rig->ended.delay_ms, bounds[i]);
		for (uint64_t chance = 1; chance; chance <<= 1) {
			struct uplink again = before;
			struct wsclient_ended ended = { .end = WSCLIENT_UNREACHED };
			struct uplink_ended e;
			uplink_ended(&again, rig->now, &ended, chance, &e);
			assert_in_range(e.delay_ms, 1, bounds[i]);
		}
	}
	/* A session that lasts a moment mends nothing, one of a minute does. */
	open_session(rig);
	(void)said(rig);
	welcome(rig, 1, 1, 0);
	pass_ms(rig, UPLINK_STABLE_MS - 1);
	end(rig, WSCLIENT_CLOSED, 0, 1001, 59990);
	assert_int_equal(rig->ended.delay_ms, 60000);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 1, 1, 0);
	pass_ms(rig, UPLINK_STABLE_MS);
	end(rig, WSCLIENT_CLOSED, 0, 1001, 59990);
	assert_in_range(rig->ended.delay_ms, 1, 500);
	/* So does one of a minute that ends by an error of the collector. */
	for (int i = 0; i < 9; i++)
		end(rig, WSCLIENT_UNREACHED, 0, 0, 0);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 1, 1, 0);
	pass_ms(rig, UPLINK_STABLE_MS);
	error(rig, WIRE_ERR_STORE);
	end(rig, WSCLIENT_CLOSED, 0, 4503, 59990);
	assert_in_range(rig->ended.delay_ms, 1, 500);
}

static void how_it_ended_decides_when_to_come_again(void **state)
{
	(void)state;
	static const struct {
		enum wsclient_end end;
		unsigned http_status, close_code, retry_after_s;
		uint64_t least_ms, most_ms;
		bool lasting;
		const char *event, *text;
	} rows[] = {
		{ WSCLIENT_UNREACHED, 0, 0, 0, 1, 500, false, "collector-unreached", "why" },
		{ WSCLIENT_CLOSED, 0, 1001, 0, 1, 500, false, "collector-closed", "why" },
		{ WSCLIENT_CLOSED, 0, 0, 0, 1, 500, false, "collector-closed", "why" },
		{ WSCLIENT_CLOSED, 0, 4400, 0, 1, 500, false, "collector-closed", "why" },
		{ WSCLIENT_CLOSED, 0, 4503, 0, 1, 500, false, "collector-closed", "why" },
		{ WSCLIENT_CLOSED, 0, 4409, 0, 60000, 300000, true, "collector-closed", "another agent" },
		{ WSCLIENT_CLOSED, 0, 4401, 0, 60000, 300000, true, "collector-closed", "token" },
		{ WSCLIENT_REFUSED, 401, 0, 0, 60000, 300000, true, "collector-refuses", "token" },
		{ WSCLIENT_REFUSED, 403, 0, 0, 60000, 300000, true, "collector-refuses", "--allow-agents" },
		{ WSCLIENT_REFUSED, 404, 0, 0, 1, 500, false, "collector-refuses", "/agent" },
		{ WSCLIENT_REFUSED, 503, 0, 7, 7000, 8750, false, "collector-refuses", "why" },
		{ WSCLIENT_REFUSED, 503, 0, 4000000, 3600000, 4500000, false, "collector-refuses", "why" },
		{ WSCLIENT_REFUSED, 503, 0, 0, 1, 500, false, "collector-refuses", "why" },
		{ WSCLIENT_REFUSED, 429, 0, 1, 1000, 1500, false, "collector-refuses", "why" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (uint64_t chance = 0; chance < 50; chance++) {
			auto_rig rig = rig_new(NULL, 1);
			struct wsclient_ended ended = { rows[i].end, rows[i].http_status, rows[i].close_code,
							rows[i].retry_after_s, "why" };
			uplink_ended(&rig->uplink, rig->now, &ended, chance * UINT64_C(0x9e3779b97f4a7c15),
				     &rig->ended);
			if (rig->ended.delay_ms < rows[i].least_ms || rig->ended.delay_ms > rows[i].most_ms)
				fail_msg("row %zu: %llu ms", i, (unsigned long long)rig->ended.delay_ms);
			assert_int_equal(rig->ended.lasting, rows[i].lasting);
			assert_string_equal(rig->ended.event, rows[i].event);
			assert_non_null(strstr(rig->ended.text, rows[i].text));
		}
	}
	/* Other credentials than were shown are there by now: they are tried at once, unless it is not about them. */
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		auto_rig rig = rig_new(NULL, 1);
		struct wsclient_ended ended = { rows[i].end, rows[i].http_status, rows[i].close_code,
						rows[i].retry_after_s, "why" };
		bool denied = rows[i].http_status == 401 || rows[i].http_status == 403 || rows[i].close_code == 4401;
		rig->uplink.fresh = true;
		uplink_ended(&rig->uplink, rig->now, &ended, 4711, &rig->ended);
		assert_int_equal(rig->ended.denied, denied);
		assert_int_equal(rig->ended.lasting, rows[i].lasting && !denied);
		assert_int_equal(denied && strstr(rig->ended.text, "a fresher token") == NULL, 0);
		assert_int_equal(denied && rig->ended.delay_ms > 500, 0);
	}
	/* The error says it where the close was lost. */
	auto_rig rig = rig_new(NULL, 1);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 1, 1, 0);
	error(rig, WIRE_ERR_REPLACED);
	end(rig, WSCLIENT_CLOSED, 0, 0, 0);
	assert_true(rig->ended.lasting);
}

/* One session up to its end by a protocol error at what it sent last. */
static const char *session_that_fails(struct rig *rig, uint64_t acked)
{
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, acked);
	const char *text = said(rig);
	error(rig, WIRE_ERR_MALFORMED);
	end(rig, WSCLIENT_CLOSED, 0, WIRE_CLOSE_PROTOCOL, 0);
	return text;
}

static void a_message_nobody_takes_does_not_block_the_rest(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 5);
	assert_string_equal(session_that_fails(rig, 1), "1:2s 1:3s 1:4s 1:5s");
	/* One at a time now: 2 goes well, 3 does not. */
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 1);
	assert_string_equal(said(rig), "1:2s");
	ack(rig, 1, 2);
	assert_string_equal(said(rig), "1:3s");
	error(rig, WIRE_ERR_MALFORMED);
	end(rig, WSCLIENT_CLOSED, 0, WIRE_CLOSE_PROTOCOL, 0);
	assert_string_equal(session_that_fails(rig, 2), "1:3s");
	assert_non_null(strstr(rig->ended.text, "left out"));
	open_session(rig);
	(void)said(rig);
	welcome(rig, 100, 1, 2);
	assert_string_equal(said(rig), "1:3-3unwritable");
	ack(rig, 1, 3);
	assert_string_equal(said(rig), "1:4s");
	ack(rig, 1, 4);
	assert_string_equal(said(rig), "1:5s");
	assert_int_equal(rig->uplink.refused_total, 1);
}

static void too_fast_for_the_collector(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 40);
	for (int i = 0; i < 9; i++) {
		open_session(rig);
		(void)said(rig);
		welcome(rig, 4096, 1, 0);
		end(rig, WSCLIENT_CLOSED, 0, WIRE_CLOSE_RATE, 0);
	}
	open_session(rig);
	(void)said(rig);
	welcome(rig, 4096, 1, 0);
	assert_string_equal(said(rig), "1:1s 1:2s 1:3s 1:4s 1:5s 1:6s 1:7s 1:8s");
}

static void too_long_for_the_collector(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	char big[6000];
	memset(big, 'x', sizeof big);
	sample(rig, 1);
	put_text(rig, SPOOL_SAMPLE, 0, (struct str){ big, sizeof big });
	sample(rig, 1);
	open_session(rig);
	(void)said(rig);
	struct wire_message m = { .type = WIRE_WELCOME };
	m.welcome = (struct wire_welcome){ .window = 10, .max_frame = 5000 };
	hear(rig, &m);
	assert_string_equal(said(rig), "1:1s 1:2-2unwritable 1:3s");
}

static void says_bye_when_all_is_acked(void **state)
{
	(void)state;
	auto_rig rig = rig_new(NULL, 1);
	sample(rig, 2);
	open_session(rig);
	(void)said(rig);
	welcome(rig, 1, 1, 0);
	rig->uplink.leaving = true;
	rig->uplink.reason = "stopping";
	assert_string_equal(said(rig), "1:1s");
	ack(rig, 1, 1);
	assert_string_equal(said(rig), "1:2s");
	ack(rig, 1, 2);
	assert_string_equal(said(rig), "bye");
	assert_int_equal(rig->uplink.state, UPLINK_LEFT);
	assert_string_equal(said(rig), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wish_for_silence_is_capped),
		cmocka_unit_test(order_window_and_acks),
		cmocka_unit_test(resends_from_what_is_acked),
		cmocka_unit_test(superseded_and_gaps_on_the_wire),
		cmocka_unit_test(old_starts_and_the_live_one_in_turn),
		cmocka_unit_test(more_starts_than_a_hello_holds),
		cmocka_unit_test(files_that_others_wrote),
		cmocka_unit_test(out_of_turn),
		cmocka_unit_test(a_further_welcome),
		cmocka_unit_test(unusable_welcome),
		cmocka_unit_test(errors_end_the_session),
		cmocka_unit_test(stuck_sessions),
		cmocka_unit_test(backoff_doubles_and_resets_when_stable),
		cmocka_unit_test(how_it_ended_decides_when_to_come_again),
		cmocka_unit_test(a_message_nobody_takes_does_not_block_the_rest),
		cmocka_unit_test(too_fast_for_the_collector),
		cmocka_unit_test(too_long_for_the_collector),
		cmocka_unit_test(says_bye_when_all_is_acked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
