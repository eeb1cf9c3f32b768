/* SPDX-License-Identifier: Apache-2.0 */
/* What people silence reaches the sessions that run, and those alone that it is about. */
#include "collector/silences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/silence_json.h"
#include "rules/rules.h"
#include "support/sessionkit.h"

static struct silences *begin(struct rig *rig)
{
	struct silences *silences;
	struct err err;
	rig_init(rig, NULL);
	if (silences_new(rig->store, NULL, &silences, &err) < 0)
		fail_msg("%s", err.message);
	rig->ingest->options.silences = silences;
	return silences;
}

static void end(struct rig *rig, struct silences *silences)
{
	rig_done(rig);
	silences_free(silences);
}

static int64_t silence(struct rig *rig, struct silences *silences, const char *matchers)
{
	char body[400];
	struct silence draft;
	struct err err;
	int64_t id = 0, other;
	const struct deed deed = { .who = "ops", .peer = "::1", .at = rig->wall };
	(void)snprintf(body, sizeof body,
		       "{\"kind\":\"silence\",\"matchers\":%s,\"reason\":\"known\",\"until_ms\":%lld}", matchers,
		       (long long)(rig->wall.ms + 3600000));
	if (silence_parse(str_of(body), rig->wall, &draft, &err) < 0 ||
	    silences_add(silences, &draft, &deed, &id, &other, &err) < 0)
		fail_msg("%s: %s", body, err.message);
	return id;
}

/* Its first welcome has been sent. */
static struct session *welcomed(struct rig *rig, const char *id, unsigned epoch)
{
	struct session *session = rig_agent(rig, id, epoch);
	assert_memory_equal(rig_said(session), "welcome(", 8);
	return session;
}

/* The policy of the next frame, which must be a welcome. */
static const struct wire_policy *heard(struct session *session, size_t n_acked)
{
	static struct wire_message message;
	auto_buf struct buf frame = { .cap = WIRE_FRAME_MAX };
	enum wire_error_code code;
	struct err err;
	assert_true(session_writable(session, &frame));
	assert_int_equal(wire_decode(buf_str(&frame), &message, &code, &err), 0);
	assert_int_equal(message.type, WIRE_WELCOME);
	assert_int_equal(message.welcome.n_acked, n_acked);
	assert_int_equal(message.welcome.window, 256);
	return &message.welcome.policy;
}

static void from_the_first_welcome_on(void **state)
{
	(void)state;
	struct rig rig;
	struct silences *silences = begin(&rig);
	(void)silence(&rig, silences, "{\"namespace\":\"ns\",\"rule\":\"oom-kill\"}");
	(void)silence(&rig, silences, "{\"namespace\":\"other\",\"rule\":\"heap-pressure\"}");
	struct session *session = rig_open(&rig, "a");
	rig_hello(&rig, session, 1, 1);
	rig_pass(&rig, 1000);
	const struct wire_policy *policy = heard(session, 1);
	assert_int_equal(policy->n_silences, 1);
	assert_string_equal(policy->silences[0].rule, "oom-kill");
	assert_true(policy->silences[0].quiet);
	assert_string_equal(rig_said(session), "");
	end(&rig, silences);
}

static void in_a_session_that_runs(void **state)
{
	(void)state;
	struct rig rig;
	struct silences *silences = begin(&rig);
	struct session *a = welcomed(&rig, "a", 1), *b = welcomed(&rig, "b", 2);
	struct err err;
	uint64_t before = a->policy_sent;
	assert_int_not_equal(before, 0);

	int64_t id = silence(&rig, silences, "{\"pod\":\"pod-1\"}");
	assert_true(ingest_policies(rig.ingest));
	const struct wire_policy *policy = heard(a, 0);
	assert_int_not_equal(policy->version, before);
	assert_int_equal(policy->n_silences, rule_count); /* all rules */
	assert_string_equal(rig_said(a), "");
	assert_string_equal(rig_said(b), "");
	struct ingest_counts counts;
	ingest_count(rig.ingest, &counts);
	assert_int_equal(counts.policy_left_out_total, 0);

	/* What was said is not said again, and a sample goes on being acked. */
	assert_true(ingest_policies(rig.ingest));
	rig_sample(a, 1, 1);
	rig_pass(&rig, 1000);
	assert_string_equal(rig_said(a), "ack(1=1)");

	/* It ends: the agent hears an empty policy, not none, which it would not take for an end. */
	const struct deed deed = { .who = "ops", .peer = "::1", .at = rig.wall };
	assert_int_equal(silences_end(silences, id, &deed, &err), 0);
	rig_pass(&rig, 1000);
	policy = heard(a, 0);
	assert_int_equal(policy->n_silences, 0);
	assert_int_equal(policy->version, before);
	assert_string_equal(rig_said(b), "");
	end(&rig, silences);
}

/* Acknowledgements, and what is of a severity, stay here. */
static void what_is_not_for_agents(void **state)
{
	(void)state;
	struct rig rig;
	struct silences *silences = begin(&rig);
	struct session *a = welcomed(&rig, "a", 1);
	(void)silence(&rig, silences, "{\"severity\":\"critical\"}");
	assert_true(ingest_policies(rig.ingest));
	assert_string_equal(rig_said(a), "");
	end(&rig, silences);
}

/* A fleet is looked at in steps, and none is left out. */
static void many_sessions(void **state)
{
	(void)state;
	enum { N = 1500 };
	struct rig rig;
	struct silences *silences = begin(&rig);
	static struct session *sessions[N];
	for (unsigned i = 0; i < N; i++) {
		char id[16];
		(void)snprintf(id, sizeof id, "agent-%u", i);
		sessions[i] = welcomed(&rig, id, i + 1);
	}
	(void)silence(&rig, silences, "{\"rule\":\"oom-kill\"}");
	assert_false(ingest_policies(rig.ingest));
	assert_true(ingest_policies(rig.ingest));
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(heard(sessions[i], 0)->n_silences, 1);
	end(&rig, silences);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_the_first_welcome_on),
		cmocka_unit_test(in_a_session_that_runs),
		cmocka_unit_test(what_is_not_for_agents),
		cmocka_unit_test(many_sessions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
