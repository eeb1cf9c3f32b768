/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of a request. */
#include "net/lws_server.h"

#include <stdio.h>
#include <strings.h>

/* lws keeps a header it knows under a token, and only then; any other one under its name. */
static const struct {
	const char *name;
	enum lws_token_indexes token;
} tokens[] = {
	{ "host", WSI_TOKEN_HOST },
	{ "origin", WSI_TOKEN_ORIGIN },
	{ "cookie", WSI_TOKEN_HTTP_COOKIE },
	{ "accept", WSI_TOKEN_HTTP_ACCEPT },
	{ "authorization", WSI_TOKEN_HTTP_AUTHORIZATION },
	{ "if-none-match", WSI_TOKEN_HTTP_IF_NONE_MATCH },
	{ "if-match", WSI_TOKEN_HTTP_IF_MATCH },
	{ "if-modified-since", WSI_TOKEN_HTTP_IF_MODIFIED_SINCE },
	{ "accept-encoding", WSI_TOKEN_HTTP_ACCEPT_ENCODING },
	{ "accept-language", WSI_TOKEN_HTTP_ACCEPT_LANGUAGE },
	{ "cache-control", WSI_TOKEN_HTTP_CACHE_CONTROL },
	{ "content-type", WSI_TOKEN_HTTP_CONTENT_TYPE },
	{ "content-length", WSI_TOKEN_HTTP_CONTENT_LENGTH },
	{ "referer", WSI_TOKEN_HTTP_REFERER },
	{ "user-agent", WSI_TOKEN_HTTP_USER_AGENT },
	{ "x-forwarded-for", WSI_TOKEN_X_FORWARDED_FOR },
	{ "x-real-ip", WSI_TOKEN_HTTP_X_REAL_IP },
	{ "x-auth-token", WSI_TOKEN_X_AUTH_TOKEN },
	{ "via", WSI_TOKEN_HTTP_VIA },
	{ "from", WSI_TOKEN_HTTP_FROM },
};

/* Copied behind what was asked for before. "" where there is none or no room. */
static struct str copy_header(struct request_store *store, const char *name, int token)
{
	char with_colon[64];
	char *dest = store->headers + store->headers_len;
	size_t room = sizeof(store->headers) - store->headers_len;
	int name_len = snprintf(with_colon, sizeof(with_colon), "%s:", name);
	if (name_len < 0 || (size_t)name_len >= sizeof(with_colon) || room < 2)
		return STR("");
	int len = token >= 0 ? lws_hdr_copy_fragment(store->wsi, dest, (int)room, (enum lws_token_indexes)token, 0)
			     : lws_hdr_custom_copy(store->wsi, dest, (int)room, with_colon, name_len);
	if (len <= 0)
		return STR("");
	store->headers_len += (size_t)len + 1;
	return str_trim((struct str){ dest, (size_t)len });
}

struct str server_header(const struct server_request *request, const char *name)
{
	/* The store is ours and was writable when the request was made of it. */
	struct request_store *store = (struct request_store *)(uintptr_t)request->handle;
	int token = -1;
	for (const char *const *at = request->headers; !store && at && *at; at += 2)
		if (strcmp(*at, name) == 0)
			return str_of(at[1]);
	if (!store)
		return STR("");
	for (size_t i = 0; i < store->n_given; i++)
		if (strcmp(store->given[i].name, name) == 0)
			return store->given[i].value;
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		if (strcmp(tokens[i].name, name) == 0)
			token = (int)tokens[i].token;
	if (token >= 0 && lws_hdr_total_length(store->wsi, (enum lws_token_indexes)token) <= 0)
		return STR("");
	struct str value = copy_header(store, name, token);
	if (store->n_given < REQUEST_HEADERS_MAX) {
		store->given[store->n_given].name = name;
		store->given[store->n_given++].value = value;
	}
	return value;
}

bool server_body_is(const struct server_request *request, const char *media)
{
	struct str type = server_header(request, "content-type");
	type.len = str_index(type, ';');
	type = str_trim(type);
	return type.len == strlen(media) && strncasecmp(type.ptr, media, type.len) == 0;
}

size_t header_first_of(struct lws *wsi, enum lws_token_indexes token, char *const *names, size_t n)
{
	char text[512];
	if (lws_hdr_copy(wsi, text, sizeof(text), token) <= 0)
		return n;
	struct str rest = str_of(text), part;
	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		for (size_t i = 0; i < n; i++)
			if (str_eq(part, str_of(names[i])))
				return i;
	}
	return n;
}

bool header_lists(struct lws *wsi, enum lws_token_indexes token, struct str value)
{
	char text[512];
	if (lws_hdr_copy(wsi, text, sizeof(text), token) <= 0)
		return false;
	struct str rest = str_of(text), part;
	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (part.len == value.len && strncasecmp(part.ptr, value.ptr, part.len) == 0)
			return true;
	}
	return false;
}
