/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/store_audit.h"

#include <errno.h>

#include "collector/store_db.h"

enum { TEXT_CAP = 256 };

static int put(struct store *store, const struct audit_entry *entry, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_AUDIT_ADD, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, entry->at.ms);
	store_bind_text(s, 2, str_of(entry->who));
	store_bind_text(s, 3, str_of(entry->peer));
	store_bind_text(s, 4, str_of(entry->what));
	store_bind_text(s, 5, str_of(entry->namespace_));
	/* SQLite takes a NULL pointer for its NULL, which the column does not. */
	store_bind_text(s, 6, entry->before.ptr ? entry->before : STR(""));
	store_bind_text(s, 7, entry->after.ptr ? entry->after : STR(""));
	return store_run(store, s, err);
}

int store_audit_put(struct store *store, const struct audit_entry *entry, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, put(store, entry, &failure), &failure, err);
}

static int write_alone(struct store *store, const struct audit_entry *entry, struct err *err)
{
	int rc = store_begin(store, err);
	if (rc < 0)
		return rc;
	rc = store_audit_put(store, entry, err);
	if (rc == 0)
		return store_commit(store, err);
	store_rollback(store);
	return rc;
}

int store_audit_once(struct store *store, const struct audit_entry *entry, int64_t within_ms, struct err *err)
{
	bool there = false;
	auto_statement sqlite3_stmt *s =
		store_query(store,
			    "SELECT 1 FROM audit WHERE at_ms > ?1 AND who = ?2 AND peer = ?3 AND what = ?4 LIMIT 1",
			    err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, entry->at.ms - within_ms);
	store_bind_text(s, 2, str_of(entry->who));
	store_bind_text(s, 3, str_of(entry->peer));
	store_bind_text(s, 4, str_of(entry->what));
	int rc = store_next(store, s, &there, err);
	(void)sqlite3_reset(s); /* a row that stays open blocks checkpoints */
	return rc < 0 || there ? rc : write_alone(store, entry, err);
}

int store_each_audit(struct store *store, int64_t below_row, size_t most, store_audit_fn *fn, void *context,
		     struct err *err)
{
	auto_statement sqlite3_stmt *s =
		store_query(store,
			    "SELECT audit, at_ms, who, peer, what, namespace, before, after FROM audit"
			    " WHERE ?1 = 0 OR audit < ?1 ORDER BY audit DESC LIMIT ?2",
			    err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, below_row);
	store_bind_int(s, 2, (int64_t)most);
	for (;;) {
		char who[TEXT_CAP], peer[TEXT_CAP], what[TEXT_CAP], namespace_[TEXT_CAP];
		bool more = false;
		int rc = store_next(store, s, &more, err);
		if (rc < 0 || !more)
			return rc;
		store_column_text(s, 2, who, sizeof who);
		store_column_text(s, 3, peer, sizeof peer);
		store_column_text(s, 4, what, sizeof what);
		store_column_text(s, 5, namespace_, sizeof namespace_);
		const struct audit_entry entry = { .at.ms = sqlite3_column_int64(s, 1),
						   .who = who,
						   .peer = peer,
						   .what = what,
						   .namespace_ = namespace_,
						   .before = store_column(s, 6),
						   .after = store_column(s, 7) };
		if (!fn(context, sqlite3_column_int64(s, 0), &entry))
			return 0;
	}
}
