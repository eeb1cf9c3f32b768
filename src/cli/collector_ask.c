/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/collector_ask.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/http.h"
#include "sys/file.h"

enum { CONNECT_MS = 5000 };

/* --- the address -------------------------------------------------------------------------------------------------- */

/* RFC 3986, 2.3: what is not unreserved is escaped. */
void collector_add_value(struct buf *url, const char *name, const char *value)
{
	static const char plain[] = "-._~";
	if (!value)
		return;
	(void)buf_printf(url, "&%s=", name);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		bool alnum = (*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z');
		if (alnum || strchr(plain, *p))
			(void)buf_putc(url, (char)*p);
		else
			(void)buf_printf(url, "%%%02X", *p);
	}
}

static int check_base(const struct collector_ask *ask, struct err *err)
{
	const char *url = ask->collector;
	struct str text = str_of(url);
	if (str_starts(text, STR("ws://")) || str_starts(text, STR("wss://")))
		return err_set(
			err, ERR_USAGE,
			"%s: ws%s:// is what agents speak; give the address of its dashboard: http%s://HOST:8481",
			ask->option, url[2] == 's' ? "s" : "", url[2] == 's' ? "s" : "");
	if (strpbrk(url, "?#"))
		return err_set(err, ERR_USAGE, "%s: an address without '?' and '#': http://HOST:8481", ask->option);
	int rc = http_url_check(url, false, err);
	if (rc < 0)
		err_wrap(err, "%s", ask->option);
	return rc;
}

int collector_url(const struct collector_ask *ask, const char *path, struct buf *out, struct err *err)
{
	int rc = check_base(ask, err);
	if (rc < 0)
		return rc;
	struct str base = str_of(ask->collector);
	while (base.len && base.ptr[base.len - 1] == '/')
		base.len--;
	(void)buf_add(out, base);
	(void)buf_puts(out, path);
	return buf_failed(out) ? err_set(err, ERR_USAGE, "%s: so long an address is none", ask->option) : 0;
}

/* --- the question ------------------------------------------------------------------------------------------------- */

static int explain(const struct collector_ask *ask, long status, int rc, struct err *err)
{
	char base[160];
	(void)snprintf(base, sizeof base, "%.150s", ask->collector);
	if (status == 401 && ask->token.len)
		return err_set(err, ERR_DENIED, "%s answers 401: it does not know the token of --token-file", base);
	if (status == 401)
		return err_set(err, ERR_DENIED, "%s answers 401: it wants a viewer's token: --token-file FILE", base);
	if (status == 403)
		return err_set(err, ERR_DENIED,
			       "%s answers 403: not under this host name, or not with this token (--token-file FILE)",
			       base);
	if (status == 404)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s answers 404: no collector, one older than this program, or its agents' port", base);
	if (status == 400)
		return err_set(err, ERR_USAGE, "%s answers 400: it does not take %s", base, ask->not_taken);
	if (status == 429 || status == 503)
		return err_set(err, ERR_TIMEOUT, "%s answers %ld: it is busy, ask again", base, status);
	if (err->kind == ERR_DENIED && !ask->ca_file)
		(void)snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
			       "; name the authority of your own with --ca-file");
	if (err->kind == ERR_USAGE && ask->ca_file && strstr(err->message, "certificate of an authority"))
		err_wrap(err, "--ca-file");
	if (err->kind == ERR_USAGE && ask->token.len && strstr(err->message, "a token is sent"))
		(void)snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
			       "; --insecure sends it all the same");
	return rc;
}

int collector_get(const struct collector_ask *ask, const char *url, struct js **ret_answer, struct err *err)
{
	auto_buf struct buf body = { .cap = ask->body_max };
	long status = 0;
	const struct http_request request = { .url = url,
					      .want = HTTP_WANT_JSON,
					      .cap = ask->body_max,
					      .timeout_ms = (unsigned)ask->timeout_ms,
					      .connect_timeout_ms = ask->timeout_ms < CONNECT_MS
									    ? (unsigned)ask->timeout_ms
									    : CONNECT_MS };
	const struct http_login login = { ask->token, ask->ca_file, ask->insecure, &status };
	int rc = http_get_as(&request, &login, &body, NULL, err);
	if (rc < 0)
		return explain(ask, status, rc, err);
	return js_parse(buf_str(&body), ask->body_max, ret_answer, err);
}

/* --- as whom ------------------------------------------------------------------------------------------------------ */

int collector_read_token(const char *file, struct buf *token, struct str *ret_token, struct err *err)
{
	if (!file)
		return 0;
	int rc = file_read_at(AT_FDCWD, file, COLLECTOR_TOKEN_CAP, token, err);
	if (rc < 0) {
		err_wrap(err, "--token-file");
		return rc;
	}
	struct str said = str_trim(buf_str(token));
	if (!said.len)
		return err_set(err, ERR_USAGE, "--token-file: %.200s is empty", file);
	for (size_t i = 0; i < said.len; i++)
		if (said.ptr[i] <= ' ' || said.ptr[i] >= 0x7f)
			return err_set(err, ERR_USAGE, "--token-file: %.200s holds more than one token", file);
	*ret_token = said;
	return 0;
}

int collector_check_ca(const char *file, struct err *err)
{
	/* Curl's own word for it is of a problem with "path? access rights?". */
	struct stat st;
	if (file && (stat(file, &st) != 0 || access(file, R_OK) != 0))
		return err_set(err, ERR_USAGE, "--ca-file: %.200s cannot be read", file);
	if (file && S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "--ca-file: %.200s is a directory: name a file of certificates", file);
	return 0;
}
