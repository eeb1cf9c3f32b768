/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store costs: bench_store DIRECTORY [AGENTS [HOURS]]. Samples of 25 owners, one each 10 s an agent, in batches
 * of 2000; the directory must be empty. Prints puts a second with their commits and the longest commit, bytes a sample
 * as rows, folded, and as minutes, the longest call of store_keep(), and what 48 h of samples with 30 d of minutes come
 * to for each sample sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collector/store.h"
#include "support/storekit.h"
#include "sys/clock.h"

enum { AGENTS_MAX = 20000, BATCH = 2000, STEP_MS = 10000 };

struct agent {
	int64_t row;
	struct store_epoch epoch;
	struct wire_sample sample;
};

static void must(int rc, const struct err *err)
{
	if (rc < 0) {
		fprintf(stderr, "bench_store: %s\n", err->message);
		exit(1);
	}
}

static double seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double keep(struct store *store, int64_t now_ms)
{
	struct err err;
	bool more = true;
	double longest = 0;
	while (more) {
		double before = seconds(CLOCK_MONOTONIC);
		must(store_keep(store, (struct wall){ now_ms }, &more, &err), &err);
		double took = seconds(CLOCK_MONOTONIC) - before;
		longest = took > longest ? took : longest;
	}
	return longest;
}

static struct store *reopen(struct store *store, const char *directory, const struct store_options *options)
{
	struct err err;
	store_close(store);
	must(store_open(directory, options, &store, &err), &err);
	return store;
}

static struct store_counts count(struct store *store)
{
	struct err err;
	struct store_counts counts;
	must(store_count(store, &counts, &err), &err);
	return counts;
}

static double live_bytes(struct store *store)
{
	return (double)count(store).used_bytes;
}

static void fill(struct store *store, struct agent *agents, unsigned n_agents, unsigned n_ticks, int64_t now_ms)
{
	struct err err;
	struct prng prng = { 1 };
	unsigned n = 0;
	double put_s = 0, put_cpu = 0, longest = 0;
	for (unsigned tick = 0; tick < n_ticks; tick++) {
		struct wall now = { now_ms + (int64_t)tick * STEP_MS };
		for (unsigned i = 0; i < n_agents; i++)
			storekit_next(&prng, &agents[i].sample, STEP_MS);
		double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
		for (unsigned i = 0; i < n_agents; i++, n++) {
			if (n % BATCH == 0)
				must(store_begin(store, &err), &err);
			now.ms += (int64_t)prng_below(&prng, 3);
			must(store_sample(store, agents[i].row, &agents[i].epoch, &agents[i].sample, now, &err), &err);
			if (n % BATCH == BATCH - 1) {
				double before = seconds(CLOCK_MONOTONIC), took;
				must(store_commit(store, &err), &err);
				took = seconds(CLOCK_MONOTONIC) - before;
				longest = took > longest ? took : longest;
			}
		}
		put_s += seconds(CLOCK_MONOTONIC) - wall;
		put_cpu += seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	}
	if (n % BATCH)
		must(store_commit(store, &err), &err);
	printf("puts %u, agents %u, a second %.0f, a second of CPU %.0f, longest commit ms %.1f\n", n, n_agents,
	       n / put_s, n / put_cpu, longest * 1000);
}

int main(int argc, char **argv)
{
	struct err err;
	unsigned n_agents = argc > 2 ? (unsigned)atoi(argv[2]) : 100, hours = argc > 3 ? (unsigned)atoi(argv[3]) : 8;
	int64_t start_ms = 1699999200000; /* at a whole hour */
	if (argc < 2 || n_agents == 0 || n_agents > AGENTS_MAX || hours == 0 || hours > 48) {
		fprintf(stderr, "usage: bench_store DIRECTORY [AGENTS [HOURS]]\n");
		return 2;
	}
	struct agent *agents = calloc(n_agents, sizeof *agents);
	struct store *store = reopen(NULL, argv[1], NULL);
	if (!agents)
		return 1;
	must(store_begin(store, &err), &err);
	for (unsigned i = 0; i < n_agents; i++) {
		struct wire_hello hello = storekit_hello(i);
		must(store_agent(store, hello.subject.pod, &hello, (struct wall){ start_ms }, &agents[i].row, &err),
		     &err);
		must(store_epoch(store, agents[i].row, storekit_epoch(i), (struct wall){ start_ms }, &agents[i].epoch,
				 &err),
		     &err);
		agents[i].sample = storekit_sample(i);
		agents[i].sample.head.seq = 0;
	}
	must(store_commit(store, &err), &err);
	unsigned n_ticks = hours * 360;
	fill(store, agents, n_agents, n_ticks, start_ms);
	store = reopen(store, argv[1], NULL);
	double n = (double)count(store).n_samples;
	printf("as rows, bytes a sample %.1f\n", live_bytes(store) / n);

	int64_t end_ms = start_ms + (int64_t)n_ticks * STEP_MS + 3600000;
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), longest = keep(store, end_ms);
	store = reopen(store, argv[1], NULL);
	double raw = live_bytes(store) / n;
	printf("folded, bytes a sample %.1f, longest call ms %.1f, CPU us a sample %.2f\n", raw, longest * 1000,
	       (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n * 1e6);

	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	longest = keep(store, end_ms + (int64_t)52 * 3600000);
	store = reopen(store, argv[1], NULL);
	struct store_counts counts = count(store);
	double minutes = live_bytes(store) / n;
	printf("as minutes, bytes a sample %.1f, a minute %.1f, longest call ms %.1f, CPU us a sample %.2f\n", minutes,
	       live_bytes(store) / (double)counts.n_rollups, longest * 1000,
	       (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n * 1e6);
	printf("48 h of samples and 28 d of minutes, bytes a sample sent %.1f\n", (raw * 2 + minutes * 28) / 30);
	store_close(store);
	free(agents);
	return 0;
}
