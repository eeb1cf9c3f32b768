/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"

enum { WORDS_MAX = 4 };

void tokens_done(struct tokens *tokens)
{
	free(tokens->rows);
	free(tokens->agents);
	free(tokens->viewers);
	*tokens = (struct tokens){ 0 };
}

const struct token_row *tokens_find(const struct tokens *tokens, const uint8_t sha256[HASH_SHA256_LEN])
{
	const struct token_row *found = NULL;
	for (size_t i = 0; i < tokens->n; i++)
		if (hash_same(tokens->rows[i].sha256, sha256))
			found = &tokens->rows[i];
	return found;
}

/* --- lines ---------------------------------------------------------------------------------- */

static size_t split_words(struct str line, struct str words[WORDS_MAX + 1])
{
	size_t n = 0;
	for (;;) {
		str_blanks(&line);
		if (!line.len || n > WORDS_MAX)
			return n;
		size_t len = 0;
		while (len < line.len && line.ptr[len] != ' ' && line.ptr[len] != '\t')
			len++;
		words[n++] = (struct str){ line.ptr, len };
		line = str_skip(line, len);
	}
}

static bool is_visible(struct str word)
{
	for (size_t i = 0; i < word.len; i++)
		if (word.ptr[i] <= ' ' || word.ptr[i] >= 0x7f)
			return false;
	return word.len > 0;
}

static int take_name(char *dest, size_t cap, struct str word, const char *what, struct err *err)
{
	if (!is_visible(word))
		return err_set(err, ERR_USAGE, "the %s has characters that are no visible ASCII", what);
	if (word.len >= cap)
		return err_set(err, ERR_USAGE, "the %s has more than %zu characters", what, cap - 1);
	str_copy(dest, cap, word);
	return 0;
}

/* The message never quotes: whoever swaps two columns must not find the token in a log. */
static int take_token(struct tokens *tokens, struct str word, struct err *err)
{
	struct token_row *row = &tokens->rows[tokens->n];
	if (!is_visible(word) || word.len < TOKEN_LEAST || word.len > TOKEN_MOST)
		return err_set(err, ERR_USAGE, "the token must have %d to %d visible ASCII characters", TOKEN_LEAST,
			       TOKEN_MOST);
	int rc = hash_sha256(word, row->sha256, err);
	if (rc < 0)
		return rc;
	if (tokens_find(tokens, row->sha256))
		return err_set(err, ERR_USAGE, "the same token stands in an earlier line: it would name two");
	row->who = (unsigned)tokens->n;
	return 0;
}

static int take_agent(struct tokens *tokens, const struct str *words, size_t n, struct err *err)
{
	if (n != 2)
		return err_set(err, ERR_USAGE, "expected 'AGENT-ID TOKEN'");
	int rc = take_name(tokens->agents[tokens->n], WIRE_NAME_CAP, words[0], "agent id", err);
	return rc < 0 ? rc : take_token(tokens, words[1], err);
}

static int take_namespaces(struct auth_viewer *viewer, struct str list, struct err *err)
{
	struct str part;
	while (str_split(&list, ',', &part)) {
		if (viewer->n_namespaces == AUTH_NAMESPACES_MAX)
			return err_set(err, ERR_USAGE, "more than %d namespaces", AUTH_NAMESPACES_MAX);
		int rc = take_name(viewer->namespaces[viewer->n_namespaces], sizeof viewer->namespaces[0], part,
				   "namespace", err);
		if (rc < 0)
			return rc;
		viewer->n_namespaces++;
	}
	return 0;
}

static int take_role(struct auth_viewer *viewer, struct str word, struct err *err)
{
	if (str_eq(word, STR("viewer")))
		viewer->role = AUTH_VIEWER;
	else if (str_eq(word, STR("operator")))
		viewer->role = AUTH_OPERATOR;
	else
		return err_set(err, ERR_USAGE, "the role is neither viewer nor operator");
	return 0;
}

static int take_viewer(struct tokens *tokens, enum tokens_kind kind, const struct str *words, size_t n, struct err *err)
{
	struct auth_viewer *viewer = &tokens->viewers[tokens->n];
	size_t least = kind == TOKENS_VIEWERS ? 3 : 2;
	*viewer = (struct auth_viewer){ 0 };
	if (n != least && n != least + 1)
		return err_set(err, ERR_USAGE, "expected 'ROLE %s [NAMESPACE,...]'",
			       kind == TOKENS_VIEWERS ? "NAME TOKEN" : "USER|group:NAME|*");
	int rc = take_role(viewer, words[0], err);
	if (rc == 0)
		rc = take_name(viewer->name, sizeof viewer->name, words[1], "name", err);
	if (rc == 0 && kind == TOKENS_VIEWERS)
		rc = take_token(tokens, words[2], err);
	return rc == 0 && n > least ? take_namespaces(viewer, words[least], err) : rc;
}

static int grow(struct tokens *tokens, size_t n, enum tokens_kind kind, struct err *err)
{
	tokens->rows = calloc(n + 1, sizeof *tokens->rows);
	if (kind == TOKENS_AGENTS)
		tokens->agents = calloc(n + 1, sizeof *tokens->agents);
	else
		tokens->viewers = calloc(n + 1, sizeof *tokens->viewers);
	if (!tokens->rows || (!tokens->agents && !tokens->viewers))
		return err_set(err, ERR_NOMEM, "no memory for %zu tokens", n);
	return 0;
}

int tokens_parse(struct str text, enum tokens_kind kind, struct tokens *ret_tokens, struct err *err)
{
	auto_(tokens_done) struct tokens tokens = { 0 };
	struct str rest = text, line, words[WORDS_MAX + 1];
	size_t n_lines = 1;
	for (size_t i = 0; i < text.len; i++)
		n_lines += text.ptr[i] == '\n';
	if (n_lines > TOKENS_MAX)
		return err_set(err, ERR_USAGE, "more than %d lines", TOKENS_MAX);
	int rc = grow(&tokens, n_lines, kind, err);
	for (unsigned number = 1; rc == 0 && str_line(&rest, &line); number++) {
		line = str_trim(line);
		if (!line.len || line.ptr[0] == '#')
			continue;
		size_t n = split_words(line, words);
		rc = kind == TOKENS_AGENTS ? take_agent(&tokens, words, n, err)
					   : take_viewer(&tokens, kind, words, n, err);
		if (rc < 0)
			err_wrap(err, "line %u", number);
		else
			tokens.n++;
	}
	if (rc < 0)
		return rc;
	*ret_tokens = tokens;
	tokens = (struct tokens){ 0 };
	return 0;
}

/* --- the file ------------------------------------------------------------------------------- */

static struct token_stamp stamp_of(const struct stat *st)
{
	return (struct token_stamp){ .inode = st->st_ino,
				     .device = st->st_dev,
				     .size = (uint64_t)st->st_size,
				     .mtime_s = st->st_mtim.tv_sec,
				     .mtime_ns = st->st_mtim.tv_nsec };
}

static int check_file(const struct stat *st, enum tokens_kind kind, struct err *err)
{
	mode_t forbidden = kind == TOKENS_PROXY ? S_IWGRP | S_IWOTH : S_IWGRP | S_IRWXO;
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_USAGE, "is no regular file");
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return err_set(err, ERR_USAGE, "belongs to user %u: only root's or our own is trusted",
			       (unsigned)st->st_uid);
	if (st->st_mode & forbidden)
		return err_set(err, ERR_USAGE, "has mode %04o: others can reach it; make it 0600 or 0440",
			       (unsigned)st->st_mode & 07777);
	return 0;
}

int tokens_read(const char *path, enum tokens_kind kind, struct tokens *ret_tokens, struct err *err)
{
	auto_buf struct buf text = { .cap = TOKENS_FILE_MAX };
	/* Not blocking: a FIFO in its place must not hold us before fstat has seen it. */
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	struct tokens tokens = { 0 };
	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_USAGE, "%s: no such file", path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	int rc = check_file(&st, kind, err);
	if (rc < 0) {
		err_wrap(err, "%s", path);
		return rc;
	}
	rc = file_read_fd(fd, path, TOKENS_FILE_MAX, &text, err);
	if (rc < 0)
		return rc;
	rc = tokens_parse(buf_str(&text), kind, &tokens, err);
	if (text.ptr)
		explicit_bzero(text.ptr, text.room);
	if (rc < 0) {
		err_wrap(err, "%s", path);
		return rc;
	}
	tokens.stamp = stamp_of(&st);
	*ret_tokens = tokens;
	return 0;
}

bool tokens_changed(const struct tokens *tokens, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return false; /* in the middle of a swap: what held holds until there is another */
	struct token_stamp now = stamp_of(&st);
	return memcmp(&now, &tokens->stamp, sizeof now) != 0;
}
