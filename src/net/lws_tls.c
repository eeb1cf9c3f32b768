/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lws_tls.h"

#include "base/auto.h"
#include "sys/file.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>

/* A bundle of all public CAs is a quarter of that. */
enum { PEM_CAP = 1024 * 1024 };

static void free_ctx(SSL_CTX **ctx)
{
	SSL_CTX_free(*ctx);
}

static void free_store(X509_STORE **store)
{
	X509_STORE_free(*store);
}

static int no_passphrase(char *dest, int cap, int writing, void *context)
{
	(void)dest;
	(void)cap;
	(void)writing;
	(void)context;
	return -1;
}

/* `what` and OpenSSL's reason; its queue is emptied. */
static int fail(struct err *err, const char *what, const char *file)
{
	unsigned long code = ERR_peek_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;
	if (ERR_SYSTEM_ERROR(code)) /* it has no text of OpenSSL's */
		reason = strerrordesc_np((int)ERR_GET_REASON(code));
	ERR_clear_error();
	return err_set(err, ERR_USAGE, "%s %s: %s", what, file, reason ? reason : "cannot be used");
}

/* All certificates of a PEM text. */
static int store_of_pem(struct str pem, const char *name, X509_STORE **ret_store, struct err *err)
{
	auto_(free_store) X509_STORE *store = X509_STORE_new();
	BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
	size_t n = 0;
	bool good = store && bio;
	for (X509 *cert; good && (cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL; n++) {
		good = X509_STORE_add_cert(store, cert) == 1;
		X509_free(cert);
	}
	BIO_free(bio);
	/* The end of the text is an error of its own: no start line. */
	unsigned long last = ERR_peek_last_error();
	good = good && n > 0 && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
	if (!good)
		return fail(err, "CA", name);
	ERR_clear_error();
	*ret_store = TAKE_PTR(store);
	return 0;
}

static int store_of_file(const char *file, X509_STORE **ret_store, struct err *err)
{
	auto_buf struct buf text = { .cap = PEM_CAP };
	int r = file_read_at(AT_FDCWD, file, PEM_CAP, &text, err);
	if (r < 0) {
		err_wrap(err, "CA");
		return r;
	}
	return store_of_pem(buf_str(&text), file, ret_store, err);
}

static int use_certificate(SSL_CTX *ctx, const char *cert_file, const char *key_file, struct err *err)
{
	ERR_clear_error();
	if (SSL_CTX_use_certificate_chain_file(ctx, cert_file) != 1)
		return fail(err, "certificate", cert_file);
	if (SSL_CTX_use_PrivateKey_file(ctx, key_file, SSL_FILETYPE_PEM) != 1)
		return fail(err, "key", key_file);
	if (SSL_CTX_check_private_key(ctx) != 1)
		return fail(err, "key", key_file);
	return 0;
}

/* --- the client ---------------------------------------------------------------------------- */

int tls_client_refresh(SSL_CTX *ctx, const struct wsclient_options *options, struct err *err)
{
	auto_(free_store) X509_STORE *store = NULL;
	int r = 0;
	if (options->ca_file)
		r = store_of_file(options->ca_file, &store, err);
	else if (options->ca_pem)
		r = store_of_pem(str_of(options->ca_pem), "given as text", &store, err);
	if (r == 0 && options->cert_file)
		r = use_certificate(ctx, options->cert_file, options->key_file, err);
	if (r == 0 && store)
		SSL_CTX_set_cert_store(ctx, TAKE_PTR(store));
	return r;
}

static bool expect_name(SSL_CTX *ctx, const char *name)
{
	X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ctx);
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1 || X509_VERIFY_PARAM_set1_host(param, name, 0) == 1;
}

/* TLS 1.3: a server that refuses our certificate says so when we hold the handshake for done, and lws reads no error. */
static void on_info(const SSL *ssl, int where, int value)
{
	char *alert = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	if (alert && (where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && (value & 0xff) != SSL_AD_CLOSE_NOTIFY)
		snprintf(alert, TLS_ALERT_CAP, "%s", SSL_alert_desc_string_long(value));
}

int tls_client_new(const struct wsclient_options *options, const char *name, char *alert, SSL_CTX **ret_ctx,
		   struct err *err)
{
	auto_(free_ctx) SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	if (!ctx || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 || !expect_name(ctx, name))
		return fail(err, "TLS", "context");
	ERR_clear_error(); /* a host is no numeric address */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
	SSL_CTX_set_app_data(ctx, alert);
	SSL_CTX_set_info_callback(ctx, on_info);
	if (!options->ca_file && !options->ca_pem && SSL_CTX_set_default_verify_paths(ctx) != 1)
		return fail(err, "CA", "of the system");
	int r = tls_client_refresh(ctx, options, err);
	if (r < 0)
		return r;
	*ret_ctx = TAKE_PTR(ctx);
	return 0;
}

/* --- the server ---------------------------------------------------------------------------- */

/* Sessions resumed from before the files changed would keep what the old ones allowed. */
static void forget_sessions(SSL_CTX *ctx)
{
	unsigned char keys[80]; /* name, HMAC and AES keys of tickets: what SSL_CTX_get_tlsext_ticket_keys() asks for */
	long size = SSL_CTX_get_tlsext_ticket_keys(ctx, NULL, 0);
	if (size > 0 && (size_t)size <= sizeof(keys) && RAND_bytes(keys, (int)size) == 1)
		SSL_CTX_set_tlsext_ticket_keys(ctx, keys, size);
	OPENSSL_cleanse(keys, sizeof(keys));
#if OPENSSL_VERSION_NUMBER >= 0x30400000L /* where the other is deprecated for its 32 bits of time */
	SSL_CTX_flush_sessions_ex(ctx, 0);
#else
	SSL_CTX_flush_sessions(ctx, 0);
#endif
}

static void set_up(SSL_CTX *ctx)
{
	static const unsigned char id[] = "bankfull";
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	/* lws's callback picks a context by name, of any listener: the port that was called must decide. */
	SSL_CTX_set_tlsext_servername_callback(ctx, NULL);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
	/* Resumption by tickets costs no memory here; the cache (TLS 1.2 without tickets) is kept small. */
	SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1);
	SSL_CTX_sess_set_cache_size(ctx, 1024);
	SSL_CTX_set_num_tickets(ctx, 1);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
}

int tls_server_load(SSL_CTX *ctx, const struct server_tls *tls, struct err *err)
{
	auto_(free_ctx) SSL_CTX *trial = SSL_CTX_new(TLS_server_method());
	auto_(free_store) X509_STORE *store = NULL;
	if (!trial)
		return fail(err, "TLS", "context");
	SSL_CTX_set_default_passwd_cb(trial, no_passphrase);
	int r = use_certificate(trial, tls->cert_file, tls->key_file, err);
	if (r == 0 && tls->client_ca_file)
		r = store_of_file(tls->client_ca_file, &store, err);
	if (r < 0)
		return r;
	set_up(ctx);
	r = use_certificate(ctx, tls->cert_file, tls->key_file, err);
	if (r < 0)
		return r;
	if (store) {
		SSL_CTX_set_cert_store(ctx, TAKE_PTR(store));
		/* Asked for, not demanded: a viewer may come with a token instead. */
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	}
	forget_sessions(ctx);
	return 0;
}

void tls_stamp_read(const struct server_tls *tls, struct tls_stamp *ret_stamp)
{
	const char *const files[3] = { tls->cert_file, tls->key_file, tls->client_ca_file };
	memset(ret_stamp, 0, sizeof(*ret_stamp));
	for (size_t i = 0; i < 3; i++) {
		struct stat st;
		if (!files[i] || stat(files[i], &st) != 0)
			continue;
		ret_stamp->files[i].dev = st.st_dev;
		ret_stamp->files[i].ino = st.st_ino;
		ret_stamp->files[i].size = st.st_size;
		ret_stamp->files[i].changed = st.st_mtim;
	}
}

bool tls_stamp_same(const struct tls_stamp *a, const struct tls_stamp *b)
{
	bool same = true;
	for (size_t i = 0; i < 3; i++)
		same = same && a->files[i].dev == b->files[i].dev && a->files[i].ino == b->files[i].ino &&
		       a->files[i].size == b->files[i].size &&
		       a->files[i].changed.tv_sec == b->files[i].changed.tv_sec &&
		       a->files[i].changed.tv_nsec == b->files[i].changed.tv_nsec;
	return same;
}

/* --- a connection -------------------------------------------------------------------------- */

size_t tls_sans(SSL *ssl, char (*sans)[SERVER_SAN_CAP], size_t max)
{
	X509 *cert = SSL_get_verify_result(ssl) == X509_V_OK ? SSL_get1_peer_certificate(ssl) : NULL;
	if (!cert)
		return 0;
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	size_t n = 0;
	for (int i = 0; i < sk_GENERAL_NAME_num(names) && n < max; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		if (name->type != GEN_DNS && name->type != GEN_URI)
			continue;
		const ASN1_STRING *text = name->d.ia5;
		int len = ASN1_STRING_length(text);
		/* One that is cut, or ends before it ends, would be another name. */
		if (len <= 0 || len >= SERVER_SAN_CAP || memchr(ASN1_STRING_get0_data(text), 0, (size_t)len))
			continue;
		memcpy(sans[n], ASN1_STRING_get0_data(text), (size_t)len);
		sans[n++][len] = '\0';
	}
	GENERAL_NAMES_free(names);
	X509_free(cert);
	return n;
}

void tls_why(SSL *ssl, char *dest, size_t cap)
{
	long verdict = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
	unsigned long code = ERR_peek_last_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;
	const char *alert = ssl ? SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)) : NULL;
	if (alert && alert[0])
		snprintf(dest, cap, "TLS: the server says: %s", alert);
	else if (verdict != X509_V_OK)
		snprintf(dest, cap, "certificate: %s", X509_verify_cert_error_string(verdict));
	else
		snprintf(dest, cap, "%s", reason ? reason : "");
}
