/* SPDX-License-Identifier: Apache-2.0 */
/* What agents send: agents, epochs and their numbers, samples, gaps. */
#include <errno.h>

#include "collector/store_db.h"

int store_note(struct store *store, int rc, const struct err *failure, struct err *err)
{
	if (rc < 0) {
		store->failed = true;
		store->failure = *failure;
		if (err)
			*err = *failure;
	}
	return rc;
}

/* --- agents and epochs ------------------------------------------------------------------------- */

static int put_agent(struct store *store, const char *agent_id, const struct wire_hello *hello, struct wall received,
		     int64_t *ret_agent, struct err *err)
{
	auto_buf struct buf subject = { .cap = 64 * 1024 };
	bool row;
	int rc = store_subject_write(hello, &subject, err);
	if (rc < 0)
		return rc;
	auto_reset sqlite3_stmt *find = store_statement(store, ST_AGENT_FIND, err);
	if (!find)
		return -EIO;
	store_bind_text(find, 1, str_of(agent_id));
	rc = store_step(store, find, &row, err);
	if (rc < 0)
		return rc;
	int64_t agent = row ? sqlite3_column_int64(find, 0) : 0;
	sqlite3_stmt *put = store_statement(store, row ? ST_AGENT_UPDATE : ST_AGENT_ADD, err);
	if (!put)
		return -EIO;
	if (row)
		store_bind_int(put, 1, agent);
	else
		store_bind_text(put, 1, str_of(agent_id));
	store_bind_text(put, 2, buf_str(&subject));
	store_bind_int(put, 3, received.ms);
	store_bind_text(put, 4, str_of(hello->subject.workload));
	rc = store_run(store, put, err);
	if (rc < 0)
		return rc;
	store->tally.agents += !row;
	*ret_agent = row ? agent : sqlite3_last_insert_rowid(store->db);
	return 0;
}

int store_agent(struct store *store, const char *agent_id, const struct wire_hello *hello, struct wall received,
		int64_t *ret_agent, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_put(store, &received, err);
	if (rc < 0)
		return rc;
	return store_note(store, put_agent(store, agent_id, hello, received, ret_agent, &failure), &failure, err);
}

static int put_confirmed(struct store *store, int64_t agent, struct err *err)
{
	sqlite3_stmt *s = store_statement(store, ST_AGENT_CONFIRM, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, agent);
	return store_run(store, s, err);
}

int store_agent_confirmed(struct store *store, int64_t agent, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_write(store, err);
	return rc < 0 ? rc : store_note(store, put_confirmed(store, agent, &failure), &failure, err);
}

static struct str epoch_bytes(const struct wire_epoch *epoch)
{
	return (struct str){ (const char *)epoch->bytes, sizeof epoch->bytes };
}

static int find_epoch(struct store *store, int64_t agent, const struct wire_epoch *epoch, struct wall received,
		      struct store_epoch *ret_epoch, struct err *err)
{
	bool row;
	auto_reset sqlite3_stmt *find = store_statement(store, ST_EPOCH_FIND, err);
	if (!find)
		return -EIO;
	store_bind_int(find, 1, agent);
	store_bind_blob(find, 2, epoch_bytes(epoch));
	int rc = store_step(store, find, &row, err);
	if (rc < 0)
		return rc;
	if (row) {
		*ret_epoch = (struct store_epoch){ .row = sqlite3_column_int64(find, 0),
						   .epoch = *epoch,
						   .acked = (uint64_t)sqlite3_column_int64(find, 1),
						   .finished = sqlite3_column_int64(find, 2) != 0 };
		return 0;
	}
	sqlite3_stmt *add = store_statement(store, ST_EPOCH_ADD, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, agent);
	store_bind_blob(add, 2, epoch_bytes(epoch));
	store_bind_int(add, 3, received.ms);
	rc = store_run(store, add, err);
	if (rc < 0)
		return rc;
	*ret_epoch =
		(struct store_epoch){ .row = sqlite3_last_insert_rowid(store->db), .epoch = *epoch, .is_new = true };
	return 0;
}

int store_epoch(struct store *store, int64_t agent, struct wire_epoch epoch, struct wall received,
		struct store_epoch *ret_epoch, struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_put(store, &received, err);
	if (rc < 0)
		return rc;
	return store_note(store, find_epoch(store, agent, &epoch, received, ret_epoch, &failure), &failure, err);
}

/* --- numbers --------------------------------------------------------------------------------------- */

static int put_gap(struct store *store, int64_t epoch, uint64_t from, uint64_t to, const char *reason,
		   struct wall received, struct err *err)
{
	sqlite3_stmt *add = store_statement(store, ST_GAP_ADD, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, epoch);
	store_bind_int(add, 2, (int64_t)from);
	store_bind_int(add, 3, to > INT64_MAX ? INT64_MAX : (int64_t)to);
	store_bind_text(add, 4, str_of(reason));
	store_bind_int(add, 5, received.ms);
	int rc = store_run(store, add, err);
	store->tally.gaps += rc == 0 && sqlite3_changes(store->db) > 0;
	return rc;
}

/* Two agents of one identity call each other's epochs lost by turns: what then comes of one was not lost. */
int store_take_up(struct store *store, struct store_epoch *epoch, struct err *err)
{
	bool row;
	if (!epoch->finished)
		return 0;
	auto_reset sqlite3_stmt *gap = store_statement(store, ST_GAP_UNEND, err);
	sqlite3_stmt *reopen = store_statement(store, ST_EPOCH_REOPEN, err);
	if (!gap || !reopen)
		return -EIO;
	store_bind_int(gap, 1, epoch->row);
	int rc = store_step(store, gap, &row, err);
	if (rc < 0)
		return rc;
	store->tally.gaps -= row;
	store_bind_int(reopen, 1, epoch->row);
	rc = store_run(store, reopen, err);
	if (rc == 0)
		epoch->finished = false;
	return rc;
}

int store_ack(struct store *store, struct store_epoch *epoch, uint64_t seq, struct wall received, struct err *err)
{
	sqlite3_stmt *ack = store_statement(store, ST_EPOCH_ACK, err);
	if (!ack)
		return -EIO;
	store_bind_int(ack, 1, epoch->row);
	store_bind_int(ack, 2, (int64_t)seq);
	store_bind_int(ack, 3, received.ms);
	int rc = store_run(store, ack, err);
	if (rc == 0)
		epoch->acked = seq;
	return rc;
}

static int mark(struct store *store, const struct store_epoch *epoch, uint64_t seq, struct err *err)
{
	sqlite3_stmt *add = store_statement(store, ST_MARK_ADD, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, epoch->row);
	store_bind_int(add, 2, (int64_t)seq);
	return store_run(store, add, err);
}

/*
 * An ack never passes a hole that nobody declared. No agent counts to the end of SQLite's integers by itself. Both are
 * errors of the message, not of the batch.
 */
int store_check_seq(const struct store_epoch *epoch, uint64_t seq, struct err *err)
{
	if (seq == 0 || seq >= INT64_MAX || seq > epoch->acked + 1)
		return err_set(err, ERR_MALFORMED, "store: seq %llu does not follow %llu", (unsigned long long)seq,
			       (unsigned long long)epoch->acked);
	return 0;
}

int store_may_put(const struct store *store, struct wall *received, struct err *err)
{
	*received = store_dated(store, *received);
	return store_may_write(store, err);
}

int store_number_begin(struct store *store, const struct store_epoch *epoch, uint64_t seq, struct wall *received,
		       bool *ret_fresh, struct err *err)
{
	int rc = store_may_put(store, received, err);
	if (rc == 0)
		rc = store_check_seq(epoch, seq, err);
	if (rc == 0)
		*ret_fresh = seq > epoch->acked;
	return rc;
}

int store_number_end(struct store *store, struct store_epoch *epoch, uint64_t seq, struct wall received, int rc,
		     struct err *failure, struct err *err)
{
	if (rc == 0)
		rc = mark(store, epoch, seq, failure);
	if (rc == 0)
		rc = store_ack(store, epoch, seq, received, failure);
	return store_note(store, rc, failure, err);
}

/* --- samples ----------------------------------------------------------------------------------------- */

static void point_of_sample(const struct wire_sample *sample, struct wall received, struct pack_point *point)
{
	*point = (struct pack_point){ .seq = sample->head.seq };
	struct store_point *p = &point->point;
	p->received = received;
	p->wall = sample->head.wall;
	if (sample->limit.kind == LIMIT_SET) /* the user's word is not the kernel's count */
		p->limit_bytes = qty_of(sample->limit.bytes, sample->limit_told ? QTY_INFERRED : QTY_MEASURED);
	p->no_limit = sample->limit.kind == LIMIT_NONE;
	p->charge_bytes = p->charge_max_bytes = sample->charge_bytes;
	p->floor_bytes = p->floor_max_bytes = sample->floor_bytes;
	p->freeboard_bytes = p->freeboard_min_bytes = sample->freeboard_bytes;
	memcpy(p->groups, sample->groups, sizeof p->groups);
	p->has_composition = sample->has_composition;
	if (sample->has_composition)
		memcpy(p->owners, sample->owners, sizeof p->owners);
	p->n_samples = 1;
}

static int put_sample(struct store *store, struct store_epoch *epoch, const struct wire_sample *sample,
		      struct wall received, struct err *err)
{
	struct pack_point point;
	int rc = store_take_up(store, epoch, err);
	if (rc < 0)
		return rc;
	point_of_sample(sample, received, &point);
	pack_start(&store->pack, PACK_SAMPLES);
	if (!pack_add(&store->pack, &point))
		return err_set(err, ERR_NOMEM, "store: no memory for a sample");
	sqlite3_stmt *add = store_statement(store, ST_SAMPLE_ADD, err);
	if (!add)
		return -EIO;
	store_bind_int(add, 1, epoch->row);
	store_bind_int(add, 2, (int64_t)point.seq);
	store_bind_int(add, 3, received.ms);
	store_bind_blob(add, 4, buf_str(&store->pack.bytes));
	rc = store_run(store, add, err);
	if (rc < 0)
		return rc;
	store->tally.samples += sqlite3_changes(store->db); /* none: another session of the agent was faster */
	return store_ack(store, epoch, point.seq, received, err);
}

int store_sample(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_sample *sample,
		 struct wall received, struct err *err)
{
	struct err failure = { 0 };
	(void)agent; /* its epoch says whose it is */
	bool fresh = false;
	int rc = store_number_begin(store, epoch, sample->head.seq, &received, &fresh, err);
	if (rc < 0 || !fresh)
		return rc;
	return store_note(store, put_sample(store, epoch, sample, received, &failure), &failure, err);
}

/* --- gaps and ends --------------------------------------------------------------------------------- */

static int put_declared(struct store *store, struct store_epoch *epoch, const struct wire_gap *gap,
			struct wall received, struct err *err)
{
	int rc = store_take_up(store, epoch, err);
	/* What is here is no gap, whatever the agent remembers. */
	uint64_t from = gap->from > epoch->acked ? gap->from : epoch->acked + 1;
	if (rc == 0)
		rc = put_gap(store, epoch->row, from, gap->to, gap->reason, received, err);
	if (rc == 0)
		rc = store_ack(store, epoch, gap->to, received, err);
	return rc;
}

int store_gap(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_gap *gap,
	      struct wall received, struct err *err)
{
	struct err failure = { 0 };
	(void)agent;
	int rc = store_may_put(store, &received, err);
	if (rc == 0)
		rc = store_check_seq(epoch, gap->from, err);
	if (rc == 0 && (gap->from > gap->to || gap->to >= INT64_MAX))
		rc = err_set(err, ERR_MALFORMED, "store: a gap from %llu to %llu", (unsigned long long)gap->from,
			     (unsigned long long)gap->to);
	if (rc < 0 || gap->to <= epoch->acked)
		return rc;
	return store_note(store, put_declared(store, epoch, gap, received, &failure), &failure, err);
}

int store_bye(struct store *store, int64_t agent, struct store_epoch *epoch, struct wall received, struct err *err)
{
	struct err failure = { 0 };
	(void)agent;
	int rc = store_may_put(store, &received, err);
	if (rc < 0)
		return rc;
	sqlite3_stmt *bye = store_statement(store, ST_EPOCH_BYE, &failure);
	if (!bye)
		return store_note(store, -EIO, &failure, err);
	store_bind_int(bye, 1, epoch->row);
	store_bind_int(bye, 2, received.ms);
	return store_note(store, store_run(store, bye, &failure), &failure, err);
}

static bool is_held(const void *id, const struct wire_held *held, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(id, held[i].epoch.bytes, sizeof held[i].epoch.bytes) == 0)
			return true;
	return false;
}

static int finish(struct store *store, int64_t epoch, bool lost, uint64_t acked, struct wall received, struct err *err)
{
	int rc = lost ? put_gap(store, epoch, acked + 1, UINT64_MAX, "lost-with-agent", received, err) : 0;
	sqlite3_stmt *end = rc == 0 ? store_statement(store, ST_EPOCH_FINISH, err) : NULL;
	if (!end)
		return rc < 0 ? rc : -EIO;
	store_bind_int(end, 1, epoch);
	return store_run(store, end, err);
}

static int finish_lost(struct store *store, int64_t agent, const struct wire_held *held, size_t n, struct wall received,
		       struct err *err)
{
	for (int64_t at = 0;;) {
		bool row;
		auto_reset sqlite3_stmt *next = store_statement(store, ST_EPOCH_OPEN_ONES, err);
		if (!next)
			return -EIO;
		store_bind_int(next, 1, agent);
		store_bind_int(next, 2, at);
		int rc = store_step(store, next, &row, err);
		if (rc < 0 || !row)
			return rc;
		at = sqlite3_column_int64(next, 0);
		struct str id = store_column(next, 1);
		if (id.len != sizeof held->epoch.bytes || is_held(id.ptr, held, n))
			continue;
		rc = finish(store, at, sqlite3_column_int64(next, 3) == 0, (uint64_t)sqlite3_column_int64(next, 2),
			    received, err);
		if (rc < 0)
			return rc;
	}
}

int store_epochs_lost(struct store *store, int64_t agent, const struct wire_held *held, size_t n, struct wall received,
		      struct err *err)
{
	struct err failure = { 0 };
	int rc = store_may_put(store, &received, err);
	if (rc < 0)
		return rc;
	return store_note(store, finish_lost(store, agent, held, n, received, &failure), &failure, err);
}
