/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hash.h"

#include <openssl/evp.h>

/* Of OpenSSL itself: Debian's libwebsockets is built without LWS_WITH_GENCRYPTO and has no lws_genhash. */
int hash_sha256(struct str bytes, uint8_t ret_digest[HASH_SHA256_LEN], struct err *err)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (EVP_Digest(bytes.ptr, bytes.len, digest, &len, EVP_sha256(), NULL) != 1 || len != HASH_SHA256_LEN)
		return err_set(err, ERR_NOMEM, "no memory for a hash");
	memcpy(ret_digest, digest, HASH_SHA256_LEN);
	return 0;
}

bool hash_same(const uint8_t a[HASH_SHA256_LEN], const uint8_t b[HASH_SHA256_LEN])
{
	unsigned differ = 0;
	for (int i = 0; i < HASH_SHA256_LEN; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return differ == 0;
}
