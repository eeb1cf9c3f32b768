/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alert_book.h"

#include <stdlib.h>

int alert_book_init(struct alert_book *ret_book, const struct alertconf *conf, struct err *err)
{
	struct alert_book book = { .conf = conf, .active = calloc(ALERTS_MAX, sizeof(struct alert *)) };
	if (!book.active)
		return err_set(err, ERR_NOMEM, "no memory for alerts");
	*ret_book = book;
	return 0;
}

void alert_book_done(struct alert_book *book)
{
	for (size_t i = 0; i < book->n_active; i++)
		free(book->active[i]);
	for (size_t i = 0; i < book->n_ended; i++)
		free(book->ended[i]);
	free(book->active);
	free(book->ended);
	*book = (struct alert_book){ 0 };
}

/* --- places ------------------------------------------------------------------------------------------------------ */

static int compare(const struct alert *alert, const struct alert_group *group)
{
	const char *const a[4] = { alert->cluster, alert->namespace_, alert->workload, alert->rule };
	const char *const b[4] = { group->cluster, group->namespace_, group->workload, group->rule };
	return alert_key_compare(a, b);
}

/* Where in the order of active ones an alert of this key stands, or would. */
static size_t place_of(const struct alert_book *book, const struct alert *alert, bool *ret_there)
{
	const struct alert_group key = { .cluster = alert->cluster,
					 .namespace_ = alert->namespace_,
					 .workload = alert->workload,
					 .rule = alert->rule };
	size_t low = 0, high = book->n_active;
	*ret_there = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(book->active[middle], &key);
		if (order == 0) {
			*ret_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert_active(struct alert_book *book, size_t at, struct alert *alert)
{
	memmove(&book->active[at + 1], &book->active[at], (book->n_active - at) * sizeof(struct alert *));
	book->active[at] = alert;
	book->n_active++;
}

/* Room before it is needed: an alert that ended must never be lost for want of memory. */
static int room_for_ended(struct alert_book *book, struct err *err)
{
	if (book->n_ended < book->room_ended)
		return 0;
	size_t room = book->room_ended ? 2 * book->room_ended : 64;
	struct alert **ended = realloc(book->ended, room * sizeof(struct alert *));
	if (!ended)
		return err_set(err, ERR_NOMEM, "no memory for alerts that ended");
	book->ended = ended;
	book->room_ended = room;
	return 0;
}

/* --- who is told -------------------------------------------------------------------------------------------------- */

static void find_receivers(const struct alert_book *book, struct alert *alert)
{
	const struct alert_subject subject = { alert->cluster, alert->namespace_, alert->workload, alert->rule,
					       alert->severity };
	alert->receivers = alertconf_route(book->conf, &subject, &alert->route);
	for (size_t i = 0; i < book->conf->n_receivers; i++)
		if (alert->deliveries[i].told == ALERT_EDGE_FIRING || alert->deliveries[i].told == ALERT_EDGE_BEGUN)
			alert->receivers |= 1U << i;
}

void alert_settle(const struct alert_book *book, struct alert *alert)
{
	bool in_wait = (uint64_t)(alert->ended.ms - alert->started.ms) < book->conf->group_wait_ms,
	     was = alert->pending;
	if (!alert->ended.ms)
		return;
	alert->pending = false;
	for (size_t i = 0; i < book->conf->n_receivers; i++) {
		struct alert_delivery *delivery = &alert->deliveries[i];
		if (!(alert->receivers & 1U << i) || delivery->told >= ALERT_EDGE_RESOLVED)
			continue;
		bool never = delivery->told == ALERT_EDGE_NONE && (in_wait || alert->silenced);
		bool enough = delivery->told == ALERT_EDGE_FIRING && !book->conf->receivers[i].send_resolved;
		if (never || enough) {
			delivery->told = ALERT_EDGE_EXCUSED;
			delivery->unsaved = true;
		} else {
			alert->pending = true;
		}
	}
	alert->unsaved = alert->unsaved || was != alert->pending;
}

/* --- begin and end ------------------------------------------------------------------------------------------------- */

static struct alert *start(struct alert_book *book, const struct alert_group *group, struct mono now, struct wall wall)
{
	struct alert *alert = calloc(1, sizeof *alert);
	if (!alert)
		return NULL;
	str_copy(alert->cluster, sizeof alert->cluster, str_of(group->cluster));
	str_copy(alert->namespace_, sizeof alert->namespace_, str_of(group->namespace_));
	str_copy(alert->workload, sizeof alert->workload, str_of(group->workload));
	str_copy(alert->rule, sizeof alert->rule, str_of(group->rule));
	alert->severity = group->severity;
	alert->started = wall;
	alert->due = mono_add_ms(now, book->conf->group_wait_ms);
	alert->seen = now;
	alert->found = book->looks;
	alert->start_order = ++book->order;
	alert->figures = group->figures;
	alert->silenced = group->figures.silenced;
	alert->unsaved = alert->pending = true;
	find_receivers(book, alert);
	return alert;
}

static void end(struct alert_book *book, struct alert *alert, struct wall wall)
{
	alert->ended = wall.ms > alert->started.ms ? wall : alert->started; /* a clock that was set back */
	alert->end_order = ++book->order;
	alert->unsaved = true;
	alert_settle(book, alert);
	book->ended[book->n_ended++] = alert;
}

/* --- a look ---------------------------------------------------------------------------------------------------------- */

/* A severity that falls is believed after the hold time: what flutters at a level calls nobody. */
static bool has_fallen(const struct alert_book *book, struct alert *alert, const struct alert_group *group,
		       struct mono now)
{
	if (group->severity >= alert->severity) {
		alert->fallen = (struct mono){ 0 };
		return false;
	}
	if (!alert->fallen.ns)
		alert->fallen = now;
	return mono_ms_until(alert->fallen, now) >= book->conf->hold_ms;
}

/* The alert of this group as it goes on: itself, or the one of its new severity. */
static int go_on(struct alert_book *book, size_t at, const struct alert_group *group, struct mono now, struct wall wall,
		 struct err *err)
{
	struct alert *alert = book->active[at];
	alert->figures = group->figures;
	alert->seen = now;
	alert->found = book->looks;
	if (!has_fallen(book, alert, group, now) && group->severity <= alert->severity)
		return 0;
	int rc = room_for_ended(book, err);
	struct alert *next = rc == 0 ? start(book, group, now, wall) : NULL;
	if (!next)
		return rc < 0 ? rc : err_set(err, ERR_NOMEM, "no memory for an alert");
	/* The workload is in trouble all the time: whoever knows of it need not wait to hear that it is worse. */
	next->due = alert->due;
	book->active[at] = next;
	end(book, alert, wall);
	return 0;
}

static int begin(struct alert_book *book, size_t at, const struct alert_group *group, struct mono now, struct wall wall,
		 struct err *err)
{
	if (book->n_active == ALERTS_MAX) {
		book->left_out++;
		return 0;
	}
	struct alert *alert = start(book, group, now, wall);
	if (!alert)
		return err_set(err, ERR_NOMEM, "no memory for an alert");
	insert_active(book, at, alert);
	return 0;
}

static int end_or_keep(struct alert_book *book, size_t at, size_t *keep, struct mono now, struct wall wall,
		       struct err *err)
{
	struct alert *alert = book->active[at];
	bool over = mono_ms_until(alert->seen, now) >= book->conf->hold_ms;
	int rc = over ? room_for_ended(book, err) : 0;
	if (over && rc == 0)
		end(book, alert, wall);
	else
		book->active[(*keep)++] = alert;
	return rc;
}

int alert_book_look(struct alert_book *book, const struct alert_group *groups, size_t n, struct mono now,
		    struct wall wall, struct err *err)
{
	size_t at = 0, keep = 0;
	int rc = 0, worst = 0;
	book->left_out = 0;
	book->looks++;
	/* Both are in one order. First those that are found, so that a place is free only where none is. */
	for (size_t i = 0; i < n; i++) {
		int order = -1;
		while (at < book->n_active && (order = compare(book->active[at], &groups[i])) < 0)
			at++;
		if (at < book->n_active && order == 0)
			rc = go_on(book, at, &groups[i], now, wall, err);
		else
			rc = begin(book, at, &groups[i], now, wall, err);
		worst = rc < 0 ? rc : worst;
	}
	for (size_t i = 0; i < book->n_active; i++) {
		if (book->active[i]->found == book->looks)
			book->active[keep++] = book->active[i];
		else
			rc = end_or_keep(book, i, &keep, now, wall, err);
		worst = rc < 0 ? rc : worst;
	}
	book->n_active = keep;
	return worst;
}

/* --- the time before -------------------------------------------------------------------------------------------------- */

/* Alertmanager is told at once, it may have forgotten; a webhook when it would have been. */
static struct mono next_of(const struct alert_book *book, size_t receiver, const struct alert_delivery *delivery,
			   struct mono now, struct wall wall)
{
	int64_t ago_ms = wall.ms - delivery->told_at.ms;
	uint64_t gone_ms = ago_ms > 0 ? (uint64_t)ago_ms : 0, repeat_ms = book->conf->repeat_ms;
	if (book->conf->receivers[receiver].type == RECEIVER_ALERTMANAGER || gone_ms >= repeat_ms)
		return now;
	return mono_add_ms(now, repeat_ms - gone_ms);
}

int alert_book_restore(struct alert_book *book, const struct alert *alert, struct mono now, struct wall wall,
		       struct err *err)
{
	bool there = false;
	size_t at = place_of(book, alert, &there);
	int rc = room_for_ended(book, err);
	struct alert *copy = rc == 0 ? malloc(sizeof *copy) : NULL;
	if (!copy)
		return rc < 0 ? rc : err_set(err, ERR_NOMEM, "no memory for an alert");
	*copy = *alert;
	copy->seen = now;
	copy->unsaved = false;
	copy->in_flight = 0;
	copy->logged = copy->ended.ms ? 2 : 1;
	int64_t age_ms = wall.ms - copy->started.ms;
	uint64_t waited_ms = age_ms > 0 ? (uint64_t)age_ms : 0, wait_ms = book->conf->group_wait_ms;
	copy->due = mono_add_ms(now, waited_ms < wait_ms ? wait_ms - waited_ms : 0);
	find_receivers(book, copy);
	book->order = copy->start_order > book->order ? copy->start_order : book->order;
	book->order = copy->end_order > book->order ? copy->end_order : book->order;
	for (size_t i = 0; i < book->conf->n_receivers; i++)
		copy->deliveries[i].next = next_of(book, i, &copy->deliveries[i], now, wall);
	if (copy->ended.ms) {
		if (copy->pending)
			alert_settle(book, copy);
		book->ended[book->n_ended++] = copy;
	} else if (there || book->n_active == ALERTS_MAX) {
		/* Two of one key cannot be: the one that is in the way stays. */
		end(book, copy, wall);
	} else {
		copy->pending = true;
		insert_active(book, at, copy);
	}
	return 0;
}

void alert_book_trim(struct alert_book *book)
{
	size_t keep = 0, surplus = book->n_ended > ALERTS_ENDED_MAX ? book->n_ended - ALERTS_ENDED_MAX : 0;
	for (size_t i = 0; i < book->n_ended; i++) {
		struct alert *alert = book->ended[i];
		if (surplus > 0 && !alert->pending && !alert->in_flight && !alert->unsaved) {
			free(alert);
			surplus--;
		} else {
			book->ended[keep++] = alert;
		}
	}
	book->n_ended = keep;
}
