/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, the batch, and the statements that every part uses. */
#include "collector/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/store_db.h"

enum { DAY_S = 24 * 60 * 60, WAL_PAGES = 4000 };

/* --- statements ------------------------------------------------------------------------------- */

sqlite3_stmt *store_statement(struct store *store, enum store_statement which, struct err *err)
{
	sqlite3_stmt **statement = &store->statements[which];
	if (!*statement) {
		int rc =
			sqlite3_prepare_v3(store->db, store_sql[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
		if (rc != SQLITE_OK) {
			(void)store_fail(store->db, rc, store->path, "store: prepare", err);
			return NULL;
		}
	}
	(void)sqlite3_reset(*statement); /* repeats the error of its last run, which was told */
	return *statement;
}

int store_step(struct store *store, sqlite3_stmt *statement, bool *ret_row, struct err *err)
{
	int rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		int result = store_fail(store->db, rc, store->path, "store: write", err);
		(void)sqlite3_reset(statement);
		return result;
	}
	*ret_row = rc == SQLITE_ROW;
	return 0;
}

int store_run(struct store *store, sqlite3_stmt *statement, struct err *err)
{
	bool row;
	if (!statement)
		return -EIO;
	int rc = store_step(store, statement, &row, err);
	if (rc == 0)
		(void)sqlite3_reset(statement);
	return rc;
}

/* --- the batch ---------------------------------------------------------------------------------- */

static int tally_read(struct store *store, struct err *err)
{
	bool row = false;
	auto_reset sqlite3_stmt *s = store_statement(store, ST_TALLY_READ, err);
	int rc = s ? store_step(store, s, &row, err) : -EIO;
	if (rc < 0)
		return rc;
	if (!row)
		return store_fail(store->db, SQLITE_CORRUPT, store->path, "store: tally", err);
	store->tally = (struct store_tally){
		.samples = sqlite3_column_int64(s, 0),
		.rollups = sqlite3_column_int64(s, 1),
		.findings = sqlite3_column_int64(s, 2),
		.postmortems = sqlite3_column_int64(s, 3),
		.gaps = sqlite3_column_int64(s, 4),
		.agents = sqlite3_column_int64(s, 5),
	};
	store->committed = store->tally;
	return 0;
}

static int tally_write(struct store *store, struct err *err)
{
	const struct store_tally *tally = &store->tally;
	if (memcmp(tally, &store->committed, sizeof *tally) == 0)
		return 0;
	sqlite3_stmt *s = store_statement(store, ST_TALLY_WRITE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, tally->samples);
	store_bind_int(s, 2, tally->rollups);
	store_bind_int(s, 3, tally->findings);
	store_bind_int(s, 4, tally->postmortems);
	store_bind_int(s, 5, tally->gaps);
	store_bind_int(s, 6, tally->agents);
	return store_run(store, s, err);
}

int store_begin(struct store *store, struct err *err)
{
	if (store->in_batch)
		return err_set(err, ERR_USAGE, "store: a batch is open");
	/* A file that was deleted or replaced takes writes as ever, and nobody would find them again: no ack for those. */
	int moved = 0;
	if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
		return err_set(
			err, ERR_IO,
			"store: %s was deleted or replaced while it was open: put it back, or start the collector again",
			store->path);
	int rc = store_run(store, store_statement(store, ST_BEGIN, err), err);
	if (rc < 0)
		return rc;
	store->in_batch = true;
	store->failed = false;
	return 0;
}

void store_rollback(struct store *store)
{
	if (!store->in_batch)
		return;
	/* A full disk or an error of it may have rolled back by itself: then there is nothing to undo. */
	if (!sqlite3_get_autocommit(store->db))
		(void)sqlite3_exec(store->db, store_sql[ST_ROLLBACK], NULL, NULL, NULL);
	store->in_batch = false;
	store->tally = store->committed;
}

int store_may_write(const struct store *store, struct err *err)
{
	if (!store->in_batch)
		return err_set(err, ERR_USAGE, "store: no batch is open");
	if (!store->failed)
		return 0;
	if (err)
		*err = store->failure;
	return -EIO;
}

int store_commit(struct store *store, struct err *err)
{
	struct err own = { 0 };
	int rc = store_may_write(store, &own);
	if (rc == 0)
		rc = tally_write(store, &own);
	if (rc == 0)
		rc = store_run(store, store_statement(store, ST_COMMIT, &own), &own);
	if (rc < 0) {
		store_rollback(store);
		store->failed_commits_total++;
		if (err)
			*err = own;
		return rc;
	}
	store->in_batch = false;
	store->committed = store->tally;
	store->commits_total++;
	return 0;
}

/* --- opening -------------------------------------------------------------------------------------- */

/*
 * One collector a directory: two would each believe their own tally. A backup or a check takes no lock. The lock goes
 * with its holder, however that ends.
 */
static int lock(struct store *store, struct err *err)
{
	char path[STORE_PATH_CAP + 16];
	(void)snprintf(path, sizeof path, "%s/bankfull.lock", store->directory);
	store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
	if (store->lock_fd < 0 && errno == ENOSPC)
		return err_set(err, ERR_LIMIT, "store: %s: no room on disk; enlarge the volume", store->directory);
	if (store->lock_fd < 0 && (errno == EROFS || errno == EACCES || errno == EPERM))
		return err_set(err, ERR_DENIED, "store: %s: read-only; mount its volume writable for this user",
			       store->directory);
	if (store->lock_fd < 0 && errno == ENOENT)
		return err_set(err, ERR_GONE, "store: %s: no such directory; make it first", store->directory);
	if (store->lock_fd < 0)
		return err_sys(err, errno, "store: %s", store->directory);
	/* of the open file, not of the process: a second one of the same process is refused as well (fcntl_locking(2)) */
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (fcntl(store->lock_fd, F_OFD_SETLK, &whole) < 0)
		return err_set(err, ERR_TIMEOUT,
			       "store: %s: another collector has it; each needs a directory of its own",
			       store->directory);
	return 0;
}

static int migrate(struct store *store, int version, struct err *err)
{
	char text[64];
	for (; version < STORE_VERSION; version++) {
		int rc = store_db_exec(store->db, store->path, "BEGIN IMMEDIATE", err);
		if (rc == 0)
			rc = store_db_exec(store->db, store->path, store_migrations[version], err);
		(void)snprintf(text, sizeof text, "PRAGMA user_version = %d", version + 1);
		if (rc == 0)
			rc = store_db_exec(store->db, store->path, text, err);
		if (rc == 0)
			rc = store_db_exec(store->db, store->path, "COMMIT", err);
		if (rc < 0) {
			(void)sqlite3_exec(store->db, store_sql[ST_ROLLBACK], NULL, NULL,
					   NULL); /* the first error is told */
			err_wrap(err, "store: to version %d", version + 1);
			return rc;
		}
	}
	return 0;
}

static int set_up(struct store *store, int version, struct err *err)
{
	char text[160];
	auto_statement sqlite3_stmt *statement = NULL;
	int rc = 0;
	if (version == 0) { /* before the first table: neither can be changed later without a VACUUM */
		(void)snprintf(text, sizeof text,
			       "PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = %d",
			       STORE_PAGE_BYTES, STORE_APPLICATION_ID);
		rc = store_db_exec(store->db, store->path, text, err);
	}
	if (rc < 0)
		return rc;
	int got = sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
	if (got == SQLITE_OK)
		got = sqlite3_step(statement);
	if (got != SQLITE_ROW)
		return store_fail(store->db, got, store->path, "store: WAL", err);
	if (!str_eq(store_column(statement, 0), STR("wal")))
		return err_set(err, ERR_UNSUPPORTED,
			       "store: %s: its file system has no shared memory for a WAL; use a local disk",
			       store->path);
	(void)sqlite3_reset(statement);
	/*
	 * secure_delete overwrites what is deleted: twice the writing, and who reads the file reads the rest anyway.
	 * Each agent's samples have a page of their own, which each commit writes to the WAL: the cache holds those of 10,000
	 * agents, and a checkpoint comes late enough to find most pages changed more than once, yet not past the disk cap.
	 */
	uint64_t share = store->options.disk_cap_bytes / STORE_PAGE_BYTES / 8;
	unsigned wal_pages = share == 0 || share > WAL_PAGES ? WAL_PAGES : (unsigned)share;
	(void)snprintf(text, sizeof text, "PRAGMA wal_autocheckpoint = %u; PRAGMA journal_size_limit = %u", wal_pages,
		       wal_pages * STORE_PAGE_BYTES);
	rc = store_db_exec(store->db, store->path, text, err);
	return rc < 0 ? rc
		      : store_db_exec(
				store->db, store->path,
				"PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;"
				"PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON",
				err);
}

static void fill_defaults(struct store_options *options)
{
	options->raw_s = options->raw_s ? options->raw_s : 2 * DAY_S;
	options->rollup_s = options->rollup_s ? options->rollup_s : 30 * DAY_S;
	options->findings_s = options->findings_s ? options->findings_s : 365 * DAY_S;
	options->busy_ms = options->busy_ms ? options->busy_ms : 2000;
}

static void store_closep(struct store **store)
{
	store_close(*store);
}

int store_open(const char *directory, const struct store_options *options, struct store **ret_store, struct err *err)
{
	auto_(store_closep) struct store *store = calloc(1, sizeof *store);
	int version = 0;
	if (!store)
		return err_set(err, ERR_NOMEM, "store: no memory");
	store->lock_fd = -1;
	store->options = options ? *options : (struct store_options){ 0 };
	fill_defaults(&store->options);
	if (strlen(directory) >= STORE_PATH_CAP)
		return err_set(err, ERR_USAGE, "store: the directory's name is too long");
	str_copy(store->directory, sizeof store->directory, str_of(directory));
	store_path(store->path, directory);
	int rc = lock(store, err);
	if (rc == 0)
		rc = store_db_open(store->path, STORE_OPEN_WRITE, store->options.busy_ms, &store->db, &version, err);
	if (rc == 0)
		rc = set_up(store, version, err);
	if (rc == 0)
		rc = migrate(store, version, err);
	if (rc == 0)
		rc = store_cap(store, 0, err);
	if (rc == 0)
		rc = tally_read(store, err);
	if (rc == 0)
		rc = store_age_read(store, err);
	if (rc < 0)
		return rc;
	*ret_store = TAKE_PTR(store);
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_rollback(store);
	for (int i = 0; i < ST_COUNT; i++)
		(void)sqlite3_finalize(store->statements[i]);
	(void)sqlite3_close(store->db); /* the last one that closes moves the WAL into the file */
	pack_done(&store->pack);
	pack_done(&store->minutes);
	if (store->lock_fd >= 0)
		(void)close(store->lock_fd);
	free(store);
}

/* --- what there is ---------------------------------------------------------------------------------- */

static uint64_t file_bytes(const char *path, const char *suffix)
{
	char name[STORE_PATH_CAP + 32];
	struct stat st;
	(void)snprintf(name, sizeof name, "%s%s", path, suffix);
	return stat(name, &st) == 0 ? (uint64_t)st.st_size : 0; /* no WAL is none */
}

int store_count(struct store *store, struct store_counts *ret_counts, struct err *err)
{
	struct statvfs vfs;
	if (statvfs(store->directory, &vfs) < 0)
		return err_sys(err, errno, "store: %s", store->directory);
	const struct store_tally *tally = &store->tally;
	uint64_t all, spare;
	int cache = 0, highest;
	int rc = store_pages(store, &all, &spare, err);
	if (rc < 0)
		return rc;
	(void)sqlite3_db_status(store->db, SQLITE_DBSTATUS_CACHE_USED, &cache, &highest, 0);
	*ret_counts = (struct store_counts){
		.file_bytes = file_bytes(store->path, ""),
		.wal_bytes = file_bytes(store->path, "-wal"),
		.cache_bytes = (uint64_t)cache,
		.used_bytes = (all - spare) * STORE_PAGE_BYTES,
		.disk_free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize,
		.disk_cap_bytes = store->options.disk_cap_bytes,
		.n_samples = (uint64_t)tally->samples,
		.n_rollups = (uint64_t)tally->rollups,
		.n_findings = (uint64_t)tally->findings,
		.n_postmortems = (uint64_t)tally->postmortems,
		.n_gaps = (uint64_t)tally->gaps,
		.n_agents = (uint64_t)tally->agents,
		.commits_total = store->commits_total,
		.failed_commits_total = store->failed_commits_total,
		.shed_samples_total = store->shed_samples_total,
		.shed_rollups_total = store->shed_rollups_total,
		.shed_others_total = store->shed_others_total,
	};
	return 0;
}
