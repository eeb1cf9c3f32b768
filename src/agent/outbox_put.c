/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into the outbox: encoded once, numbered, spooled, recorded. */
#include "agent/outbox_parts.h"
#include "sys/clock.h"
#include "wire/wire.h"

static struct spool_epoch *live_of(const struct outbox *outbox)
{
	return spool_at(outbox->spool, spool_n(outbox->spool) - 1);
}

uint64_t outbox_key(const char *id)
{
	/* FNV-1a. */
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (const char *at = id; *at; at++)
		hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
	return hash;
}

bool outbox_encode(struct outbox *outbox, const struct wire_message *message)
{
	struct err err = { 0 };
	buf_clear(&outbox->text);
	if (wire_encode(message, &outbox->text, &err) == 0)
		return true;
	logger_say(outbox->log, SAY_ERROR, "message-unwritable", "%s: %s", wire_type_names[message->type], err.message);
	return false;
}

static void spool(struct outbox *outbox, enum spool_kind kind, enum wire_edge edge, uint64_t key)
{
	struct spool_record record = { .kind = kind, .edge = edge, .key = key };
	spool_put(outbox->spool, outbox_now(outbox), &record, buf_str(&outbox->text));
	if (!outbox->said_disk)
		outbox_watch_disk(outbox);
	outbox_wake(outbox);
}

/* Sooner than the collector asked for, and nothing that it would miss. A tick is never exact: a tenth is let go. */
static bool too_soon(const struct outbox *outbox, const struct wire_sample *sample, struct mono now)
{
	uint64_t wish_ms = outbox->uplink.min_interval_ms;
	return outbox->uplink.state == UPLINK_UP && !sample->urgent && !sample->has_composition &&
	       outbox->last_sample.ns && mono_ms_until(outbox->last_sample, now) < wish_ms - wish_ms / 10;
}

void outbox_sample(struct outbox *outbox, struct wire_sample *sample)
{
	struct mono now = outbox_now(outbox);
	bool sent = outbox->client && !too_soon(outbox, sample, now);
	sample->head.epoch = outbox->epoch;
	sample->head.seq = outbox->client ? spool_next(live_of(outbox)) : ++outbox->spooled;
	struct err err = { 0 };
	buf_clear(&outbox->text);
	if (wire_encode_sample(sample, &outbox->text, &err) < 0) {
		logger_say(outbox->log, SAY_ERROR, "message-unwritable", "sample: %s", err.message);
		outbox->unwritable_total++;
		sample->head.seq = 0;
		return;
	}
	recorder_put(&outbox->recorder, now, sample->head.wall, buf_str(&outbox->text));
	if (!sent) {
		sample->head.seq = 0;
		return;
	}
	outbox->last_sample = now;
	spool(outbox, SPOOL_SAMPLE, 0, 0);
}

void outbox_finding(struct outbox *outbox, struct wire_finding *finding)
{
	finding->head.epoch = outbox->epoch;
	finding->head.seq = outbox->client ? spool_next(live_of(outbox)) : ++outbox->spooled;
	if (!outbox->client)
		return;
	outbox->message.type = WIRE_FINDING;
	outbox->message.finding = *finding;
	if (!outbox_encode(outbox, &outbox->message)) {
		/* Too long as a whole: its title and edge still tell. */
		outbox->message.finding.whole = NULL;
		if (!outbox_encode(outbox, &outbox->message)) {
			outbox->unwritable_total++;
			spool_put_gap(outbox->spool);
			return;
		}
	}
	spool(outbox, SPOOL_FINDING, finding->edge, outbox_key(finding->id));
}
