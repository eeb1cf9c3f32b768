/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "kube/checkup.h"
#include "kube/debug.h"

enum { CAP = 64 * 1024 };

#define POD(spec, status)                                                 \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{" spec \
	"},\"status\":{\"phase\":\"Running\"," status "}}"
#define RUNS(name)  "{\"name\":\"" name "\",\"state\":{\"running\":{}}}"
#define ONE         "\"containers\":[{\"name\":\"app\"}]"
#define ONE_RUNS    "\"containerStatuses\":[" RUNS("app") "]"
#define DEFAULT_END "--quiet --stdin -- bankfull report\n"

static void makes_commands(void **state)
{
	(void)state;
	static const struct {
		const char *json, *container, *want, *custom;
	} cases[] = {
		{ POD(ONE, ONE_RUNS), NULL,
		  "kubectl debug --namespace=n p --image=i --target=app --profile=restricted " DEFAULT_END, "" },
		{ POD("\"securityContext\":{\"runAsUser\":7,\"runAsGroup\":8}," ONE, ONE_RUNS), NULL,
		  "kubectl debug --namespace=n p --image=i --target=app --profile=restricted --custom=f " DEFAULT_END,
		  "{\"securityContext\":{\"runAsUser\":7,\"runAsGroup\":8}}" },
		/* The container's word holds. */
		{ POD("\"securityContext\":{\"runAsUser\":7},\"containers\":[{\"name\":\"app\",\"securityContext\":{\"runAsUser\":9}}]",
		      ONE_RUNS),
		  NULL,
		  "kubectl debug --namespace=n p --image=i --target=app --profile=restricted --custom=f " DEFAULT_END,
		  "{\"securityContext\":{\"runAsUser\":9}}" },
		{ POD("\"securityContext\":{\"runAsUser\":0,\"runAsGroup\":0}," ONE, ONE_RUNS), NULL,
		  "kubectl debug --namespace=n p --image=i --target=app --profile=general --custom=f " DEFAULT_END,
		  "{\"securityContext\":{\"runAsUser\":0,\"runAsGroup\":0,\"runAsNonRoot\":false}}" },
		{ POD("\"containers\":[{\"name\":\"logs\"},{\"name\":\"flink-main-container\"}]",
		      "\"containerStatuses\":[" RUNS("logs") "," RUNS("flink-main-container") "]"),
		  NULL,
		  "kubectl debug --namespace=n p --image=i --target=flink-main-container --profile=restricted " DEFAULT_END,
		  "" },
		{ POD("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]",
		      "\"containerStatuses\":[" RUNS("a") "," RUNS("b") "]"),
		  "b", "kubectl debug --namespace=n p --image=i --target=b --profile=restricted " DEFAULT_END, "" },
		/* A sidecar that is there is asked. */
		{ POD("\"initContainers\":[{\"name\":\"bankfull\"}]," ONE,
		      ONE_RUNS ",\"initContainerStatuses\":[" RUNS("bankfull") "]"),
		  NULL, "kubectl exec --namespace=n p --container=bankfull --quiet -- bankfull report\n", "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct debug_pod pod;
		struct err err = { 0 };
		const char *args[DEBUG_ARGS_MAX];
		auto_buf struct buf text = { .cap = CAP }, out = { .cap = CAP }, custom = { .cap = CAP };
		if (debug_pod_parse(str_of(cases[i].json), cases[i].container, &pod, &err) < 0)
			fail_msg("case %zu: %s", i, err.message);
		debug_custom(&pod, &custom);
		struct debug_how how = {
			.namespace_ = "n", .pod = "p", .image = "i", .custom = custom.len ? "f" : NULL
		};
		assert_int_equal(debug_command(&pod, &how, &text, args, &err), 0);
		debug_show(args, &out);
		assert_string_equal(out.ptr, cases[i].want);
		assert_string_equal(buf_str(&custom).ptr, cases[i].custom);
	}
}

static void shows_words_for_a_shell(void **state)
{
	(void)state;
	static char *words[] = { "capture", "-o", "/tmp/it's here", "", NULL };
	struct debug_pod pod = { .container = "app" };
	struct debug_how how = { .pod = "p", .image = "i", .command = words, .tty = true };
	const char *args[DEBUG_ARGS_MAX];
	auto_buf struct buf text = { .cap = CAP }, out = { .cap = CAP };
	assert_int_equal(debug_command(&pod, &how, &text, args, NULL), 0);
	debug_show(args, &out);
	assert_string_equal(
		out.ptr,
		"kubectl debug p --image=i --target=app --profile=restricted --quiet --stdin --tty -- bankfull "
		"capture -o '/tmp/it'\\''s here' ''\n");
	static char *many[DEBUG_ARGS_MAX];
	for (int i = 0; i < DEBUG_ARGS_MAX - 1; i++)
		many[i] = words[0];
	how.command = many;
	assert_true(debug_command(&pod, &how, &text, args, NULL) < 0);
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *json, *container, *part;
	} cases[] = {
		{ "{\"kind\":\"List\"}", NULL, "no Pod" },
		{ "{", NULL, "" },
		{ POD("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]", "\"x\":1"), NULL,
		  "which container runs the JVM?: say -c NAME: a, b" },
		{ POD(ONE, ONE_RUNS), "b", "no such container: say -c NAME: app" },
		{ POD(ONE, "\"containerStatuses\":[{\"name\":\"app\",\"state\":{\"waiting\":{}}}]"), NULL,
		  "container app does not run (the pod is Running)" },
		{ POD(ONE, "\"x\":1"), NULL, "does not run" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct debug_pod pod;
		struct err err = { 0 };
		assert_true(debug_pod_parse(str_of(cases[i].json), cases[i].container, &pod, &err) < 0);
		if (!str_has(str_of(err.message), str_of(cases[i].part)))
			fail_msg("case %zu: %s", i, err.message);
	}
}

static void reads_status(void **state)
{
	(void)state;
	static const struct {
		const char *status;
		bool known;
	} cases[] = {
		{ "Name:\tjava\nUid:\t1000\t1000\t1000\t1000\nGid:\t1001\t1001\t1001\t1001\n", true },
		{ "Uid:\t1000\t0\t1000\t1000\nGid:\t1001\t1001\t1001\t1001\n", false },
		{ "Uid:\t1000\n", false },
		{ "", false },
		{ "sh: cat: not found\n", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct debug_pod pod = { 0 };
		debug_pod_status(&pod, str_of(cases[i].status));
		assert_int_equal(pod.user_known, cases[i].known);
		assert_int_equal(pod.user, cases[i].known ? 1000 : 0);
		assert_int_equal(pod.group, cases[i].known ? 1001 : 0);
	}
}

#define SIDECAR "{\"name\":\"bankfull\",\"env\":[{\"name\":\"BANKFULL_CONTAINER\",\"value\":\"app\"}]}"
#define NATIVE(main)                                                                                                         \
	"\"shareProcessNamespace\":true,\"securityContext\":{\"runAsUser\":7,\"runAsGroup\":7},\"initContainers\":[" SIDECAR \
	"],\"containers\":[" main "]"

static void judges_pods(void **state)
{
	(void)state;
	static const struct {
		const char *json;
		unsigned n_bad;
		bool running;
		const char *part;
	} cases[] = {
		{ POD(NATIVE("{\"name\":\"app\"}"), "\"initContainerStatuses\":[" RUNS("bankfull") "]"), 0, true,
		  "ok    user and group: both run as 7:7" },
		{ POD(NATIVE("{\"name\":\"app\",\"securityContext\":{\"runAsUser\":8}}"),
		      "\"initContainerStatuses\":[" RUNS("bankfull") "]"),
		  1, true, "bad   user and group: those of the sidecar are not those of app" },
		{ POD(NATIVE("{\"name\":\"other\"}"), "\"initContainerStatuses\":[" RUNS("bankfull") "]"), 1, true,
		  "bad   watched container: the pod has none of the name 'app'" },
		{ POD("\"initContainers\":[" SIDECAR "]," ONE, "\"initContainerStatuses\":[" RUNS("bankfull") "]"), 1,
		  true, "bad   process namespace" },
		{ POD("\"shareProcessNamespace\":true,\"containers\":[{\"name\":\"app\"}," SIDECAR "]",
		      "\"containerStatuses\":[" RUNS("bankfull") "]"),
		  0, true, "note  sidecar: it is an ordinary container" },
		{ POD(NATIVE("{\"name\":\"app\"}"),
		      "\"initContainerStatuses\":[{\"name\":\"bankfull\",\"state\":{\"waiting\":{\"reason\":\"ErrImagePull\",\"message\":\"\\u001b[2J\"}}}]"),
		  1, false, "its image cannot be had: ErrImagePull \\x1b[2J" },
		{ POD(NATIVE("{\"name\":\"app\"}"),
		      "\"initContainerStatuses\":[{\"name\":\"bankfull\",\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},\"restartCount\":4,\"lastState\":{\"terminated\":{\"reason\":\"OOMKilled\"}}}]"),
		  1, false, "note  sidecar: it was restarted 4 times, last for OOMKilled" },
		{ POD(NATIVE("{\"name\":\"app\"}"), "\"x\":1"), 1, false, "it has not started" },
		{ POD(ONE, ONE_RUNS), 1, false, "the pod has no container bankfull" },
		{ "{\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"bankfull.io/inject\":\"enabled\"}},\"status\":{\"phase\":\"Pending\"}}",
		  2, false, "has the label bankfull.io/inject=enabled and no container" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = CAP };
		struct checkup checkup = { .out = &out };
		bool running = !cases[i].running;
		assert_int_equal(checkup_pod(&checkup, str_of(cases[i].json), &running, NULL), 0);
		if (checkup.n_bad != cases[i].n_bad || running != cases[i].running ||
		    !str_has(buf_str(&out), str_of(cases[i].part)))
			fail_msg("case %zu: %u bad, %d\n%s", i, checkup.n_bad, running, out.ptr);
	}
	auto_buf struct buf out = { .cap = CAP };
	struct checkup checkup = { .out = &out };
	checkup_server(&checkup, 28, STR(""));
	assert_int_equal(checkup.n_bad, 1);
	checkup_server(&checkup, 36, STR("{\"name\":\"mutatingadmissionpolicies\"}"));
	assert_int_equal(checkup.n_bad, 1);
	assert_true(str_has(buf_str(&out), STR("ok    injection by label")));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_commands), cmocka_unit_test(shows_words_for_a_shell),
		cmocka_unit_test(refuses),        cmocka_unit_test(reads_status),
		cmocka_unit_test(judges_pods),
	};
	return cmocka_run_group_tests_name("debug", tests, NULL, NULL);
}
