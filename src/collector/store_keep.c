/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Housekeeping in steps: fold, roll up, expire, and shed what passes the disk cap. A step moves STORE_STEP_ROWS at most
 * and is one commit, so that the loop that calls it is back in some tens of milliseconds.
 */
#include <errno.h>
#include <stdio.h>

#include "base/sat.h"
#include "collector/store_audit.h"
#include "collector/store_db.h"
#include "collector/store_event.h"
#include "collector/store_silence.h"

enum {
	EXPIRE_ROWS = 100,
	OLD_LOOKS = 500,          /* epochs looked at in a step */
	VACUUM_PAGES = 500,       /* given back to the file system in a step: 2 MiB */
	VACUUM_FREE_PAGES = 4096, /* 16 MiB of free pages stay for what comes */
	LIFT_PAGES = 2048,        /* that housekeeping may pass the cap by while it makes room: 8 MiB */
	SHED_PERCENT = 90,        /* of the disk cap: from here on the oldest goes */
};

static struct wall ago(struct wall now, uint64_t seconds)
{
	uint64_t ms = sat_mul(seconds, 1000);
	return (struct wall){ ms >= INT64_MAX ? INT64_MIN / 2 : now.ms - (int64_t)ms };
}

/* Runs a statement of RETURNING to its end; how many rows it had, and the sum of their first column. */
static int run_returning(struct store *store, sqlite3_stmt *s, int64_t *ret_n, int64_t *ret_sum, struct err *err)
{
	bool row = true;
	while (row) {
		int rc = store_step(store, s, &row, err);
		if (rc < 0)
			return rc;
		if (row) {
			++*ret_n;
			*ret_sum += sqlite3_column_int64(s, 0);
		}
	}
	(void)sqlite3_reset(s);
	return 0;
}

/* --- retention ------------------------------------------------------------------------------------ */

static int expire_chunks(struct store *store, int64_t before_ms, int64_t most, int64_t *ret_n, struct err *err)
{
	int64_t points = 0;
	sqlite3_stmt *s = store_statement(store, ST_CHUNKS_EXPIRE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, before_ms);
	store_bind_int(s, 2, most);
	int rc = run_returning(store, s, ret_n, &points, err);
	store->tally.rollups -= rc == 0 ? points : 0;
	return rc;
}

static int expire_findings(struct store *store, int64_t before_ms, enum wire_edge least, int64_t *ret_n,
			   struct err *err)
{
	int64_t n = 0, sum = 0;
	sqlite3_stmt *s = store_statement(store, ST_FINDINGS_EXPIRE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, before_ms);
	store_bind_int(s, 2, EXPIRE_ROWS);
	store_bind_int(s, 3, least);
	int rc = run_returning(store, s, &n, &sum, err);
	store->tally.findings -= rc == 0 ? n : 0;
	*ret_n += n;
	return rc;
}

static int expire_death(struct store *store, int64_t before_ms, int64_t *ret_n, struct err *err)
{
	int64_t n = 0, row = 0;
	sqlite3_stmt *s = store_statement(store, ST_DEATHS_EXPIRE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, before_ms);
	int rc = run_returning(store, s, &n, &row, err);
	if (rc < 0 || n == 0)
		return rc;
	store->tally.postmortems -= n;
	*ret_n += n;
	s = store_statement(store, ST_PARTS_DELETE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, row);
	return store_run(store, s, err);
}

static int expire_tokens(struct store *store, struct wall now, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_TOKENS_EXPIRE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, now.ms);
	int rc = store_run(store, s, err);
	s = rc == 0 ? store_statement(store, ST_TOKENS_BOUND, err) : NULL;
	if (!s)
		return rc < 0 ? rc : -EIO;
	store_bind_int(s, 1, STORE_TOKENS_MAX);
	return store_run(store, s, err);
}

/* An epoch that has nothing left goes with its gaps. */
static int expire_epoch(struct store *store, int64_t epoch, struct err *err)
{
	int64_t n = 0, sum = 0;
	sqlite3_stmt *s = store_statement(store, ST_EPOCH_DELETE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, epoch);
	int rc = run_returning(store, s, &n, &sum, err);
	if (rc < 0 || n == 0)
		return rc;
	n = 0;
	s = store_statement(store, ST_GAPS_DELETE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, epoch);
	rc = run_returning(store, s, &n, &sum, err);
	store->tally.gaps -= n;
	s = rc == 0 ? store_statement(store, ST_MARKS_DELETE, err) : NULL;
	if (!s)
		return rc < 0 ? rc : -EIO;
	store_bind_int(s, 1, epoch);
	store_bind_int(s, 2, INT64_MAX);
	return store_run(store, s, err);
}

/* Agents that were not seen for so long and have nothing left. */
static int expire_agents(struct store *store, struct wall before, struct err *err)
{
	int64_t n = 0, sum = 0;
	sqlite3_stmt *s = store_statement(store, ST_AGENTS_DELETE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, before.ms);
	int rc = run_returning(store, s, &n, &sum, err);
	store->tally.agents -= n;
	return rc;
}

/* A walk over all epochs, begun again every STORE_FOLD_MS. */
static int expire_epochs(struct store *store, struct wall now, struct wall before, bool *ret_more, struct err *err)
{
	if (now.ms - store->old_done_ms < STORE_FOLD_MS && now.ms >= store->old_done_ms)
		return 0;
	for (int looks = 0; looks < OLD_LOOKS; looks++) {
		bool row = false;
		sqlite3_stmt *next = store_statement(store, ST_EPOCHS_OLD, err);
		if (!next)
			return -EIO;
		store_bind_int(next, 1, store->old_epoch);
		int rc = store_step(store, next, &row, err);
		if (rc < 0)
			return rc;
		if (!row) {
			store->old_epoch = 0;
			store->old_done_ms = now.ms;
			return expire_agents(store, before, err);
		}
		int64_t epoch = sqlite3_column_int64(next, 0), last_ms = sqlite3_column_int64(next, 1);
		(void)sqlite3_reset(next);
		store->old_epoch = epoch;
		if (last_ms < before.ms)
			rc = expire_epoch(store, epoch, err);
		if (rc < 0)
			return rc;
	}
	*ret_more = true;
	return 0;
}

/*
 * Silences that ended and what was done: by time, and the oldest past so many. Those that are active stay, and neither
 * is shed for the disk cap: together they are some 20 MiB at most.
 */
static int expire_deeds(struct store *store, struct wall before, int64_t *ret_n, struct err *err)
{
	static const struct {
		enum store_statement which;
		int64_t kept; /* 0: by time */
	} rows[] = { { ST_SILENCES_EXPIRE, 0 },
		     { ST_SILENCES_TRIM, STORE_SILENCES_MAX },
		     { ST_AUDIT_EXPIRE, 0 },
		     { ST_AUDIT_TRIM, AUDIT_KEPT_MAX } };
	int64_t ids = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof rows / sizeof rows[0]; i++) {
		sqlite3_stmt *s = store_statement(store, rows[i].which, err);
		if (!s)
			return -EIO;
		store_bind_int(s, 1, rows[i].kept ? rows[i].kept : before.ms);
		if (rows[i].which != ST_AUDIT_TRIM)
			store_bind_int(s, 2, EXPIRE_ROWS);
		rc = run_returning(store, s, ret_n, &ids, err);
	}
	return rc;
}

static int expire(struct store *store, struct wall now, bool *ret_more, struct err *err)
{
	int64_t n = 0;
	struct wall aged = store_aged(store, now), old = ago(aged, store->options.findings_s);
	int rc = expire_chunks(store, ago(aged, store->options.rollup_s).ms, EXPIRE_ROWS, &n, err);
	if (rc == 0)
		rc = expire_findings(store, old.ms, WIRE_OPENED, &n, err);
	for (int i = 0; rc == 0 && i < EXPIRE_ROWS / 10; i++) /* each has up to WIRE_PARTS_MAX frames */
		rc = expire_death(store, old.ms, &n, err);
	if (rc == 0)
		rc = store_events_expire(store, ago(aged, store->options.raw_s), ago(aged, store->options.rollup_s),
					 EXPIRE_ROWS, &n, err);
	if (rc == 0)
		rc = expire_tokens(store, now, err);
	if (rc == 0)
		rc = expire_deeds(store, old, &n, err);
	if (rc == 0)
		rc = store_alerts_expire(store, old, EXPIRE_ROWS, &n, err);
	if (rc == 0 && n == 0) /* what they hold goes first */
		rc = expire_epochs(store, now, old, ret_more, err);
	if (n > 0)
		*ret_more = true;
	return rc;
}

/* --- the disk cap ------------------------------------------------------------------------------------ */

int store_pages(struct store *store, uint64_t *ret_all, uint64_t *ret_free, struct err *err)
{
	bool row = false;
	auto_reset sqlite3_stmt *s = store_statement(store, ST_FREE_PAGES, err);
	int rc = s ? store_step(store, s, &row, err) : -EIO;
	if (rc < 0)
		return rc;
	*ret_all = (uint64_t)sqlite3_column_int64(s, 0);
	*ret_free = (uint64_t)sqlite3_column_int64(s, 1);
	return 0;
}

/*
 * Takes the oldest of what can best be spared: raw samples become minutes before their time, then minutes go, then events,
 * findings that are over, those that are not, and post-mortems last.
 */
static int shed(struct store *store, struct wall now, size_t *ret_did, struct err *err)
{
	const struct wall all = { INT64_MAX };
	int64_t n = 0, minutes = 0, rollups = store->tally.rollups;
	int rc = store_rollup(store, (struct wall){ INT64_MAX }, ret_did, err);
	if (rc < 0 || *ret_did) {
		store->shed_samples_total += rc == 0 ? *ret_did : 0;
		return rc;
	}
	store->fold_done_ms = INT64_MIN; /* the walk of this half hour may be over, and what came since is wanted */
	store->fold_epoch = 0;
	rc = store_fold(store, (struct wall){ now.ms + 1 }, ret_did, err);
	store->fold_done_ms = INT64_MIN;
	if (rc < 0 || *ret_did)
		return rc;
	rc = expire_chunks(store, INT64_MAX, 10, &minutes, err);
	store->shed_rollups_total += (uint64_t)(rollups - store->tally.rollups);
	if (rc == 0 && minutes == 0)
		rc = store_events_expire(store, all, all, EXPIRE_ROWS, &n, err);
	if (rc == 0 && minutes + n == 0)
		rc = expire_findings(store, INT64_MAX, WIRE_CLEARED, &n, err);
	if (rc == 0 && minutes + n == 0)
		rc = expire_findings(store, INT64_MAX, WIRE_OPENED, &n, err);
	if (rc == 0 && minutes + n == 0)
		rc = expire_death(store, INT64_MAX, &n, err);
	store->shed_others_total += (uint64_t)n;
	*ret_did += (size_t)(minutes + n);
	return rc;
}

/* Gives pages back to the file system where more are free than will soon be used, or where the cap presses. */
static int vacuum(struct store *store, bool pressed, bool *ret_more, struct err *err)
{
	uint64_t all = 0, spare = 0;
	char text[64];
	int rc = store_pages(store, &all, &spare, err);
	if (rc < 0)
		return rc;
	if (spare == 0 || (!pressed && (spare < VACUUM_FREE_PAGES || spare < all / 4)))
		return 0;
	(void)snprintf(text, sizeof text, "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
	*ret_more = *ret_more || spare > VACUUM_PAGES;
	return store_db_exec(store->db, store->path, text, err);
}

/* Bytes of live pages and of the WAL: a free page is used again before the file grows. */
static int past_cap(struct store *store, bool *ret_past, bool *ret_pressed, struct err *err)
{
	uint64_t all = 0, spare = 0, cap = store->options.disk_cap_bytes / 100 * SHED_PERCENT;
	struct store_counts counts;
	*ret_past = *ret_pressed = false;
	if (cap == 0)
		return 0;
	int rc = store_pages(store, &all, &spare, err);
	if (rc == 0)
		rc = store_count(store, &counts, err);
	if (rc < 0)
		return rc;
	*ret_pressed = all * STORE_PAGE_BYTES + counts.wal_bytes > cap;
	if ((all - spare) * STORE_PAGE_BYTES + counts.wal_bytes <= cap)
		return 0;
	/* A WAL keeps its size when it begins anew: cut it back before anything is given up for it. */
	(void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	rc = store_count(store, &counts, err);
	*ret_past = rc == 0 && (all - spare) * STORE_PAGE_BYTES + counts.wal_bytes > cap;
	return rc;
}

/* To delete one writes first: the cap holds for what comes in, not for what makes room. */
int store_cap(struct store *store, uint64_t more_pages, struct err *err)
{
	uint64_t most = store->options.disk_cap_bytes / STORE_PAGE_BYTES;
	char text[64];
	if (most == 0)
		return 0;
	most = sat_add(most, more_pages);
	(void)snprintf(text, sizeof text, "PRAGMA max_page_count = %llu",
		       (unsigned long long)(most > STORE_PAGES_MAX ? STORE_PAGES_MAX : most));
	return store_db_exec(store->db, store->path, text, err);
}

/* --- one step ------------------------------------------------------------------------------------ */

static int keep_batch(struct store *store, struct wall now, bool past, bool *ret_more, struct err *err)
{
	size_t did = 0;
	struct wall raw = ago(store_aged(store, now), store->options.raw_s);
	struct wall fold = { now.ms - now.ms % STORE_FOLD_MS };
	if (store->fold_done_ms > fold.ms) { /* the clock went back: what was done is not done for the time to come */
		store->fold_done_ms = INT64_MIN;
		store->fold_epoch = 0;
	}
	int rc = past ? shed(store, now, &did, err) : store_fold(store, fold, &did, err);
	if (rc == 0 && !past && store->fold_done_ms < fold.ms)
		*ret_more = true;
	/* A window is rolled up when all of it is due, or it would be cut into small rows. */
	raw.ms -= raw.ms % STORE_ROLLUP_MS;
	while (rc == 0 && did < STORE_STEP_ROWS) {
		size_t before = did;
		rc = store_rollup(store, raw, &did, err);
		if (did == before)
			break;
	}
	if (did > 0)
		*ret_more = true;
	if (rc == 0)
		rc = expire(store, now, ret_more, err);
	return rc == 0 ? store_age_write(store, err) : rc;
}

int store_keep(struct store *store, struct wall now, bool *ret_more, struct err *err)
{
	bool past, pressed, more = false;
	if (store->in_batch) { /* its time comes after the commit */
		*ret_more = true;
		return 0;
	}
	int rc = past_cap(store, &past, &pressed, err);
	if (rc == 0)
		rc = store_cap(store, LIFT_PAGES, err);
	if (rc < 0)
		return rc;
	rc = store_begin(store, err);
	if (rc == 0) {
		rc = keep_batch(store, now, past, &more, err);
		if (rc == 0)
			rc = store_commit(store, err);
		else
			store_rollback(store);
	}
	if (rc == 0)
		rc = vacuum(store, pressed, &more, err);
	int restored = store_cap(store, 0, rc == 0 ? err : NULL);
	if (rc == 0)
		rc = restored;
	if (rc < 0) {
		err_wrap(err, "housekeeping");
		return rc;
	}
	*ret_more = more;
	return 0;
}
