/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/store_alert.h"

#include <errno.h>

#include "collector/store_db.h"

static int put(struct store *store, const struct alert *alert, struct str text, int64_t *ret_row, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, alert->row ? ST_ALERT_UPDATE : ST_ALERT_ADD, err);
	if (!s)
		return -EIO;
	if (alert->row) {
		store_bind_int(s, 1, alert->row);
	} else {
		store_bind_text(s, 2, str_of(alert->cluster));
		store_bind_text(s, 3, str_of(alert->namespace_));
		store_bind_text(s, 4, str_of(alert->workload));
		store_bind_text(s, 5, str_of(alert->rule));
		store_bind_int(s, 6, alert->severity);
		store_bind_int(s, 7, alert->started.ms);
		store_bind_int(s, 9, (int64_t)alert->start_order);
	}
	store_bind_int(s, 8, alert->ended.ms);
	store_bind_int(s, 10, (int64_t)alert->end_order);
	store_bind_int(s, 11, alert->pending);
	store_bind_text(s, 12, text);
	int rc = store_run(store, s, err);
	if (rc == 0)
		*ret_row = alert->row ? alert->row : sqlite3_last_insert_rowid(store->db);
	return rc;
}

int store_alert_put(struct store *store, const struct alert *alert, struct str text, int64_t *ret_row, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, put(store, alert, text, ret_row, &failure), &failure, err);
}

static int put_delivery(struct store *store, int64_t row, const char *receiver, const struct alert_delivery *delivery,
			struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_DELIVERY_PUT, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, row);
	store_bind_text(s, 2, str_of(receiver));
	store_bind_int(s, 3, delivery->told);
	store_bind_int(s, 4, delivery->told_at.ms);
	store_bind_int(s, 5, delivery->repeats);
	return store_run(store, s, err);
}

int store_delivery_put(struct store *store, int64_t row, const char *receiver, const struct alert_delivery *delivery,
		       struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, put_delivery(store, row, receiver, delivery, &failure), &failure, err);
}

static enum severity severity_of(int64_t stored)
{
	return stored > SEVERITY_NONE && stored < SEVERITY_COUNT ? (enum severity)stored : SEVERITY_WARNING;
}

int store_each_alert(struct store *store, enum store_alerts_of which, size_t most, store_alert_fn *fn, void *context,
		     struct err *err)
{
#define COLUMNS                                                                                                     \
	"SELECT alert, cluster, namespace, workload, rule, severity, started_ms, ended_ms, start_order, end_order," \
	" pending, text FROM alert"
	static const char *const texts[] = {
		[STORE_ALERTS_OPEN] = COLUMNS " WHERE ended_ms = 0 OR pending = 1 ORDER BY alert LIMIT ?1",
		[STORE_ALERTS_OVER] = COLUMNS " WHERE ended_ms > 0 AND pending = 0 ORDER BY ended_ms DESC LIMIT ?1",
	};
#undef COLUMNS
	auto_statement sqlite3_stmt *s = store_query(store, texts[which], err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, (int64_t)most);
	for (;;) {
		bool more = false;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		struct alert alert = {
			.row = sqlite3_column_int64(s, 0),
			.severity = severity_of(sqlite3_column_int64(s, 5)),
			.started.ms = sqlite3_column_int64(s, 6),
			.ended.ms = sqlite3_column_int64(s, 7),
			.start_order = (uint64_t)sqlite3_column_int64(s, 8),
			.end_order = (uint64_t)sqlite3_column_int64(s, 9),
			.pending = sqlite3_column_int64(s, 10) != 0,
			.figures.owner = -1,
		};
		store_column_text(s, 1, alert.cluster, sizeof alert.cluster);
		store_column_text(s, 2, alert.namespace_, sizeof alert.namespace_);
		store_column_text(s, 3, alert.workload, sizeof alert.workload);
		store_column_text(s, 4, alert.rule, sizeof alert.rule);
		if (!fn(context, &alert, store_column(s, 11)))
			return 0;
	}
}

static enum alert_edge edge_of(int64_t stored)
{
	return stored >= ALERT_EDGE_NONE && stored <= ALERT_EDGE_EXCUSED ? (enum alert_edge)stored : ALERT_EDGE_NONE;
}

int store_each_delivery(struct store *store, int64_t row, store_delivery_fn *fn, void *context, struct err *err)
{
	auto_reset sqlite3_stmt *s = store_statement(store, ST_DELIVERIES, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, row);
	for (;;) {
		bool more = false;
		int rc = store_step(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		const struct alert_delivery delivery = { .told = edge_of(sqlite3_column_int64(s, 1)),
							 .told_at.ms = sqlite3_column_int64(s, 2),
							 .repeats = (uint32_t)sqlite3_column_int64(s, 3) };
		fn(context, store_column(s, 0), &delivery);
	}
}

int store_alerts_expire(struct store *store, struct wall before, int64_t most, int64_t *ret_n, struct err *err)
{
	static const enum store_statement which[] = { ST_DELIVERIES_EXPIRE, ST_ALERTS_EXPIRE };
	for (size_t i = 0; i < 2; i++) {
		bool more = true;
		auto_reset sqlite3_stmt *s = store_statement(store, which[i], err);
		if (!s)
			return -EIO;
		store_bind_int(s, 1, before.ms);
		store_bind_int(s, 2, most);
		store_bind_int(s, 3, STORE_ALERTS_MAX);
		while (more) {
			int rc = store_step(store, s, &more, err);
			if (rc < 0)
				return rc;
			*ret_n += more;
		}
	}
	return 0;
}
