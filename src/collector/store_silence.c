/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/store_silence.h"

#include <errno.h>

#include "collector/store_db.h"

static int put(struct store *store, const struct store_silence_row *row, int64_t *ret_row, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_SILENCE_ADD, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, row->kind);
	store_bind_text(s, 2, row->matchers);
	store_bind_text(s, 3, row->reason);
	store_bind_text(s, 4, row->author);
	store_bind_int(s, 5, row->created.ms);
	store_bind_int(s, 6, row->until.ms);
	int rc = store_run(store, s, err);
	if (rc == 0)
		*ret_row = sqlite3_last_insert_rowid(store->db);
	return rc;
}

int store_silence_add(struct store *store, const struct store_silence_row *row, int64_t *ret_row, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, put(store, row, ret_row, &failure), &failure, err);
}

static int end(struct store *store, int64_t row, struct wall ended, const char *ended_by, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_SILENCE_END, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, row);
	store_bind_int(s, 2, ended.ms);
	store_bind_text(s, 3, str_of(ended_by));
	return store_run(store, s, err);
}

int store_silence_end(struct store *store, int64_t row, struct wall ended, const char *ended_by, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, end(store, row, ended, ended_by, &failure), &failure, err);
}

int store_each_silence(struct store *store, enum store_silences_of which, struct wall now, int64_t below_row,
		       size_t most, store_silence_fn *fn, void *context, struct err *err)
{
	static const char *const texts[] = {
#define COLUMNS "SELECT silence, kind, matchers, reason, author, created_ms, until_ms, ended_ms, ended_by FROM silence"
		[STORE_SILENCES_ALL] = COLUMNS " WHERE (?1 = 0 OR silence < ?1) ORDER BY silence DESC LIMIT ?2",
		[STORE_SILENCES_ACTIVE] = COLUMNS
		" WHERE ended_ms = 0 AND until_ms > ?3 AND (?1 = 0 OR silence < ?1) ORDER BY silence DESC LIMIT ?2",
		[STORE_SILENCES_ENDED] = COLUMNS
		" WHERE (ended_ms > 0 OR until_ms <= ?3) AND (?1 = 0 OR silence < ?1) ORDER BY silence DESC LIMIT ?2",
#undef COLUMNS
	};
	auto_statement sqlite3_stmt *s = store_query(store, texts[which], err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, below_row);
	store_bind_int(s, 2, (int64_t)most);
	store_bind_int(s, 3, now.ms); /* a place that the text has not is refused, and so be it */
	for (;;) {
		bool more = false;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		const struct store_silence_row row = {
			.row = sqlite3_column_int64(s, 0),
			.kind = (unsigned)sqlite3_column_int(s, 1),
			.matchers = store_column(s, 2),
			.reason = store_column(s, 3),
			.author = store_column(s, 4),
			.created.ms = sqlite3_column_int64(s, 5),
			.until.ms = sqlite3_column_int64(s, 6),
			.ended.ms = sqlite3_column_int64(s, 7),
			.ended_by = store_column(s, 8),
		};
		if (!fn(context, &row))
			return 0;
	}
}
