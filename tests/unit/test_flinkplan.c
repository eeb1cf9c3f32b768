/* SPDX-License-Identifier: Apache-2.0 */
/* Whole plans from the text of a configuration: sizes to the byte, and public trouble reports (their numbers in the names). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "plan/flinkkeys.h"
#include "plan/flinkplan.h"
#include "plan/quantity.h"
#include "rules/rules.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

struct scene {
	struct declared declared;
	struct flinkconf file;
	struct thresholds thresholds;
	struct flinkplan plan;
	struct err err;
};

struct given {
	const char *text;  /* of config.yaml */
	const char *limit; /* NULL: native Kubernetes */
	unsigned states;
	enum derive_role role;
	const char *version; /* NULL: the newest */
};

static int plan_of(struct scene *scene, struct given given)
{
	*scene = (struct scene){ 0 };
	bool legacy = given.version && given.version[0] == '1';
	const char *name = legacy ? "flink-conf.yaml" : "config.yaml";
	assert_int_equal(flinkkeys_version_find(str_of(given.version ? given.version : "2.x"), &scene->declared.version,
						NULL),
			 0);
	assert_int_equal(flinkconf_parse(str_of(given.text), legacy ? FLINKCONF_LEGACY : FLINKCONF_YAML, name,
					 &scene->file, NULL),
			 0);
	scene->declared.file = &scene->file;
	thresholds_init(&scene->thresholds);
	struct flinkplan_ask ask = {
		.declared = &scene->declared,
		.file_text = str_of(given.text),
		.file_name = name,
		.role = given.role,
		.n_states = { given.states, given.states > 0 },
		.limit_said = given.limit,
		.thresholds = &scene->thresholds,
	};
	if (given.limit) {
		ask.limit.kind = LIMIT_SET;
		assert_int_equal(quantity_parse(str_of(given.limit), &ask.limit.bytes, NULL), 0);
	}
	return flinkplan_run(&ask, &scene->plan, &scene->err);
}

static void done(struct scene *scene)
{
	flinkplan_done(&scene->plan);
	flinkconf_done(&scene->file);
}

static const struct finding *found(const struct scene *scene, const char *rule)
{
	const struct finding *finding = rules_finding(scene->plan.verdict, rule);
	if (!finding)
		fail_msg("no %s", rule);
	return finding;
}

static bool silent(const struct scene *scene, const char *rule)
{
	return !rules_finding(scene->plan.verdict, rule);
}

/* Derived by Flink itself: tests/cases/flink.py has the same. */
static void vectors(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t flink, heap, task_heap, managed, network, direct, metaspace, overhead, process;
	} table[] = {
		{ "taskmanager.memory.process.size: 1728m", 1342177280, 536870902, 402653174, 536870920, 134217730,
		  268435458, 268435456, 201326592, 1811939328 },
		{ "taskmanager.memory.process.size: 4096m", 3597035104, 1664299798, 1530082070, 1438814063, 359703515,
		  493921243, 268435456, 429496736, 4294967296 },
		{ "taskmanager.memory.process.size: 4096m\ntaskmanager.memory.managed.fraction: 0.7", 3597035104,
		  585189332, 450971604, 2517924529, 359703515, 493921243, 268435456, 429496736, 4294967296 },
		{ "taskmanager.memory.process.size: 16384m", 15837691904, 7784628106, 7650410378, 6335076856,
		  1583769214, 1717986942, 268435456, 1073741824, 17179869184 },
		{ "taskmanager.memory.task.heap.size: 1g\ntaskmanager.memory.managed.size: 1g", 2684354564, 1207959552,
		  1073741824, 1073741824, 268435460, 402653188, 268435456, 328087785, 3280877805 },
		{ "taskmanager.memory.flink.size: 1280m", 1342177280, 536870902, 402653174, 536870920, 134217730,
		  268435458, 268435456, 201326592, 1811939328 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene scene;
		assert_int_equal(plan_of(&scene, (struct given){ .text = table[i].text }), 0);
		const struct flink_budget *b = &scene.plan.derived.budget;
		assert_int_equal(b->flink_bytes.bytes, table[i].flink);
		assert_int_equal(b->heap_bytes.bytes, table[i].heap);
		assert_int_equal(b->task_heap_bytes.bytes, table[i].task_heap);
		assert_int_equal(b->managed_bytes.bytes, table[i].managed);
		assert_int_equal(b->network_bytes.bytes, table[i].network);
		assert_int_equal(b->direct_bytes.bytes, table[i].direct);
		assert_int_equal(b->metaspace_bytes.bytes, table[i].metaspace);
		assert_int_equal(b->overhead_bytes.bytes, table[i].overhead);
		assert_int_equal(b->process_bytes.bytes, table[i].process);
		/* What Flink shares out fits the limit that native Kubernetes sets for it. */
		assert_int_equal(scene.plan.verdict->worst < SEVERITY_WARNING, true);
		done(&scene);
	}
}

static void f06_and_c37_four_thousand_against_4G(void **state)
{
	(void)state;
	struct scene scene;
	const char *text = "taskmanager.memory.process.size: 4000m\nstate.backend.type: rocksdb\n";
	assert_int_equal(plan_of(&scene, (struct given){ .text = text, .limit = "4G" }), 0);
	const struct flink_budget *b = &scene.plan.derived.budget;
	assert_int_equal(b->flink_bytes.bytes, 3506438138);
	assert_int_equal(b->heap_bytes.bytes, 1619001315);
	assert_int_equal(b->managed_bytes.bytes, 1402575276);
	assert_int_equal(b->network_bytes.bytes, 350643819);
	assert_int_equal(b->overhead_bytes.bytes, 419430406);
	const struct finding *finding = found(&scene, "limit-below-process-size");
	assert_int_equal(finding->severity, SEVERITY_WARNING);
	assert_int_equal(finding->excess_bytes, 194304000);
	(void)found(&scene, "units-decimal");
	assert_non_null(strstr(scene.plan.verdict->headline, "185.3 MiB more than the limit"));
	done(&scene);
	/* Binary on both sides it fits. */
	assert_int_equal(plan_of(&scene, (struct given){ .text = text, .limit = "4Gi" }), 0);
	assert_true(scene.plan.verdict->worst < SEVERITY_WARNING);
	done(&scene);
}

static void f09_arena_past_the_mutable_limit(void **state)
{
	(void)state;
	struct scene scene;
	static const char head[] =
		"taskmanager.memory.process.size: 4096m\nstate.backend.type: rocksdb\ntaskmanager.numberOfTaskSlots: %u\n";
	char text[256];
	(void)snprintf(text, sizeof text, head, 32);
	assert_int_equal(plan_of(&scene, (struct given){ .text = text, .states = 1, .version = "1.20" }), 0);
	assert_int_equal(scene.plan.rocksdb.grant_bytes.bytes, 44962939);
	assert_int_equal(scene.plan.rocksdb.write_buffers_bytes.bytes, 14987646);
	assert_true(silent(&scene, "write-buffer-thrash"));
	done(&scene);
	(void)snprintf(text, sizeof text, head, 64);
	assert_int_equal(plan_of(&scene, (struct given){ .text = text, .states = 1, .version = "1.20" }), 0);
	assert_int_equal(scene.plan.rocksdb.write_buffers_bytes.bytes, 7493823);
	assert_int_equal(found(&scene, "write-buffer-thrash")->severity, SEVERITY_WARNING);
	done(&scene);
}

static void f12_unmanaged_by_the_rule_of_thumb(void **state)
{
	(void)state;
	struct scene scene;
	const char *text = "taskmanager.memory.process.size: 4g\nstate.backend.type: rocksdb\n"
			   "state.backend.rocksdb.memory.managed: false\ntaskmanager.numberOfTaskSlots: 4\n";
	assert_int_equal(plan_of(&scene, (struct given){ .text = text, .limit = "4Gi", .states = 6 }), 0);
	assert_int_equal(scene.plan.rocksdb_outside_bytes.bytes, 3360000000ull);
	assert_int_equal(found(&scene, "rocksdb-unbounded")->severity, SEVERITY_WARNING);
	(void)found(&scene, "demand-over-limit");
	done(&scene);
	/* Without their number it is said that it is missing. */
	assert_int_equal(plan_of(&scene, (struct given){ .text = text, .limit = "4Gi" }), 0);
	assert_int_equal(found(&scene, "rocksdb-unbounded")->n_missing, 1);
	done(&scene);
}

static void f18_metaspace_of_old(void **state)
{
	(void)state;
	struct scene scene;
	assert_int_equal(plan_of(&scene, (struct given){ .text = "taskmanager.memory.process.size: 1728m\n"
								 "taskmanager.memory.jvm-metaspace.size: 96m\n" }),
			 0);
	assert_int_equal(found(&scene, "metaspace-small")->severity, SEVERITY_WARNING);
	done(&scene);
	assert_int_equal(plan_of(&scene, (struct given){ .text = "taskmanager.memory.process.size: 1728m\n" }), 0);
	assert_true(silent(&scene, "metaspace-small"));
	done(&scene);
}

static void f28_direct_memory_by_slots(void **state)
{
	(void)state;
	struct scene scene;
	assert_int_equal(
		plan_of(&scene,
			(struct given){
				.text = "taskmanager.memory.process.size: 4g\ntaskmanager.numberOfTaskSlots: 4\n" }),
		0);
	(void)found(&scene, "direct-by-slots");
	done(&scene);
	assert_int_equal(
		plan_of(&scene,
			(struct given){
				.text = "taskmanager.memory.process.size: 4g\ntaskmanager.numberOfTaskSlots: 3\n" }),
		0);
	assert_true(silent(&scene, "direct-by-slots"));
	done(&scene);
	/* What they did about it. */
	assert_int_equal(
		plan_of(&scene,
			(struct given){
				.text = "taskmanager.memory.process.size: 16g\ntaskmanager.numberOfTaskSlots: 4\n"
					"taskmanager.memory.framework.off-heap.size: 4g\n" }),
		0);
	assert_true(silent(&scene, "direct-by-slots"));
	done(&scene);
}

static void f40_a_jobmanager_of_500m(void **state)
{
	(void)state;
	struct scene scene;
	assert_true(plan_of(&scene, (struct given){ .text = "jobmanager.memory.process.size: 500m\n",
						    .role = DERIVE_JOBMANAGER }) < 0);
	assert_int_equal(scene.err.kind, ERR_USAGE);
	assert_non_null(strstr(scene.err.message, "54525952")); /* 52 MiB */
	assert_non_null(strstr(scene.err.message, "134217728"));
	assert_non_null(strstr(scene.err.message, "79691777")); /* what is missing */
	assert_non_null(strstr(scene.err.message, "config.yaml:1"));
	done(&scene);
	assert_int_equal(plan_of(&scene, (struct given){ .text = "jobmanager.memory.process.size: 1600m\n",
							 .role = DERIVE_JOBMANAGER }),
			 0);
	assert_int_equal(scene.plan.derived.budget.heap_bytes.bytes, GIB);
	assert_false(scene.plan.derived.direct_limited);
	done(&scene);
}

static void f42_ten_gigabytes_off_the_heap(void **state)
{
	(void)state;
	struct scene scene;
	assert_int_equal(plan_of(&scene, (struct given){ .text = "taskmanager.memory.process.size: 16g\n"
								 "taskmanager.memory.task.off-heap.size: 10048m\n"
								 "taskmanager.memory.managed.fraction: 0.01\n" }),
			 0);
	assert_true(scene.plan.derived.budget.heap_bytes.bytes < 4 * GIB);
	assert_int_equal(found(&scene, "split-lopsided")->severity, SEVERITY_WARNING);
	done(&scene);
}

static void f43_keys_and_shares_of_old_operators(void **state)
{
	(void)state;
	struct scene scene;
	const char *text = "taskmanager.heap.size: 1g\ntaskmanager.memory.process.size: 4g\n";
	/* 2.x ignores the key; 1.20 takes it for flink.size, which contradicts the process size. */
	assert_int_equal(plan_of(&scene, (struct given){ .text = text }), 0);
	assert_int_equal(found(&scene, "key-ignored")->severity, SEVERITY_WARNING);
	assert_int_equal(scene.plan.derived.way, DERIVE_BY_PROCESS_SIZE);
	done(&scene);
	assert_true(plan_of(&scene, (struct given){ .text = text, .version = "1.20" }) < 0);
	done(&scene);
	assert_int_equal(plan_of(&scene, (struct given){ .text = "taskmanager.heap.size: 1g\n", .version = "1.20" }),
			 0);
	assert_int_equal(scene.plan.derived.budget.flink_bytes.bytes, GIB);
	done(&scene);
	/* 90 % of the limit: a tenth is hidden head-room. */
	assert_int_equal(plan_of(&scene,
				 (struct given){ .text = "taskmanager.memory.process.size: 3686m\n", .limit = "4Gi" }),
			 0);
	assert_int_equal(found(&scene, "hidden-headroom")->severity, SEVERITY_INFO);
	assert_true(scene.plan.verdict->worst < SEVERITY_WARNING);
	done(&scene);
}

static void c39_managed_memory_that_nobody_takes(void **state)
{
	(void)state;
	struct scene scene;
	assert_int_equal(
		plan_of(&scene,
			(struct given){
				.text = "taskmanager.memory.process.size: 4096m\nstate.backend.type: hashmap\n" }),
		0);
	const struct finding *finding = found(&scene, "managed-idle");
	assert_int_equal(finding->severity, SEVERITY_NOTICE);
	assert_non_null(strstr(finding->title, "1.34 GiB"));
	assert_false(scene.plan.managed_used);
	assert_int_equal(scene.plan.ledger->expected.bytes.bytes, 4294967296 - 1438814063);
	done(&scene);
}

static void r15_a_cache_of_the_hosts_size(void **state)
{
	(void)state;
	struct scene scene;
	assert_int_equal(plan_of(&scene,
				 (struct given){
					 .text = "taskmanager.memory.process.size: 8g\nstate.backend.type: rocksdb\n"
						 "state.backend.rocksdb.memory.fixed-per-slot: 16g\n",
					 .limit = "12Gi" }),
			 0);
	assert_int_equal(scene.plan.rocksdb_outside_bytes.bytes, 16 * GIB);
	assert_int_equal(found(&scene, "demand-over-limit")->severity, SEVERITY_WARNING);
	assert_non_null(strstr(scene.plan.verdict->headline, "does not fit"));
	done(&scene);
}

static void limit_factors(void **state)
{
	(void)state;
	struct scene scene;
	assert_int_equal(plan_of(&scene, (struct given){ .text = "taskmanager.memory.process.size: 4096m\n"
								 "kubernetes.taskmanager.memory.limit-factor: 1.1\n" }),
			 0);
	assert_int_equal(scene.plan.kubernetes_bytes, 4505ull * MIB); /* truncated, as Flink does */
	done(&scene);
	assert_true(plan_of(&scene, (struct given){ .text = "taskmanager.memory.process.size: 4096m\n"
							    "kubernetes.taskmanager.memory.limit-factor: 0.9\n" }) < 0);
	done(&scene);
	/* A part of a MiB that Kubernetes rounds away is no lack. */
	assert_int_equal(plan_of(&scene, (struct given){ .text = "taskmanager.memory.process.size: 4294967297b\n" }),
			 0);
	assert_true(scene.plan.verdict->worst < SEVERITY_WARNING);
	done(&scene);
}

static void keys(void **state)
{
	(void)state;
	static const struct {
		const char *text, *version, *rule, *words;
		enum severity severity;
	} table[] = {
		{ "taskmanager.memory.managed.fracton: 0.2", NULL, "key-misspelt", "managed.fraction'",
		  SEVERITY_WARNING },
		{ "taskmanager.memory.procces.size: 2g", NULL, "key-misspelt", "process.size'", SEVERITY_WARNING },
		{ "parallelsm.default: 2", NULL, "key-misspelt", "parallelism.default'", SEVERITY_NOTICE },
		{ "taskmanager.memory.overhead.size: 2g", NULL, "key-unknown", "no option", SEVERITY_WARNING },
		{ "taskmanager.network.memory.buffers-per-channel: 2", NULL, "key-ignored", "does not know",
		  SEVERITY_WARNING },
		{ "taskmanager.memory.starting-segment-size: 2k", "1.20", "key-ignored", "does not know",
		  SEVERITY_WARNING },
		{ "state.backend: hashmap", NULL, "key-renamed", "state.backend.type", SEVERITY_INFO },
		{ "taskmanager.memory.size: 1g\ntaskmanager.memory.managed.size: 512m", NULL, "key-shadowed",
		  "is not looked at", SEVERITY_WARNING },
		{ "taskmanager: {memory.segment-size: 32k}\ntaskmanager.memory.segment-size: 64k", NULL, "key-twice",
		  "twice", SEVERITY_WARNING },
		{ "state.backend.rocksdb.writebuffer.size: 64x", NULL, "value-unreadable", "cannot read",
		  SEVERITY_WARNING },
		{ "env.java.opts.taskmanager: -Xmx2g -XX:+UseZGC", NULL, "flag-overridden", "-Xmx", SEVERITY_WARNING },
		{ "no colon here", "1.20", "line-skipped", "1 line", SEVERITY_WARNING },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene scene;
		char text[512];
		(void)snprintf(text, sizeof text, "taskmanager.memory.process.size: 4g\n%s\n", table[i].text);
		assert_int_equal(plan_of(&scene, (struct given){ .text = text, .version = table[i].version }), 0);
		const struct finding *finding = found(&scene, table[i].rule);
		assert_non_null(strstr(finding->title, table[i].words));
		assert_int_equal(finding->severity, table[i].severity);
		done(&scene);
	}
	/* What nobody here knows is left alone: connectors, reporters, maps. */
	struct scene scene;
	assert_int_equal(plan_of(&scene,
				 (struct given){ .text = "taskmanager.memory.process.size: 4g\nmy.own.key: 1\n"
							 "metrics.reporter.prom.port: \"9249\"\ns3.access-key: x\n"
							 "kubernetes.taskmanager.labels.app: y\n" }),
			 0);
	assert_int_equal(scene.plan.verdict->n_findings, 0);
	done(&scene);
}

static void older_names(void **state)
{
	(void)state;
	struct scene scene;
	/* The current name counts, wherever it stands. */
	assert_int_equal(
		plan_of(&scene,
			(struct given){
				.text = "taskmanager.memory.process.size: 4g\n"
					"taskmanager.memory.managed.size: 512m\ntaskmanager.memory.size: 1g\n" }),
		0);
	assert_int_equal(scene.plan.derived.budget.managed_bytes.bytes, 512 * MIB);
	done(&scene);
	/* --set is looked up first, by the same names. */
	assert_int_equal(
		plan_of(&scene,
			(struct given){ .text = "taskmanager.memory.process.size: 4g\ntaskmanager.memory.size: 1g\n" }),
		0);
	assert_int_equal(scene.plan.derived.budget.managed_bytes.bytes, GIB);
	done(&scene);
}

/* Nothing is sized, and somebody thinks it is. */
static void sizes_that_are_none(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum derive_role role;
		const char *version, *words;
	} table[] = {
		{ "a.b: 1\n", DERIVE_TASKMANAGER, NULL,
		  "no size is set: Flink wants taskmanager.memory.process.size, or" },
		{ "x: 1\ntaskmanager.memory.proces.size: 4g\n", DERIVE_TASKMANAGER, NULL,
		  "config.yaml:2: taskmanager.memory.proces.size is no option: did you mean taskmanager.memory.process.size?" },
		{ "taskmanager: {memory: {flink: {sise: 4g}}}\n", DERIVE_TASKMANAGER, NULL,
		  "config.yaml:1: taskmanager.memory.flink.sise is no option: did you mean taskmanager.memory.flink.size?" },
		{ "taskmanager.memory.task.heep.size: 4g\ntaskmanager.memory.managed.size: 1g\n", DERIVE_TASKMANAGER,
		  NULL, "did you mean taskmanager.memory.task.heap.size?" },
		{ "jobmanager.memory.procss.size: 1600m\n", DERIVE_JOBMANAGER, NULL,
		  "did you mean jobmanager.memory.process.size?" },
		{ "taskmanager.memory.process.sise: 4g\n", DERIVE_TASKMANAGER, "1.20",
		  "flink-conf.yaml:1: taskmanager.memory.process.sise is no option" },
		{ "taskmanager.memory.process.size:4g\nx y\n", DERIVE_TASKMANAGER, "1.20",
		  "2 of the lines of flink-conf.yaml are no 'key: value'" },
		{ "jobmanager.memory.process.size: 1600m\n", DERIVE_TASKMANAGER, NULL,
		  "no size of a TaskManager is set, but one of a JobManager: plan that with --jobmanager" },
		{ "taskmanager.memory.flink.size: 1600m\n", DERIVE_JOBMANAGER, NULL, "plan that without --jobmanager" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene scene;
		assert_true(plan_of(&scene, (struct given){ .text = table[i].text,
							    .role = table[i].role,
							    .version = table[i].version }) < 0);
		assert_int_equal(scene.err.kind, ERR_USAGE);
		if (!strstr(scene.err.message, table[i].words))
			fail_msg("%s", scene.err.message);
		done(&scene);
	}
}

static void versions(void **state)
{
	(void)state;
	unsigned a, b;
	assert_int_equal(flinkkeys_version_find(STR("2.x"), &a, NULL), 0);
	assert_int_equal(a, flinkkeys_n_versions() - 1);
	assert_int_equal(flinkkeys_version_find(STR("1.20.1"), &b, NULL), 0);
	assert_true(flinkkeys_is_1x(b) && !flinkkeys_is_1x(a));
	assert_true(flinkkeys_version_find(STR("1.19"), &b, NULL) < 0);
	assert_true(flinkkeys_version_find(STR(""), &b, NULL) < 0);
	assert_true(flinkkeys_version_find(STR("3"), &b, NULL) < 0);
}

static void quantities(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t bytes;
	} table[] = {
		{ "4G", 4000000000ull },
		{ "4Gi", 4 * GIB },
		{ "4g", 4 * GIB },
		{ "512M", 512000000 },
		{ "4096Mi", 4 * GIB },
		{ "1728m", 1728 * MIB },
		{ "1073741824", GIB },
		{ "1T", 1000000000000ull },
		{ "4x", 0 },
		{ "0", 0 },
		{ "0G", 0 },
		{ "", 0 },
		{ "G", 0 },
		{ "1.5Gi", 1536 * MIB },
		{ "2.5G", 2500000000ull },
		{ "1.5g", 0 },
		{ "1.5", 0 },
		{ "1.2345678Gi", 0 },
		{ "4Gib", 4 * GIB },
		{ "4GX", 0 },
		{ "4K", 4096 },
		{ "99999999999T", 0 },
		{ "-1G", 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		uint64_t bytes = 0;
		assert_int_equal(quantity_parse(str_of(table[i].text), &bytes, NULL) == 0, table[i].bytes != 0);
		assert_int_equal(bytes, table[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(f06_and_c37_four_thousand_against_4G),
		cmocka_unit_test(f09_arena_past_the_mutable_limit),
		cmocka_unit_test(f12_unmanaged_by_the_rule_of_thumb),
		cmocka_unit_test(f18_metaspace_of_old),
		cmocka_unit_test(f28_direct_memory_by_slots),
		cmocka_unit_test(f40_a_jobmanager_of_500m),
		cmocka_unit_test(f42_ten_gigabytes_off_the_heap),
		cmocka_unit_test(f43_keys_and_shares_of_old_operators),
		cmocka_unit_test(c39_managed_memory_that_nobody_takes),
		cmocka_unit_test(r15_a_cache_of_the_hosts_size),
		cmocka_unit_test(limit_factors),
		cmocka_unit_test(keys),
		cmocka_unit_test(older_names),
		cmocka_unit_test(sizes_that_are_none),
		cmocka_unit_test(versions),
		cmocka_unit_test(quantities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
