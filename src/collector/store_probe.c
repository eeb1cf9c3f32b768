/* SPDX-License-Identifier: Apache-2.0 */
/* Can it be written again? */
#include "collector/store_db.h"

int store_probe(struct store *store, struct err *err)
{
	/* Who asks has waited in vain already: each agent that comes meanwhile would hold the loop for as long again. */
	(void)sqlite3_busy_timeout(store->db, 0);
	int rc = store_begin(store, err);
	/* There and back: a row that does not change is not written (btreeOverwriteContent() in SQLite's btree.c). */
	if (rc == 0)
		rc = store_db_exec(store->db, store->path,
				   "UPDATE tally SET samples = samples + 1; UPDATE tally SET samples = samples - 1",
				   err);
	if (rc == 0)
		rc = store_commit(store, err);
	if (rc < 0) {
		store_rollback(store);
		return rc;
	}
	(void)sqlite3_busy_timeout(store->db, (int)store->options.busy_ms);
	return 0;
}
