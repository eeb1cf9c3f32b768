/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/store_event.h"

#include <errno.h>

#include "collector/store_db.h"

/* --- writing ------------------------------------------------------------------------------------------- */

static int put(struct store *store, int64_t agent, const struct event *event, struct wall received, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_EVENT_PUT, err);
	if (!s)
		return -EIO;
	bool dated = event->at.ms > 0 && event->at.ms < received.ms;
	store_bind_int(s, 1, agent);
	store_bind_int(s, 2, event->kind);
	store_bind_int(s, 3, dated ? event->at.ms : received.ms);
	store_bind_int(s, 4, event->value);
	store_bind_int(s, 5, event->before);
	return store_run(store, s, err);
}

int store_event(struct store *store, int64_t agent, const struct event *event, struct wall received, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_put(store, &received, err);
	return rc < 0 ? rc : store_note(store, put(store, agent, event, received, &failure), &failure, err);
}

static int unlose(struct store *store, int64_t agent, struct wall since, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_EVENT_FOUND, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	store_bind_int(s, 2, HAPPENED_AGENT_LOST);
	store_bind_int(s, 3, since.ms);
	return store_run(store, s, err);
}

int store_event_found(struct store *store, int64_t agent, struct wall since, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, unlose(store, agent, since, &failure), &failure, err);
}

/* --- reading ------------------------------------------------------------------------------------------- */

int store_event_last(struct store *store, int64_t agent, enum event_kind kind, struct event *ret_event, bool *ret_found,
		     struct err *err)
{
	bool row = false;
	auto_reset sqlite3_stmt *s = store_statement(store, ST_EVENT_LAST, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	store_bind_int(s, 2, kind);
	int rc = store_step(store, s, &row, err);
	if (rc < 0)
		return rc;
	if (row)
		*ret_event = (struct event){
			kind, { sqlite3_column_int64(s, 0) }, sqlite3_column_int64(s, 1), sqlite3_column_int64(s, 2)
		};
	*ret_found = row;
	return 0;
}

int store_each_event(struct store *store, int64_t agent, struct wall from, struct wall to, store_event_fn *fn,
		     void *context, struct err *err)
{
	/* No checkpoint that is worth a mark takes longer than a day. */
	auto_statement sqlite3_stmt *s = store_query(
		store,
		"SELECT kind, 0 AS ends, at_ms AS at, value, before FROM event WHERE agent = ?1 AND kind <> ?5"
		" AND at_ms >= ?2 AND at_ms < ?3"
		" UNION ALL SELECT kind, 1, at_ms + value, value, before FROM event WHERE agent = ?1"
		" AND kind = ?4 AND at_ms >= ?2 - 86400000 AND at_ms < ?3 AND value > 0"
		" AND at_ms + value >= ?2 AND at_ms + value < ?3 ORDER BY at, ends DESC, kind",
		err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	store_bind_int(s, 2, from.ms);
	store_bind_int(s, 3, to.ms);
	store_bind_int(s, 4, HAPPENED_CHECKPOINT);
	store_bind_int(s, 5, HAPPENED_JVM_SEEN);
	for (;;) {
		bool more = false;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		int64_t kind = sqlite3_column_int64(s, 0);
		if (kind < 0 || kind >= HAPPENED_COUNT) /* of a file that is damaged */
			continue;
		const struct event_mark mark = { .kind = (enum event_kind)kind,
						 .is_end = sqlite3_column_int64(s, 1) != 0,
						 .at.ms = sqlite3_column_int64(s, 2),
						 .value = sqlite3_column_int64(s, 3),
						 .before = sqlite3_column_int64(s, 4) };
		if (!fn(context, &mark))
			return 0;
	}
}

/* --- retention ----------------------------------------------------------------------------------------- */

int store_events_expire(struct store *store, struct wall raw, struct wall minutes, int64_t most, int64_t *ret_n,
			struct err *err)
{
	for (int kind = 0; kind < HAPPENED_COUNT; kind++) {
		sqlite3_stmt *s = store_statement(store, ST_EVENTS_EXPIRE, err);
		if (!s)
			return -EIO;
		store_bind_int(s, 1, kind);
		store_bind_int(s, 2, kind == HAPPENED_CHECKPOINT ? raw.ms : minutes.ms);
		store_bind_int(s, 3, most);
		int rc = store_run(store, s, err);
		if (rc < 0)
			return rc;
		*ret_n += sqlite3_changes(store->db);
	}
	return 0;
}
