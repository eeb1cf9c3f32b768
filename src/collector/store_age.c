/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that retention goes by. A clock that is set a year ahead by mistake must not delete a year: this time runs
 * STORE_AGE_PACE times as fast as the monotonic clock at most, so an hour of a wrong clock costs a day of what is kept
 * longest, and a collector that was away for a month has caught up in little more than a day. It stands in the database,
 * or a collector that is started again and again would begin each time with what the wrong clock says.
 */
#include <errno.h>

#include "base/sat.h"
#include "collector/store_db.h"

enum { AGE_WRITE_MS = 60000, BEHIND_MS = 3600000 };

int64_t store_age(struct store *store, struct mono now, struct wall wall)
{
	/* Whole milliseconds that have passed; the first call of a program knows of none. */
	uint64_t passed_ms =
		store->age_looked.ns && now.ns > store->age_looked.ns ? (now.ns - store->age_looked.ns) / 1000000 : 0;
	uint64_t most_ms = sat_mul(passed_ms, STORE_AGE_PACE);
	store->age_looked = now;
	store->age_known = true;
	if (store->age.ms == 0)
		store->age = wall; /* a new store: there is nothing to lose */
	if (wall.ms <= store->age.ms)
		return wall.ms - store->age.ms; /* a clock that went back: it has been as late as that */
	uint64_t ahead_ms = (uint64_t)wall.ms - (uint64_t)store->age.ms;
	store->age.ms += (int64_t)(ahead_ms < most_ms ? ahead_ms : most_ms);
	return wall.ms - store->age.ms;
}

struct wall store_aged(const struct store *store, struct wall now)
{
	return store->age_known && store->age.ms < now.ms ? store->age : now;
}

struct wall store_dated(const struct store *store, struct wall received)
{
	return store->age.ms - received.ms > BEHIND_MS && store->age.ms ? store->age : received;
}

int store_age_read(struct store *store, struct err *err)
{
	bool row = false;
	auto_reset sqlite3_stmt *s = store_statement(store, ST_AGE_READ, err);
	int rc = s ? store_step(store, s, &row, err) : -EIO;
	if (rc < 0)
		return rc;
	if (!row)
		return store_fail(store->db, SQLITE_CORRUPT, store->path, "store: age", err);
	store->age.ms = store->age_written.ms = sqlite3_column_int64(s, 0);
	return 0;
}

int store_age_write(struct store *store, struct err *err)
{
	if (store->age.ms - store->age_written.ms < AGE_WRITE_MS)
		return 0;
	sqlite3_stmt *s = store_statement(store, ST_AGE_WRITE, err);
	if (!s)
		return -EIO;
	store_bind_int(s, 1, store->age.ms);
	int rc = store_run(store, s, err);
	if (rc == 0)
		store->age_written = store->age; /* a commit that fails costs a minute of it, no more */
	return rc;
}
