/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/login.h"

#include <arpa/inet.h>

#include "data/js.h"

/* --- how often --------------------------------------------------------------------------------------------------- */

static void key_of(const char *peer, char key[LOGIN_KEY_CAP])
{
	struct in6_addr address;
	str_copy(key, LOGIN_KEY_CAP, str_of(peer));
	if (inet_pton(AF_INET6, peer, &address) != 1)
		return;
	memset(&address.s6_addr[8], 0, 8);
	(void)inet_ntop(AF_INET6, &address, key, LOGIN_KEY_CAP);
}

static const struct login_address *find(const struct login_limit *limit, const char *key)
{
	for (size_t i = 0; i < limit->n; i++)
		if (strcmp(limit->addresses[i].key, key) == 0)
			return &limit->addresses[i];
	return NULL;
}

unsigned login_wait_s(const struct login_limit *limit, const char *peer, struct mono now)
{
	char key[LOGIN_KEY_CAP];
	key_of(peer, key);
	const struct login_address *address = find(limit, key);
	uint64_t owed_ms = address ? mono_ms_until(now, address->full_at) : 0;
	uint64_t free_ms = (uint64_t)(LOGIN_TRIES - 1) * LOGIN_REFILL_MS;
	return owed_ms > free_ms ? (unsigned)((owed_ms - free_ms + 999) / 1000) : 0;
}

/* Its place, or that of the one that has all its tries again first. */
static struct login_address *place(struct login_limit *limit, const char *key)
{
	struct login_address *first = &limit->addresses[0];
	for (size_t i = 0; i < limit->n; i++) {
		if (strcmp(limit->addresses[i].key, key) == 0)
			return &limit->addresses[i];
		if (limit->addresses[i].full_at.ns < first->full_at.ns)
			first = &limit->addresses[i];
	}
	if (limit->n < LOGIN_ADDRESSES_MAX)
		first = &limit->addresses[limit->n++];
	*first = (struct login_address){ 0 };
	str_copy(first->key, sizeof first->key, str_of(key));
	return first;
}

void login_failed(struct login_limit *limit, const char *peer, struct mono now)
{
	char key[LOGIN_KEY_CAP];
	key_of(peer, key);
	struct login_address *address = place(limit, key);
	struct mono from = address->full_at.ns > now.ns ? address->full_at : now;
	address->full_at = mono_add_ms(from, LOGIN_REFILL_MS);
}

/* --- percent --------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* False: no room, or a '%' without two digits, or a NUL. */
static bool decode(struct str text, bool plus_is_blank, char *dest, size_t cap)
{
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		int c = (unsigned char)text.ptr[i];
		if (c == '%') {
			int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
			int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
			if (high < 0 || low < 0)
				return false;
			c = high * 16 + low;
			i += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		}
		if (c == 0 || len + 1 >= cap)
			return false;
		dest[len++] = (char)c;
	}
	dest[len] = '\0';
	return true;
}

void login_cookie_encode(const char *token, struct buf *out)
{
	for (const char *p = token; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c <= ' ' || c >= 0x7f || strchr("\",;\\%", c))
			(void)buf_printf(out, "%%%02X", c);
		else
			(void)buf_putc(out, (char)c);
	}
}

bool login_cookie_decode(struct str value, char *dest, size_t cap)
{
	return decode(value, false, dest, cap);
}

/* --- bodies ------------------------------------------------------------------------------------------------------ */

static bool form_token(struct str body, char *dest, size_t cap)
{
	struct str part;
	while (str_split(&body, '&', &part))
		if (str_take(&part, STR("token=")))
			return decode(part, true, dest, cap);
	return false;
}

static bool json_token(struct str body, char *dest, size_t cap)
{
	static const struct js_caps caps = { LOGIN_BODY_MAX, 2, 8 };
	auto_js struct js *root = NULL;
	struct str token;
	struct err err;
	if (js_parse_within(body, &caps, &root, &err) < 0 || !js_str(js_get(root, "token"), &token) || token.len >= cap)
		return false;
	str_copy(dest, cap, token);
	return true;
}

int login_token(struct str body, bool is_json, char ret_token[LOGIN_TOKEN_CAP], struct err *err)
{
	char token[LOGIN_TOKEN_CAP] = "";
	bool good = is_json ? json_token(body, token, sizeof token) : form_token(body, token, sizeof token);
	if (!good || !token[0])
		return err_set(err, ERR_MALFORMED, "no token of at most %d characters in the body",
			       LOGIN_TOKEN_CAP - 1);
	memcpy(ret_token, token, sizeof token);
	explicit_bzero(token, sizeof token);
	return 0;
}
