/* SPDX-License-Identifier: Apache-2.0 */
/* Our client and our server, on both kinds of loop: what the wire's two ends rely on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/bothloops.h"
#include "support/scratch.h"
#include "support/stage.h"

static enum loop_kind kind;

/* A loopback socket that is bound; listening, it takes connections and never answers. */
static int silent_socket(bool listening, uint16_t *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	if (listening)
		assert_int_equal(listen(fd, 8), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static void frames_go_both_ways(void)
{
	struct stage stage;
	char *large = malloc(60001);
	memset(large, 'x', 60000);
	large[60000] = '\0';
	stage_init(&stage, kind, NULL);
	stage.send[0] = "{\"a\":1}";
	stage.send[1] = "";
	stage.send[2] = large;
	stage.send[3] = "gr\xc3\xbc\xc3\x9f";
	stage.n_send = 4;
	stage_client(&stage, NULL);
	stage_run(&stage, 2);
	stage_has(&stage, "s-open c-open <{\"a\":1}> <> <60000> <gr\xc3\xbc\xc3\x9f> ");
	stage_has(&stage, "s-closed:1000");
	assert_int_equal(stage.ended.end, WSCLIENT_CLOSED);
	struct server_counts counts;
	server_counts(stage.server, &counts);
	assert_int_equal(counts.connections, 0);
	assert_int_equal(counts.accepted_total, 1);
	assert_int_equal(counts.frames_total, 4);
	stage_done(&stage);
	free(large);
}

static void a_refusal_says_when_to_come_back(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.refuse = 503;
	stage.retry_after_s = 17;
	stage_client(&stage, NULL);
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "c-end ");
	assert_int_equal(stage.ended.end, WSCLIENT_REFUSED);
	assert_int_equal(stage.ended.http_status, 503);
	assert_int_equal(stage.ended.retry_after_s, 17);
	assert_string_equal(stage.ended.why, "HTTP status 503");
	/* The same client tries again. */
	struct err err;
	stage.refuse = 401;
	stage.retry_after_s = 0;
	assert_int_equal(wsclient_connect(stage.client, &err), 0);
	stage_run(&stage, 1);
	assert_int_equal(stage.ended.http_status, 401);
	assert_int_equal(stage.ended.retry_after_s, 0);
	stage.refuse = 0;
	stage.send[0] = "now";
	stage.n_send = 1;
	assert_int_equal(wsclient_connect(stage.client, &err), 0);
	stage_run(&stage, 2);
	stage_has(&stage, "s-open c-open <now> ");
	stage_done(&stage);
}

static void a_token_is_read_anew_and_sent(void)
{
	struct stage stage;
	struct scratch scratch = scratch_new();
	struct err err = { 0 };
	char path[300];
	snprintf(path, sizeof(path), "%s/token", scratch.path);
	stage_init(&stage, kind, NULL);
	stage.refuse = 401;
	struct wsclient_options options = { .token_file = path };
	scratch_file(&scratch, "token", "first-token\n");
	stage_client(&stage, &options);
	stage_run(&stage, 1);
	assert_int_equal(unlink(path), 0);
	assert_true(wsclient_connect(stage.client, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE);
	scratch_file(&scratch, "token", "second\r\nX-Evil: 1");
	assert_true(wsclient_connect(stage.client, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_null(strstr(err.message, "second"));
	assert_int_equal(unlink(path), 0);
	scratch_file(&scratch, "token", "second");
	assert_int_equal(wsclient_connect(stage.client, &err), 0);
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "[Bearer first-token] c-end [Bearer second] c-end ");
	assert_null(strstr(stage.ended.why, "second"));
	stage_done(&stage);
	scratch_done(&scratch);
}

static void nobody_listens(void)
{
	struct stage stage;
	char url[64];
	uint16_t port;
	int fd = silent_socket(false, &port);
	stage_init(&stage, kind, NULL);
	snprintf(url, sizeof(url), "ws://127.0.0.1:%u", port);
	stage_client(&stage, &(struct wsclient_options){ .url = url });
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "c-end ");
	assert_int_equal(stage.ended.end, WSCLIENT_UNREACHED);
	assert_string_not_equal(stage.ended.why, "");
	stage_done(&stage);
	close(fd);
}

static void a_peer_that_never_answers_is_given_up(void)
{
	struct stage stage;
	char url[64];
	uint16_t port;
	int fd = silent_socket(true, &port);
	stage_init(&stage, kind, NULL);
	snprintf(url, sizeof(url), "ws://127.0.0.1:%u", port);
	stage_client(&stage, &(struct wsclient_options){ .url = url, .connect_timeout_ms = 200 });
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "c-end ");
	assert_int_equal(stage.ended.end, WSCLIENT_UNREACHED);
	assert_non_null(strstr(stage.ended.why, "deadline"));
	stage_done(&stage);
	close(fd);
}

static void a_name_is_looked_up(void)
{
	struct stage stage;
	char url[64];
	stage_init(&stage, kind, NULL);
	stage.send[0] = "x";
	stage.n_send = 1;
	snprintf(url, sizeof(url), "ws://localhost:%u/agent", server_port(stage.server, 0));
	stage_client(&stage, &(struct wsclient_options){ .url = url });
	stage_run(&stage, 1);
	/* Where ::1 comes first, the next attempt takes the other address. */
	struct err err;
	if (stage.ended.end == WSCLIENT_UNREACHED) {
		assert_int_equal(wsclient_connect(stage.client, &err), 0);
		stage_run(&stage, 2);
	}
	stage_has(&stage, "s-open c-open <x> ");
	stage_done(&stage);
}

static void a_name_without_address_says_so(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage_client(&stage, &(struct wsclient_options){ .url = "ws://nobody.invalid/agent" });
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "c-end ");
	assert_int_equal(stage.ended.end, WSCLIENT_UNREACHED);
	assert_non_null(strstr(stage.ended.why, "nobody.invalid"));
	stage_done(&stage);
}

static void another_protocol_is_refused(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage_client(&stage, &(struct wsclient_options){ .protocol = "bankfull.v9" });
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "c-end ");
	assert_int_equal(stage.ended.end, WSCLIENT_REFUSED);
	assert_int_equal(stage.ended.http_status, 400);
	stage_done(&stage);
}

static void a_client_may_be_freed_in_its_callback(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.send[0] = "x";
	stage.n_send = 1;
	stage.free_in_frame = true;
	stage_client(&stage, NULL);
	stage_run(&stage, 1);
	assert_string_equal(stage.log, "s-open c-open <x> s-closed:0 ");
	stage_done(&stage);
}

static void a_frame_past_the_cap_closes(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	char large[5001];
	memset(large, 'x', 5000);
	large[5000] = '\0';
	stage.send[0] = large;
	stage.n_send = 1;
	stage_client(&stage, &(struct wsclient_options){ .max_frame = 4999 });
	stage_run(&stage, 2);
	stage_has(&stage, "s-closed:1009");
	assert_null(strstr(stage.log, "<5000>"));
	assert_non_null(strstr(stage.ended.why, "1009"));
	stage_done(&stage);
}

static void the_servers_close_code_is_told(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.send[0] = "x";
	stage.n_send = 1;
	stage.keep_open = true;
	stage.close_after_echo = 4409;
	stage_client(&stage, NULL);
	stage_run(&stage, 2);
	stage_has(&stage, "<x> ");
	assert_int_equal(stage.ended.end, WSCLIENT_CLOSED);
	assert_int_equal(stage.ended.close_code, 4409);
	assert_string_equal(stage.ended.why, "closed by the server with 4409: enough");
	stage_done(&stage);
}

static void a_drained_server_says_that_it_goes(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.send[0] = "x";
	stage.n_send = 1;
	stage.keep_open = true;
	stage.close_after_echo = 0;
	stage_client(&stage, NULL);
	stage.free_in_frame = false;
	/* Run until the echo came, then drain. */
	stage.count_frames = true;
	stage_run(&stage, 1);
	stage_has(&stage, "<x> ");
	server_drain(stage.server);
	stage_run(&stage, 2);
	assert_int_equal(stage.ended.close_code, 1001);
	stage_done(&stage);
}

static void what_is_open_is_told_when_the_server_is_freed(void)
{
	struct stage stage;
	stage_init(&stage, kind, NULL);
	stage.send[0] = "x";
	stage.n_send = 1;
	stage.keep_open = true;
	stage_client(&stage, NULL);
	stage.count_frames = true;
	stage_run(&stage, 1);
	assert_null(strstr(stage.log, "s-closed"));
	server_free(stage.server);
	stage.server = NULL;
	stage_has(&stage, "s-closed:1001 ");
	stage_done(&stage);
}

static void urls_are_checked(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		bool good;
	} cases[] = {
		{ "ws://h", true },
		{ "wss://h.example:8480/agent", true },
		{ "ws://10.0.0.1:1/", true },
		{ "ws://[::1]:8480/agent", true },
		{ "ws://[::1]", true },
		{ "http://h/", false },
		{ "ws:/h", false },
		{ "ws://", false },
		{ "ws://:80/", false },
		{ "ws://h:0/", false },
		{ "ws://h:65536/", false },
		{ "ws://h:8o/", false },
		{ "ws://h/a?b=c", false },
		{ "ws://h/a#b", false },
		{ "ws://u@h/", false },
		{ "ws://u:secret@h/", false },
		{ "ws://h/a b", false },
		{ "ws://h\r\nX: y/", false },
		{ "ws://[h]/", false },
		{ "ws://[::1/", false },
		{ "", false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		int r = wsclient_url_check(cases[i].url, &err);
		if ((r == 0) != cases[i].good)
			fail_msg("%s: %d %s", cases[i].url, r, err.message);
		assert_null(strstr(err.message, "secret"));
		if (r < 0)
			assert_int_equal(err.kind, ERR_USAGE);
	}
}

static void options_are_checked(void **state)
{
	(void)state;
	static const struct {
		struct wsclient_options options;
		bool good;
	} cases[] = {
		{ { .url = "ws://10.0.0.1/", .protocol = "p", .token_file = "/t" }, false },
		{ { .url = "ws://collector/", .protocol = "p", .token_file = "/t" }, false },
		{ { .url = "ws://127.0.0.1/", .protocol = "p", .token_file = "/t" }, true },
		{ { .url = "ws://[::1]/", .protocol = "p", .token_file = "/t" }, true },
		{ { .url = "ws://localhost/", .protocol = "p", .token_file = "/t" }, true },
		{ { .url = "wss://10.0.0.1/", .protocol = "p", .token_file = "/t" }, true },
		{ { .url = "wss://h/", .protocol = "p", .ca_file = "/nowhere/ca" }, false },
		{ { .url = "wss://h/", .protocol = "p", .ca_pem = "no certificate" }, false },
		{ { .url = "wss://h/", .protocol = "p", .ca_pem = "" }, false },
		{ { .url = "wss://h/", .protocol = "p", .cert_file = "/c" }, false },
		{ { .url = "ws://127.0.0.1/", .protocol = "p", .ping_s = 9, .dead_s = 9 }, false },
	};
	struct loop *loop;
	struct err err;
	const struct wsclient_events events = { 0 };
	assert_int_equal(loop_new(LOOP_POLL, NULL, NULL, &loop, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wsclient *client = NULL;
		int r = wsclient_new(loop, &cases[i].options, &events, NULL, &client, &err);
		if ((r == 0) != cases[i].good)
			fail_msg("case %zu: %d %s", i, r, err.message);
		wsclient_free(client);
	}
	loop_free(loop);
}

BOTH(frames_go_both_ways)
BOTH(a_refusal_says_when_to_come_back)
BOTH(a_token_is_read_anew_and_sent)
BOTH(nobody_listens)
BOTH(a_peer_that_never_answers_is_given_up)
BOTH(a_name_is_looked_up)
BOTH(a_name_without_address_says_so)
BOTH(another_protocol_is_refused)
BOTH(a_client_may_be_freed_in_its_callback)
BOTH(a_frame_past_the_cap_closes)
BOTH(the_servers_close_code_is_told)
BOTH(a_drained_server_says_that_it_goes)
BOTH(what_is_open_is_told_when_the_server_is_freed)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_checked),
		cmocka_unit_test(options_are_checked),
		TESTS(frames_go_both_ways),
		TESTS(a_refusal_says_when_to_come_back),
		TESTS(a_token_is_read_anew_and_sent),
		TESTS(nobody_listens),
		TESTS(a_peer_that_never_answers_is_given_up),
		TESTS(a_name_is_looked_up),
		TESTS(a_name_without_address_says_so),
		TESTS(another_protocol_is_refused),
		TESTS(a_client_may_be_freed_in_its_callback),
		TESTS(a_frame_past_the_cap_closes),
		TESTS(the_servers_close_code_is_told),
		TESTS(a_drained_server_says_that_it_goes),
		TESTS(what_is_open_is_told_when_the_server_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
