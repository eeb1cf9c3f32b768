/* SPDX-License-Identifier: Apache-2.0 */
/* Post-mortems, in parts from agents and whole from the collector; and the reviews of tokens. */
#include <errno.h>
#include <stdio.h>

#include "collector/store_db.h"

enum { NO_PID = -1 };

static int drop_death(struct store *store, int64_t row, struct err *err)
{
	sqlite3_stmt *parts = store_statement(store, ST_PARTS_DELETE, err);
	if (!parts)
		return -EIO;
	store_bind_int(parts, 1, row);
	int rc = store_run(store, parts, err);
	sqlite3_stmt *death = rc == 0 ? store_statement(store, ST_DEATH_DELETE, err) : NULL;
	if (!death)
		return rc < 0 ? rc : -EIO;
	store_bind_int(death, 1, row);
	rc = store_run(store, death, err);
	store->tally.postmortems -= rc == 0;
	return rc;
}

/*
 * The row of a post-mortem of the same death that is (not) inferred; 0: none. A pid comes again in every life of a
 * container (it is often 1), so the time must fit as well: an inferred one dies at the last sample that was seen. Pid 0
 * fits any, NO_PID only those of which it is not known.
 */
static int find_same(struct store *store, int64_t agent, int pid, struct wall died, bool inferred, int64_t *ret_row,
		     struct err *err)
{
	bool row;
	auto_reset sqlite3_stmt *same = store_statement(store, ST_DEATH_SAME, err);
	if (!same)
		return -EIO;
	store_bind_int(same, 1, agent);
	store_bind_int(same, 2, pid);
	store_bind_int(same, 3, inferred);
	store_bind_int(same, 4, died.ms - STORE_SAME_DEATH_MS);
	store_bind_int(same, 5, died.ms + STORE_SAME_DEATH_MS);
	int rc = store_step(store, same, &row, err);
	if (rc == 0)
		*ret_row = row ? sqlite3_column_int64(same, 0) : 0;
	return rc;
}

static int find_id(struct store *store, int64_t agent, const char *id, int64_t *ret_row, bool *ret_inferred,
		   struct err *err)
{
	bool row;
	auto_reset sqlite3_stmt *find = store_statement(store, ST_DEATH_FIND, err);
	if (!find)
		return -EIO;
	store_bind_int(find, 1, agent);
	store_bind_text(find, 2, str_of(id));
	int rc = store_step(store, find, &row, err);
	if (rc < 0)
		return rc;
	*ret_row = row ? sqlite3_column_int64(find, 0) : 0;
	*ret_inferred = row && sqlite3_column_int64(find, 1) != 0;
	return 0;
}

static int add_death(struct store *store, enum store_statement which, int64_t agent,
		     const struct wire_postmortem *death, struct wall received, bool inferred, struct err *err)
{
	sqlite3_stmt *add = store_statement(store, which, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, agent);
	store_bind_text(add, 2, str_of(death->id));
	store_bind_int(add, 3, death->cause);
	store_bind_int(add, 4, death->owner);
	store_bind_int(add, 5, death->pid);
	store_bind_int(add, 6, store_when(death->died, received).ms);
	store_bind_int(add, 7, received.ms);
	store_bind_text(add, 8, str_of(death->title));
	store_bind_int(add, 9, death->parts ? death->parts : 1);
	if (which == ST_DEATH_ADD)
		store_bind_int(add, 10, inferred);
	int rc = store_run(store, add, err);
	store->tally.postmortems += rc == 0 && which == ST_DEATH_ADD;
	return rc;
}

static int add_part(struct store *store, int64_t row, unsigned part, struct str text, struct err *err)
{
	sqlite3_stmt *add = store_statement(store, ST_PART_ADD, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, row);
	store_bind_int(add, 2, part);
	store_bind_text(add, 3, text);
	return store_run(store, add, err);
}

/* One part of an agent's own: what the collector had inferred of this death goes. */
static int put_part(struct store *store, int64_t agent, const struct wire_postmortem *part, struct str text,
		    struct wall received, struct err *err)
{
	int64_t row = 0, guess = 0;
	bool inferred = false;
	int rc = find_id(store, agent, part->id, &row, &inferred, err);
	if (rc == 0 && row && inferred) {
		guess = row;
		row = 0;
	} else if (rc == 0 && !row && part->part == 0) {
		rc = find_same(store, agent, part->pid, store_when(part->died, received), true, &guess, err);
	}
	if (rc == 0 && guess)
		rc = drop_death(store, guess, err);
	if (rc == 0 && (!row || part->part == 0)) /* part 0 has what lists show, whichever part came first */
		rc = add_death(store, row ? ST_DEATH_FILL : ST_DEATH_ADD, agent, part, received, false, err);
	if (rc == 0 && !row)
		row = sqlite3_last_insert_rowid(store->db);
	return rc < 0 ? rc : add_part(store, row, part->part, text, err);
}

int store_postmortem(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_postmortem *part,
		     struct str text, struct wall received, struct err *err)
{
	struct err failure = { 0 };
	bool fresh = false;
	int rc = store_number_begin(store, epoch, part->head.seq, &received, &fresh, err);
	if (rc < 0 || !fresh)
		return rc;
	rc = store_take_up(store, epoch, &failure);
	if (rc == 0)
		rc = put_part(store, agent, part, text, received, &failure);
	return store_number_end(store, epoch, part->head.seq, received, rc, &failure, err);
}

static int put_own(struct store *store, int64_t agent, const struct wire_postmortem *whole, struct str text,
		   struct wall received, struct err *err)
{
	const struct wall died = store_when(whole->died, received);
	int64_t row = 0;
	bool inferred;
	int rc = find_id(store, agent, whole->id, &row, &inferred, err);
	if (rc == 0 && !row)
		rc = find_same(store, agent, whole->pid, died, false, &row, err);
	if (rc == 0 && !row)
		rc = find_same(store, agent, whole->pid ? NO_PID : 0, died, true, &row, err);
	if (rc < 0 || row)
		return rc;
	struct wire_postmortem one = *whole;
	one.parts = 1;
	rc = add_death(store, ST_DEATH_ADD, agent, &one, received, true, err);
	return rc < 0 ? rc : add_part(store, sqlite3_last_insert_rowid(store->db), 0, text, err);
}

int store_own_postmortem(struct store *store, int64_t agent, const struct wire_postmortem *whole, struct str text,
			 struct wall received, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_put(store, &received, err);
	if (rc < 0)
		return rc;
	return store_note(store, put_own(store, agent, whole, text, received, &failure), &failure, err);
}

static int put_told(struct store *store, int64_t agent, const char *id, enum death_cause cause, struct wall died,
		    struct str text, struct err *err)
{
	int64_t row = 0;
	bool inferred;
	int rc = find_id(store, agent, id, &row, &inferred, err);
	if (rc == 0 && !row)
		rc = err_set(err, ERR_GONE, "store: no post-mortem of this id");
	sqlite3_stmt *change = rc == 0 ? store_statement(store, ST_DEATH_CAUSE, err) : NULL;
	if (!change)
		return rc < 0 ? rc : -EIO;
	store_bind_int(change, 1, row);
	store_bind_int(change, 2, cause);
	store_bind_int(change, 3, died.ms);
	rc = store_run(store, change, err);
	return rc < 0 ? rc : add_part(store, row, STORE_PART_TOLD, text, err);
}

int store_postmortem_told(struct store *store, int64_t agent, const char *id, enum death_cause cause, struct wall died,
			  struct str text, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, put_told(store, agent, id, cause, died, text, &failure), &failure, err);
}

/* --- tokens: outside a batch each is a commit of its own, inside it goes with it ------------------- */

int store_token_put(struct store *store, const uint8_t sha256[32], const char *agent_id, struct wall expires,
		    struct err *err)
{
	sqlite3_stmt *add = store_statement(store, ST_TOKEN_ADD, err);
	if (!add)
		return -EIO;
	store_bind_blob(add, 1, (struct str){ (const char *)sha256, 32 });
	store_bind_text(add, 2, str_of(agent_id));
	store_bind_int(add, 3, expires.ms);
	return store_run(store, add, err);
}

int store_token_get(struct store *store, const uint8_t sha256[32], struct wall now, char *ret_agent_id, size_t cap,
		    struct err *err)
{
	bool row;
	auto_reset sqlite3_stmt *find = store_statement(store, ST_TOKEN_FIND, err);
	if (!find)
		return -EIO;
	store_bind_blob(find, 1, (struct str){ (const char *)sha256, 32 });
	store_bind_int(find, 2, now.ms);
	int rc = store_step(store, find, &row, err);
	if (rc < 0)
		return rc;
	if (!row)
		return err_set(err, ERR_GONE, "store: no such token was reviewed, or it has expired");
	store_column_text(find, 0, ret_agent_id, cap);
	return 0;
}

int store_token_forget(struct store *store, const uint8_t sha256[32], struct err *err)
{
	sqlite3_stmt *forget = store_statement(store, ST_TOKEN_FORGET, err);
	if (!forget)
		return -EIO;
	store_bind_blob(forget, 1, (struct str){ (const char *)sha256, 32 });
	return store_run(store, forget, err);
}
