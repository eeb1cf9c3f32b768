/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of findings and post-mortems, newest first, by a filter. */
#include <errno.h>
#include <stdio.h>

#include "collector/store_db.h"

enum { LIST_MOST = 1000, LIST_SQL_CAP = 1024 };

/*
 * The filter as a WHERE clause that holds only what is asked for, so that an index can serve it; every value is bound.
 * Places: 1 agent, 2 rule, 3 severity, 4 from, 5 to, 6 below, 7 most, 8 id.
 */
static void where(const struct store_filter *f, const char *table, struct buf *sql)
{
	bool findings = strcmp(table, "finding") == 0;
	(void)buf_printf(sql, " FROM %s WHERE 1", table); /* sticky */
	if (f->agent_is_collector)
		(void)buf_puts(sql, " AND agent = 0");
	else if (f->agent)
		(void)buf_puts(sql, " AND agent = ?1");
	if (f->id)
		(void)buf_puts(sql, " AND id = ?8");
	if (findings && f->rule)
		(void)buf_puts(sql, " AND rule = ?2");
	if (findings && f->least)
		(void)buf_puts(sql, " AND severity >= ?3");
	if (findings && f->open_only)
		(void)buf_printf(sql, " AND edge <> %d", WIRE_CLEARED);
	if (f->from.ms)
		(void)buf_puts(sql, findings ? " AND (cleared_ms = 0 OR cleared_ms >= ?4)" : " AND died_ms >= ?4");
	if (f->to.ms)
		(void)buf_puts(sql, findings ? " AND opened_ms < ?5" : " AND died_ms < ?5");
	if (f->below_row)
		(void)buf_printf(sql, " AND %s < ?6", table);
	(void)buf_printf(sql, " ORDER BY %s DESC LIMIT ?7", table);
}

static sqlite3_stmt *list(struct store *store, const char *columns, const struct store_filter *f, const char *table,
			  struct err *err)
{
	auto_buf struct buf sql = { .cap = LIST_SQL_CAP };
	(void)buf_puts(&sql, columns);
	where(f, table, &sql);
	if (buf_failed(&sql)) {
		(void)err_set(err, ERR_NOMEM, "store: no memory for a query");
		return NULL;
	}
	sqlite3_stmt *s = store_query(store, sql.ptr, err);
	if (!s)
		return NULL;
	store_bind_int(s, 1, f->agent); /* a place that the text has not is refused, and so be it */
	if (f->rule)
		store_bind_text(s, 2, str_of(f->rule));
	store_bind_int(s, 3, f->least);
	store_bind_int(s, 4, f->from.ms);
	store_bind_int(s, 5, f->to.ms);
	store_bind_int(s, 6, f->below_row);
	store_bind_int(s, 7, f->most ? (int64_t)(f->most > INT32_MAX ? INT32_MAX : f->most) : LIST_MOST);
	if (f->id)
		store_bind_text(s, 8, str_of(f->id));
	return s;
}

/* A number of the file that may be damaged, as one of an enum. */
static int in_range(int64_t value, int count, int otherwise)
{
	return value >= 0 && value < count ? (int)value : otherwise;
}

int store_each_finding(struct store *store, const struct store_filter *filter, store_finding_fn *fn, void *context,
		       struct err *err)
{
	auto_statement sqlite3_stmt *s =
		list(store,
		     "SELECT finding, agent, id, rule, severity, edge, owner, title, opened_ms,"
		     " updated_ms, cleared_ms, updates, text, received_ms",
		     filter, "finding", err);
	if (!s)
		return -EIO;
	for (;;) {
		bool more = false;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		struct store_finding_row row = {
			.row = sqlite3_column_int64(s, 0),
			.agent = sqlite3_column_int64(s, 1),
			.severity = (enum severity)in_range(sqlite3_column_int64(s, 4), SEVERITY_COUNT, SEVERITY_NONE),
			.edge = (enum wire_edge)in_range(sqlite3_column_int64(s, 5), WIRE_EDGE_COUNT, WIRE_UPDATED),
			.owner = in_range(sqlite3_column_int64(s, 6), OWNER_COUNT, -1),
			.opened.ms = sqlite3_column_int64(s, 8),
			.updated.ms = sqlite3_column_int64(s, 9),
			.cleared.ms = sqlite3_column_int64(s, 10),
			.received.ms = sqlite3_column_int64(s, 13),
			.n_updates = (uint64_t)sqlite3_column_int64(s, 11),
			.text = filter->with_text ? store_column(s, 12) : STR(""),
		};
		store_column_text(s, 2, row.id, sizeof row.id);
		store_column_text(s, 3, row.rule, sizeof row.rule);
		store_column_text(s, 7, row.title, sizeof row.title);
		if (!fn(context, &row))
			return 0;
	}
}

_Static_assert(STORE_PART_TOLD == 1048576, "as the text below has it");
#define DEATH_COLUMNS                                                                                                \
	"SELECT postmortem.postmortem, agent, id, cause, owner, pid, died_ms, received_ms, title, parts, inferred, " \
	"(SELECT count(*) FROM part WHERE part.postmortem = postmortem.postmortem AND part < 1048576), "             \
	"EXISTS (SELECT 1 FROM part WHERE part.postmortem = postmortem.postmortem AND part = 1048576)"

static void death_of_row(sqlite3_stmt *s, struct store_postmortem_row *row)
{
	*row = (struct store_postmortem_row){
		.row = sqlite3_column_int64(s, 0),
		.agent = sqlite3_column_int64(s, 1),
		.cause = (enum death_cause)in_range(sqlite3_column_int64(s, 3), DEATH_CAUSE_COUNT, DEATH_UNKNOWN),
		.owner = in_range(sqlite3_column_int64(s, 4), OWNER_COUNT, -1),
		.pid = sqlite3_column_int(s, 5),
		.died.ms = sqlite3_column_int64(s, 6),
		.received.ms = sqlite3_column_int64(s, 7),
		.parts = (unsigned)sqlite3_column_int(s, 9),
		.inferred = sqlite3_column_int64(s, 10) != 0,
		.parts_here = (unsigned)sqlite3_column_int(s, 11),
		.told = sqlite3_column_int64(s, 12) != 0,
		.text = store_column(s, 13),
	};
	store_column_text(s, 2, row->id, sizeof row->id);
	store_column_text(s, 8, row->title, sizeof row->title);
}

static int each_death(struct store *store, sqlite3_stmt *s, size_t *ret_n, store_postmortem_fn *fn, void *context,
		      struct err *err)
{
	for (*ret_n = 0;;) {
		bool more = false;
		struct store_postmortem_row row;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		death_of_row(s, &row);
		++*ret_n;
		if (!fn(context, &row))
			return 0;
	}
}

int store_each_postmortem(struct store *store, const struct store_filter *filter, store_postmortem_fn *fn,
			  void *context, struct err *err)
{
	size_t n;
	auto_statement sqlite3_stmt *s =
		list(store,
		     filter->with_text ? DEATH_COLUMNS ", (SELECT text FROM part WHERE part.postmortem ="
						       " postmortem.postmortem AND part = 0)"
				       : DEATH_COLUMNS ", ''",
		     filter, "postmortem", err);
	return s ? each_death(store, s, &n, fn, context, err) : -EIO;
}

int store_postmortem_parts(struct store *store, int64_t agent, const char *id, store_postmortem_fn *fn, void *context,
			   struct err *err)
{
	size_t n;
	auto_statement sqlite3_stmt *s = store_query(store,
						     DEATH_COLUMNS ", text FROM postmortem JOIN part USING (postmortem)"
								   " WHERE agent = ?1 AND id = ?2 ORDER BY part",
						     err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	store_bind_text(s, 2, str_of(id));
	int rc = each_death(store, s, &n, fn, context, err);
	if (rc == 0 && n == 0)
		rc = err_set(err, ERR_GONE, "store: no post-mortem of this id");
	return rc;
}
