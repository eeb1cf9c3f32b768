/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a database file, and what every code of SQLite means to whoever runs a collector. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "collector/store_db.h"

void store_path(char dest[STORE_PATH_CAP + 16], const char *directory)
{
	(void)snprintf(dest, STORE_PATH_CAP + 16, "%s/bankfull.db", directory);
}

static int fail_io(int errnum, const char *path, const char *doing, struct err *err)
{
	/* EFBIG: past a limit on the size of files; SQLite knows ENOSPC alone as "full" */
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
		return err_set(err, ERR_LIMIT, "%s: %s: no room on disk; enlarge the volume or set a smaller disk cap",
			       doing, path);
	if (errnum == EROFS || errnum == EACCES || errnum == EPERM)
		return err_set(err, ERR_DENIED, "%s: %s: not writable; mount its volume writable for this user", doing,
			       path);
	if (errnum == 0)
		return err_set(err, ERR_IO, "%s: %s: the disk fails; look at the volume and the kernel's log", doing,
			       path);
	(void)err_sys(err, errnum, "%s: %s: the disk fails", doing, path);
	if (err)
		err->kind = ERR_IO;
	return -EIO;
}

/*
 * The errno behind a code. sqlite3_system_errno() has none where a commit failed (3.40); the file that could not be
 * written, the WAL or else the database, still remembers.
 */
static int errno_of(sqlite3 *db, int rc)
{
	int errnum = db ? sqlite3_system_errno(db) : 0;
	if (!db || errnum != 0 || (rc & 0xff) != SQLITE_IOERR)
		return errnum;
	static const int which[] = { SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER };
	for (size_t i = 0; i < sizeof which / sizeof which[0] && errnum == 0; i++) {
		sqlite3_file *file = NULL;
		if (sqlite3_file_control(db, "main", which[i], &file) == SQLITE_OK && file && file->pMethods)
			(void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &errnum); /* stays 0 */
	}
	return errnum;
}

int store_fail(sqlite3 *db, int rc, const char *path, const char *doing, struct err *err)
{
	int errnum = errno_of(db, rc);
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, ERR_TIMEOUT,
			       "%s: %s: locked by another process; end it (a second collector? sqlite3?), or try again",
			       doing, path);
	case SQLITE_CORRUPT:
		return err_set(err, ERR_MALFORMED,
			       "%s: %s: damaged; stop the collector, run 'bankfull-collector check', restore a backup",
			       doing, path);
	case SQLITE_NOTADB:
		return err_set(err, ERR_MALFORMED, "%s: %s: no database of SQLite; move it away or restore a backup",
			       doing, path);
	case SQLITE_FULL:
		return err_set(err, ERR_LIMIT,
			       "%s: %s: full; the disk, or the disk cap, has no room: raise it or shorten retention",
			       doing, path);
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return err_set(err, ERR_DENIED, "%s: %s: read-only; mount its volume writable for this user", doing,
			       path);
	case SQLITE_CANTOPEN:
		if (errnum == ENOENT || errnum == ENOTDIR)
			return err_sys(err, errnum, "%s: %s", doing, path);
		return fail_io(errnum ? errnum : EACCES, path, doing, err);
	case SQLITE_IOERR:
		return fail_io(errnum, path, doing, err);
	case SQLITE_NOMEM:
		return err_set(err, ERR_NOMEM, "%s: %s: no memory", doing, path);
	case SQLITE_TOOBIG:
		return err_set(err, ERR_LIMIT, "%s: %s: a value is too large", doing, path);
	default:
		return err_set(err, ERR_IO, "%s: %s: %s", doing, path, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
	}
}

int store_db_exec(sqlite3 *db, const char *path, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_fail(db, rc, path, "store", err);
}

int store_db_int(sqlite3 *db, const char *path, const char *sql, int64_t *ret_value, struct err *err)
{
	auto_statement sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW)
		return store_fail(db, rc, path, "store: read", err);
	*ret_value = sqlite3_column_int64(statement, 0);
	return 0;
}

/* Whose file it is, and of which version. An empty one is nobody's yet. */
static int look(sqlite3 *db, const char *path, int *ret_version, struct err *err)
{
	int64_t id = 0, version = 0, n_tables = 0;
	int rc = store_db_int(db, path, "PRAGMA application_id", &id, err);
	if (rc == 0)
		rc = store_db_int(db, path, "PRAGMA user_version", &version, err);
	if (rc == 0)
		rc = store_db_int(db, path, "SELECT count(*) FROM sqlite_schema", &n_tables, err);
	if (rc < 0)
		return rc;
	if (n_tables > 0 && id != STORE_APPLICATION_ID)
		return err_set(err, ERR_MALFORMED, "store: %s: the database of another program; name another directory",
			       path);
	if (version > STORE_VERSION)
		return err_set(
			err, ERR_UNSUPPORTED,
			"store: %s: of version %lld, this collector knows up to %d; run the newer collector, or bring back"
			" a backup that the older one made: bankfull-collector restore FILE DIR, where DIR has no database",
			path, (long long)version, STORE_VERSION);
	*ret_version = (int)version;
	return 0;
}

int store_db_open(const char *path, enum store_open_how how, unsigned busy_ms, sqlite3 **ret_db, int *ret_version,
		  struct err *err)
{
	static const int flags[] = { [STORE_OPEN_WRITE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				     [STORE_OPEN_EXISTING] = SQLITE_OPEN_READWRITE,
				     [STORE_OPEN_READ] = SQLITE_OPEN_READONLY };
	auto_db sqlite3 *db = NULL;
	int version = 0;
	if (how == STORE_OPEN_WRITE) { /* SQLite would create it 0644; -wal and -shm take the mode of the file */
		auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
		if (fd < 0)
			return fail_io(errno, path, "store", err);
	}
	int rc = sqlite3_open_v2(path, &db, flags[how] | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return store_fail(db, rc, path, "store", err);
	(void)sqlite3_busy_timeout(db, (int)busy_ms);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	rc = look(db, path, &version, err);
	if (rc < 0)
		return rc;
	*ret_version = version;
	*ret_db = TAKE_PTR(db);
	return 0;
}
