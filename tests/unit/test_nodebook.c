/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "agent/nodebook.h"
#include "agent/nodechild.h"

static struct mono at_s(uint64_t s)
{
	return (struct mono){ (s + 1000) * UINT64_C(1000000000) };
}

static struct node_pod pod(const char *uid, const char *namespace_, const char *container)
{
	struct node_pod p = { .qos = POD_QOS_UNREAD };
	(void)snprintf(p.pod_uid, sizeof p.pod_uid, "%s", uid);
	(void)snprintf(p.namespace_, sizeof p.namespace_, "%s", namespace_);
	(void)snprintf(p.pod, sizeof p.pod, "pod-%s", uid);
	(void)snprintf(p.container, sizeof p.container, "%s", container);
	return p;
}

static void see(struct nodebook *book, const char *uid, const char *namespace_, const char *container, uint64_t s)
{
	const struct node_pod p = pod(uid, namespace_, container);
	assert_true(nodebook_see(book, &p, at_s(s)));
}

static struct nodebook *new_book(size_t max)
{
	struct nodebook *book = malloc(sizeof *book);
	assert_non_null(book);
	nodebook_init(book, max);
	return book;
}

static void one_pod_is_one_target(void **state)
{
	(void)state;
	struct nodebook *book = new_book(4);
	size_t at = 9;
	assert_int_equal(nodebook_next(book, at_s(0), &at), NODE_WAIT);
	see(book, "aaaaaaaa", "fraud", "main", 0);
	see(book, "aaaaaaaa", "fraud", "main", 0);
	assert_int_equal(nodebook_targets(book), 1);
	assert_int_equal(nodebook_next(book, at_s(0), &at), NODE_START);
	nodebook_started(book, at, 4711, at_s(0));
	assert_int_equal(nodebook_next(book, at_s(0), &at), NODE_WAIT);
	assert_int_equal(nodebook_children(book), 1);
	/* Another JVM of the pod, in another container, has an agent of its own; another pod has, too. */
	see(book, "aaaaaaaa", "fraud", "second", 1);
	see(book, "bbbbbbbb", "fraud", "main", 1);
	assert_int_equal(nodebook_targets(book), 3);
	free(book);
}

static void a_name_that_comes_later(void **state)
{
	(void)state;
	struct nodebook *book = new_book(4);
	size_t at;
	/* The link that names the container is made a moment after its start: that is waited for, not for ever. */
	see(book, "aaaaaaaa", "fraud", "", 0);
	assert_int_equal(nodebook_next(book, at_s(0), &at), NODE_WAIT);
	see(book, "aaaaaaaa", "fraud", "main", 5);
	assert_int_equal(nodebook_next(book, at_s(5), &at), NODE_START);
	assert_string_equal(book->targets[at].pod.container, "main");
	assert_int_equal(nodebook_targets(book), 1);
	nodebook_started(book, at, 1, at_s(5));
	/* Its next incarnation, unnamed as yet, is no other pod's, and takes no name away. */
	see(book, "aaaaaaaa", "fraud", "", 60);
	assert_int_equal(nodebook_targets(book), 1);
	assert_string_equal(book->targets[at].pod.container, "main");
	see(book, "bbbbbbbb", "fraud", "", 60);
	assert_int_equal(nodebook_next(book, at_s(69), &at), NODE_WAIT);
	assert_int_equal(nodebook_next(book, at_s(70), &at), NODE_START);
	nodebook_started(book, at, 2, at_s(70));
	/* Where nobody names anything there is nothing to wait for. */
	see(book, "cccccccc", "", "", 70);
	assert_int_equal(nodebook_next(book, at_s(70), &at), NODE_START);
	free(book);
}

static void who_finds_no_room(void **state)
{
	(void)state;
	struct nodebook *book = new_book(2);
	const struct node_pod third = pod("cccccccc", "fraud", "main");
	see(book, "aaaaaaaa", "fraud", "main", 0);
	see(book, "bbbbbbbb", "fraud", "main", 0);
	nodebook_look(book);
	see(book, "aaaaaaaa", "fraud", "main", 1);
	assert_false(nodebook_see(book, &third, at_s(1)));
	assert_int_equal(book->left_out, 1);
	nodebook_look(book);
	assert_int_equal(book->left_out, 0);
	nodebook_init(book, 100000);
	assert_int_equal(book->max, AGENT_TARGETS_MAX);
	free(book);
}

static void a_pod_that_is_gone(void **state)
{
	(void)state;
	struct nodebook *book = new_book(2);
	size_t at;
	see(book, "aaaaaaaa", "fraud", "main", 0);
	assert_int_equal(nodebook_next(book, at_s(0), &at), NODE_START);
	nodebook_started(book, at, 1, at_s(0));
	/* Its JVM restarts, as late as kubelet's back-off has it: the same agent tells of the death and goes on. */
	assert_int_equal(nodebook_next(book, at_s(310), &at), NODE_WAIT);
	see(book, "aaaaaaaa", "fraud", "main", 310);
	assert_int_equal(nodebook_next(book, at_s(909), &at), NODE_WAIT);
	assert_int_equal(nodebook_next(book, at_s(910), &at), NODE_END);
	assert_int_equal(nodebook_next(book, at_s(911), &at), NODE_WAIT); /* once */
	at = 0;
	nodebook_ended(book, at, at_s(912));
	assert_int_equal(nodebook_targets(book), 0);
	assert_int_equal(book->ended_total, 1);
	assert_int_equal(book->failed_total, 0);
	free(book);
}

static void an_agent_that_fails(void **state)
{
	(void)state;
	struct nodebook *book = new_book(2);
	static const uint64_t waits_s[] = { 5, 10, 20, 40, 80, 160, 300, 300 };
	uint64_t s = 0;
	size_t at;
	see(book, "aaaaaaaa", "fraud", "main", 0);
	for (size_t i = 0; i < sizeof waits_s / sizeof waits_s[0]; i++) {
		see(book, "aaaaaaaa", "fraud", "main", s);
		assert_int_equal(nodebook_next(book, at_s(s), &at), NODE_START);
		nodebook_started(book, at, 100 + (int)i, at_s(s));
		nodebook_ended(book, at, at_s(s));
		see(book, "aaaaaaaa", "fraud", "main", s + waits_s[i] - 1);
		assert_int_equal(nodebook_next(book, at_s(s + waits_s[i] - 1), &at), NODE_WAIT);
		s += waits_s[i];
	}
	assert_int_equal(book->failed_total, sizeof waits_s / sizeof waits_s[0]);
	/* One that ran for a minute begins with a clean slate. */
	see(book, "aaaaaaaa", "fraud", "main", s);
	assert_int_equal(nodebook_next(book, at_s(s), &at), NODE_START);
	nodebook_started(book, at, 1, at_s(s));
	see(book, "aaaaaaaa", "fraud", "main", s + 60);
	nodebook_ended(book, at, at_s(s + 60));
	assert_int_equal(nodebook_next(book, at_s(s + 65), &at), NODE_START);
	/* Of others it takes nothing. */
	see(book, "bbbbbbbb", "fraud", "main", s + 65);
	assert_int_equal(nodebook_targets(book), 2);
	free(book);
}

/* --- how the agent of a pod is called ----------------------------------------------------------- */

static void what_an_agent_of_a_pod_is_told(void **state)
{
	(void)state;
	static char *argv[] = { "agent",       "--node",        "--match=fraud/*", "--max-targets", "3",
				"--collector", "wss://c/agent", "--listen",        "127.0.0.1:1",   "--state-dir",
				"/state",      "--node",        "worker-3",        "--debug" };
	static char *const environment[] = { "PATH=/bin",
					     "BANKFULL_MATCH=*",
					     "BANKFULL_NODE=worker-3",
					     "BANKFULL_LISTEN=:9482",
					     "BANKFULL_TOKEN_FILE=/t",
					     NULL };
	static const char *const want[] = { "bankfull",    "agent",        "--collector", "wss://c/agent",
					    "--node",      "worker-3",     "--debug",     "--in-pod",
					    "--pod-uid",   "aaaaaaaa",     "--namespace", "fraud",
					    "--pod",       "pod-aaaaaaaa", "--container", "main",
					    "--pod-limit", "1048576",      "--state-dir", "/state/aaaaaaaa.main",
					    "--listen",    "off",          "--no-metrics" };
	const struct node_call call = { sizeof argv / sizeof argv[0], argv, environment };
	const struct agentconf conf = { .state_dir = "/state" };
	const struct node_pod p = pod("aaaaaaaa", "fraud", "main");
	struct nodechild_args args = { .environment = NULL };
	struct err err = { 0 };
	assert_int_equal(nodechild_args(&conf, &call, &p, limit_set(1 << 20), &args, &err), 0);
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
		assert_string_equal(args.argv[i], want[i]);
	assert_null(args.argv[sizeof want / sizeof want[0]]);
	assert_string_equal(args.environment[0], "PATH=/bin");
	assert_string_equal(args.environment[1], "BANKFULL_NODE=worker-3");
	assert_string_equal(args.environment[2], "BANKFULL_TOKEN_FILE=/t");
	assert_null(args.environment[3]);
	nodechild_args_done(&args);
	/* What is not known is not said. */
	const struct node_pod bare = { .pod_uid = "aaaaaaaa" };
	const struct agentconf no_state = { .state_dir = NULL };
	const struct node_call one = { 1, argv, environment };
	assert_int_equal(nodechild_args(&no_state, &one, &bare, (struct limit){ 0 }, &args, &err), 0);
	assert_string_equal(args.argv[4], "aaaaaaaa");
	assert_string_equal(args.argv[5], "--listen");
	assert_string_equal(args.argv[7], "--no-metrics");
	assert_null(args.argv[8]);
	nodechild_args_done(&args);
	/* Its own settings are good ones. */
	char *own[NODE_ARGS_MAX];
	int n = 0;
	struct agentconf *parsed = calloc(1, sizeof *parsed);
	assert_non_null(parsed);
	assert_int_equal(nodechild_args(&conf, &call, &p, limit_set(1 << 20), &args, &err), 0);
	for (; args.argv[n + 1]; n++)
		own[n] = (char *)(uintptr_t)args.argv[n + 1];
	assert_int_equal(agentconf_parse(n, own, environment + 5, parsed, &err), 0);
	assert_true(parsed->in_pod);
	assert_false(parsed->node);
	assert_string_equal(parsed->subject.node, "worker-3");
	agentconf_done(parsed);
	free(parsed);
	nodechild_args_done(&args);
}

static void as_whom_it_looks(void **state)
{
	(void)state;
	struct count uid = { .n = 9999, .known = true }, none = { .n = 0, .known = true },
		     cap = { .n = 1, .known = true };
	const struct process_status jvm = {
		.uid_real = uid, .uid_effective = uid, .gid_real = uid, .gid_effective = uid, .cap_permitted = none
	};
	struct process_status other;
	uint32_t user = 0, group = 0;
	assert_true(nodechild_ids(&jvm, true, &user, &group));
	assert_int_equal(user, 9999);
	assert_int_equal(group, 9999);
	assert_false(nodechild_ids(&jvm, false, &user, &group));
	other = jvm;
	other.cap_permitted = cap;
	assert_false(nodechild_ids(&other, true, &user, &group));
	other = jvm;
	other.uid_real = other.uid_effective = none;
	assert_false(nodechild_ids(&other, true, &user, &group));
	other = jvm;
	other.uid_effective.known = false;
	assert_false(nodechild_ids(&other, true, &user, &group));
	other = jvm;
	other.uid_real = none;
	assert_false(nodechild_ids(&other, true, &user, &group));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pod_is_one_target), cmocka_unit_test(a_name_that_comes_later),
		cmocka_unit_test(who_finds_no_room),     cmocka_unit_test(a_pod_that_is_gone),
		cmocka_unit_test(an_agent_that_fails),   cmocka_unit_test(what_an_agent_of_a_pod_is_told),
		cmocka_unit_test(as_whom_it_looks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
