/* SPDX-License-Identifier: Apache-2.0 */
/* How a pod's owners move. Figures in MiB and seconds; docs/replay.md says where each shape comes from. */
#include <math.h>
#include <string.h>

#include "replay/pod.h"

static double uniform(struct prng *prng)
{
	return (double)(prng_u64(prng) >> 11) / 9007199254740992.0;
}

static double between(struct prng *prng, double low, double high)
{
	return low + (high - low) * uniform(prng);
}

/* Log-uniform: of times that span orders of magnitude. */
static double around(struct prng *prng, double low, double high)
{
	return low * pow(high / low, uniform(prng));
}

/* One after the other: in an initializer the compiler chooses which of two draws is the first, and thereby the pod. */
static struct spike draw_spike(struct prng *prng, double low, double high, double low_s, double high_s)
{
	struct spike spike = { .height = between(prng, low, high) };
	spike.left_s = between(prng, low_s, high_s);
	return spike;
}

/* One of the chances of `seconds`. */
static bool happens(struct pod *pod, double seconds, double mean_s)
{
	return uniform(&pod->prng) < seconds / mean_s;
}

static void toward(double *level, double target, double seconds, double tau_s)
{
	*level += (target - *level) * (seconds < tau_s ? seconds / tau_s : 1);
}

static double spiked(const struct spike *spike)
{
	return spike->left_s > 0 ? spike->height : 0;
}

/* Another load, another share of the state: drawn anew when the pod is rolled out, and at a rescale. */
static void draw_load(struct pod *pod)
{
	struct prng *p = &pod->prng;
	pod->cache_share = between(p, 0.5, 1);
	pod->cache_tau_s = around(p, 600, 6 * 3600);
	pod->flush_s = around(p, 60, 3600);
	pod->live_share = between(p, 0.2, 0.45);
}

static void draw(struct pod *pod)
{
	struct prng *p = &pod->prng;
	double limit = pod->kind->limit;
	bool small = limit < 1500;
	pod->day_phase = between(p, 0, DAY_S);
	pod->day_depth = prng_one_in(p, 4) ? 0 : between(p, 0.1, 0.6);
	pod->batch_s = prng_one_in(p, 3) ? between(p, 120, 900) : 0;
	pod->heap_share = between(p, 0.7, 1);
	pod->heap_tau_s = around(p, 180, 2 * 3600);
	pod->tooth_s = around(p, 300, 3600);
	pod->metaspace_more = between(p, 2, 15);
	pod->metaspace_tau_s = around(p, 300, 5400);
	pod->code_more = between(p, 8, 45);
	pod->native_more = between(p, 8, small ? 40 : 90);
	pod->native_tau_s = around(p, 1800, 8 * 3600);
	pod->flush_size = pod->kind->rocksdb ? between(p, 0.1, 0.5) : 0;
	pod->checkpoint_s = pod->kind->flink ? 60 : 0;
	pod->checkpoint_size = between(p, 0.002, 0.02) * limit;
	pod->savepoint_s = around(p, 4 * 3600, 24 * 3600);
	pod->restart_s = around(p, 8 * 3600, 72 * 3600);
	pod->rollout_s = around(p, 24 * 3600, 120 * 3600);
	pod->threads_more = between(p, 5, 45);
	pod->page_cache_per_s = prng_one_in(p, 4) ? 0 : around(p, 0.001, 2);
	pod->churn = between(p, 0, 1);
	draw_load(pod);
}

static void start_jvm(struct pod *pod)
{
	const struct recorded *was = &pod->kind->was;
	pod->up_s = pod->job_s = 0;
	pod->start_ticks = (uint64_t)(pod->now_s * 100);
	pod->restarts = 0;
	pod->heap = 0.15 * pod->kind->heap;
	pod->live = 0.1 * pod->kind->heap;
	pod->metaspace = was->metaspace * 0.7;
	pod->code = was->code * 0.7;
	pod->threads = was->threads * 0.9;
	pod->gc = was->gc * 0.6;
	pod->jvm = was->jvm * 0.8;
	pod->direct = pod->kind->network + was->direct;
	pod->cache = pod->memtables = pod->readers = 0;
	pod->native = was->native * 0.6;
	pod->sock = 2;
	pod->slab = 3;
	pod->refaults_rate = 0;
	pod->gc_count = pod->hits = pod->misses = 0;
	pod->checkpoint = pod->savepoint = pod->compiler = pod->batch = pod->rebalance = (struct spike){ 0 };
	pod->restore = (struct spike){ 0.01 * pod->kind->limit, 30 };
}

void pod_begin(struct pod *pod, const struct pod_kind *kind, uint64_t seed, const struct leak *leak, bool instrumented,
	       double begin_s, double warm_s)
{
	memset(pod, 0, sizeof *pod);
	pod->kind = kind;
	pod->prng.state = seed;
	pod->leak = *leak;
	pod->instrumented = instrumented;
	pod->now_s = begin_s - warm_s;
	draw(pod);
	start_jvm(pod);
	while (pod->now_s < begin_s)
		pod_tick(pod, 60);
}

static double load_of(const struct pod *pod)
{
	double load = 1 - pod->day_depth * (0.5 + 0.5 * sin((pod->now_s + pod->day_phase) * 2 * M_PI / DAY_S));
	return load + spiked(&pod->batch);
}

static void restart_job(struct pod *pod)
{
	pod->restarts++;
	pod->job_s = 0;
	pod->cache = pod->memtables = 0;
	pod->metaspace += between(&pod->prng, 5, 18); /* the old loader lives until the next full collection */
	pod->restore.height = between(&pod->prng, 0.005, 0.04) * pod->kind->limit;
	pod->restore.left_s = around(&pod->prng, 20, 300);
	if (prng_one_in(&pod->prng, 3))
		draw_load(pod); /* it was rescaled */
}

static void events(struct pod *pod, double s)
{
	const struct pod_kind *kind = pod->kind;
	struct spike *spikes[] = { &pod->checkpoint, &pod->savepoint, &pod->compiler,
				   &pod->batch,      &pod->restore,   &pod->rebalance };
	for (size_t i = 0; i < sizeof spikes / sizeof spikes[0]; i++)
		spikes[i]->left_s -= s;
	double hour = fmod(pod->now_s, 3600);
	if (pod->batch_s > 0 && hour < s)
		pod->batch = (struct spike){ between(&pod->prng, 0.2, 0.6), pod->batch_s };
	if (pod->checkpoint_s > 0 && fmod(pod->now_s, pod->checkpoint_s) < s && pod->restore.left_s <= 0)
		pod->checkpoint = draw_spike(&pod->prng, pod->checkpoint_size * 0.5, pod->checkpoint_size * 1.2, 3, 20);
	if (kind->flink && happens(pod, s, pod->savepoint_s))
		pod->savepoint = draw_spike(&pod->prng, 0.005 * kind->limit, 0.03 * kind->limit, 30, 120);
	if (happens(pod, s, pod->up_s < 1800 ? 300 : 7200))
		pod->compiler = draw_spike(&pod->prng, 4, 40, 5, 20);
	if (kind->flink && happens(pod, s, pod->restart_s))
		restart_job(pod);
	if (!kind->flink && kind->rocksdb && happens(pod, s, pod->restart_s)) {
		pod->rebalance = (struct spike){ 0.01 * kind->limit, between(&pod->prng, 10, 60) };
		pod->cache *= between(&pod->prng, 0.5, 1);
	}
	/* A leak is followed to its end: nobody rolls the pod out. */
	if (pod->leak.share_percent == 0 && happens(pod, s, pod->rollout_s)) {
		draw(pod);
		start_jvm(pod);
	}
}

static void jvm(struct pod *pod, double s, double load)
{
	const struct recorded *was = &pod->kind->was;
	double max = pod->kind->heap;
	toward(&pod->heap, pod->heap_share * max, s, pod->heap_tau_s / load);
	/* What collections leave rises until a mixed one frees it. */
	double tooth = fmod(pod->up_s, pod->tooth_s) / pod->tooth_s;
	pod->live = max * pod->live_share * (0.8 + 0.2 * load + 0.5 * tooth);
	if (pod->live > 0.9 * pod->heap)
		pod->live = 0.9 * pod->heap;
	pod->gc_count += happens(pod, s, 20 / load);
	toward(&pod->metaspace, was->metaspace + pod->metaspace_more, s, pod->metaspace_tau_s);
	double log_up = log1p(pod->up_s / 900) / log1p(96);
	toward(&pod->code, was->code + pod->code_more * log_up, s, 300);
	toward(&pod->threads, was->threads + pod->threads_more * load, s, 600);
	toward(&pod->gc, was->gc / 512 * max * (0.5 + 0.5 * pod->heap / max), s, 900);
	toward(&pod->jvm, was->jvm * (1 + 0.3 * log_up), s, 600);
	/* Netty takes chunks of 4 MiB as peaks need them, and keeps them. */
	double direct = pod->kind->network + was->direct + (pod->kind->flink ? 4 * floor(4 * load) : 0);
	if (direct > pod->direct)
		pod->direct = direct;
}

static void store(struct pod *pod, double s, double load)
{
	double most = pod->kind->managed, buffers = pod->flush_size * most;
	if (!pod->kind->rocksdb || pod->restore.left_s > 0)
		return;
	pod->memtables += buffers * s / pod->flush_s * load;
	/* The largest of some column families or stores is flushed, not all of them at once. */
	if (pod->memtables > buffers)
		pod->memtables = buffers * between(&pod->prng, 0.65, 0.9);
	double room = most * pod->cache_share - buffers;
	toward(&pod->cache, room > 0 ? room : 0, s, pod->cache_tau_s / load);
	if (pod->cache > most - pod->memtables)
		pod->cache = most - pod->memtables;
	pod->hits += (uint64_t)(s * 900 * load);
	pod->misses += (uint64_t)(s * 100 * load);
}

static void native(struct pod *pod, double s, double load)
{
	double more = pod->native_more * (0.7 + 0.3 * load);
	toward(&pod->native, pod->kind->was.native + more, s, pod->native_tau_s);
	pod->native += between(&pod->prng, -0.4, 0.4) * (s < 10 ? 1 : 0);
	if (pod->native < 1)
		pod->native = 1;
}

static void kernel_side(struct pod *pod, double s, double load)
{
	double room = pod->kind->limit - pod_floor(pod) - pod->kind->was.mapped - pod->slab - 1;
	pod->page_cache += pod->page_cache_per_s * load * s;
	/* A compaction deletes files, and their pages go with them. */
	if (pod->page_cache > 64 && happens(pod, s, 1800))
		pod->page_cache *= 1 - 0.5 * pod->churn;
	pod->refaults_rate = 0;
	if (pod->page_cache >= room) {
		pod->page_cache = room > 0 ? room : 0;
		pod->max_events += (uint64_t)(s * 3);
		pod->refaults_rate = 30 * pod->churn * load;
	}
	pod->refaults += (uint64_t)(pod->refaults_rate * s);
	pod->dirty = pod->page_cache * 0.03;
	toward(&pod->sock, between(&pod->prng, 1, 4) * load, s, 30);
	toward(&pod->slab, 3 + pod->page_cache * 0.01, s, 600);
}

static void leak_some(struct pod *pod, double s)
{
	if (pod->leak.share_percent == 0 || pod->now_s < pod->leak.begin_s)
		return;
	/* Not by the clock: what leaks comes with the load, in pieces. */
	double rate = pod->leak.share_percent / 100 * pod->kind->limit / 60;
	pod->leaked += rate * s * between(&pod->prng, 0.6, 1.4);
}

void pod_tick(struct pod *pod, double seconds)
{
	pod->now_s += seconds;
	pod->up_s += seconds;
	pod->job_s += seconds;
	events(pod, seconds);
	double load = load_of(pod);
	jvm(pod, seconds, load);
	store(pod, seconds, load);
	native(pod, seconds, load);
	leak_some(pod, seconds);
	kernel_side(pod, seconds, load);
}

static double leaked_in(const struct pod *pod, enum owner owner)
{
	return pod->leak.owner == owner ? pod->leaked : 0;
}

double pod_native(const struct pod *pod)
{
	double spikes = spiked(&pod->checkpoint) + spiked(&pod->savepoint) + spiked(&pod->restore) +
			spiked(&pod->rebalance) + spiked(&pod->compiler);
	return pod->metaspace + leaked_in(pod, OWNER_METASPACE) + pod->gc + pod->jvm + pod->direct +
	       leaked_in(pod, OWNER_DIRECT_BUFFERS) + pod->cache + pod->memtables +
	       leaked_in(pod, OWNER_ROCKSDB_TABLE_READERS) + pod->native + leaked_in(pod, OWNER_NATIVE_OTHER) + spikes;
}

static double anon_of_jvm(const struct pod *pod)
{
	const struct recorded *was = &pod->kind->was;
	return pod->heap + leaked_in(pod, OWNER_JAVA_HEAP) + pod->code + was->cds + was->library +
	       was->stacks / was->threads * pod->threads + pod_native(pod);
}

double pod_anon(const struct pod *pod)
{
	return anon_of_jvm(pod) + leaked_in(pod, OWNER_OTHER_PROCESSES);
}

double pod_floor(const struct pod *pod)
{
	double kernel = pod_anon(pod) * 0.0025 + pod->threads / 64 + 3.5;
	return pod_anon(pod) + leaked_in(pod, OWNER_TMPFS) + kernel + pod->sock;
}
