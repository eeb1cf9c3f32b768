/* SPDX-License-Identifier: Apache-2.0 */
/* When the collector writes a post-mortem itself, and when it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "support/sessionkit.h"

static uint64_t inferred(const struct rig *rig)
{
	struct ingest_counts counts;
	ingest_count(rig->ingest, &counts);
	return counts.inferred_postmortems_total;
}

/* What a sample near the end may show. */
enum sign { CALM, URGENT, NEAR, JUST_NOT_NEAR, OOM_KILL, OOM_AND_KILL, NO_TARGET, NO_LIMIT, GROWN, SHRUNK };

static void say(struct session *session, unsigned epoch, uint64_t seq, enum sign sign)
{
	struct wire_message message = { .type = WIRE_SAMPLE, .sample = storekit_sample(epoch) };
	struct wire_sample *sample = &message.sample;
	sample->head.seq = seq;
	sample->head.mono_ms = seq * 1000;
	sample->head.wall.ms = 1700000000000 + (int64_t)seq * 1000;
	sample->events.oom = sample->events.oom_kill = count_of(0);
	str_copy(sample->forecast.kind, sizeof sample->forecast.kind, STR("reaches"));
	sample->forecast.owner = OWNER_DIRECT_BUFFERS;
	sample->freeboard_bytes = (struct signed_qty){ (int64_t)(sample->limit.bytes / 2), true };
	if (sign == URGENT)
		sample->urgent = true;
	if (sign == CALM || sign == GROWN || sign == NEAR)
		sample->owners[OWNER_NATIVE_OTHER].bytes = (sign == CALM ? 10 : 100) << 20;
	if (sign == SHRUNK) {
		sample->floor_bytes.bytes /= 3;
		sample->owners[OWNER_NATIVE_OTHER].bytes = 100 << 20;
	}
	if (sign == GROWN)
		sample->owners[OWNER_NATIVE_OTHER].bytes += 64 << 20;
	if (sign == NEAR || sign == NO_LIMIT || sign == GROWN)
		sample->freeboard_bytes.bytes = (int64_t)(sample->limit.bytes / 100 * 5 - 1);
	if (sign == NO_LIMIT)
		sample->limit = (struct limit){ 0 };
	if (sign == JUST_NOT_NEAR)
		sample->freeboard_bytes.bytes = (int64_t)(sample->limit.bytes / 100 * 5);
	if (sign == OOM_KILL || sign == OOM_AND_KILL)
		sample->events.oom_kill = count_of(1);
	if (sign == OOM_AND_KILL)
		sample->events.oom = count_of(1);
	if (sign == NO_TARGET)
		sample->pid = 0;
	rig_message(session, &message);
}

static void say_postmortem(struct session *session, unsigned epoch, uint64_t seq, int pid)
{
	struct wire_message message = { .type = WIRE_POSTMORTEM,
					.postmortem = storekit_death(seq, "own", 0, 1, 1700000000000) };
	message.postmortem.head.epoch = storekit_epoch(epoch);
	message.postmortem.pid = pid;
	message.postmortem.body = STR("{}");
	rig_message(session, &message);
}

static void what_makes_one(void **state)
{
	static const struct {
		enum sign signs[3];
		bool written;
		enum death_cause cause;
	} cases[] = {
		{ { CALM, CALM, CALM }, false, 0 },
		{ { CALM, CALM, URGENT }, true, DEATH_UNKNOWN },
		{ { URGENT, URGENT, CALM }, false, 0 }, /* the last one counts */
		{ { CALM, CALM, NEAR }, true, DEATH_UNKNOWN },
		{ { CALM, CALM, JUST_NOT_NEAR }, false, 0 },
		{ { CALM, CALM, NO_LIMIT }, false, 0 },
		{ { CALM, OOM_KILL, OOM_KILL }, true, DEATH_OUTSIDE },
		{ { CALM, OOM_AND_KILL, OOM_AND_KILL }, true, DEATH_CONTAINER_LIMIT },
		{ { OOM_KILL, OOM_KILL, OOM_KILL }, false, 0 }, /* it rose before this session, which is no news */
		{ { CALM, NEAR, NO_TARGET }, true, DEATH_UNKNOWN },
		{ { NO_TARGET, NO_TARGET, NO_TARGET }, false, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rig rig;
		(void)state;
		rig_init(&rig, NULL);
		struct session *session = rig_agent(&rig, "a", 1);
		for (uint64_t seq = 1; seq <= 3; seq++)
			say(session, 1, seq, cases[i].signs[seq - 1]);
		rig_pass(&rig, 20);
		session_closed(session, 0);
		rig_pass(&rig, INFER_AFTER_MS - 1);
		assert_int_equal(rig_postmortem(&rig)->n, 0); /* its own may still come */
		rig_pass(&rig, 1);
		const struct rig_postmortem *found = rig_postmortem(&rig);
		if (found->n != cases[i].written)
			fail_msg("case %zu: %u post-mortems", i, found->n);
		assert_int_equal(inferred(&rig), cases[i].written);
		if (found->n) {
			assert_true(found->row.inferred);
			assert_int_equal(found->row.cause, cases[i].cause);
			assert_int_equal(found->row.owner, OWNER_DIRECT_BUFFERS);
			assert_int_equal(found->row.pid, 1);
		}
		rig_pass(&rig, 2 * INFER_AFTER_MS);
		assert_int_equal(rig_postmortem(&rig)->n, cases[i].written); /* once */
		rig_done(&rig);
	}
}

static void what_stands_in_it(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	for (uint64_t seq = 1; seq <= 5; seq++) {
		say(session, 1, seq, NEAR);
		rig_pass(rig, 60000);
	}
	session_closed(session, 0);
	rig_pass(rig, INFER_AFTER_MS);
	const struct rig_postmortem *found = rig_postmortem(rig);
	assert_int_equal(found->n, 1);
	for (const char *const *part =
		     (const char *const[]){ "\"inferred\":true", "\"limit_bytes\":8589934592", "\"owners\":{",
					    "\"java-heap\":", "\"timeline\":[{", "\"wall_ms\":1700000001000", NULL };
	     *part; part++)
		if (!strstr(found->text, *part))
			fail_msg("no %s in %s", *part, found->text);
	/* The frame that is stored is one that every reader of the wire can read. */
	struct wire_message message;
	enum wire_error_code code;
	struct err err;
	assert_int_equal(wire_decode(str_of(found->text), &message, &code, &err), 0);
}

/* What is stored tells who grew, and more surely than what was foreseen. */
static void who_grew(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, CALM);
	rig_pass(rig, 60000);
	say(session, 1, 2, GROWN);
	rig_pass(rig, 20);
	session_closed(session, 0);
	rig_pass(rig, INFER_AFTER_MS);
	const struct rig_postmortem *found = rig_postmortem(rig);
	assert_int_equal(found->n, 1);
	assert_int_equal(found->row.owner, OWNER_NATIVE_OTHER);
	if (!strstr(found->row.title, "; native-other had grown by 154.0 MiB"))
		fail_msg("%s", found->row.title);
}

/* A process that was there before held more: it is no growth of this one to be less than that. */
static void not_since_another_process(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, CALM);
	rig_pass(rig, 60000);
	say(session, 1, 2, SHRUNK);
	rig_pass(rig, 60000);
	say(session, 1, 3, NEAR);
	rig_pass(rig, 20);
	session_closed(session, 0);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->row.owner, OWNER_DIRECT_BUFFERS); /* what was foreseen */
}

static void not_after_bye(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	rig_frame(session, "{\"type\":\"bye\",\"reason\":\"terminated\"}");
	rig_pass(rig, 20);
	session_closed(session, 1000);
	rig_pass(rig, 2 * INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 0);
}

static void not_when_the_collector_stops(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	ingest_stop(rig->ingest);
	session_closed(session, WIRE_CLOSE_GOING_AWAY);
	rig_pass(rig, 2 * INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 0);
}

static void not_when_the_agent_wrote_one(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	say_postmortem(session, 1, 2, 1);
	rig_pass(rig, 20);
	session_closed(session, 0);
	rig_pass(rig, 2 * INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 1);
	assert_false(rig_postmortem(rig)->row.inferred);
}

static void not_when_it_comes_from_the_spool(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	session_closed(session, 0);
	rig_pass(rig, 60000);
	session = rig_open(rig, "a"); /* the next start of it, with the spool of the last */
	rig_hello(rig, session, 1, 2);
	say_postmortem(session, 1, 2, 1);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 1);
	assert_false(rig_postmortem(rig)->row.inferred);
}

static void not_when_the_process_lives(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	session_closed(session, 0);
	rig_pass(rig, 60000);
	session = rig_agent(rig, "a", 1);
	say(session, 1, 2, CALM);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 0);
}

static void though_its_spool_has_more_of_it(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	session_closed(session, 0);
	rig_pass(rig, 60000);
	session = rig_open(rig, "a");
	rig_hello(rig, session, 1, 2);
	say(session, 1, 2, URGENT); /* it had not been sent before the end */
	say(session, 2, 1, NO_TARGET);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 1);
	assert_true(rig_postmortem(rig)->row.inferred);
}

static void though_another_process_lives(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, URGENT);
	session_closed(session, 0);
	rig_pass(rig, 60000);
	session = rig_agent(rig, "a", 2); /* both were restarted: storekit gives epoch 2 other start ticks */
	say(session, 2, 1, CALM);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 1);
	assert_true(rig_postmortem(rig)->row.inferred);
}

static void not_by_a_newer_session(void **state)
{
	struct rig *rig = *state;
	struct session *older = rig_agent(rig, "a", 1), *newer;
	say(older, 1, 1, URGENT);
	newer = rig_agent(rig, "a", 1);
	session_closed(older, WIRE_CLOSE_REPLACED);
	rig_pass(rig, 2 * INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 0);
	/* But the newer one takes over what is known of the target. */
	session_closed(newer, 0);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 1);
}

static void an_old_kill_is_no_news(void **state)
{
	struct rig *rig = *state;
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, CALM);
	say(session, 1, 2, OOM_KILL);
	rig_pass(rig, OOM_RECENT_MS);
	say(session, 1, 3, OOM_KILL);
	session_closed(session, 0);
	rig_pass(rig, 2 * INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 0);
}

/* An agent ends with this sample, perhaps with a bye; then the collector is away for a time. */
static void end_and_restart(struct rig *rig, enum sign sign, const char *bye, uint64_t away_ms)
{
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 1, CALM);
	say(session, 1, 2, sign);
	if (bye)
		rig_frame(session, bye);
	rig_pass(rig, 20);
	session_closed(session, 0);
	rig->wall.ms += (int64_t)away_ms;
	rig_restart(rig);
}

static void after_a_restart(void **state)
{
	static const struct {
		enum sign sign;
		const char *bye;
		uint64_t away_ms;
		bool written;
	} cases[] = {
		{ NEAR, NULL, 1000, true },
		{ NEAR, NULL, INFER_LOADED_MS - 1000, true },
		{ NEAR, NULL, INFER_LOADED_MS + 1000, false },
		{ JUST_NOT_NEAR, NULL, 1000, false },
		{ NO_LIMIT, NULL, 1000, false },
		{ NEAR, "{\"type\":\"bye\",\"reason\":\"terminated\"}", 1000, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rig rig;
		rig_init(&rig, NULL);
		end_and_restart(&rig, cases[i].sign, cases[i].bye, cases[i].away_ms);
		rig_pass(&rig, INFER_AFTER_MS - 1);
		assert_int_equal(rig_postmortem(&rig)->n, 0);
		rig_pass(&rig, 1);
		if (rig_postmortem(&rig)->n != cases[i].written)
			fail_msg("case %zu: %u post-mortems", i, rig_postmortem(&rig)->n);
		/* Not again, by this run or the next. */
		rig_pass(&rig, INFER_AFTER_MS);
		rig_restart(&rig);
		rig_pass(&rig, INFER_AFTER_MS);
		assert_int_equal(rig_postmortem(&rig)->n, cases[i].written);
		if (cases[i].written) {
			assert_true(rig_postmortem(&rig)->row.inferred);
			assert_int_equal(rig_postmortem(&rig)->row.pid, 0);
			assert_non_null(strstr(rig_postmortem(&rig)->text, "\"owners\":{"));
			assert_non_null(strstr(rig_postmortem(&rig)->text, "did not come back"));
		}
		rig_done(&rig);
	}
}

static void not_after_a_restart_when_it_comes_back(void **state)
{
	struct rig *rig = *state;
	end_and_restart(rig, NEAR, NULL, 1000);
	rig_pass(rig, 60000);
	struct session *session = rig_agent(rig, "a", 1);
	say(session, 1, 3, CALM);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 0);
}

/* Which process it was, only the agent's own says: it stands for the inferred one whichever comes first. */
static void its_own_stands_for_it(void **state)
{
	struct rig *rig = *state;
	end_and_restart(rig, NEAR, NULL, 1000);
	rig_pass(rig, INFER_AFTER_MS);
	assert_true(rig_postmortem(rig)->row.inferred);
	struct session *session = rig_open(rig, "a");
	rig_hello(rig, session, 1, 2);
	say_postmortem(session, 1, 3, 1);
	rig_pass(rig, 20);
	assert_int_equal(rig_postmortem(rig)->n, 1);
	assert_false(rig_postmortem(rig)->row.inferred);
	session_closed(session, 0);
	rig_restart(rig);
	rig_pass(rig, INFER_AFTER_MS);
	assert_int_equal(rig_postmortem(rig)->n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_one),
		cmocka_unit_test_setup_teardown(what_stands_in_it, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(who_grew, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_since_another_process, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_after_bye, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_when_the_collector_stops, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_when_the_agent_wrote_one, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_when_it_comes_from_the_spool, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_when_the_process_lives, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(though_its_spool_has_more_of_it, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(though_another_process_lives, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(not_by_a_newer_session, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(an_old_kill_is_no_news, rig_set_up, rig_tear_down),
		cmocka_unit_test(after_a_restart),
		cmocka_unit_test_setup_teardown(not_after_a_restart_when_it_comes_back, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(its_own_stands_for_it, rig_set_up, rig_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
