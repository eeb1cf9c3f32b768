/* SPDX-License-Identifier: Apache-2.0 */
/* Events of sessions in the store: once each, whatever is sent again, and across sessions and starts of the collector. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/store_event.h"
#include "support/sessionkit.h"

static bool note(void *context, const struct event_mark *mark)
{
	static const char *const names[HAPPENED_COUNT] = { "start",       "end",  "limit", "checkpoint", "restart",
							   "agent-start", "lost", "bye",   "oom",        "seen" };
	struct buf *line = context;
	(void)buf_printf(line, "%s%s%s(%lld)", line->len ? " " : "", names[mark->kind], mark->is_end ? "-end" : "",
			 (long long)mark->value);
	return true;
}

/* Everything of the first agent, in one line. */
static const char *events(struct rig *rig)
{
	static char text[4096];
	auto_buf struct buf line = { .cap = sizeof text - 1 };
	struct err err = { 0 };
	if (store_each_event(rig->store, 1, (struct wall){ 1 }, (struct wall){ INT64_MAX }, note, &line, &err) < 0)
		fail_msg("%s", err.message);
	str_copy(text, sizeof text, buf_str(&line));
	return text;
}

struct what {
	int pid;
	uint64_t limit, oom_kill;
	enum tristate checkpointing;
};

static void tell(struct rig *rig, struct session *session, unsigned epoch, uint64_t seq, struct what what)
{
	struct wire_message message = { .type = WIRE_SAMPLE };
	struct wire_sample *s = &message.sample;
	*s = (struct wire_sample){
		.head = { storekit_epoch(epoch), seq, seq * 1000, rig->wall },
		.pid = what.pid,
		.start_ticks = (uint64_t)what.pid * 10,
		.forecast.owner = -1,
	};
	if (what.pid) {
		s->limit = limit_set(what.limit);
		s->events.oom_kill = count_of(what.oom_kill);
		s->context.checkpointing = what.checkpointing;
	}
	rig_message(session, &message);
	rig_pass(rig, 1000);
}

static void in_order_and_once(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	tell(rig, session, 1, 1, (struct what){ 7, 100, 0, TRISTATE_FALSE });
	tell(rig, session, 1, 2, (struct what){ 7, 100, 0, TRISTATE_TRUE });
	tell(rig, session, 1, 3, (struct what){ 7, 100, 0, TRISTATE_FALSE });
	tell(rig, session, 1, 4, (struct what){ 7, 200, 1, TRISTATE_FALSE });
	tell(rig, session, 1, 3, (struct what){ 9, 300, 5, TRISTATE_TRUE }); /* a number that is there */
	tell(rig, session, 1, 5, (struct what){ 0 });
	tell(rig, session, 1, 6, (struct what){ 8, 200, 1, TRISTATE_FALSE });
	assert_string_equal(events(rig),
			    "agent-start(0) checkpoint(1000) checkpoint-end(1000) limit(200) oom(1) end(7) start(8)");
	session_closed(session, 1006);
}

/* A line that broke for a moment is no loss; one that stays broken is. */
static void lost_and_found(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	tell(rig, session, 1, 1, (struct what){ .pid = 7, .limit = 100 });
	session_closed(session, 1006);
	rig_pass(rig, 1000);
	assert_string_equal(events(rig), "agent-start(0) lost(0)");
	rig_pass(rig, 80000);
	session = rig_agent(rig, "a", 1);
	assert_string_equal(events(rig), "agent-start(0)");
	/* Between two sessions the limit was changed, and nothing else. */
	tell(rig, session, 1, 2, (struct what){ .pid = 7, .limit = 200 });
	assert_string_equal(events(rig), "agent-start(0) limit(200)");
	session_closed(session, 1006);
	rig_pass(rig, 100000);
	session = rig_agent(rig, "a", 1);
	assert_string_equal(events(rig), "agent-start(0) limit(200) lost(0)");
	rig_frame(session, "{\"type\":\"bye\",\"reason\":\"SIGTERM\"}");
	rig_pass(rig, 1000);
	session_closed(session, 1000);
	rig_pass(rig, 1000);
	assert_string_equal(events(rig), "agent-start(0) limit(200) lost(0) bye(0)");
	/* Another start of it, which finds the same process. */
	session = rig_agent(rig, "a", 2);
	tell(rig, session, 2, 1, (struct what){ 0 });
	tell(rig, session, 2, 2, (struct what){ .pid = 7, .limit = 200 });
	assert_string_equal(events(rig), "agent-start(0) limit(200) lost(0) bye(0) agent-start(0)");
	session_closed(session, 1006);
}

/* A newer session of the same agent goes on where the older one was. */
static void replaced(void **state)
{
	struct rig *rig = *state;
	struct session *older = rig_agent(rig, "a", 1);
	tell(rig, older, 1, 1, (struct what){ 7, 100, 0, TRISTATE_TRUE });
	struct session *newer = rig_open(rig, "a");
	rig_hello(rig, newer, 1, 1);
	session_closed(older, 4409);
	rig_pass(rig, 20);
	tell(rig, newer, 1, 2, (struct what){ 7, 100, 3, TRISTATE_FALSE });
	assert_string_equal(events(rig), "agent-start(0) checkpoint(1020) checkpoint-end(1020) oom(3)");
	session_closed(newer, 1006);
}

/* Also where what the older one said is not committed yet, and so not shown. */
static void replaced_within_a_batch(void **state)
{
	struct rig *rig = *state;
	static const uint64_t limits[] = { 150, 100 };
	struct session *older = rig_agent(rig, "a", 1), *newer = rig_open(rig, "a");
	tell(rig, older, 1, 1, (struct what){ .pid = 7, .limit = 100 });
	for (unsigned i = 0; i < 2; i++) {
		struct wire_message message = { .type = WIRE_SAMPLE };
		message.sample =
			(struct wire_sample){ .head = { storekit_epoch(1), 2 + i, 2000, { rig->wall.ms - 10 + i } },
					      .pid = 7,
					      .start_ticks = 70,
					      .limit = limit_set(limits[i]),
					      .forecast.owner = -1 };
		if (i == 1)
			rig_hello(rig, newer, 1, 1);
		rig_message(i ? newer : older, &message);
	}
	rig_pass(rig, 1000);
	session_closed(older, 4409);
	assert_string_equal(events(rig), "agent-start(0) limit(150) limit(100)");
	session_closed(newer, 1006);
}

/* What the collector was when it ended is in its store: the process, and a checkpoint that was running. */
static void across_a_restart(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	tell(rig, session, 1, 1, (struct what){ 7, 100, 0, TRISTATE_TRUE });
	rig_restart(rig); /* its sessions end with it, and no agent is lost */
	assert_string_equal(events(rig), "agent-start(0) checkpoint(0)");
	session = rig_agent(rig, "a", 1);
	tell(rig, session, 1, 2, (struct what){ 7, 100, 0, TRISTATE_FALSE });
	assert_string_equal(events(rig), "agent-start(0) checkpoint(1020) checkpoint-end(1020)");
	rig_restart(rig);
	session = rig_agent(rig, "a", 1);
	tell(rig, session, 1, 3, (struct what){ 8, 150, 0, TRISTATE_FALSE });
	assert_string_equal(events(rig),
			    "agent-start(0) checkpoint(1020) checkpoint-end(1020) start(8) end(7) limit(150)");
	session_closed(session, 1006);
}

/* A clock that is wrong dates no event later than it was heard of. */
static void never_in_the_future(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	struct wall wall = rig->wall;
	tell(rig, session, 1, 1, (struct what){ .pid = 7, .limit = 100 });
	rig->wall.ms += INT64_C(31536000000);
	struct wall heard = rig->wall;
	struct wire_message message = { .type = WIRE_SAMPLE };
	message.sample = (struct wire_sample){ .head = { storekit_epoch(1), 2, 2000, { heard.ms + 9000000 } },
					       .pid = 7,
					       .start_ticks = 70,
					       .limit = limit_set(200),
					       .forecast.owner = -1 };
	(void)ingest_step(rig->ingest, rig->now, rig->wall);
	rig_message(session, &message);
	rig_pass(rig, 1000);
	auto_buf struct buf line = { .cap = 4096 };
	struct err err = { 0 };
	assert_int_equal(store_each_event(rig->store, 1, heard, (struct wall){ heard.ms + 1 }, note, &line, &err), 0);
	assert_string_equal(line.ptr, "limit(200)");
	assert_true(wall.ms < heard.ms);
	session_closed(session, 1006);
}

/* A batch that is not stored has no events either, and is told again as a whole. */
static void a_batch_that_fails(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	tell(rig, session, 1, 1, (struct what){ .pid = 7, .limit = 100 });
	struct wire_message message = { .type = WIRE_SAMPLE };
	message.sample = (struct wire_sample){ .head = { storekit_epoch(1), 2, 2000, rig->wall },
					       .pid = 7,
					       .start_ticks = 70,
					       .limit = limit_set(200),
					       .forecast.owner = -1 };
	rig_message(session, &message);
	const struct err broken = { .kind = ERR_IO, .message = "broken" };
	ingest_fail(rig->ingest, &broken);
	session_closed(session, 4503);
	rig_pass(rig, 1000);
	session = rig_agent(rig, "a", 1);
	assert_string_equal(events(rig), "agent-start(0)");
	rig_message(session, &message);
	rig_pass(rig, 1000);
	assert_string_equal(events(rig), "agent-start(0) limit(200)");
	session_closed(session, 1006);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(in_order_and_once),       WITH(lost_and_found),   WITH(replaced),
		WITH(replaced_within_a_batch), WITH(across_a_restart), WITH(never_in_the_future),
		WITH(a_batch_that_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
