/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the store (store*.c) share: the connection, its statements and their errors. Nobody else includes
 * this. docs/store.md has the tables.
 */
#ifndef COLLECTOR_STORE_DB_H
#define COLLECTOR_STORE_DB_H

#include <sqlite3.h>

#include "collector/pack.h"
#include "collector/store_bind.h"
#include "collector/store_read.h"
#include "collector/store_sql.h"

enum {
	STORE_APPLICATION_ID = 0x424b464c, /* "BKFL": in the file's header, for file(1) and for us */
	STORE_PAGE_BYTES = 4096,
	STORE_PATH_CAP = 4096,
	/*
	 * Samples live in rows of their own while a connection may still add to them, then in one row for so long. Longer
	 * ones are smaller on disk, but the rows before them cost five times as much: half an hour is the middle.
	 */
	STORE_FOLD_MS = 30 * 60 * 1000,
	STORE_FOLD_POINTS = 1024,             /* and no more of them in one row */
	STORE_STEP_ROWS = 1000,               /* of samples that one call of store_keep() moves */
	STORE_PAGES_MAX = 1 << 30,            /* 4 TiB: SQLite's own end, less some */
	STORE_ROLLUP_MS = 4 * 60 * 60 * 1000, /* minutes in one row: 240 points fill some three pages */
	STORE_PART_TOLD = 1 << 20,            /* the part of a post-mortem that is Kubernetes': past all of an agent */
	STORE_AGE_PACE = 24,                  /* retention catches up with the clock so fast, and no faster */
};

/* What is there, kept as it changes: counting 10^8 rows takes longer than anybody waits for /metrics. */
struct store_tally {
	int64_t samples, rollups, findings, postmortems, gaps, agents;
};

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
	struct wall age, age_written; /* ms 0: a new store; store_age.c */
	struct mono age_looked;
	bool age_known;
};

/* --- errors: every result code of SQLite is one of our kinds and says what to do ------------------ */

/* From sqlite3_errcode(db); `path` is the database. `doing` is the clause in front: "store: commit". */
int store_fail(sqlite3 *db, int rc, const char *path, const char *doing, struct err *err);

/* --- opening (store_open.c) --------------------------------------------------------------------- */

enum store_open_how { STORE_OPEN_WRITE, STORE_OPEN_EXISTING, STORE_OPEN_READ };
/* The file, its application id and version looked at: UNSUPPORTED if newer; older ones are left as they are. */
int store_db_open(const char *path, enum store_open_how how, unsigned busy_ms, sqlite3 **ret_db, int *ret_version,
		  struct err *err) __attribute__((warn_unused_result));
/* One value of a statement that has one; `otherwise` where it has none. */
int store_db_int(sqlite3 *db, const char *path, const char *sql, int64_t *ret_value, struct err *err)
	__attribute__((warn_unused_result));
int store_db_exec(sqlite3 *db, const char *path, const char *sql, struct err *err) __attribute__((warn_unused_result));
void store_path(char dest[STORE_PATH_CAP + 16], const char *directory);

/* --- statements --------------------------------------------------------------------------------- */

/* Prepared once, reset and without old values. NULL: `err` says why. */
sqlite3_stmt *store_statement(struct store *store, enum store_statement which, struct err *err);

/* Runs a statement to its end, or to its first row: then `*ret_row`, and the caller resets it. */
int store_step(struct store *store, sqlite3_stmt *statement, bool *ret_row, struct err *err)
	__attribute__((warn_unused_result));
/* Runs a statement that has no row. Takes NULL: store_statement() failed. */
int store_run(struct store *store, sqlite3_stmt *statement, struct err *err) __attribute__((warn_unused_result));

/* --- parts ---------------------------------------------------------------------------------------- */

/* store_put.c: a finished epoch that speaks again is taken up; numbers up to `acked` are here already. */
int store_ack(struct store *store, struct store_epoch *epoch, uint64_t seq, struct wall received, struct err *err)
	__attribute__((warn_unused_result));
int store_take_up(struct store *store, struct store_epoch *epoch, struct err *err) __attribute__((warn_unused_result));
/* There is a batch, and nothing of it has failed. */
int store_may_write(const struct store *store, struct err *err) __attribute__((warn_unused_result));
/* How each put begins: the above, and `received` becomes what is kept of it (store_dated()). */
int store_may_put(const struct store *store, struct wall *received, struct err *err)
	__attribute__((warn_unused_result));
/*
 * How a put of one number begins and ends: `*ret_fresh` false is a duplicate, which is no error. The end marks the number
 * and moves `acked`, and passes `rc` of the put on.
 */
int store_number_begin(struct store *store, const struct store_epoch *epoch, uint64_t seq, struct wall *received,
		       bool *ret_fresh, struct err *err) __attribute__((warn_unused_result));
int store_number_end(struct store *store, struct store_epoch *epoch, uint64_t seq, struct wall received, int rc,
		     struct err *failure, struct err *err) __attribute__((warn_unused_result));
/* Passes `rc` on. Of a put that failed it also remembers why the batch cannot be committed any more. */
int store_note(struct store *store, int rc, const struct err *failure, struct err *err)
	__attribute__((warn_unused_result));
int store_check_seq(const struct store_epoch *epoch, uint64_t seq, struct err *err) __attribute__((warn_unused_result));
struct wall store_when(struct wall said, struct wall received); /* 0: not said */

/* store_read.c: a query for one use; its next row. */
sqlite3_stmt *store_query(struct store *store, const char *sql, struct err *err);
int store_next(struct store *store, sqlite3_stmt *statement, bool *ret_row, struct err *err)
	__attribute__((warn_unused_result));

/* store_subject.c: subject and versions of a hello as JSON and back; nothing else of it is set. */
int store_subject_write(const struct wire_hello *hello, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));
int store_subject_read(struct str text, struct wire_hello *ret_hello, struct err *err)
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

/* store_age.c: `now`, or the time that retention has come to if that is earlier. */
struct wall store_aged(const struct store *store, struct wall now);
/* `received` as it is kept: of a clock that is far behind, the time of retention, or it would be deleted as old at once. */
struct wall store_dated(const struct store *store, struct wall received);
int store_age_read(struct store *store, struct err *err) __attribute__((warn_unused_result));
int store_age_write(struct store *store, struct err *err) __attribute__((warn_unused_result)); /* in a batch */

/* store_alert.c: alerts that ended before, or too many of them ago, with what was told of them. */
int store_alerts_expire(struct store *store, struct wall before, int64_t most, int64_t *ret_n, struct err *err)
	__attribute__((warn_unused_result));

/* store_check.c */
int store_db_check(sqlite3 *db, const char *path, struct buf *report, struct err *err)
	__attribute__((warn_unused_result));

#endif
