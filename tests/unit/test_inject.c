/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/kubeqty.h"
#include "kube/inject_parts.h"

enum { CAP = 1024 * 1024 };

static const struct inject_options plain = { .image = "bankfull:1", .memory = "64Mi", .cpu = "50m" };
static const struct inject_options full = {
	.image = "bankfull:1",
	.memory = "64Mi",
	.cpu = "50m",
	.collector = "wss://bankfull.mon.svc:8480/agent",
	.audience = "bankfull.bankfull.mon",
	.ca_pem = { "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 59 },
};

/* Adding twice is adding once, and taking out gives the text back, byte by byte where `exactly`. */
static void round_trip(const char *text, const struct inject_options *options, bool exactly, struct buf *out)
{
	auto_buf struct buf twice = { .cap = CAP }, back = { .cap = CAP };
	struct err err = { 0 };
	if (inject_add(str_of(text), "f", options, out, NULL, &err) < 0)
		fail_msg("%s\nof\n%s", err.message, text);
	if (inject_add(buf_str(out), "f", options, &twice, NULL, &err) < 0)
		fail_msg("twice: %s\nof\n%s", err.message, out->ptr);
	if (!str_eq(buf_str(out), buf_str(&twice))) {
		print_error("of:\n%s\nonce:\n%s\n", text, out->ptr);
		fail_msg("twice:\n%s", twice.ptr);
	}
	if (inject_remove(buf_str(out), "f", &back, NULL, &err) < 0)
		fail_msg("back: %s", err.message);
	if (exactly && !str_eq(buf_str(&back), str_of(text)))
		fail_msg("was:\n%s\nis:\n%s", text, buf_str(&back).ptr);
}

static unsigned count(struct str text, const char *part)
{
	unsigned n = 0;
	for (size_t at; (at = str_find(text, str_of(part))) < text.len; n++)
		text = str_skip(text, at + 1);
	return n;
}

static void takes_every_kind(void **state)
{
	(void)state;
	static const struct {
		const char *version, *kind, *before, *indent; /* of the template's spec */
	} kinds[] = {
		{ "apps/v1", "Deployment", "spec:\n  template:\n", "    " },
		{ "extensions/v1beta1", "Deployment", "spec:\n  template:\n", "    " },
		{ "apps/v1", "StatefulSet", "spec:\n  template:\n", "    " },
		{ "apps/v1", "DaemonSet", "spec:\n  template:\n", "    " },
		{ "batch/v1", "Job", "spec:\n  template:\n", "    " },
		{ "batch/v1", "CronJob", "spec:\n  schedule: '* * * * *'\n  jobTemplate:\n    spec:\n      template:\n",
		  "        " },
		{ "v1", "PodTemplate", "template:\n", "  " },
		{ "v1", "Pod", "", "" },
		{ "flink.apache.org/v1beta1", "FlinkDeployment", "spec:\n  podTemplate:\n", "    " },
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char text[1024];
		const char *in = kinds[i].indent;
		auto_buf struct buf out = { .cap = CAP };
		(void)snprintf(
			text, sizeof text,
			"apiVersion: %s\nkind: %s\nmetadata:\n  name: x\n%s%sspec: # the pod's\n%s  containers:\n"
			"%s  - name: %s\n%s    image: i\n",
			kinds[i].version, kinds[i].kind, kinds[i].before, in, in, in, FLINK_CONTAINER, in);
		round_trip(text, &full, true, &out);
		assert_int_equal(count(buf_str(&out), "image: \"bankfull:1\"\n"), 1);
		assert_int_equal(count(buf_str(&out), "shareProcessNamespace: true\n"), 1);
		assert_int_equal(count(buf_str(&out), "restartPolicy: Always\n"), 1);
		assert_int_equal(count(buf_str(&out), "bankfull.io/injected"), 1);
	}
}

#define HEAD "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  template:\n"
#define POD  HEAD "    spec:\n      containers:\n      - name: app\n        image: i\n"

static void keeps_layouts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool exactly;
	} cases[] = {
		{ POD, true },
		{ "# first\n" POD "      # last of the pod\n  # of the spec\n# of the text\n", true },
		{ POD "...\n", true },
		{ "---\n" POD "---\n" POD, true },
		{ POD "      volumes: [] # none\n", true },
		{ POD "      volumes:\n      initContainers: # later\n", false },
		{ POD "      volumes: ~\n", false },
		{ POD "      volumes: [{name: v, emptyDir: {}}]\n", true },
		{ POD "      volumes: [ ]\n", false },
		{ POD "      volumes:\n      - name: v # mine\n        emptyDir: {}\n        # more of it\n", true },
		{ POD "      volumes:\n        - name: v\n          emptyDir: {}\n\n\n", true },
		{ POD "      initContainers:\n      - name: init\n        command: [sh,\n          -c]\n", true },
		{ POD "      shareProcessNamespace: true\n", true },
		{ HEAD "    metadata:\n      labels: {app: a}\n    spec: {containers: [{name: app, image: i}]}\n",
		  true },
		{ HEAD "    metadata: {}\n    spec:\n      containers: [{name: app}]\n", true },
		{ HEAD "    metadata:\n      annotations: {}\n    spec:\n      containers: [{name: app}]\n", true },
		{ HEAD
		  "    metadata:\n      annotations:\n        a: b\n      labels: {}\n    spec:\n      containers: [{name: app}]\n",
		  true },
		{ "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}, \"spec\": {\"containers\": [{\"name\": \"app\"}]}}\n",
		  true },
		{ "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Pod\",\n  \"metadata\": {\n    \"name\": \"p\"\n  },\n  \"spec\": {\n"
		  "    \"volumes\": null,\n    \"containers\": [\n      {\n        \"name\": \"app\"\n      }\n    ]\n  }\n}\n",
		  false },
		{ "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    containers:\n"
		  "    - name: app\n- apiVersion: v1\n  kind: Service\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n  spec:\n"
		  "    containers:\n    - name: app\n",
		  true },
		/* Anchors and merges elsewhere stay what they are. */
		{ "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, labels: &l {a: b}}\nspec:\n  selector: {matchLabels: *l}\n"
		  "  template:\n    metadata:\n      labels:\n        <<: *l\n        c: d\n    spec:\n      containers:\n      - &c\n        name: app\n"
		  "        env: &e\n        - {name: A, value: b}\n      - <<: *c\n        name: other\n        env: *e\n",
		  true },
		/* The last line has no end. */
		{ HEAD "    spec:\n      containers:\n      - name: app\n        image: i", true },
		{ HEAD
		  "    spec:\n      containers:\n      - name: app\n        args:\n        - |+\n          text\n\n",
		  true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = CAP }, windows = { .cap = CAP }, again = { .cap = CAP };
		struct inject_options options = full;
		options.container = "app";
		round_trip(cases[i].text, &options, cases[i].exactly, &out);
		struct str rest = str_of(cases[i].text), line;
		bool ends = str_ends(rest, STR("\n"));
		while (str_line(&rest, &line))
			(void)buf_printf(&windows, "%.*s%s", (int)line.len, line.ptr, rest.len || ends ? "\r\n" : "");
		round_trip(windows.ptr, &options, cases[i].exactly, &again);
		assert_int_equal(count(buf_str(&again), "\n"), count(buf_str(&again), "\r\n"));
		assert_int_equal(count(buf_str(&again), "\n"), count(buf_str(&out), "\n"));
	}
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ HEAD "    spec:\n      containers:\n      - name: a\n      - name: b\n",
		  "f:9: which container runs the JVM? Say --container NAME: a, b" },
		{ HEAD "    spec:\n      containers:\n      - name: a\n      - name: a\n",
		  "f:10: the container 'a' stands already on line 9" },
		{ HEAD "    spec:\n      containers: []\n",
		  "which container runs the JVM? Say --container NAME: none" },
		{ HEAD "    spec:\n", "f:1: this Deployment has no pod's spec" },
		{ "apiVersion: apps/v1\nkind: Deployment\n", "f:1: this Deployment has no spec" },
		{ POD "      hostPID: true\n", "f:11: hostPID: the sidecar would see every JVM of the node" },
		{ POD "      shareProcessNamespace: false\n", "f:11: shareProcessNamespace is off here" },
		{ POD "        securityContext: {runAsUser: 0}\n", "f:11: the container runs as root" },
		{ POD "      securityContext:\n        runAsUser: 1000\n", "f:12: runAsUser without runAsGroup" },
		{ POD "      securityContext: {runAsUser: x}\n", "f:11: runAsUser is no number" },
		{ "x: &t\n  a: b\n" POD "      volumes: *t\n", "f:13: an alias (*) stands where the sidecar belongs" },
		{ "apiVersion: v1\nkind: List\nitems:\n- &p\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    containers:\n"
		  "    - name: app\n- *p\n",
		  "f:4: an alias (*) shares what is anchored" },
		{ HEAD
		  "    spec:\n      x: &v\n        volumes:\n        - name: v\n      <<: *v\n      containers:\n      - name: app\n",
		  "f:8: an alias (*) shares" },
		{ POD "      volumes: v\n", "f:11: a list should stand here" },
		{ "a: b: c\n", "f:1: " },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = CAP };
		struct err err = { 0 };
		assert_true(inject_add(str_of(cases[i].text), "f", &plain, &out, NULL, &err) < 0);
		assert_int_equal(out.len, 0);
		if (!str_has(str_of(err.message), str_of(cases[i].part)))
			fail_msg("case %zu: %s", i, err.message);
	}
}

struct told {
	const char *text;
	struct inject_options options;
	const char *parts[4]; /* that must be there */
	const char *refusal;
};

/* False: it was refused, as it had to be. */
static bool tell(const struct told *told, size_t i, bool exactly, struct buf *out)
{
	struct err err = { 0 };
	if (told->refusal) {
		assert_true(inject_add(str_of(told->text), "f", &told->options, out, NULL, &err) < 0);
		if (!str_has(str_of(err.message), str_of(told->refusal)))
			fail_msg("case %zu: %s", i, err.message);
		return false;
	}
	round_trip(told->text, &told->options, exactly, out);
	for (size_t k = 0; k < 4 && told->parts[k]; k++)
		if (!str_has(buf_str(out), str_of(told->parts[k])))
			fail_msg("case %zu, %s:\n%s", i, told->parts[k], out->ptr);
	return true;
}

static void finds_the_user(void **state)
{
	(void)state;
	struct inject_options user = plain, root = plain, group = plain, other = plain;
	user.has_user = user.has_group = root.has_user = root.has_group = group.has_group = other.has_user = true;
	user.user = user.group = group.group = 1001;
	other.user = 5;
	const struct told cases[] = {
		{ POD, plain, { "runAsNonRoot: true" }, NULL },
		{ POD, user, { "runAsUser: 1001", "runAsGroup: 1001" }, NULL },
		{ POD, other, { NULL }, "--uid without --gid" },
		{ POD "        securityContext:\n          runAsUser: 1001\n",
		  group,
		  { "          runAsUser: 1001\n          runAsGroup: 1001\n      initContainers",
		    "injected: \"metadata,annotations,shareProcessNamespace,initContainers,volumes,runAsGroup\"" },
		  NULL },
		{ POD "      securityContext: {runAsUser: 1001}\n",
		  group,
		  { "securityContext: {runAsUser: 1001, \"runAsGroup\": 1001}", "podRunAsGroup" },
		  NULL },
		{ POD "      securityContext: {runAsUser: 7, runAsGroup: 8}\n        \n",
		  plain,
		  { "runAsUser: 7", "runAsGroup: 8" },
		  NULL },
		/* The container's word holds. */
		{ POD "        securityContext: {runAsUser: 9}\n      securityContext: {runAsUser: 7, runAsGroup: 8}\n",
		  plain,
		  { "runAsUser: 9\n", "runAsGroup: 8\n" },
		  NULL },
		{ POD "      securityContext: {runAsUser: 7, runAsGroup: 8}\n",
		  user,
		  { NULL },
		  "runAsUser is 7 here and --uid says 1001" },
		{ POD "      securityContext: {runAsGroup: 8}\n",
		  group,
		  { NULL },
		  "runAsGroup is 8 here and --gid says 1001" },
		{ POD "      securityContext: {runAsUser: 0, runAsGroup: 0}\n", root, { "runAsNonRoot: false" }, NULL },
		{ HEAD
		  "    spec:\n      securityContext: {runAsUser: 9999}\n      containers: [{name: flink-main-container}]\n",
		  plain,
		  { "{runAsUser: 9999, \"runAsGroup\": 9999}", "runAsGroup: 9999" },
		  NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = CAP };
		if (!tell(&cases[i], i, true, &out))
			continue;
		if (!cases[i].options.has_user || cases[i].options.user)
			assert_true(str_has(buf_str(&out), STR("- ALL")));
		else
			assert_false(str_has(buf_str(&out), STR("- ALL")));
	}
}

#define FLINK \
	"apiVersion: flink.apache.org/v1beta1\nkind: FlinkDeployment\nmetadata:\n  name: f\nspec:\n  image: flink:2.2\n"

static void meets_flinks_layers(void **state)
{
	(void)state;
	struct inject_options ordinary = plain;
	ordinary.ordinary = true;
	const struct told cases[] = {
		{ FLINK,
		  plain,
		  { "  podTemplate:\n    metadata:\n", "containerName: \"flink-main-container\"", "cpu: 250m" },
		  NULL },
		{ FLINK "  podTemplate:\n", plain, { "  podTemplate:\n    metadata:\n" }, NULL },
		{ FLINK "  podTemplate: {}\n", plain, { "  podTemplate:\n    metadata:\n" }, NULL },
		{ FLINK "  podTemplate:\n    metadata:\n      labels: {a: b}\n",
		  plain,
		  { "    spec:\n      shareProcessNamespace: true\n" },
		  NULL },
		{ FLINK "  podTemplate:\n    spec:\n",
		  plain,
		  { "    spec:\n      shareProcessNamespace: true\n" },
		  NULL },
		/* Other containers first: nothing is added to containers, so nothing moves. */
		{ FLINK
		  "  podTemplate:\n    spec:\n      containers:\n      - name: logs\n      - name: flink-main-container\n",
		  plain,
		  { "      - name: flink-main-container\n      initContainers:\n" },
		  NULL },
		/* Lists of another layer at the same position. */
		{ FLINK "  taskManager:\n    podTemplate:\n      spec:\n        volumes:\n        - name: v\n",
		  plain,
		  { "        - name: v\n        - name: bankfull-state\n", "      metadata:\n        annotations:\n" },
		  NULL },
		{ FLINK "  jobManager:\n    podTemplate:\n      spec:\n        volumes:\n        - name: v\n",
		  plain,
		  { NULL },
		  "merge-arrays-by-name: \"true\"" },
		{ FLINK
		  "  flinkConfiguration:\n    kubernetes.operator.pod-template.merge-arrays-by-name: \"true\"\n  jobManager:\n    podTemplate:\n      spec:\n        volumes:\n        - name: v\n",
		  plain,
		  { "  podTemplate:\n    metadata:\n" },
		  NULL },
		{ FLINK "  taskManager:\n    podTemplate:\n      spec:\n        containers:\n        - name: logs\n",
		  plain,
		  { "  podTemplate:\n    metadata:\n" },
		  NULL },
		{ FLINK
		  "  taskManager:\n    podTemplate:\n      spec:\n        containers:\n        - name: flink-main-container\n          securityContext: {runAsUser: 7, runAsGroup: 7}\n",
		  plain,
		  { NULL },
		  "runAsUser is said in one layer" },
		{ FLINK "  podTemplate:\n    spec:\n      securityContext: {runAsUser: 9999}\n",
		  plain,
		  { "{runAsUser: 9999, \"runAsGroup\": 9999}" },
		  NULL },
		/* Burstable by Flink's own settings: no limit of the CPU. */
		{ FLINK "  flinkConfiguration:\n    kubernetes.taskmanager.cpu.limit-factor: \"2.0\"\n",
		  plain,
		  { "cpu: 50m" },
		  NULL },
		{ FLINK "  podTemplate:\n    spec:\n      containers:\n      - name: flink-main-container\n",
		  ordinary,
		  { "      - name: flink-main-container\n      - name: bankfull\n" },
		  NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = CAP };
		(void)tell(&cases[i], i, false, &out);
	}
}

static void tells_what_it_knows(void **state)
{
	(void)state;
	struct inject_options ordinary = plain;
	ordinary.ordinary = true;
	const struct told cases[] = {
		{ POD "        resources: {limits: {memory: 1Gi, cpu: 1}}\n",
		  plain,
		  { "BANKFULL_LIMIT", "limits:\n            cpu: 250m\n" },
		  NULL },
		{ POD "        resources: {limits: {memory: 1Gi, cpu: 1}, requests: {memory: 1024Mi, cpu: 1000m}}\n",
		  plain,
		  { "cpu: 250m" },
		  NULL },
		{ POD "        resources: {limits: {memory: 1Gi, cpu: 1}, requests: {memory: 1Gi, cpu: 500m}}\n",
		  plain,
		  { "cpu: 50m" },
		  NULL },
		{ POD "      resources: {limits: {memory: 1.5Gi}}\n",
		  plain,
		  { "BANKFULL_POD_LIMIT\n          value: \"1610612736\"" },
		  NULL },
		/* Its class is by its own resources, where it has some; else by all containers, the init ones as well. */
		{ POD "      resources: {limits: {memory: 1.5Gi, cpu: 2}, requests: {memory: 1536Mi, cpu: 2000m}}\n",
		  plain,
		  { "BANKFULL_LABELS\n          value: \"qos=Guaranteed\"", "cpu: 50m" },
		  NULL },
		{ POD "        resources: {limits: {memory: 1Gi, cpu: 1}}\n",
		  plain,
		  { "BANKFULL_LABELS\n          value: \"qos=Guaranteed\"" },
		  NULL },
		{ POD
		  "        resources: {limits: {memory: 1Gi, cpu: 1}}\n      initContainers:\n      - name: setup\n",
		  plain,
		  { "qos=Burstable", "cpu: 50m" },
		  NULL },
		{ POD
		  "        resources: {limits: {memory: 1Gi, cpu: 1}}\n      resources: {requests: {memory: 1Gi}}\n",
		  plain,
		  { "qos=Burstable" },
		  NULL },
		/* Some of its labels, and none whose value no label can have. */
		{ HEAD
		  "    metadata:\n      labels: {component: tm, app: web, team: a, app.kubernetes.io/name: \"w,x\"}\n"
		  "    spec:\n      containers:\n      - name: a\n",
		  plain,
		  { "value: \"app=web,component=tm,qos=Burstable\"" },
		  NULL },
		{ POD "      terminationGracePeriodSeconds: 120\n",
		  plain,
		  { "BANKFULL_GRACE\n          value: \"117s\"" },
		  NULL },
		{ POD "      terminationGracePeriodSeconds: 1\n",
		  plain,
		  { "BANKFULL_GRACE\n          value: \"2s\"" },
		  NULL },
		{ HEAD
		  "    metadata:\n      annotations:\n        bankfull.io/container: b\n        bankfull.io/metrics-url: http://127.0.0.1:1/m\n"
		  "        bankfull.io/flink-rest: http://jm:8081\n        bankfull.io/config: settings\n"
		  "    spec:\n      containers:\n      - name: a\n      - name: b\n",
		  plain,
		  { "BANKFULL_CONTAINER\n          value: \"b\"",
		    "BANKFULL_METRICS\n          value: \"http://127.0.0.1:1/m\"", "BANKFULL_FLINK_REST\n",
		    "configMap:\n          name: \"settings\"" },
		  NULL },
		{ HEAD
		  "    metadata:\n      annotations: {kubectl.kubernetes.io/default-container: b}\n    spec:\n      containers: [{name: a}, {name: b}]\n",
		  plain,
		  { "BANKFULL_CONTAINER\n" },
		  NULL },
		{ "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers: [{name: a}]\n",
		  ordinary,
		  { NULL },
		  "f:1: an ordinary sidecar never ends, and this Job would not either" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = CAP };
		(void)tell(&cases[i], i, true, &out);
	}
}

static void leaves_alone(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"# nothing\n",
		"a: b\n",
		"- a\n",
		"apiVersion: v1\nkind: ConfigMap\ndata:\n  kind: Deployment\n",
		"apiVersion: other/v1\nkind: Deployment\nspec: 5\n",
		HEAD
		"    metadata:\n      labels: {bankfull.io/inject: disabled}\n    spec:\n      containers: [{name: a}, {name: b}]\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		auto_buf struct buf out = { .cap = CAP }, notes = { .cap = CAP };
		assert_int_equal(inject_add(str_of(texts[i]), "f", &plain, &out, &notes, NULL), 0);
		assert_true(str_eq(buf_str(&out), str_of(texts[i])));
		assert_true(str_has(buf_str(&notes), STR("it is as it was")));
	}
}

static void reads_quantities(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t milli; /* 0: none */
	} cases[] = {
		{ "1", 1000 },
		{ "100m", 100 },
		{ "1Ki", 1024000 },
		{ "1.5Gi", 1610612736000 },
		{ "2G", 2000000000000 },
		{ "0.5", 500 },
		{ "1.", 0 },
		{ "", 0 },
		{ "Gi", 0 },
		{ "1X", 0 },
		{ "-1", 0 },
		{ "99999999Ti", 0 },
		{ "1.1234567", 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t milli = 0;
		assert_int_equal(kubeqty_milli(str_of(cases[i].text), &milli), cases[i].milli != 0);
		assert_int_equal(milli, cases[i].milli);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_every_kind),
		cmocka_unit_test(keeps_layouts),
		cmocka_unit_test(refuses),
		cmocka_unit_test(finds_the_user),
		cmocka_unit_test(meets_flinks_layers),
		cmocka_unit_test(tells_what_it_knows),
		cmocka_unit_test(leaves_alone),
		cmocka_unit_test(reads_quantities),
	};
	return cmocka_run_group_tests_name("inject", tests, NULL, NULL);
}
