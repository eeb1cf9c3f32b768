/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/credential.h"

#include <fcntl.h>

#include "base/auto.h"
#include "base/buf.h"
#include "sys/file.h"
#include "wire/jwt.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* One that cannot be read is in the middle of being swapped, or gone: the attempt says so. */
static bool read_token(const char *path, uint8_t sha256[HASH_SHA256_LEN], struct wall *ret_expires)
{
	auto_buf struct buf text = { .cap = JWT_MAX };
	struct jwt jwt;
	struct err err;
	bool good = file_read_at(AT_FDCWD, path, JWT_MAX, &text, &err) == 0;
	struct str token = str_trim(buf_str(&text));
	good = good && token.len && hash_sha256(token, sha256, &err) == 0;
	if (good)
		*ret_expires = jwt_parse(token, "", &jwt, &err) == 0 ? jwt.expires : (struct wall){ 0 };
	if (text.ptr)
		explicit_bzero(text.ptr, text.room);
	return good;
}

void credential_show(struct credential *credential, uint64_t chance)
{
	if (!credential->path)
		return;
	/* Before the reading: a file that is swapped in between is looked at again. */
	if (stat(credential->path, &credential->stamp) < 0)
		credential->stamp = (struct stat){ 0 };
	credential->expires = (struct wall){ 0 };
	credential->said_stale = false;
	credential->renew_ms = CREDENTIAL_RENEW_MS - chance % CREDENTIAL_RENEW_SPREAD_MS;
	credential->shown = read_token(credential->path, credential->sha256, &credential->expires);
}

static bool is_fresh(const struct credential *credential)
{
	struct stat stamp;
	uint8_t sha256[HASH_SHA256_LEN];
	struct wall expires;
	if (stat(credential->path, &stamp) < 0 || same_file(&stamp, &credential->stamp))
		return false;
	return read_token(credential->path, sha256, &expires) &&
	       (!credential->shown || !hash_same(sha256, credential->sha256));
}

enum credential_state credential_judge(struct wall expires, uint64_t renew_ms, bool fresh, struct wall now)
{
	int64_t left_ms = expires.ms - now.ms;
	if (fresh)
		return expires.ms && left_ms <= (int64_t)renew_ms ? CREDENTIAL_RENEW : CREDENTIAL_FRESH;
	return expires.ms && left_ms <= CREDENTIAL_STALE_MS ? CREDENTIAL_STALE : CREDENTIAL_WELL;
}

enum credential_state credential_look(const struct credential *credential, struct wall now)
{
	if (!credential->path)
		return CREDENTIAL_WELL;
	return credential_judge(credential->expires, credential->renew_ms, is_fresh(credential), now);
}
