/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL contexts of client and server. lws would load them too, but once only, logs what is wrong instead of saying
 * it, and cuts a host name at its first ':', so it is given ours. TLS 1.2 at least. A key with a passphrase is refused:
 * nobody is asked.
 */
#ifndef NET_LWS_TLS_H
#define NET_LWS_TLS_H

#include <openssl/ssl.h>
#include <sys/types.h>

#include "net/server.h"
#include "net/wsclient.h"

/*
 * Trusts what the options say (given a CA, nothing of the system is loaded: 0.9 MiB), for `name` alone, a host or a
 * numeric address. What the server's last alert said goes to `alert`, of TLS_ALERT_CAP bytes, for tls_why().
 */
enum { TLS_ALERT_CAP = 64 };
int tls_client_new(const struct wsclient_options *options, const char *name, char *alert, SSL_CTX **ret_ctx,
		   struct err *err) __attribute__((warn_unused_result));
/* Read CA, certificate and key again into `ctx`. Failing, it is as it was, or has nothing of ours to show. */
int tls_client_refresh(SSL_CTX *ctx, const struct wsclient_options *options, struct err *err)
	__attribute__((warn_unused_result));

/* Certificate, key and client CA into lws's context of a listener; nothing is changed unless all of it is good. */
int tls_server_load(SSL_CTX *ctx, const struct server_tls *tls, struct err *err) __attribute__((warn_unused_result));

/* What tells that one of the files was replaced. */
struct tls_stamp {
	struct {
		dev_t dev;
		ino_t ino;
		off_t size;
		struct timespec changed;
	} files[3];
};
void tls_stamp_read(const struct server_tls *tls, struct tls_stamp *ret_stamp);
bool tls_stamp_same(const struct tls_stamp *a, const struct tls_stamp *b);

/* DNS and URI names of a client certificate that was verified; 0 without one. */
size_t tls_sans(SSL *ssl, char (*sans)[SERVER_SAN_CAP], size_t max);

/* Why the handshake on `ssl` failed, into dest: the verification's verdict, else OpenSSL's last error, else "". */
void tls_why(SSL *ssl, char *dest, size_t cap);

#endif
