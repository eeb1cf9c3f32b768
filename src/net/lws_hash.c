/* SPDX-License-Identifier: Apache-2.0 */
/* By libcrypto, which TLS brings along: Debian's libwebsockets is built without lws_genhash_*(). */
#include "net/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

int hash_sha256(struct str bytes, uint8_t ret_digest[HASH_SHA256_LEN], struct err *err)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	if (EVP_Digest(bytes.ptr, bytes.len, digest, NULL, EVP_sha256(), NULL) != 1)
		return err_set(err, ERR_NOMEM, "no memory for a hash");
	memcpy(ret_digest, digest, HASH_SHA256_LEN);
	return 0;
}

bool hash_same(const uint8_t a[HASH_SHA256_LEN], const uint8_t b[HASH_SHA256_LEN])
{
	return CRYPTO_memcmp(a, b, HASH_SHA256_LEN) == 0;
}
