/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hash.h"

#include <libwebsockets.h>

int hash_sha256(struct str bytes, uint8_t ret_digest[HASH_SHA256_LEN], struct err *err)
{
	struct lws_genhash_ctx context;
	uint8_t digest[HASH_SHA256_LEN];
	if (lws_genhash_init(&context, LWS_GENHASH_TYPE_SHA256) != 0)
		return err_set(err, ERR_NOMEM, "no memory for a hash");
	int failed = bytes.len ? lws_genhash_update(&context, bytes.ptr, bytes.len) : 0;
	if (lws_genhash_destroy(&context, failed ? NULL : digest) != 0 || failed)
		return err_set(err, ERR_NOMEM, "no memory for a hash");
	memcpy(ret_digest, digest, sizeof digest);
	return 0;
}

bool hash_same(const uint8_t a[HASH_SHA256_LEN], const uint8_t b[HASH_SHA256_LEN])
{
	unsigned differ = 0;
	for (int i = 0; i < HASH_SHA256_LEN; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return differ == 0;
}
