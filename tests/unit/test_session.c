/* SPDX-License-Identifier: Apache-2.0 */
/* What a session takes, refuses and acks, frame by frame, on a real store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "support/sessionkit.h"

static struct ingest_counts counts_of(const struct rig *rig)
{
	struct ingest_counts counts;
	ingest_count(rig->ingest, &counts);
	return counts;
}

static uint64_t stored(struct rig *rig)
{
	struct store_counts counts;
	struct err err;
	assert_int_equal(store_count(rig->store, &counts, &err), 0);
	return counts.n_samples;
}

/* --- hello -------------------------------------------------------------------------------------- */

static void welcome_comes_after_the_commit(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_open(rig, "a");
	rig_hello(rig, session, 1, 2);
	assert_string_equal(rig_said(session), "");
	assert_null(fleet_find(rig->fleet, session->agent));
	rig_pass(rig, 19);
	assert_string_equal(rig_said(session), "");
	rig_pass(rig, 1);
	assert_string_equal(rig_said(session), "welcome(1=0 2=0)");
	const struct fleet_pod *pod = fleet_find(rig->fleet, session->agent);
	assert_non_null(pod);
	assert_string_equal(pod->agent_id, "a");
	assert_string_equal(pod->subject.cluster, "lab"); /* the collector's setting, whatever the hello says */
}

static void first_frames(void **state)
{
	static const struct {
		const char *frame, *said;
	} cases[] = {
		{ "{\"type\":\"ack\",\"epoch\":\"ee000000000000000000000000000001\",\"seq\":1}", "error(type) >4400" },
		{ "{\"type\":\"shutdown\"}", "error(type) >4400" },
		{ "{\"type\":\"bye\",\"reason\":\"x\"}", "error(state) >4400" },
		{ "{\"type\":\"gap\",\"epoch\":\"ee000000000000000000000000000001\",\"from\":1,\"to\":2,\"reason\":\"x\"}",
		  "error(state) >4400" },
		{ "hello", "error(malformed) >4400" },
		{ "[]", "error(malformed) >4400" },
		{ "", "error(malformed) >4400" },
		{ "{\"type\":\"hello\",\"subject\":{},\"epochs\":[]}", "error(malformed) >4400" },
	};
	struct rig *rig = *state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct session *session = rig_open(rig, "a");
		rig_frame(session, cases[i].frame);
		assert_string_equal(rig_said(session), cases[i].said);
		/* What it says after that is dropped. */
		rig_hello(rig, session, 1, 1);
		rig_pass(rig, 20);
		assert_string_equal(rig_said(session), ">4400");
		session_closed(session, WIRE_CLOSE_PROTOCOL);
	}
	assert_int_equal(counts_of(rig).errors_total[WIRE_ERR_STATE], 2);
	assert_int_equal(counts_of(rig).sessions, 0);
	assert_int_equal(counts_of(rig).frames_total, 2 * sizeof cases / sizeof cases[0]);
}

static void a_second_hello(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	assert_string_equal(rig_said(session), "welcome(1=0)");
	rig_hello(rig, session, 1, 1);
	assert_string_equal(rig_said(session), "error(state) >4400");
}

static void no_hello(void **state)
{
	struct rig *rig = *state;
	struct session *mute = rig_open(rig, "a"), *good = rig_agent(rig, "b", 1);
	rig_pass(rig, HELLO_MS - 21); /* rig_agent() took 20 */
	assert_string_equal(rig_said(mute), "");
	rig_pass(rig, 1);
	assert_string_equal(rig_said(mute), "error(state) >4400");
	assert_string_equal(rig_said(good), "welcome(1=0)");
	assert_int_equal(counts_of(rig).errors_total[WIRE_ERR_STATE], 1);
}

static void anothers_epoch(void **state)
{
	struct rig *rig = *state;
	struct session *a = rig_agent(rig, "a", 1), *b = rig_open(rig, "b");
	assert_string_equal(rig_said(a), "welcome(1=0)");
	rig_hello(rig, b, 1, 2);
	assert_string_equal(rig_said(b), "error(sequence) >4400");
	rig_sample(a, 1, 1);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(a), "ack(1=1)"); /* unharmed */
}

static void ids_without_authentication(void **state)
{
	struct rig *rig = *state;
	struct session *named = rig_open(rig, ""), *unnamed = rig_open(rig, ""), *other = rig_open(rig, "");
	struct wire_message message = { .type = WIRE_HELLO, .hello = storekit_hello(7) };
	message.hello.epochs[message.hello.n_epochs++] = (struct wire_held){ storekit_epoch(7), 1, 0 };
	rig_message(named, &message);
	assert_string_equal(named->id, "ns/pod-7");
	message.hello.subject.pod[0] = '\0';
	message.hello.epochs[0].epoch.bytes[0] = 0xa1;
	rig_message(unnamed, &message);
	message.hello.epochs[0].epoch.bytes[0] = 0xa2;
	rig_message(other, &message);
	assert_string_equal(unnamed->id, "anonymous-10.0.0.7:a1000000");
	assert_string_equal(other->id, "anonymous-10.0.0.7:a2000000");
	struct session *again = rig_open(rig, ""); /* of the start of `unnamed`, whose connection is half-open */
	message.hello.epochs[0].epoch.bytes[0] = 0xa1;
	rig_message(again, &message);
	assert_string_equal(again->id, unnamed->id);
	assert_true(unnamed->replaced);
	assert_int_equal(again->agent, unnamed->agent);
}

static void clocks(void **state)
{
	static const int64_t offsets_ms[] = { 0, 30000, -30000, 30001, -30001, 3600000 };
	struct rig *rig = *state;
	for (size_t i = 0; i < sizeof offsets_ms / sizeof offsets_ms[0]; i++) {
		char id[8];
		(void)snprintf(id, sizeof id, "a%zu", i);
		struct session *session = rig_open(rig, id);
		struct wall ours = rig->wall;
		rig->wall.ms -= offsets_ms[i];
		rig_hello(rig, session, (unsigned)i + 1, (unsigned)i + 1);
		rig->wall = ours;
		assert_int_equal(session->offset_ms, offsets_ms[i]);
		assert_int_equal(counts_of(rig).clock_offset_sessions, i < 3 ? 0 : i - 2);
	}
	session_closed(ingest_find(rig->ingest, "a5"), 0);
	assert_int_equal(counts_of(rig).clock_offset_sessions, 2);
}

static bool take_wall(void *context, const struct store_point *point)
{
	*(int64_t *)context = point->wall.ms;
	return true;
}

static void times_are_corrected(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_open(rig, "a");
	int64_t wall = 0;
	struct err err;
	rig->wall.ms -= 3600000; /* the agent is an hour behind */
	rig_hello(rig, session, 1, 1);
	rig->wall.ms += 3600000;
	rig_sample(session, 1, 1);
	rig_pass(rig, 20);
	assert_int_equal(store_each_point(rig->store, session->agent, (struct wall){ 0 },
					  (struct wall){ rig->wall.ms + 1 }, 0, take_wall, &wall, &err),
			 0);
	assert_int_equal(wall, storekit_sample(1).head.wall.ms + 10000 + 3600000);
}

/* --- order -------------------------------------------------------------------------------------- */

static void acks_follow_the_commit(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	(void)rig_said(session);
	for (uint64_t seq = 1; seq <= 3; seq++)
		rig_sample(session, 1, seq);
	rig_pass(rig, 19);
	assert_string_equal(rig_said(session), "");
	rig_pass(rig, 1);
	assert_string_equal(rig_said(session), "ack(1=3)"); /* one for all */
	assert_string_equal(rig_said(session), "");
	rig_gap(session, 1, 4, 9);
	rig_sample(session, 1, 10);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(session), "ack(1=10)");
	assert_int_equal(stored(rig), 4);
	assert_int_equal(counts_of(rig).gaps_total, 1);
}

static void duplicates_are_acked_again(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	(void)rig_said(session);
	rig_sample(session, 1, 1);
	rig_sample(session, 1, 1); /* still in the batch: no ack before its commit */
	assert_string_equal(rig_said(session), "");
	rig_pass(rig, 20);
	assert_string_equal(rig_said(session), "ack(1=1)");
	rig_sample(session, 1, 1);
	assert_string_equal(rig_said(session), "ack(1=1)");
	rig_gap(session, 1, 1, 1);
	assert_string_equal(rig_said(session), "ack(1=1)");
	assert_int_equal(stored(rig), 1);
	assert_int_equal(counts_of(rig).duplicates_total, 3);
}

static bool take_gap(void *context, const struct store_gap_row *row)
{
	struct store_gap_row *gap = context;
	*gap = *row;
	return true;
}

static void a_gap_that_reaches_back(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	struct store_gap_row gap = { 0 };
	struct err err;
	rig_sample(session, 1, 1);
	rig_sample(session, 1, 2);
	rig_gap(session, 1, 1, 5);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(session), "welcome(1=5) ack(1=5)");
	assert_int_equal(store_each_gap(rig->store, session->agent, take_gap, &gap, &err), 0);
	assert_int_equal(gap.from, 3); /* what is stored is not missing */
	assert_int_equal(gap.to, 5);
}

static void what_is_out_of_order(void **state)
{
	struct rig *rig = *state;
	for (int i = 0; i < 6; i++) {
		struct session *session = rig_agent(rig, "a", 1);
		(void)rig_said(session);
		if (i == 0)
			rig_sample(session, 1, session->epochs[0].stored.acked + 2);
		else if (i == 1)
			rig_gap(session, 1, session->epochs[0].stored.acked + 2, UINT32_MAX);
		else if (i == 2)
			rig_sample(session, 2, 1); /* an epoch that hello did not name */
		else if (i == 3)
			rig_gap(session, 3, 1, 1);
		else if (i == 4)
			rig_sample(session, 1, 1ULL << 52);
		else
			rig_gap(session, 1, (1ULL << 52) - 1, 1ULL << 52);
		assert_string_equal(rig_said(session), "error(sequence) >4400");
		session_closed(session, WIRE_CLOSE_PROTOCOL);
	}
	assert_int_equal(stored(rig), 0);
	assert_int_equal(counts_of(rig).errors_total[WIRE_ERR_SEQUENCE], 6);
}

static void what_came_before_an_error_is_good(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	(void)rig_said(session);
	rig_sample(session, 1, 1);
	rig_sample(session, 1, 3);
	assert_string_equal(rig_said(session), "error(sequence) >4400");
	session_closed(session, WIRE_CLOSE_PROTOCOL); /* commits */
	assert_int_equal(stored(rig), 1);
	session = rig_agent(rig, "a", 1);
	assert_string_equal(rig_said(session), "welcome(1=1)");
}

static void several_epochs(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	rig_sample(session, 1, 1);
	session_closed(session, 0);
	session = rig_open(rig, "a");
	rig_hello(rig, session, 1, 3);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(session), "welcome(1=1 2=0 3=0)");
	rig_sample(session, 1, 2);
	rig_sample(session, 3, 1);
	rig_sample(session, 3, 2);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(session), "ack(1=2) ack(3=2)");
}

static void an_epoch_that_is_not_held_any_more(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	struct store_gap_row gap = { 0 };
	struct err err;
	rig_sample(session, 1, 1);
	session_closed(session, 0);
	session = rig_agent(rig, "a", 2); /* its state directory was deleted */
	assert_int_equal(store_each_gap(rig->store, session->agent, take_gap, &gap, &err), 0);
	assert_true(wire_epoch_same(gap.epoch, storekit_epoch(1)));
	assert_int_equal(gap.from, 2);
	assert_true(gap.to > INT32_MAX);
	assert_string_equal(gap.reason, "lost-with-agent");
}

static void more_than_the_window(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	(void)rig_said(session);
	for (uint64_t seq = 1; seq <= 256; seq++)
		rig_sample(session, 1, seq);
	assert_string_equal(rig_said(session), "");
	rig_sample(session, 1, 257);
	assert_string_equal(rig_said(session), "error(rate) >4429");
}

static void a_full_batch_does_not_wait(void **state)
{
	const struct ingest_options options = { .commit_messages = 3 };
	struct rig rig;
	(void)state;
	rig_init(&rig, &options);
	struct session *session = rig_agent(&rig, "a", 1);
	(void)rig_said(session);
	for (uint64_t seq = 1; seq <= 7; seq++)
		rig_sample(session, 1, seq);
	assert_string_equal(rig_said(session), ""); /* two batches are stored, and the third is open */
	assert_int_equal(session->epochs[0].committed, 6);
	rig_pass(&rig, 20);
	assert_string_equal(rig_said(session), "ack(1=7)");
	assert_int_equal(counts_of(&rig).commits_total, 4);
	rig_done(&rig);
}

static void a_frame_that_is_too_large(void **state)
{
	static char text[WIRE_FRAME_MAX + 2];
	struct rig *rig = *state;
	struct session *session = rig_open(rig, "a");
	memset(text, ' ', sizeof text - 1);
	rig_frame(session, text);
	assert_string_equal(rig_said(session), "error(size) >4413");
}

static void credentials_name_the_pod(void **state)
{
	static const struct {
		struct auth_agent agent;
		const char *namespace_, *pod, *pod_uid, *node; /* NULL: as the hello says */
	} cases[] = {
		{ { .id = "x", .method = "token" }, NULL, NULL, NULL, NULL },
		{ { .id = "0b2c-uid", .method = "review", .pod = "tm-7", .namespace_ = "team-a", .node = "worker-3" },
		  "team-a",
		  "tm-7",
		  "0b2c-uid",
		  "worker-3" },
		{ { .id = "0b2d-uid", .method = "review", .pod = "tm-8", .namespace_ = "team-a" }, /* before 1.32 */
		  "team-a",
		  "tm-8",
		  "0b2d-uid",
		  NULL },
	};
	struct rig *rig = *state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct session *session = ingest_open(rig->ingest, &cases[i].agent, "10.0.0.7");
		rig_hello(rig, session, i + 1, i + 1);
		rig_pass(rig, 20);
		const struct fleet_pod *pod = fleet_find(rig->fleet, session->agent);
		const struct wire_hello own = storekit_hello(i + 1);
		const struct wire_subject *subject = &own.subject;
		assert_non_null(pod);
		assert_string_equal(pod->subject.namespace_,
				    cases[i].namespace_ ? cases[i].namespace_ : subject->namespace_);
		assert_string_equal(pod->subject.pod, cases[i].pod ? cases[i].pod : subject->pod);
		assert_string_equal(pod->subject.pod_uid, cases[i].pod_uid ? cases[i].pod_uid : subject->pod_uid);
		assert_string_equal(pod->subject.node, cases[i].node ? cases[i].node : subject->node);
		assert_string_equal(pod->subject.workload, subject->workload);
	}
}

/* --- coming and going ----------------------------------------------------------------------------- */

static void the_newer_session_wins(void **state)
{
	struct rig *rig = *state;
	struct session *older = rig_agent(rig, "a", 1), *other = rig_agent(rig, "b", 9);
	(void)rig_said(older);
	(void)rig_said(other);
	rig_sample(older, 1, 1);
	struct session *newer = rig_open(rig, "a");
	rig_hello(rig, newer, 1, 1);
	assert_string_equal(rig_said(older), "error(replaced) >4409");
	rig_sample(older, 1, 2); /* is dropped */
	rig_pass(rig, 20);
	assert_string_equal(rig_said(newer), "welcome(1=1)"); /* what the older one had sent is stored */
	rig_sample(newer, 1, 2);
	session_closed(older, WIRE_CLOSE_REPLACED);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(newer), "ack(1=2)");
	assert_string_equal(rig_said(other), "");
	assert_int_equal(counts_of(rig).replaced_total, 1);
	assert_int_equal(counts_of(rig).sessions, 2);
	assert_ptr_equal(ingest_find(rig->ingest, "a"), newer);
	assert_true(fleet_find(rig->fleet, newer->agent)->sessions == 1);
}

static void who_is_being_closed_is_not_replaced(void **state)
{
	struct rig *rig = *state;
	struct session *bad = rig_agent(rig, "a", 1);
	rig_sample(bad, 1, 7);
	struct session *next = rig_agent(rig, "a", 1); /* it is back before the server has closed the first */
	assert_string_equal(rig_said(next), "welcome(1=0)");
	assert_int_equal(counts_of(rig).replaced_total, 0);
	assert_int_equal(counts_of(rig).errors_total[WIRE_ERR_REPLACED], 0);
	session_closed(bad, WIRE_CLOSE_PROTOCOL);
	assert_ptr_equal(ingest_find(rig->ingest, "a"), next);
}

static void bye_ends_it_well(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	(void)rig_said(session);
	rig_sample(session, 1, 1);
	rig_frame(session, "{\"type\":\"bye\",\"reason\":\"terminated\"}");
	rig_sample(session, 1, 2); /* after bye: dropped */
	assert_string_equal(rig_said(session), "");
	rig_pass(rig, 20);
	assert_string_equal(rig_said(session), "ack(1=1) >1000");
	session_closed(session, 1000);
	assert_int_equal(stored(rig), 1);
}

static void positions_survive_a_restart(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	for (uint64_t seq = 1; seq <= 5; seq++)
		rig_sample(session, 1, seq);
	rig_pass(rig, 20);
	rig_sample(session, 1, 6); /* committed by the clean end */
	rig_restart(rig);
	session = rig_agent(rig, "a", 1);
	assert_string_equal(rig_said(session), "welcome(1=6)");
	assert_int_equal(stored(rig), 6);
}

static void a_stopping_collector_takes_nobody(void **state)
{
	struct rig *rig = *state;
	const struct auth_agent agent = { .id = "a" };
	ingest_stop(rig->ingest);
	assert_null(ingest_open(rig->ingest, &agent, "10.0.0.7"));
}

static bool holds(void *context, const char *method, const char *id)
{
	(void)context;
	return strcmp(method, "token") != 0 || strcmp(id, "a") != 0;
}

static void credentials_that_do_not_hold(void **state)
{
	struct rig *rig = *state;
	struct auth_agent short_lived = { .id = "c", .method = "review" };
	struct session *a = rig_agent(rig, "a", 1), *b = rig_agent(rig, "b", 2);
	short_lived.expires.ms = rig->wall.ms + 5000;
	struct session *c = ingest_open(rig->ingest, &short_lived, "10.0.0.7");
	rig_hello(rig, c, 3, 3);
	rig_sample(a, 1, 1);
	ingest_recheck(rig->ingest, holds, NULL);
	rig_sample(a, 1, 2); /* dropped */
	rig_pass(rig, 20);
	assert_string_equal(rig_said(a), "welcome(1=1) ack(1=1) >4401");
	assert_string_equal(rig_said(b), "welcome(2=0)");
	assert_string_equal(rig_said(c), "welcome(3=0)");
	rig_pass(rig, 4979);
	assert_string_equal(rig_said(c), "");
	rig_pass(rig, 1);
	assert_string_equal(rig_said(c), ">4401");
	assert_string_equal(rig_said(b), "");
}

/* --- a disk that is full ---------------------------------------------------------------------------- */

/* Files may not grow: write(2) then fails with EFBIG, as it fails with ENOSPC on a full disk. */
static void let_files_grow(bool may)
{
	struct rlimit limit;
	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = may ? limit.rlim_max : 1024;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
}

static void a_failed_commit_acks_nothing(void **state)
{
	struct rig *rig = *state;
	struct session *a = rig_agent(rig, "a", 1), *b = rig_agent(rig, "b", 2), *idle = rig_agent(rig, "c", 3);
	(void)rig_said(a);
	(void)rig_said(b);
	(void)rig_said(idle);
	let_files_grow(false);
	rig_sample(a, 1, 1);
	rig_sample(b, 2, 1);
	struct session *newcomer = rig_open(rig, "d");
	rig_hello(rig, newcomer, 4, 4);
	rig_pass(rig, 20);
	let_files_grow(true);
	assert_string_equal(rig_said(a), "error(store) >4503");
	assert_string_equal(rig_said(b), "error(store) >4503");
	assert_string_equal(rig_said(newcomer), "error(store) >4503");
	assert_string_equal(rig_said(idle), ""); /* it is not concerned */
	assert_false(ingest_healthy(rig->ingest));
	assert_int_equal(counts_of(rig).failed_commits_total, 1);
	assert_int_equal(counts_of(rig).acks_total, 0);
	assert_int_equal(stored(rig), 0);
	session_closed(a, WIRE_CLOSE_STORE);
	session_closed(b, WIRE_CLOSE_STORE);
	session_closed(newcomer, WIRE_CLOSE_STORE);
	/* There is room again: they come back, and send it again. */
	a = rig_agent(rig, "a", 1);
	assert_string_equal(rig_said(a), "welcome(1=0)");
	rig_sample(a, 1, 1);
	rig_sample(idle, 3, 1);
	rig_pass(rig, 20);
	assert_string_equal(rig_said(a), "ack(1=1)");
	assert_string_equal(rig_said(idle), "ack(3=1)");
	assert_true(ingest_healthy(rig->ingest));
	assert_int_equal(stored(rig), 2);
}

/* A collector that is not ready is not connected to: it has to find out by itself. */
static void it_is_well_again_without_agents(void **state)
{
	struct rig *rig = *state;
	let_files_grow(false);
	rig_hello(rig, rig_open(rig, "a"), 1, 1);
	rig_pass(rig, 20);
	rig_pass(rig, 5000);
	bool was_healthy = ingest_healthy(rig->ingest);
	let_files_grow(true);
	assert_false(was_healthy);
	assert_int_equal(counts_of(rig).failed_commits_total, 1);
	rig_pass(rig, 1000);
	assert_true(ingest_healthy(rig->ingest));
}

/* --- too fast --------------------------------------------------------------------------------------- */

static void too_fast_is_held_back(void **state)
{
	const struct ingest_options options = { .rate_per_s = 10, .window = 10000 };
	struct rig rig;
	(void)state;
	rig_init(&rig, &options);
	struct session *session = rig_agent(&rig, "a", 1);
	uint64_t seq = 0;
	while (seq < 39)
		rig_sample(session, 1, ++seq);
	assert_false(session->paused);
	rig_sample(session, 1, ++seq); /* with hello the 41st: four seconds' worth came at once */
	assert_true(session->paused);
	rig_pass(&rig, 100);
	assert_true(session->paused);
	rig_pass(&rig, 500);
	assert_false(session->paused);
	assert_string_equal(rig_said(session), "welcome(1=40) ack(1=40)"); /* nothing was lost */
	rig_done(&rig);
}

static void too_fast_for_long_is_closed(void **state)
{
	const struct ingest_options options = { .rate_per_s = 10 };
	struct rig rig;
	uint64_t seq = 0;
	(void)state;
	rig_init(&rig, &options);
	struct session *session = rig_agent(&rig, "a", 1);
	unsigned passed_ms = 0;
	for (; passed_ms < 2 * RATE_PATIENCE_MS && !session->close_code; passed_ms += 500) {
		for (int i = 0; i < 20 && !session->paused; i++)
			rig_sample(session, 1, ++seq);
		rig_pass(&rig, 500);
	}
	assert_in_range(passed_ms, RATE_PATIENCE_MS, RATE_PATIENCE_MS + 20000);
	assert_non_null(strstr(rig_said(session), "error(rate) >4429"));
	rig_done(&rig);
}

static void who_goes_on_unread_is_closed(void **state)
{
	const struct ingest_options options = { .rate_per_s = 10, .window = 10000 };
	struct rig rig;
	uint64_t seq = 0;
	(void)state;
	rig_init(&rig, &options);
	struct session *session = rig_agent(&rig, "a", 1);
	while (!session->close_code && seq < 1000)
		rig_sample(session, 1, ++seq);
	assert_int_equal(seq, 10 * (RATE_BURST_S + RATE_DEBT_S));
	rig_done(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(welcome_comes_after_the_commit, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(first_frames, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(no_hello, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(credentials_name_the_pod, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(a_second_hello, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(anothers_epoch, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(ids_without_authentication, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(clocks, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(times_are_corrected, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(acks_follow_the_commit, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(duplicates_are_acked_again, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(a_gap_that_reaches_back, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(what_is_out_of_order, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(what_came_before_an_error_is_good, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(several_epochs, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(an_epoch_that_is_not_held_any_more, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(more_than_the_window, rig_set_up, rig_tear_down),
		cmocka_unit_test(a_full_batch_does_not_wait),
		cmocka_unit_test_setup_teardown(a_frame_that_is_too_large, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(the_newer_session_wins, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(who_is_being_closed_is_not_replaced, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(bye_ends_it_well, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(positions_survive_a_restart, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(a_stopping_collector_takes_nobody, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(credentials_that_do_not_hold, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(a_failed_commit_acks_nothing, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(it_is_well_again_without_agents, rig_set_up, rig_tear_down),
		cmocka_unit_test(too_fast_is_held_back),
		cmocka_unit_test(too_fast_for_long_is_closed),
		cmocka_unit_test(who_goes_on_unread_is_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
