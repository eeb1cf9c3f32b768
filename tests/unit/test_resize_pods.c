/* SPDX-License-Identifier: Apache-2.0 */
/* A collector's answers, as readings: what is whole counts, what is not is unread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "plan/resize_pods.h"

#define MIB (1ull << 20)

enum { ROOM = 16 };

static struct js *json(const char *text)
{
	struct js *root = NULL;
	struct err err = { 0 };
	if (js_parse(str_of(text), 1 << 20, &root, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	return root;
}

#define SUBJECT(role) "\"subject\":{\"namespace\":\"pay\",\"pod\":\"tm-1\",\"role\":\"" role "\"}"
#define BUDGETS                                                                                                             \
	"\"budgets\":[{\"budget\":\"heap\",\"bytes\":1000,\"used_bytes\":5,\"owners\":[\"java-heap\"]},"                    \
	"{\"budget\":\"jvm-overhead\",\"bytes\":300,\"used_bytes\":9,\"owners\":[\"gc\",\"code-cache\",\"native-other\"]}," \
	"{\"budget\":\"metaspace\",\"bytes\":200,\"used_bytes\":null,\"owners\":[\"metaspace\"]}]"
#define LEDGER                                                                              \
	"\"ledger\":[{\"owner\":\"java-heap\",\"bytes\":5},{\"owner\":\"gc\",\"bytes\":4}," \
	"{\"owner\":\"code-cache\",\"bytes\":5},{\"owner\":\"metaspace\",\"bytes\":null}]"
#define REST "\"heard_ms\":5000000,\"sample\":{\"limit_bytes\":4096},\"findings\":[{\"rule\":\"heap-pressure\"}]"

static const char whole[] = "{\"id\":\"7\"," SUBJECT("taskmanager") "," BUDGETS "," LEDGER "," REST "}";

static struct resize_pod pod_of(const char *text)
{
	struct resize_pod pod;
	struct js *root = json(text);
	assert_int_equal(resize_pod_read(root, &pod, NULL), 0);
	js_free(root);
	return pod;
}

static void a_pod(void **state)
{
	(void)state;
	struct resize_pod pod = pod_of(whole);
	assert_string_equal(pod.id, "7");
	assert_string_equal(pod.name, "pay/tm-1");
	assert_int_equal(pod.base.kind, ENGINE_FLINK_TASKMANAGER);
	assert_int_equal(pod.base.set[RESIZE_HEAP].bytes, 1000);
	assert_int_equal(pod.base.set[RESIZE_METASPACE].bytes, 200);
	assert_false(qty_known(pod.base.set[RESIZE_MANAGED]));
	assert_int_equal(pod.base.limit.bytes, 4096);
	assert_true(pod.base.heap_pressure);
	static const struct {
		const char *text;
		enum err_kind kind;
	} bad[] = {
		{ "{}", ERR_MALFORMED },
		{ "[]", ERR_MALFORMED },
		{ "{\"id\":\"7777777777777777777777777777777777777777\"}", ERR_MALFORMED },
		{ "{\"id\":\"7\"," SUBJECT("jvm") "}", ERR_UNSUPPORTED },
		{ "{\"id\":\"7\"," SUBJECT("unknown") "}", ERR_UNSUPPORTED },
		{ "{\"id\":\"7\"," SUBJECT("taskmanager") ",\"budgets\":null," REST "}", ERR_UNSUPPORTED },
		{ "{\"id\":\"7\"," SUBJECT("taskmanager") "," BUDGETS "}", ERR_UNSUPPORTED },
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = { 0 };
		struct js *root = json(bad[i].text);
		assert_true(resize_pod_read(root, &pod, &err) < 0);
		assert_int_equal(err.kind, bad[i].kind);
		js_free(root);
	}
}

static int add(struct resize_history *history, uint32_t number, const struct resize_pod *pod, const char *text)
{
	struct wall next = { -1 };
	struct js *root = json(text);
	int rc = resize_history_add(history, number, pod, root, &next, NULL);
	js_free(root);
	return rc < 0 ? rc : (int)next.ms;
}

#define POINT(at, limit, owners) \
	"{\"received_ms\":" at ",\"limit_bytes\":" limit ",\"floor_max_bytes\":" at ",\"owners\":" owners "}"

static void a_history(void **state)
{
	(void)state;
	struct resize_pod pod = pod_of(whole);
	struct resize_reading readings[ROOM];
	struct resize_history history = { .readings = readings, .room = ROOM, .bucket_ms = 1000 };
	assert_int_equal(
		add(&history, 0, &pod,
		    "{\"points\":[" POINT("1000", "4096", "{\"java-heap\":10,\"gc\":4,\"code-cache\":3}") "," POINT("1400", "4096", "{\"java-heap\":30,\"gc\":2,\"code-cache\":3,\"metaspace\":9}") "," POINT(
			    "1500", "4096",
			    "null") "," POINT("2100", "2048",
					      "{\"java-heap\":99}") "," POINT("2200", "null",
									      "{\"java-heap\":99}") "," POINT("3000",
													      "4096",
													      "{\"gc\":4,\"native-other\":1}") "],\"next_ms\":77}"),
		77);
	assert_int_equal(history.n, 2);
	assert_int_equal(history.n_left_out, 2);
	/* The highest of a bucket, each for itself. */
	assert_int_equal(readings[0].used[RESIZE_HEAP].bytes, 30);
	assert_int_equal(readings[0].used[RESIZE_OVERHEAD].bytes, 7);
	assert_int_equal(readings[0].floor_bytes.bytes, 1500);
	/* Metaspace is unread now: a part of its history is no use of it. */
	assert_false(qty_known(readings[0].used[RESIZE_METASPACE]));
	/* An owner that is known now is missing: less than all is no sum. One that is not known now counts where it is there. */
	assert_false(qty_known(readings[1].used[RESIZE_OVERHEAD]));
	assert_false(qty_known(readings[1].used[RESIZE_HEAP]));
	assert_int_equal(readings[1].set[RESIZE_HEAP].bytes, 1000);
	/* Another pod begins a reading of its own, also in the same bucket. */
	assert_int_equal(add(&history, 1, &pod, "{\"points\":[" POINT("3100", "4096", "{\"java-heap\":1}") "]}"), 0);
	assert_int_equal(history.n, 3);
	assert_int_equal(readings[2].pod, 1);
	static const char *const bad[] = { "{}", "[]", "{\"points\":[{}]}", "{\"points\":[1]}",
					   "{\"points\":[{\"received_ms\":-5,\"limit_bytes\":4096}]}" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_true(add(&history, 1, &pod, bad[i]) < 0);
	assert_int_equal(history.n, 3);
	history.room = 3;
	assert_true(add(&history, 1, &pod, "{\"points\":[" POINT("9000", "4096", "null") "]}") < 0);
}

static void restores(void **state)
{
	(void)state;
	struct resize_reading readings[4] = { { .pod = 0, .taken.ms = 100 },
					      { .pod = 1, .taken.ms = 100 },
					      { .pod = 1, .taken.ms = 200 },
					      { .pod = 1, .taken.ms = 300 } };
	struct resize_history history = { .readings = readings, .n = 4, .room = 4, .bucket_ms = 1 };
	struct js *none = json("{\"items\":[{\"kind\":\"jvm-start\",\"at_ms\":50,\"value\":null},"
			       "{\"kind\":\"limit\",\"at_ms\":50,\"value\":1},{\"kind\":\"restart\",\"at_ms\":900}]}");
	resize_history_restores(&history, 1, none);
	for (size_t i = 0; i < 4; i++)
		assert_false(readings[i].restored);
	js_free(none);
	struct js *one = json("{\"items\":[{\"kind\":\"restart\",\"at_ms\":150,\"value\":3,\"before\":2}]}");
	resize_history_restores(&history, 1, one);
	assert_true(readings[2].restored && !readings[0].restored && !readings[1].restored && !readings[3].restored);
	js_free(one);
	struct js *start = json("{\"items\":[{\"kind\":\"jvm-start\",\"at_ms\":1,\"value\":17}]}");
	resize_history_restores(&history, 0, start);
	assert_true(readings[0].restored);
	js_free(start);
}

#define ENGINE(python)                                                                    \
	"\"engine\":{\"state_backend\":\"hashmap\",\"batch\":false,\"python\":" python    \
	",\"managed_reserved_bytes\":0,"                                                  \
	"\"network_bytes\":20,\"framework_off_heap_bytes\":30,\"task_off_heap_bytes\":0," \
	"\"network_pool_bytes\":16,\"streams_instances\":null}"

/* What the engine says beside the budgets; a collector, or an agent, that is older does not. */
static void the_engine(void **state)
{
	(void)state;
	const struct resize_pod older = pod_of(whole);
	assert_int_equal(older.base.facts.backend, BACKEND_UNKNOWN);
	assert_int_equal(older.base.facts.batch, TRISTATE_UNREAD);
	assert_false(qty_known(older.base.facts.network_bytes));
	assert_false(older.base.facts.streams_instances.known);
	const struct resize_pod pod =
		pod_of("{\"id\":\"7\"," SUBJECT("taskmanager") "," BUDGETS "," ENGINE("false") "," REST "}");
	assert_int_equal(pod.base.facts.backend, BACKEND_HASHMAP);
	assert_int_equal(pod.base.facts.batch, TRISTATE_FALSE);
	assert_int_equal(pod.base.facts.python, TRISTATE_FALSE);
	assert_int_equal(pod.base.facts.framework_off_heap_bytes.bytes, 30);
	assert_int_equal(pod.base.facts.network_pool_bytes.bytes, 16);
	/* Nobody holds what Flink has given to nobody: of now, of which it was told, and of no day before. */
	struct resize_reading readings[ROOM];
	struct resize_history history = { .readings = readings, .room = ROOM, .bucket_ms = 1000 };
	assert_int_equal(add(&history, 0, &pod,
			     "{\"points\":[" POINT("4699999", "4096",
						   "{\"java-heap\":10}") "," POINT("4700000", "4096",
										   "{\"java-heap\":10}") "]}"),
			 0);
	assert_int_equal(history.n, 2);
	assert_false(qty_known(readings[0].used[RESIZE_MANAGED]));
	assert_int_equal(readings[1].used[RESIZE_MANAGED].state, QTY_DERIVED);
	assert_int_equal(readings[1].used[RESIZE_MANAGED].bytes, 0);
	/* Whether Python comes is not known: then no job runs now, and that is all. */
	const struct resize_pod perhaps =
		pod_of("{\"id\":\"7\"," SUBJECT("taskmanager") "," BUDGETS "," ENGINE("null") "," REST "}");
	assert_int_equal(perhaps.base.facts.python, TRISTATE_UNREAD);
	history.n = 0;
	assert_int_equal(add(&history, 0, &perhaps,
			     "{\"points\":[" POINT("4700000", "4096", "{\"java-heap\":10}") "]}"),
			 0);
	assert_false(qty_known(readings[0].used[RESIZE_MANAGED]));
	const struct resize_pod odd = pod_of("{\"id\":\"7\"," SUBJECT(
		"taskmanager") "," BUDGETS
			       ",\"engine\":{\"state_backend\":\"changelog\",\"batch\":3,\"network_bytes\":-4}," REST
			       "}");
	assert_int_equal(odd.base.facts.backend, BACKEND_UNKNOWN);
	assert_int_equal(odd.base.facts.batch, TRISTATE_UNREAD);
	assert_false(qty_known(odd.base.facts.network_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_pod), cmocka_unit_test(a_history),
					    cmocka_unit_test(restores), cmocka_unit_test(the_engine) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
