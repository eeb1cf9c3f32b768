/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "replay/runs.h"

const enum owner leak_owners[LEAK_OWNERS] = {
	OWNER_NATIVE_OTHER, OWNER_DIRECT_BUFFERS,       OWNER_METASPACE, OWNER_JAVA_HEAP, OWNER_OTHER_PROCESSES,
	OWNER_TMPFS,        OWNER_ROCKSDB_TABLE_READERS
};
const double leak_speeds[LEAK_SPEEDS] = { 0.1, 1, 10 };

enum { BEGIN_S = 1000000, HOUR_S = 3600 };
#define NEAR 0.95 /* of the limit: a pod that was there was in danger */

/* One seed's own stream for each pod. */
static struct prng stream(uint64_t seed, uint64_t i)
{
	struct prng prng = { seed * UINT64_C(0x9e3779b97f4a7c15) + i };
	(void)prng_u64(&prng);
	return (struct prng){ prng_u64(&prng) };
}

static double pick(struct prng *prng, double low, double high)
{
	return low + (high - low) * (double)prng_below(prng, 1000001) / 1e6;
}

void run_healthy(struct pod_kind kinds[KINDS], uint64_t seed, unsigned i, double days, FILE *trace, struct healthy *sum)
{
	struct prng prng = stream(seed, i);
	const struct leak none = { 0 };
	struct pod pod;
	struct watcher *watcher = calloc(1, sizeof *watcher);
	if (!watcher)
		abort();
	/* The agent starts with the pod, or is put beside one that has run for some time. */
	double warm = prng_one_in(&prng, 3) ? pick(&prng, 0, 48 * HOUR_S) : 20;
	pod_begin(&pod, &kinds[i % KINDS], prng_u64(&prng), &none, i / KINDS % 2, BEGIN_S, warm);
	watcher->trace = trace;
	if (trace)
		(void)fprintf(trace, "-- pod %u: %s, %s\n", i, pod.kind->name,
			      pod.instrumented ? "instrumented" : "as-found");
	watcher_begin(watcher, &pod);
	while (pod.now_s < BEGIN_S + days * DAY_S)
		pod_tick(&pod, watcher_tick(watcher, &pod));
	if (trace)
		(void)fprintf(trace, "-- highest floor %.1f %% of the limit, %u warnings\n", watcher->peak_floor * 100,
			      watcher->warnings);
	bool near = watcher->peak_floor > NEAR;
	sum->near += near;
	sum->pod_days += near ? 0 : days;
	for (size_t r = 0; !near && r < rule_count; r++)
		sum->by_rule[r] += watcher->by_rule[r];
	for (int p = 0; !near && p < PEER_COUNT; p++)
		sum->by_peer[p] += watcher->peers[p].raised;
	sum->warnings += near ? 0 : watcher->warnings;
	watcher_end(watcher);
	free(watcher);
}

/* A pod in which this owner can grow until the kernel ends it. */
static const struct pod_kind *kind_for(struct pod_kind kinds[KINDS], enum owner owner, struct prng *prng)
{
	if (owner == OWNER_ROCKSDB_TABLE_READERS)
		return &kinds[prng_below(prng, 2)];
	/* Flink bounds these by a flag, and its JVM throws before the kernel kills. */
	if (owner == OWNER_DIRECT_BUFFERS || owner == OWNER_METASPACE || owner == OWNER_JAVA_HEAP)
		return &kinds[prng_one_in(prng, 2) ? 4 : 6];
	static const unsigned any[] = { 0, 1, 3, 4 };
	return &kinds[any[prng_below(prng, 4)]];
}

static double minutes_before(double end_s, double at_s)
{
	return at_s > 0 ? (end_s - at_s) / 60 : -1;
}

static double forecast_error(const struct watcher *w, const struct leak *leak, double named_s, double end_s)
{
	if (named_s <= 0)
		return -1;
	double half = (named_s + end_s) / 2, left = end_s - half;
	size_t at = (size_t)((half - leak->begin_s) / watcher_every_s(leak));
	if (at >= w->n_forecasts || w->forecasts[at] < 0 || left <= 0)
		return -1;
	return fabs(w->forecasts[at] - left) / left;
}

void run_leak(struct pod_kind kinds[KINDS], uint64_t seed, enum owner owner, double share_percent, bool instrumented,
	      FILE *trace, struct leak_run *ret)
{
	struct prng prng = stream(seed ^ 0x6c65616b, (uint64_t)owner * 1000 + (uint64_t)(share_percent * 10));
	const struct pod_kind *kind = kind_for(kinds, owner, &prng);
	struct leak leak = { owner, share_percent, BEGIN_S + pick(&prng, 1, 4) * HOUR_S };
	struct pod pod;
	struct watcher *w = calloc(1, sizeof *w);
	if (!w)
		abort();
	struct pod_kind roomy = *kind;
	/* Room for the fastest: 10 % a minute from 90 % would leave a minute in all. No limit is below Flink's own size. */
	for (unsigned tries = 0; tries < 100; tries++) {
		/* One draw after the other: of two arguments the compiler chooses which is the first. */
		double warm_s = pick(&prng, 0.1, 6) * HOUR_S;
		pod_begin(&pod, kind, prng_u64(&prng), &leak, instrumented, BEGIN_S, warm_s);
		roomy.limit = floor(pod_floor(&pod) / pick(&prng, 0.35, 0.45));
		if (!kind->flink || roomy.limit >= roomy.process)
			break;
		roomy.limit = roomy.process;
	}
	pod.kind = &roomy;
	w->trace = trace;
	if (trace)
		(void)fprintf(trace, "-- leak of %s, %g %% a minute, %s, %s\n", owner_table[owner].name, share_percent,
			      kind->name, instrumented ? "instrumented" : "as-found");
	watcher_begin(w, &pod);
	double thrash_s = 0, most_s = leak.begin_s + 100 / share_percent * 60;
	while (pod_floor(&pod) < roomy.limit && pod.now_s < most_s) {
		pod_tick(&pod, watcher_tick(w, &pod));
		if (thrash_s == 0 && pod_floor(&pod) + roomy.was.mapped > roomy.limit)
			thrash_s = pod.now_s;
	}
	double end_s = pod.now_s, named_s = instrumented ? w->named_s : w->group_s;
	*ret = (struct leak_run){ .kind = kind->name,
				  .leak = leak,
				  .instrumented = instrumented,
				  .lasted_min = (end_s - leak.begin_s) / 60,
				  .named_min = minutes_before(end_s, named_s),
				  .thrash_min = minutes_before(thrash_s > 0 ? thrash_s : end_s, named_s),
				  .forecast_error = forecast_error(w, &leak, named_s, end_s) };
	for (int p = 0; p < PEER_COUNT; p++)
		ret->peer_min[p] = minutes_before(end_s, w->peers[p].first_s);
	if (trace)
		(void)fprintf(trace, "-- lasted %.1f min, named %.1f min before the end, forecast off by %.0f %%\n",
			      ret->lasted_min, ret->named_min, ret->forecast_error * 100);
	watcher_end(w);
	free(w);
}
