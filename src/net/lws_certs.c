/* SPDX-License-Identifier: Apache-2.0 */
/* With the other lws_ files the owner of OpenSSL. */
#include "net/certs.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

enum { DAY_S = 86400, SERIAL_BITS = 127, NAMES_TEXT_CAP = 4096 };

static void cert_freep(X509 **cert)
{
	X509_free(*cert);
}

static void key_freep(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void bio_freep(BIO **bio)
{
	BIO_free(*bio);
}

void certs_pair_done(struct certs_pair *pair)
{
	if (pair->key.ptr)
		explicit_bzero(pair->key.ptr, pair->key.room);
	buf_done(&pair->cert);
	buf_done(&pair->key);
}

static int failed(const char *what, struct err *err)
{
	char text[128];
	unsigned long code = ERR_get_error();
	ERR_error_string_n(code, text, sizeof text);
	ERR_clear_error();
	return err_set(err, ERR_IO, "%s: %s", what, code ? text : "OpenSSL does not say why");
}

static X509 *read_cert(struct str pem)
{
	auto_(bio_freep) BIO *bio = pem.len <= CERTS_PEM_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
	X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
	ERR_clear_error();
	return cert;
}

/* A key with a passphrase is none of ours: nobody is asked. */
static int no_passphrase(char *text, int cap, int writing, void *context)
{
	(void)text;
	(void)cap;
	(void)writing;
	(void)context;
	return -1;
}

static EVP_PKEY *read_key(struct str pem)
{
	auto_(bio_freep) BIO *bio = pem.len <= CERTS_PEM_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
	ERR_clear_error();
	return key;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	bool good = extension && X509_add_ext(cert, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return good;
}

/* As RFC 5280 section 4.1.2.2 wants it: positive, and so long that nobody guesses the next one. */
static bool set_serial(X509 *cert)
{
	BIGNUM *serial = BN_new();
	bool good = serial && BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
		    BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert)) != NULL;
	BN_free(serial);
	return good;
}

static bool set_frame(X509 *cert, const char *name, EVP_PKEY *key, int64_t from_s, int64_t until_s)
{
	X509_NAME *subject = X509_get_subject_name(cert);
	return X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
	       ASN1_TIME_set(X509_getm_notBefore(cert), from_s) != NULL &&
	       ASN1_TIME_set(X509_getm_notAfter(cert), until_s) != NULL && X509_set_pubkey(cert, key) == 1 &&
	       X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0) == 1;
}

static bool write_pair(X509 *cert, EVP_PKEY *key, struct certs_pair *pair)
{
	auto_(bio_freep) BIO *bio = BIO_new(BIO_s_mem()), *secret = BIO_new(BIO_s_mem());
	char *text, *key_text;
	if (!bio || !secret || PEM_write_bio_X509(bio, cert) != 1 ||
	    PEM_write_bio_PKCS8PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) != 1)
		return false;
	long n = BIO_get_mem_data(bio, &text), n_key = BIO_get_mem_data(secret, &key_text);
	pair->cert.cap = pair->key.cap = CERTS_PEM_MAX;
	return n > 0 && n_key > 0 && buf_add(&pair->cert, (struct str){ text, (size_t)n }) &&
	       buf_add(&pair->key, (struct str){ key_text, (size_t)n_key });
}

static int finish(X509 *cert, EVP_PKEY *key, EVP_PKEY *signer, struct certs_pair *ret_pair, struct err *err)
{
	auto_certs_pair struct certs_pair pair = { 0 };
	if (X509_sign(cert, signer, EVP_sha256()) <= 0 || !write_pair(cert, key, &pair))
		return failed("a certificate cannot be signed", err);
	*ret_pair = pair;
	pair = (struct certs_pair){ 0 };
	return 0;
}

int certs_authority(const char *name, int64_t now_s, unsigned days, struct certs_pair *ret_pair, struct err *err)
{
	auto_(key_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
	auto_(cert_freep) X509 *cert = X509_new();
	if (!key || !cert || !set_frame(cert, name, key, now_s - DAY_S, now_s + (int64_t)days * DAY_S) ||
	    X509_set_issuer_name(cert, X509_get_subject_name(cert)) != 1 ||
	    !add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
	    !add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") ||
	    !add_extension(cert, cert, NID_subject_key_identifier, "hash"))
		return failed("an authority cannot be made", err);
	return finish(cert, key, key, ret_pair, err);
}

/* Letters of host names and addresses alone: the text goes to a parser that knows more. */
static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-.:*", name.ptr[i]))
			return false;
	return name.len > 0 && name.len < CERTS_NAME_CAP;
}

static bool is_address(struct str name)
{
	char text[CERTS_NAME_CAP];
	str_copy(text, sizeof text, name);
	ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);
	ASN1_OCTET_STRING_free(address);
	ERR_clear_error();
	return address != NULL;
}

static int names_text(const char *names, struct buf *out, char first[CERTS_NAME_CAP], struct err *err)
{
	struct str rest = str_of(names), name;
	unsigned n = 0;
	while (str_split(&rest, ',', &name)) {
		name = str_trim(name);
		if (!is_name(name) || ++n > CERTS_NAMES_MAX)
			return err_set(err, ERR_USAGE, "'%.*s' is no name of a host (small letters, at most %d names)",
				       name.len > 60 ? 60 : (int)name.len, name.ptr, CERTS_NAMES_MAX);
		if (n == 1)
			str_copy(first, CERTS_NAME_CAP, name);
		(void)buf_printf(out, "%s%s:%.*s", n > 1 ? "," : "", is_address(name) ? "IP" : "DNS", (int)name.len,
				 name.ptr);
	}
	return n ? 0 : err_set(err, ERR_USAGE, "a certificate is for at least one name");
}

static int64_t seconds_of(const ASN1_TIME *time)
{
	struct tm tm = { 0 };
	return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

int certs_server(struct str ca_cert, struct str ca_key, const char *names, int64_t now_s, unsigned days,
		 struct certs_pair *ret_pair, struct err *err)
{
	char first[CERTS_NAME_CAP] = "";
	auto_buf struct buf alternatives = { .cap = NAMES_TEXT_CAP };
	int rc = names_text(names, &alternatives, first, err);
	if (rc == 0)
		rc = certs_check_authority(ca_cert, ca_key, now_s, err);
	if (rc < 0)
		return rc;
	first[64] = '\0'; /* ub-common-name, RFC 5280 appendix A.1 */
	auto_(cert_freep) X509 *issuer = read_cert(ca_cert), *cert = X509_new();
	auto_(key_freep) EVP_PKEY *signer = read_key(ca_key), *key = EVP_EC_gen("P-256");
	int64_t until_s = now_s + (int64_t)days * DAY_S;
	int64_t end_s = issuer ? seconds_of(X509_get0_notAfter(issuer)) : 0;
	if (!issuer || !signer || !cert || !key ||
	    !set_frame(cert, first, key, now_s - DAY_S, until_s < end_s ? until_s : end_s) ||
	    X509_set_issuer_name(cert, X509_get_subject_name(issuer)) != 1 ||
	    !add_extension(cert, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
	    !add_extension(cert, issuer, NID_key_usage, "critical,digitalSignature") ||
	    !add_extension(cert, issuer, NID_ext_key_usage, "serverAuth") ||
	    !add_extension(cert, issuer, NID_subject_key_identifier, "hash") ||
	    !add_extension(cert, issuer, NID_authority_key_identifier, "keyid:always") ||
	    !add_extension(cert, issuer, NID_subject_alt_name, alternatives.ptr))
		return failed("a certificate cannot be made", err);
	return finish(cert, key, signer, ret_pair, err);
}

static bool is_for_names(X509 *cert, const char *names)
{
	struct str rest = str_of(names), name;
	while (str_split(&rest, ',', &name)) {
		char text[CERTS_NAME_CAP];
		str_copy(text, sizeof text, str_trim(name));
		if (X509_check_host(cert, text, 0, 0, NULL) != 1 && X509_check_ip_asc(cert, text, 0) != 1)
			return false;
	}
	return true;
}

int64_t certs_good_for(struct str cert_pem, struct str ca_pem, const char *names, int64_t now_s)
{
	auto_(cert_freep) X509 *cert = read_cert(cert_pem), *ca = read_cert(ca_pem);
	EVP_PKEY *issuer = ca ? X509_get0_pubkey(ca) : NULL;
	if (!cert || !issuer || X509_verify(cert, issuer) != 1 || !is_for_names(cert, names)) {
		ERR_clear_error();
		return 0;
	}
	int64_t from_s = seconds_of(X509_get0_notBefore(cert)), until_s = seconds_of(X509_get0_notAfter(cert));
	return from_s <= now_s && until_s > now_s ? until_s - now_s : 0;
}

int certs_check_authority(struct str ca_cert, struct str ca_key, int64_t now_s, struct err *err)
{
	auto_(cert_freep) X509 *cert = read_cert(ca_cert);
	auto_(key_freep) EVP_PKEY *key = read_key(ca_key);
	if (!cert || !key)
		return err_set(err, ERR_MALFORMED, "%s of the authority is no PEM",
			       cert ? "the key" : "the certificate");
	if (X509_check_private_key(cert, key) != 1 || X509_check_ca(cert) != 1) {
		ERR_clear_error();
		return err_set(err, ERR_MALFORMED, "certificate and key are not those of one authority");
	}
	if (seconds_of(X509_get0_notAfter(cert)) <= now_s)
		return err_set(err, ERR_MALFORMED, "the authority's certificate has expired");
	return 0;
}
