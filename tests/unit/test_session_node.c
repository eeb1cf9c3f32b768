/* SPDX-License-Identifier: Apache-2.0 */
/* Agents of a node, and what Kubernetes tells of their pods after their hello. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/podbook.h"
#include "support/sessionkit.h"

#define UID "aaaaaaaa"

struct node {
	struct rig rig;
	struct podbook *book;
};

static int set_up(void **state)
{
	static struct node node;
	OK(podbook_new(&node.book, err));
	const struct ingest_options options = { .cluster = "lab",
						.pods = node.book,
						.node_agents = "bankfull/bankfull-node" };
	rig_init(&node.rig, &options);
	*state = &node;
	return 0;
}

static int tear_down(void **state)
{
	struct node *node = *state;
	rig_done(&node->rig);
	podbook_free(node->book);
	return 0;
}

/* `on`: the node that its credentials name; "": none. */
static struct session *speak_for(struct node *node, unsigned epoch, const char *uid, const char *on)
{
	struct auth_agent agent = {
		.id = "node-pod", .method = "review", .namespace_ = "bankfull", .account = "bankfull-node"
	};
	str_copy(agent.node, sizeof agent.node, str_of(on));
	struct session *session = ingest_open(node->rig.ingest, &agent, "10.0.0.7");
	struct wire_message message = { .type = WIRE_HELLO, .hello = storekit_hello(1) };
	message.hello.node_agent = TRISTATE_TRUE;
	message.hello.wall = node->rig.wall;
	str_copy(message.hello.subject.pod_uid, sizeof message.hello.subject.pod_uid, str_of(uid));
	str_copy(message.hello.subject.node, sizeof message.hello.subject.node, STR("worker-3"));
	message.hello.epochs[message.hello.n_epochs++] =
		(struct wire_held){ .epoch = storekit_epoch(epoch), .first = 1 };
	rig_message(session, &message);
	rig_pass(&node->rig, 20);
	return session;
}

static void tell(struct node *node, const char *uid, const char *name, const char *on)
{
	struct pod_seen seen = { .namespace_ = "ns" };
	str_copy(seen.uid, sizeof seen.uid, str_of(uid));
	str_copy(seen.name, sizeof seen.name, str_of(name));
	str_copy(seen.node, sizeof seen.node, str_of(on));
	assert_true(podbook_take(node->book, 0, &seen, false, node->rig.now));
	rig_pass(&node->rig, INGEST_SLOW_MS);
}

static bool is_asserted(struct node *node, int64_t agent)
{
	const struct fleet_pod *pod = fleet_find(node->rig.fleet, agent);
	assert_non_null(pod);
	return pod->subject.asserted;
}

static void confirmed_when_it_is_known(void **state)
{
	struct node *node = *state;
	struct session *session = speak_for(node, 1, UID, "worker-3"),
		       *other = speak_for(node, 2, "bbbbbbbb", "worker-3");
	int64_t agent = session->agent, others = other->agent;
	uint64_t generation = fleet_generation(node->rig.fleet);
	assert_true(is_asserted(node, agent));
	tell(node, "cccccccc", "pod-1", "worker-3"); /* of another pod */
	tell(node, UID, "pod-1", "");                /* not scheduled yet */
	assert_true(is_asserted(node, agent));
	assert_int_equal(fleet_generation(node->rig.fleet), generation);
	tell(node, UID, "pod-1", "worker-3");
	assert_false(is_asserted(node, agent));
	assert_true(is_asserted(node, others));
	assert_true(fleet_generation(node->rig.fleet) > generation); /* whoever looks is told */
	assert_int_equal(session->state, SESSION_OPEN);
	/* It is stored as well, and the rest of the subject with it. */
	ingest_flush(node->rig.ingest);
	session_closed(session, 1000);
	session_closed(other, 1000);
	rig_restart(&node->rig);
	assert_false(is_asserted(node, agent));
	assert_true(is_asserted(node, others));
	const struct fleet_pod *pod = fleet_find(node->rig.fleet, agent);
	assert_string_equal(pod->subject.pod_uid, UID);
	assert_string_equal(pod->subject.workload, "job-a");
	assert_int_equal(pod->subject.n_labels, 1);
}

static void closed_when_it_is_anothers(void **state)
{
	struct node *node = *state;
	struct session *session = speak_for(node, 1, UID, "worker-3");
	(void)rig_said(session);
	tell(node, UID, "pod-1", "worker-4");
	assert_non_null(strstr(rig_said(session), "error(state)"));
	session_closed(session, 1008);
	session = speak_for(node, 2, "bbbbbbbb", "worker-3");
	(void)rig_said(session);
	tell(node, "bbbbbbbb", "another-name", "worker-3");
	assert_non_null(strstr(rig_said(session), "error(state)"));
	session_closed(session, 1008);
}

/* With credentials that name no node there is nothing to confirm. */
static void not_without_a_node(void **state)
{
	struct node *node = *state;
	struct session *session = speak_for(node, 1, UID, "");
	tell(node, UID, "pod-1", "worker-3");
	assert_true(is_asserted(node, session->agent));
	assert_int_equal(session->state, SESSION_OPEN);
	session_closed(session, 1000);
}

/* More than are written at once: each has its turn. */
static void many(void **state)
{
	struct node *node = *state;
	enum { N = 450 };
	static struct session *sessions[N];
	char uid[16];
	for (unsigned i = 0; i < N; i++) {
		(void)snprintf(uid, sizeof uid, "uid-%u", i);
		sessions[i] = speak_for(node, i + 1, uid, "worker-3");
		struct pod_seen seen = { .namespace_ = "ns", .name = "pod-1", .node = "worker-3" };
		str_copy(seen.uid, sizeof seen.uid, str_of(uid));
		if (i + 1 == N)
			for (unsigned k = 0; k < N; k++) {
				(void)snprintf(seen.uid, sizeof seen.uid, "uid-%u", k);
				assert_true(podbook_take(node->book, 0, &seen, false, node->rig.now));
			}
	}
	for (int i = 0; i < 3; i++)
		rig_pass(&node->rig, INGEST_SLOW_MS);
	for (unsigned i = 0; i < N; i++) {
		assert_false(is_asserted(node, sessions[i]->agent));
		session_closed(sessions[i], 1000);
	}
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH(confirmed_when_it_is_known),
		WITH(closed_when_it_is_anothers),
		WITH(not_without_a_node),
		WITH(many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
