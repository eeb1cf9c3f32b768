/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "plan/derive.h"
#include "plan/flinkkeys.h"
#include "plan/resize.h"

#define MIB (1ull << 20)

static const char *const names[] = { "a", "b", "c", "d", "e" };

/* A TaskManager of 4096m on RocksDB, as Flink derives it, in good order. */
static struct resize_reading reading(void)
{
	struct resize_reading r = {
		.kind = ENGINE_FLINK_TASKMANAGER,
		.facts = { .backend = BACKEND_ROCKSDB, .batch = TRISTATE_FALSE, .python = TRISTATE_FALSE },
		.set = { [RESIZE_OVERHEAD] = qty_measured(429496736),
			 [RESIZE_METASPACE] = qty_measured(256 * MIB),
			 [RESIZE_DIRECT] = qty_measured(493921243),
			 [RESIZE_MANAGED] = qty_measured(1438814063),
			 [RESIZE_HEAP] = qty_measured(1664299798) },
		.used = { [RESIZE_OVERHEAD] = qty_measured(350 * MIB),
			  [RESIZE_METASPACE] = qty_measured(180 * MIB),
			  [RESIZE_DIRECT] = qty_measured(370 * MIB),
			  [RESIZE_MANAGED] = qty_measured(1200 * MIB),
			  [RESIZE_HEAP] = qty_measured(1500 * MIB) },
		.floor_bytes = qty_measured(3600 * MIB),
		.limit = limit_set(4096 * MIB),
	};
	return r;
}

static struct resize size_of(const struct resize_reading *readings, size_t n)
{
	struct resize resize;
	assert_int_equal(resize_run(readings, names, n, &resize, NULL), 0);
	return resize;
}

/* What a fragment makes of the configuration, by Flink's derivation. */
static struct flink_budget after(const char *conf, const struct resize *resize, size_t n_steps)
{
	static char lines[4096];
	struct declared declared = { .n_sets = 0 };
	struct flinkconf file = { 0 };
	struct derived derived;
	struct err err = { 0 };
	assert_int_equal(flinkkeys_version_find(STR("2.x"), &declared.version, NULL), 0);
	assert_int_equal(flinkconf_parse(str_of(conf), FLINKCONF_YAML, "config.yaml", &file, NULL), 0);
	declared.file = &file;
	lines[0] = '\0';
	for (size_t i = 0; i < n_steps; i++)
		(void)snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s", resize->steps[i].fragment);
	struct str rest = str_of(lines), line;
	while (str_line(&rest, &line)) {
		size_t at = str_find(line, STR(": "));
		if (line.len == 0 || line.ptr[0] == '#')
			continue;
		assert_true(at < line.len);
		declared.sets[declared.n_sets++] =
			(struct flinkconf_entry){ .said = { line.ptr, at }, .raw = str_skip(line, at + 2) };
	}
	if (derive(&declared, DERIVE_TASKMANAGER, &derived, &err) < 0)
		fail_msg("%s\n%s", err.message, lines);
	flinkconf_done(&file);
	return derived.budget;
}

static void what_fits_stays(void **state)
{
	(void)state;
	struct resize_reading r[3] = { reading(), reading(), reading() };
	struct resize resize = size_of(r, 3);
	for (size_t i = 0; i < resize.n_steps; i++)
		print_error("%s\n", resize.steps[i].title);
	assert_int_equal(resize.n_steps, 0);
	assert_int_equal(resize.process_bytes, 4096 * MIB);
}

static void percentiles(void **state)
{
	(void)state;
	struct resize_reading r[5];
	for (unsigned i = 0; i < 5; i++) {
		r[i] = reading();
		r[i].used[RESIZE_METASPACE] = qty_measured((140 + 10ull * i) * MIB);
	}
	r[4].used[RESIZE_METASPACE] = (struct qty){ 0 }; /* unread is no reading */
	struct resize resize = size_of(r, 5);
	assert_int_equal(resize.rows[RESIZE_METASPACE].p50_bytes, 150 * MIB);
	assert_int_equal(resize.rows[RESIZE_METASPACE].p99_bytes, 170 * MIB);
	assert_int_equal(resize.rows[RESIZE_METASPACE].max_bytes, 170 * MIB);
}

/* FLINK-35489: an autoscaler proposed 22 MB. */
static void metaspace_never_below_what_was_loaded(void **state)
{
	(void)state;
	struct resize_reading r[3] = { reading(), reading(), reading() };
	for (size_t used = 5; used < 256; used += 10) {
		for (size_t i = 0; i < 3; i++)
			r[i].used[RESIZE_METASPACE] = qty_measured(used * MIB);
		struct resize resize = size_of(r, 3);
		uint64_t proposed = resize.rows[RESIZE_METASPACE].proposed_bytes;
		assert_true(proposed >= (used + 32) * MIB || proposed == 256 * MIB);
		assert_true(proposed >= 128 * MIB);
	}
}

static void what_is_overrun_is_raised_first(void **state)
{
	(void)state;
	struct resize_reading r[3] = { reading(), reading(), reading() };
	for (size_t i = 0; i < 3; i++) {
		r[i].used[RESIZE_METASPACE] = qty_measured(60 * MIB);
		r[i].used[RESIZE_MANAGED] = qty_measured(300 * MIB);
	}
	r[1].used[RESIZE_OVERHEAD] = qty_measured(900 * MIB);
	r[2].heap_pressure = true;
	struct resize resize = size_of(r, 3);
	assert_int_equal(resize.n_steps, 4);
	assert_int_equal(resize.steps[0].budget, RESIZE_OVERHEAD);
	assert_true(resize.steps[0].raises && resize.steps[0].to_bytes >= 900 * MIB * 11 / 10);
	assert_int_equal(resize.steps[1].budget, RESIZE_HEAP);
	assert_true(resize.steps[1].raises);
	assert_int_equal(resize.steps[2].budget, RESIZE_METASPACE);
	assert_int_equal(resize.steps[3].budget, RESIZE_MANAGED);
	assert_false(resize.steps[3].raises);
	/* Each step moves the process by what it changes, and by nothing else. */
	uint64_t process = resize.process_bytes;
	for (size_t i = 0; i < resize.n_steps; i++) {
		process = process - resize.steps[i].from_bytes + resize.steps[i].to_bytes;
		assert_int_equal(resize.steps[i].process_bytes, process);
	}
}

/* Metaspace and overhead lie outside of what Flink shares out: nothing else moves, to the byte. */
static void a_fragment_changes_one_budget(void **state)
{
	(void)state;
	struct resize_reading r[3] = { reading(), reading(), reading() };
	for (size_t i = 0; i < 3; i++) {
		r[i].used[RESIZE_METASPACE] = qty_measured(60 * MIB);
		r[i].used[RESIZE_OVERHEAD] = qty_measured(600 * MIB);
	}
	struct resize resize = size_of(r, 3);
	assert_int_equal(resize.n_steps, 2);
	const char *conf = "taskmanager.memory.process.size: 4096m\n";
	struct flink_budget first = after(conf, &resize, 1), both = after(conf, &resize, 2);
	assert_int_equal(first.overhead_bytes.bytes, resize.steps[0].to_bytes);
	assert_int_equal(first.metaspace_bytes.bytes, 256 * MIB);
	assert_int_equal(first.heap_bytes.bytes, 1664299798);
	assert_int_equal(first.managed_bytes.bytes, 1438814063);
	assert_int_equal(first.process_bytes.bytes, resize.steps[0].process_bytes);
	assert_int_equal(both.metaspace_bytes.bytes, resize.steps[1].to_bytes);
	assert_int_equal(both.overhead_bytes.bytes, resize.steps[0].to_bytes);
	assert_int_equal(both.heap_bytes.bytes, 1664299798);
	assert_int_equal(both.network_bytes.bytes, 359703515);
}

/* What a configuration gives, as a report has it. */
static struct resize_reading reading_of(const char *conf)
{
	struct resize none = { .n_steps = 0 };
	struct flink_budget b = after(conf, &none, 0);
	struct resize_reading r = reading();
	r.set[RESIZE_OVERHEAD] = b.overhead_bytes;
	r.set[RESIZE_METASPACE] = b.metaspace_bytes;
	r.set[RESIZE_DIRECT] = b.direct_bytes;
	r.set[RESIZE_MANAGED] = b.managed_bytes;
	r.set[RESIZE_HEAP] = b.heap_bytes;
	return r;
}

static uint64_t size_in(const struct flink_budget *b, enum resize_budget budget)
{
	const struct qty sizes[RESIZE_BUDGET_COUNT] = {
		[RESIZE_OVERHEAD] = b->overhead_bytes, [RESIZE_METASPACE] = b->metaspace_bytes,
		[RESIZE_DIRECT] = b->direct_bytes,     [RESIZE_MANAGED] = b->managed_bytes,
		[RESIZE_HEAP] = b->heap_bytes,
	};
	return sizes[budget].bytes;
}

/* Whatever is lowered, alone or after the others: Flink's derivation gives what the step says, and all else as it was. */
static void each_step_moves_one_budget_to_the_byte(void **state)
{
	(void)state;
	static const char *const confs[] = {
		"taskmanager.memory.process.size: 4096m\n",
		"taskmanager.memory.process.size: 8g\ntaskmanager.memory.task.off-heap.size: 1g\n",
		"taskmanager.memory.process.size: 12345678901b\ntaskmanager.memory.task.off-heap.size: 777m\n",
	};
	unsigned n_direct = 0;
	for (size_t c = 0; c < sizeof confs / sizeof confs[0]; c++)
		for (unsigned which = 1; which < 32; which++) {
			struct resize_reading r[3];
			for (size_t i = 0; i < 3; i++) {
				r[i] = reading_of(confs[c]);
				r[i].taken.ms = 1 + (int64_t)i * RESIZE_DAY_MS;
				r[i].limit = (struct limit){ 0 };
				for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
					r[i].used[b] =
						qty_measured(which >> b & 1 ? 40 * MIB : r[i].set[b].bytes / 10 * 8);
			}
			r[1].restored = true;
			struct resize resize = size_of(r, 3);
			for (size_t step = 0; step < resize.n_steps; step++) {
				struct flink_budget before = after(confs[c], &resize, step),
						    now = after(confs[c], &resize, step + 1);
				enum resize_budget moved = resize.steps[step].budget;
				n_direct += moved == RESIZE_DIRECT && !resize.steps[step].raises;
				for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
					assert_int_equal(size_in(&now, (enum resize_budget)b),
							 b == (int)moved ? resize.steps[step].to_bytes
									 : size_in(&before, (enum resize_budget)b));
				assert_int_equal(now.process_bytes.bytes, resize.steps[step].process_bytes);
				assert_int_equal(now.network_bytes.bytes, before.network_bytes.bytes);
			}
		}
	assert_true(n_direct > 30);
}

/* The parts of the direct budget: as it was started, by the pool's own figure, or from the sum; the best of all readings counts. */
static void where_the_parts_of_direct_are_from(void **state)
{
	(void)state;
	const char *conf =
		"taskmanager.memory.process.size: 8g\ntaskmanager.memory.network.max: 256m\n"
		"taskmanager.memory.task.off-heap.size: 700m\ntaskmanager.memory.framework.off-heap.size: 200m\n";
	struct resize none = { .n_steps = 0 };
	struct flink_budget now = after(conf, &none, 0);
	enum { CONFIGURED = 1, POOL = 2, WRONG = 4, TWO = 8 };
	static const struct {
		unsigned facts;
		enum direct_source source;
		uint64_t network_mib, framework_mib, task_mib;
		const char *comment; /* NULL: none */
	} table[] = {
		{ CONFIGURED, DIRECT_CONFIGURED, 256, 200, 700, NULL },
		{ CONFIGURED | POOL, DIRECT_CONFIGURED, 256, 200, 700, NULL },
		{ CONFIGURED | TWO, DIRECT_CONFIGURED, 256, 200, 700, NULL }, /* one pod's agent is older */
		{ POOL, DIRECT_MEASURED, 256, 128, 772, "the network's were measured" },
		{ CONFIGURED | WRONG | POOL, DIRECT_MEASURED, 256, 128, 772, "the network's were measured" },
		{ 0, DIRECT_INFERRED, 0, 128, 0, "as the sum says" },
	};
	for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
		struct resize_reading r[3];
		for (size_t i = 0; i < 3; i++) {
			r[i] = reading_of(conf);
			r[i].taken.ms = 1 + (int64_t)i * RESIZE_DAY_MS;
			for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
				r[i].used[b] = qty_measured(r[i].set[b].bytes / 10 * 8);
			r[i].used[RESIZE_DIRECT] = qty_measured(300 * MIB);
			struct engine_facts *facts = &r[i].facts;
			if (table[t].facts & TWO && i == 2)
				continue;
			if (table[t].facts & CONFIGURED) {
				facts->network_bytes = now.network_bytes;
				facts->framework_off_heap_bytes = now.framework_off_heap_bytes;
				facts->task_off_heap_bytes = now.task_off_heap_bytes;
			}
			if (table[t].facts & WRONG) /* of another configuration: no parts of this sum */
				facts->task_off_heap_bytes.bytes += MIB;
			if (table[t].facts & POOL)
				facts->network_pool_bytes = qty_measured(now.network_bytes.bytes);
		}
		r[2].restored = true;
		struct resize resize = size_of(r, 3);
		assert_int_equal(resize.direct.source, table[t].source);
		assert_true(resize.direct.network + resize.direct.framework + resize.direct.task ==
			    r[2].set[RESIZE_DIRECT].bytes);
		assert_int_equal(resize.direct.framework, table[t].framework_mib * MIB);
		if (table[t].network_mib) {
			assert_int_equal(resize.direct.network, table[t].network_mib * MIB);
			assert_int_equal(resize.direct.task, table[t].task_mib * MIB);
		}
		if (table[t].source == DIRECT_INFERRED)
			continue; /* what is inferred is wrong here, and says of what */
		assert_int_equal(resize.n_steps, 1);
		assert_int_equal(resize.steps[0].budget, RESIZE_DIRECT);
		assert_true((strstr(resize.steps[0].fragment, "# right where") != NULL) == (table[t].comment != NULL));
		if (table[t].comment) {
			assert_non_null(strstr(resize.steps[0].fragment, table[t].comment));
			continue;
		}
		/* To the byte, of a configuration whose parts are none of Flink's own. */
		struct flink_budget lower = after(conf, &resize, 1);
		assert_int_equal(lower.direct_bytes.bytes, resize.steps[0].to_bytes);
		assert_int_equal(lower.network_bytes.bytes, now.network_bytes.bytes);
		assert_int_equal(lower.heap_bytes.bytes, now.heap_bytes.bytes);
		assert_int_equal(lower.managed_bytes.bytes, now.managed_bytes.bytes);
		assert_int_equal(lower.process_bytes.bytes, resize.steps[0].process_bytes);
	}
}

/* Whole segments: less than one of the network is missing from its pool. A pool of 0 has not begun. */
static void a_pool_is_whole_segments(void **state)
{
	(void)state;
	const char *conf = "taskmanager.memory.process.size: 4g\n";
	struct resize none = { .n_steps = 0 };
	struct flink_budget now = after(conf, &none, 0);
	struct resize_reading r = reading_of(conf);
	r.facts.network_pool_bytes = qty_measured(now.network_bytes.bytes / 32768 * 32768);
	struct resize resize = size_of(&r, 1);
	assert_int_equal(resize.direct.source, DIRECT_MEASURED);
	assert_int_equal(resize.direct.network, now.network_bytes.bytes);
	assert_int_equal(resize.direct.task, 0);
	r.facts.network_pool_bytes = qty_measured(0);
	resize = size_of(&r, 1);
	assert_int_equal(resize.direct.source, DIRECT_INFERRED);
	r.facts.network_pool_bytes = qty_measured(r.set[RESIZE_DIRECT].bytes * 2); /* of something else */
	resize = size_of(&r, 1);
	assert_int_equal(resize.direct.source, DIRECT_INFERRED);
}

/* Direct memory is lowered by a day and a restore alone, tasks first, and the network keeps what it has. */
static void direct_memory_is_lowered_with_care(void **state)
{
	(void)state;
	const char *conf = "taskmanager.memory.process.size: 8g\ntaskmanager.memory.task.off-heap.size: 1g\n";
	struct resize none = { .n_steps = 0 };
	struct flink_budget now = after(conf, &none, 0);
	static const struct {
		int64_t apart_ms;
		bool restored;
		uint64_t used_mib; /* beside the network */
		const char *why;
	} table[] = {
		{ RESIZE_DAY_MS / 2, true, 50, "a fifth above the highest of a day and a restore" },
		{ RESIZE_DAY_MS / 2 - 1, true, 50, "by readings of a day or more" },
		{ RESIZE_DAY_MS, false, 50, "once a restore was seen" },
		{ RESIZE_DAY_MS, true, 900, "it fits" },
		{ 0, true, 50, "by readings of a day or more" },
	};
	for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
		struct resize_reading r[3];
		for (size_t i = 0; i < 3; i++) {
			r[i] = reading_of(conf);
			for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
				r[i].used[b] = qty_measured(r[i].set[b].bytes / 10 * 8);
			r[i].used[RESIZE_DIRECT] = qty_measured(now.network_bytes.bytes + table[t].used_mib * MIB);
			r[i].taken.ms = 1 + (int64_t)i * table[t].apart_ms;
		}
		r[2].restored = table[t].restored;
		struct resize resize = size_of(r, 3);
		const struct resize_row *row = &resize.rows[RESIZE_DIRECT];
		if (!strstr(row->why, table[t].why))
			fail_msg("%zu: %s", t, row->why);
		assert_int_equal(resize.n_steps, t == 0);
		assert_true(row->proposed_bytes >= now.network_bytes.bytes + 64 * MIB);
		if (t == 0) {
			struct flink_budget lower = after(conf, &resize, 1);
			assert_true(lower.task_off_heap_bytes.bytes < 512 * MIB);
			assert_int_equal(lower.framework_off_heap_bytes.bytes, 128 * MIB);
		}
	}
	/* A network that is not Flink's own tenth: nobody can tell what the tasks have. */
	struct resize_reading r[3];
	for (size_t i = 0; i < 3; i++) {
		r[i] = reading_of("taskmanager.memory.process.size: 8g\ntaskmanager.memory.network.max: 256m\n");
		r[i].taken.ms = 1 + (int64_t)i * RESIZE_DAY_MS;
		for (int b = 0; b < RESIZE_BUDGET_COUNT; b++)
			r[i].used[b] = qty_measured(r[i].set[b].bytes / 10 * 8);
		r[i].used[RESIZE_DIRECT] = qty_measured(100 * MIB);
	}
	r[2].restored = true;
	struct resize resize = size_of(r, 3);
	assert_int_equal(resize.n_steps, 0);
	assert_non_null(strstr(resize.rows[RESIZE_DIRECT].why, "is not known"));
}

static void few_readings_lower_nothing(void **state)
{
	(void)state;
	struct resize_reading r[2] = { reading(), reading() };
	for (size_t i = 0; i < 2; i++)
		r[i].used[RESIZE_METASPACE] = qty_measured(60 * MIB);
	struct resize resize = size_of(r, 2);
	assert_int_equal(resize.n_steps, 0);
	assert_true(resize.too_few);
	/* But what is too small is raised by one. */
	r[0].used[RESIZE_OVERHEAD] = qty_measured(900 * MIB);
	resize = size_of(r, 1);
	assert_int_equal(resize.n_steps, 1);
}

static void managed_memory_that_nobody_takes(void **state)
{
	(void)state;
	struct resize_reading r[3] = { reading(), reading(), reading() };
	for (size_t i = 0; i < 3; i++) {
		r[i].facts.backend = BACKEND_HASHMAP;
		r[i].used[RESIZE_MANAGED] = qty_measured(0);
	}
	struct resize resize = size_of(r, 3);
	assert_int_equal(resize.n_steps, 1);
	assert_int_equal(resize.steps[0].to_bytes, 0);
	assert_non_null(strstr(resize.steps[0].fragment, "taskmanager.memory.managed.size: 0m\n"));
	assert_int_equal(after("taskmanager.memory.process.size: 4096m\n", &resize, 1).managed_bytes.bytes, 0);
	/* With RocksDB it is a cache that is still empty. */
	for (size_t i = 0; i < 3; i++)
		r[i].facts.backend = BACKEND_ROCKSDB;
	resize = size_of(r, 3);
	assert_true(resize.rows[RESIZE_MANAGED].proposed_bytes > 0);
	/* Of several pods each says it; one of which it is not known is enough to leave it. */
	static const struct engine_facts others[] = {
		{ .backend = BACKEND_ROCKSDB, .batch = TRISTATE_FALSE, .python = TRISTATE_FALSE },
		{ .backend = BACKEND_HASHMAP, .batch = TRISTATE_UNREAD, .python = TRISTATE_FALSE },
		{ .backend = BACKEND_HASHMAP, .batch = TRISTATE_FALSE, .python = TRISTATE_TRUE },
		{ .backend = BACKEND_UNKNOWN },
	};
	for (size_t t = 0; t < sizeof others / sizeof others[0]; t++) {
		for (size_t i = 0; i < 3; i++) {
			r[i].facts =
				(struct engine_facts){ BACKEND_HASHMAP, TRISTATE_FALSE, TRISTATE_FALSE, { 0 }, { 0 },
						       { 0 },           { 0 },          { 0 },          { 0 } };
			r[i].pod = i > 0;
		}
		resize = size_of(r, 3);
		assert_int_equal(resize.rows[RESIZE_MANAGED].proposed_bytes, 0);
		r[0].facts = others[t];
		resize = size_of(r, 3);
		assert_true(resize.rows[RESIZE_MANAGED].proposed_bytes > 0);
	}
}

static void of_two_configurations(void **state)
{
	(void)state;
	struct resize_reading r[2] = { reading(), reading() };
	struct resize resize;
	struct err err = { 0 };
	r[1].set[RESIZE_HEAP].bytes += 5;
	assert_true(resize_run(r, names, 2, &resize, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, "1664299798"));
	assert_non_null(strstr(err.message, "1664299803"));
	assert_non_null(strstr(err.message, "5 bytes apart"));
	r[1] = reading();
	r[1].kind = ENGINE_FLINK_JOBMANAGER;
	assert_true(resize_run(r, names, 2, &resize, &err) < 0);
	assert_true(resize_run(r, names, 0, &resize, &err) < 0);
}

static void reports(void **state)
{
	(void)state;
	static const struct {
		const char *text, *words; /* NULL: taken */
	} table[] = {
		{ "{}", "no report of Bankfull" },
		{ "[]", "no report of Bankfull" },
		{ "{\"schema\":\"bankfull.rules.v1\"}", "no report of Bankfull" },
		{ "{\"schema\":\"bankfull.report.v1\",\"target\":{\"engine\":\"kafka-streams\"}}",
		  "its budgets are unread" },
		{ "{\"schema\":\"bankfull.report.v1\",\"target\":{\"engine\":\"jvm\"}}",
		  "Flink and Kafka Streams alone" },
		{ "{\"schema\":\"bankfull.report.v1\",\"target\":{\"engine\":\"flink-taskmanager\"},\"budgets\":[]}",
		  "unread" },
		{ "{\"schema\":\"bankfull.report.v1\",\"target\":{\"engine\":\"flink-jobmanager\"},\"budgets\":[{\"budget\":\"heap\","
		  "\"budget_bytes\":7,\"actual_bytes\":null},{\"budget\":\"jvm-overhead\",\"budget_bytes\":9,\"actual_bytes\":3}],"
		  "\"limit_bytes\":null,\"floor_bytes\":-1}",
		  NULL },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct js *report = NULL;
		struct resize_reading r;
		struct err err = { 0 };
		assert_int_equal(js_parse(str_of(table[i].text), 4096, &report, NULL), 0);
		int rc = resize_read(report, "x.json", &r, &err);
		assert_int_equal(rc == 0, !table[i].words);
		if (rc < 0 && !strstr(err.message, table[i].words))
			fail_msg("%s", err.message);
		if (rc == 0) {
			assert_int_equal(r.set[RESIZE_HEAP].bytes, 7);
			assert_false(qty_known(r.used[RESIZE_HEAP]));
			assert_int_equal(r.used[RESIZE_OVERHEAD].bytes, 3);
			assert_int_equal(r.limit.kind, LIMIT_UNREAD);
			assert_false(qty_known(r.floor_bytes));
		}
		js_free(report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(metaspace_never_below_what_was_loaded),
		cmocka_unit_test(what_is_overrun_is_raised_first),
		cmocka_unit_test(a_fragment_changes_one_budget),
		cmocka_unit_test(each_step_moves_one_budget_to_the_byte),
		cmocka_unit_test(where_the_parts_of_direct_are_from),
		cmocka_unit_test(a_pool_is_whole_segments),
		cmocka_unit_test(direct_memory_is_lowered_with_care),
		cmocka_unit_test(few_readings_lower_nothing),
		cmocka_unit_test(managed_memory_that_nobody_takes),
		cmocka_unit_test(of_two_configurations),
		cmocka_unit_test(reports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
