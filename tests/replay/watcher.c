/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/watcher.h"

#include "agent/build.h"
#include "ledger/reconcile.h"

/* As the agent is shipped (src/config/agentconf.c). */
enum { SCRAPE_S = 15, ATTACH_S = 300, SMAPS_MS = 30000, SHARE_BP = 20, HOLD_MS = 50, MOVED_SHARE = 50 };
/* What a walk costs, docs/agent.md: 6 ms a GiB. */
#define WALK_NS_PER_MIB (6e6 / 1024)
enum { PEER_EVERY_S = 30, PREDICT_FOR_S = 300, PREDICT_AHEAD_S = 4 * 3600 };

const char *const peer_names[PEER_COUNT] = { "static_floor_85", "working_set_90", "predict_linear" };

static struct mono mono_of(double s)
{
	return (struct mono){ (uint64_t)(s * 1e9) };
}

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

void watcher_begin(struct watcher *w, const struct pod *pod)
{
	FILE *trace = w->trace;
	memset(w, 0, sizeof *w);
	w->trace = trace;
	w->snapshot = world_new(pod);
	w->start_ticks = pod->start_ticks;
	w->ledger = must(calloc(1, sizeof *w->ledger));
	w->mark = must(calloc(1, sizeof *w->mark));
	w->history = must(malloc(history_size()));
	w->space = must(malloc(sizeof *w->space));
	w->verdict = must(calloc(1, sizeof *w->verdict));
	history_start(w->history);
	thresholds_init(&w->thresholds);
	budget_start(&w->budget, SHARE_BP, SMAPS_MS, HOLD_MS, 0);
	w->attach_s = w->scrape_s = w->peer_s = -1e9;
}

void watcher_end(struct watcher *w)
{
	build_free(w->snapshot);
	free(w->ledger);
	free(w->mark);
	free(w->history);
	free(w->space);
	free(w->verdict);
}

/* agent_died(), agent_look(): findings and books of one JVM end with it. */
static void look_anew(struct watcher *w, const struct pod *pod)
{
	build_free(w->snapshot);
	w->snapshot = world_new(pod);
	w->start_ticks = pod->start_ticks;
	memset(&w->standings, 0, sizeof w->standings);
	w->mark->known = w->scanned = false;
	w->floor_at_scan = 0;
	w->urgency.on = false;
	w->attach_s = w->scrape_s = -1e9;
	budget_forget_target(&w->budget);
}

static bool has_moved(const struct watcher *w)
{
	uint64_t floor = qty_or(w->ledger->floor_bytes, 0), then = w->floor_at_scan;
	if (!w->mark->known || !floor || !then)
		return false;
	return (floor > then ? floor - then : then - floor) > w->ledger->limit.bytes / MOVED_SHARE;
}

static bool scan(struct watcher *w, const struct pod *pod)
{
	struct budget_ask ask = { .now = mono_of(pod->now_s),
				  .sooner = w->urgency.on || !w->scanned || has_moved(w),
				  .largest_bytes = (uint64_t)(pod->heap * 1048576) };
	if (budget_ask(&w->budget, &ask) != BUDGET_GO)
		return false;
	uint64_t took = (uint64_t)(pod_anon(pod) * WALK_NS_PER_MIB), hold = (uint64_t)(pod->heap * WALK_NS_PER_MIB);
	struct budget_walk walk = { .began = ask.now,
				    .ended = { ask.now.ns + took },
				    .inside_ns = took,
				    .hold_ns = hold,
				    .hold_cpu_ns = hold,
				    .largest_bytes = ask.largest_bytes };
	world_scan(pod, w->snapshot);
	budget_spent(&w->budget, &walk);
	return w->scanned = true;
}

/* keep_books() of agent_tick.c. */
static void keep_books(struct watcher *w, const struct pod *pod, bool scanned)
{
	struct mono now = mono_of(pod->now_s);
	if (scanned)
		w->scanned_s = pod->now_s;
	w->snapshot->age_ms = w->mark->known || scanned ? (uint32_t)((pod->now_s - w->scanned_s) * 1000) : 0;
	recon_run(w->snapshot, w->ledger);
	if (scanned) {
		aged_keep(w->snapshot, w->ledger, w->mark);
		w->floor_at_scan = qty_or(w->ledger->floor_bytes, 0);
	} else {
		aged_apply(w->mark, w->snapshot, w->snapshot->age_ms, w->ledger);
	}
	history_tick(w->history, now, w->snapshot, w->ledger, &w->snapshot->engine.context);
	if (scanned)
		history_scan(w->history, now, w->snapshot, w->ledger);
	history_look(w->history, now, w->snapshot, w->ledger, w->space, &w->view);
}

enum family { FAMILY_HEAP, FAMILY_NATIVE, FAMILY_OTHERS, FAMILY_FILES, FAMILY_REST };

/* What somebody without metrics and NMT can be told at best: heap, native memory, another process, files. */
static enum family family_of(int owner)
{
	if (owner == OWNER_JAVA_HEAP || owner == OWNER_ZGC_HEAP)
		return FAMILY_HEAP;
	if (owner == OWNER_OTHER_PROCESSES)
		return FAMILY_OTHERS;
	if (owner == OWNER_TMPFS)
		return FAMILY_FILES;
	return owner >= 0 && owner_table[owner].group == GROUP_ANON ? FAMILY_NATIVE : FAMILY_REST;
}

static void note(struct watcher *w, const struct pod *pod, size_t rule, enum severity was)
{
	enum severity open = w->standings.of[rule].open;
	const struct finding *finding = rules_finding(w->verdict, rule_table[rule].name);
	bool raised = open >= SEVERITY_WARNING && was < SEVERITY_WARNING;
	if (w->trace && open != was)
		(void)fprintf(w->trace, "%9.0f s  %s: %s -> %s: %s\n", pod->now_s, rule_table[rule].name,
			      severity_names[was], severity_names[open], finding ? finding->title : "");
	if (raised) {
		w->warnings++;
		w->by_rule[rule]++;
	}
	if (open < SEVERITY_WARNING || !finding || !pod->leak.share_percent || pod->now_s < pod->leak.begin_s)
		return;
	if (finding->owner == (int)pod->leak.owner && !w->named_s)
		w->named_s = pod->now_s;
	if (family_of(finding->owner) == family_of((int)pod->leak.owner) && !w->group_s)
		w->group_s = pod->now_s;
}

static void judge(struct watcher *w, const struct pod *pod)
{
	enum severity open[FINDINGS_MAX];
	enum standing_edge edges[FINDINGS_MAX];
	standing_open(&w->standings, open);
	struct rule_input input = { .snapshot = w->snapshot,
				    .ledger = w->ledger,
				    .thresholds = &w->thresholds,
				    .open = open,
				    .history = &w->view };
	rules_run(&input, w->verdict);
	standing_step(&w->standings, w->verdict, mono_of(pod->now_s), edges);
	for (size_t i = 0; i < rule_count; i++)
		if (edges[i] != EDGE_NONE)
			note(w, pod, i, open[i]);
}

/* --- what people alert by ---------------------------------------------------------------- */

static void alarm_set(struct alarm *alarm, const struct pod *pod, bool wanted, double for_s)
{
	if (!wanted) {
		alarm->on = false;
		alarm->since_s = 0;
		return;
	}
	if (alarm->since_s == 0)
		alarm->since_s = pod->now_s;
	if (pod->now_s - alarm->since_s < for_s)
		return;
	alarm->raised += !alarm->on;
	alarm->on = true;
	if (pod->leak.share_percent > 0 && pod->now_s >= pod->leak.begin_s && alarm->first_s == 0)
		alarm->first_s = pod->now_s;
}

/* Least squares over the last hour, as Prometheus does it, PREDICT_AHEAD_S ahead. */
static double predict(const struct watcher *w)
{
	double n = (double)w->n_points, sx = 0, sy = 0, sxx = 0, sxy = 0;
	for (size_t i = 0; i < w->n_points; i++) {
		double x = -(double)i * PEER_EVERY_S;
		double y = w->working_set[(w->next_point + PEER_POINTS - 1 - i) % PEER_POINTS];
		sx += x, sy += y, sxx += x * x, sxy += x * y;
	}
	double spread = n * sxx - sx * sx, slope = spread > 0 ? (n * sxy - sx * sy) / spread : 0;
	return (sy - slope * sx) / n + slope * PREDICT_AHEAD_S;
}

static void peers(struct watcher *w, const struct pod *pod)
{
	if (pod->now_s - w->peer_s < PEER_EVERY_S)
		return;
	w->peer_s = pod->now_s;
	const struct cgroup_memory *cg = &w->snapshot->cgroup;
	double limit = (double)cg->max.bytes;
	double set = (double)(cg->current_bytes.bytes - cg->stat.inactive_file_bytes.bytes);
	w->working_set[w->next_point] = set;
	w->next_point = (w->next_point + 1) % PEER_POINTS;
	w->n_points += w->n_points < PEER_POINTS;
	alarm_set(&w->peers[PEER_FLOOR_85], pod, (double)qty_or(w->ledger->floor_bytes, 0) > 0.85 * limit, 0);
	alarm_set(&w->peers[PEER_WORKING_SET_90], pod, set >= 0.9 * limit, 0);
	alarm_set(&w->peers[PEER_PREDICT_LINEAR], pod, w->n_points >= 20 && predict(w) > limit, PREDICT_FOR_S);
}

double watcher_every_s(const struct leak *leak)
{
	return 60 / leak->share_percent;
}

static void follow_forecast(struct watcher *w, const struct pod *pod)
{
	if (!pod->leak.share_percent || pod->now_s < pod->leak.begin_s)
		return;
	size_t at = (size_t)((pod->now_s - pod->leak.begin_s) / watcher_every_s(&pod->leak));
	const struct forecast *f = &w->view.forecast;
	bool known = f->kind == FORECAST_REACHES || f->kind == FORECAST_DECELERATING;
	for (; at < FORECASTS_MAX && w->n_forecasts <= at; w->n_forecasts++)
		w->forecasts[w->n_forecasts] = known ? (double)f->likely_s : -1;
}

double watcher_tick(struct watcher *w, const struct pod *pod)
{
	if (pod->start_ticks != w->start_ticks)
		look_anew(w, pod);
	world_tick(pod, w->snapshot);
	if (pod->now_s - w->attach_s >= ATTACH_S) {
		w->attach_s = pod->now_s;
		world_attach(pod, w->snapshot);
	}
	if (pod->now_s - w->scrape_s >= SCRAPE_S) {
		w->scrape_s = pod->now_s;
		world_scrape(pod, w->snapshot);
	}
	bool first, scanned = scan(w, pod);
	keep_books(w, pod, scanned);
	bool urgent = urgency_step(&w->urgency, mono_of(pod->now_s), w->snapshot, w->ledger, &first);
	judge(w, pod);
	peers(w, pod);
	follow_forecast(w, pod);
	double share = (double)qty_or(w->ledger->floor_bytes, 0) / (double)w->ledger->limit.bytes;
	w->peak_floor = share > w->peak_floor ? share : w->peak_floor;
	return urgent ? 1 : TICK_S;
}
