/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents, series and gaps, read back. Each read prepares a statement of its own (some 20 us), so that a callback may
 * read as well; findings and post-mortems stand in store_list.c.
 */
#include <errno.h>
#include <stdio.h>

#include "collector/rollup.h"
#include "collector/store_db.h"

sqlite3_stmt *store_query(struct store *store, const char *sql, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
	if (rc != SQLITE_OK)
		(void)store_fail(store->db, rc, store->path, "store: read", err);
	return statement;
}

int store_next(struct store *store, sqlite3_stmt *statement, bool *ret_row, struct err *err)
{
	int rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return store_fail(store->db, rc, store->path, "store: read", err);
	*ret_row = rc == SQLITE_ROW;
	return 0;
}

/* --- agents ------------------------------------------------------------------------------------- */

#define AGENT_SELECT                                                                                    \
	"SELECT a.agent, a.id, a.subject, a.first_ms, max(a.last_ms, coalesce(e.last_ms, 0)) AS seen, " \
	"coalesce(e.bye, 0) FROM agent a LEFT JOIN epoch e ON e.epoch = (SELECT max(epoch) FROM epoch WHERE agent = a.agent)"

static int agent_of_row(sqlite3_stmt *s, struct store_agent_row *row, struct err *err)
{
	*row = (struct store_agent_row){ .agent = sqlite3_column_int64(s, 0),
					 .first_seen.ms = sqlite3_column_int64(s, 3),
					 .last_seen.ms = sqlite3_column_int64(s, 4),
					 .said_bye = sqlite3_column_int64(s, 5) != 0 };
	store_column_text(s, 1, row->agent_id, sizeof row->agent_id);
	return store_subject_read(store_column(s, 2), &row->hello, err);
}

static int each_agent(struct store *store, sqlite3_stmt *s, store_agent_fn *fn, void *context, struct err *err)
{
	bool more = true;
	while (more) {
		struct store_agent_row row;
		int rc = store_next(store, s, &more, err);
		if (rc == 0 && more)
			rc = agent_of_row(s, &row, err);
		if (rc < 0)
			return rc;
		if (more && !fn(context, &row))
			break;
	}
	return 0;
}

int store_each_agent(struct store *store, store_agent_fn *fn, void *context, struct err *err)
{
	auto_statement sqlite3_stmt *s = store_query(store, AGENT_SELECT " ORDER BY seen DESC, a.agent DESC", err);
	return s ? each_agent(store, s, fn, context, err) : -EIO;
}

int store_each_agent_of(struct store *store, const char *workload, int64_t below, store_agent_fn *fn, void *context,
			struct err *err)
{
	auto_statement sqlite3_stmt *s =
		store_query(store, AGENT_SELECT " WHERE a.workload = ?1 AND a.agent < ?2 ORDER BY a.agent DESC", err);
	if (!s)
		return -EIO;
	store_bind_text(s, 1, str_of(workload));
	store_bind_int(s, 2, below ? below : INT64_MAX);
	return each_agent(store, s, fn, context, err);
}

int store_agent_read(struct store *store, int64_t agent, struct store_agent_row *ret_row, struct err *err)
{
	bool found = false;
	struct store_agent_row row;
	auto_statement sqlite3_stmt *s = store_query(store, AGENT_SELECT " WHERE a.agent = ?1", err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	int rc = store_next(store, s, &found, err);
	if (rc == 0 && !found)
		rc = err_set(err, ERR_GONE, "store: no agent %lld", (long long)agent);
	if (rc == 0)
		rc = agent_of_row(s, &row, err);
	if (rc == 0)
		*ret_row = row;
	return rc;
}

/* --- series ------------------------------------------------------------------------------------- */

struct series {
	struct wall from, to;
	int64_t step_ms, begun_ms; /* when the point that is being gathered began */
	struct rollup rollup;
	store_point_fn *fn;
	void *context;
	bool stopped;
};

static void emit(struct series *series)
{
	struct pack_point point;
	if (rollup_take(&series->rollup, &point) && !series->fn(series->context, &point.point))
		series->stopped = true;
}

static void series_add(struct series *series, const struct pack_point *point)
{
	int64_t at = point->point.received.ms;
	if (at < series->from.ms || at >= series->to.ms)
		return;
	if (series->step_ms == 0) {
		series->stopped = !series->fn(series->context, &point->point);
		return;
	}
	if (!rollup_is_empty(&series->rollup) && at >= series->begun_ms && at - series->begun_ms < series->step_ms) {
		rollup_add(&series->rollup, point);
		return;
	}
	emit(series);
	series->begun_ms = at;
	rollup_add(&series->rollup, point);
}

static int series_blob(struct series *series, struct str blob, struct err *err)
{
	struct pack_reader reader;
	bool more = true;
	int rc = pack_open(blob, &reader, err);
	while (rc == 0 && more && !series->stopped) {
		struct pack_point point;
		rc = pack_next(&reader, &point, &more, err);
		if (rc == 0 && more)
			series_add(series, &point);
	}
	return rc;
}

int store_each_point(struct store *store, int64_t agent, struct wall from, struct wall to, uint64_t step_ms,
		     store_point_fn *fn, void *context, struct err *err)
{
	bool more = true;
	struct series series = { .from = from,
				 .to = to.ms ? to : (struct wall){ INT64_MAX },
				 .step_ms = step_ms > INT64_MAX ? INT64_MAX : (int64_t)step_ms,
				 .fn = fn,
				 .context = context };
	/* By epoch and number: the order in which it happened, whatever any clock says. */
	auto_statement sqlite3_stmt *s = store_query(
		store,
		"SELECT c.epoch, c.first_seq, c.data FROM epoch e JOIN chunk c ON c.epoch = e.epoch"
		" WHERE e.agent = ?1 AND e.last_ms >= ?2 AND c.last_ms >= ?2 AND c.first_ms < ?3 UNION ALL "
		"SELECT s.epoch, s.seq, s.data FROM epoch e JOIN sample s ON s.epoch = e.epoch"
		" WHERE e.agent = ?1 AND e.last_ms >= ?2 AND s.received_ms >= ?2 AND s.received_ms < ?3 ORDER BY 1, 2",
		err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	store_bind_int(s, 2, from.ms);
	store_bind_int(s, 3, series.to.ms);
	while (!series.stopped) {
		int rc = store_next(store, s, &more, err);
		if (rc == 0 && more)
			rc = series_blob(&series, store_column(s, 2), err);
		if (rc < 0) {
			err_wrap(err, "store: agent %lld", (long long)agent);
			return rc;
		}
		if (!more)
			break;
	}
	if (!series.stopped)
		emit(&series);
	return 0;
}

/* --- gaps ------------------------------------------------------------------------------------------ */

int store_each_gap(struct store *store, int64_t agent, store_gap_fn *fn, void *context, struct err *err)
{
	auto_statement sqlite3_stmt *s = store_query(
		store,
		"SELECT e.id, g.from_seq, g.to_seq, g.reason, g.received_ms, e.agent FROM epoch e"
		" JOIN gap g ON g.epoch = e.epoch WHERE ?1 = 0 OR e.agent = ?1 ORDER BY e.epoch, g.from_seq",
		err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	for (;;) {
		bool more = false;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		struct store_gap_row row = { .agent = sqlite3_column_int64(s, 5),
					     .from = (uint64_t)sqlite3_column_int64(s, 1),
					     .received.ms = sqlite3_column_int64(s, 4) };
		struct str id = store_column(s, 0);
		memcpy(row.epoch.bytes, id.ptr, id.len < sizeof row.epoch.bytes ? id.len : sizeof row.epoch.bytes);
		int64_t end = sqlite3_column_int64(s, 2);
		row.to = end == INT64_MAX ? UINT64_MAX : (uint64_t)end;
		store_column_text(s, 3, row.reason, sizeof row.reason);
		if (!fn(context, &row))
			return 0;
	}
}
