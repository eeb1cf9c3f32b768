/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of static tokens. Lines of words; empty lines and lines that begin with '#' are left out:
 *
 *     agents     AGENT-ID TOKEN
 *     viewers    ROLE NAME TOKEN [NAMESPACE,...]      ROLE is viewer or operator
 *     proxy      ROLE USER|group:NAME|* [NAMESPACE,...]   no tokens: a proxy has asked who it is, see proxy.h
 *
 * A token has 16 to 512 visible ASCII characters and stands in a file once; it is held as its SHA-256 only. The file
 * must belong to root or to the user of this process, and others must have no access to it (mode & 07), nor the group a
 * right to write: a Secret's default mode 0644 is refused, defaultMode 0440 is right. One without tokens may be read by all.
 */
#ifndef COLLECTOR_TOKENS_H
#define COLLECTOR_TOKENS_H

#include "collector/auth.h"
#include "net/hash.h"

enum {
	TOKENS_FILE_MAX = 4 * 1024 * 1024, /* 20,000 agents at 200 bytes */
	TOKENS_MAX = 20000,
	TOKEN_LEAST = 16, /* 64 bits in hex: less can be guessed over the network */
	TOKEN_MOST = 512,
};

struct token_row {
	uint8_t sha256[HASH_SHA256_LEN];
	unsigned who; /* index into agents or viewers */
};

/* Which file it was: an edit, or the swapped link of a Kubernetes volume, changes one of these. */
struct token_stamp {
	uint64_t inode, device, size;
	int64_t mtime_s, mtime_ns;
};

struct tokens {
	struct token_row *rows;
	char (*agents)[WIRE_NAME_CAP]; /* of an agents' file */
	struct auth_viewer *viewers;   /* of a viewers' or a proxy's file, in the order of its lines */
	size_t n;
	struct token_stamp stamp;
};

enum tokens_kind { TOKENS_AGENTS, TOKENS_VIEWERS, TOKENS_PROXY };

/* PURE. USAGE with the line's number; never a token in the message. */
int tokens_parse(struct str text, enum tokens_kind kind, struct tokens *ret_tokens, struct err *err)
	__attribute__((warn_unused_result));
int tokens_read(const char *path, enum tokens_kind kind, struct tokens *ret_tokens, struct err *err)
	__attribute__((warn_unused_result));
/* The file is another one than was read. */
bool tokens_changed(const struct tokens *tokens, const char *path);
void tokens_done(struct tokens *tokens);

/* The row of this token or NULL. Every row is compared, in constant time. */
const struct token_row *tokens_find(const struct tokens *tokens, const uint8_t sha256[HASH_SHA256_LEN]);

#endif
