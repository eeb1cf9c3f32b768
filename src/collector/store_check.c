/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold in a database, beyond what SQLite itself can tell. The heart of it: between `base` and `acked` of each
 * epoch every number stands in exactly one place: a sample, a half hour of samples, a mark of a finding or of a part of
 * a post-mortem, or a gap. So nothing was acked that is not here, and nothing is counted twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/esc.h"
#include "collector/store_db.h"

enum { LINES_MAX = 100 };

struct check {
	sqlite3 *db;
	const char *path;
	struct buf *report;
	unsigned n; /* troubles found; those past LINES_MAX are counted alone */
};

static void trouble(struct check *check, const char *what, int64_t where, const char *detail)
{
	if (check->n++ < LINES_MAX) /* a report that is full is full: the count goes on */
		(void)buf_printf(check->report, "%s %" PRId64 "%s%s\n", what, where, detail[0] ? ": " : "", detail);
}

/* Each row of the query is a trouble: its place, and in words what is wrong. */
static int each_row(struct check *check, const char *sql, const char *what, struct err *err)
{
	auto_statement sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(check->db, sql, -1, &s, NULL);
	if (rc != SQLITE_OK)
		return store_fail(check->db, rc, check->path, "store: check", err);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		char detail[200];
		(void)esc_copy(detail, sizeof detail, store_column(s, 1));
		trouble(check, what, sqlite3_column_int64(s, 0), detail);
	}
	return rc == SQLITE_DONE ? 0 : store_fail(check->db, rc, check->path, "store: check", err);
}

static const struct {
	const char *what, *sql;
} queries[] = {
	{ "tally",
	  "SELECT 1, 'samples ' || t.samples || ', counted ' || n FROM tally t, (SELECT (SELECT count(*) FROM sample)"
	  " + (SELECT coalesce(sum(points), 0) FROM chunk WHERE kind = 1) AS n) WHERE t.samples <> n" },
	{ "tally", "SELECT 1, 'roll-ups ' || t.rollups || ', counted ' || n FROM tally t,"
		   " (SELECT coalesce(sum(points), 0) AS n FROM chunk WHERE kind = 2) WHERE t.rollups <> n" },
	{ "tally", "SELECT 1, 'findings, post-mortems, gaps or agents' FROM tally t WHERE"
		   " t.findings <> (SELECT count(*) FROM finding) OR t.postmortems <> (SELECT count(*) FROM postmortem)"
		   " OR t.gaps <> (SELECT count(*) FROM gap) OR t.agents <> (SELECT count(*) FROM agent)" },
	{ "epoch", "SELECT epoch, 'of no agent' FROM epoch WHERE agent NOT IN (SELECT agent FROM agent)" },
	{ "epoch", "SELECT DISTINCT epoch, 'has samples and is none' FROM (SELECT epoch FROM sample UNION ALL"
		   " SELECT epoch FROM chunk UNION ALL SELECT epoch FROM gap UNION ALL SELECT epoch FROM mark)"
		   " WHERE epoch NOT IN (SELECT epoch FROM epoch)" },
	{ "post-mortem", "SELECT postmortem, 'a part of none' FROM part WHERE postmortem NOT IN (SELECT postmortem FROM"
			 " postmortem)" },
	{ "alert", "SELECT DISTINCT alert, 'is none, and somebody was told of it' FROM delivery WHERE alert NOT IN"
		   " (SELECT alert FROM alert)" },
	{ "alert", "SELECT alert, 'ended before it started' FROM alert WHERE ended_ms > 0 AND (ended_ms < started_ms OR"
		   " end_order <= start_order)" },
	{ "event", "SELECT agent, 'of no agent' FROM event WHERE agent NOT IN (SELECT agent FROM agent)" },
	{ "event", "SELECT agent, 'of kind ' || kind || ', value ' || value FROM event WHERE kind NOT BETWEEN 0 AND 9"
		   " OR value < -1 OR before < -1" },
	{ "epoch",
	  "SELECT s.epoch, 'sample ' || s.seq || ' lies in a gap' FROM gap g CROSS JOIN sample s ON g.epoch = s.epoch"
	  " AND s.seq BETWEEN g.from_seq AND g.to_seq" },
	{ "epoch", "SELECT m.epoch, 'finding or part ' || m.seq || ' lies in a gap' FROM mark m JOIN gap g ON"
		   " g.epoch = m.epoch AND m.seq BETWEEN g.from_seq AND g.to_seq" },
	{ "epoch", "SELECT m.epoch, 'number ' || m.seq || ' is both a sample and none' FROM mark m JOIN sample s"
		   " USING (epoch, seq)" },
	{ "epoch",
	  "SELECT e.epoch, 'samples lie before those of half hours' FROM epoch e WHERE (SELECT min(seq) FROM sample"
	  " WHERE epoch = e.epoch) <= (SELECT max(last_seq) FROM chunk WHERE epoch = e.epoch)" },
	{ "epoch",
	  "SELECT a.epoch, 'gaps from ' || a.from_seq || ' and ' || b.from_seq || ' overlap' FROM gap a JOIN gap b"
	  " ON b.epoch = a.epoch AND b.from_seq > a.from_seq AND b.from_seq <= a.to_seq" },
	{ "epoch",
	  "SELECT e.epoch, 'an open gap begins at ' || g.from_seq || ', acked is ' || e.acked FROM epoch e JOIN gap g"
	  " ON g.epoch = e.epoch WHERE g.to_seq = 9223372036854775807 AND g.from_seq <> e.acked + 1" },
};

/* --- what SQL cannot see: the numbers inside half hours ------------------------------------------ */

static bool in_gap(sqlite3_stmt *gap, int64_t epoch, uint64_t seq)
{
	(void)sqlite3_reset(gap);
	store_bind_int(gap, 1, epoch);
	store_bind_int(gap, 2, (int64_t)seq);
	return sqlite3_step(gap) == SQLITE_ROW;
}

/* Reads one blob through: ascending numbers within its row's, as many as it says. `*ret_past` of them are past `base`. */
static void check_blob(struct check *check, sqlite3_stmt *gap, sqlite3_stmt *row, int64_t base, int64_t *ret_past)
{
	struct pack_reader reader;
	struct err why = { 0 };
	int64_t epoch = sqlite3_column_int64(row, 0), n = 0;
	uint64_t first = (uint64_t)sqlite3_column_int64(row, 2), last = (uint64_t)sqlite3_column_int64(row, 3),
		 before = 0;
	bool more = true, raw = sqlite3_column_int64(row, 1) == PACK_SAMPLES;
	*ret_past = 0;
	int rc = pack_open(store_column(row, 5), &reader, &why);
	while (rc == 0 && more) {
		struct pack_point point;
		rc = pack_next(&reader, &point, &more, &why);
		if (rc < 0 || !more)
			break;
		if (point.seq <= before || point.seq < first || point.seq > last || (n == 0 && point.seq != first))
			rc = err_set(&why, ERR_MALFORMED, "number %" PRIu64 " is out of order", point.seq);
		else if (raw && in_gap(gap, epoch, point.seq))
			rc = err_set(&why, ERR_MALFORMED, "sample %" PRIu64 " lies in a gap", point.seq);
		before = point.seq;
		*ret_past += raw && point.seq > (uint64_t)base;
		n++;
	}
	if (rc == 0 && n != sqlite3_column_int64(row, 4))
		rc = err_set(&why, ERR_MALFORMED, "it holds %" PRId64 " points and says otherwise", n);
	if (rc < 0)
		trouble(check, "epoch", epoch, why.message);
}

struct coverage {
	sqlite3_stmt *chunks, *gap, *others;
};

static int sum_chunks(struct check *check, const struct coverage *c, int64_t epoch, int64_t base, int64_t *ret_sum,
		      struct err *err)
{
	int rc;
	int64_t before = 0;
	(void)sqlite3_reset(c->chunks);
	store_bind_int(c->chunks, 1, epoch);
	*ret_sum = 0;
	while ((rc = sqlite3_step(c->chunks)) == SQLITE_ROW) {
		int64_t past;
		if (sqlite3_column_int64(c->chunks, 2) <= before)
			trouble(check, "epoch", epoch, "two rows of samples overlap");
		before = sqlite3_column_int64(c->chunks, 3);
		check_blob(check, c->gap, c->chunks, base, &past);
		*ret_sum += past;
	}
	return rc == SQLITE_DONE ? 0 : store_fail(check->db, rc, check->path, "store: check", err);
}

static int check_epoch(struct check *check, const struct coverage *c, sqlite3_stmt *epoch, struct err *err)
{
	int64_t row = sqlite3_column_int64(epoch, 0), acked = sqlite3_column_int64(epoch, 1);
	int64_t base = sqlite3_column_int64(epoch, 2), sum;
	char detail[128];
	int rc = sum_chunks(check, c, row, base, &sum, err);
	if (rc < 0)
		return rc;
	(void)sqlite3_reset(c->others);
	store_bind_int(c->others, 1, row);
	store_bind_int(c->others, 2, base);
	if (sqlite3_step(c->others) != SQLITE_ROW)
		return store_fail(check->db, sqlite3_errcode(check->db), check->path, "store: check", err);
	sum += sqlite3_column_int64(c->others, 0);
	int64_t highest = sqlite3_column_int64(c->others, 1);
	if (base > acked || highest > acked || sum != acked - base) {
		(void)snprintf(detail, sizeof detail,
			       "acked to %" PRId64 ", numbers past %" PRId64 ": %" PRId64 ", the highest %" PRId64,
			       acked, base, sum, highest);
		trouble(check, "epoch", row, detail);
	}
	return 0;
}

static int prepare(struct check *check, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	int rc = sqlite3_prepare_v2(check->db, sql, -1, ret, NULL);
	return rc == SQLITE_OK ? 0 : store_fail(check->db, rc, check->path, "store: check", err);
}

/* With no number in two places (the queries above), a count that fits is proof that each is in one. */
static int check_coverage(struct check *check, struct err *err)
{
	auto_statement sqlite3_stmt *epochs = NULL;
	auto_statement sqlite3_stmt *chunks = NULL;
	auto_statement sqlite3_stmt *gap = NULL;
	auto_statement sqlite3_stmt *others = NULL;
	int rc = prepare(check, "SELECT epoch, acked, base FROM epoch", &epochs, err);
	if (rc == 0)
		rc = prepare(check,
			     "SELECT epoch, kind, first_seq, last_seq, points, data FROM chunk WHERE epoch = ?1"
			     " ORDER BY first_seq",
			     &chunks, err);
	if (rc == 0)
		rc = prepare(check, "SELECT 1 FROM gap WHERE epoch = ?1 AND ?2 BETWEEN from_seq AND to_seq", &gap, err);
	if (rc == 0)
		rc = prepare(
			check,
			"SELECT coalesce(sum(n), 0), coalesce(max(top), 0) FROM ("
			"SELECT count(*) AS n, max(seq) AS top FROM sample WHERE epoch = ?1 AND seq > ?2 UNION ALL "
			"SELECT count(*), max(seq) FROM mark WHERE epoch = ?1 AND seq > ?2 UNION ALL "
			"SELECT 0, max(last_seq) FROM chunk WHERE epoch = ?1 UNION ALL "
			"SELECT sum(to_seq - max(from_seq, ?2 + 1) + 1), max(to_seq) FROM gap WHERE epoch = ?1"
			" AND to_seq > ?2 AND to_seq < 9223372036854775807)",
			&others, err);
	if (rc < 0)
		return rc;
	const struct coverage c = { chunks, gap, others };
	int step;
	while ((step = sqlite3_step(epochs)) == SQLITE_ROW) {
		rc = check_epoch(check, &c, epochs, err);
		if (rc < 0)
			return rc;
	}
	return step == SQLITE_DONE ? 0 : store_fail(check->db, step, check->path, "store: check", err);
}

static int check_integrity(struct check *check, struct err *err)
{
	auto_statement sqlite3_stmt *s = NULL;
	int rc = prepare(check, "PRAGMA integrity_check(100)", &s, err);
	if (rc < 0)
		return rc;
	int step;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		struct str line = store_column(s, 0);
		if (str_eq(line, STR("ok")))
			continue;
		if (check->n++ < LINES_MAX && esc_add(check->report, line))
			(void)buf_putc(check->report, '\n');
	}
	return step == SQLITE_DONE ? 0 : store_fail(check->db, step, check->path, "store: check", err);
}

int store_db_check(sqlite3 *db, const char *path, struct buf *report, struct err *err)
{
	struct check check = { .db = db, .path = path, .report = report };
	/* One transaction: a collector may be writing. */
	int rc = store_db_exec(db, path, "BEGIN", err);
	if (rc == 0)
		rc = check_integrity(&check, err);
	bool broken = check.n > 0; /* what is read of a damaged file proves nothing */
	for (size_t i = 0; rc == 0 && !broken && i < sizeof queries / sizeof queries[0]; i++)
		rc = each_row(&check, queries[i].sql, queries[i].what, err);
	if (rc == 0 && !broken)
		rc = check_coverage(&check, err);
	(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* it only read */
	if (rc == -EBADMSG && err && check.n == 0) /* too damaged to be walked: what SQLite said is the line */
		(void)buf_printf(report, "%s\n", err->message);
	if (rc == 0 && check.n > 0)
		rc = err_set(err, ERR_MALFORMED,
			     "store: %s: %u troubles; restore a backup, or keep the file for whoever helps", path,
			     check.n);
	return rc;
}
