/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a declared configuration of Flink comes to: the sizes Flink will derive, the JVM flags, what RocksDB is given, what
 * the process can grow to by owner, and whether that fits the limit. PURE but for memory.
 *
 * The planned command line goes through the readers that a report uses (engine/build.h), the budgets through the ledger,
 * and the rules that can be judged before anything runs are those of a report.
 */
#ifndef PLAN_FLINKPLAN_H
#define PLAN_FLINKPLAN_H

#include "bankfull/finding.h"
#include "engine/rocksdb.h"
#include "plan/derive.h"

struct flinkplan_ask {
	const struct declared *declared;
	struct str file_text;  /* the file as it was read; may be empty */
	const char *file_name; /* "config.yaml": its base name; NULL: no file */
	enum derive_role role;
	struct limit limit;     /* LIMIT_UNREAD: that of native Kubernetes */
	const char *limit_said; /* "4G", as it was written */
	struct count n_states;  /* keyed states of all tasks in a slot, timers included */
	const struct thresholds *thresholds;
};

struct flinkplan {
	struct derived derived;
	struct snapshot *snapshot; /* as far as it is planned */
	struct ledger *ledger;     /* its limit, budgets and demand */
	struct verdict *verdict;
	struct rocksdb_budget rocksdb;    /* known where the backend is RocksDB or ForSt */
	struct qty rocksdb_outside_bytes; /* of RocksDB, that managed memory does not pay for */
	struct qty arena_bytes;           /* the first block of one write buffer */
	bool states_guessed;              /* RocksDB is bounded by nothing: by the rule of thumb */
	bool managed_used;                /* RocksDB, batch or Python takes it, or nothing says that nobody does */
	uint64_t kubernetes_bytes;        /* the limit that native Kubernetes sets */
	double limit_factor;
	bool limit_told;
};

/* USAGE: Flink refuses the configuration, and why. `ret_plan` is the caller's: flinkplan_done(). */
int flinkplan_run(const struct flinkplan_ask *ask, struct flinkplan *ret_plan, struct err *err)
	__attribute__((warn_unused_result));
void flinkplan_done(struct flinkplan *plan);
#define auto_flinkplan auto_(flinkplan_done)

/* The JVM flags as Flink's scripts pass them: "-Xmx... -Xms... -XX:MaxDirectMemorySize=... -XX:MaxMetaspaceSize=...". */
bool flinkplan_flags(const struct derived *derived, struct buf *out);

/* The memory options that Flink passes to the process: `key=<n>b`, one call each. */
struct flinkplan_option {
	const char *key;
	struct qty bytes;
};
enum { FLINKPLAN_OPTIONS_MAX = 10 };
size_t flinkplan_options(const struct derived *derived, struct flinkplan_option ret_options[FLINKPLAN_OPTIONS_MAX]);

#endif
