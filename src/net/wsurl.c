/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wsurl.h"

#include "base/esc.h"
#include "net/wsclient.h"

static int refuse(const char *url, const char *why, struct err *err)
{
	char shown[120];
	return err_set(err, ERR_USAGE, "'%s': %s: write ws://HOST:PORT/agent or wss://HOST:PORT/agent",
		       esc_copy(shown, sizeof shown, str_of(url)), why);
}

/* Takes "HOST", "1.2.3.4" or "[::1]" off `rest`. */
static bool take_host(struct str *rest, char dest[WSURL_HOST_CAP])
{
	struct str host;
	if (str_take(rest, STR("["))) {
		host = (struct str){ rest->ptr, str_index(*rest, ']') };
		if (host.len == rest->len || !str_has(host, STR(":")))
			return false;
		*rest = str_skip(*rest, host.len + 1);
	} else {
		size_t colon = str_index(*rest, ':'), slash = str_index(*rest, '/');
		host = (struct str){ rest->ptr, colon < slash ? colon : slash };
		*rest = str_skip(*rest, host.len);
	}
	if (host.len == 0 || host.len >= WSURL_HOST_CAP)
		return false;
	str_copy(dest, WSURL_HOST_CAP, host);
	return true;
}

static bool take_port(struct str *rest, uint16_t *port)
{
	uint64_t number;
	if (!str_take(rest, STR(":")))
		return rest->len == 0 || rest->ptr[0] == '/';
	if (!str_u64(rest, &number) || number == 0 || number > UINT16_MAX || (rest->len && rest->ptr[0] != '/'))
		return false;
	*port = (uint16_t)number;
	return true;
}

int wsurl_parse(const char *url, struct wsurl *ret_url, struct err *err)
{
	struct str rest = str_of(url);
	struct wsurl parsed = { .port = 80, .path = "/" };
	for (const char *c = url; *c; c++) {
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f || *c == '\\' || *c == '"')
			return refuse(url, "holds a byte that no URL has", err);
		if (*c == '@' || *c == '?' || *c == '#')
			return refuse(url, "no user, query or fragment; a token comes from token-file", err);
	}
	if (str_take(&rest, STR("wss://"))) {
		parsed.tls = true;
		parsed.port = 443;
	} else if (!str_take(&rest, STR("ws://"))) {
		return refuse(url, "neither ws nor wss", err);
	}
	if (!take_host(&rest, parsed.host))
		return refuse(url, "no host", err);
	if (!take_port(&rest, &parsed.port))
		return refuse(url, "no port", err);
	if (rest.len >= sizeof parsed.path)
		return refuse(url, "the path is too long", err);
	if (rest.len)
		str_copy(parsed.path, sizeof parsed.path, rest);
	*ret_url = parsed;
	return 0;
}

int wsclient_url_check(const char *url, struct err *err)
{
	struct wsurl ignored;
	return wsurl_parse(url, &ignored, err);
}
