/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the store (store*.c) share: the connection, its statements and their errors. Nobody else includes
 * this. docs/store.md has the tables.
 */
#ifndef COLLECTOR_STORE_DB_H
#define COLLECTOR_STORE_DB_H

#include <sqlite3.h>

#include "collector/pack.h"
#include "collector/store_read.h"

enum {
	STORE_VERSION = 1,                 /* of the tables: PRAGMA user_version */
	STORE_APPLICATION_ID = 0x424b464c, /* "BKFL": in the file's header, for file(1) and for us */
	STORE_PAGE_BYTES = 4096,
	STORE_PATH_CAP = 4096,
	/*
	 * Samples live in rows of their own while a connection may still add to them, then in one row for so long. Longer
	 * ones are smaller on disk, but the rows before them cost five times as much: half an hour is the middle.
	 */
	STORE_FOLD_MS = 30 * 60 * 1000,
	STORE_FOLD_POINTS = 1024,             /* and no more of them in one row */
	STORE_STEP_ROWS = 2000,               /* of samples that one call of store_keep() moves */
	STORE_PAGES_MAX = 1 << 30,            /* 4 TiB: SQLite's own end, less some */
	STORE_ROLLUP_MS = 4 * 60 * 60 * 1000, /* minutes in one row: 240 points fill some three pages */
};

/* What is there, kept as it changes: counting 10^8 rows takes longer than anybody waits for /metrics. */
struct store_tally {
	int64_t samples, rollups, findings, postmortems, gaps, agents;
};

enum store_statement {
	ST_BEGIN = 0,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_TALLY_READ,
	ST_TALLY_WRITE,
	ST_AGENT_FIND,
	ST_AGENT_ADD,
	ST_AGENT_UPDATE,
	ST_EPOCH_FIND,
	ST_EPOCH_ADD,
	ST_EPOCH_ACK,
	ST_EPOCH_BYE,
	ST_EPOCH_FINISH,
	ST_EPOCH_REOPEN,
	ST_EPOCH_OPEN_ONES,
	ST_SAMPLE_ADD,
	ST_MARK_ADD,
	ST_GAP_ADD,
	ST_GAP_UNEND,
	ST_FINDING_FIND,
	ST_FINDING_ADD,
	ST_FINDING_UPDATE,
	ST_DEATH_FIND,
	ST_DEATH_ADD,
	ST_DEATH_FILL,
	ST_DEATH_SAME,
	ST_DEATH_DELETE,
	ST_PART_ADD,
	ST_PARTS_DELETE,
	ST_TOKEN_ADD,
	ST_TOKEN_FIND,
	ST_LIVE_NEXT,
	ST_LIVE_ROWS,
	ST_LIVE_DELETE,
	ST_CHUNK_ADD,
	ST_CHUNK_OLDEST,
	ST_CHUNK_ROWS,
	ST_CHUNK_DELETE,
	ST_CHUNKS_EXPIRE,
	ST_EPOCH_BASE,
	ST_MARKS_DELETE,
	ST_FINDINGS_EXPIRE,
	ST_DEATHS_EXPIRE,
	ST_TOKENS_EXPIRE,
	ST_EPOCHS_OLD,
	ST_EPOCH_DELETE,
	ST_GAPS_DELETE,
	ST_AGENTS_DELETE,
	ST_FREE_PAGES,
	ST_COUNT
};
extern const char *const store_sql[ST_COUNT];
/* Text i makes version i + 1 of version i. */
extern const char *const store_migrations[STORE_VERSION];

struct store {
	sqlite3 *db;
	sqlite3_stmt *statements[ST_COUNT];
	int lock_fd;
	struct store_options options; /* with the defaults filled in */
	char directory[STORE_PATH_CAP], path[STORE_PATH_CAP + 16];
	struct store_tally tally, committed; /* as of now in the batch; as of the last commit */
	bool in_batch;
	bool failed; /* something of the batch did not go in: it must not be committed */
	struct err failure;
	uint64_t commits_total, failed_commits_total, shed_samples_total, shed_rollups_total, shed_others_total;
	/* Housekeeping's places: where it goes on at the next call. */
	int64_t fold_epoch, fold_done_ms, old_epoch, old_done_ms;
	struct pack pack, minutes;
};

/* --- errors: every result code of SQLite is one of our kinds and says what to do ------------------ */

/* From sqlite3_errcode(db); `path` is the database. `doing` is the clause in front: "store: commit". */
int store_fail(sqlite3 *db, int rc, const char *path, const char *doing, struct err *err);

/* --- opening (store_open.c) --------------------------------------------------------------------- */

enum store_open_how { STORE_OPEN_WRITE, STORE_OPEN_EXISTING, STORE_OPEN_READ };
/* The file, its application id and version looked at: UNSUPPORTED if newer; older ones are left as they are. */
int store_db_open(const char *path, enum store_open_how how, unsigned busy_ms, sqlite3 **ret_db, int *ret_version,
		  struct err *err) __attribute__((warn_unused_result));
static inline void store_db_closep(sqlite3 **db)
{
	(void)sqlite3_close(*db); /* an unfinished statement would be our bug; NULL is fine */
}
#define auto_db auto_(store_db_closep)
/* One value of a statement that has one; `otherwise` where it has none. */
int store_db_int(sqlite3 *db, const char *path, const char *sql, int64_t *ret_value, struct err *err)
	__attribute__((warn_unused_result));
int store_db_exec(sqlite3 *db, const char *path, const char *sql, struct err *err) __attribute__((warn_unused_result));
void store_path(char dest[STORE_PATH_CAP + 16], const char *directory);

/* --- statements --------------------------------------------------------------------------------- */

/* Prepared once, reset and without old values. NULL: `err` says why. */
sqlite3_stmt *store_statement(struct store *store, enum store_statement which, struct err *err);

/* Values never fail to bind: their places are ours, and bytes are not copied, so they must outlive the step. */
static inline void store_bind_int(sqlite3_stmt *statement, int place, int64_t value)
{
	(void)sqlite3_bind_int64(statement, place, value);
}
static inline void store_bind_text(sqlite3_stmt *statement, int place, struct str text)
{
	(void)sqlite3_bind_text64(statement, place, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}
static inline void store_bind_blob(sqlite3_stmt *statement, int place, struct str bytes)
{
	(void)sqlite3_bind_blob64(statement, place, bytes.ptr, bytes.len, SQLITE_STATIC);
}
static inline struct str store_column(sqlite3_stmt *statement, int column)
{
	const char *bytes = sqlite3_column_blob(statement, column);
	return (struct str){ bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column) };
}
static inline void store_column_text(sqlite3_stmt *statement, int column, char *dest, size_t cap)
{
	str_copy(dest, cap, store_column(statement, column));
}

/* Runs a statement to its end, or to its first row: then `*ret_row`, and the caller resets it. */
int store_step(struct store *store, sqlite3_stmt *statement, bool *ret_row, struct err *err)
	__attribute__((warn_unused_result));
/* Runs a statement that has no row. Takes NULL: store_statement() failed. */
int store_run(struct store *store, sqlite3_stmt *statement, struct err *err) __attribute__((warn_unused_result));

/* A statement for one use, closed at the end of the scope. */
static inline void store_finalizep(sqlite3_stmt **statement)
{
	(void)sqlite3_finalize(*statement);
}
#define auto_statement auto_(store_finalizep)

/* A statement goes back to its start at the end of the scope: a row that stays open blocks checkpoints. */
static inline void store_resetp(sqlite3_stmt **statement)
{
	if (*statement)
		(void)sqlite3_reset(*statement);
}
#define auto_reset auto_(store_resetp)

/* --- parts ---------------------------------------------------------------------------------------- */

/* store_put.c: a finished epoch that speaks again is taken up; numbers up to `acked` are here already. */
int store_ack(struct store *store, struct store_epoch *epoch, uint64_t seq, struct wall received, struct err *err)
	__attribute__((warn_unused_result));
int store_take_up(struct store *store, struct store_epoch *epoch, struct err *err) __attribute__((warn_unused_result));
int store_mark(struct store *store, const struct store_epoch *epoch, uint64_t seq, struct err *err)
	__attribute__((warn_unused_result));
/* The caller may put: there is a batch, and nothing of it has failed. */
int store_may_put(struct store *store, struct err *err) __attribute__((warn_unused_result));
/* Passes `rc` on. Of a put that failed it also remembers why the batch cannot be committed any more. */
int store_note(struct store *store, int rc, const struct err *failure, struct err *err)
	__attribute__((warn_unused_result));
int store_check_seq(const struct store_epoch *epoch, uint64_t seq, struct err *err) __attribute__((warn_unused_result));
struct wall store_when(struct wall said, struct wall received); /* 0: not said */

/* store_read.c: a query for one use; its next row. */
sqlite3_stmt *store_query(struct store *store, const char *sql, struct err *err);
int store_next(struct store *store, sqlite3_stmt *statement, bool *ret_row, struct err *err)
	__attribute__((warn_unused_result));

/* store_subject.c: a subject as JSON and back. */
int store_subject_write(const struct wire_hello *hello, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));
int store_subject_read(struct str text, struct wire_subject *ret_subject, struct err *err)
	__attribute__((warn_unused_result));

/* store_fold.c: samples to rows of half an hour, those to minutes. `*ret_did` is how many samples were moved. */
int store_fold(struct store *store, struct wall before, size_t *ret_did, struct err *err)
	__attribute__((warn_unused_result));
/* What is older than `before`; one window of one epoch a call. */
int store_rollup(struct store *store, struct wall before, size_t *ret_did, struct err *err)
	__attribute__((warn_unused_result));

/* store_keep.c: the file may grow to the disk cap and so many pages more. */
int store_pages(struct store *store, uint64_t *ret_all, uint64_t *ret_free, struct err *err)
	__attribute__((warn_unused_result));
int store_cap(struct store *store, uint64_t more_pages, struct err *err) __attribute__((warn_unused_result));

/* store_check.c */
int store_db_check(sqlite3 *db, const char *path, struct buf *report, struct err *err)
	__attribute__((warn_unused_result));

#endif
