/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink.h"

#include <stdio.h>

#include "base/esc.h"
#include "sys/clock.h"
#include "wire/wire.h"

enum {
	MAX_FRAME_LEAST = 4096, /* a collector that takes less cannot take a sample */
	CAREFUL_ACKS = 16,
	TRIES_MAX = 64, /* of messages that turn out to be none, in one call */
};

int uplink_init(struct uplink *uplink, const struct uplink_options *options, const struct wire_subject *subject,
		struct err *err)
{
	*uplink = (struct uplink){
		.options = *options, .subject = *subject, .own_window = UPLINK_WINDOW_MAX, .text.cap = SPOOL_TEXT_MAX
	};
	if (!buf_grow(&uplink->text, SPOOL_TEXT_MAX))
		return err_set(err, ERR_NOMEM, "no memory for a frame");
	return 0;
}

void uplink_done(struct uplink *uplink)
{
	buf_done(&uplink->text);
}

static struct spool_epoch *live_of(const struct uplink *uplink)
{
	return spool_at(uplink->options.spool, spool_n(uplink->options.spool) - 1);
}

void uplink_opened(struct uplink *uplink, struct mono now)
{
	struct spool *spool = uplink->options.spool;
	size_t n = spool_n(spool);
	uplink->state = UPLINK_OPEN;
	uplink->opened = uplink->last_ack = now;
	uplink->cycle = uplink->heard_error = false;
	uplink->live_next = true;
	uplink->last_sent = (struct wire_position){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct spool_epoch *epoch = spool_at(spool, i);
		epoch->offered = i + 1 == n || i + 1 < WIRE_EPOCHS_MAX;
		epoch->sent = epoch->index.acked;
	}
}

static void copy_text(char *dest, size_t cap, const char *text)
{
	(void)snprintf(dest, cap, "%s", text ? text : "");
}

static bool hello(struct uplink *uplink, struct mono now, struct wall wall, struct buf *frame)
{
	struct spool *spool = uplink->options.spool;
	struct err err = { 0 };
	uplink->heard = (struct wire_message){ .type = WIRE_HELLO };
	struct wire_hello *h = &uplink->heard.hello;
	h->subject = uplink->subject;
	copy_text(h->program, sizeof h->program, uplink->options.version);
	copy_text(h->jdk, sizeof h->jdk, uplink->options.jdk);
	copy_text(h->engine, sizeof h->engine, uplink->options.engine);
	h->mono_ms = mono_ms_until(uplink->began, now);
	h->wall = wall;
	h->node_agent = uplink->options.of_node ? TRISTATE_TRUE : TRISTATE_UNREAD;
	for (size_t i = 0; i < spool_n(spool) && h->n_epochs < WIRE_EPOCHS_MAX; i++) {
		const struct spool_epoch *epoch = spool_at(spool, i);
		if (epoch->offered)
			h->epochs[h->n_epochs++] =
				(struct wire_held){ epoch->epoch, epoch->index.acked + 1, epoch->index.last };
	}
	uplink->state = UPLINK_GREETED;
	return wire_encode(&uplink->heard, frame, &err) == 0;
}

/* Messages that are on the wire and not acked. */
static size_t in_flight(const struct uplink *uplink)
{
	size_t sum = 0;
	for (size_t i = 0; i < spool_n(uplink->options.spool); i++) {
		const struct spool_epoch *epoch = spool_at(uplink->options.spool, i);
		if (epoch->offered && epoch->sent > epoch->index.acked)
			sum += spool_index_after(&epoch->index, epoch->sent) -
			       spool_index_after(&epoch->index, epoch->index.acked);
	}
	return sum;
}

static bool has_next(const struct spool_epoch *epoch)
{
	return epoch->offered && epoch->index.last > epoch->sent && epoch->index.n > 0;
}

/* The live epoch and the oldest of those before it, in turn. */
static struct spool_epoch *choose(struct uplink *uplink)
{
	struct spool_epoch *live = live_of(uplink), *old = NULL;
	for (size_t i = 0; i + 1 < spool_n(uplink->options.spool) && !old; i++)
		if (has_next(spool_at(uplink->options.spool, i)))
			old = spool_at(uplink->options.spool, i);
	if (has_next(live) && (uplink->live_next || !old)) {
		uplink->live_next = false;
		return live;
	}
	uplink->live_next = true;
	return old;
}

/*
 * What an earlier start left stands in a file that others may have written to: a frame that is not the message it should
 * be would cost the session.
 */
static bool is_itself(struct uplink *uplink, const struct spool_epoch *epoch, const struct spool_item *item)
{
	static const enum wire_type types[] = {
		[SPOOL_SAMPLE] = WIRE_SAMPLE, [SPOOL_FINDING] = WIRE_FINDING, [SPOOL_POSTMORTEM] = WIRE_POSTMORTEM
	};
	enum wire_error_code code;
	struct err err = { 0 };
	if (epoch == live_of(uplink))
		return true;
	if (wire_decode(buf_str(&uplink->text), &uplink->heard, &code, &err) < 0 ||
	    uplink->heard.type != types[item->kind])
		return false;
	const struct wire_head *head = item->kind == SPOOL_SAMPLE    ? &uplink->heard.sample.head
				       : item->kind == SPOOL_FINDING ? &uplink->heard.finding.head
								     : &uplink->heard.postmortem.head;
	return head->seq == item->seq && wire_epoch_same(head->epoch, epoch->epoch);
}

static bool gap(struct uplink *uplink, const struct spool_epoch *epoch, const struct spool_item *item,
		struct buf *frame)
{
	struct err err = { 0 };
	uplink->heard = (struct wire_message){ .type = WIRE_GAP };
	uplink->heard.gap = (struct wire_gap){ .epoch = epoch->epoch, .from = item->seq, .to = item->to };
	copy_text(uplink->heard.gap.reason, sizeof uplink->heard.gap.reason, spool_reason_names[item->reason]);
	return wire_encode(&uplink->heard, frame, &err) == 0;
}

static void sent(struct uplink *uplink, struct spool_epoch *epoch, const struct spool_item *item, struct mono now)
{
	if (in_flight(uplink) == 0)
		uplink->last_ack = now; /* the wait for an ack begins */
	if (item->to <= epoch->ever_sent)
		uplink->resent_total++;
	else
		epoch->ever_sent = item->to;
	epoch->sent = item->to;
	uplink->sent_total++;
	uplink->last_sent = (struct wire_position){ epoch->epoch, item->seq };
}

static bool message(struct uplink *uplink, struct mono now, struct buf *frame)
{
	uint32_t window = uplink->careful                       ? 1
			  : uplink->window < uplink->own_window ? uplink->window
								: uplink->own_window;
	for (int tries = 0; tries < TRIES_MAX && in_flight(uplink) < window; tries++) {
		struct spool_item item;
		struct spool_epoch *epoch = choose(uplink);
		if (!epoch || !spool_get(uplink->options.spool, epoch, epoch->sent, &item, &uplink->text))
			return false;
		if (item.kind != SPOOL_GAP && !is_itself(uplink, epoch, &item)) {
			spool_refuse(uplink->options.spool, epoch, item.seq, SPOOL_LOST);
			continue;
		}
		if (item.kind != SPOOL_GAP && uplink->text.len > uplink->max_frame) {
			spool_refuse(uplink->options.spool, epoch, item.seq, SPOOL_UNWRITABLE);
			uplink->refused_total++;
			continue;
		}
		bool whole = item.kind == SPOOL_GAP ? gap(uplink, epoch, &item, frame)
						    : buf_add(frame, buf_str(&uplink->text));
		if (whole)
			sent(uplink, epoch, &item, now);
		return whole;
	}
	return false;
}

static bool bye(struct uplink *uplink, struct buf *frame)
{
	struct err err = { 0 };
	uplink->heard = (struct wire_message){ .type = WIRE_BYE };
	copy_text(uplink->heard.bye.reason, sizeof uplink->heard.bye.reason, uplink->reason);
	uplink->state = UPLINK_LEFT;
	return wire_encode(&uplink->heard, frame, &err) == 0;
}

bool uplink_next(struct uplink *uplink, struct mono now, struct wall wall, struct buf *frame)
{
	if (uplink->state == UPLINK_OPEN)
		return hello(uplink, now, wall, frame);
	if (uplink->state != UPLINK_UP)
		return false;
	if (uplink->leave_now || (uplink->leaving && uplink_idle(uplink)))
		return bye(uplink, frame);
	return message(uplink, now, frame);
}

static void note(struct uplink_heard *heard, const char *event, const char *what, const char *text)
{
	size_t len;
	heard->event = event;
	len = (size_t)snprintf(heard->text, sizeof heard->text, "%s", what);
	if (len < sizeof heard->text)
		(void)esc_copy(heard->text + len, sizeof heard->text - len, str_of(text));
}

static void fail(struct uplink *uplink, struct mono now)
{
	if (uplink->state == UPLINK_UP && mono_ms_until(uplink->opened, now) >= UPLINK_STABLE_MS)
		uplink->attempts = 0; /* however it ends, it stood */
	uplink->state = UPLINK_FAILED;
	uplink->opened = now; /* from here on the time to the close is counted */
}

static void take_terms(struct uplink *uplink, const struct wire_welcome *w)
{
	uplink->window = w->window < UPLINK_WINDOW_MAX ? w->window : UPLINK_WINDOW_MAX;
	uplink->min_interval_ms = w->min_interval_ms < UPLINK_WISH_MAX_MS ? w->min_interval_ms : UPLINK_WISH_MAX_MS;
	uplink->max_frame = w->max_frame < WIRE_FRAME_MAX ? w->max_frame : WIRE_FRAME_MAX;
}

static void welcome(struct uplink *uplink, struct mono now, struct uplink_heard *heard)
{
	const struct wire_welcome *w = &uplink->heard.welcome;
	struct spool *spool = uplink->options.spool;
	if (uplink->state != UPLINK_GREETED && uplink->state != UPLINK_UP) {
		uplink->errors_total++;
		note(heard, "collector-spoke-out-of-turn", "a welcome that nobody waits for", "");
		return;
	}
	if (w->window == 0 || w->max_frame < MAX_FRAME_LEAST) {
		uplink->errors_total++;
		note(heard, "collector-unusable", "its window or max_frame lets nothing through", "");
		heard->close = true;
		return;
	}
	take_terms(uplink, w);
	heard->policy = &w->policy;
	if (uplink->state == UPLINK_UP) {
		heard->acked = true; /* the window may be another one */
		return;
	}
	for (size_t i = 0; i < spool_n(spool); i++)
		spool_at(spool, i)->sent = 0;
	for (size_t i = 0; i < w->n_acked; i++) {
		struct spool_epoch *epoch = spool_find(spool, w->acked[i].epoch);
		if (!epoch || !epoch->offered || w->acked[i].seq > epoch->index.last) {
			uplink->errors_total++; /* it has what was never sent: what is here is sent */
			continue;
		}
		epoch->sent = w->acked[i].seq;
		spool_ack(spool, epoch, w->acked[i].seq);
	}
	uplink->state = UPLINK_UP;
	uplink->opened = uplink->last_ack = now;
	uplink->sessions_total++;
	heard->began = heard->acked = true;
}

/* There are starts that hello had no room for, and room now. */
static bool has_more(const struct uplink *uplink)
{
	bool waiting = false;
	for (size_t i = 0; i + 1 < spool_n(uplink->options.spool); i++) {
		if (spool_at(uplink->options.spool, i)->offered)
			return false;
		waiting = true;
	}
	return waiting;
}

static void ack(struct uplink *uplink, struct mono now, struct uplink_heard *heard)
{
	const struct wire_position at = uplink->heard.ack;
	struct spool_epoch *epoch = spool_find(uplink->options.spool, at.epoch);
	if (uplink->state != UPLINK_UP || !epoch || !epoch->offered || at.seq > epoch->sent) {
		/* Of an old start that is done with, late ones are no error; what was never sent is. */
		uplink->errors_total += epoch != NULL;
		return;
	}
	if (at.seq <= epoch->index.acked)
		return;
	uplink->acked_total += spool_index_after(&epoch->index, at.seq);
	spool_ack(uplink->options.spool, epoch, at.seq);
	uplink->last_ack = now;
	heard->acked = true;
	if (uplink->careful && ++uplink->careful_acks >= CAREFUL_ACKS)
		uplink->careful = false;
	if (has_more(uplink))
		heard->close = uplink->cycle = true;
}

static void error_said(struct uplink *uplink, struct mono now, struct uplink_heard *heard)
{
	const struct wire_error *error = &uplink->heard.error;
	uplink->errors_total++;
	uplink->heard_error = true;
	uplink->error = error->code;
	char what[64];
	(void)snprintf(what, sizeof what, "the collector says %s: ", wire_error_names[error->code]);
	note(heard, "collector-error", what, error->text);
	if (error->code == WIRE_ERR_RATE)
		uplink->own_window = uplink->own_window / 2 ? uplink->own_window / 2 : 1;
	else
		fail(uplink, now);
}

void uplink_frame(struct uplink *uplink, struct mono now, struct str frame, struct uplink_heard *ret_heard)
{
	enum wire_error_code code;
	struct err err = { 0 };
	*ret_heard = (struct uplink_heard){ 0 };
	if (wire_decode(frame, &uplink->heard, &code, &err) < 0) {
		/* A later collector may say what we do not know; it goes on as if that had not been said. */
		uplink->errors_total++;
		if (code != WIRE_ERR_TYPE)
			note(ret_heard, "collector-unreadable", "", err.message);
		return;
	}
	switch (uplink->heard.type) {
	case WIRE_WELCOME:
		welcome(uplink, now, ret_heard);
		break;
	case WIRE_ACK:
		ack(uplink, now, ret_heard);
		break;
	case WIRE_ERROR:
		error_said(uplink, now, ret_heard);
		break;
	case WIRE_HELLO:
	case WIRE_SAMPLE:
	case WIRE_FINDING:
	case WIRE_POSTMORTEM:
	case WIRE_GAP:
	case WIRE_BYE:
	case WIRE_TYPE_COUNT:
		uplink->errors_total++; /* messages of an agent */
		break;
	}
}

bool uplink_stuck(const struct uplink *uplink, struct mono now, const char **ret_event)
{
	uint64_t open_ms = mono_ms_until(uplink->opened, now);
	switch (uplink->state) {
	case UPLINK_OPEN:
	case UPLINK_GREETED:
		*ret_event = "collector-silent";
		return open_ms >= UPLINK_WELCOME_MS;
	case UPLINK_UP:
		*ret_event = "collector-acks-nothing";
		return in_flight(uplink) > 0 && mono_ms_until(uplink->last_ack, now) >= UPLINK_ACK_MS;
	case UPLINK_FAILED:
	case UPLINK_LEFT:
		*ret_event = "collector-does-not-close";
		return open_ms >= UPLINK_ERROR_MS;
	case UPLINK_DOWN:
	default:
		return false;
	}
}

bool uplink_idle(const struct uplink *uplink)
{
	for (size_t i = 0; i < spool_n(uplink->options.spool); i++)
		if (spool_at(uplink->options.spool, i)->index.n > 0)
			return false;
	return true;
}
