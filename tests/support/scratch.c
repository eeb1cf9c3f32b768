/* SPDX-License-Identifier: Apache-2.0 */
#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void stop(const char *what)
{
	perror(what);
	abort();
}

struct scratch scratch_new(void)
{
	struct scratch scratch;
	const char *base = getenv("TMPDIR");
	(void)snprintf(scratch.path, sizeof scratch.path, "%s/bankfull-test-XXXXXX", base && base[0] ? base : "/tmp");
	if (!mkdtemp(scratch.path))
		stop(scratch.path);
	scratch.fd = open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scratch.fd < 0)
		stop(scratch.path);
	return scratch;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void scratch_done(struct scratch *scratch)
{
	(void)close(scratch->fd);
	if (nftw(scratch->path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
		perror(scratch->path);
}

void scratch_dir(const struct scratch *scratch, const char *path)
{
	char part[1024];
	for (size_t i = 1; i <= strlen(path); i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		(void)snprintf(part, sizeof part, "%.*s", (int)i, path);
		if (mkdirat(scratch->fd, part, 0755) < 0 && errno != EEXIST)
			stop(part);
	}
}

static void make_parent(const struct scratch *scratch, const char *path)
{
	char parent[1024];
	(void)snprintf(parent, sizeof parent, "%s", path);
	char *slash = strrchr(parent, '/');
	if (slash) {
		*slash = '\0';
		scratch_dir(scratch, parent);
	}
}

void scratch_file(const struct scratch *scratch, const char *path, const char *text)
{
	make_parent(scratch, path);
	int fd = openat(scratch->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t len = strlen(text);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		stop(path);
	(void)close(fd);
}

void scratch_link(const struct scratch *scratch, const char *path, const char *target)
{
	make_parent(scratch, path);
	if (symlinkat(target, scratch->fd, path) < 0)
		stop(path);
}
