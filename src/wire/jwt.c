/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/jwt.h"

#include "base/base64.h"
#include "data/js.h"

/* The alphabet of RFC 4648 section 5; JWS leaves the padding out (RFC 7515 section 2). */
static bool is_base64url(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
		      c == '_'))
			return false;
	}
	return text.len > 0 && text.len % 4 != 1;
}

static void take(const struct js *object, const char *key, char *dest, size_t cap)
{
	struct str text;
	if (js_str(js_get(object, key), &text) && text.len < cap)
		str_copy(dest, cap, text);
}

/* "aud" is one string or an array of them (RFC 7519 section 4.1.3). */
static bool is_for(const struct js *aud, struct str audience)
{
	struct str text;
	if (js_str(aud, &text))
		return str_eq(text, audience);
	for (size_t i = 0; i < js_len(aud); i++)
		if (js_str(js_at(aud, i), &text) && str_eq(text, audience))
			return true;
	return false;
}

static int split(struct str token, struct str parts[3], struct err *err)
{
	size_t n = 0;
	struct str rest = token;
	if (token.len > JWT_MAX)
		return err_set(err, ERR_MALFORMED, "longer than %d bytes", JWT_MAX);
	while (n < 3 && str_split(&rest, '.', &parts[n]))
		n++;
	if (n != 3 || rest.len || token.ptr[token.len - 1] == '.' || !is_base64url(parts[0]) ||
	    !is_base64url(parts[1]) || !is_base64url(parts[2]))
		return err_set(err, ERR_MALFORMED, "not a service-account token: three base64url parts are expected");
	return 0;
}

int jwt_parse(struct str token, const char *audience, struct jwt *ret_jwt, struct err *err)
{
	auto_buf struct buf payload = { .cap = JWT_MAX };
	auto_js struct js *root = NULL;
	struct jwt jwt = { 0 };
	struct str parts[3];
	double expires; /* a NumericDate may have decimals */
	int rc = split(token, parts, err);
	if (rc < 0)
		return rc;
	if (!base64_decode(parts[1], &payload))
		return err_set(err, ERR_NOMEM, "no memory for a token");
	/* The parser's own message quotes what it stumbled over: nothing of a token leaves here. */
	if (js_parse(buf_str(&payload), JWT_MAX, &root, NULL) < 0)
		return err_set(err, ERR_MALFORMED, "not a service-account token: its payload is no JSON");
	if (!js_double(js_get(root, "exp"), &expires) || !(expires > 0 && expires < 1e11))
		return err_set(err, ERR_MALFORMED, "a token without 'exp', or with one that is no date");
	jwt.expires.ms = (int64_t)(expires * 1000);
	jwt.for_audience = is_for(js_get(root, "aud"), str_of(audience ? audience : ""));
	const struct js *bound = js_get(root, "kubernetes.io"); /* a dot in the key: js_path() would take it apart */
	take(bound, "namespace", jwt.namespace_, sizeof jwt.namespace_);
	take(js_get(bound, "serviceaccount"), "name", jwt.account, sizeof jwt.account);
	take(js_get(bound, "pod"), "name", jwt.pod, sizeof jwt.pod);
	take(js_get(bound, "pod"), "uid", jwt.pod_uid, sizeof jwt.pod_uid);
	take(js_get(bound, "node"), "name", jwt.node, sizeof jwt.node);
	*ret_jwt = jwt;
	return 0;
}
