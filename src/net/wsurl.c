/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wsurl.h"

#include "base/esc.h"
#include "base/str.h"
#include "net/lookup.h"
#include "net/wsclient.h"

static int bad(struct err *err, const char *text, const char *what)
{
	char shown[128];
	/* What stands before '@' is a secret: show nothing of such a URL. */
	if (strchr(text, '@'))
		return err_set(err, ERR_USAGE, "URL: no user or password may stand in it; write ws://HOST:PORT/agent");
	return err_set(err, ERR_USAGE, "URL %s: %s; write ws://HOST:PORT/agent",
		       esc_copy(shown, sizeof(shown), str_of(text)), what);
}

static bool is_name(struct str host)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	for (size_t i = 0; i < host.len; i++)
		if (!memchr(letters, host.ptr[i], sizeof(letters) - 1))
			return false;
	return host.len > 0;
}

/* HOST or [v6] off `*rest`. */
static const char *take_host(struct str *rest, struct wsurl *url)
{
	struct str host;
	if (str_take(rest, STR("["))) {
		size_t end = str_index(*rest, ']');
		if (end == rest->len)
			return "no ] after [";
		host = (struct str){ rest->ptr, end };
		*rest = str_skip(*rest, end + 1);
		url->is_v6 = true;
	} else {
		size_t end = 0;
		while (end < rest->len && rest->ptr[end] != ':' && rest->ptr[end] != '/')
			end++;
		host = (struct str){ rest->ptr, end };
		*rest = str_skip(*rest, end);
		if (!is_name(host))
			return "no host";
	}
	if (host.len >= sizeof(url->host))
		return "the host is too long";
	str_copy(url->host, sizeof(url->host), host);
	return url->is_v6 && !lookup_is_numeric(url->host) ? "no IPv6 address in [ ]" : NULL;
}

static const char *take_port(struct str *rest, struct wsurl *url)
{
	uint64_t port;
	url->port = url->tls ? 443 : 80;
	if (!str_take(rest, STR(":")))
		return NULL;
	if (!str_u64(rest, &port) || port == 0 || port > UINT16_MAX)
		return "no port after ':'";
	url->port = (uint16_t)port;
	return NULL;
}

static const char *take_path(struct str *rest, struct wsurl *url)
{
	if (rest->len == 0)
		*rest = STR("/");
	if (rest->ptr[0] != '/')
		return "no '/' after the host";
	for (size_t i = 0; i < rest->len; i++) {
		if (rest->ptr[i] == '?' || rest->ptr[i] == '#')
			return "a query or fragment has no meaning here";
		if (rest->ptr[i] <= ' ' || rest->ptr[i] >= 0x7f)
			return "the path holds a blank or a byte that must be escaped";
	}
	if (rest->len >= sizeof(url->path))
		return "the path is too long";
	str_copy(url->path, sizeof(url->path), *rest);
	return NULL;
}

int wsurl_parse(const char *text, struct wsurl *ret_url, struct err *err)
{
	struct wsurl url = { 0 };
	struct str rest = str_of(text);
	if (strchr(text, '@'))
		return bad(err, text, "");
	url.tls = str_take(&rest, STR("wss://"));
	if (!url.tls && !str_take(&rest, STR("ws://")))
		return bad(err, text, "it begins with neither ws:// nor wss://");
	const char *what = take_host(&rest, &url);
	if (!what)
		what = take_port(&rest, &url);
	if (!what)
		what = take_path(&rest, &url);
	if (what)
		return bad(err, text, what);
	*ret_url = url;
	return 0;
}

int wsclient_url_check(const char *url, struct err *err)
{
	struct wsurl parsed;
	return wsurl_parse(url, &parsed, err);
}
