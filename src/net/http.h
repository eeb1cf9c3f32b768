/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP GET or POST at a time. http.c is the one owner of libcurl.
 *
 * What it never does, whatever the environment says: follow a redirect, use a proxy, send credentials (but a token that
 * its caller gives, over https or to loopback), speak anything but http and https, raise a signal, keep a connection. A body past its cap
 * stops the transfer at once.
 *
 * URLs come from two sources and are not trusted alike. A *discovered* one (a port in the target's command line or
 * configuration, which the target may have written to mislead us) may only reach loopback or an address of our own
 * interfaces, never a link-local one (169.254.169.254 serves cloud credentials). This is enforced on the address
 * of the socket being opened, after resolution, so a name that changes its answer between check and connect gains
 * nothing. A *given* one, from our own configuration, may go anywhere but is otherwise held to the same rules.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"

enum http_want {
	HTTP_WANT_ANY = 0,
	HTTP_WANT_METRICS, /* HTML and JSON are refused, by their type or first byte */
	HTTP_WANT_JSON,    /* HTML is refused */
};

struct http_request {
	const char *url;
	bool discovered; /* found at the target: only loopback and our own addresses */
	enum http_want want;
	size_t cap;                  /* most bytes of body; 0: LIMIT_HTTP_BODY */
	unsigned timeout_ms;         /* of the whole transfer; 0: 2000 */
	unsigned connect_timeout_ms; /* 0: the smaller of 500 and timeout_ms */
};

struct http_meta {
	long status;           /* 200 to 299 */
	char content_type[96]; /* "" if none was sent */
	uint64_t body_bytes;   /* as received */
};

/*
 * Takes the body piece by piece; a negative return stops the transfer and becomes http_get_to()'s return, with the
 * sink's `err`.
 */
typedef int http_sink(void *context, struct str piece, struct err *err);

/*
 * ERR_USAGE: the URL is none we take, or the file of authorities none. ERR_DENIED: a discovered URL that leaves the pod; 401, 403. ERR_TIMEOUT:
 * deadline. ERR_LIMIT: body past its cap. ERR_GONE: nobody listens. ERR_UNSUPPORTED: a redirect, 404, another
 * status that is not 2xx. ERR_MALFORMED: HTML for metrics, a body shorter than announced, no HTTP. ERR_IO: the
 * rest. With http_get the body is appended to `body` (its cap counts too) and is cut back to its old length on
 * failure.
 */
int http_get(const struct http_request *request, struct buf *body, struct http_meta *ret_meta, struct err *err)
	__attribute__((warn_unused_result));
int http_get_to(const struct http_request *request, http_sink *sink, void *context, struct http_meta *ret_meta,
		struct err *err) __attribute__((warn_unused_result));

/* As whom, and whom to trust, in a request to what is ours or was configured. */
struct http_login {
	struct str bearer;   /* "Authorization: Bearer"; empty: none. Refused over plain http unless to loopback */
	const char *ca_file; /* trust these alone; NULL: the system's */
	bool in_the_clear;   /* the token may leave over plain http: somebody said so */
	long *ret_status;    /* the answer's, also of one that is refused; 0: there was none. NULL: not asked for */
};
int http_get_as(const struct http_request *request, const struct http_login *login, struct buf *body,
		struct http_meta *ret_meta, struct err *err) __attribute__((warn_unused_result));

/*
 * An answer that goes on for minutes, piece by piece, to `sink`; a set `abandon` ends it within about a second, TIMEOUT.
 * May run on another thread than other transfers, after one http_url_check().
 */
int http_follow(const struct http_request *request, const struct http_login *login, http_sink *sink, void *context,
		const atomic_bool *abandon, struct err *err) __attribute__((warn_unused_result));

struct http_post {
	struct http_login login;
	struct str body;
	const char *content_type; /* of the body; NULL: application/json */
	const char *method;       /* "PUT", "DELETE"; NULL: POST */
	const atomic_bool
		*abandon; /* set from another thread: it ends within about a second, TIMEOUT. NULL: nobody will */
};
/* http_get() with a body. May run on another thread than other transfers, after one http_url_check(). */
int http_post(const struct http_request *request, const struct http_post *post, struct buf *body,
	      struct http_meta *ret_meta, struct err *err) __attribute__((warn_unused_result));

/*
 * The rules on the text of a URL alone, and, with `discovered`, on the addresses its host has now. Connects to
 * nothing.
 */
int http_url_check(const char *url, bool discovered, struct err *err) __attribute__((warn_unused_result));

/* Gives back what curl keeps for the process. Not required. */
void http_done(void);

#endif
