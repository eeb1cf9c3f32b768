/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver is to be told, in which order, and what becomes of it: the queue is the book itself. */
#include "collector/alert_book.h"

enum { BACKOFF_LEAST_MS = 250, BACKOFF_FIRST_MS = 1000, BACKOFF_MOST_MS = 60000 };

static bool is_alertmanager(const struct alert_book *book, unsigned receiver)
{
	return book->conf->receivers[receiver].type == RECEIVER_ALERTMANAGER;
}

/* The edge that is due; false: none is. Whether it may be told yet is another question. */
static bool edge_due(const struct alert_book *book, struct alert *alert, unsigned receiver, struct mono now,
		     struct alert_item *ret_item)
{
	const struct alert_delivery *delivery = &alert->deliveries[receiver];
	bool resolved = alert->ended.ms && book->conf->receivers[receiver].send_resolved;
	if (!(alert->receivers & 1U << receiver))
		return false;
	if (delivery->told <= ALERT_EDGE_BEGUN && !alert->ended.ms &&
	    (alert->silenced || mono_ms_until(now, alert->due) > 0))
		return false;
	if (delivery->told >= ALERT_EDGE_RESOLVED || (delivery->told == ALERT_EDGE_FIRING && !resolved))
		return false;
	*ret_item = (struct alert_item){ .alert = alert,
					 .edge = resolved ? ALERT_EDGE_RESOLVED : ALERT_EDGE_FIRING,
					 .order = resolved ? alert->end_order : alert->start_order };
	return true;
}

/* What is told is stored before: a restart must not take back what somebody has heard. */
static bool is_stored(const struct alert_item *item, unsigned receiver)
{
	const struct alert *alert = item->alert;
	const struct alert_delivery *delivery = &alert->deliveries[receiver];
	return alert->row != 0 && !alert->unsaved &&
	       (item->edge == ALERT_EDGE_RESOLVED || (delivery->told == ALERT_EDGE_BEGUN && !delivery->unsaved));
}

/* A beat or a repetition. */
static bool again_due(const struct alert_book *book, struct alert *alert, unsigned receiver, struct mono now,
		      struct alert_item *ret_item)
{
	const struct alert_delivery *delivery = &alert->deliveries[receiver];
	/* Of Alertmanager a silence takes nothing back: to stop telling it would be to say that the trouble is over. */
	bool wanted = is_alertmanager(book, receiver) || (book->conf->repeat_ms && !alert->silenced);
	if (!wanted || alert->ended.ms || delivery->told != ALERT_EDGE_FIRING || mono_ms_until(now, delivery->next) > 0)
		return false;
	*ret_item = (struct alert_item){ alert, ALERT_EDGE_FIRING, true, alert->start_order };
	return true;
}

/* By order, the first `most`; `n` are there. */
static size_t insert(struct alert_item *items, size_t n, size_t most, const struct alert_item *item)
{
	size_t at = n;
	while (at > 0 && items[at - 1].order > item->order)
		at--;
	if (at == most)
		return n;
	size_t behind = n == most ? n - at - 1 : n - at;
	memmove(&items[at + 1], &items[at], behind * sizeof items[0]);
	items[at] = *item;
	return n == most ? n : n + 1;
}

static void begin_one(const struct alert_book *book, struct alert *alert, struct mono now)
{
	struct alert_item item;
	for (unsigned i = 0; i < book->conf->n_receivers; i++) {
		struct alert_delivery *delivery = &alert->deliveries[i];
		if (delivery->told != ALERT_EDGE_NONE || !edge_due(book, alert, i, now, &item) ||
		    item.edge != ALERT_EDGE_FIRING)
			continue;
		delivery->told = ALERT_EDGE_BEGUN;
		delivery->unsaved = true;
	}
}

void alert_begin(struct alert_book *book, struct mono now)
{
	for (size_t i = 0; i < book->n_ended; i++)
		if (book->ended[i]->pending)
			begin_one(book, book->ended[i], now);
	for (size_t i = 0; i < book->n_active; i++)
		begin_one(book, book->active[i], now);
}

struct choice {
	struct alert_item *items;
	size_t n, most;
	uint64_t before; /* the first edge that is due and not stored yet: nothing overtakes it */
};

static void choose(const struct alert_book *book, struct alert *alert, unsigned receiver, struct mono now,
		   struct choice *choice)
{
	struct alert_item item;
	if (!edge_due(book, alert, receiver, now, &item))
		return;
	if (is_stored(&item, receiver))
		choice->n = insert(choice->items, choice->n, choice->most, &item);
	else if (item.order < choice->before)
		choice->before = item.order;
}

size_t alert_due(const struct alert_book *book, unsigned receiver, struct mono now, struct alert_item *items,
		 size_t most)
{
	struct choice choice = { items, 0, most, UINT64_MAX };
	struct alert_item item;
	for (size_t i = 0; i < book->n_ended; i++)
		if (book->ended[i]->pending)
			choose(book, book->ended[i], receiver, now, &choice);
	for (size_t i = 0; i < book->n_active; i++)
		choose(book, book->active[i], receiver, now, &choice);
	while (choice.n > 0 && items[choice.n - 1].order > choice.before)
		choice.n--;
	for (size_t i = 0; i < book->n_active && choice.n < most; i++)
		if (again_due(book, book->active[i], receiver, now, &item))
			items[choice.n++] = item;
	return choice.n;
}

static void count_one(const struct alert_book *book, struct alert *alert, unsigned receiver, struct mono now, size_t *n,
		      struct wall *oldest)
{
	struct alert_item item;
	if (!edge_due(book, alert, receiver, now, &item))
		return;
	int64_t since_ms = item.edge == ALERT_EDGE_RESOLVED ? alert->ended.ms
							    : alert->started.ms + (int64_t)book->conf->group_wait_ms;
	if (*n == 0 || since_ms < oldest->ms)
		oldest->ms = since_ms;
	(*n)++;
}

size_t alert_queue(const struct alert_book *book, unsigned receiver, struct mono now, struct wall *ret_oldest)
{
	struct wall oldest = { 0 };
	size_t n = 0;
	for (size_t i = 0; i < book->n_ended; i++)
		if (book->ended[i]->pending)
			count_one(book, book->ended[i], receiver, now, &n, &oldest);
	for (size_t i = 0; i < book->n_active; i++)
		count_one(book, book->active[i], receiver, now, &n, &oldest);
	*ret_oldest = oldest;
	return n;
}

void alert_told(struct alert_book *book, unsigned receiver, const struct alert_item *item, struct mono now,
		struct wall wall)
{
	struct alert_delivery *delivery = &item->alert->deliveries[receiver];
	bool alertmanager = is_alertmanager(book, receiver);
	delivery->refusals = 0;
	delivery->next = mono_add_ms(now, alertmanager ? ALERT_BEAT_MS : book->conf->repeat_ms);
	if (item->again && alertmanager)
		return; /* a beat is nothing to remember */
	delivery->told = item->edge;
	delivery->told_at = wall;
	delivery->unsaved = true;
	if (item->again)
		delivery->repeats++;
	alert_settle(book, item->alert);
}

bool alert_refused(struct alert_book *book, unsigned receiver, const struct alert_item *item, struct mono now)
{
	struct alert_delivery *delivery = &item->alert->deliveries[receiver];
	if (item->again) {
		delivery->next = mono_add_ms(now, ALERT_BEAT_MS);
		return false;
	}
	if (++delivery->refusals < ALERT_REFUSALS_MAX)
		return false;
	delivery->told = ALERT_EDGE_EXCUSED;
	delivery->unsaved = true;
	alert_settle(book, item->alert);
	return true;
}

static bool is_owed(const struct alert *alert, unsigned receiver)
{
	return alert->pending && (alert->receivers & 1U << receiver) &&
	       alert->deliveries[receiver].told < ALERT_EDGE_RESOLVED;
}

size_t alert_give_up(struct alert_book *book, unsigned receiver, struct wall wall)
{
	size_t n_owed = 0, n = 0;
	for (size_t i = 0; i < book->n_ended; i++)
		n_owed += is_owed(book->ended[i], receiver);
	for (size_t i = 0; i < book->n_ended; i++) {
		struct alert *alert = book->ended[i];
		bool old = wall.ms - alert->ended.ms > ALERT_KEEP_MS;
		if (!is_owed(alert, receiver) || (!old && n_owed - n <= ALERTS_PENDING_MAX))
			continue;
		alert->deliveries[receiver].told = ALERT_EDGE_EXCUSED;
		alert->deliveries[receiver].unsaved = true;
		alert_settle(book, alert);
		n++;
	}
	return n;
}

uint64_t alert_backoff_ms(unsigned failures, uint64_t random)
{
	unsigned doublings = failures > 0 ? failures - 1 : 0;
	uint64_t most = doublings < 6 ? (uint64_t)BACKOFF_FIRST_MS << doublings : BACKOFF_MOST_MS;
	most = most < BACKOFF_MOST_MS ? most : BACKOFF_MOST_MS;
	return BACKOFF_LEAST_MS + random % (most - BACKOFF_LEAST_MS + 1);
}
