/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated pod-days through the shipped pure core: what healthy pods are told, and how early leaks are named.
 *
 *   replay [-d DAYS] [-l LEAKS] [-s SEED] [-o FILE] [-v]      LEAKS: seeds of each owner, speed and profile
 *
 * Exit status: 0 written, 2 usage, 3 it could not be read or written.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "replay/runs.h"

enum { RUNS_MAX = 4096, DAYS_MAX = 1000000, LEAKS_MAX = RUNS_MAX / (LEAK_OWNERS * LEAK_SPEEDS * 2) };

static struct leak_run runs[RUNS_MAX];

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Never is the worst: -1 sorts first. */
static double median_of(double *figures, size_t n)
{
	qsort(figures, n, sizeof *figures, by_size);
	return n ? figures[(n - 1) / 2] : -1;
}

static bool is_of(const struct leak_run *run, int owner, double speed, int instrumented)
{
	return (owner < 0 || (int)run->leak.owner == owner) && run->leak.share_percent == speed &&
	       (instrumented < 0 || run->instrumented == (bool)instrumented);
}

struct figures {
	size_t n, named, within;
	double median, worst, thrash_worst, lasted, peer[PEER_COUNT];
};

static struct figures figures_of(size_t n_runs, int owner, double speed, int instrumented)
{
	struct figures f = { .worst = 1e9, .thrash_worst = 1e9 };
	static double lead[RUNS_MAX], peer[PEER_COUNT][RUNS_MAX];
	for (size_t i = 0; i < n_runs; i++) {
		const struct leak_run *run = &runs[i];
		if (!is_of(run, owner, speed, instrumented))
			continue;
		for (int p = 0; p < PEER_COUNT; p++)
			peer[p][f.n] = run->peer_min[p];
		lead[f.n++] = run->named_min;
		f.named += run->named_min >= 0;
		f.within += run->forecast_error >= 0 && run->forecast_error <= 0.25;
		f.lasted += run->lasted_min;
		f.worst = run->named_min < f.worst ? run->named_min : f.worst;
		f.thrash_worst = run->thrash_min < f.thrash_worst ? run->thrash_min : f.thrash_worst;
	}
	f.median = median_of(lead, f.n);
	for (int p = 0; p < PEER_COUNT; p++)
		f.peer[p] = median_of(peer[p], f.n);
	f.lasted /= f.n ? (double)f.n : 1;
	return f;
}

static void print_leak(FILE *out, size_t n_runs, int owner, double speed, int profile, bool first)
{
	struct figures f = figures_of(n_runs, owner, speed, profile);
	const char *name = owner < 0 ? "all" : owner_table[owner].name, *how = profile ? "instrumented" : "as-found";
	if (f.n == 0)
		return;
	(void)printf(
		"  %-22s %-12s %5.1f %%/min  named %zu of %zu  median %6.1f  worst %6.1f min  within 25 %%: %3.0f %%\n",
		name, how, speed, f.named, f.n, f.median, f.worst, 100.0 * (double)f.within / (double)f.n);
	(void)fprintf(
		out,
		"%s\n    {\"speed_percent_per_minute\": %g, \"owner\": \"%s\", \"profile\": \"%s\", \"runs\": %zu, "
		"\"named\": %zu, \"lasted_minutes\": %.1f, \"first_named_warning_minutes_before\": {\"median\": %.1f, "
		"\"worst\": %.1f, \"worst_to_thrash\": %.1f}, \"forecast_within_25_percent_at_half\": %.3f",
		first ? "" : ",", speed, name, how, f.n, f.named, f.lasted, f.median, f.worst, f.thrash_worst,
		(double)f.within / (double)f.n);
	for (int p = 0; p < PEER_COUNT; p++)
		(void)fprintf(out, ", \"%s_median\": %.1f", peer_names[p], f.peer[p]);
	(void)fprintf(out, "}");
}

static void print_leaks(FILE *out, size_t n)
{
	bool first = true;
	(void)fprintf(out, "  \"leaks\": [");
	for (int profile = 1; profile >= 0; profile--)
		for (size_t s = 0; s < LEAK_SPEEDS; s++)
			for (int o = -1; o < LEAK_OWNERS; o++, first = false)
				print_leak(out, n, o < 0 ? -1 : (int)leak_owners[o], leak_speeds[s], profile, first);
	(void)fprintf(out, "\n  ],\n");
}

static void print_healthy(FILE *out, const struct healthy *h)
{
	double per = h->pod_days > 0 ? 100 / h->pod_days : 0;
	bool first = true;
	(void)printf(
		"healthy: %.0f pod-days (%u pods left out: within 5 %% of their limit), %u false warnings, %.2f in 100 pod-days\n",
		h->pod_days, h->near, h->warnings, h->warnings * per);
	(void)fprintf(
		out,
		"  \"pod_days\": %.0f,\n  \"pods_left_out\": %u,\n  \"false_warnings\": %u,\n  \"per_100_pod_days\": %.3f,\n  \"by_rule\": {",
		h->pod_days, h->near, h->warnings, h->warnings * per);
	for (size_t r = 0; r < rule_count; r++) {
		if (!h->by_rule[r])
			continue;
		(void)printf("  %s: %u\n", rule_table[r].name, h->by_rule[r]);
		(void)fprintf(out, "%s\"%s\": %u", first ? "" : ", ", rule_table[r].name, h->by_rule[r]);
		first = false;
	}
	(void)fprintf(out, "},\n");
}

static void print_peers(FILE *out, const struct healthy *h, size_t n)
{
	for (int p = 0; p < PEER_COUNT; p++) {
		(void)fprintf(out, "  \"%s\": {\"false_alarms\": %u, \"median_lead\": {", peer_names[p], h->by_peer[p]);
		(void)printf("%s: %u false alarms; median lead", peer_names[p], h->by_peer[p]);
		for (size_t s = 0; s < LEAK_SPEEDS; s++) {
			struct figures f = figures_of(n, -1, leak_speeds[s], -1);
			(void)fprintf(out, "%s\"%g\": %.1f", s ? ", " : "", leak_speeds[s], f.peer[p]);
			(void)printf(" %.1f min at %g %%/min (ours %.1f)", f.peer[p], leak_speeds[s], f.median);
		}
		(void)fprintf(out, "}},\n");
		(void)printf("\n");
	}
}

static size_t run_leaks(struct pod_kind kinds[KINDS], uint64_t seed, unsigned seeds, FILE *trace)
{
	size_t n = 0;
	for (unsigned i = 0; i < seeds; i++)
		for (size_t o = 0; o < LEAK_OWNERS; o++)
			for (size_t s = 0; s < LEAK_SPEEDS; s++)
				for (int profile = 0; profile < 2 && n < RUNS_MAX; profile++)
					run_leak(kinds, seed + i, leak_owners[o], leak_speeds[s], profile, trace,
						 &runs[n++]);
	return n;
}

/* A whole number of 0 to max; a seed may be written as 0x... strtoull alone takes "-1", "7x" and "". */
static bool number(char option, const char *text, uint64_t max, uint64_t *out)
{
	char *end = NULL;
	errno = 0;
	unsigned long long value = strtoull(text, &end, option == 's' ? 0 : 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value > max) {
		(void)fprintf(stderr, "replay: -%c takes a whole number of 0 to %llu, and not '%s'\n", option,
			      (unsigned long long)max, text);
		return false;
	}
	*out = value;
	return true;
}

int main(int argc, char **argv)
{
	static struct pod_kind kinds[KINDS];
	struct healthy healthy = { 0 };
	uint64_t seed = 20240229, days = 1000, leaks = 6;
	const char *path = "build/replay.json";
	FILE *trace = NULL;
	int option;
	while ((option = getopt(argc, argv, "d:l:s:o:v")) != -1)
		switch (option) {
		case 'd':
			if (!number('d', optarg, DAYS_MAX, &days))
				return 2;
			break;
		case 'l':
			if (!number('l', optarg, LEAKS_MAX, &leaks))
				return 2;
			break;
		case 's':
			if (!number('s', optarg, UINT64_MAX, &seed))
				return 2;
			break;
		case 'o':
			path = optarg;
			break;
		case 'v':
			trace = stdout;
			break;
		default:
			return 2;
		}
	if (optind < argc) {
		(void)fprintf(stderr, "replay: '%s' is no option\n", argv[optind]);
		return 2;
	}
	if (!kinds_load(kinds))
		return 3;
	FILE *out = fopen(path, "w");
	if (!out) {
		perror(path);
		return 3;
	}
	for (unsigned i = 0; i * HEALTHY_DAYS < days; i++)
		run_healthy(kinds, seed, i, HEALTHY_DAYS, trace, &healthy);
	double healthy_s = (double)clock() / CLOCKS_PER_SEC;
	size_t n = run_leaks(kinds, seed, (unsigned)leaks, trace);
	(void)fprintf(out, "{\n  \"seed\": %llu,\n", (unsigned long long)seed);
	print_healthy(out, &healthy);
	print_leaks(out, n);
	print_peers(out, &healthy, n);
	(void)fprintf(out, "  \"cpu_seconds\": %.0f\n}\n", (double)clock() / CLOCKS_PER_SEC);
	(void)printf("CPU: %.0f s for the healthy pods, %.0f s for %zu leaks; written to %s\n", healthy_s,
		     (double)clock() / CLOCKS_PER_SEC - healthy_s, n, path);
	kinds_done(kinds);
	return fclose(out) == 0 ? 0 : 3;
}
