/* SPDX-License-Identifier: Apache-2.0 */
/* The server against raw sockets: requests as people write them, and everything that a client should not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "support/bothloops.h"
#include "support/stage.h"

static enum loop_kind kind;

#define CLOSE "Connection: close\r\n"

static const struct server_options quick = { .header_timeout_ms = 300,
					     .message_timeout_ms = 300,
					     .write_timeout_ms = 300,
					     .max_body = 1000,
					     .max_frame = 1000 };

static void raw_has(const struct raw *raw, const char *part)
{
	if (!strstr(raw->text, part))
		fail_msg("no \"%s\" in: %s", part, raw->text);
}

/* A request, and what the log and the answer must hold. The connection must end. */
static void requests_are_answered(void)
{
	static const struct {
		const char *request, *log, *answer;
	} cases[] = {
		{ "GET / HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "GET /; ", "HTTP/1.1 200 OK\r\n" },
		{ "GET / HTTP/1.0\r\n\r\n", "GET /; ", "{}" },
		{ "GET /a/b?c=d&e=f%20g HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "GET /a/b?c=d&e=f%20g; ", "200 OK" },
		{ "GET /a?x=1%262 HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "GET /a?x=1%262; ", "200 OK" },
		{ "GET /a%2fb HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "GET /a/b; ", "200 OK" },
		{ "GET /a/../../etc/passwd HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "GET /etc/passwd; ", "200 OK" },
		{ "GET /%2e%2e/%2e%2e/x HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "GET /x; ", "200 OK" },
		{ "GET /a%00b HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "", "" },
		{ "GET x HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "", "" },
		{ "GET http://evil/ HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "", "" },
		{ "HEAD / HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "HEAD /; ", "Content-Length: 2\r\n" },
		{ "DELETE /s/1 HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "DELETE /s/1; ", "200 OK" },
		{ "OPTIONS / HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n", "OPTIONS /; ", "200 OK" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n" CLOSE "\r\nabc", "POST / 3; ", "200 OK" },
		{ "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" CLOSE "\r\n", "PUT /; ", "200 OK" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" CLOSE "\r\n", "POST /; ", "200 OK" },
		{ "POST / HTTP/1.1\r\nHost: x\r\n\r\n", "", "411 Length Required" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", "", "400 Bad Request" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "",
		  "400 Bad Request" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nHost: evil\r\n\r\n", "", "400 Bad Request" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\nab", "", "413 Content Too Large" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "",
		  "411 Length Required" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nGET /evil HTTP/1.1\r\n\r\n", "",
		  "411 Length Required" },
		{ "CONNECT evil:80 HTTP/1.1\r\nHost: x\r\n\r\n", "", "" },
		{ "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "", "" },
		{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", "" },
		{ "\x16\x03\x01\x02\x01\xfc\x03\x03\r\n\r\n", "", "" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
		  "", "400 Bad Request" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
		  "", "400 Bad Request" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n"
		  "Sec-WebSocket-Protocol: bankfull.v1\r\n\r\n",
		  "", "400 Bad Request" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
		  "Sec-WebSocket-Protocol: bankfull.v2, http\r\n\r\n",
		  "", "400 Bad Request" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage stage;
		stage_init(&stage, kind, &quick);
		struct raw *raw = raw_text(&stage, cases[i].request);
		stage_run(&stage, 1);
		if (strcmp(stage.log, cases[i].log) != 0 || !strstr(raw->text, cases[i].answer) ||
		    (!cases[i].answer[0] && strstr(raw->text, "200 OK")))
			fail_msg("case %zu: log \"%s\", answer \"%s\"", i, stage.log, raw->text);
		stage_done(&stage);
	}
}

static void a_connection_serves_several_requests(void)
{
	static const char *const requests[] = { "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n",
						"DELETE /2 HTTP/1.1\r\nHost: x\r\n\r\n",
						"GET /3 HTTP/1.1\r\nHost: x\r\n\r\n",
						"POST /4 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab" };
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.count_replies = true; /* who has one may send at once */
	struct raw *raw = raw_new(&stage, "", 0);
	for (size_t i = 0; i < 4; i++) {
		raw_say(raw, requests[i], strlen(requests[i]));
		stage_run(&stage, i < 3 ? 1 : 2);
	}
	assert_string_equal(stage.log, "GET /1; DELETE /2; GET /3; POST /4 2; ");
	/* What has a body is the last, and its answer says so. */
	raw_has(raw, CLOSE);
	assert_ptr_equal(strstr(raw->text, CLOSE), strstr(strstr(raw->text, CLOSE), CLOSE));
	size_t n = 0;
	for (const char *p = raw->text; (p = strstr(p, "200 OK")); p++)
		n++;
	assert_int_equal(n, 4);
	stage_done(&stage);
}

/* With the second request in lws's hands already, 4.1.6 would read its body from its headers, and then loop for ever. */
static void nobody_may_pipeline(void)
{
	static const char *const requests[] = {
		"GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab",
		"POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabPOST /2 HTTP/1.1\r\nHost: x\r\n"
		"Content-Length: 2\r\n\r\nab",
		"GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n" RAW_UPGRADE,
	};
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		struct stage stage;
		stage_init(&stage, kind, NULL);
		struct raw *raw = raw_text(&stage, requests[i]);
		stage_run(&stage, 1);
		stage_has(&stage, " /1");
		assert_null(strstr(stage.log, "/2"));
		assert_null(strstr(stage.log, "DEADLINE"));
		/* lws 4.3.5 may close such a connection before its first answer is written, 4.1.6 does not. */
		if (raw->len > 0)
			raw_has(raw, "200 OK");
		stage_done(&stage);
	}
}

static void a_kept_connection_is_not_kept_for_ever(void)
{
	struct stage stage;
	stage_init(&stage, kind, &quick);
	struct raw *raw = raw_text(&stage, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "GET /1; ");
	raw_has(raw, "200 OK");
	stage_done(&stage);
}

static void headers_of_any_name_are_found(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	struct raw *raw =
		raw_text(&stage, "GET /x-header HTTP/1.1\r\nHost: x\r\nX-Custom:  some value\r\n" CLOSE "\r\n");
	stage_run(&stage, 1);
	raw_has(raw, "\r\n\r\nsome value");
	stage_done(&stage);
}

static void a_long_reply_arrives_whole(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.reply_bytes = 60000;
	struct raw *raw = raw_text(&stage, "GET / HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n");
	stage_run(&stage, 1);
	const char *body = strstr(raw->text, "\r\n\r\n");
	assert_non_null(body);
	assert_int_equal(strlen(body + 4), 60000);
	stage_done(&stage);
}

static void slow_headers_end(void)
{
	struct stage stage;
	stage_init(&stage, kind, &quick);
	raw_drip(&stage,
		 "GET / HTTP/1.1\r\nHost: x\r\nX-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	raw_new(&stage, "", 0); /* says nothing at all */
	raw_drip(&stage,
		 "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n");
	stage_run(&stage, 3);
	assert_string_equal(stage.log, "");
	struct server_counts counts;
	server_counts(stage.server, &counts);
	assert_true(counts.timeouts_total >= 2);
	stage_done(&stage);
}

static void a_slow_body_ends(void)
{
	struct stage stage;
	stage_init(&stage, kind, &quick);
	raw_text(&stage, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc");
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "");
	stage_done(&stage);
}

static void headers_past_8_kib_end(void)
{
	struct stage stage;
	char *text = malloc(20001);
	stage_init(&stage, kind, NULL);
	memset(text, 'a', 20000);
	text[20000] = '\0';
	memcpy(text, "GET / HTTP/1.1\r\nX-A: ", 21);
	raw_text(&stage, text);
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "");
	stage_done(&stage);
	free(text);
}

static void too_many_connections_are_closed(void)
{
	struct stage stage;
	stage_init(&stage, kind, &(struct server_options){ .max_connections = 2 });
	raw_text(&stage, RAW_UPGRADE);
	raw_text(&stage, RAW_UPGRADE);
	raw_text(&stage, RAW_UPGRADE);
	stage_run(&stage, 1);
	struct server_counts counts;
	server_counts(stage.server, &counts);
	assert_int_equal(counts.connections, 2);
	assert_int_equal(counts.refused_connections_total, 1);
	assert_true(stage.raws[2].ended);
	stage_done(&stage);
}

static void too_many_of_one_address_are_closed(void)
{
	struct stage stage;
	stage_init(&stage, kind, &(struct server_options){ .max_per_address = 1 });
	struct raw *first = raw_text(&stage, "GET /1 HTTP/1.1\r\nHost: x\r\n");
	raw_text(&stage, RAW_UPGRADE);
	stage_run(&stage, 1);
	assert_true(stage.raws[1].ended);
	assert_false(first->ended);
	/* It ends, and another one may come. */
	raw_say(first, CLOSE "\r\n", strlen(CLOSE "\r\n"));
	stage_run(&stage, 1);
	raw_has(first, "200 OK");
	struct raw *third = raw_text(&stage, "GET /3 HTTP/1.1\r\nHost: x\r\n" CLOSE "\r\n");
	stage_run(&stage, 1);
	raw_has(third, "200 OK");
	stage_done(&stage);
}

/* Upgraded, then these bytes: the close code that must come, as on_closed says it. */
struct frame_case {
	unsigned char first;
	size_t len;
	const char *bytes;
	const char *closed;
};

static void bad_frames_close(void)
{
	char large[1001];
	memset(large, 'x', sizeof(large));
	const struct frame_case cases[] = {
		{ 0x82, 3, "abc", "s-closed:1003 " },          /* binary */
		{ 0x81, 2, "\xc3\x28", "s-closed:1007 " },     /* no UTF-8 */
		{ 0x81, 1, "\xc3", "s-closed:1007 " },         /* cut UTF-8 */
		{ 0x81, 3, "\xed\xa0\x80", "s-closed:1007 " }, /* a surrogate */
		{ 0x81, 1001, large, "s-closed:1009 " },       /* one byte too large */
		{ 0x80, 1, "a", "s-closed:0 " },               /* continues nothing */
		{ 0x83, 1, "a", "s-closed:0 " },               /* unknown opcode */
		{ 0xc1, 1, "a", "s-closed:0 " },               /* RSV1 without an extension */
		{ 0x09, 1, "a", "s-closed:0 " },               /* a fragmented ping */
		{ 0x88, 2, "\x03\xe8", "s-closed:1000 " },     /* a plain close */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage stage;
		stage_init(&stage, kind, &quick);
		struct raw *raw = raw_text(&stage, RAW_UPGRADE);
		raw_frame(raw, cases[i].first, cases[i].bytes, cases[i].len);
		stage_run(&stage, 2);
		char wanted[64];
		snprintf(wanted, sizeof(wanted), "s-open %s", cases[i].closed);
		if (strcmp(stage.log, wanted) != 0)
			fail_msg("case %zu: %s", i, stage.log);
		raw_has(raw, "101 Switching Protocols");
		stage_done(&stage);
	}
}

/* The client's first that is known is spoken, in the request as in lws's answer, and its own cap holds. */
static void one_of_several_protocols_is_spoken(void)
{
	static const struct {
		const char *offered, *answer, *log;
	} cases[] = {
		{ "bankfull.v1", "Sec-WebSocket-Protocol: bankfull.v1\r\n", "s-open s-closed:1000 " },
		{ "bankfull.small", "Sec-WebSocket-Protocol: bankfull.small\r\n", "small s-open s-closed:1009 " },
		{ "x, bankfull.small ,bankfull.v1", "Sec-WebSocket-Protocol: bankfull.small\r\n",
		  "small s-open s-closed:1009 " },
		{ "bankfull.v1,bankfull.small", "Sec-WebSocket-Protocol: bankfull.v1\r\n", "s-open s-closed:1000 " },
		{ "BANKFULL.V1", "400 Bad Request", "" },
		{ "bankfull.v1.1, bankfull", "400 Bad Request", "" },
		{ " , ,", "400 Bad Request", "" },
		{ "\"bankfull.v1\"", "400 Bad Request", "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage stage;
		char text[512];
		snprintf(text, sizeof(text),
			 "GET /agent HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
			 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
			 "Sec-WebSocket-Protocol: %s\r\n\r\n",
			 cases[i].offered);
		stage_init(&stage, kind, &quick);
		stage.close_after_echo = 1000;
		struct raw *raw = raw_text(&stage, text);
		if (cases[i].log[0])
			raw_frame(raw, 0x81, "elevenbytes", 11);
		stage_run(&stage, cases[i].log[0] ? 2 : 1);
		if (!strstr(raw->text, cases[i].answer) || strcmp(stage.log, cases[i].log) != 0)
			fail_msg("%s: log \"%s\", answer \"%s\"", cases[i].offered, stage.log, raw->text);
		stage_done(&stage);
	}
}

static void a_frame_at_the_cap_is_echoed(void)
{
	struct stage stage;
	char large[1000];
	memset(large, 'x', sizeof(large));
	stage_init(&stage, kind, &quick);
	struct raw *raw = raw_text(&stage, RAW_UPGRADE);
	raw_frame(raw, 0x81, large, sizeof(large));
	stage.close_after_echo = 1000;
	stage_run(&stage, 2);
	assert_string_equal(stage.log, "s-open s-closed:1000 ");
	raw_has(raw, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	stage_done(&stage);
}

static void fragments_are_one_message(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	struct raw *raw = raw_text(&stage, RAW_UPGRADE);
	raw_frame(raw, 0x01, "gr\xc3", 3); /* a letter over two fragments */
	raw_frame(raw, 0x89, "p", 1);      /* a ping between them */
	raw_frame(raw, 0x00, "\xbc\xc3", 2);
	raw_frame(raw, 0x80, "\x9f", 1);
	stage.close_after_echo = 1000;
	stage_run(&stage, 2);
	assert_non_null(memmem(raw->text, raw->len, "\x81\x06gr\xc3\xbc\xc3\x9f", 8));
	assert_non_null(memmem(raw->text, raw->len, "\x8a\x01p", 3));
	stage_done(&stage);
}

static void fragments_past_the_cap_close(void)
{
	struct stage stage;
	char half[501];
	memset(half, 'x', sizeof(half));
	stage_init(&stage, kind, &quick);
	struct raw *raw = raw_text(&stage, RAW_UPGRADE);
	raw->stays = true; /* whoever does not go when told to is put out after a second */
	raw_frame(raw, 0x01, half, sizeof(half));
	raw_frame(raw, 0x00, half, sizeof(half));
	stage_run(&stage, 2);
	assert_string_equal(stage.log, "s-open s-closed:1009 ");
	stage_done(&stage);
}

static void fragments_without_end_are_cut(void)
{
	struct stage stage;
	stage_init(&stage, kind, &quick);
	struct raw *raw = raw_drip(&stage, RAW_UPGRADE); /* slower than the rest may be: see below */
	raw->drip_bytes = "";
	raw_say(raw, RAW_UPGRADE, strlen(RAW_UPGRADE));
	for (int i = 0; i < 20; i++)
		raw_frame(raw, i == 0 ? 0x01 : 0x00, "", 0);
	stage_run(&stage, 2);
	assert_string_equal(stage.log, "s-open s-closed:0 ");
	struct server_counts counts;
	server_counts(stage.server, &counts);
	assert_int_equal(counts.timeouts_total, 1);
	stage_done(&stage);
}

/* Announces 2^62 bytes and sends some. */
static void a_giant_is_refused_by_its_length(void)
{
	struct stage stage;
	static const unsigned char head[] = { 0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'x' };
	stage_init(&stage, kind, &quick);
	struct raw *raw = raw_text(&stage, RAW_UPGRADE);
	raw_say(raw, head, sizeof(head));
	stage_run(&stage, 2);
	assert_string_equal(stage.log, "s-open s-closed:1009 ");
	stage_done(&stage);
}

static void who_never_reads_is_cut(void)
{
	struct stage stage;
	stage_init(&stage, kind, &quick);
	stage.flood_bytes = 100000;
	struct raw *raw = raw_text(&stage, RAW_UPGRADE);
	loop_watch_free(raw->watch);
	raw->watch = NULL;
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "s-open s-closed:0 ");
	stage_done(&stage);
}

static void who_never_reads_a_reply_is_cut(void)
{
	struct stage stage;
	struct err err;
	stage_init(&stage, kind, &quick);
	stage.reply_bytes = 4 << 20; /* more than the kernel takes */
	struct raw *raw = raw_text(&stage, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	loop_watch_free(raw->watch);
	raw->watch = NULL;
	/* The deadline grows with the reply: 5 times 300 ms. Look at the counts until then. */
	struct server_counts counts = { 0 };
	for (int i = 0; i < 200 && (counts.timeouts_total == 0 || counts.connections > 0); i++) {
		loop_timer_set(stage.deadline, 50);
		assert_int_equal(loop_run(stage.loop, &err), 0);
		server_counts(stage.server, &counts);
	}
	assert_int_equal(counts.timeouts_total, 1);
	assert_int_equal(counts.connections, 0);
	stage_done(&stage);
}

static void who_never_answers_a_ping_is_cut(void)
{
	struct stage stage;
	stage_init(&stage, kind, &(struct server_options){ .ping_s = 1, .dead_s = 2 });
	struct raw *raw = raw_text(&stage, RAW_UPGRADE);
	stage_run(&stage, 2);
	assert_string_equal(stage.log, "s-open s-closed:0 ");
	assert_non_null(memmem(raw->text, raw->len, "\x89\x01", 3)); /* it was pinged first */
	stage_done(&stage);
}

/* A long reply that nobody reads, and bytes that wait behind its request. */
static void who_sends_on_without_reading_is_cut(void)
{
	static const char *const requests[] = {
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nmore",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nxmore",
	};
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		struct stage stage;
		struct err err;
		struct server_counts counts = { 0 };
		stage_init(&stage, kind, NULL);
		stage.reply_bytes = 8 << 20;
		struct raw *raw = raw_text(&stage, requests[i]);
		loop_watch_free(raw->watch);
		raw->watch = NULL;
		for (int j = 0; j < 400 && (j == 0 || counts.connections > 0); j++) {
			loop_timer_set(stage.deadline, 50);
			raw_say(raw, "more", 4);
			assert_int_equal(loop_run(stage.loop, &err), 0);
			server_counts(stage.server, &counts);
		}
		assert_int_equal(counts.connections, 0);
		stage_done(&stage);
	}
}

static void listeners_are_checked(void **state)
{
	(void)state;
	struct loop *loop;
	struct server *first, *server;
	struct err err;
	const struct server_events events = { 0 };
	assert_int_equal(loop_new(LOOP_POLL, NULL, NULL, &loop, &err), 0);
	struct server_options options = { .listeners[0] = { .name = "api", .address = "127.0.0.1" }, .n_listeners = 1 };
	assert_int_equal(server_new(loop, &options, &events, NULL, &first, &err), 0);
	options.listeners[0].port = server_port(first, 0);
	assert_true(server_new(loop, &options, &events, NULL, &server, &err) < 0);
	assert_int_equal(err.kind, ERR_IO);
	assert_non_null(strstr(err.message, "in use"));
	assert_non_null(strstr(err.message, "api"));
	static const char *const bad[] = { "localhost", "256.1.1.1", "127.0.0.1:80", "[::1]", " " };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options.listeners[0].address = bad[i];
		assert_true(server_new(loop, &options, &events, NULL, &server, &err) < 0);
		assert_int_equal(err.kind, ERR_USAGE);
	}
	options.listeners[0] = (struct server_listener){ .name = "api", .tls = { "/nowhere/c", "/nowhere/k", NULL } };
	assert_true(server_new(loop, &options, &events, NULL, &server, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, "/nowhere/c"));
	server_free(first);
	loop_free(loop);
}

BOTH(requests_are_answered)
BOTH(a_connection_serves_several_requests)
BOTH(nobody_may_pipeline)
BOTH(a_kept_connection_is_not_kept_for_ever)
BOTH(headers_of_any_name_are_found)
BOTH(a_long_reply_arrives_whole)
BOTH(slow_headers_end)
BOTH(a_slow_body_ends)
BOTH(headers_past_8_kib_end)
BOTH(too_many_connections_are_closed)
BOTH(too_many_of_one_address_are_closed)
BOTH(bad_frames_close)
BOTH(one_of_several_protocols_is_spoken)
BOTH(a_frame_at_the_cap_is_echoed)
BOTH(fragments_are_one_message)
BOTH(fragments_past_the_cap_close)
BOTH(fragments_without_end_are_cut)
BOTH(a_giant_is_refused_by_its_length)
BOTH(who_never_reads_is_cut)
BOTH(who_never_reads_a_reply_is_cut)
BOTH(who_never_answers_a_ping_is_cut)
BOTH(who_sends_on_without_reading_is_cut)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(listeners_are_checked),
		TESTS(requests_are_answered),
		TESTS(a_connection_serves_several_requests),
		TESTS(nobody_may_pipeline),
		TESTS(a_kept_connection_is_not_kept_for_ever),
		TESTS(headers_of_any_name_are_found),
		TESTS(a_long_reply_arrives_whole),
		TESTS(slow_headers_end),
		TESTS(a_slow_body_ends),
		TESTS(headers_past_8_kib_end),
		TESTS(too_many_connections_are_closed),
		TESTS(too_many_of_one_address_are_closed),
		TESTS(bad_frames_close),
		TESTS(one_of_several_protocols_is_spoken),
		TESTS(a_frame_at_the_cap_is_echoed),
		TESTS(fragments_are_one_message),
		TESTS(fragments_past_the_cap_close),
		TESTS(fragments_without_end_are_cut),
		TESTS(a_giant_is_refused_by_its_length),
		TESTS(who_never_reads_is_cut),
		TESTS(who_never_reads_a_reply_is_cut),
		TESTS(who_never_answers_a_ping_is_cut),
		TESTS(who_sends_on_without_reading_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
