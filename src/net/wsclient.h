/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One WebSocket connection as a client, over TCP or TLS. It makes one attempt when told and says how it ended; when to
 * try again is the caller's to decide. Text frames only. No proxy, no redirect, no compression, whatever the environment
 * says. Credentials and CA are read from their files anew at each attempt, since they are rotated, and never logged.
 */
#ifndef NET_WSCLIENT_H
#define NET_WSCLIENT_H

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct wsclient;

struct wsclient_options {
	const char *url;                  /* ws://HOST:PORT/PATH or wss://...; checked by wsclient_url_check() */
	const char *protocol;             /* subprotocol: the peer must choose it */
	const char *token_file;           /* "Authorization: Bearer"; NULL: none. Refused over ws:// unless loopback */
	const char *ca_file;              /* wss: trust these alone; NULL: ca_pem, else the system's */
	const char *ca_pem;               /* the same as text, for where no file can be mounted */
	const char *cert_file, *key_file; /* client certificate, or NULL */
	const char *server_name;          /* expected in the certificate where it is not the URL's host; or NULL */
	size_t max_frame;                 /* of a received message, over all its fragments: beyond it 1009 */
	unsigned connect_timeout_ms;      /* resolution, TCP, TLS, upgrade; 0: 10000 */
	unsigned ping_s, dead_s;          /* idle so long: ping; silent so long: closed. 0: 30, 60 */
};

enum wsclient_end {
	WSCLIENT_REFUSED,   /* the server answered the upgrade with http_status */
	WSCLIENT_UNREACHED, /* no address, no TCP, no TLS, or the deadline: `why` says which */
	WSCLIENT_CLOSED,    /* it was open; close_code is the server's, 0 when the connection just ended */
};

struct wsclient_ended {
	enum wsclient_end end;
	unsigned http_status, close_code;
	unsigned retry_after_s; /* of a refusal; 0: none was given */
	char why[200];          /* one line, escaped, no secrets */
};

/* `context` is the caller's. None is called from within wsclient_connect(). */
struct wsclient_events {
	void (*on_open)(void *context);
	void (*on_frame)(void *context,
			 struct str frame); /* a whole text message, valid UTF-8; it is gone after the call */
	/* Put the next frame into `frame` and return true; false: nothing to send until wsclient_want_write(). */
	bool (*on_writable)(void *context, struct buf *frame);
	void (*on_end)(void *context, const struct wsclient_ended *ended); /* once an attempt */
};

int wsclient_new(struct loop *loop, const struct wsclient_options *options, const struct wsclient_events *events,
		 void *context, struct wsclient **ret_client, struct err *err) __attribute__((warn_unused_result));
void wsclient_free(struct wsclient *client); /* calls nothing; NULL is fine */

/* An attempt; its outcome comes as on_open or on_end. An error (a missing file) means that none was made. */
int wsclient_connect(struct wsclient *client, struct err *err) __attribute__((warn_unused_result));
void wsclient_want_write(struct wsclient *client);
/* Closing handshake after what is written now; on_end follows. */
void wsclient_close(struct wsclient *client, unsigned code, const char *reason);

/* ws or wss, a host, no user, no query, no fragment. USAGE. */
int wsclient_url_check(const char *url, struct err *err) __attribute__((warn_unused_result));

#endif
