/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token that the agent shows, which somebody renews: the kubelet writes a new one at four fifths of a projected token's
 * life (its token manager), and swaps the directory's link. Which one was shown last, when that ends, and whether the
 * file has another one by now. Of the token itself nothing is kept but its SHA-256.
 */
#ifndef AGENT_CREDENTIAL_H
#define AGENT_CREDENTIAL_H

#include <sys/stat.h>

#include "bankfull/quantity.h"
#include "net/hash.h"

enum {
	CREDENTIAL_RENEW_MS =
		300000, /* before its end: earlier, and an outage of the API server would cost the session */
	CREDENTIAL_RENEW_SPREAD_MS = 180000, /* so that agents that started together do not come together */
	CREDENTIAL_STALE_MS = 30000,         /* before its end with none that is fresher */
};

struct credential {
	const char *path; /* NULL: no token is shown */
	struct stat stamp;
	uint8_t sha256[HASH_SHA256_LEN];
	bool shown;
	struct wall expires; /* of the one that was shown; ms 0: it does not say, such as a static one */
	uint64_t renew_ms;
	bool said_stale;
};

enum credential_state {
	CREDENTIAL_WELL,
	CREDENTIAL_FRESH, /* the file has another one */
	CREDENTIAL_RENEW, /* and it is time to show that */
	CREDENTIAL_STALE, /* the one that was shown ends, or has ended, and there is no other */
};

/* An attempt begins: what is in the file now is what it shows. `chance` is any random number. */
void credential_show(struct credential *credential, uint64_t chance);
/* Looks at the file, and reads it only where it is another one. */
enum credential_state credential_look(const struct credential *credential, struct wall now);
/* PURE. */
enum credential_state credential_judge(struct wall expires, uint64_t renew_ms, bool fresh, struct wall now);

#endif
