/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent's history costs a tick of 5 s, scans every 30 s, over a day: with owners that stand still, as most do,
 * and with all of them growing, which none does. Prints the average of a tick and the longest one: a fit a minute.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ledger/history.h"

enum { TICK_S = 5, SCAN_S = 30, DAY_S = 86400, BEGIN_S = 100000 };

/* Of the processor, so that neighbours on the machine do not count. */
static uint64_t cpu_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void run(const char *what, bool grows)
{
	struct snapshot *s = calloc(1, sizeof *s);
	struct ledger *l = calloc(1, sizeof *l);
	struct history *history = malloc(history_size());
	static struct trend_space space;
	static struct history_view view;
	uint64_t sum = 0, longest = 0, ticks = 0, random = 1;
	if (!s || !l || !history)
		abort();
	history_start(history);
	s->process = (struct process_id){ 42, 100 };
	l->limit = limit_set((uint64_t)4 << 30);
	l->floor_bytes = qty_measured((uint64_t)2 << 30);
	l->native_pool_bytes = qty_measured((uint64_t)1 << 30);
	l->freeboard_bytes = (struct signed_qty){ (int64_t)2 << 30, true };
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		l->listed[owner] = true;
		l->lines[owner].bytes = qty_measured(64 << 20);
	}
	for (uint64_t t = BEGIN_S; t < BEGIN_S + DAY_S; t += TICK_S, ticks++) {
		for (int owner = 0; grows && owner < OWNER_COUNT; owner++) {
			random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			l->lines[owner].bytes.bytes += 15000 + (random >> 33) % 10000;
		}
		struct mono now = { t * 1000000000 };
		uint64_t before = cpu_ns();
		history_tick(history, now, s, l, &s->engine.context);
		if (t % SCAN_S == 0)
			history_scan(history, now, s, l);
		history_look(history, now, s, l, &space, &view);
		uint64_t took = cpu_ns() - before;
		sum += took;
		longest = took > longest ? took : longest;
	}
	printf("history, %s: %.1f us a tick, the longest %.1f ms; %zu KiB\n", what, (double)sum / (double)ticks / 1e3,
	       (double)longest / 1e6, (history_size() + sizeof space + sizeof view) / 1024);
	free(history);
	free(l);
	free(s);
}

int main(void)
{
	run("owners stand still", false);
	run("all 31 grow", true);
	return 0;
}
