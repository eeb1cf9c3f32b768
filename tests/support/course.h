/* SPDX-License-Identifier: Apache-2.0 */
/* A plain JVM over time, and its history: a test moves the figures and the clock. */
#ifndef SUPPORT_COURSE_H
#define SUPPORT_COURSE_H

#include <stdlib.h>

#include "ledger/history.h"
#include "support/snap.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, BEGIN = 100000 };

struct course {
	struct snapshot *s;
	struct ledger *l;
	struct history *history;
	struct trend_space space;
	struct history_view view;
	uint64_t now_s;
};

static inline struct mono at(uint64_t s)
{
	return (struct mono){ s * 1000000000 };
}

/* A JVM that has run for a day when the agent starts: nothing settles. */
static inline struct course *begin(void)
{
	struct course *sc = calloc(1, sizeof *sc);
	sc->s = snap_new(&snap_plain);
	sc->s->cgroup.max = limit_set(4 * GIB);
	sc->s->metrics_read = true;
	sc->s->status.n_threads = count_of(60);
	sc->s->process.start_ticks = 100; /* at 1 s */
	sc->l = snap_ledger(sc->s);
	sc->history = malloc(history_size());
	history_start(sc->history);
	sc->now_s = BEGIN;
	return sc;
}

static inline void end(struct course *sc)
{
	free(sc->history);
	free(sc->l);
	snap_free(sc->s);
	free(sc);
}

static inline void tick(struct course *sc)
{
	history_tick(sc->history, at(sc->now_s), sc->s, sc->l, &sc->s->engine.context);
}

static inline void scan(struct course *sc)
{
	tick(sc);
	history_scan(sc->history, at(sc->now_s), sc->s, sc->l);
}

static inline const struct history_view *look(struct course *sc)
{
	history_look(sc->history, at(sc->now_s), sc->s, sc->l, &sc->space, &sc->view);
	return &sc->view;
}

static inline void set_native(struct course *sc, double mib)
{
	int64_t moved = (int64_t)(mib * MIB) - (int64_t)sc->l->lines[OWNER_NATIVE_OTHER].bytes.bytes;
	sc->l->lines[OWNER_NATIVE_OTHER].bytes.bytes += (uint64_t)moved;
	sc->l->native_pool_bytes.bytes += (uint64_t)moved;
	sc->l->floor_bytes.bytes += (uint64_t)moved;
	sc->l->freeboard_bytes.bytes -= moved;
}

#endif
