/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 120 */
/* The outbox against a WebSocket server on loopback that plays the collector, well or badly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/outbox.h"
#include "data/js.h"
#include "net/server.h"
#include "support/scratch.h"
#include "sys/file.h"
#include "wire/wire.h"

enum { MESSAGES_MAX = 4096, ACKS_MAX = 64, STEP_MS = 5, PATIENCE_MS = 20000 };

/* What one run of the collector has. It takes an epoch strictly in order, as the real one does. */
struct collector {
	struct loop *loop;
	struct server *server;
	uint16_t port;
	struct server_ws *ws;
	struct wire_epoch epochs[16];
	uint64_t acked[16];
	size_t n_epochs;
	bool ack, welcomed, want_welcome, sequence_error;
	unsigned refuse; /* HTTP status of every upgrade; 0: none */
	struct wire_position acks[ACKS_MAX];
	size_t n_acks;
	struct wire_subject subject; /* of the last hello */
	unsigned samples, findings, gaps, byes, hellos, parts, duplicates;
	unsigned parts_due, timeline;
	char cause[32];
	struct wire_message message; /* work space */
};

static struct collector *of(void *session)
{
	return session;
}

static bool on_upgrade(void *context, const struct server_request *request, struct server_reply *reply,
		       void **ret_session)
{
	struct collector *c = context;
	(void)request;
	if (c->refuse) {
		reply->status = c->refuse;
		return false;
	}
	*ret_session = c;
	return true;
}

static void on_open(void *session, struct server_ws *ws)
{
	of(session)->ws = ws;
}

static uint64_t *position(struct collector *c, struct wire_epoch epoch)
{
	for (size_t i = 0; i < c->n_epochs; i++)
		if (wire_epoch_same(c->epochs[i], epoch))
			return &c->acked[i];
	assert_true(c->n_epochs < 16);
	c->epochs[c->n_epochs] = epoch;
	return &c->acked[c->n_epochs++];
}

static void take(struct collector *c, struct wire_epoch epoch, uint64_t from, uint64_t to)
{
	uint64_t *acked = position(c, epoch);
	if (to <= *acked)
		c->duplicates++;
	else if (from > *acked + 1)
		c->sequence_error = true;
	else
		*acked = to;
	if (c->ack && c->n_acks < ACKS_MAX)
		c->acks[c->n_acks++] = (struct wire_position){ epoch, *acked };
}

static void take_part(struct collector *c, struct str frame)
{
	struct err err = { 0 };
	struct js *root = NULL;
	struct str text;
	const struct wire_postmortem *pm = &c->message.postmortem;
	assert_int_equal(js_parse(frame, WIRE_FRAME_MAX, &root, &err), 0);
	const struct js *line = js_path(root, "body.timeline");
	assert_int_equal(pm->part, c->parts);
	if (pm->part == 0) {
		assert_true(js_str(js_path(root, "body.cause"), &text));
		str_copy(c->cause, sizeof c->cause, text);
		c->parts_due = pm->parts;
	}
	assert_int_equal(js_kind(line), pm->part ? JS_ARRAY : JS_ABSENT);
	c->timeline += (unsigned)js_len(line);
	c->parts++;
	js_free(root);
}

static void on_frame(void *session, struct str frame)
{
	struct collector *c = session;
	enum wire_error_code code;
	struct err err = { 0 };
	if (wire_decode(frame, &c->message, &code, &err) < 0)
		fail_msg("%s", err.message);
	struct wire_message *m = &c->message;
	switch ((int)m->type) {
	case WIRE_HELLO:
		c->hellos++;
		c->subject = m->hello.subject;
		c->want_welcome = true;
		for (size_t i = 0; i < m->hello.n_epochs; i++)
			(void)position(c, m->hello.epochs[i].epoch);
		break;
	case WIRE_SAMPLE:
		c->samples++;
		take(c, m->sample.head.epoch, m->sample.head.seq, m->sample.head.seq);
		break;
	case WIRE_FINDING:
		c->findings++;
		take(c, m->finding.head.epoch, m->finding.head.seq, m->finding.head.seq);
		break;
	case WIRE_POSTMORTEM:
		take_part(c, frame);
		take(c, m->postmortem.head.epoch, m->postmortem.head.seq, m->postmortem.head.seq);
		break;
	case WIRE_GAP:
		c->gaps++;
		take(c, m->gap.epoch, m->gap.from, m->gap.to);
		break;
	case WIRE_BYE:
		c->byes++;
		break;
	default:
		fail_msg("an agent says %s", wire_type_names[m->type]);
	}
	server_ws_want_write(c->ws);
}

static bool on_writable(void *session, struct buf *frame)
{
	struct collector *c = session;
	struct err err = { 0 };
	if (c->want_welcome) {
		c->message = (struct wire_message){ .type = WIRE_WELCOME };
		struct wire_welcome *w = &c->message.welcome;
		*w = (struct wire_welcome){ .window = 64, .max_frame = WIRE_FRAME_MAX };
		w->policy.version = 7;
		w->policy.interval_ms = 9000;
		for (size_t i = 0; i < c->n_epochs; i++)
			w->acked[w->n_acked++] = (struct wire_position){ c->epochs[i], c->acked[i] };
		c->want_welcome = false;
	} else if (c->n_acks) {
		c->message = (struct wire_message){ .type = WIRE_ACK, .ack = c->acks[--c->n_acks] };
	} else {
		return false;
	}
	assert_int_equal(wire_encode(&c->message, frame, &err), 0);
	return true;
}

static void on_closed(void *session, unsigned code)
{
	(void)code;
	of(session)->ws = NULL;
	of(session)->n_acks = 0;
}

static void collector_up(struct collector *c)
{
	static const struct server_events events = { .on_upgrade = on_upgrade,
						     .on_open = on_open,
						     .on_frame = on_frame,
						     .on_writable = on_writable,
						     .on_closed = on_closed };
	struct err err = { 0 };
	const struct server_options options = {
		.listeners = { { .name = "agents", .address = "127.0.0.1", .port = c->port } },
		.n_listeners = 1,
		.protocols = { { .name = WIRE_PROTOCOL } },
		.n_protocols = 1,
	};
	if (server_new(c->loop, &options, &events, c, &c->server, &err) < 0)
		fail_msg("%s", err.message);
	c->port = server_port(c->server, 0);
}

static void collector_down(struct collector *c)
{
	server_free(c->server);
	c->server = NULL;
}

/* The agent's end. */
struct rig {
	struct collector c;
	struct loop *loop;
	struct loop_timer *timer;
	struct outbox *outbox;
	struct scratch scratch;
	char url[64];
	bool (*until)(struct rig *rig);
	unsigned waited_ms;
	unsigned policies, sessions;
	bool stopped;
	struct outbox_counts counts;
};

static void on_policy(void *context, const struct wire_policy *policy)
{
	struct rig *rig = context;
	assert_int_equal(policy->interval_ms, 9000);
	rig->policies++;
}

static void on_session(void *context, uint32_t min_interval_ms)
{
	(void)min_interval_ms;
	((struct rig *)context)->sessions++;
}

static void step(void *context)
{
	struct rig *rig = context;
	outbox_count(rig->outbox, &rig->counts);
	rig->waited_ms += STEP_MS;
	if (rig->until(rig) || rig->waited_ms > PATIENCE_MS)
		loop_stop(rig->loop);
	else
		loop_timer_set(rig->timer, STEP_MS);
}

static void run_until(struct rig *rig, bool (*until)(struct rig *rig))
{
	struct err err = { 0 };
	rig->until = until;
	rig->waited_ms = 0;
	loop_timer_set(rig->timer, 0);
	assert_int_equal(loop_run(rig->loop, &err), 0);
	if (rig->waited_ms > PATIENCE_MS)
		fail_msg("not in %d ms: %s", PATIENCE_MS, rig->counts.trouble);
}

static void on_library(void *context, const char *text)
{
	(void)context;
	print_message("# lws: %s\n", text);
}

static void start(struct rig *rig, bool on_disk)
{
	static const struct outbox_events events = { on_policy, on_session };
	static const struct wire_subject subject = { .pod = "tm-1", .workload = "job" };
	struct err err = { 0 };
	const struct outbox_options options = { .state_dir = on_disk ? rig->scratch.path : NULL,
						.url = rig->url[0] ? rig->url : NULL,
						.version = "1",
						.backoff_min_ms = 5,
						.subject_ms = 5,
						.backoff_max_ms = 20 };
	if (outbox_new(rig->loop, &options, &subject, &events, rig, &rig->outbox, &err) < 0)
		fail_msg("%s", err.message);
}

static struct rig *rig_new(bool with_url)
{
	struct rig *rig = calloc(1, sizeof *rig);
	struct err err = { 0 };
	rig->scratch = scratch_new();
	assert_int_equal(loop_new(LOOP_POLL, on_library, NULL, &rig->loop, &err), 0);
	assert_int_equal(loop_timer_new(rig->loop, step, rig, &rig->timer, &err), 0);
	rig->c.loop = rig->loop;
	rig->c.ack = true;
	collector_up(&rig->c);
	if (with_url)
		(void)snprintf(rig->url, sizeof rig->url, "ws://127.0.0.1:%u/agent", rig->c.port);
	return rig;
}

static void rig_freep(struct rig **rig)
{
	outbox_free((*rig)->outbox);
	collector_down(&(*rig)->c);
	loop_timer_free((*rig)->timer);
	loop_free((*rig)->loop);
	scratch_done(&(*rig)->scratch);
	free(*rig);
}
#define auto_rig auto_(rig_freep) struct rig *

static uint64_t sampled_ms;
static bool without_metrics;

static void sample(struct rig *rig, int n)
{
	for (int i = 0; i < n; i++) {
		struct wire_sample s = { .interval_ms = 1000, .pid = 42, .start_ticks = 77, .forecast.owner = -1 };
		s.head.wall.ms = 1700000000000 + (int64_t)(sampled_ms += 5000);
		s.head.mono_ms = sampled_ms;
		s.urgent = true;
		s.floor_bytes = qty_measured(sampled_ms);
		s.has_composition = i % 3 == 0;
		for (int owner = 0; owner < OWNER_COUNT && s.has_composition; owner++)
			s.owners[owner] = qty_measured(sampled_ms + (uint64_t)owner);
		if (without_metrics)
			s.owners[OWNER_ROCKSDB_MEMTABLES] = (struct qty){ 0 };
		outbox_sample(rig->outbox, &s);
	}
}

static void finding(struct rig *rig, const char *id, enum wire_edge edge)
{
	struct wire_finding f = { .edge = edge, .severity = SEVERITY_WARNING, .owner = -1 };
	str_copy(f.id, sizeof f.id, str_of(id));
	str_copy(f.rule, sizeof f.rule, STR("freeboard-low"));
	outbox_finding(rig->outbox, &f);
}

static bool all_acked(struct rig *rig)
{
	return rig->counts.spooled_messages == 0 && rig->counts.last_seq > 0 && rig->counts.connected;
}

static bool is_stopped(struct rig *rig)
{
	return rig->stopped;
}

static void on_stopped(void *context)
{
	((struct rig *)context)->stopped = true;
}

static void all_arrives_and_bye_is_said(void **state)
{
	(void)state;
	for (int on_disk = 0; on_disk < 2; on_disk++) {
		auto_rig rig = rig_new(true);
		start(rig, on_disk);
		sample(rig, 200);
		finding(rig, "a", WIRE_OPENED);
		run_until(rig, all_acked);
		assert_int_equal(rig->c.samples, 200);
		assert_int_equal(rig->c.findings, 1);
		assert_int_equal(rig->policies, 1);
		assert_int_equal(rig->sessions, 1);
		assert_int_equal(rig->counts.on_disk, on_disk);
		assert_int_equal(rig->counts.acked_total, 201);
		assert_string_equal(rig->counts.trouble, "");
		sample(rig, 1);
		outbox_stop(rig->outbox, "stopping", 5000, on_stopped, rig);
		assert_false(rig->stopped); /* never from within the call */
		run_until(rig, is_stopped);
		assert_int_equal(rig->c.samples, 201);
		assert_int_equal(rig->c.byes, 1);
		assert_false(rig->c.sequence_error);
		assert_int_equal(rig->c.gaps + rig->c.duplicates, 0);
	}
}

static bool has_come_again(struct rig *rig)
{
	return rig->c.hellos >= 2;
}

static void a_subject_that_becomes_known_is_said(void **state)
{
	(void)state;
	auto_rig rig = rig_new(true);
	start(rig, false);
	sample(rig, 3);
	run_until(rig, all_acked);
	assert_int_equal(rig->c.hellos, 1);
	assert_int_equal(rig->c.subject.n_jobs, 0);
	struct wire_subject subject = rig->c.subject;
	subject.role = ROLE_TASKMANAGER;
	subject.n_jobs = 1;
	(void)snprintf(subject.jobs[0], sizeof subject.jobs[0], "orders");
	outbox_subject(rig->outbox, &subject);
	run_until(rig, has_come_again);
	assert_int_equal(rig->c.subject.role, ROLE_TASKMANAGER);
	assert_string_equal(rig->c.subject.jobs[0], "orders");
	sample(rig, 3);
	run_until(rig, all_acked);
	assert_int_equal(rig->c.samples, 6);
	assert_int_equal(rig->c.duplicates, 0);
	assert_string_equal(rig->counts.trouble, ""); /* nothing went wrong */
}

static bool has_tried(struct rig *rig)
{
	return rig->counts.failed_connects_total >= 5;
}

static void a_collector_that_comes_later(void **state)
{
	(void)state;
	auto_rig rig = rig_new(true);
	collector_down(&rig->c);
	start(rig, true);
	sample(rig, 50);
	run_until(rig, has_tried);
	assert_int_equal(rig->counts.spooled_messages, 50);
	assert_true(rig->counts.trouble[0]);
	collector_up(&rig->c);
	run_until(rig, all_acked);
	assert_int_equal(rig->c.samples, 50);
}

static bool fifty_came(struct rig *rig)
{
	return rig->c.samples >= 50;
}

static void a_collector_that_restarts_between_commit_and_ack(void **state)
{
	(void)state;
	auto_rig rig = rig_new(true);
	rig->c.ack = false;
	start(rig, true);
	sample(rig, 100);
	run_until(rig, fifty_came);
	assert_int_equal(rig->counts.acked_total, 0);
	collector_down(&rig->c);
	rig->c.ack = true;
	collector_up(&rig->c);
	run_until(rig, all_acked);
	assert_int_equal(rig->c.samples, 100); /* it went on from welcome.acked */
	assert_int_equal(rig->c.duplicates, 0);
	assert_false(rig->c.sequence_error);
	/* And one that lost it all is told what it will never get. */
	collector_down(&rig->c);
	rig->c.n_epochs = 0;
	memset(rig->c.acked, 0, sizeof rig->c.acked);
	collector_up(&rig->c);
	sample(rig, 1);
	run_until(rig, all_acked);
	assert_int_equal(rig->c.samples, 101);
	assert_int_equal(rig->c.gaps, 1);
	assert_false(rig->c.sequence_error);
}

static void the_agent_restarts_with_things_unsent(void **state)
{
	(void)state;
	auto_rig rig = rig_new(true);
	collector_down(&rig->c);
	for (int i = 0; i < 3; i++) {
		start(rig, true);
		sample(rig, 10);
		finding(rig, "a", i == 0 ? WIRE_OPENED : WIRE_UPDATED);
		outbox_free(rig->outbox);
		rig->outbox = NULL;
	}
	collector_up(&rig->c);
	start(rig, true);
	sample(rig, 1);
	run_until(rig, all_acked);
	assert_int_equal(rig->c.n_epochs, 4);
	assert_int_equal(rig->c.samples, 31);
	assert_int_equal(rig->c.findings, 3);
	assert_int_equal(rig->c.gaps, 0);
	assert_false(rig->c.sequence_error);
}

static bool is_refused(struct rig *rig)
{
	return rig->counts.failed_connects_total >= 1;
}

static void a_collector_that_refuses(void **state)
{
	(void)state;
	auto_rig rig = rig_new(true);
	rig->c.refuse = 401;
	start(rig, false);
	sample(rig, 1);
	run_until(rig, is_refused);
	assert_non_null(strstr(rig->counts.trouble, "token"));
	assert_in_range(rig->counts.backoff_ms, 20, 100);
	/* Nothing holds the stop up when nobody listens. */
	outbox_stop(rig->outbox, "stopping", 60000, on_stopped, rig);
	run_until(rig, is_stopped);
	assert_true(rig->waited_ms < 2500);
}

/* Standard output into a file of the test, and back. */
static int redirect(const struct rig *rig, int *ret_fd)
{
	int old = dup(STDOUT_FILENO);
	(void)fflush(stdout);
	*ret_fd = openat(rig->scratch.fd, "out", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(old >= 0 && *ret_fd >= 0 && dup2(*ret_fd, STDOUT_FILENO) >= 0);
	return old;
}

static void postmortem(struct rig *rig, struct str body)
{
	struct wire_postmortem pm = { .cause = DEATH_CONTAINER_LIMIT, .owner = OWNER_NATIVE_OTHER, .pid = 42 };
	str_copy(pm.id, sizeof pm.id, STR("death-42-77"));
	str_copy(pm.title, sizeof pm.title, STR("Killed at its \x1b[31m limit"));
	outbox_postmortem(rig->outbox, &pm, body);
}

static bool pm_came(struct rig *rig)
{
	return rig->counts.postmortems_unacked == 0;
}

static void a_death_goes_out_whole(void **state)
{
	(void)state;
	struct err err = { 0 };
	for (int many = 0; many < 2; many++) {
		auto_rig rig = rig_new(true);
		auto_buf struct buf out = { 0 };
		int file;
		start(rig, true);
		sample(rig, many ? 2500 : 180);
		int old = redirect(rig, &file);
		postmortem(rig, STR("{\"cause\":\"container-limit\",\"confidence_pct\":99}"));
		assert_true(dup2(old, STDOUT_FILENO) >= 0 && close(old) == 0);
		assert_int_equal(file_read_at(rig->scratch.fd, "out", 1 << 20, &out, &err), 0);
		(void)close(file);
		outbox_count(rig->outbox, &rig->counts);
		assert_int_equal(rig->counts.postmortems_unacked, 1);
		run_until(rig, pm_came);
		assert_int_equal(rig->c.parts, rig->c.parts_due);
		assert_string_equal(rig->c.cause, "container-limit");
		assert_in_range(rig->c.parts, 2, WIRE_PARTS_MAX);
		if (many)
			assert_in_range(rig->c.timeline, 200, 2000); /* thinned */
		else
			assert_int_equal(rig->c.timeline, 180);

		/* One line, JSON, no control bytes, not long. */
		struct js *root = NULL;
		struct str text = buf_str(&out), line;
		assert_true(str_line(&text, &line));
		assert_int_equal(text.len, 0);
		assert_true(line.len < 16384);
		assert_int_equal(js_parse(line, 16384, &root, &err), 0);
		for (size_t i = 0; i < line.len; i++)
			assert_true((unsigned char)line.ptr[i] >= ' ');
		assert_true(js_str(js_get(root, "cause"), &text) && str_eq(text, STR("container-limit")));
		assert_true(js_str(js_get(root, "owner"), &text) && str_eq(text, STR("native-other")));
		assert_int_equal(js_len(js_get(root, "last_samples")), 8);
		uint64_t pct = 0;
		assert_true(js_u64(js_path(root, "body.confidence_pct"), &pct) && pct == 99);
		js_free(root);
	}
}

static void a_full_pipe_blocks_nothing(void **state)
{
	(void)state;
	auto_rig rig = rig_new(false);
	int pipe_fd[2], old = dup(STDOUT_FILENO);
	char junk[4096] = "";
	start(rig, false);
	sample(rig, 5);
	assert_int_equal(pipe2(pipe_fd, O_NONBLOCK), 0);
	while (write(pipe_fd[1], junk, sizeof junk) > 0)
		;
	assert_int_equal(fcntl(pipe_fd[1], F_SETFL, 0), 0); /* a write would block from here on */
	(void)fflush(stdout);
	assert_true(dup2(pipe_fd[1], STDOUT_FILENO) >= 0);
	postmortem(rig, STR("not JSON\n"));
	assert_true(dup2(old, STDOUT_FILENO) >= 0);
	outbox_count(rig->outbox, &rig->counts);
	assert_int_equal(rig->counts.postmortems_total, 1);
	assert_int_equal(rig->counts.spooled_messages, 0); /* without a collector nothing is spooled */
	(void)close(pipe_fd[0]), (void)close(pipe_fd[1]), (void)close(old);
}

static void growth_is_measured_between_what_was_recorded(void **state)
{
	(void)state;
	auto_rig rig = rig_new(false);
	struct wire_sample first, last;
	start(rig, true);
	assert_false(outbox_recall(rig->outbox, 42, 77, &first, &last));
	sample(rig, 100);
	assert_false(outbox_recall(rig->outbox, 42, 78, &first, &last)); /* another process */
	assert_true(outbox_recall(rig->outbox, 42, 77, &first, &last));
	assert_true(first.has_composition && last.has_composition);
	assert_int_equal(last.head.mono_ms - first.head.mono_ms, 99 * 5000);
	/* After the agent's own restart too. */
	outbox_free(rig->outbox);
	start(rig, true);
	assert_true(outbox_recall(rig->outbox, 42, 77, &first, &last));
	assert_int_equal(last.head.mono_ms - first.head.mono_ms, 99 * 5000);
}

static void a_last_scan_without_metrics_is_not_the_measure(void **state)
{
	(void)state;
	auto_rig rig = rig_new(false);
	struct wire_sample first, last;
	start(rig, false);
	sample(rig, 4);
	uint64_t named_ms = sampled_ms;
	without_metrics = true;
	sample(rig, 8); /* three more compositions within 40 s: metrics are the first to fail in a thrash */
	assert_true(outbox_recall(rig->outbox, 42, 77, &first, &last));
	assert_int_equal(last.head.mono_ms, named_ms);
	assert_true(qty_known(last.owners[OWNER_ROCKSDB_MEMTABLES]));
	sample(rig, 24); /* nobody has named them for two minutes: then what is there must do */
	without_metrics = false;
	assert_true(outbox_recall(rig->outbox, 42, 77, &first, &last));
	assert_false(qty_known(last.owners[OWNER_ROCKSDB_MEMTABLES]));
	assert_true(last.head.mono_ms > named_ms + 60000);
}

static bool forty_came(struct rig *rig)
{
	return rig->c.hellos >= 1 && rig->c.samples >= 40;
}

static void a_stop_waits_for_a_postmortem(void **state)
{
	(void)state;
	auto_rig rig = rig_new(true);
	rig->c.ack = false;
	start(rig, true);
	sample(rig, 40);
	int file, old = redirect(rig, &file);
	postmortem(rig, STR("{\"cause\":\"container-limit\"}"));
	assert_true(dup2(old, STDOUT_FILENO) >= 0 && close(old) == 0 && close(file) == 0);
	run_until(rig, forty_came);
	/* Nothing is acked: the stop ends at its deadline, with a bye. */
	struct mono from = loop_now(rig->loop);
	outbox_stop(rig->outbox, "stopping", 300, on_stopped, rig);
	run_until(rig, is_stopped);
	assert_true(loop_now(rig->loop).ns >= mono_add_ms(from, 250).ns);
	assert_int_equal(rig->c.byes, 1);
}

static bool is_connected(struct rig *rig)
{
	return rig->counts.connected;
}

/* With a post-mortem it may wait for a minute: nothing but the ack and the other side's close ends it before. */
static void a_stop_ends_when_all_is_acked(void **state)
{
	typedef bool reached_fn(struct rig * rig);
	static reached_fn *const moments[] = { NULL, is_connected, all_acked };
	(void)state;
	for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
		auto_rig rig = rig_new(true);
		start(rig, true);
		sample(rig, 3);
		int file, old = redirect(rig, &file);
		postmortem(rig, STR("{\"cause\":\"container-limit\"}"));
		assert_true(dup2(old, STDOUT_FILENO) >= 0 && close(old) == 0 && close(file) == 0);
		if (moments[i])
			run_until(rig, moments[i]);
		outbox_stop(rig->outbox, "stopping", 60000, on_stopped, rig);
		run_until(rig, is_stopped);
		assert_int_equal(rig->counts.spooled_messages, 0);
		assert_int_equal(rig->c.byes, 1);
	}
}

/* RLIMIT_FSIZE fails what is written past it: a full disk. */
static void file_size_limit(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The disk was full and is not any more; it is tried again in half a minute, and the agent's end comes sooner. */
static void a_disk_with_room_is_tried_before_the_end(void **state)
{
	(void)state;
	(void)signal(SIGXFSZ, SIG_IGN);
	for (int death = 0; death < 2; death++) {
		auto_rig rig = rig_new(true);
		collector_down(&rig->c);
		start(rig, true);
		file_size_limit(100);
		sample(rig, 3);
		file_size_limit(RLIM_INFINITY);
		outbox_count(rig->outbox, &rig->counts);
		assert_false(rig->counts.on_disk);
		if (death) {
			int file, old = redirect(rig, &file);
			postmortem(rig, STR("{\"cause\":\"container-limit\"}"));
			assert_true(dup2(old, STDOUT_FILENO) >= 0 && close(old) == 0 && close(file) == 0);
		} else {
			outbox_stop(rig->outbox, "stopping", 60000, on_stopped, rig);
			run_until(rig, is_stopped);
		}
		outbox_count(rig->outbox, &rig->counts);
		assert_true(rig->counts.on_disk);
		outbox_free(rig->outbox); /* after a death: as by SIGKILL */
		rig->outbox = NULL;
		collector_up(&rig->c);
		start(rig, true);
		sample(rig, 1);
		run_until(rig, all_acked);
		assert_int_equal(rig->c.samples, 4);
		assert_int_equal(rig->c.gaps, 0);
		assert_int_equal(rig->c.parts, rig->c.parts_due);
		assert_true(!death || rig->c.parts > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_arrives_and_bye_is_said),
		cmocka_unit_test(a_subject_that_becomes_known_is_said),
		cmocka_unit_test(a_collector_that_comes_later),
		cmocka_unit_test(a_collector_that_restarts_between_commit_and_ack),
		cmocka_unit_test(the_agent_restarts_with_things_unsent),
		cmocka_unit_test(a_collector_that_refuses),
		cmocka_unit_test(a_death_goes_out_whole),
		cmocka_unit_test(a_full_pipe_blocks_nothing),
		cmocka_unit_test(growth_is_measured_between_what_was_recorded),
		cmocka_unit_test(a_last_scan_without_metrics_is_not_the_measure),
		cmocka_unit_test(a_stop_waits_for_a_postmortem),
		cmocka_unit_test(a_stop_ends_when_all_is_acked),
		cmocka_unit_test(a_disk_with_room_is_tried_before_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
