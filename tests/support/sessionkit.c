/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sessionkit.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/fleet_load.h"

static const struct ingest_options defaults = { .cluster = "lab" };

static void start(struct rig *rig, const struct ingest_options *options)
{
	const struct store_options store = { .busy_ms = 50 };
	struct err err = { 0 };
	if (store_open(rig->scratch.path, &store, &rig->store, &err) < 0 || fleet_new(&rig->fleet, &err) < 0 ||
	    fleet_load(rig->fleet, rig->store, rig->wall, &err) < 0 ||
	    ingest_new(NULL, options, rig->store, rig->fleet, &rig->ingest, &err) < 0)
		fail_msg("%s", err.message);
	(void)ingest_step(rig->ingest, rig->now, rig->wall);
}

static void stop(struct rig *rig)
{
	ingest_free(rig->ingest);
	fleet_free(rig->fleet);
	store_close(rig->store);
}

void rig_init(struct rig *rig, const struct ingest_options *options)
{
	*rig = (struct rig){ .scratch = scratch_new(),
			     .now = { UINT64_C(5000000000000) },
			     .wall = { INT64_C(1700000100000) } };
	start(rig, options ? options : &defaults);
}

void rig_done(struct rig *rig)
{
	stop(rig);
	scratch_done(&rig->scratch);
}

int rig_set_up(void **state)
{
	static struct rig rig;
	rig_init(&rig, NULL);
	*state = &rig;
	return 0;
}

int rig_tear_down(void **state)
{
	rig_done(*state);
	return 0;
}

void rig_restart(struct rig *rig)
{
	const struct ingest_options options = rig->ingest->options;
	stop(rig);
	start(rig, &options);
}

void rig_pass(struct rig *rig, uint64_t ms)
{
	rig->now = mono_add_ms(rig->now, ms);
	rig->wall.ms += (int64_t)ms;
	(void)ingest_step(rig->ingest, rig->now, rig->wall);
}

struct session *rig_open(struct rig *rig, const char *id)
{
	struct auth_agent agent = { .method = "token" };
	str_copy(agent.id, sizeof agent.id, str_of(id));
	struct session *session = ingest_open(rig->ingest, &agent, "10.0.0.7");
	assert_non_null(session);
	return session;
}

void rig_frame(struct session *session, const char *text)
{
	session_frame(session, str_of(text));
}

void rig_message(struct session *session, const struct wire_message *message)
{
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	struct err err = { 0 };
	if (wire_encode(message, &frame, &err) < 0)
		fail_msg("%s", err.message);
	session_frame(session, buf_str(&frame));
}

void rig_hello(struct rig *rig, struct session *session, unsigned first, unsigned last)
{
	struct wire_message message = { .type = WIRE_HELLO, .hello = storekit_hello(last) };
	message.hello.wall = rig->wall;
	for (unsigned i = first; i <= last; i++)
		message.hello.epochs[message.hello.n_epochs++] =
			(struct wire_held){ .epoch = storekit_epoch(i), .first = 1, .last = 0 };
	rig_message(session, &message);
}

void rig_sample(struct session *session, unsigned epoch, uint64_t seq)
{
	struct wire_message message = { .type = WIRE_SAMPLE, .sample = storekit_sample(epoch) };
	message.sample.head.seq = seq;
	message.sample.head.mono_ms = seq % 1000000 * 10000;
	message.sample.head.wall.ms += (int64_t)message.sample.head.mono_ms;
	rig_message(session, &message);
}

void rig_gap(struct session *session, unsigned epoch, uint64_t from, uint64_t to)
{
	struct wire_message message = { .type = WIRE_GAP, .gap = { storekit_epoch(epoch), from, to, "spool-full" } };
	rig_message(session, &message);
}

struct session *rig_agent(struct rig *rig, const char *id, unsigned epoch)
{
	struct session *session = rig_open(rig, id);
	rig_hello(rig, session, epoch, epoch);
	rig_pass(rig, 20);
	return session;
}

static unsigned number_of(struct wire_epoch epoch)
{
	return (unsigned)epoch.bytes[15] | (unsigned)epoch.bytes[14] << 8;
}

static void describe(const struct wire_message *message, struct buf *line)
{
	if (line->len)
		(void)buf_putc(line, ' ');
	switch ((int)message->type) {
	case WIRE_WELCOME:
		(void)buf_puts(line, "welcome(");
		for (size_t i = 0; i < message->welcome.n_acked; i++)
			(void)buf_printf(line, "%s%u=%" PRIu64, i ? " " : "",
					 number_of(message->welcome.acked[i].epoch), message->welcome.acked[i].seq);
		(void)buf_putc(line, ')');
		break;
	case WIRE_ACK:
		(void)buf_printf(line, "ack(%u=%" PRIu64 ")", number_of(message->ack.epoch), message->ack.seq);
		break;
	case WIRE_ERROR:
		(void)buf_printf(line, "error(%s)", wire_error_names[message->error.code]);
		break;
	default:
		(void)buf_puts(line, "?");
	}
}

const char *rig_said(struct session *session)
{
	static char text[1024];
	auto_buf struct buf line = { .cap = sizeof text - 1 };
	for (;;) {
		auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
		struct wire_message message;
		enum wire_error_code code;
		struct err err = { 0 };
		if (!session_writable(session, &frame))
			break;
		if (wire_decode(buf_str(&frame), &message, &code, &err) < 0)
			fail_msg("%s: %s", err.message, frame.ptr);
		describe(&message, &line);
	}
	if (session->close_code)
		(void)buf_printf(&line, "%s>%u", line.len ? " " : "", session->close_code);
	str_copy(text, sizeof text, buf_str(&line));
	return text;
}

static bool take_postmortem(void *context, const struct store_postmortem_row *row)
{
	struct rig_postmortem *found = context;
	found->n++;
	found->row = *row;
	str_copy(found->text, sizeof found->text, row->text);
	return true;
}

struct rig_postmortem *rig_postmortem(struct rig *rig)
{
	static struct rig_postmortem found;
	const struct store_filter filter = { .with_text = true };
	struct err err = { 0 };
	found = (struct rig_postmortem){ 0 };
	if (store_each_postmortem(rig->store, &filter, take_postmortem, &found, &err) < 0)
		fail_msg("%s", err.message);
	return &found;
}
