/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API costs: bench_api DIRECTORY [PODS]. A fleet in memory and its agents, samples and findings in a store in
 * the directory, which must be empty; then each request some times over, as the caller of api_request() sees it. Prints
 * bytes a pod, and for each request the median and the longest in milliseconds and the size of its reply. Goal: a page
 * of 100 pods of 10,000 in 50 ms.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collector/api.h"
#include "collector/fleet_load.h"
#include "support/fleetfill.h"

enum { RUNS = 41, BODY_CAP = 16 << 20, PODS_MAX = 100000 };

static struct api api;

static void must(int rc, const struct err *err)
{
	if (rc < 0) {
		fprintf(stderr, "bench_api: %s\n", err->message);
		exit(1);
	}
}

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static size_t ask(const char *path, const char *query, double *ret_ms)
{
	struct server_request request = { .method = STR("GET"), .path = str_of(path), .query = str_of(query) };
	struct server_reply reply = { .status = 200, .body = { .cap = BODY_CAP } };
	double start = now_ms();
	api_request(&api, API_ALL, &request, (struct wall){ FLEETFILL_NOW.ms + 5000 }, &reply);
	*ret_ms = now_ms() - start;
	size_t len = reply.body.len;
	if (reply.status != 200) {
		fprintf(stderr, "bench_api: %s?%s: %u %.200s\n", path, query, reply.status, reply.body.ptr);
		exit(1);
	}
	buf_done(&reply.body);
	return len;
}

static void measure(const char *path, const char *query, const char *goal)
{
	double ms[RUNS];
	size_t len = 0;
	for (unsigned i = 0; i < RUNS; i++)
		len = ask(path, query, &ms[i]);
	qsort(ms, RUNS, sizeof ms[0], by_value);
	printf("%s%s%s: %.2f ms, longest %.2f, %zu KiB%s\n", path, query[0] ? "?" : "", query, ms[RUNS / 2],
	       ms[RUNS - 1], len / 1024, goal);
}

/* All pages of the whole list. */
static void measure_all(unsigned pods)
{
	double sum = 0, longest = 0;
	for (unsigned after = 0; after < pods; after += 1000) {
		char query[64];
		double ms;
		snprintf(query, sizeof query, after ? "limit=1000&cursor=%u" : "limit=1000", after);
		(void)ask("/api/v1/pods", query, &ms);
		sum += ms;
		longest = ms > longest ? ms : longest;
	}
	printf("the whole list by 1000: %.0f ms in all, longest page %.1f ms\n", sum, longest);
}

static void fill(struct store *store, struct fleet *fleet, unsigned pods)
{
	static struct wire_hello hello;
	static struct wire_sample sample;
	struct err err;
	must(store_begin(store, &err), &err);
	for (unsigned i = 0; i < pods; i++) {
		struct wire_finding finding;
		struct wire_epoch id = { .bytes = { (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16) } };
		struct store_epoch epoch;
		char name[32];
		int64_t row;
		snprintf(name, sizeof name, "uid-%u", i);
		fleetfill_hello(&hello, i);
		fleetfill_sample(&sample, i);
		fleetfill_finding(&finding, i);
		sample.head.epoch = finding.head.epoch = id;
		must(store_agent(store, name, &hello, FLEETFILL_NOW, &row, &err), &err);
		must(store_epoch(store, row, id, FLEETFILL_NOW, &epoch, &err), &err);
		must(store_sample(store, row, &epoch, &sample, FLEETFILL_NOW, &err), &err);
		must(store_finding(store, row, &epoch, &finding, STR("{\"finding\":{}}"), FLEETFILL_NOW, &err), &err);
		must(fleet_connected(fleet, row, name, &hello, 0, FLEETFILL_NOW, &err), &err);
		fleet_sample(fleet, row, &sample, FLEETFILL_NOW);
		must(fleet_finding(fleet, row, &finding, FLEETFILL_NOW, &err), &err);
	}
	must(store_commit(store, &err), &err);
}

int main(int argc, char **argv)
{
	unsigned pods = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 10000;
	struct loop *loop;
	struct store *store;
	struct fleet *fleet, *loaded;
	struct auth *auth;
	struct err err;
	if (argc < 2 || pods == 0 || pods > PODS_MAX) {
		fprintf(stderr, "usage: bench_api DIRECTORY [PODS]\n");
		return 2;
	}
	must(loop_new(LOOP_POLL, NULL, NULL, &loop, &err), &err);
	must(store_open(argv[1], &(struct store_options){ 0 }, &store, &err), &err);
	must(auth_new(loop, &(struct auth_options){ .open = true, .open_viewers = true }, store, &auth, &err), &err);
	must(fleet_new(&fleet, &err), &err);
	fill(store, fleet, pods);
	api = (struct api){
		.fleet = fleet, .store = store, .auth = auth, .version = "bench", .cluster = "prod", .ready = true
	};
	must(fleet_new(&loaded, &err), &err);
	size_t before = mallinfo2().uordblks;
	double start = now_ms();
	must(fleet_load(loaded, store, FLEETFILL_NOW, &err), &err);
	printf("%u pods: %zu bytes a pod, loaded from the store in %.0f ms\n", pods,
	       (mallinfo2().uordblks - before) / pods, now_ms() - start);
	measure("/api/v1/pods", "limit=100", " (goal <= 50 ms)");
	measure("/api/v1/pods", "limit=1000", "");
	measure("/api/v1/pods", "node=node-7.internal", "");
	measure("/api/v1/workloads", "limit=1000", "");
	measure("/api/v1/findings", "limit=100&open=true", "");
	measure("/api/v1/findings", "limit=100&namespace=nobody", "");
	measure("/metrics", "", "");
	measure_all(pods);
	fleet_free(loaded);
	fleet_free(fleet);
	auth_free(auth);
	store_close(store);
	loop_free(loop);
	return 0;
}
