/* SPDX-License-Identifier: Apache-2.0 */
/* Ends that Kubernetes tells of, beside what agents tell and where no agent does: one post-mortem a death. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>

#include "collector/kube_alone.h"
#include "collector/kube_deaths.h"
#include "support/sessionkit.h"

#define UID    "0a-1b"
#define MEMORY "The node was low on resource: memory."

struct kube {
	struct rig rig;
	struct kube_deaths *deaths;
	struct logger log;
	uint64_t seq;
};

static void take_in(struct kube *k)
{
	OK(kube_deaths_new(k->rig.fleet, k->rig.store, &k->log, &k->deaths, err));
}

static int set_up(void **state)
{
	static struct kube kube;
	kube = (struct kube){ 0 };
	logger_init(&kube.log, -1, SAY_ERROR);
	rig_init(&kube.rig, NULL);
	take_in(&kube);
	*state = &kube;
	return 0;
}

static int tear_down(void **state)
{
	struct kube *k = *state;
	kube_deaths_free(k->deaths);
	rig_done(&k->rig);
	return 0;
}

static void restart(struct kube *k)
{
	kube_deaths_free(k->deaths);
	rig_restart(&k->rig);
	take_in(k);
}

static void pass(struct kube *k, uint64_t ms)
{
	for (uint64_t step; ms; ms -= step) {
		step = ms < 5000 ? ms : 5000;
		rig_pass(&k->rig, step);
		ingest_flush(k->rig.ingest);
		kube_deaths_step(k->deaths, k->rig.now, k->rig.wall);
	}
}

static struct session *agent(struct kube *k, const char *id, unsigned epoch, const char *container)
{
	struct session *session = rig_open(&k->rig, id);
	struct wire_message message = { .type = WIRE_HELLO, .hello = storekit_hello(1) };
	message.hello.wall = k->rig.wall;
	str_copy(message.hello.subject.pod_uid, sizeof message.hello.subject.pod_uid, STR(UID));
	str_copy(message.hello.subject.container, sizeof message.hello.subject.container, str_of(container));
	message.hello.epochs[message.hello.n_epochs++] =
		(struct wire_held){ .epoch = storekit_epoch(epoch), .first = 1 };
	rig_message(session, &message);
	pass(k, 20);
	return session;
}

/* Its floor is so much of its limit. */
static void sample(struct kube *k, struct session *session, unsigned epoch, unsigned full_pct)
{
	struct wire_message message = { .type = WIRE_SAMPLE, .sample = storekit_sample(epoch) };
	struct wire_sample *s = &message.sample;
	s->head.seq = ++k->seq;
	s->head.mono_ms = k->seq * 1000;
	s->head.wall = k->rig.wall;
	s->floor_bytes = qty_of(s->limit.bytes / 100 * full_pct, QTY_DERIVED);
	s->charge_bytes = qty_measured(s->floor_bytes.bytes);
	s->freeboard_bytes = (struct signed_qty){ (int64_t)(s->limit.bytes - s->floor_bytes.bytes), true };
	rig_message(session, &message);
	pass(k, 20);
}

static void say_postmortem(struct kube *k, struct session *session, unsigned epoch, struct wall died)
{
	struct wire_message message = { .type = WIRE_POSTMORTEM,
					.postmortem = storekit_death(++k->seq, "own", 0, 1, died.ms) };
	message.postmortem.head.epoch = storekit_epoch(epoch);
	message.postmortem.head.wall = k->rig.wall;
	message.postmortem.pid = 1;
	message.postmortem.body = STR("{}");
	rig_message(session, &message);
	pass(k, 20);
}

static struct pod_seen killed(const struct kube *k, const char *reason, int exit_code)
{
	struct pod_seen pod = { .namespace_ = "ns",
				.name = "pod-1",
				.uid = UID,
				.n_ends = 1,
				.ends = { { .container = "flink",
					    .exit_code = exit_code,
					    .started = { k->rig.wall.ms - 3600000 },
					    .finished = k->rig.wall } } };
	str_copy(pod.ends[0].reason, sizeof pod.ends[0].reason, str_of(reason));
	return pod;
}

static void tell(struct kube *k, const struct pod_seen *pod)
{
	kube_deaths_take(k->deaths, pod, k->rig.now, k->rig.wall);
}

static struct rig_postmortem *find(struct kube *k)
{
	return rig_postmortem(&k->rig);
}

static struct kube_deaths_counts counts(const struct kube *k)
{
	struct kube_deaths_counts counts;
	kube_deaths_count(k->deaths, &counts);
	return counts;
}

static void an_agent_that_died_too(void **state)
{
	struct kube *k = *state;
	struct session *session = agent(k, "a", 1, "flink");
	sample(k, session, 1, 50);
	pass(k, 60000);
	sample(k, session, 1, 97);
	const struct pod_seen pod = killed(k, "OOMKilled", 137);
	tell(k, &pod);
	const struct wall died = k->rig.wall;
	rig_frame(session, "{\"type\":\"bye\",\"reason\":\"terminated\"}"); /* nothing will be inferred of its stream */
	session_closed(session, 1000);
	pass(k, KUBE_ALONE_AFTER_MS - 10000);
	assert_int_equal(find(k)->n, 0); /* its own may still come */
	pass(k, 10000);
	const struct rig_postmortem *found = find(k);
	assert_int_equal(found->n, 1);
	assert_true(found->row.inferred && found->row.told);
	assert_int_equal(found->row.cause, DEATH_CONTAINER_LIMIT);
	assert_int_equal(found->row.died.ms, died.ms);
	for (const char *const *part =
		     (const char *const[]){ "OOMKilled, by Kubernetes' word alone", "at 96 % of its limit",
					    "\"inferred\":true", "\"limit_bytes\":8589934592", "\"timeline\":[{",
					    "\"owners\":{", NULL };
	     *part; part++)
		if (!strstr(found->text, *part))
			fail_msg("no %s in %s", *part, found->text);
	struct wire_message message;
	enum wire_error_code code;
	OK(wire_decode(str_of(found->text), &message, &code, err));
	const struct fleet_pod *const *pods;
	assert_int_equal(fleet_pods(k->rig.fleet, &pods), 1);
	assert_true(pods[0]->last_postmortem.ms > died.ms);
	/* Once: not when it is told again, nor by the next run of the collector. */
	pass(k, KUBE_END_KEPT_MS);
	tell(k, &pod);
	pass(k, KUBE_END_KEPT_MS);
	restart(k);
	tell(k, &pod);
	pass(k, KUBE_END_KEPT_MS);
	assert_int_equal(find(k)->n, 1);
	assert_int_equal(counts(k).alone_total, 0); /* of this run */
}

/* What is worth one, of an agent that is silent; at the limit, or not seen in this life of the container. */
static void what_makes_one(void **state)
{
	enum { STOPPED = 1, EVICTED = 2, OLD = 4, OTHER_CONTAINER = 8, UNSEEN = 16, NO_CONTAINER = 32, STRANGER = 64 };
	static const struct {
		const char *reason;
		int exit_code;
		unsigned how, pct;
		bool written;
		enum death_cause cause;
	} cases[] = {
		{ "OOMKilled", 137, 0, 97, true, DEATH_CONTAINER_LIMIT },
		{ "OOMKilled", 137, 0, 50, true, DEATH_OUTSIDE },
		{ "OOMKilled", 137, UNSEEN, 97, true, DEATH_UNKNOWN },
		{ "OOMKilled", 137, STOPPED, 97, true, DEATH_CONTAINER_LIMIT },
		{ "Error", 137, 0, 50, true, DEATH_SIGKILL },
		{ "Error", 137, STOPPED, 50, false, 0 }, /* by its time of grace */
		{ "Error", 137, EVICTED, 50, true, DEATH_NODE },
		{ "", -1, EVICTED, 50, true, DEATH_NODE },
		{ "Error", 3, 0, 50, true, DEATH_JAVA_OOM },
		{ "Error", 1, 0, 97, false, 0 },
		{ "Completed", 0, 0, 97, false, 0 },
		{ "Error", 143, 0, 97, false, 0 },
		{ "OOMKilled", 137, OLD, 97, false, 0 },
		{ "OOMKilled", 137, OTHER_CONTAINER, 97, false, 0 },
		{ "OOMKilled", 137, NO_CONTAINER, 97, false, 0 },
		{ "OOMKilled", 137, STRANGER, 97, false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		void *one = NULL;
		(void)set_up(&one);
		struct kube *k = one;
		unsigned how = cases[i].how;
		struct session *session = agent(k, "a", 1, how & NO_CONTAINER ? "" : "flink");
		sample(k, session, 1, cases[i].pct);
		rig_frame(session, "{\"type\":\"bye\",\"reason\":\"terminated\"}");
		session_closed(session, 1000);
		pass(k, 60000);
		struct pod_seen pod = killed(k, cases[i].reason, cases[i].exit_code);
		if (how & UNSEEN)
			pod.ends[0].started.ms = k->rig.wall.ms - 10000;
		if (how & STOPPED)
			pod.asked_to_stop.ms = k->rig.wall.ms - 30000;
		if (how & OLD)
			pod.ends[0].finished.ms -= KUBE_ALONE_OLDEST_MS + 1;
		if (how & OTHER_CONTAINER)
			str_copy(pod.ends[0].container, sizeof pod.ends[0].container, STR("log"));
		if (how & STRANGER)
			str_copy(pod.namespace_, sizeof pod.namespace_, STR("other"));
		if (how & EVICTED) {
			str_copy(pod.reason, sizeof pod.reason, STR("Evicted"));
			str_copy(pod.message, sizeof pod.message, STR(MEMORY));
			pod.n_ends = cases[i].exit_code < 0 ? 0 : 1;
		}
		tell(k, &pod);
		pass(k, KUBE_ALONE_AFTER_MS + 5000);
		const struct rig_postmortem *found = find(k);
		if (found->n != cases[i].written || (found->n && found->row.cause != cases[i].cause))
			fail_msg("case %zu: %u, %s", i, found->n, death_cause_names[found->row.cause]);
		if (how & UNSEEN && strstr(found->text, "floor_bytes"))
			fail_msg("figures of another life: %s", found->text);
		/* A watch that begins anew tells of it once more, of an eviction without its time. */
		pass(k, KUBE_END_KEPT_MS);
		tell(k, &pod);
		pass(k, KUBE_ALONE_AFTER_MS + 5000);
		assert_int_equal(find(k)->n, cases[i].written);
		(void)tear_down(&one);
	}
}

/* The stream's end was taken for the death: what Kubernetes says completes that one, before or after it is written. */
static void one_that_was_inferred(void **state)
{
	(void)state;
	for (uint64_t later = 0; later <= 600000; later += 600000) {
		void *one = NULL;
		(void)set_up(&one);
		struct kube *k = one;
		struct session *session = agent(k, "a", 1, "flink");
		sample(k, session, 1, 97);
		session_closed(session, 0);
		pass(k, later);
		struct pod_seen pod = killed(k, "OOMKilled", 137);
		tell(k, &pod);
		pass(k, 2 * INFER_AFTER_MS + KUBE_ALONE_AFTER_MS);
		const struct rig_postmortem *found = find(k);
		assert_int_equal(found->n, 1);
		assert_non_null(strstr(found->text, "the stream ended"));
		assert_true(found->row.told);
		assert_int_equal(found->row.cause, DEATH_CONTAINER_LIMIT);
		assert_int_equal(found->row.died.ms, pod.ends[0].finished.ms);
		assert_int_equal(counts(k).alone_total, 0);
		/* The next life of this container is another death. */
		pass(k, 600000);
		pod = killed(k, "OOMKilled", 137);
		pod.ends[0].started.ms = k->rig.wall.ms - 60000;
		tell(k, &pod);
		pass(k, KUBE_ALONE_AFTER_MS + 5000);
		assert_int_equal(find(k)->n, 2);
		assert_int_equal(counts(k).alone_total, 1);
		(void)tear_down(&one);
	}
}

/* An inferred one that comes late finds Kubernetes' there. */
static void inferred_after_it(void **state)
{
	struct kube *k = *state;
	struct session *session = agent(k, "a", 1, "flink");
	sample(k, session, 1, 97);
	const struct pod_seen pod = killed(k, "OOMKilled", 137);
	tell(k, &pod);
	pass(k, KUBE_ALONE_AFTER_MS + 5000); /* its connection hangs */
	assert_int_equal(find(k)->n, 1);
	session_closed(session, 0);
	pass(k, 2 * INFER_AFTER_MS);
	assert_int_equal(find(k)->n, 1);
	assert_non_null(strstr(find(k)->text, "Kubernetes' word alone"));
}

/* The agent's own is better, whenever it comes. */
static void its_own_takes_its_place(void **state)
{
	struct kube *k = *state;
	struct session *session = agent(k, "a", 1, "flink");
	sample(k, session, 1, 50);
	const struct pod_seen pod = killed(k, "OOMKilled", 137);
	const struct wall died = k->rig.wall;
	tell(k, &pod);
	pass(k, KUBE_ALONE_AFTER_MS + 5000);
	assert_true(find(k)->row.inferred);
	say_postmortem(k, session, 1, died);
	const struct rig_postmortem *found = find(k);
	assert_int_equal(found->n, 1);
	assert_false(found->row.inferred);
	pass(k, 10000);
	assert_true(find(k)->row.told);
	assert_int_equal(find(k)->n, 1);
}

static void before_it_there_is_none_of_ours(void **state)
{
	struct kube *k = *state;
	struct session *session = agent(k, "a", 1, "flink");
	sample(k, session, 1, 50);
	const struct pod_seen pod = killed(k, "OOMKilled", 137);
	say_postmortem(k, session, 1, k->rig.wall);
	tell(k, &pod);
	pass(k, KUBE_ALONE_AFTER_MS + 60000);
	assert_int_equal(find(k)->n, 1);
	assert_false(find(k)->row.inferred);
	assert_true(find(k)->row.told);
	assert_int_equal(counts(k).alone_total, 0);
	assert_int_equal(counts(k).told_total, 1);
}

/* A sidecar and an agent of the node tell of the same container: whose word is the latest has it. */
static void one_for_two_agents(void **state)
{
	struct kube *k = *state;
	struct session *sidecar = agent(k, "a", 1, "flink"), *node = agent(k, "node:b", 2, "flink");
	sample(k, sidecar, 1, 97);
	rig_frame(sidecar, "{\"type\":\"bye\",\"reason\":\"terminated\"}");
	session_closed(sidecar, 1000);
	pass(k, 60000);
	k->seq = 0;
	sample(k, node, 2, 97);
	rig_frame(node, "{\"type\":\"bye\",\"reason\":\"terminated\"}");
	session_closed(node, 1000);
	const struct pod_seen pod = killed(k, "OOMKilled", 137);
	tell(k, &pod);
	pass(k, KUBE_ALONE_AFTER_MS + 60000);
	assert_int_equal(find(k)->n, 1);
	assert_int_equal(counts(k).alone_total, 1);
	const struct fleet_pod *last = fleet_find(k->rig.fleet, find(k)->row.agent);
	assert_non_null(last);
	assert_string_equal(last->agent_id, "node:b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_agent_that_died_too, set_up, tear_down),
		cmocka_unit_test(what_makes_one),
		cmocka_unit_test(one_that_was_inferred),
		cmocka_unit_test_setup_teardown(inferred_after_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_own_takes_its_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(before_it_there_is_none_of_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_for_two_agents, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
