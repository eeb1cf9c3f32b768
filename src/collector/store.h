/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector remembers: one SQLite file, WAL, synchronous=FULL. Everything that knows SQLite stands behind this
 * header (src/collector/store*.c).
 *
 * Writing is grouped: store_begin(), many puts, store_commit(), which costs one fsync; only then may anything be acked.
 * A put that fails for want of room or for a broken disk fails its whole batch: store_rollback() (or store_commit(),
 * which then says the first error), nothing of it was stored, the agents still hold it. Each put is idempotent: unique by (agent, epoch, seq).
 *
 * Errors: LIMIT no room on disk or past the disk cap; IO the disk; MALFORMED the database is corrupt; UNSUPPORTED it
 * is of a newer version; TIMEOUT somebody else holds it locked; DENIED read-only.
 */
#ifndef COLLECTOR_STORE_H
#define COLLECTOR_STORE_H

#include "bankfull/wire.h"
#include "base/buf.h"
#include "base/err.h"

struct store;

struct store_options {
	uint64_t raw_s, rollup_s, findings_s; /* retention; 0: 48 h, 30 d, 365 d */
	uint64_t disk_cap_bytes;              /* 0: none */
	unsigned busy_ms;                     /* wait for a lock; 0: 2000 */
};

/* The directory must exist; the file is `bankfull.db` in it, created 0600, migrated where it is older. */
int store_open(const char *directory, const struct store_options *options, struct store **ret_store, struct err *err)
	__attribute__((warn_unused_result));
void store_close(struct store *store); /* checkpoints the WAL; NULL is fine */

int store_begin(struct store *store, struct err *err) __attribute__((warn_unused_result));
int store_commit(struct store *store, struct err *err) __attribute__((warn_unused_result));
void store_rollback(struct store *store);
/* After a failure, with no batch open: writes and commits something. While it fails, nobody waits for a lock. */
int store_probe(struct store *store, struct err *err) __attribute__((warn_unused_result));

/* --- what ingest writes, inside a batch ------------------------------------------------------- */

/* The row of an agent id, made or refreshed with its present subject. */
int store_agent(struct store *store, const char *agent_id, const struct wire_hello *hello, struct wall received,
		int64_t *ret_agent, struct err *err) __attribute__((warn_unused_result));

/* What its subject says is not only asserted any more. */
int store_agent_confirmed(struct store *store, int64_t agent, struct err *err) __attribute__((warn_unused_result));

struct store_epoch {
	int64_t row;
	struct wire_epoch epoch;
	uint64_t acked; /* all up to it are stored or declared; 0: none */
	bool finished;  /* nothing of it can still come: a later hello of the agent did not name it */
	bool is_new;    /* made just now */
};

/* An epoch of an agent, made where it is new. */
int store_epoch(struct store *store, int64_t agent, struct wire_epoch epoch, struct wall received,
		struct store_epoch *ret_epoch, struct err *err) __attribute__((warn_unused_result));
/*
 * Epochs of the agent that are not finished and not among `held` (its hello): what they had beyond `acked` is lost. Each
 * gets an open-ended gap with reason "lost-with-agent" where it did not end with a bye, and is finished.
 */
int store_epochs_lost(struct store *store, int64_t agent, const struct wire_held *held, size_t n, struct wall received,
		      struct err *err) __attribute__((warn_unused_result));

/*
 * Each moves the epoch's `acked` to its seq (a gap: to its `to`); what is not past `acked` is here already and does
 * nothing. The caller has checked the order, and has corrected each `wall` by the session's offset. After a batch that
 * failed, epochs are read again with store_epoch(): their `acked` ran ahead. A finished epoch that speaks again is open again.
 */
int store_sample(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_sample *sample,
		 struct wall received, struct err *err) __attribute__((warn_unused_result));
/* `text`: the whole frame, for who wants to read all of it. */
int store_finding(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_finding *finding,
		  struct str text, struct wall received, struct err *err) __attribute__((warn_unused_result));
int store_postmortem(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_postmortem *part,
		     struct str text, struct wall received, struct err *err) __attribute__((warn_unused_result));
int store_gap(struct store *store, int64_t agent, struct store_epoch *epoch, const struct wire_gap *gap,
	      struct wall received, struct err *err) __attribute__((warn_unused_result));
int store_bye(struct store *store, int64_t agent, struct store_epoch *epoch, struct wall received, struct err *err)
	__attribute__((warn_unused_result));

/* What the collector itself finds: no epoch, no seq. The same id again is an update. agent 0: about the collector. */
int store_own_finding(struct store *store, int64_t agent, const struct wire_finding *finding, struct str text,
		      struct wall received, struct err *err) __attribute__((warn_unused_result));
/*
 * A post-mortem that the collector wrote: `inferred`. Dropped where the agent's own of this death is there or comes: of
 * the same id, or of the same pid (0: not known, any) and died within STORE_SAME_DEATH_MS. Of two that are inferred of the same time the first
 * stays, where one of them knows no pid.
 */
enum { STORE_SAME_DEATH_MS = 120000 };
int store_own_postmortem(struct store *store, int64_t agent, const struct wire_postmortem *whole, struct str text,
			 struct wall received, struct err *err) __attribute__((warn_unused_result));

/*
 * What Kubernetes tells of a post-mortem that is here, as a part past all others: `text` is a frame's, {"body": {...}}. Its
 * cause becomes this one, and the time of an inferred one this (ms 0: it is not told). Told again, the first text stays. GONE: there
 * is none of this id.
 */
int store_postmortem_told(struct store *store, int64_t agent, const char *id, enum death_cause cause, struct wall died,
			  struct str text, struct err *err) __attribute__((warn_unused_result));

/* --- reviews of tokens, by SHA-256 of the token: STORE_TOKENS_MAX, those that live longest ----------- */

enum { STORE_TOKENS_MAX = 50000 };

int store_token_put(struct store *store, const uint8_t sha256[32], const char *agent_id, struct wall expires,
		    struct err *err) __attribute__((warn_unused_result));
/* GONE: not known, or expired. */
int store_token_get(struct store *store, const uint8_t sha256[32], struct wall now, char *ret_agent_id, size_t cap,
		    struct err *err) __attribute__((warn_unused_result));

/* It does not hold any more; one that is not known is none either. */
int store_token_forget(struct store *store, const uint8_t sha256[32], struct err *err)
	__attribute__((warn_unused_result));

/* --- housekeeping ----------------------------------------------------------------------------- */

/*
 * Before store_keep(): what passes its time is told by a clock that cannot run away from the monotonic one. Without it,
 * by the `now` of store_keep() alone. Returns by how many milliseconds `wall` is ahead of it (negative: behind).
 */
int64_t store_age(struct store *store, struct mono now, struct wall wall);

/* Rolls up and deletes what is due, some thousand rows at most a call; `*ret_more`: call again soon. */
int store_keep(struct store *store, struct wall now, bool *ret_more, struct err *err)
	__attribute__((warn_unused_result));

struct store_counts {
	uint64_t file_bytes, wal_bytes, disk_free_bytes, disk_cap_bytes;
	uint64_t cache_bytes; /* of memory: pages of the database, at most what the cache may hold */
	uint64_t
		used_bytes; /* of pages that hold something, in file or WAL: the rest is used again before the file grows */
	uint64_t n_samples, n_rollups, n_findings, n_postmortems, n_gaps, n_agents;
	uint64_t commits_total, failed_commits_total;
	/* Taken before their time because of the disk cap, since the start: raw samples became minutes, the others went. */
	uint64_t shed_samples_total, shed_rollups_total, shed_others_total;
};
int store_count(struct store *store, struct store_counts *ret_counts, struct err *err)
	__attribute__((warn_unused_result));

/* The database of `directory` to a new file, while a collector may be running. `file` must not exist. */
int store_backup(const char *directory, const char *file, struct err *err) __attribute__((warn_unused_result));
/* A checked backup becomes the database of `directory`, which must hold none. */
int store_restore(const char *file, const char *directory, struct err *err) __attribute__((warn_unused_result));
/* Integrity of the database and of what we expect of it; `report` has a line for each trouble. MALFORMED if any. */
int store_check(const char *directory, struct buf *report, struct err *err) __attribute__((warn_unused_result));

#endif
