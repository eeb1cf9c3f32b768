/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our server or our client alone, for net_ws.sh.
 *
 *   net_probe server CERT KEY CLIENT-CA      ("-": none) prints its port, then what happens; ends with SIGTERM
 *   net_probe client URL CA CERT KEY NAME    prints one line when it opened and one when it ended, with why
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/server.h"
#include "net/wsclient.h"

static struct loop *loop;
static struct server_ws *last;
static struct wsclient *client;
static char echo[65536];
static size_t echo_len;
static bool echo_waits;

static void fail(const struct err *err)
{
	printf("failed: %s\n", err->message);
	exit(1);
}

static const char *given(const char *argument)
{
	return strcmp(argument, "-") == 0 ? NULL : argument;
}

static void log_line(void *context, const char *text)
{
	(void)context;
	printf("log: %s\n", text);
}

static void on_request(void *context, const struct server_request *request, struct server_reply *reply)
{
	(void)context;
	buf_printf(&reply->body, "{\"path\":\"%.*s\",\"sans\":\"", (int)request->path.len, request->path.ptr);
	for (size_t i = 0; i < request->n_sans; i++)
		buf_printf(&reply->body, "%s ", request->sans[i]);
	buf_printf(&reply->body, "\",\"tls\":%d,\"peer\":\"%s\"}", request->is_tls, request->peer);
}

static bool on_upgrade(void *context, const struct server_request *request, struct server_reply *reply, void **session)
{
	(void)reply;
	*session = context;
	printf("upgrade %zu %s\n", request->n_sans, request->n_sans ? request->sans[0] : "");
	return true;
}

static void on_server_open(void *session, struct server_ws *ws)
{
	(void)session;
	last = ws;
}

static void on_server_frame(void *session, struct str frame)
{
	(void)session;
	memcpy(echo, frame.ptr, frame.len);
	echo_len = frame.len;
	echo_waits = true;
	server_ws_want_write(last);
}

static bool on_server_writable(void *session, struct buf *frame)
{
	(void)session;
	bool waits = echo_waits;
	echo_waits = false;
	return waits && buf_add(frame, (struct str){ echo, echo_len });
}

static void on_server_closed(void *session, unsigned code)
{
	(void)session;
	last = NULL;
	printf("closed %u\n", code);
}

static const struct server_events server_events = { on_request,      on_upgrade,         on_server_open,
						    on_server_frame, on_server_writable, on_server_closed };

static void on_signal(void *context, int number)
{
	(void)context;
	(void)number;
	loop_stop(loop);
}

static void on_open(void *context)
{
	(void)context;
	printf("open\n");
	wsclient_want_write(client);
}

static void on_frame(void *context, struct str frame)
{
	(void)context;
	printf("frame %.*s\n", (int)frame.len, frame.ptr);
	if (str_eq(frame, STR("hello")))
		wsclient_close(client, 1000, "done");
}

static bool on_writable(void *context, struct buf *frame)
{
	bool *said = context;
	if (*said)
		return false;
	*said = true;
	return buf_puts(frame, "hello");
}

static void on_end(void *context, const struct wsclient_ended *ended)
{
	(void)context;
	static const char *const ends[] = { "refused", "unreached", "closed" };
	printf("%s status=%u code=%u why=%s\n", ends[ended->end], ended->http_status, ended->close_code, ended->why);
	loop_stop(loop);
}

static const struct wsclient_events client_events = { on_open, on_frame, on_writable, on_end };

static int run_server(char **arguments)
{
	struct err err;
	struct server *server;
	static const int signals[] = { SIGTERM };
	struct server_options options = {
		.listeners = { { .name = "probe",
				 .address = "127.0.0.1",
				 .tls = { given(arguments[0]), given(arguments[1]), given(arguments[2]) } } },
		.n_listeners = 1,
		.protocols = { { .name = "bankfull.v1" } },
		.n_protocols = 1,
		.ping_s = 1,
		.dead_s = 3,
	};
	if (loop_new(LOOP_UV, log_line, NULL, &loop, &err) < 0 ||
	    loop_signals(loop, signals, 1, on_signal, NULL, &err) < 0 ||
	    server_new(loop, &options, &server_events, loop, &server, &err) < 0)
		fail(&err);
	printf("port %u\n", server_port(server, 0));
	if (loop_run(loop, &err) < 0)
		fail(&err);
	server_free(server);
	loop_free(loop);
	return 0;
}

static int run_client(char **arguments)
{
	struct err err;
	bool said = false;
	struct wsclient_options options = {
		.url = arguments[0],
		.protocol = "bankfull.v1",
		.ca_file = given(arguments[1]),
		.cert_file = given(arguments[2]),
		.key_file = given(arguments[3]),
		.server_name = given(arguments[4]),
		.connect_timeout_ms = 5000,
		.ping_s = 1,
		.dead_s = 3,
	};
	if (loop_new(LOOP_POLL, log_line, NULL, &loop, &err) < 0 ||
	    wsclient_new(loop, &options, &client_events, &said, &client, &err) < 0 ||
	    wsclient_connect(client, &err) < 0)
		fail(&err);
	if (loop_run(loop, &err) < 0)
		fail(&err);
	wsclient_free(client);
	loop_free(loop);
	return 0;
}

int main(int n, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (n == 5 && strcmp(arguments[1], "server") == 0)
		return run_server(arguments + 2);
	if (n == 7 && strcmp(arguments[1], "client") == 0)
		return run_client(arguments + 2);
	return 2;
}
