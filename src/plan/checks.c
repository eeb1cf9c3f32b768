/* SPDX-License-Identifier: Apache-2.0 */
/* Which rules of a report can be judged before anything runs, what RocksDB gets, and the order of it all. */
#include "plan/checks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sat.h"
#include "base/units.h"
#include "rules/rank.h"
#include "rules/rules.h"
#include "rules/text.h"

/* They need a limit, a budget and settings, and nothing that must be measured. */
static const char *const judged_rules[] = {
	"limit-below-process-size", "demand-over-limit", "write-buffer-thrash", "managed-idle", "known-leak",
};

struct finding *checks_new(struct verdict *verdict, const char *check, enum severity severity)
{
	/* The rules keep their places. */
	if (verdict->n_findings + sizeof judged_rules / sizeof judged_rules[0] >= FINDINGS_MAX)
		return NULL;
	struct finding *finding = &verdict->findings[verdict->n_findings++];
	*finding = (struct finding){ .rule = check, .severity = severity, .owner = -1 };
	return finding;
}

/*
 * Flink's documentation (large_state_tuning): about 140 MB for each state of each slot, where nothing bounds RocksDB and its
 * options are the defaults; else the write buffers and the cache of each column family, which is what it consists of.
 */
enum { UNMANAGED_STATE_BYTES = 140000000, MIB = 1 << 20 };

static uint64_t unmanaged_state(const struct declared *declared, const char *prefix)
{
	char buffer_key[80], count_key[80], cache_key[80];
	uint64_t buffer, cache;
	int32_t count;
	(void)snprintf(buffer_key, sizeof buffer_key, "%s.writebuffer.size", prefix);
	(void)snprintf(count_key, sizeof count_key, "%s.writebuffer.count", prefix);
	(void)snprintf(cache_key, sizeof cache_key, "%s.block.cache-size", prefix);
	if (!declared_has(declared, buffer_key) && !declared_has(declared, count_key) &&
	    !declared_has(declared, cache_key))
		return UNMANAGED_STATE_BYTES;
	if (declared_size(declared, buffer_key, 64ull * MIB, &buffer, NULL) < 0 ||
	    declared_size(declared, cache_key, 8ull * MIB, &cache, NULL) < 0 ||
	    declared_int(declared, count_key, 2, &count, NULL) < 0 || count < 1)
		return UNMANAGED_STATE_BYTES;
	return sat_add(sat_mul(buffer, (uint64_t)count), sat_add(cache, buffer / 8));
}

void checks_rocksdb(const struct flinkplan_ask *ask, struct flinkplan *plan)
{
	struct engine_state *engine = &plan->snapshot->engine;
	bool forst = engine->backend == BACKEND_FORST;
	uint64_t slots = engine->flink.n_slots.n, buffer = qty_or(engine->write_buffer_bytes, 64ull * MIB);
	rocksdb_budget(engine, &plan->rocksdb);
	/* Of frocksdb 8 and ForSt a first block is 1 MiB at most; 6.20, in Flink 1.20, takes an eighth of the buffer. */
	uint64_t arena = (buffer / 8 + 4095) / 4096 * 4096;
	if ((forst || engine->version[0] != '1') && arena > MIB)
		arena = MIB;
	plan->arena_bytes = qty_of(arena, QTY_DERIVED);
	plan->ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE] = true;
	plan->ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].owner = OWNER_ROCKSDB_BLOCK_CACHE;
	engine->rocksdb.sharing = plan->rocksdb.sharing;
	engine->rocksdb.memtables_in_cache = plan->rocksdb.sharing != ROCKSDB_PER_STORE;
	engine->rocksdb.n_caches = plan->rocksdb.n_caches;
	engine->rocksdb.n_caches_certain = true;
	if (ask->n_states.known)
		engine->rocksdb.n_stores = count_of(sat_mul(ask->n_states.n, slots));
	if (plan->rocksdb.within_managed)
		return;
	plan->rocksdb_outside_bytes = plan->rocksdb.total_grant_bytes;
	if (plan->rocksdb.sharing != ROCKSDB_PER_STORE || !ask->n_states.known)
		return;
	plan->states_guessed = true;
	uint64_t each = unmanaged_state(ask->declared, forst ? "state.backend.forst" : "state.backend.rocksdb");
	plan->rocksdb_outside_bytes = qty_of(sat_mul(each, sat_mul(ask->n_states.n, slots)), QTY_INFERRED);
}

static void judge(const struct flinkplan_ask *ask, struct flinkplan *plan)
{
	const struct rule_input input = { .snapshot = plan->snapshot,
					  .ledger = plan->ledger,
					  .thresholds = ask->thresholds };
	for (size_t i = 0; i < sizeof judged_rules / sizeof judged_rules[0]; i++) {
		const struct rule *rule = rules_find(str_of(judged_rules[i]));
		struct finding *finding = &plan->verdict->findings[plan->verdict->n_findings];
		*finding = (struct finding){ .rule = rule->name, .owner = -1 };
		if (rule->eval(&input, finding) == RULE_FIRED)
			plan->verdict->n_findings++;
	}
	rank_run(&input, plan->verdict);
}

static void headline(const struct flinkplan_ask *ask, struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	const struct verdict *verdict = plan->verdict;
	const struct ledger *ledger = plan->ledger;
	uint64_t expected = ledger->expected.bytes.bytes, limit = ledger->limit.bytes;
	const char *whose = plan->limit_told ? "the limit of" : "the limit that native Kubernetes sets,";
	(void)ask;
	if (verdict->worst >= SEVERITY_WARNING && expected <= limit)
		(void)snprintf(plan->verdict->headline, sizeof plan->verdict->headline,
			       "It fits, with %s to spare, but %s%s", units_format(c, limit - expected),
			       verdict->findings[0].title,
			       str_ends(str_of(verdict->findings[0].title), STR("?")) ? "" : ".");
	else if (expected > limit)
		(void)snprintf(plan->verdict->headline, sizeof plan->verdict->headline,
			       "It does not fit: it can grow to %s, %s more than %s %s.", units_format(a, expected),
			       units_format(c, expected - limit), whose, units_format(b, limit));
	else
		(void)snprintf(plan->verdict->headline, sizeof plan->verdict->headline,
			       "It fits: it can grow to %s of %s %s.", units_format(a, expected), whose,
			       units_format(b, limit));
}

void checks_run(const struct flinkplan_ask *ask, struct flinkplan *plan)
{
	checks_keys(ask, plan->verdict);
	checks_sizes(ask, plan);
	judge(ask, plan);
	headline(ask, plan);
}
