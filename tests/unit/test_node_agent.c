/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "collector/node_agent.h"

static void who_may_be_named(void **state)
{
	(void)state;
	static const struct {
		const char *list;
		bool good;
	} table[] = {
		{ "bankfull/bankfull-node", true },
		{ "bankfull/bankfull-node, other/node", true },
		{ "node-17", true },
		{ "", false },
		{ "bankfull/*", false },
		{ "*", false },
		{ "bankfull/", false },
		{ "/bankfull-node", false },
		{ "a/b,,c/d", false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct err err = { 0 };
		assert_int_equal(node_agents_check(table[i].list, &err) == 0, table[i].good);
		assert_int_equal(err.kind, table[i].good ? ERR_NONE : ERR_USAGE);
	}
}

static void who_may_speak_for_another(void **state)
{
	(void)state;
	static const char list[] = "bankfull/bankfull-node, node-17";
	static const struct {
		const char *list, *method, *id, *namespace_, *account;
		bool may;
	} table[] = {
		{ list, "review", "uid-1", "bankfull", "bankfull-node", true },
		{ list, "token", "node-17", "", "", true },
		{ list, "certificate", "node-17", "", "", true },
		{ list, "open", "", "", "", true },
		/* a sidecar: of its own account, of another namespace's, of an id that looks like an account */
		{ list, "review", "uid-2", "fraud", "default", false },
		{ list, "review", "uid-2", "fraud", "bankfull-node", false },
		{ list, "review", "node-17", "fraud", "default", false },
		{ list, "review", "bankfull/bankfull-node", "fraud", "default", false },
		{ list, "review", "uid-1", "", "", false },
		{ list, "token", "fraud/taskmanager-1", "", "", false },
		/* nobody is named */
		{ NULL, "review", "uid-1", "bankfull", "bankfull-node", false },
		{ NULL, "token", "node-17", "", "", false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct err err = { 0 };
		enum node_verdict verdict = NODE_CONFIRMED;
		const struct wire_subject subject = { .pod_uid = "aaaaaaaa" };
		const struct node_claim claim = { .id = table[i].id,
						  .method = table[i].method,
						  .namespace_ = table[i].namespace_,
						  .account = table[i].account,
						  .node = "" };
		int rc = node_agent_judge(table[i].list, NULL, &claim, &subject, &verdict, &err);
		if ((rc == 0) != table[i].may)
			print_error("row %zu: %s\n", i, err.message);
		assert_int_equal(rc == 0, table[i].may);
		assert_int_equal(verdict, table[i].may ? NODE_ASSERTED : NODE_CONFIRMED);
		if (!table[i].may)
			assert_non_null(strstr(err.message, "--node-agents"));
	}
	struct err err = { 0 };
	enum node_verdict verdict;
	const struct node_claim claim = { "node-17", "token", "", "", "" };
	const struct wire_subject nobody = { .pod = "fraud-1" };
	assert_true(node_agent_judge(list, NULL, &claim, &nobody, &verdict, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

static void what_kubernetes_says_of_the_pod(void **state)
{
	(void)state;
	static const char list[] = "bankfull/bankfull-node";
	static const struct {
		const char *node, *uid, *namespace_, *pod;
		bool may;
		enum node_verdict verdict;
	} table[] = {
		{ "worker-3", "aaaaaaaa", "fraud", "tm-1", true, NODE_CONFIRMED },
		/* of another node; by another name; in another namespace */
		{ "worker-4", "aaaaaaaa", "fraud", "tm-1", false, 0 },
		{ "worker-3", "aaaaaaaa", "fraud", "tm-2", false, 0 },
		{ "worker-3", "aaaaaaaa", "pay", "tm-1", false, 0 },
		/* what it could not find out is no lie, and no proof */
		{ "worker-3", "aaaaaaaa", "", "", true, NODE_ASSERTED },
		/* not in the book; a token that names no node */
		{ "worker-3", "bbbbbbbb", "fraud", "tm-1", true, NODE_ASSERTED },
		{ "", "aaaaaaaa", "fraud", "tm-1", true, NODE_ASSERTED },
		{ "", "aaaaaaaa", "fraud", "tm-2", false, 0 },
	};
	struct podbook *book;
	struct err err = { 0 };
	struct pod_seen seen = { .uid = "aaaaaaaa", .namespace_ = "fraud", .name = "tm-1", .node = "worker-3" };
	assert_int_equal(podbook_new(&book, &err), 0);
	assert_true(podbook_take(book, 0, &seen, false, (struct mono){ 1 }));
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		enum node_verdict verdict;
		struct wire_subject subject = { .node = "worker-3" };
		const struct node_claim claim = { "uid-1", "review", "bankfull", "bankfull-node", table[i].node };
		str_copy(subject.pod_uid, sizeof subject.pod_uid, str_of(table[i].uid));
		str_copy(subject.namespace_, sizeof subject.namespace_, str_of(table[i].namespace_));
		str_copy(subject.pod, sizeof subject.pod, str_of(table[i].pod));
		int rc = node_agent_judge(list, book, &claim, &subject, &verdict, &err);
		if ((rc == 0) != table[i].may)
			print_error("row %zu\n", i);
		assert_int_equal(rc == 0, table[i].may);
		if (table[i].may)
			assert_int_equal(verdict, table[i].verdict);
	}
	podbook_free(book);
}

static void what_its_sessions_are_called(void **state)
{
	(void)state;
	struct err err = { 0 };
	char id[WIRE_NAME_CAP];
	struct wire_subject subject = { .pod_uid = "aaaaaaaa", .node = "says-so", .container = "main" };
	const struct node_claim reviewed = { "uid-1", "review", "bankfull", "bankfull-node", "worker-3" };
	const struct node_claim older = { "uid-1", "review", "bankfull", "bankfull-node", "" };
	const struct node_claim open = { "", "open", "", "", "" };
	/* The node agent's own pod is another one after each upgrade: its targets stay who they are. */
	assert_int_equal(node_agent_id(&reviewed, &subject, id, &err), 0);
	assert_string_equal(id, "node:worker-3:aaaaaaaa:main");
	assert_int_equal(node_agent_id(&older, &subject, id, &err), 0);
	assert_string_equal(id, "node:uid-1:aaaaaaaa:main");
	subject.container[0] = '\0';
	assert_int_equal(node_agent_id(&open, &subject, id, &err), 0);
	assert_string_equal(id, "node:says-so:aaaaaaaa");
	memset(subject.node, 'n', sizeof subject.node - 1);
	assert_true(node_agent_id(&open, &subject, id, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(id, "node:says-so:aaaaaaaa");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_may_be_named),
		cmocka_unit_test(who_may_speak_for_another),
		cmocka_unit_test(what_kubernetes_says_of_the_pod),
		cmocka_unit_test(what_its_sessions_are_called),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
