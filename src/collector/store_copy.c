/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backup and restore: a copy is made under a temporary name, looked at, synced, and only then gets its name, which
 * nothing may have before. Who is interrupted leaves nothing that looks like a backup.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "collector/store_db.h"

enum { COPY_PAGES = 4096, COPY_BUSY_MS = 10000 };

struct copy {
	char name[STORE_PATH_CAP + 64]; /* "": nothing to remove */
};

static void remove_suffix(const struct copy *copy, const char *suffix)
{
	char path[STORE_PATH_CAP + 80];
	(void)snprintf(path, sizeof path, "%s%s", copy->name, suffix);
	(void)unlink(path); /* most were never there */
}

static void copy_removep(struct copy *copy)
{
	if (!copy->name[0])
		return;
	remove_suffix(copy, "");
	remove_suffix(copy, "-journal");
	remove_suffix(copy, "-wal");
	remove_suffix(copy, "-shm");
}

/*
 * All pages of `from` into `to`. Where a collector writes at the same time, each commit of it would begin the copy anew
 * (sqlite3_backup_step); a transaction that is open in `from` keeps one state of it to the end, and the WAL grows meanwhile.
 */
static int copy_pages(sqlite3 *from, sqlite3 *to, const char *from_path, const char *to_path, struct err *err)
{
	int64_t n;
	int rc = store_db_exec(from, from_path, "BEGIN", err);
	if (rc == 0)
		rc = store_db_int(from, from_path, "SELECT count(*) FROM sqlite_schema", &n, err);
	if (rc < 0)
		return rc;
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	if (!backup)
		return store_fail(to, sqlite3_errcode(to), to_path, "store: copy", err);
	int step = SQLITE_OK;
	while (step == SQLITE_OK)
		step = sqlite3_backup_step(backup, COPY_PAGES);
	int end = sqlite3_backup_finish(backup);
	(void)sqlite3_exec(from, "COMMIT", NULL, NULL, NULL); /* it only read */
	if (step != SQLITE_DONE || end != SQLITE_OK)
		return store_fail(to, end != SQLITE_OK ? end : step, to_path, "store: copy", err);
	/* One file that needs no other beside it, and can be read from a read-only disk. */
	return store_db_exec(to, to_path, "PRAGMA journal_mode = DELETE", err);
}

static int sync_path(const char *path, int flags, struct err *err)
{
	auto_close int fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return err_sys(err, errno, "store: %s", path);
	return 0;
}

static void parent_of(const char *path, char dest[STORE_PATH_CAP])
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		str_copy(dest, STORE_PATH_CAP, STR("."));
	else
		str_copy(dest, STORE_PATH_CAP, (struct str){ path, slash == path ? 1 : (size_t)(slash - path) });
}

/* A name in the directory of `path` that is free, held by an empty file of mode 0600. */
static int temporary(const char *path, struct copy *copy, struct err *err)
{
	char directory[STORE_PATH_CAP];
	struct copy made;
	if (strlen(path) >= STORE_PATH_CAP)
		return err_set(err, ERR_USAGE, "store: the file's name is too long");
	parent_of(path, directory);
	(void)snprintf(made.name, sizeof made.name, "%s/.bankfull-copy-XXXXXX", directory);
	auto_close int fd = mkostemp(made.name, O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "store: %s", directory);
	*copy = made;
	return 0;
}

static int give_name(struct copy *copy, const char *path, struct err *err)
{
	char directory[STORE_PATH_CAP];
	int rc = sync_path(copy->name, O_RDONLY, err);
	if (rc < 0)
		return rc;
	/* link(2) never replaces; rename would */
	if (link(copy->name, path) < 0)
		return errno == EEXIST ? err_set(err, ERR_USAGE, "store: %s: is there already", path)
				       : err_sys(err, errno, "store: %s", path);
	parent_of(path, directory);
	return sync_path(directory, O_RDONLY | O_DIRECTORY, err);
}

static int copy_file(const char *from_path, enum store_open_how how, const char *to_path, bool check, struct err *err)
{
	auto_(copy_removep) struct copy copy = { "" };
	auto_db sqlite3 *from = NULL;
	auto_db sqlite3 *to = NULL;
	int version;
	if (access(to_path, F_OK) == 0)
		return err_set(err, ERR_USAGE, "store: %s: is there already; move it away first", to_path);
	int rc = store_db_open(from_path, how, COPY_BUSY_MS, &from, &version, err);
	if (rc == 0 && version == 0)
		rc = err_set(err, ERR_MALFORMED, "store: %s: holds nothing of a collector", from_path);
	if (rc == 0)
		rc = temporary(to_path, &copy, err);
	if (rc < 0)
		return rc;
	int opened = sqlite3_open_v2(copy.name, &to,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (opened != SQLITE_OK)
		return store_fail(to, opened, copy.name, "store", err);
	rc = copy_pages(from, to, from_path, copy.name, err);
	if (rc == 0 && check) {
		auto_buf struct buf report = { .cap = 4096 };
		rc = store_db_check(to, from_path, &report, err);
	}
	(void)sqlite3_close(to);
	to = NULL;
	return rc == 0 ? give_name(&copy, to_path, err) : rc;
}

int store_backup(const char *directory, const char *file, struct err *err)
{
	char path[STORE_PATH_CAP + 16];
	store_path(path, directory);
	return copy_file(path, STORE_OPEN_EXISTING, file, false, err);
}

int store_restore(const char *file, const char *directory, struct err *err)
{
	char path[STORE_PATH_CAP + 16];
	store_path(path, directory);
	return copy_file(file, STORE_OPEN_READ, path, true, err);
}

int store_check(const char *directory, struct buf *report, struct err *err)
{
	char path[STORE_PATH_CAP + 16];
	auto_db sqlite3 *db = NULL;
	int version;
	store_path(path, directory);
	struct err why = { 0 };
	int rc = store_db_open(path, STORE_OPEN_EXISTING, COPY_BUSY_MS, &db, &version, &why);
	if (rc < 0) {
		/* Its list of tables cannot be read, or it is none: what was said of it is the trouble. */
		if (why.kind == ERR_MALFORMED)
			(void)buf_printf(report, "%s\n", why.message);
		if (err)
			*err = why;
		return rc;
	}
	if (version < STORE_VERSION)
		return err_set(err, ERR_UNSUPPORTED,
			       "store: %s: of version %d; start the collector once, it brings it to %d", path, version,
			       STORE_VERSION);
	return store_db_check(db, path, report, err);
}
