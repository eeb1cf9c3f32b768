/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens and cookies of people who log in: how often an address may be wrong, and what a form or JSON says. PURE.
 */
#ifndef COLLECTOR_LOGIN_H
#define COLLECTOR_LOGIN_H

#include "base/buf.h"
#include "base/err.h"
#include "sys/clock.h"

enum {
	LOGIN_BODY_MAX = 4096,
	LOGIN_TRIES = 10,          /* wrong ones in a row that an address has at once ... */
	LOGIN_REFILL_MS = 30000,   /* ... and one more each 30 s: 2,880 a day against 64 bits */
	LOGIN_ADDRESSES_MAX = 512, /* remembered; beyond it the one that failed longest ago is forgotten */
	LOGIN_COOKIE_S = 7 * 86400,
	LOGIN_TOKEN_CAP = 520,
	LOGIN_KEY_CAP = 48,
};

#define LOGIN_COOKIE "__Host-bankfull"

struct login_address {
	char key[LOGIN_KEY_CAP]; /* the address; of v6 its /64, which one customer has whole */
	struct mono full_at;     /* when all tries are there again */
};

struct login_limit {
	struct login_address addresses[LOGIN_ADDRESSES_MAX];
	size_t n;
};

/* 0: it may try. Else seconds until it may. */
unsigned login_wait_s(const struct login_limit *limit, const char *peer, struct mono now);
void login_failed(struct login_limit *limit, const char *peer, struct mono now);

/* The token in `body`: "token=..." of a form, or {"token": "..."} of JSON. MALFORMED. */
int login_token(struct str body, bool is_json, char ret_token[LOGIN_TOKEN_CAP], struct err *err)
	__attribute__((warn_unused_result));

/* A token as the value of a cookie, and back: its bytes that RFC 6265 section 4.1.1 does not allow there become %XX. */
void login_cookie_encode(const char *token, struct buf *out);
bool login_cookie_decode(struct str value, char *dest, size_t cap);

#endif
