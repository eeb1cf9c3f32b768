/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 600 */
/*
 * What holds of every verdict, whatever was read: one change to make now, no two that contradict each other, no use of
 * what is unread, levels that hold an open finding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/reconcile.h"
#include "rules/rank.h"
#include "support/chaos.h"
#include "support/snap.h"

enum { SNAPSHOTS = 10000 };

#define CHECK(condition)                                                 \
	do {                                                             \
		if (!(condition))                                        \
			fail_msg("snapshot %d: %s", number, #condition); \
	} while (0)

static int snapshots(void)
{
	const char *n = getenv("SNAPSHOTS");
	return n ? atoi(n) : SNAPSHOTS;
}

static unsigned some(struct prng *prng, unsigned usual)
{
	return prng_one_in(prng, 3) ? 0 : (unsigned)prng_below(prng, usual);
}

static struct count events(struct prng *prng)
{
	return count_of(prng_one_in(prng, 2) ? 0 : prng_below(prng, 5));
}

static struct cgroup_pressure_line pressure(struct prng *prng)
{
	uint32_t bp = prng_one_in(prng, 2) ? 0 : (uint32_t)prng_below(prng, 3000);
	return (struct cgroup_pressure_line){ bp, bp, bp, 1, true };
}

/* A pod as it could be: parts that add up, a limit near what is charged, an engine, a kernel that has something to tell. */
static struct snapshot *plausible(struct prng *prng)
{
	const struct snap_shape shape = {
		.heap = some(prng, 1200),
		.code = some(prng, 100),
		.cds = 10,
		.library = 2,
		.stacks = some(prng, 60),
		.arenas = some(prng, 400),
		.pool = some(prng, 1500),
		.others = some(prng, 300),
		.thp_unmapped = some(prng, 200),
		.shmem = some(prng, 500),
		.mapped = some(prng, 200),
		.cache = some(prng, 2000),
		.kernel_stack = some(prng, 40),
		.pagetables = some(prng, 40),
		.slab_reclaimable = some(prng, 100),
		.slab_unreclaimable = some(prng, 200),
		.percpu = some(prng, 5),
		.kernel_other = some(prng, 50),
		.sock = some(prng, 200),
	};
	struct snapshot *s = snap_new(&shape);
	struct cgroup_memory *cg = &s->cgroup;
	uint64_t charge = qty_or(cg->current_bytes, GIB);
	cg->max = limit_set(charge / 100 * (90 + prng_below(prng, 60)) + MIB);
	if (prng_one_in(prng, 3))
		cg->high = limit_set(charge / 100 * (80 + prng_below(prng, 40)) + MIB);
	cg->events = (struct cgroup_events){ events(prng), events(prng), events(prng),
					     events(prng), events(prng), events(prng) };
	cg->events_local = cg->events;
	cg->pressure = (struct cgroup_pressure){ pressure(prng), pressure(prng) };
	cg->swap_current_bytes = qty_measured((uint64_t)some(prng, 200) * MIB);
	cg->stat.workingset_refault_file = events(prng);
	cg->stat.file_dirty_bytes = qty_measured((uint64_t)some(prng, 400) * MIB);
	cg->stat.file_writeback_bytes = qty_measured(0);
	if (prng_one_in(prng, 2)) {
		snap_flink(s, 500 * MIB, 500 * MIB, 128 * MIB, 256 * MIB, 192 * MIB,
			   (uint64_t)(1000 + prng_below(prng, 1500)) * MIB);
		s->engine.backend = (enum state_backend)prng_below(prng, BACKEND_COUNT);
		s->engine.rocksdb_managed = (enum tristate)prng_below(prng, 3);
		s->engine.rocksdb.n_stores = count_of(prng_below(prng, 60));
	} else if (prng_one_in(prng, 2)) {
		s->engine.kind = ENGINE_KAFKA_STREAMS;
		s->engine.streams.n_instances = count_of(prng_below(prng, 60));
		s->engine.streams.native_bound_bytes = qty_measured(s->engine.streams.n_instances.n * 98 * MIB);
		s->engine.rocksdb.sharing = (enum rocksdb_sharing)prng_below(prng, ROCKSDB_SHARING_COUNT);
	}
	s->flags.max_heap_bytes = qty_measured((uint64_t)(100 + prng_below(prng, 2000)) * MIB);
	s->flags.heap_origin = (enum heap_origin)prng_below(prng, HEAP_ORIGIN_COUNT);
	s->flags.max_metaspace_bytes = qty_measured(256 * MIB);
	s->perf.metaspace_used_bytes = qty_measured((uint64_t)some(prng, 280) * MIB);
	s->perf.heap_used_bytes = qty_measured((uint64_t)some(prng, 1200) * MIB);
	s->perf_read = true;
	s->allocator = (enum allocator)prng_below(prng, ALLOCATOR_COUNT);
	return s;
}

static struct snapshot *any(struct prng *prng, int number)
{
	return number % 2 ? plausible(prng) : chaos_new(prng, number % 4 == 0);
}

static const struct finding *of_rule(const struct verdict *v, const char *rule)
{
	for (size_t i = 0; i < v->n_findings; i++)
		if (strcmp(v->findings[i].rule, rule) == 0)
			return &v->findings[i];
	return NULL;
}

static void texts(const struct finding *f, int number)
{
	if (!f->title[0] || !f->observation[0] || !f->n_causes || (f->change[0] && f->n_validate < 2))
		print_error("%s\n", f->rule);
	CHECK(f->severity > SEVERITY_NONE && f->severity < SEVERITY_COUNT && f->owner < OWNER_COUNT);
	CHECK(f->title[0] && f->observation[0] && f->n_causes);
	CHECK(!f->change[0] || f->n_validate >= 2);
	CHECK(f->change[0] || f->severity <= SEVERITY_NOTICE); /* who pages must say what to do */
	CHECK(strlen(f->title) < sizeof f->title - 1 && strlen(f->observation) < sizeof f->observation - 1);
	CHECK(strlen(f->change) < sizeof f->change - 1);
	CHECK((f->n_turns > 0) == (f->change[0] != '\0'));
	for (size_t j = 0; j < f->n_missing; j++)
		CHECK(strlen(f->missing[j]) < sizeof f->missing[j] - 1);
}

/* A root stands right above what it explains; families go by their gravest; the worst is the worst. */
static void order(const struct verdict *v, int number)
{
	enum severity family = SEVERITY_COUNT, worst = SEVERITY_NONE;
	const char *root = NULL;
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct finding *f = &v->findings[i];
		worst = f->severity > worst ? f->severity : worst;
		if (f->root) {
			CHECK(root && strcmp(f->root, root) == 0);
			continue;
		}
		root = f->rule;
		enum severity gravest = f->severity;
		for (size_t j = i + 1; j < v->n_findings && v->findings[j].root; j++)
			gravest = v->findings[j].severity > gravest ? v->findings[j].severity : gravest;
		CHECK(gravest <= family);
		family = gravest;
	}
	CHECK(v->worst == worst);
}

static void changes(const struct verdict *v, int number)
{
	const struct finding *now = NULL;
	for (size_t i = 0; i < v->n_findings; i++) {
		if (v->findings[i].when != CHANGE_NOW)
			continue;
		CHECK(!now);
		now = &v->findings[i];
	}
	bool any = false;
	for (size_t i = 0; i < v->n_findings; i++)
		any |= !v->findings[i].root && v->findings[i].change[0];
	CHECK((now != NULL) == any);
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct finding *f = &v->findings[i];
		CHECK(!now || f->when != CHANGE_LATER || !rank_contradicts(now, f));
		CHECK(f->when != CHANGE_WITH_ROOT || f->root);
	}
}

static struct trend any_trend(struct prng *prng)
{
	double pace = (double)prng_size(prng, prng_one_in(prng, 8)) / (double)(1 + prng_below(prng, 1000000));
	uint64_t last = prng_size(prng, prng_one_in(prng, 8));
	return (struct trend){ (enum trend_kind)prng_below(prng, TREND_KIND_COUNT),
			       prng_one_in(prng, 8) ? -pace : pace,
			       pace / 2,
			       pace * 2,
			       last / (1 + prng_below(prng, 4)),
			       last,
			       prng_below(prng, 30 * 86400000ull),
			       pace * (double)(1 + prng_below(prng, 3)) / 2,
			       pace * (double)(1 + prng_below(prng, 3)) / 2 };
}

static struct count any_count(struct prng *prng, uint64_t most)
{
	return (struct count){ prng_below(prng, most), prng_one_in(prng, 2) };
}

/* What an agent may know: anything, and all of it at odds with the snapshot. */
static struct history_view any_history(struct prng *prng)
{
	struct history_view h = { .span_ms = prng_below(prng, 30 * 86400000ull), .scans = prng_below(prng, 100000) };
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		h.owners[owner] = any_trend(prng);
	h.floor = any_trend(prng);
	h.metaspace = any_trend(prng);
	h.threads = any_trend(prng);
	h.classes = any_trend(prng);
	uint64_t likely = prng_below(prng, 200 * 3600);
	h.forecast.kind = (enum forecast_kind)prng_below(prng, FORECAST_KIND_COUNT);
	h.forecast.earliest_s = likely / 2;
	h.forecast.likely_s = likely;
	h.forecast.latest_s = prng_one_in(prng, 2) ? FORECAST_NEVER : likely * 2;
	h.forecast.owner = (int)prng_below(prng, OWNER_COUNT + 1) - 1;
	h.forecast.owner_bytes = prng_size(prng, true);
	h.forecast.trend = h.forecast.owner < 0 ? h.floor : h.owners[h.forecast.owner];
	h.spike_bytes = prng_one_in(prng, 2) ? 0 : prng_size(prng, true);
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
		h.steps[kind] = (struct steps){ prng_below(prng, 33), prng_size(prng, false), prng_one_in(prng, 2),
						prng_below(prng, 100) };
		h.steps_share_bp[kind] = (uint32_t)prng_below(prng, 10001);
		h.events[kind] = (uint32_t)prng_below(prng, 50);
	}
	h.limit_before = prng_one_in(prng, 2) ? (struct limit){ 0, LIMIT_NONE } : limit_set(prng_size(prng, true));
	h.limit_changed_s_ago = any_count(prng, 7200);
	h.refaults_per_s = any_count(prng, 1000);
	h.cache_miss_bp = any_count(prng, 10001);
	h.peak_other_bytes = any_count(prng, 1 << 30);
	h.native_soft_bound_bytes =
		prng_one_in(prng, 2) ? qty_of(prng_size(prng, false), QTY_INFERRED) : (struct qty){ 0 };
	h.settling_s = prng_one_in(prng, 4) ? (uint32_t)prng_below(prng, 3600) : 0;
	return h;
}

static void a_verdict_is_sound(void **state)
{
	(void)state;
	struct prng prng = prng_start("a_verdict_is_sound");
	struct ledger *l = malloc(sizeof *l);
	struct verdict *v = malloc(sizeof *v);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = any(&prng, number);
		struct history_view history = any_history(&prng);
		struct rule_input input = {
			.snapshot = s, .ledger = l, .thresholds = &thresholds, .history = number % 2 ? &history : NULL
		};
		recon_run(s, l);
		rules_run(&input, v);
		for (size_t i = 0; i < v->n_findings; i++)
			texts(&v->findings[i], number);
		order(v, number);
		changes(v, number);
		CHECK(v->headline[0] && strlen(v->headline) < sizeof v->headline - 1);
		for (size_t i = 0; i < v->n_inconclusive; i++)
			CHECK(v->inconclusive[i].n_missing > 0);
		snap_free(s);
	}
	free(v);
	free(l);
}

/* Changes that wait are made later: no two of them may undo each other either. */
static void later_changes_agree(void **state)
{
	(void)state;
	struct prng prng = prng_start("later_changes_agree");
	struct ledger *l = malloc(sizeof *l);
	struct verdict *v = malloc(sizeof *v);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = any(&prng, number);
		struct history_view history = any_history(&prng);
		struct rule_input input = {
			.snapshot = s, .ledger = l, .thresholds = &thresholds, .history = number % 2 ? &history : NULL
		};
		recon_run(s, l);
		rules_run(&input, v);
		for (size_t i = 0; i < v->n_findings; i++)
			for (size_t j = 0; j < i; j++)
				if (v->findings[i].when == CHANGE_LATER && v->findings[j].when == CHANGE_LATER &&
				    rank_contradicts(&v->findings[i], &v->findings[j]))
					fail_msg("snapshot %d: %s against %s", number, v->findings[i].rule,
						 v->findings[j].rule);
		snap_free(s);
	}
	free(v);
	free(l);
}

/* Garbage behind what is unread changes no answer. */
static void what_is_unread_is_not_judged(void **state)
{
	(void)state;
	struct prng prng = prng_start("what_is_unread_is_not_judged");
	struct ledger *l = malloc(sizeof *l);
	struct verdict *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = any(&prng, number);
		struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
		recon_run(s, l);
		rules_run(&input, a);
		chaos_garbage(&prng, s);
		recon_run(s, l);
		rules_run(&input, b);
		CHECK(a->n_findings == b->n_findings && a->n_inconclusive == b->n_inconclusive);
		for (size_t i = 0; i < a->n_findings; i++) {
			CHECK(strcmp(a->findings[i].rule, b->findings[i].rule) == 0);
			CHECK(a->findings[i].severity == b->findings[i].severity);
			CHECK(strcmp(a->findings[i].title, b->findings[i].title) == 0);
			CHECK(strcmp(a->findings[i].observation, b->findings[i].observation) == 0);
			CHECK(strcmp(a->findings[i].change, b->findings[i].change) == 0);
		}
		for (size_t i = 0; i < a->n_inconclusive; i++)
			CHECK(strcmp(a->inconclusive[i].rule, b->inconclusive[i].rule) == 0);
		snap_free(s);
	}
	free(b);
	free(a);
	free(l);
}

/* Whatever is raised is held by the levels that clear: else an open finding would close at once. */
static void what_is_raised_is_held(void **state)
{
	(void)state;
	struct prng prng = prng_start("what_is_raised_is_held");
	struct ledger *l = malloc(sizeof *l);
	struct verdict *raised = malloc(sizeof *raised), *held = malloc(sizeof *held);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct thresholds holding = thresholds_holding(&thresholds);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = any(&prng, number);
		struct rule_input first = { .snapshot = s, .ledger = l, .thresholds = &thresholds },
				  second = { .snapshot = s, .ledger = l, .thresholds = &holding };
		recon_run(s, l);
		rules_run(&first, raised);
		rules_run(&second, held);
		for (size_t i = 0; i < raised->n_findings; i++) {
			/* Room that is lacking by the wider levels may silence what would be idle by the narrower. */
			if (strcmp(raised->findings[i].rule, "limit-above-process-size") == 0 ||
			    strcmp(raised->findings[i].rule, "page-cache-benign") == 0)
				continue;
			const struct finding *still = of_rule(held, raised->findings[i].rule);
			if (!still || still->severity < raised->findings[i].severity)
				fail_msg("snapshot %d: %s is raised and not held", number, raised->findings[i].rule);
		}
		snap_free(s);
	}
	free(held);
	free(raised);
	free(l);
}

/* A silence puts its rule aside, and changes what no other rule says. A quiet one changes nothing. */
static void silences_silence_one_rule(void **state)
{
	(void)state;
	struct prng prng = prng_start("silences_silence_one_rule");
	struct ledger *l = malloc(sizeof *l);
	struct verdict *all = malloc(sizeof *all), *less = malloc(sizeof *less);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = any(&prng, number);
		struct rule_silences silences = { .n = 1 };
		silences.items[0].rule = rule_table[prng_below(&prng, rule_count)].name;
		(void)snprintf(silences.items[0].reason, sizeof silences.items[0].reason, "known");
		silences.items[0].until.ms = s->taken.ms + (number % 3 == 0 ? 0 : 1); /* at its end it is over */
		silences.items[0].quiet = number % 5 == 0;
		struct rule_input loud = { .snapshot = s, .ledger = l, .thresholds = &thresholds }, quiet = {
			.snapshot = s, .ledger = l, .thresholds = &thresholds, .silences = &silences
		};
		recon_run(s, l);
		rules_run(&loud, all);
		rules_run(&quiet, less);
		bool fired = of_rule(all, silences.items[0].rule), over = number % 3 == 0 || number % 5 == 0;
		CHECK(less->n_silenced == (fired && !over ? 1 : 0));
		CHECK(less->n_findings + less->n_silenced == all->n_findings);
		CHECK(over || !of_rule(less, silences.items[0].rule));
		if (less->n_silenced)
			CHECK(strcmp(less->silenced[0].rule, silences.items[0].rule) == 0 &&
			      strcmp(less->silenced[0].reason, "known") == 0 && less->silenced[0].title[0]);
		for (size_t i = 0; i < less->n_findings; i++)
			CHECK(strcmp(of_rule(all, less->findings[i].rule)->title, less->findings[i].title) == 0);
		snap_free(s);
	}
	free(less);
	free(all);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_is_sound),           cmocka_unit_test(later_changes_agree),
		cmocka_unit_test(what_is_unread_is_not_judged), cmocka_unit_test(what_is_raised_is_held),
		cmocka_unit_test(silences_silence_one_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
