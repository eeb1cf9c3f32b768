/* SPDX-License-Identifier: Apache-2.0 */
/* Findings are state: one row each, with the edge that opened it and what was said last. */
#include <errno.h>

#include "collector/store_db.h"

struct wall store_when(struct wall said, struct wall received)
{
	return said.ms ? said : received;
}

/*
 * Whether a frame carries the whole finding: an object under the key "finding". Inside a JSON string its quotes would
 * be escaped, so bytes are enough to tell.
 */
static struct str whole_of(struct str text)
{
	struct str rest = text;
	for (size_t at; (at = str_find(rest, STR("\"finding\""))) < rest.len;) {
		struct str value = rest = str_skip(rest, at + STR("\"finding\"").len);
		value = str_trim(value);
		if (!str_take(&value, STR(":")))
			continue;
		value = str_trim(value);
		if (str_starts(value, STR("{")))
			return text;
	}
	return (struct str){ "", 0 };
}

static int put_finding(struct store *store, int64_t agent, const struct wire_finding *finding, struct str text,
		       struct wall received, struct err *err)
{
	bool row;
	auto_reset sqlite3_stmt *find = store_statement(store, ST_FINDING_FIND, err);
	if (!find)
		return -EIO;
	store_bind_int(find, 1, agent);
	store_bind_text(find, 2, str_of(finding->id));
	int rc = store_step(store, find, &row, err);
	if (rc < 0)
		return rc;
	sqlite3_stmt *put = store_statement(store, row ? ST_FINDING_UPDATE : ST_FINDING_ADD, err);
	if (!put)
		return -EIO;
	struct wall updated = store_when(finding->head.wall, received);
	store_bind_int(put, 1, agent);
	store_bind_text(put, 2, str_of(finding->id));
	if (!row) {
		store_bind_text(put, 3, str_of(finding->rule));
		store_bind_int(put, 8, store_when(finding->opened, updated).ms);
	}
	store_bind_int(put, 4, finding->severity);
	store_bind_int(put, 5, finding->edge);
	store_bind_int(put, 6, finding->owner);
	store_bind_text(put, 7, str_of(finding->title));
	store_bind_int(put, 9, updated.ms);
	store_bind_int(put, 10, finding->edge == WIRE_CLEARED ? updated.ms : 0);
	store_bind_int(put, 11, received.ms);
	store_bind_text(put, 12, whole_of(text));
	rc = store_run(store, put, err);
	store->tally.findings += rc == 0 && !row;
	return rc;
}

int store_finding(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_finding *finding,
		  struct str text, struct wall received, struct err *err)
{
	struct err failure = { 0 };
	bool fresh = false;
	int rc = store_number_begin(store, epoch, finding->head.seq, &received, &fresh, err);
	if (rc < 0 || !fresh)
		return rc;
	rc = store_take_up(store, epoch, &failure);
	if (rc == 0)
		rc = put_finding(store, agent, finding, text, received, &failure);
	return store_number_end(store, epoch, finding->head.seq, received, rc, &failure, err);
}

int store_own_finding(struct store *store, int64_t agent, const struct wire_finding *finding, struct str text,
		      struct wall received, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_put(store, &received, err);
	if (rc < 0)
		return rc;
	return store_note(store, put_finding(store, agent, finding, text, received, &failure), &failure, err);
}
