/* SPDX-License-Identifier: Apache-2.0 */
/* http.c against a scripted peer on loopback: a child that answers each connection as its case says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "net/http.h"

/* What the peer does after it has read the request. */
enum act {
	ACT_TEXT,  /* sends `text`, closes */
	ACT_HANG,  /* sends `text`, then nothing */
	ACT_FLOOD, /* sends `text`, then bytes for as long as they are taken */
	ACT_DRIP,  /* sends `text`, then a byte every 20 ms */
	ACT_CLOSE, /* closes without an answer */
	ACT_ECHO,  /* answers with the request itself */
};

struct peer {
	pid_t pid;
	unsigned port;
	char url[64];
};

static void send_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void serve(int fd, enum act act, const char *text)
{
	char request[4096];
	size_t len = 0;
	while (len < sizeof request - 1) {
		ssize_t n = recv(fd, request + len, sizeof request - 1 - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		request[len] = '\0';
		if (strstr(request, "\r\n\r\n"))
			break;
	}
	if (act == ACT_CLOSE)
		return;
	send_all(fd, text, strlen(text));
	static char block[65536];
	memset(block, 'x', sizeof block);
	if (act == ACT_ECHO)
		send_all(fd, request, len);
	else if (act == ACT_HANG)
		pause();
	for (long i = 0; act == ACT_FLOOD && i < 1600; i++)
		if (send(fd, block, sizeof block, MSG_NOSIGNAL) <= 0)
			return;
	for (int i = 0; act == ACT_DRIP && i < 500; i++) {
		if (send(fd, "a", 1, MSG_NOSIGNAL) <= 0)
			return;
		(void)nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
}

static struct peer peer_start(enum act act, const char *text)
{
	struct peer peer = { 0 };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	peer.port = ntohs(address.sin_port);
	(void)snprintf(peer.url, sizeof peer.url, "http://127.0.0.1:%u/metrics", peer.port);
	peer.pid = fork();
	assert_true(peer.pid >= 0);
	if (peer.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			int connection = accept(fd, NULL, NULL);
			if (connection < 0)
				_exit(0);
			serve(connection, act, text);
			(void)close(connection);
		}
	}
	(void)close(fd);
	return peer;
}

static void peer_stop(struct peer *peer)
{
	(void)kill(peer->pid, SIGKILL);
	(void)waitpid(peer->pid, NULL, 0);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

static void answers(void **state)
{
	(void)state;
	static const struct {
		enum act act;
		const char *text;
		enum http_want want;
		enum err_kind kind; /* NONE: the body is `body` */
		const char *body;   /* or what the message says */
	} cases[] = {
		{ ACT_TEXT, OK_HEAD "Content-Length: 4\r\n\r\na 1\n", HTTP_WANT_METRICS, ERR_NONE, "a 1\n" },
		{ ACT_TEXT, OK_HEAD "\r\na 1\n", HTTP_WANT_METRICS, ERR_NONE, "a 1\n" },
		{ ACT_TEXT, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\na \r\n2\r\n1\n\r\n0\r\n\r\n",
		  HTTP_WANT_METRICS, ERR_NONE, "a 1\n" },
		{ ACT_TEXT, OK_HEAD "Content-Length: 0\r\n\r\n", HTTP_WANT_METRICS, ERR_NONE, "" },
		{ ACT_TEXT, OK_HEAD "Content-Length: 2\r\n\r\n{}", HTTP_WANT_JSON, ERR_NONE, "{}" },
		{ ACT_TEXT, OK_HEAD "Content-Length: 2\r\n\r\n{}", HTTP_WANT_METRICS, ERR_MALFORMED, "answers JSON" },
		{ ACT_TEXT, "HTTP/1.1 200 OK\r\nContent-Type: text/HTML; charset=x\r\n\r\nhello", HTTP_WANT_METRICS,
		  ERR_MALFORMED, "HTML" },
		{ ACT_TEXT, OK_HEAD "\r\n  <!DOCTYPE html>", HTTP_WANT_JSON, ERR_MALFORMED, "HTML" },
		{ ACT_TEXT, OK_HEAD "\r\n<html>", HTTP_WANT_ANY, ERR_NONE, "<html>" },
		{ ACT_TEXT, OK_HEAD "Content-Length: 9\r\n\r\na 1\n", HTTP_WANT_METRICS, ERR_MALFORMED,
		  "before the length it announced" },
		{ ACT_TEXT, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n9\r\na", HTTP_WANT_METRICS, ERR_MALFORMED, "" },
		{ ACT_TEXT, OK_HEAD "Transfer-Encoding: chunked\r\n\r\nzz\r\na", HTTP_WANT_METRICS, ERR_IO, "" },
		{ ACT_TEXT, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n", HTTP_WANT_METRICS,
		  ERR_UNSUPPORTED, "redirect" },
		{ ACT_TEXT, "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<html>", HTTP_WANT_METRICS,
		  ERR_UNSUPPORTED, "404" },
		{ ACT_TEXT, "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n\r\n", HTTP_WANT_METRICS, ERR_DENIED,
		  "credentials" },
		{ ACT_TEXT, "HTTP/1.1 503 No\r\n\r\n", HTTP_WANT_METRICS, ERR_UNSUPPORTED, "503" },
		{ ACT_TEXT, "SSH-2.0-OpenSSH\r\n", HTTP_WANT_METRICS, ERR_MALFORMED, "does not speak HTTP" },
		{ ACT_CLOSE, "", HTTP_WANT_METRICS, ERR_MALFORMED, "does not speak HTTP" },
		{ ACT_FLOOD, OK_HEAD "\r\n", HTTP_WANT_METRICS, ERR_LIMIT, "more than 100000 bytes" },
		{ ACT_FLOOD, OK_HEAD "Content-Length: 104857600\r\n\r\n", HTTP_WANT_METRICS, ERR_LIMIT,
		  "more than 100000 bytes" },
		{ ACT_FLOOD, "HTTP/1.1 500 No\r\n\r\n", HTTP_WANT_METRICS, ERR_UNSUPPORTED, "500" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct peer peer = peer_start(cases[i].act, cases[i].text);
		auto_buf struct buf body = { .cap = 1 << 20 };
		struct http_request request = {
			.url = peer.url,
			.discovered = true,
			.want = cases[i].want,
			.cap = 100000,
			.timeout_ms = 5000,
		};
		struct http_meta meta = { .status = 77 };
		struct err err = { 0 };
		(void)buf_puts(&body, "before ");
		int status = http_get(&request, &body, &meta, &err);
		peer_stop(&peer);
		bool good = status == 0 && cases[i].kind == ERR_NONE && strcmp(body.ptr + 7, cases[i].body) == 0;
		bool refused = status < 0 && err.kind == cases[i].kind && strstr(err.message, cases[i].body) &&
			       strcmp(body.ptr, "before ") == 0 && !buf_failed(&body);
		if (!good && !refused)
			fail_msg("case %zu: %d %s '%s'", i, status, err.message, body.ptr);
		assert_int_equal(meta.status, good ? 200 : 77);
		assert_null(strstr(err.message, "169.254"));
	}
}

static long now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void deadlines(void **state)
{
	(void)state;
	static const struct {
		enum act act;
		const char *text;
	} cases[] = {
		{ ACT_HANG, "" },
		{ ACT_HANG, OK_HEAD },
		{ ACT_HANG, OK_HEAD "Content-Length: 10\r\n\r\na 1\n" },
		{ ACT_DRIP, OK_HEAD "Content-Length: 100000\r\n\r\n" },
		{ ACT_DRIP, OK_HEAD "X: " },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct peer peer = peer_start(cases[i].act, cases[i].text);
		auto_buf struct buf body = { .cap = 1 << 20 };
		struct http_request request = { .url = peer.url, .discovered = true, .timeout_ms = 150 };
		struct err err = { 0 };
		long start = now_ms();
		assert_true(http_get(&request, &body, NULL, &err) < 0);
		long took = now_ms() - start;
		peer_stop(&peer);
		if (err.kind != ERR_TIMEOUT || took > 3000)
			fail_msg("case %zu: %ld ms, %s", i, took, err.message);
		assert_int_equal(body.len, 0);
	}
}

static void nobody_listens(void **state)
{
	(void)state;
	struct peer peer = peer_start(ACT_CLOSE, "");
	peer_stop(&peer);
	auto_buf struct buf body = { .cap = 1 << 20 };
	struct http_request request = { .url = peer.url, .discovered = true };
	struct err err = { 0 };
	assert_true(http_get(&request, &body, NULL, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE);
	assert_non_null(strstr(err.message, "nobody listens"));
}

/* The environment's proxy is not asked, and the request holds nothing of ours. */
static void no_proxy_no_secrets(void **state)
{
	(void)state;
	struct peer proxy = peer_start(ACT_TEXT, OK_HEAD "\r\nproxied");
	struct peer peer = peer_start(ACT_ECHO, OK_HEAD "\r\n");
	char url[80];
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u", proxy.port);
	assert_int_equal(setenv("http_proxy", url, 1), 0);
	assert_int_equal(setenv("all_proxy", url, 1), 0);
	auto_buf struct buf body = { .cap = 1 << 20 };
	struct http_request request = { .url = peer.url, .want = HTTP_WANT_METRICS };
	struct http_meta meta;
	int status = http_get(&request, &body, &meta, NULL);
	peer_stop(&proxy);
	peer_stop(&peer);
	(void)unsetenv("http_proxy");
	(void)unsetenv("all_proxy");
	assert_int_equal(status, 0);
	assert_true(str_starts(buf_str(&body), STR("GET /metrics HTTP/1.1\r\n")));
	assert_non_null(strstr(body.ptr, "text/plain;version=0.0.4"));
	assert_null(strstr(body.ptr, "Authorization"));
	assert_null(strstr(body.ptr, "Cookie"));
	assert_string_equal(meta.content_type, "text/plain");
	assert_int_equal(meta.body_bytes, body.len);
}

/* A token goes where somebody says it may, in one header and nowhere else. */
static void a_get_as_somebody(void **state)
{
	(void)state;
	struct peer peer = peer_start(ACT_ECHO, OK_HEAD "\r\n");
	auto_buf struct buf body = { .cap = 1 << 20 };
	long answered = 0;
	struct http_request request = { .url = peer.url, .want = HTTP_WANT_JSON, .timeout_ms = 300 };
	struct http_login login = { .bearer = STR("sesame-0123456789"), .ret_status = &answered };
	int status = http_get_as(&request, &login, &body, NULL, NULL);
	peer_stop(&peer);
	assert_int_equal(status, 0);
	assert_int_equal(answered, 200);
	assert_true(str_starts(buf_str(&body), STR("GET /metrics HTTP/1.1\r\n")));
	assert_non_null(strstr(body.ptr, "\r\nAuthorization: Bearer sesame-0123456789\r\n"));
	/* Beyond loopback it is not even connected to, unless it may leave in the clear. */
	struct err err = { 0 };
	request.url = "http://192.0.2.1/";
	assert_true(http_get_as(&request, &login, &body, NULL, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_null(strstr(err.message, "sesame"));
	login.in_the_clear = true;
	assert_true(http_get_as(&request, &login, &body, NULL, &err) < 0);
	assert_int_not_equal(err.kind, ERR_USAGE);
	/* What would end the header early is no token. */
	login.bearer = STR("sesame\r\nX: y");
	assert_true(http_get_as(&request, &login, &body, NULL, &err) < 0);
	peer = peer_start(ACT_TEXT, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
	request.url = peer.url;
	login.bearer = STR("sesame-0123456789");
	assert_true(http_get_as(&request, &login, &body, NULL, &err) < 0);
	peer_stop(&peer);
	assert_int_equal(answered, 401);
	assert_int_equal(err.kind, ERR_DENIED);
}

static int stop_at_once(void *context, struct str piece, struct err *err)
{
	(void)piece;
	(*(int *)context)++;
	return err_set(err, ERR_MALFORMED, "the sink says no");
}

static void a_sink_stops_it(void **state)
{
	(void)state;
	struct peer peer = peer_start(ACT_FLOOD, OK_HEAD "\r\n");
	struct http_request request = { .url = peer.url, .discovered = true };
	struct err err = { 0 };
	int n = 0;
	assert_int_equal(http_get_to(&request, stop_at_once, &n, NULL, &err), -EBADMSG);
	peer_stop(&peer);
	assert_int_equal(n, 1);
	assert_string_equal(err.message, "the sink says no");
	auto_buf struct buf small = { .cap = 2 };
	peer = peer_start(ACT_TEXT, OK_HEAD "\r\nlonger");
	request.url = peer.url;
	assert_int_equal(http_get(&request, &small, NULL, &err), -EFBIG);
	peer_stop(&peer);
}

static void urls(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		bool discovered;
		enum err_kind kind;
	} cases[] = {
		{ "http://127.0.0.1:9249/metrics", true, ERR_NONE },
		{ "http://127.9.9.9/", true, ERR_NONE },
		{ "http://[::1]:9249/", true, ERR_NONE },
		{ "http://[::ffff:127.0.0.1]:1/", true, ERR_NONE },
		{ "http://169.254.169.254/latest/meta-data/", true, ERR_DENIED },
		{ "http://[::ffff:169.254.169.254]/", true, ERR_DENIED },
		{ "http://[fe80::1]/", true, ERR_DENIED },
		{ "http://2852039166/", true, ERR_DENIED },
		{ "http://0xa9fea9fe/", true, ERR_DENIED },
		{ "http://192.0.2.1/", true, ERR_DENIED },
		{ "http://[2001:db8::1]/", true, ERR_DENIED },
		{ "http://0.0.0.0/", true, ERR_DENIED },
		{ "http://192.0.2.1/", false, ERR_NONE },
		{ "https://192.0.2.1:9249/metrics?x=y", false, ERR_NONE },
		{ "HTTP://192.0.2.1/", false, ERR_NONE },
		{ "http://user@127.0.0.1/", false, ERR_USAGE },
		{ "http://user:secret@127.0.0.1/", false, ERR_USAGE },
		{ "http://:secret@127.0.0.1/", false, ERR_USAGE },
		{ "file:///etc/passwd", false, ERR_USAGE },
		{ "gopher://127.0.0.1/", false, ERR_USAGE },
		{ "ftp://127.0.0.1/", false, ERR_USAGE },
		{ "unix:///x", false, ERR_USAGE },
		{ "127.0.0.1:9249", false, ERR_USAGE },
		{ "", false, ERR_USAGE },
		{ "http://", false, ERR_USAGE },
		{ "http://127.0.0.1/\r\nX: y", false, ERR_USAGE },
		{ "http://127.0.0.1/a b", false, ERR_USAGE },
		{ "http://127.0.0.1:99999/", false, ERR_USAGE },
		{ "http://127.0.0.1\x1b[0m/", false, ERR_USAGE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = { 0 };
		int status = http_url_check(cases[i].url, cases[i].discovered, &err);
		if ((status < 0) != (cases[i].kind != ERR_NONE) || err.kind != cases[i].kind)
			fail_msg("%s: %d %s", cases[i].url, status, err.message);
		assert_null(strstr(err.message, "secret"));
		assert_null(strchr(err.message, '\x1b'));
		if (cases[i].kind == ERR_USAGE || !cases[i].discovered || cases[i].kind == ERR_NONE)
			continue;
		/* The same at the socket, where no check was made before. */
		auto_buf struct buf body = { .cap = 1024 };
		struct http_request request = { .url = cases[i].url, .discovered = true, .timeout_ms = 500 };
		err = (struct err){ 0 };
		assert_true(http_get(&request, &body, NULL, &err) < 0);
		if (err.kind != ERR_DENIED)
			fail_msg("%s: %s", cases[i].url, err.message);
	}
	char longer[3000];
	memset(longer, 'a', sizeof longer);
	memcpy(longer, "http://127.0.0.1/", 17);
	longer[sizeof longer - 1] = '\0';
	assert_true(http_url_check(longer, false, NULL) < 0);
}

/* Whoever posts decides by the status what to do with a message that was not taken. */
static void a_post_says_its_status(void **state)
{
	(void)state;
	static const struct {
		enum act act;
		const char *text;
		long status;
		bool good;
	} cases[] = {
		{ ACT_TEXT, OK_HEAD "Content-Length: 2\r\n\r\n{}", 200, true },
		{ ACT_TEXT, "HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\n{}", 400, false },
		{ ACT_TEXT, "HTTP/1.1 503 No\r\n\r\n", 503, false },
		{ ACT_TEXT, OK_HEAD "Content-Length: 9\r\n\r\n{}", 200, false },
		{ ACT_CLOSE, "", 0, false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct peer peer = peer_start(cases[i].act, cases[i].text);
		auto_buf struct buf body = { .cap = 1024 };
		struct err err = { 0 };
		long status = -1;
		const struct http_request request = { .url = peer.url };
		const struct http_post post = { .login = { .ret_status = &status }, .body = STR("{}") };
		assert_int_equal(http_post(&request, &post, &body, NULL, &err) == 0, cases[i].good);
		assert_int_equal(status, cases[i].status);
		peer_stop(&peer);
	}
}

static int done(void **state)
{
	(void)state;
	http_done();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls),
		cmocka_unit_test(answers),
		cmocka_unit_test(deadlines),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(no_proxy_no_secrets),
		cmocka_unit_test(a_get_as_somebody),
		cmocka_unit_test(a_sink_stops_it),
		cmocka_unit_test(a_post_says_its_status),
	};
	return cmocka_run_group_tests(tests, NULL, done);
}
