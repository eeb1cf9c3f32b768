/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, of the TLS library that is linked anyway. Depends on base only. */
#ifndef NET_HASH_H
#define NET_HASH_H

#include "base/err.h"
#include "base/str.h"

enum { HASH_SHA256_LEN = 32 };

/* NOMEM alone can fail. */
int hash_sha256(struct str bytes, uint8_t ret_digest[HASH_SHA256_LEN], struct err *err)
	__attribute__((warn_unused_result));

/* In a time that does not depend on where they differ. */
bool hash_same(const uint8_t a[HASH_SHA256_LEN], const uint8_t b[HASH_SHA256_LEN]);

#endif
