/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An authority of our own and the certificates that it gives (RFC 5280): ECDSA on P-256, PEM. It is made once, signs
 * certificates of servers and nothing else, and nothing below it may sign. Nothing is read, nothing is written.
 */
#ifndef NET_CERTS_H
#define NET_CERTS_H

#include "base/buf.h"
#include "base/err.h"

enum { CERTS_PEM_MAX = 16 * 1024, CERTS_NAMES_MAX = 16, CERTS_NAME_CAP = 254 };

struct certs_pair {
	struct buf cert, key; /* PEM */
};
void certs_pair_done(struct certs_pair *pair);
#define auto_certs_pair auto_(certs_pair_done)

/* `name`: its common name. `now_s`: seconds since 1970; it is good from a day before, for clocks that are off. */
int certs_authority(const char *name, int64_t now_s, unsigned days, struct certs_pair *ret_pair, struct err *err)
	__attribute__((warn_unused_result));

/* Of a server that is known by these DNS names and addresses, "a,b,127.0.0.1". Never outlives the authority. */
int certs_server(struct str ca_cert, struct str ca_key, const char *names, int64_t now_s, unsigned days,
		 struct certs_pair *ret_pair, struct err *err) __attribute__((warn_unused_result));

/*
 * Seconds for which a server's certificate goes on being good; 0 where it is not: not of this authority, not for all of
 * these names, expired, no certificate.
 */
int64_t certs_good_for(struct str cert, struct str ca_cert, const char *names, int64_t now_s);

/* Certificate and key of an authority that belong together. MALFORMED. */
int certs_check_authority(struct str ca_cert, struct str ca_key, int64_t now_s, struct err *err)
	__attribute__((warn_unused_result));

#endif
