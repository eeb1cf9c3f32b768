/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of one WebSocket connection. */
#include "net/wsclient.h"

#include "base/auto.h"
#include "base/esc.h"
#include "net/lookup.h"
#include "net/lws_frame.h"
#include "net/lws_loop.h"
#include "net/lws_tls.h"
#include "net/wsurl.h"
#include "sys/file.h"

#include <fcntl.h>
#include <stdio.h>

enum { TOKEN_CAP = 4096, FRAME_CAP = 16 * 1024 * 1024, CLOSE_WAIT_MS = 2000 };

enum client_state { CLIENT_IDLE, CLIENT_STARTING, CLIENT_LOOKUP, CLIENT_CONNECTING, CLIENT_OPEN, CLIENT_CLOSING };

struct wsclient {
	struct loop *loop;
	struct wsclient_events events;
	void *context;
	struct wsclient_options options; /* its texts are copies of ours */
	struct wsurl url;
	enum client_state state;
	struct loop_timer *timer;
	struct lookup *lookup;
	unsigned n_attempts; /* to take turns among the addresses of one name */
	struct lws *wsi;
	struct lws_vhost *vhost;
	SSL_CTX *tls;
	struct buf token; /* until it was sent */
	struct inbox inbox;
	struct buf out, scratch;
	struct mono heard; /* when something came last */
	bool pinged, want_ping, close_sent;
	bool in_connect, lost; /* inside lws's connect, where an end may come before it returns */
	unsigned want_close;
	char close_reason[100], alert[TLS_ALERT_CAP];
	struct wsclient_ended ended; /* what is known of the end so far */
};

/* --- ending -------------------------------------------------------------------------------- */

static void wipe_token(struct wsclient *client)
{
	if (client->token.ptr)
		explicit_bzero(client->token.ptr, client->token.room);
	buf_done(&client->token);
}

/* Let go of the connection, at once and without a word. lws frees it in its own time and tells us nothing more. */
static void drop(struct wsclient *client)
{
	if (client->wsi) {
		lws_set_opaque_user_data(client->wsi, NULL);
		lws_set_timeout(client->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
		loop_poke(client->loop);
	}
	client->wsi = NULL;
	lookup_free(client->lookup);
	client->lookup = NULL;
	loop_timer_cancel(client->timer);
	wipe_token(client);
	inbox_done(&client->inbox);
	client->state = CLIENT_IDLE;
}

/* The end of an attempt. The client may be gone after it. */
static void finish(struct wsclient *client, enum wsclient_end end, const char *why)
{
	struct wsclient_ended ended = client->ended;
	ended.end = end;
	if (!ended.why[0])
		esc_copy(ended.why, sizeof(ended.why), str_trim(str_of(why)));
	drop(client);
	client->events.on_end(client->context, &ended);
}

static void set_why(struct wsclient *client, const char *why)
{
	if (!client->ended.why[0])
		esc_copy(client->ended.why, sizeof(client->ended.why), str_trim(str_of(why)));
}

/* --- starting ------------------------------------------------------------------------------ */

static void connect_to(struct wsclient *client, const char *address)
{
	const struct wsurl *url = &client->url;
	if (client->token.len && !url->tls && !lookup_is_loopback(address)) {
		finish(client, WSCLIENT_UNREACHED, "a token is not sent without TLS to another machine");
		return;
	}
	char host[320];
	bool standard = url->port == (url->tls ? 443 : 80);
	bool bracket = url->is_v6 && !client->options.server_name;
	int len = snprintf(host, sizeof(host), "%s%s%s", bracket ? "[" : "",
			   client->options.server_name ? client->options.server_name : url->host, bracket ? "]" : "");
	if (!standard && len > 0 && (size_t)len < sizeof(host))
		snprintf(host + len, sizeof(host) - (size_t)len, ":%u", url->port);
	struct lws_client_connect_info info = {
		.context = client->loop->context,
		.vhost = client->vhost,
		.address = address,
		.port = url->port,
		.path = url->path,
		.host = host,
		.protocol = client->options.protocol,
		.local_protocol_name = LOOP_CLIENT_PROTOCOL,
		.alpn = "http/1.1",
		.opaque_user_data = client,
		.retry_and_idle_policy = &loop_no_keepalive,
		.pwsi = &client->wsi,
		/* The name was set in the context: lws cuts its own copy at the first ':'. */
		.ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT |
				  (url->tls ? LCCSCF_USE_SSL | LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK : 0),
	};
	client->state = CLIENT_CONNECTING;
	client->in_connect = true;
	client->lost = false;
	struct lws *wsi = lws_client_connect_via_info(&info);
	client->in_connect = false;
	client->wsi = client->lost ? NULL : wsi;
	if (!client->wsi)
		finish(client, WSCLIENT_UNREACHED, "the connection could not be started");
}

static void on_lookup(void *context, const struct lookup_result *result)
{
	struct wsclient *client = context;
	if (result->n == 0) {
		char why[320];
		snprintf(why, sizeof(why), "look up %s: %s", client->url.host, result->why);
		finish(client, WSCLIENT_UNREACHED, why);
		return;
	}
	char address[INET6_ADDRSTRLEN];
	snprintf(address, sizeof(address), "%s", result->addresses[client->n_attempts++ % result->n]);
	lookup_free(client->lookup);
	client->lookup = NULL;
	connect_to(client, address);
}

static void start(struct wsclient *client)
{
	loop_timer_set(client->timer, client->options.connect_timeout_ms);
	if (lookup_is_numeric(client->url.host)) {
		connect_to(client, client->url.host);
		return;
	}
	client->state = CLIENT_LOOKUP;
	struct err err;
	if (lookup_new(client->loop, client->url.host, on_lookup, client, &client->lookup, &err) < 0)
		finish(client, WSCLIENT_UNREACHED, err.message);
}

/* An idle connection: ping it, then give it up. */
static void watch_silence(struct wsclient *client)
{
	uint64_t silent_ms = mono_ms_until(client->heard, loop_now(client->loop));
	uint64_t ping_ms = client->options.ping_s * 1000ull, dead_ms = client->options.dead_s * 1000ull;
	if (silent_ms >= dead_ms) {
		char why[64];
		snprintf(why, sizeof(why), "nothing came for %u s", client->options.dead_s);
		finish(client, WSCLIENT_CLOSED, why);
		return;
	}
	if (silent_ms < ping_ms) {
		client->pinged = false;
	} else if (!client->pinged) {
		client->pinged = client->want_ping = true;
		lws_callback_on_writable(client->wsi);
	}
	loop_timer_set(client->timer, (client->pinged ? dead_ms : ping_ms) - silent_ms);
}

static void on_timer(void *context)
{
	struct wsclient *client = context;
	static const char *const waited[] = {
		[CLIENT_LOOKUP] = "the deadline passed while its name was looked up",
		[CLIENT_CONNECTING] = "the deadline passed before it was connected",
	};
	switch (client->state) {
	case CLIENT_IDLE:
		break;
	case CLIENT_STARTING:
		start(client);
		break;
	case CLIENT_LOOKUP:
	case CLIENT_CONNECTING:
		finish(client, WSCLIENT_UNREACHED, waited[client->state]);
		break;
	case CLIENT_OPEN:
		watch_silence(client);
		break;
	case CLIENT_CLOSING:
		finish(client, WSCLIENT_CLOSED, "closed by us; the peer did not answer");
		break;
	}
}

static int read_token(struct wsclient *client, struct err *err)
{
	client->token.cap = TOKEN_CAP;
	int r = file_read_at(AT_FDCWD, client->options.token_file, TOKEN_CAP, &client->token, err);
	if (r < 0) {
		err_wrap(err, "token");
		return r;
	}
	struct str token = str_trim(buf_str(&client->token));
	/* RFC 6750 section 2.1 and RFC 7235: a token has no blank and no control byte; one would end the header. */
	bool good = token.len > 0;
	for (size_t i = 0; i < token.len; i++)
		good = good && token.ptr[i] > ' ' && token.ptr[i] < 0x7f;
	if (good) {
		memmove(client->token.ptr, token.ptr, token.len);
		client->token.len = token.len;
		return 0;
	}
	wipe_token(client);
	return err_set(err, ERR_USAGE, "token %s: empty, or not one line of printable letters",
		       client->options.token_file);
}

int wsclient_connect(struct wsclient *client, struct err *err)
{
	if (client->state != CLIENT_IDLE)
		return err_set(err, ERR_USAGE, "connect: an attempt is under way");
	if (client->options.token_file) {
		int r = read_token(client, err);
		if (r < 0)
			return r;
	}
	if (client->tls) {
		int r = tls_client_refresh(client->tls, &client->options, err);
		if (r < 0) {
			wipe_token(client);
			return r;
		}
	}
	client->ended = (struct wsclient_ended){ 0 };
	client->want_close = 0;
	client->alert[0] = '\0';
	client->pinged = client->want_ping = client->close_sent = false;
	client->state = CLIENT_STARTING;
	loop_timer_set(client->timer, 0);
	return 0;
}

/* --- what lws tells ------------------------------------------------------------------------ */

static int add_token(struct wsclient *client, unsigned char **p, size_t len)
{
	if (client->token.len == 0)
		return 0;
	char header[sizeof("Bearer ") + TOKEN_CAP];
	int n = snprintf(header, sizeof(header), "Bearer %.*s", (int)client->token.len, client->token.ptr);
	int r = lws_add_http_header_by_token(client->wsi, WSI_TOKEN_HTTP_AUTHORIZATION, (unsigned char *)header, n, p,
					     *p + len);
	explicit_bzero(header, sizeof(header));
	wipe_token(client);
	return r;
}

/* The answer to the upgrade, whatever its status. */
static int on_answer(struct wsclient *client, struct lws *wsi)
{
	char text[32];
	uint64_t seconds;
	client->ended.http_status = lws_http_client_http_response(wsi);
	if (client->ended.http_status == 101)
		return 0;
	if (lws_hdr_copy(wsi, text, sizeof(text), WSI_TOKEN_HTTP_RETRY_AFTER) > 0 &&
	    str_is_u64(str_trim(str_of(text)), &seconds)) /* the form with a date is not used between us */
		client->ended.retry_after_s = seconds < UINT32_MAX ? (unsigned)seconds : UINT32_MAX;
	snprintf(text, sizeof(text), "HTTP status %u", client->ended.http_status);
	set_why(client, text);
	return -1;
}

static int check_protocol(struct wsclient *client, struct lws *wsi)
{
	char chosen[128];
	if (lws_hdr_copy(wsi, chosen, sizeof(chosen), WSI_TOKEN_PROTOCOL) > 0 &&
	    str_eq(str_trim(str_of(chosen)), str_of(client->options.protocol)))
		return 0;
	char why[160];
	snprintf(why, sizeof(why), "the server does not speak %s", client->options.protocol);
	set_why(client, why);
	return -1;
}

/* lws is about to free the connection. False: we are inside connect_to(), which tells the end. */
static bool let_go(struct wsclient *client, struct lws *wsi)
{
	lws_set_opaque_user_data(wsi, NULL);
	client->wsi = NULL;
	client->lost = true;
	return !client->in_connect;
}

static void on_failed(struct wsclient *client, struct lws *wsi, const char *in, size_t len)
{
	char why[200] = "";
	if (client->url.tls)
		tls_why(lws_get_ssl(wsi), why, sizeof(why));
	struct str said = { in ? in : "", in ? len : 0 };
	if (!why[0] && client->url.tls && str_has(said, STR("SSL err")))
		snprintf(why, sizeof(why), "no TLS handshake; without TLS there the address begins with ws://");
	if (!client->url.tls && str_eq(said, STR("read failed")))
		snprintf(why, sizeof(why), "cut before an answer; with TLS there the address begins with wss://");
	if (!why[0])
		snprintf(why, sizeof(why), "%.*s", (int)said.len, said.ptr);
	bool refused = client->ended.http_status != 0 && client->ended.http_status != 101;
	set_why(client, why);
	if (let_go(client, wsi))
		finish(client, refused ? WSCLIENT_REFUSED : WSCLIENT_UNREACHED,
		       why[0] ? why : "the connection ended before it was open");
}

static void on_closed(struct wsclient *client, struct lws *wsi)
{
	if (client->state < CLIENT_OPEN)
		on_failed(client, wsi, NULL, 0);
	else if (let_go(client, wsi))
		finish(client, WSCLIENT_CLOSED, "the connection ended");
}

static int on_open(struct wsclient *client, struct lws *wsi)
{
	client->state = CLIENT_OPEN;
	client->heard = loop_now(client->loop);
	loop_timer_set(client->timer, client->options.ping_s * 1000ull);
	client->events.on_open(client->context);
	return lws_get_opaque_user_data(wsi) == client ? 0 : -1;
}

/* From here on nothing is taken or sent but the two close frames, and that not for long. */
static void start_close(struct wsclient *client, unsigned code, const char *reason)
{
	if (client->state == CLIENT_CLOSING)
		return;
	client->state = CLIENT_CLOSING;
	client->want_close = code;
	if (reason != client->close_reason)
		snprintf(client->close_reason, sizeof(client->close_reason), "%s", reason);
	inbox_done(&client->inbox);
	loop_timer_set(client->timer, CLOSE_WAIT_MS);
	lws_callback_on_writable(client->wsi);
}

static int on_piece(struct wsclient *client, struct lws *wsi, struct str piece)
{
	struct str message;
	client->heard = loop_now(client->loop);
	if (client->state == CLIENT_CLOSING)
		return 0;
	int r = inbox_take(&client->inbox, wsi, client->options.max_frame, piece, &message);
	if (r < 0) {
		char why[64];
		snprintf(why, sizeof(why), "closed by us with %d: the peer's message", -r);
		set_why(client, why);
		start_close(client, (unsigned)-r, "");
		return 0;
	}
	if (r == 0)
		return 0;
	client->events.on_frame(client->context, message);
	if (lws_get_opaque_user_data(wsi) != client)
		return -1;
	inbox_done(&client->inbox);
	return 0;
}

static int on_writeable(struct wsclient *client, struct lws *wsi)
{
	if (client->want_ping) {
		client->want_ping = false;
		lws_callback_on_writable(wsi);
		return frame_write_ping(wsi);
	}
	if (client->close_sent)
		return 0;
	if (client->want_close) {
		start_close(client, client->want_close, client->close_reason);
		client->close_sent = true;
		set_why(client, "closed by us");
		return frame_write_close(wsi, client->want_close, client->close_reason);
	}
	if (client->state != CLIENT_OPEN)
		return 0;
	buf_clear(&client->out);
	bool more = client->events.on_writable(client->context, &client->out);
	if (lws_get_opaque_user_data(wsi) != client)
		return -1;
	if (!more)
		return 0;
	if (buf_failed(&client->out)) {
		set_why(client, "no memory for a frame");
		start_close(client, CLOSE_TROUBLE, "");
		return 0;
	}
	int r = frame_write(wsi, &client->scratch, buf_str(&client->out));
	frame_trim(&client->out);
	lws_callback_on_writable(wsi);
	return r;
}

/* lws answers it, unless it is the answer to ours. */
static int on_peer_close(struct wsclient *client, const unsigned char *in, size_t len)
{
	char why[160];
	if (len >= 2) {
		client->ended.close_code = (unsigned)in[0] << 8 | in[1];
		snprintf(why, sizeof(why), "closed by the server with %u%s%.*s", client->ended.close_code,
			 len > 2 ? ": " : "", (int)len - 2, (const char *)in + 2);
		set_why(client, why);
	}
	if (client->close_sent)
		return -1;
	client->close_sent = true;
	client->state = CLIENT_CLOSING;
	loop_timer_set(client->timer, CLOSE_WAIT_MS);
	return 0;
}

int wsclient_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	(void)user;
	struct wsclient *client = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	if (!client)
		return reason == LWS_CALLBACK_CLIENT_WRITEABLE || reason == LWS_CALLBACK_CLIENT_RECEIVE ? -1 : 0;
	loop_touch(client->loop);
	/* NOLINTNEXTLINE(clang-diagnostic-switch-enum): lws has a hundred reasons, and we want these. */
	switch ((int)reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		return add_token(client, in, len);
	case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
		return on_answer(client, wsi);
	case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH:
		return check_protocol(client, wsi);
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		return on_open(client, wsi);
	case LWS_CALLBACK_CLIENT_RECEIVE:
		return on_piece(client, wsi, (struct str){ in, len });
	case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
		client->heard = loop_now(client->loop);
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return on_writeable(client, wsi);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		return on_peer_close(client, in, len);
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		on_failed(client, wsi, in, len);
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
	case LWS_CALLBACK_WSI_DESTROY: /* the only word of some ends before it was open */
		on_closed(client, wsi);
		return 0;
	default:
		return 0;
	}
}

/* --- making and freeing -------------------------------------------------------------------- */

void wsclient_want_write(struct wsclient *client)
{
	if (client->state == CLIENT_OPEN)
		lws_callback_on_writable(client->wsi);
}

void wsclient_close(struct wsclient *client, unsigned code, const char *reason)
{
	if (client->state == CLIENT_IDLE || client->state == CLIENT_CLOSING)
		return;
	client->want_close = code;
	snprintf(client->close_reason, sizeof(client->close_reason), "%s", reason ? reason : "");
	if (client->state == CLIENT_OPEN) {
		lws_callback_on_writable(client->wsi);
		return;
	}
	/* Nothing to shake hands with yet: end the attempt from the loop. */
	set_why(client, "given up by us");
	if (client->state == CLIENT_STARTING)
		client->state = CLIENT_LOOKUP;
	loop_timer_set(client->timer, 0);
}

static bool copy_text(const char **text)
{
	if (!*text)
		return true;
	*text = strdup(*text);
	return *text != NULL;
}

/* Every text of the options becomes a copy; NULL ones stay. */
static int copy_options(struct wsclient *client, const struct wsclient_options *options, struct err *err)
{
	struct wsclient_options *own = &client->options;
	*own = *options;
	const char **const texts[] = { &own->url,    &own->protocol,  &own->token_file, &own->ca_file,
				       &own->ca_pem, &own->cert_file, &own->key_file,   &own->server_name };
	bool good = true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!good)
			*texts[i] = NULL;
		else
			good = copy_text(texts[i]);
	if (!own->max_frame)
		own->max_frame = 64 * 1024;
	if (!own->connect_timeout_ms)
		own->connect_timeout_ms = 10000;
	if (!own->ping_s)
		own->ping_s = 30;
	if (!own->dead_s)
		own->dead_s = own->ping_s * 2;
	return good ? 0 : err_set(err, ERR_NOMEM, "client");
}

static int check_options(const struct wsclient *client, struct err *err)
{
	const struct wsclient_options *options = &client->options;
	if (!options->cert_file != !options->key_file)
		return err_set(err, ERR_USAGE, "a client certificate needs both its file and its key's");
	if (options->token_file && !client->url.tls && strcmp(client->url.host, "localhost") != 0 &&
	    !lookup_is_loopback(client->url.host))
		return err_set(err, ERR_USAGE, "a token is not sent over ws:// to another machine: use wss://");
	if (options->dead_s <= options->ping_s)
		return err_set(err, ERR_USAGE, "a connection must be pinged before it is held dead");
	return 0;
}

static int make_vhost(struct wsclient *client, struct err *err)
{
	client->vhost = client->loop->base;
	if (!client->url.tls)
		return 0;
	const char *name = client->options.server_name ? client->options.server_name : client->url.host;
	int r = tls_client_new(&client->options, name, client->alert, &client->tls, err);
	if (r < 0)
		return r;
	client->vhost = loop_client_vhost(client->loop, client->tls);
	return client->vhost ? 0 : err_set(err, ERR_NOMEM, "client");
}

int wsclient_new(struct loop *loop, const struct wsclient_options *options, const struct wsclient_events *events,
		 void *context, struct wsclient **ret_client, struct err *err)
{
	struct wsclient *client = calloc(1, sizeof(*client));
	if (!client)
		return err_set(err, ERR_NOMEM, "client");
	*client = (struct wsclient){ .loop = loop, .events = *events, .context = context, .out.cap = FRAME_CAP };
	int r = copy_options(client, options, err);
	if (r == 0)
		r = wsurl_parse(client->options.url, &client->url, err);
	if (r == 0)
		r = check_options(client, err);
	if (r == 0)
		r = loop_timer_new(loop, on_timer, client, &client->timer, err);
	if (r == 0)
		r = make_vhost(client, err);
	if (r < 0) {
		wsclient_free(client);
		return r;
	}
	*ret_client = client;
	return 0;
}

void wsclient_free(struct wsclient *client)
{
	if (!client)
		return;
	if (client->timer)
		drop(client);
	loop_timer_free(client->timer);
	if (client->vhost && client->vhost != client->loop->base)
		lws_vhost_destroy(client->vhost);
	SSL_CTX_free(client->tls);
	buf_done(&client->out);
	buf_done(&client->scratch);
	const struct wsclient_options *own = &client->options;
	const char *const texts[] = { own->url,    own->protocol,  own->token_file, own->ca_file,
				      own->ca_pem, own->cert_file, own->key_file,   own->server_name };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)(uintptr_t)texts[i]);
	free(client);
}
