/* SPDX-License-Identifier: Apache-2.0 */
/* The post-mortem on its way out: parts with the timeline to the spool, one line to standard output. */
#include <stdio.h>

#include "agent/outbox_parts.h"
#include "base/date.h"
#include "data/js.h"
#include "sys/clock.h"
#include "wire/put.h"
#include "wire/wire.h"

enum {
	PART_BODY_MAX = 60 * 1024, /* of a frame of 64 KiB: the rest is its head */
	LINE_MAX_BYTES = 16 * 1024,
	LINE_BODY_MAX = 12 * 1024,
	LAST_SAMPLES = 8, /* of the line */
	/* So long a composition that names more is the better last one. */
	NAMED_MS = 60000
};

/* --- reading the recorder ------------------------------------------------------------------ */

/* Somebody else may have written that file: it goes on only if it is a sample, on one line. */
static bool is_sample(struct outbox *outbox, struct str text)
{
	enum wire_error_code code;
	struct err err = { 0 };
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return false;
	return text.len <= PART_BODY_MAX / 2 && wire_decode(text, &outbox->message, &code, &err) == 0 &&
	       outbox->message.type == WIRE_SAMPLE;
}

struct recall {
	struct outbox *outbox;
	int pid;
	uint64_t start_ticks;
	struct wire_sample first[2], last[2]; /* any; with a composition */
	size_t n[2];
};

static unsigned n_named(const struct wire_sample *sample)
{
	unsigned n = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		n += qty_known(sample->owners[owner]);
	return n;
}

/*
 * Before a kill all threads wait for memory, those that answer for metrics as well: in the last scans what they named stands
 * in native-other, which has not grown for that.
 */
static bool names_less(const struct wire_sample *last, const struct wire_sample *sample)
{
	return sample->has_composition && n_named(sample) < n_named(last) &&
	       sample->head.mono_ms >= last->head.mono_ms && sample->head.mono_ms - last->head.mono_ms <= NAMED_MS;
}

static bool recall_each(void *context, struct mono taken, struct wall wall, struct str text)
{
	struct recall *recall = context;
	(void)taken, (void)wall;
	if (!is_sample(recall->outbox, text))
		return true;
	const struct wire_sample *sample = &recall->outbox->message.sample;
	if (sample->pid != recall->pid || sample->start_ticks != recall->start_ticks)
		return true;
	for (int with = 0; with < (sample->has_composition ? 2 : 1); with++) {
		if (recall->n[with]++ == 0)
			recall->first[with] = *sample;
		else if (with && names_less(&recall->last[1], sample))
			continue;
		recall->last[with] = *sample;
	}
	return true;
}

bool outbox_recall(struct outbox *outbox, int pid, uint64_t start_ticks, struct wire_sample *ret_first,
		   struct wire_sample *ret_last)
{
	auto_free struct recall *recall = calloc(1, sizeof *recall);
	if (!recall)
		return false;
	recall->outbox = outbox;
	recall->pid = pid;
	recall->start_ticks = start_ticks;
	recorder_read(&outbox->recorder, outbox_now(outbox), recall_each, recall);
	int which = recall->n[1] >= 2;
	if (recall->n[which] < 2)
		return false;
	*ret_first = recall->first[which];
	*ret_last = recall->last[which];
	return true;
}

/* --- the timeline ---------------------------------------------------------------------------- */

/*
 * Three walks over the recorder: how much there is, how many parts that makes, and the parts. The newest half of the
 * budget is told in full; of what is older every stride-th sample.
 */
struct timeline {
	struct outbox *outbox;
	struct wire_postmortem *part; /* NULL: not the walk that sends */
	uint64_t total, at;           /* bytes of all samples, and of those before this one */
	uint64_t full_from, stride, n;
	unsigned parts, most; /* begun so far; as many as there may be */
	struct buf body;
};

static bool measure(void *context, struct mono taken, struct wall wall, struct str text)
{
	struct timeline *line = context;
	(void)taken, (void)wall;
	if (is_sample(line->outbox, text))
		line->total += text.len;
	return true;
}

static void send_part(struct outbox *outbox, struct wire_postmortem *part)
{
	part->head.epoch = outbox->epoch;
	part->head.seq = spool_next(spool_at(outbox->spool, spool_n(outbox->spool) - 1));
	outbox->message.type = WIRE_POSTMORTEM;
	outbox->message.postmortem = *part;
	if (!outbox_encode(outbox, &outbox->message)) {
		outbox->message.postmortem.body = STR("{\"left_out\":\"it was too long for a frame\"}");
		if (!outbox_encode(outbox, &outbox->message)) {
			outbox->unwritable_total++;
			spool_put_gap(outbox->spool);
			return;
		}
	}
	struct spool_record record = { .kind = SPOOL_POSTMORTEM, .key = outbox_key(part->id) };
	spool_put(outbox->spool, outbox_now(outbox), &record, buf_str(&outbox->text));
}

static void end_part(struct timeline *line)
{
	if (line->part && line->body.len) {
		(void)buf_puts(&line->body, "]}");
		line->part->part++;
		line->part->body = buf_str(&line->body);
		if (!buf_failed(&line->body))
			send_part(line->outbox, line->part);
	}
	buf_clear(&line->body);
}

static bool pack(void *context, struct mono taken, struct wall wall, struct str text)
{
	struct timeline *line = context;
	(void)taken, (void)wall;
	if (!is_sample(line->outbox, text))
		return true;
	bool told = line->at >= line->full_from || line->n % line->stride == 0;
	line->at += text.len;
	line->n++;
	if (!told)
		return true;
	bool begins = line->body.len == 0 || line->body.len + text.len + 8 > PART_BODY_MAX;
	if (begins) {
		end_part(line);
		if (line->parts == line->most)
			return false;
		line->parts++;
	}
	(void)buf_puts(&line->body, begins ? "{\"timeline\":[" : ",");
	(void)buf_add(&line->body, text);
	return true;
}

/* `part` NULL: only count. Returns the number of parts. */
static unsigned walk(struct outbox *outbox, struct wire_postmortem *part, uint64_t total, unsigned most)
{
	uint64_t half = outbox->postmortem_bytes / 2, older = total > half ? total - half : 0;
	struct timeline line = { .outbox = outbox,
				 .part = part,
				 .full_from = total > outbox->postmortem_bytes ? older : 0,
				 .stride = older / half + 1,
				 .most = most,
				 .body.cap = WIRE_FRAME_MAX };
	recorder_read(&outbox->recorder, outbox_now(outbox), pack, &line);
	end_part(&line);
	buf_done(&line.body);
	return line.parts;
}

/* --- the line -------------------------------------------------------------------------------- */

struct last {
	struct outbox *outbox;
	struct {
		struct wall wall;
		struct qty charge, floor;
		struct signed_qty freeboard;
	} samples[LAST_SAMPLES];
	size_t n;
};

static bool last_each(void *context, struct mono taken, struct wall wall, struct str text)
{
	struct last *last = context;
	(void)taken;
	if (!is_sample(last->outbox, text) || last->outbox->message.sample.pid == 0)
		return true;
	const struct wire_sample *s = &last->outbox->message.sample;
	size_t i = last->n++ % LAST_SAMPLES;
	last->samples[i].wall = wall;
	last->samples[i].charge = s->charge_bytes;
	last->samples[i].floor = s->floor_bytes;
	last->samples[i].freeboard = s->freeboard_bytes;
	return true;
}

static void put_last(struct outbox *outbox, struct js_out *out)
{
	char date[DATE_TEXT_CAP];
	struct last last = { .outbox = outbox };
	recorder_read(&outbox->recorder, outbox_now(outbox), last_each, &last);
	js_out_key(out, "last_samples");
	js_out_array(out);
	for (size_t i = last.n > LAST_SAMPLES ? last.n - LAST_SAMPLES : 0; i < last.n; i++) {
		size_t at = i % LAST_SAMPLES;
		js_out_object(out);
		put_text(out, "time", date_format(date, last.samples[at].wall.ms));
		put_qty(out, "charge_bytes", last.samples[at].charge);
		put_qty(out, "floor_bytes", last.samples[at].floor);
		put_signed(out, "freeboard_bytes", last.samples[at].freeboard);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

/* The body goes in as it is: it must be JSON, on one line, without a byte that moves a cursor. */
static bool is_plain(struct str body)
{
	struct js *root = NULL;
	struct err err = { 0 };
	for (size_t i = 0; i < body.len; i++) {
		unsigned char byte = (unsigned char)body.ptr[i];
		bool c1 = byte == 0xc2 && i + 1 < body.len && ((unsigned char)body.ptr[i + 1] & 0xe0) == 0x80;
		if (byte < ' ' || byte == 0x7f || c1)
			return false;
	}
	bool plain = body.len <= LINE_BODY_MAX && js_parse(body, LINE_BODY_MAX, &root, &err) == 0 &&
		     js_kind(root) == JS_OBJECT;
	js_free(root);
	return plain;
}

static void print(struct outbox *outbox, const struct wire_postmortem *pm, struct str body)
{
	auto_buf struct buf line = { .cap = LINE_MAX_BYTES };
	char date[DATE_TEXT_CAP];
	struct err err = { 0 };
	struct js_out out;
	js_out_start(&out, &line, 0);
	js_out_object(&out);
	put_text(&out, "time", date_format(date, pm->head.wall.ms));
	put_text(&out, "event", "postmortem");
	put_text(&out, "id", pm->id);
	put_text(&out, "pod", outbox->uplink.subject.pod);
	put_text(&out, "workload", outbox->uplink.subject.workload);
	put_text(&out, "title", pm->title);
	put_text(&out, "cause", death_cause_names[pm->cause]);
	put_text(&out, "owner", pm->owner >= 0 && pm->owner < OWNER_COUNT ? owner_table[pm->owner].name : NULL);
	js_out_key(&out, "pid");
	js_out_i64(&out, pm->pid);
	put_text(&out, "died", date_format(date, pm->died.ms));
	put_last(outbox, &out);
	if (!is_plain(body)) {
		js_out_key(&out, "body_left_out_bytes");
		js_out_u64(&out, body.len);
	}
	js_out_object_end(&out);
	if (js_out_end(&out, &err) < 0 || line.len < 2) {
		logger_say(outbox->log, SAY_ERROR, "message-unwritable", "post-mortem: %s", err.message);
		return;
	}
	if (is_plain(body)) {
		line.len--; /* its last brace comes back behind the body */
		(void)buf_puts(&line, ",\"body\":");
		(void)buf_add(&line, body);
		(void)buf_putc(&line, '}');
	}
	(void)buf_putc(&line, '\n');
	if (buf_failed(&line) || !printer_put(&outbox->printer, buf_str(&line)))
		logger_say(outbox->log, SAY_ERROR, "postmortem-not-printed",
			   "nobody reads standard output, or there is no memory: %s is not printed", pm->id);
}

void outbox_postmortem(struct outbox *outbox, struct wire_postmortem *part0, struct str body)
{
	outbox->postmortems_total++;
	/* The line first: of all that is said now it needs least of others. */
	print(outbox, part0, body);
	if (!outbox->client)
		return;
	/* An agent seldom outlives its JVM for long, and a disk that was full a moment ago may have room. */
	spool_hurry(outbox->spool, outbox_now(outbox));
	struct timeline line = { .outbox = outbox };
	recorder_read(&outbox->recorder, outbox_now(outbox), measure, &line);
	unsigned parts = line.total ? walk(outbox, NULL, line.total, WIRE_PARTS_MAX - 1) : 0;
	struct wire_postmortem part = *part0;
	part.part = 0;
	part.parts = parts + 1;
	part.body = body;
	send_part(outbox, &part);
	part0->head = part.head;
	part0->parts = part.parts;
	if (parts)
		(void)walk(outbox, &part, line.total, parts);
	outbox_watch_disk(outbox);
	outbox_wake(outbox);
}
