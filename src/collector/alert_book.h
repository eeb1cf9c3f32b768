/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alerts that are active or have lately ended, and what each receiver has been told of each. PURE: no clock, no
 * store, no network; alerts.c is around it.
 *
 * One cluster, namespace, workload and rule has at most one active alert, of its highest severity. It ends when nothing
 * of it was found for the hold time. A severity that rises starts the next alert and ends this one, in that order; one that
 * falls does so after the hold time.
 *
 * An edge is told to a receiver once it worked; all edges of a receiver in the order in which they happened. What ended
 * before it was told at all is told once, as resolved (firing, where that receiver wants no resolved). What ended within
 * the group wait, or while silenced, is nobody's concern.
 */
#ifndef COLLECTOR_ALERT_BOOK_H
#define COLLECTOR_ALERT_BOOK_H

#include "collector/alert_group.h"
#include "config/alertconf.h"

enum {
	ALERTS_MAX = ALERT_GROUPS_MAX, /* active ones */
	ALERTS_ENDED_MAX = 512,        /* that are kept for people to see; what is still to be told is kept beyond */
};

/*
 * BEGUN: a firing is being told, and it is not known whether it came through: who may have heard it is told its end, too.
 * EXCUSED: nothing is to be told any more.
 */
enum alert_edge { ALERT_EDGE_NONE = 0, ALERT_EDGE_BEGUN, ALERT_EDGE_FIRING, ALERT_EDGE_RESOLVED, ALERT_EDGE_EXCUSED };

/* What one receiver knows of one alert. */
struct alert_delivery {
	enum alert_edge told; /* the last that came through */
	struct wall told_at;
	uint32_t repeats;
	unsigned refusals; /* in a row, of what is due now */
	struct mono next;  /* when what was told is told again */
	bool unsaved;
};

struct alert {
	int64_t row; /* the store's; 0: not stored yet, and nobody is told of it before */
	char cluster[64], namespace_[64], workload[WIRE_NAME_CAP], rule[ALERT_NAME_CAP];
	enum severity severity;
	struct wall started, ended;      /* ended.ms 0: active */
	uint64_t start_order, end_order; /* among all edges: 1 is the first; end_order 0: active */
	uint64_t found;                  /* the look that found it last */
	struct mono due;                 /* nobody is told before: the group wait */
	struct mono seen, fallen;        /* last found; since when at a lower severity alone (ns 0: it is not) */
	struct alert_figures figures;    /* the latest */
	bool silenced;                   /* nobody is to be told now: alerts.c asks for each before each telling */
	int route;                       /* that decided, -1: the default */
	uint32_t receivers;              /* one bit each: who is told */
	struct alert_delivery deliveries[ALERT_RECEIVERS_MAX];
	bool unsaved;       /* not stored as it is: started, ended, or all is told */
	bool pending;       /* somebody is still to be told */
	unsigned in_flight; /* sendings that hold it */
	uint8_t logged;     /* edges that the log has */
};

struct alert_book {
	const struct alertconf *conf;
	struct alert **active; /* in the order of alert_groups() */
	size_t n_active;
	struct alert **ended; /* the oldest first */
	size_t n_ended, room_ended;
	uint64_t order, looks; /* so many edges, and looks, have been */
	size_t left_out;       /* groups past ALERTS_MAX, at the last look */
};

int alert_book_init(struct alert_book *ret_book, const struct alertconf *conf, struct err *err)
	__attribute__((warn_unused_result));
void alert_book_done(struct alert_book *book);

/*
 * One of the time before, as the store has it; `told` lies in its deliveries. Receivers are found anew by the routes of
 * today; whoever was told it fires is told its end. The book's own copy.
 */
int alert_book_restore(struct alert_book *book, const struct alert *alert, struct mono now, struct wall wall,
		       struct err *err) __attribute__((warn_unused_result));

/* What is found now: starts, keeps and ends alerts. NOMEM: what could not be started is at the next look. */
int alert_book_look(struct alert_book *book, const struct alert_group *groups, size_t n, struct mono now,
		    struct wall wall, struct err *err) __attribute__((warn_unused_result));

/* What is still to be told of one that has ended: `pending`. Of one that is active nothing changes. */
void alert_settle(const struct alert_book *book, struct alert *alert);

/* Ended ones past ALERTS_ENDED_MAX of which nothing is to be told go. */
void alert_book_trim(struct alert_book *book);

/* --- telling (alert_due.c) ------------------------------------------------------------------------------------ */

enum {
	ALERT_BEAT_MS = 60000,  /* Alertmanager forgets what is not said again */
	ALERT_LIFE_MS = 240000, /* ... after this: four beats */
	ALERT_REFUSALS_MAX = 3, /* a message that is refused so often is dropped: others wait behind it */
	ALERT_KEEP_MS = 7 * 24 * 3600 * 1000,
	ALERTS_PENDING_MAX = 8192,
	ALERT_BATCH_MAX = 128, /* in one message to Alertmanager */
};

struct alert_item {
	struct alert *alert;
	enum alert_edge edge; /* FIRING or RESOLVED */
	bool again;           /* it was told before: a beat, or a repetition */
	uint64_t order;
};

/* Edges that are due from now on are BEGUN: to be stored, and alert_due() gives them once they are. */
void alert_begin(struct alert_book *book, struct mono now);

/*
 * What this receiver is to be told now, in order, at most `most`; Alertmanager is also told again what still fires.
 * Nothing that is not stored.
 */
size_t alert_due(const struct alert_book *book, unsigned receiver, struct mono now, struct alert_item *items,
		 size_t most);
/* Edges that are due and were not told, and since when the oldest is (ms 0: none). */
size_t alert_queue(const struct alert_book *book, unsigned receiver, struct mono now, struct wall *ret_oldest);

/* It came through. */
void alert_told(struct alert_book *book, unsigned receiver, const struct alert_item *item, struct mono now,
		struct wall wall);
/* It was refused for what it is; true: for the last time, it is dropped. */
bool alert_refused(struct alert_book *book, unsigned receiver, const struct alert_item *item, struct mono now);

/*
 * Of ended ones that this receiver could not be told of for ALERT_KEEP_MS, or that are more than ALERTS_PENDING_MAX, the
 * oldest are given up; how many.
 */
size_t alert_give_up(struct alert_book *book, unsigned receiver, struct wall wall);

/* Full jitter: 0.25 s to the cap that doubles with each failure in a row, from 1 s to 60 s. `random` is any number. */
uint64_t alert_backoff_ms(unsigned failures, uint64_t random);

#endif
