/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples grow old: rows of their own, then STORE_FOLD_MS of one epoch in a row, then STORE_ROLLUP_MS of minutes in a
 * row. Each step reads what it replaces, writes and deletes in one transaction, so nothing is lost or counted twice.
 */
#include <errno.h>

#include "collector/rollup.h"
#include "collector/store_db.h"

enum { MINUTE_MS = 60000, LOOKS_MAX = 1000 };

static int64_t floor_to(int64_t at_ms, int64_t step_ms)
{
	int64_t rest = at_ms % step_ms;
	return at_ms - (rest < 0 ? rest + step_ms : rest);
}

/* What becomes one row of `chunk`. */
struct span {
	int64_t epoch, n_samples;
	uint64_t first_seq, last_seq;
	int64_t first_ms, last_ms;
};

static void span_add(struct span *span, const struct pack *pack, const struct pack_point *point)
{
	int64_t at = point->point.received.ms;
	if (pack->state.n == 1) {
		span->first_seq = point->seq;
		span->first_ms = span->last_ms = at;
	}
	span->last_seq = point->seq;
	span->first_ms = at < span->first_ms ? at : span->first_ms;
	span->last_ms = at > span->last_ms ? at : span->last_ms;
	span->n_samples += point->point.n_samples;
}

static int add_chunk(struct store *store, const struct span *span, const struct pack *pack, struct err *err)
{
	sqlite3_stmt *add = store_statement(store, ST_CHUNK_ADD, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, span->epoch);
	store_bind_int(add, 2, pack->state.kind);
	store_bind_int(add, 3, (int64_t)span->first_seq);
	store_bind_int(add, 4, (int64_t)span->last_seq);
	store_bind_int(add, 5, span->first_ms);
	store_bind_int(add, 6, span->last_ms);
	store_bind_int(add, 7, (int64_t)pack->state.n);
	store_bind_int(add, 8, span->n_samples);
	store_bind_blob(add, 9, buf_str(&pack->bytes));
	return store_run(store, add, err);
}

/* --- rows to half hours --------------------------------------------------------------------------- */

/* From a clock that was ahead: it is no time of a row that more will be added to. */
static bool is_future(int64_t received_ms, struct wall before)
{
	return received_ms - before.ms >= 2 * STORE_FOLD_MS;
}

/* All rows of an epoch from its oldest on that lie in the same half hour and before `before`. */
static int pack_live(struct store *store, struct wall before, struct span *span, struct err *err)
{
	bool row = false;
	int64_t start = INT64_MIN, end = before.ms;
	auto_reset sqlite3_stmt *rows = store_statement(store, ST_LIVE_ROWS, err);
	if (!rows)
		return -EIO;
	store_bind_int(rows, 1, span->epoch);
	store_bind_int(rows, 2, STORE_FOLD_POINTS);
	pack_start(&store->pack, PACK_SAMPLES);
	for (;;) {
		struct pack_reader reader;
		struct pack_point point;
		bool more = false;
		int rc = store_step(store, rows, &row, err);
		if (rc < 0 || !row)
			return rc;
		int64_t at = sqlite3_column_int64(rows, 1);
		if (store->pack.state.n == 0) {
			start = floor_to(at, STORE_FOLD_MS);
			end = is_future(at, before) || start + STORE_FOLD_MS < end ? start + STORE_FOLD_MS : end;
		}
		if (at < start || at >= end)
			return 0;
		rc = pack_open(store_column(rows, 2), &reader, err);
		if (rc == 0)
			rc = pack_next(&reader, &point, &more, err);
		if (rc < 0)
			return rc;
		if (more && !pack_add(&store->pack, &point))
			return err_set(err, ERR_NOMEM, "store: no memory to fold samples");
		if (more)
			span_add(span, &store->pack, &point);
	}
}

static int fold_epoch(struct store *store, int64_t epoch, struct wall before, size_t *ret_did, struct err *err)
{
	struct span span = { .epoch = epoch };
	int rc = pack_live(store, before, &span, err);
	if (rc < 0 || store->pack.state.n == 0)
		return rc;
	rc = add_chunk(store, &span, &store->pack, err);
	sqlite3_stmt *remove = rc == 0 ? store_statement(store, ST_LIVE_DELETE, err) : NULL;
	if (!remove)
		return rc < 0 ? rc : -EIO;
	store_bind_int(remove, 1, epoch);
	store_bind_int(remove, 2, (int64_t)span.last_seq);
	rc = store_run(store, remove, err);
	*ret_did += store->pack.state.n;
	return rc;
}

/* The next epoch from the walk's place on whose oldest row is due; 0: the walk is at its end. */
static int next_due(struct store *store, struct wall before, unsigned *looks, int64_t *ret_epoch, struct err *err)
{
	for (*ret_epoch = 0; *looks < LOOKS_MAX; ++*looks) {
		bool row = false;
		auto_reset sqlite3_stmt *next = store_statement(store, ST_LIVE_NEXT, err);
		if (!next)
			return -EIO;
		store_bind_int(next, 1, store->fold_epoch);
		int rc = store_step(store, next, &row, err);
		if (rc < 0)
			return rc;
		if (!row) {
			store->fold_epoch = 0;
			store->fold_done_ms = before.ms;
			return 0;
		}
		int64_t epoch = sqlite3_column_int64(next, 0);
		int64_t oldest_ms = sqlite3_column_int64(next, 1);
		if (oldest_ms < before.ms || is_future(oldest_ms, before)) {
			store->fold_epoch = epoch - 1; /* it may have more than one half hour */
			*ret_epoch = epoch;
			return 0;
		}
		store->fold_epoch = epoch;
	}
	return 0;
}

int store_fold(struct store *store, struct wall before, size_t *ret_did, struct err *err)
{
	int64_t epoch;
	unsigned looks = 0;
	while (store->fold_done_ms < before.ms && *ret_did < STORE_STEP_ROWS && looks < LOOKS_MAX) {
		int rc = next_due(store, before, &looks, &epoch, err);
		if (rc == 0 && epoch)
			rc = fold_epoch(store, epoch, before, ret_did, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- half hours to minutes ---------------------------------------------------------------------- */

struct roll {
	struct span span;
	struct rollup rollup;
	int64_t minute;
	int64_t n_raw, chunks[STORE_ROLLUP_MS / STORE_FOLD_MS * 4];
	size_t n_chunks;
};

static int put_minute(struct store *store, struct roll *roll, struct err *err)
{
	struct pack_point minute;
	if (!rollup_take(&roll->rollup, &minute))
		return 0;
	if (!pack_add(&store->minutes, &minute))
		return err_set(err, ERR_NOMEM, "store: no memory to roll up");
	span_add(&roll->span, &store->minutes, &minute);
	return 0;
}

static int roll_blob(struct store *store, struct roll *roll, struct str blob, struct err *err)
{
	struct pack_reader reader;
	struct pack_point point;
	bool more = true;
	int rc = pack_open(blob, &reader, err);
	while (rc == 0 && more) {
		rc = pack_next(&reader, &point, &more, err);
		if (rc < 0 || !more)
			break;
		int64_t minute = floor_to(point.point.received.ms, MINUTE_MS);
		if (minute != roll->minute)
			rc = put_minute(store, roll, err);
		roll->minute = minute;
		rollup_add(&roll->rollup, &point);
		roll->n_raw++;
	}
	return rc;
}

/*
 * A clock that was set back leaves rows of another window between those of this one: they are not made into one that
 * would hold numbers on both sides of another.
 */
static int is_next(struct store *store, int64_t epoch, int64_t last_seq, int64_t first_seq, bool *ret_next,
		   struct err *err)
{
	bool between = false;
	*ret_next = true;
	if (last_seq == 0 || first_seq == last_seq + 1)
		return 0;
	auto_reset sqlite3_stmt *s = store_statement(store, ST_CHUNK_BETWEEN, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, epoch);
	store_bind_int(s, 2, last_seq);
	store_bind_int(s, 3, first_seq);
	int rc = store_step(store, s, &between, err);
	*ret_next = !between;
	return rc;
}

/* The rows of one epoch from `first_ms` on that are in the same window, as minutes into store->minutes. */
static int roll_rows(struct store *store, struct roll *roll, int64_t first_ms, int64_t before_ms, struct err *err)
{
	bool row = false;
	int64_t window = floor_to(first_ms, STORE_ROLLUP_MS) + STORE_ROLLUP_MS, last_seq = 0;
	auto_reset sqlite3_stmt *rows = store_statement(store, ST_CHUNK_ROWS, err);
	if (!rows)
		return -EIO;
	store_bind_int(rows, 1, roll->span.epoch);
	store_bind_int(rows, 2, first_ms);
	store_bind_int(rows, 3, window < before_ms ? window : before_ms);
	pack_start(&store->minutes, PACK_MINUTES);
	while (roll->n_chunks < sizeof roll->chunks / sizeof roll->chunks[0]) {
		bool next = true;
		int rc = store_step(store, rows, &row, err);
		if (rc == 0 && row)
			rc = is_next(store, roll->span.epoch, last_seq, sqlite3_column_int64(rows, 3), &next, err);
		if (rc < 0)
			return rc;
		if (!row || !next || roll->n_raw + sqlite3_column_int64(rows, 1) > PACK_POINTS_MAX)
			break;
		last_seq = sqlite3_column_int64(rows, 4);
		rc = roll_blob(store, roll, store_column(rows, 2), err);
		if (rc < 0)
			return rc;
		roll->chunks[roll->n_chunks++] = sqlite3_column_int64(rows, 0);
	}
	return put_minute(store, roll, err);
}

static int run_with(struct store *store, enum store_statement which, int64_t a, int64_t b, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, which, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, a);
	store_bind_int(s, 2, b);
	return store_run(store, s, err);
}

static int replace_rows(struct store *store, struct roll *roll, struct err *err)
{
	int rc = add_chunk(store, &roll->span, &store->minutes, err);
	for (size_t i = 0; rc == 0 && i < roll->n_chunks; i++) {
		sqlite3_stmt *remove = store_statement(store, ST_CHUNK_DELETE, err);
		if (!remove)
			return -EIO;
		store_bind_int(remove, 1, roll->chunks[i]);
		rc = store_run(store, remove, err);
	}
	/* From here on a number up to `base` is not proved by a row any more. */
	if (rc == 0)
		rc = run_with(store, ST_EPOCH_BASE, roll->span.epoch, (int64_t)roll->span.last_seq, err);
	if (rc == 0)
		rc = run_with(store, ST_MARKS_DELETE, roll->span.epoch, (int64_t)roll->span.last_seq, err);
	store->tally.samples -= roll->n_raw;
	store->tally.rollups += (int64_t)store->minutes.state.n;
	return rc;
}

int store_rollup(struct store *store, struct wall before, size_t *ret_did, struct err *err)
{
	struct roll roll = { 0 };
	bool row = false;
	sqlite3_stmt *oldest = store_statement(store, ST_CHUNK_OLDEST, err);
	if (!oldest)
		return -EIO;
	store_bind_int(oldest, 1, PACK_SAMPLES);
	store_bind_int(oldest, 2, before.ms);
	int rc = store_step(store, oldest, &row, err);
	if (rc < 0 || !row) {
		(void)sqlite3_reset(oldest);
		return rc;
	}
	roll.span.epoch = sqlite3_column_int64(oldest, 0);
	int64_t last_ms = sqlite3_column_int64(oldest, 1);
	(void)sqlite3_reset(oldest);
	rc = roll_rows(store, &roll, last_ms, before.ms, err);
	if (rc < 0 || roll.n_chunks == 0)
		return rc;
	rc = replace_rows(store, &roll, err);
	*ret_did += (size_t)roll.n_raw;
	return rc;
}
