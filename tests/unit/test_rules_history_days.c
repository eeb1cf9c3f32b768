/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Days of a TaskManager's life on simulated time, through history, rules and hysteresis as an agent runs them: which
 * rules open, when, and that nothing else does; and whether the limit is reached when it was said to be.
 *
 * time-limit: 300
 *
 * Ticks are 15 s apart and scans 75 s, so that a checkpoint's peak of 15 s every minute falls on each phase of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/reconcile.h"
#include "rules/standing.h"
#include "support/prng.h"
#include "support/snap.h"

enum { TICK_S = 15, SCAN_TICKS = 5, JUDGE_TICKS = 3, MINUTE = 60, HOUR = 3600, DAY = 86400, OPENINGS_MAX = 64 };

/* What the world does, in MiB where not said otherwise; `noise` is added to each scan's pool. */
struct world {
	double heap, pool, spike, noise;
	double metaspace, classes, threads;
	double cache_claim; /* of RocksDB, where metrics are read */
	double refaults;    /* so far */
	uint64_t limit_mib;
	bool metrics;
	struct engine_context context;
};

struct opening {
	const char *rule;
	uint64_t at_s, cleared_s; /* 0: never */
	enum severity severity;
};

struct day {
	const char *name;
	uint64_t seconds;
	void (*live)(struct world *world, double t);
	bool runs_full; /* the floor reaches the limit, and the forecast must have known when */
	struct {
		const char *rule;
		uint64_t from_s, to_s; /* within this time it opens, once */
	} opens[4];
	const char *
		may; /* open besides: what follows from it, or is true of the pod anyway; blank on both sides of each */
};

struct run {
	struct snapshot *s;
	struct ledger *l, *scanned;
	struct history *history;
	struct trend_space space;
	struct history_view view;
	struct verdict verdict;
	struct standings standings;
	struct opening openings[OPENINGS_MAX];
	size_t n_openings;
	uint64_t floor_at_scan;
	/* Of the forecast while limit-forecast was open: when it said so, and the range that it gave, as times of day. */
	struct said {
		uint64_t at, early, likely, late;
	} said[8192];
	size_t n_said;
	uint64_t full_at_s;
};

static struct vma *vma_of(struct snapshot *s, size_t at)
{
	return &s->vmas.items[at];
}

static void set_anon(struct vma *vma, double mib)
{
	vma->rss_bytes = vma->pss_bytes = vma->pss_anon_bytes = vma->anonymous_bytes =
		(uint64_t)(mib * MIB) / 4096 * 4096;
}

/* A TaskManager of 4 GiB: a heap of 1.2 GiB, 1.3 GiB of managed memory, an overhead of 410 MiB. */
static struct snapshot *taskmanager(void)
{
	static const struct snap_shape shape = { .heap = 200,
						 .code = 60,
						 .cds = 10,
						 .library = 8,
						 .stacks = 60,
						 .arenas = 40,
						 .pool = 100,
						 .mapped = 60,
						 .cache = 150,
						 .kernel_stack = 1,
						 .pagetables = 8,
						 .slab_unreclaimable = 4,
						 .percpu = 1,
						 .sock = 2 };
	struct snapshot *s = snap_new(&shape);
	snap_flink(s, 1230 * MIB, 1340 * MIB, 335 * MIB, 463 * MIB, 410 * MIB, (uint64_t)4096 * MIB);
	vma_of(s, 0)->end += (uint64_t)1100 * MIB;
	for (size_t i = 1; i < s->vmas.n; i++) { /* room for the heap's reserved range */
		vma_of(s, i)->start += (uint64_t)1100 * MIB;
		vma_of(s, i)->end += (uint64_t)1100 * MIB;
	}
	s->code.ranges[0].start += (uint64_t)1100 * MIB;
	s->code.ranges[0].end += (uint64_t)1100 * MIB;
	s->heap.ranges[0].end += (uint64_t)1100 * MIB;
	vma_of(s, s->vmas.n - 1)->end += 16 * GIB;
	s->engine.backend = BACKEND_ROCKSDB;
	s->engine.rocksdb_managed = TRISTATE_TRUE;
	s->allocator = ALLOCATOR_JEMALLOC;
	snap_nmt(s, "Class", MIB, 0);
	snap_nmt(s, "Compiler", 4 * MIB, 0);
	snap_nmt(s, "Other", 60 * MIB, 0);
	s->engine.gauges.direct_used_bytes = qty_measured(60 * MIB);
	s->engine.gauges.direct_capacity_bytes = qty_measured(60 * MIB);
	s->status.n_threads = count_of(60);
	s->cgroup.pressure.some.known = s->cgroup.pressure.full.known = true;
	s->cgroup.events.oom = s->cgroup.events.oom_kill = s->cgroup.events.high = s->cgroup.events.max = count_of(0);
	s->cgroup.high.kind = LIMIT_NONE;
	s->cgroup.swap_current_bytes = qty_measured(0);
	s->process.start_ticks = 100; /* at 1 s */
	return s;
}

static void claims(struct snapshot *s, const struct world *w)
{
	struct rocksdb_claim *claim = &s->engine.rocksdb;
	s->metrics_read = true;
	s->engine.gauges.managed_used_bytes = s->engine.gauges.managed_total_bytes = qty_measured(1340 * MIB);
	*claim = (struct rocksdb_claim){ .sharing = ROCKSDB_PER_SLOT,
					 .memtables_in_cache = true,
					 .n_stores = count_of(4),
					 .n_caches = count_of(1),
					 .n_caches_certain = true };
	claim->cache_usage_bytes = qty_measured((uint64_t)(w->cache_claim * MIB));
	claim->cache_capacity_bytes = qty_measured(1116 * MIB);
	claim->cache_pinned_bytes = qty_measured(40 * MIB);
	claim->memtables_bytes = claim->memtables_unpinned_bytes = qty_measured(30 * MIB);
	claim->table_readers_bytes = qty_measured(2 * MIB);
	claim->live_data_bytes = claim->sst_bytes = qty_measured(4 * GIB);
	claim->n_flush_pending = claim->n_write_stopped = claim->n_write_delayed = claim->n_immutable = count_of(0);
}

/* Puts the world into the snapshot: mappings, the cgroup's counters, what the JVM and the engine say. */
static void apply(struct run *r, const struct world *w, double t)
{
	struct snapshot *s = r->s;
	struct cgroup_stat *stat = &s->cgroup.stat;
	uint64_t before = 0, after = 0;
	for (size_t i = 0; i < s->vmas.n; i++)
		before += vma_of(s, i)->pss_anon_bytes;
	set_anon(vma_of(s, 0), w->heap);
	set_anon(vma_of(s, s->vmas.n - 1), w->pool + w->metaspace + w->noise + w->spike);
	for (size_t i = 0; i < s->vmas.n; i++)
		after += vma_of(s, i)->pss_anon_bytes;
	uint64_t grown = after - before; /* may wrap: the sums below wrap back */
	stat->anon_bytes.bytes += grown;
	stat->inactive_anon_bytes.bytes += grown;
	s->cgroup.current_bytes.bytes += grown;
	s->cgroup.current_after_bytes = s->cgroup.current_bytes;
	s->cgroup.max = limit_set(w->limit_mib * MIB);
	stat->workingset_refault_file = count_of((uint64_t)w->refaults);
	s->engine.gauges.metaspace_used_bytes = qty_measured((uint64_t)(w->metaspace * MIB));
	s->nmt.metadata_committed_bytes = s->engine.gauges.metaspace_used_bytes;
	s->nmt.class_space_committed_bytes = qty_measured(0);
	s->engine.gauges.classes_loaded = count_of((uint64_t)w->classes);
	s->status.n_threads = count_of((uint64_t)w->threads);
	s->engine.context = w->context;
	s->taken.ms = 1700000000000 + (int64_t)(t * 1000);
	if (w->metrics)
		claims(s, w);
}

/* A tick that has no scan: composition as it was, the floor as the cgroup has it now. */
static void between_scans(struct run *r, double now_mib, double scanned_mib)
{
	*r->l = *r->scanned;
	int64_t moved = (int64_t)((now_mib - scanned_mib) * MIB);
	r->l->floor_bytes.bytes = r->scanned->floor_bytes.bytes + (uint64_t)moved;
	r->l->freeboard_bytes.bytes = (int64_t)r->l->limit.bytes - (int64_t)r->l->floor_bytes.bytes;
}

static void note_edges(struct run *r, const enum standing_edge *edges, uint64_t t)
{
	for (size_t i = 0; i < rule_count; i++) {
		if (edges[i] == EDGE_OPENED && r->n_openings < OPENINGS_MAX)
			r->openings[r->n_openings++] =
				(struct opening){ rule_table[i].name, t, 0, r->standings.of[i].open };
		for (size_t o = r->n_openings; edges[i] == EDGE_CLEARED && o-- > 0;)
			if (strcmp(r->openings[o].rule, rule_table[i].name) == 0) {
				r->openings[o].cleared_s = t;
				break;
			}
		for (size_t o = r->n_openings; edges[i] == EDGE_UPDATED && o-- > 0;)
			if (strcmp(r->openings[o].rule, rule_table[i].name) == 0 &&
			    r->openings[o].severity < r->standings.of[i].open)
				r->openings[o].severity = r->standings.of[i].open;
	}
}

static void judge_tick(struct run *r, struct mono now, uint64_t t)
{
	static struct thresholds thresholds;
	enum severity open[FINDINGS_MAX];
	enum standing_edge edges[FINDINGS_MAX];
	thresholds_init(&thresholds);
	history_look(r->history, now, r->s, r->l, &r->space, &r->view);
	standing_open(&r->standings, open);
	struct rule_input input = {
		.snapshot = r->s, .ledger = r->l, .thresholds = &thresholds, .open = open, .history = &r->view
	};
	rules_run(&input, &r->verdict);
	standing_step(&r->standings, &r->verdict, now, edges);
	note_edges(r, edges, t);
	const struct forecast *f = &r->view.forecast;
	if (rules_finding(&r->verdict, "limit-forecast") && r->n_said < 8192)
		r->said[r->n_said++] = (struct said){ t, t + f->earliest_s, t + f->likely_s,
						      f->latest_s == FORECAST_NEVER ? UINT64_MAX : t + f->latest_s };
}

static struct run *live(const struct day *day)
{
	struct run *r = calloc(1, sizeof *r);
	struct prng prng = { 7 };
	r->s = taskmanager();
	r->l = malloc(sizeof *r->l);
	r->scanned = malloc(sizeof *r->scanned);
	r->history = malloc(history_size());
	history_start(r->history);
	double scanned = 0;
	struct world world = { .heap = 200,
			       .pool = 60,
			       .metaspace = 60,
			       .classes = 12000,
			       .threads = 60,
			       .limit_mib = 4096,
			       .metrics = true,
			       .cache_claim = 0 };
	for (uint64_t t = 0; t <= day->seconds && !r->full_at_s; t += TICK_S) {
		struct mono now = { (t + 2) * 1000000000 };
		bool scans = t / TICK_S % SCAN_TICKS == 0;
		world.spike = 0;
		world.noise = (double)prng_below(&prng, 2048) / 1024; /* 2 MiB of malloc's coming and going */
		day->live(&world, (double)t);
		double total = world.heap + world.pool + world.metaspace + world.noise + world.spike;
		if (scans) {
			apply(r, &world, (double)t);
			recon_run(r->s, r->scanned);
			*r->l = *r->scanned;
			scanned = total;
		} else {
			r->s->cgroup.max = limit_set(world.limit_mib * MIB);
			r->scanned->limit = r->s->cgroup.max;
			r->s->engine.context = world.context;
			r->s->cgroup.stat.workingset_refault_file = count_of((uint64_t)world.refaults);
			between_scans(r, total, scanned);
		}
		history_tick(r->history, now, r->s, r->l, &r->s->engine.context);
		if (scans)
			history_scan(r->history, now, r->s, r->l);
		if (t / TICK_S % JUDGE_TICKS == 0)
			judge_tick(r, now, t);
		if (r->l->freeboard_bytes.bytes <= 0)
			r->full_at_s = t;
	}
	return r;
}

/* The heap fills to its maximum, the cache to its capacity, with the time constants of a steady load. */
static void warm_up(struct world *w, double t)
{
	w->heap = 200 + 1000 * (1 - exp(-t / 2400));
	w->cache_claim = 1116 * (1 - exp(-t / 3600));
	w->pool = 130 + w->cache_claim + 30;
	w->metaspace = 60 + 40 * (1 - exp(-t / 300));
	w->classes = 12000 + 4000 * (1 - exp(-t / 300));
	w->context.restarts = count_of(0);
	w->limit_mib = 4096;
}

static void quiet(struct world *w, double t)
{
	warm_up(w, t);
}

static void quiet_without_metrics(struct world *w, double t)
{
	warm_up(w, t);
	w->metrics = false;
}

/* 1 MiB a minute, in native-other. */
static void leaks(struct world *w, double t)
{
	warm_up(w, t);
	w->pool += t / MINUTE;
}

static void leaks_without_metrics(struct world *w, double t)
{
	leaks(w, t);
	w->metrics = false;
}

static void checkpoints(struct world *w, double t)
{
	warm_up(w, t);
	w->spike = (uint64_t)t % MINUTE < TICK_S ? 150 : 0;
	w->context.checkpointing = w->spike > 0 ? TRISTATE_TRUE : TRISTATE_FALSE;
}

static void leaks_under_checkpoints(struct world *w, double t)
{
	checkpoints(w, t);
	w->pool += 1.5 * t / MINUTE;
}

/* Every two hours the job restarts: the cache is closed, a new one fills, and 100 MiB of the old stay behind. */
static void leaks_by_restart(struct world *w, double t)
{
	warm_up(w, t);
	double restarts = floor(t / (2 * HOUR)), since = t - restarts * 2 * HOUR;
	w->cache_claim = 600 * (1 - exp(-since / 300));
	w->pool = 160 + w->cache_claim + 100 * restarts;
	w->context.restarts = count_of((uint64_t)restarts);
}

/* The same restarts, and nothing stays behind. */
static void restarts(struct world *w, double t)
{
	leaks_by_restart(w, t);
	w->pool -= 100 * floor(t / (2 * HOUR));
}

/* Each 90 minutes stores move: 200 MiB come or go for some minutes, and restores fill a cache. */
static void rebalances(struct world *w, double t)
{
	warm_up(w, t);
	double since = fmod(t, 90 * MINUTE);
	w->context.restarts = (struct count){ 0 };
	w->context.rebalancing = t > HOUR && since < 2 * MINUTE ? TRISTATE_TRUE : TRISTATE_FALSE;
	w->context.restoring = t > HOUR && since < 10 * MINUTE ? TRISTATE_TRUE : TRISTATE_FALSE;
	if (t > HOUR && since < 20 * MINUTE)
		w->pool += 200 * (since < 10 * MINUTE ? since / (10 * MINUTE) : 2 - since / (10 * MINUTE));
}

static void raised_in_place(struct world *w, double t)
{
	warm_up(w, t);
	w->limit_mib = t < 8 * HOUR ? 4096 : 5120;
}

/* A job of one class loader every half hour: 3 MiB and 900 classes that stay. */
static void leaks_loaders(struct world *w, double t)
{
	warm_up(w, t);
	double jobs = floor(t / (30 * MINUTE));
	w->metaspace += 3 * jobs;
	w->classes += 900 * jobs;
	w->context.restarts = count_of((uint64_t)jobs);
}

static void leaks_threads(struct world *w, double t)
{
	warm_up(w, t);
	w->threads = 60 + t / (2 * MINUTE);
}

/* A day's load: 200 MiB of native memory that come in the morning and go in the evening, threads with them. */
static void daily_load(struct world *w, double t)
{
	warm_up(w, t);
	w->pool += 60 * (1 - cos(2 * M_PI * t / DAY));
	w->threads = 60 + 20 * (1 - cos(2 * M_PI * t / DAY));
}

#define LEAK_MAY " freeboard-low demand-over-limit native-unexplained page-cache-benign metrics-missing "

static const struct day days[] = {
	{ "a warm-up that saturates", DAY, quiet, false, { { 0 } }, "" },
	{ "the same without metrics", DAY, quiet_without_metrics, false, { { 0 } }, " metrics-missing " },
	{ "a leak",
	  2 * DAY,
	  leaks,
	  true,
	  { { "native-growth", 2 * HOUR, 6 * HOUR }, { "limit-forecast", HOUR / 2, 6 * HOUR } },
	  LEAK_MAY },
	{ "a leak without metrics",
	  2 * DAY,
	  leaks_without_metrics,
	  true,
	  { { "native-growth", 2 * HOUR, 14 * HOUR }, { "limit-forecast", HOUR / 2, 14 * HOUR } },
	  LEAK_MAY },
	{ "checkpoints", DAY, checkpoints, false, { { 0 } }, "" },
	{ "a leak under checkpoints",
	  2 * DAY,
	  leaks_under_checkpoints,
	  true,
	  { { "native-growth", 2 * HOUR, 6 * HOUR }, { "limit-forecast", HOUR / 2, 6 * HOUR } },
	  LEAK_MAY },
	{ "a leak of a cache a restart",
	  DAY,
	  leaks_by_restart,
	  false,
	  { { "step-growth", 6 * HOUR, 7 * HOUR }, { "limit-forecast", 6 * HOUR, 12 * HOUR } },
	  LEAK_MAY },
	{ "restarts", DAY, restarts, false, { { 0 } }, "" },
	{ "rebalances", DAY, rebalances, false, { { 0 } }, "" },
	{ "a limit raised in place",
	  12 * HOUR,
	  raised_in_place,
	  false,
	  { { "limit-changed", 8 * HOUR, 8 * HOUR + 180 } },
	  " limit-above-process-size " },
	{ "a leak of class loaders",
	  DAY,
	  leaks_loaders,
	  false,
	  { { "metaspace-growth", HOUR, 5 * HOUR } },
	  " metaspace-near-limit " },
	{ "a leak of threads", DAY, leaks_threads, false, { { "thread-growth", HOUR, 4 * HOUR } }, "" },
	{ "a day's load", 2 * DAY, daily_load, false, { { 0 } }, "" },
};

static void print_run(const struct run *r)
{
	for (size_t i = 0; i < r->n_openings; i++)
		print_message("  %-26s %-8s opens %6.2f h, clears %6.2f h\n", r->openings[i].rule,
			      severity_names[r->openings[i].severity], (double)r->openings[i].at_s / HOUR,
			      (double)r->openings[i].cleared_s / HOUR);
	if (r->full_at_s)
		print_message("  full at %.2f h\n", (double)r->full_at_s / HOUR);
	for (size_t i = 0; i < r->n_said; i += r->n_said / 8 + 1)
		print_message("  at %.2f h: between %.2f h and %.2f h, likely %.2f h\n", (double)r->said[i].at / HOUR,
			      (double)r->said[i].early / HOUR, (double)r->said[i].late / HOUR,
			      (double)r->said[i].likely / HOUR);
}

static void done(struct run *r)
{
	snap_free(r->s);
	free(r->l);
	free(r->scanned);
	free(r->history);
	free(r);
}

static bool is_named(const char *rule, const char *names)
{
	char name[64];
	(void)snprintf(name, sizeof name, " %s ", rule);
	return strstr(names, name) != NULL;
}

/* What is due opens in its time, once; nothing else does. */
static bool opens_what_is_due(const struct day *day, const struct run *r)
{
	bool right = true;
	size_t due = 0, opened = 0;
	while (due < 4 && day->opens[due].rule)
		due++;
	for (size_t i = 0; i < r->n_openings; i++) {
		const struct opening *o = &r->openings[i];
		bool known = is_named(o->rule, day->may);
		for (size_t d = 0; d < due; d++)
			if (strcmp(o->rule, day->opens[d].rule) == 0) {
				known = o->at_s >= day->opens[d].from_s && o->at_s <= day->opens[d].to_s;
				opened++;
			}
		if (!known)
			print_error("%s: %s opens at %.2f h\n", day->name, o->rule, (double)o->at_s / HOUR);
		right &= known;
	}
	if (opened != due)
		print_error("%s: %zu openings of %zu\n", day->name, opened, due);
	return right && opened == due;
}

/* From the first time it is said the limit is reached within the range, and every time that it is said later. */
static bool was_foretold(const struct day *day, const struct run *r)
{
	bool right = r->full_at_s > 0 && r->n_said > 0 && r->said[0].at + 4 * HOUR < r->full_at_s;
	for (size_t i = 0; i < r->n_said; i++) {
		const struct said *said = &r->said[i];
		/* Two judgements late, or early, is not wrong. */
		if (r->full_at_s + 120 >= said->early && (said->late == UINT64_MAX || r->full_at_s <= said->late + 120))
			continue;
		print_error("%s: at %.2f h: between %.2f h and %.2f h; it was %.2f h\n", day->name,
			    (double)said->at / HOUR, (double)said->early / HOUR, (double)said->late / HOUR,
			    (double)r->full_at_s / HOUR);
		right = false;
		break;
	}
	return right;
}

static void every_day(void **state)
{
	(void)state;
	bool right = true;
	for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
		struct run *r = live(&days[i]);
		bool same = opens_what_is_due(&days[i], r) && (!days[i].runs_full || was_foretold(&days[i], r));
		if (!same)
			print_run(r);
		right &= same;
		done(r);
	}
	assert_true(right);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_day) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
