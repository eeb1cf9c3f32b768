/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: parsable whatever was named, unknown is null, figures are the ledger's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/report.h"
#include "data/js.h"
#include "rules/rules.h"
#include "support/snap.h"

enum { CAP = 1 << 20 };

static struct js *report_of(const struct snapshot *s, struct ledger **ret_ledger)
{
	struct ledger *l = snap_ledger(s);
	struct verdict *v = calloc(1, sizeof *v);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
	auto_buf struct buf out = { .cap = CAP };
	struct err err = { 0 };
	struct js *root = NULL;
	rules_run(&input, v);
	assert_int_equal(report_json(s, l, v, &out, &err), 0);
	assert_int_equal(out.ptr[out.len - 1], '\n');
	if (js_parse(buf_str(&out), CAP, &root, &err) != 0)
		fail_msg("%s in %s", err.message, out.ptr);
	free(v);
	if (ret_ledger)
		*ret_ledger = l;
	else
		free(l);
	return root;
}

static void number(const struct js *object, const char *key, int64_t want)
{
	int64_t got;
	if (!js_i64(js_path(object, key), &got))
		fail_msg("%s is no number", key);
	if (got != want)
		print_error("%s\n", key);
	assert_int_equal(got, want);
}

static void null(const struct js *object, const char *key)
{
	if (js_kind(js_path(object, key)) != JS_NULL)
		fail_msg("%s is not null", key);
}

static void text(const struct js *object, const char *key, const char *want)
{
	struct str got;
	assert_true(js_str(js_path(object, key), &got));
	if (!str_eq(got, str_of(want)))
		fail_msg("%s is '%.*s', wanted '%s'", key, (int)got.len, got.ptr, want);
}

static const struct js *line_of(const struct js *root, const char *owner)
{
	const struct js *ledger = js_get(root, "ledger");
	for (size_t i = 0; i < js_len(ledger); i++) {
		struct str name;
		assert_true(js_str(js_get(js_at(ledger, i), "owner"), &name));
		if (str_eq(name, str_of(owner)))
			return js_at(ledger, i);
	}
	fail_msg("no line %s", owner);
	return NULL;
}

static void figures_are_the_ledgers(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_crowded);
	snap_flink(s, 500 * MIB, 300 * MIB, 64 * MIB, 128 * MIB, 192 * MIB, 1728ull * MIB);
	s->cgroup.max = limit_set(900 * MIB);
	s->cgroup.high = limit_set(850 * MIB);
	s->cgroup.peak_bytes = qty_measured(GIB);
	s->status.n_threads = count_of(60);
	str_copy(s->container_id, sizeof s->container_id, STR("abc123"));
	str_copy(s->engine.version, sizeof s->engine.version, STR("1.20.0"));
	s->jdk_major = 17;
	str_copy(s->jdk, sizeof s->jdk, STR("17.0.9"));
	s->malloc_arena_max = count_of(2);
	struct ledger *l;
	auto_js struct js *root = report_of(s, &l);
	text(root, "schema", "bankfull.report.v1");
	number(root, "taken_ms", 1700000000000);
	number(root, "target.pid", 42);
	text(root, "target.container_id", "abc123");
	text(root, "target.engine", "flink-taskmanager");
	text(root, "target.engine_version", "1.20.0");
	text(root, "target.jdk", "17.0.9");
	text(root, "target.allocator", "glibc");
	number(root, "target.malloc_arena_max", 2);
	null(root, "target.gc");
	null(root, "target.state_backend");
	number(root, "limit_bytes", 900 * MIB);
	text(root, "limit_state", "set");
	number(root, "charge.current_bytes", (int64_t)s->cgroup.current_bytes.bytes);
	number(root, "charge.anon_bytes", 810 * MIB);
	number(root, "charge.peak_bytes", GIB);
	null(root, "charge.swap_bytes");
	number(root, "stat_residual_bytes", 0);
	number(root, "residual_bytes", 0);
	number(root, "floor_bytes", (int64_t)l->floor_bytes.bytes);
	number(root, "freeboard_bytes", l->freeboard_bytes.bytes);
	text(root, "freeboard_level", "container");
	number(root, "throttle_room_bytes", l->throttle_room_bytes.bytes);
	null(root, "swap_room_bytes");
	number(root, "expected_demand_bytes", (int64_t)l->expected.bytes.bytes);
	number(root, "legal_demand_bytes", (int64_t)l->legal.bytes.bytes);
	text(root, "access.level", "full");
	text(root, "access.cgroup", "v2");
	const struct js *heap = line_of(root, "java-heap");
	number(heap, "bytes", 400 * MIB);
	text(heap, "group", "anon");
	text(heap, "state", "measured");
	number(heap, "budget_bytes", 500 * MIB);
	number(heap, "bound_bytes", 500 * MIB);
	null(heap, "claim_bytes");
	number(heap, "age_ms", 0);
	const struct js *retained = line_of(root, "allocator-retained");
	null(retained, "bytes");
	text(retained, "state", "unread");
	assert_int_equal(js_len(js_get(root, "groups")), 5); /* no hugetlb here */
	assert_int_equal(js_len(js_get(root, "budgets")), 5);
	const struct js *first = js_at(js_get(root, "findings"), 0), *finding = js_at(js_get(root, "findings"), 1);
	text(first, "rule", "limit-below-process-size");
	null(first, "root");
	text(first, "change_when", "now");
	text(finding, "rule", "freeboard-low");
	text(finding, "root", "limit-below-process-size");
	text(finding, "change_when", "with-root");
	null(finding, "change"); /* the root's is its remedy */
	number(finding, "evidence.freeboard_bytes", l->freeboard_bytes.bytes);
	free(l);
	snap_free(s);
}

/* Every number that stands below `value`, and whether each is zero. */
static size_t zeroes(const struct js *value, const char *key, bool print)
{
	size_t n = 0;
	struct js_iter iter = { 0 };
	struct str name;
	const struct js *member;
	uint64_t number_there;
	if (js_kind(value) == JS_NUMBER && js_u64(value, &number_there) && number_there == 0) {
		if (print)
			print_error("0: %s\n", key);
		return 1;
	}
	for (size_t i = 0; js_kind(value) == JS_ARRAY && i < js_len(value); i++)
		n += zeroes(js_at(value, i), key, print);
	while (js_kind(value) == JS_OBJECT && js_each(value, &iter, &name, &member)) {
		char path[256];
		(void)snprintf(path, sizeof path, "%s.%.*s", key, (int)name.len, name.ptr);
		bool is_age = str_eq(name, STR("age_ms")) || str_eq(name, STR("tolerance_bytes"));
		n += is_age ? 0 : zeroes(member, path, print);
	}
	return n;
}

/* A process of which nothing but its pid is known: not one figure may be a zero. */
static void nothing_read_is_null_everywhere(void **state)
{
	(void)state;
	struct snapshot *s = calloc(1, sizeof *s);
	s->process.pid = 42;
	s->is_jvm = true;
	snap_gap(s, "proc/smaps", ERR_DENIED, "not yours");
	auto_js struct js *root = report_of(s, NULL);
	static const char *const keys[] = { "taken_ms",
					    "target.container_id",
					    "target.engine_version",
					    "target.jdk",
					    "target.gc",
					    "target.allocator",
					    "target.kernel",
					    "limit_bytes",
					    "charge.current_bytes",
					    "charge.anon_bytes",
					    "charge.file_bytes",
					    "charge.shmem_bytes",
					    "charge.kernel_bytes",
					    "charge.sock_bytes",
					    "charge.swap_bytes",
					    "charge.peak_bytes",
					    "residual_bytes",
					    "stat_residual_bytes",
					    "native_pool_bytes",
					    "pool_minus_claims_bytes",
					    "floor_bytes",
					    "freeboard_bytes",
					    "freeboard_level",
					    "throttle_room_bytes",
					    "swap_room_bytes",
					    "expected_demand_bytes",
					    "legal_demand_bytes" };
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		null(root, keys[i]);
	text(root, "limit_state", "unread");
	text(root, "access.level", "none");
	assert_int_equal(zeroes(root, "", true), 0);
	const struct js *ledger = js_get(root, "ledger");
	for (size_t i = 0; i < js_len(ledger); i++) {
		null(js_at(ledger, i), "bytes");
		text(js_at(ledger, i), "state", "unread");
	}
	assert_true(js_len(js_get(root, "inconclusive")) >= 2);
	snap_free(s);
}

static void limits_that_are_none_or_told(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_crowded);
	auto_js struct js *none = report_of(s, NULL);
	null(none, "limit_bytes");
	text(none, "limit_state", "none");
	s->told_limit = limit_set(GIB);
	auto_js struct js *told = report_of(s, NULL);
	number(told, "limit_bytes", GIB);
	text(told, "limit_state", "told");
	snap_free(s);
}

/* Whoever is watched chose these names: escape sequences, bytes that are no UTF-8, quotes, newlines. */
static void hostile_names_stay_inside_their_strings(void **state)
{
	(void)state;
	static const char hostile[] = "\033[2J\"},{\\\n\x01\x7f\xc2\x9b\xff\xc3 <script>";
	struct snapshot *s = snap_new(&snap_crowded);
	str_copy(s->engine.version, sizeof s->engine.version, str_of(hostile));
	str_copy(s->jdk, sizeof s->jdk, str_of(hostile));
	str_copy(s->kernel, sizeof s->kernel, str_of(hostile));
	str_copy(s->container_id, sizeof s->container_id, str_of(hostile));
	snap_gap(s, hostile, 99, hostile); /* a kind that is none */
	snap_setting(s, "-Xmx", hostile, hostile);
	s->cgroup.max = limit_set(800 * MIB);
	auto_js struct js *root = report_of(s, NULL);
	struct str version;
	assert_true(js_str(js_path(root, "target.engine_version"), &version));
	assert_true(str_starts(version, STR("\033[2J\"},{\\\n")));
	null(js_at(js_path(root, "access.reasons"), 0), "kind");
	const struct js *findings = js_get(root, "findings");
	size_t told = 0;
	for (size_t i = 0; i < js_len(findings); i++) {
		const struct js *settings = js_get(js_at(findings, i), "effective_settings");
		for (size_t j = 0; j < js_len(settings); j++) {
			struct str key, value;
			assert_true(js_str(js_get(js_at(settings, j), "key"), &key));
			if (!str_eq(key, STR("-Xmx")))
				continue;
			assert_true(js_str(js_get(js_at(settings, j), "value"), &value));
			assert_true(str_starts(value, STR("\033[2J\"},{\\\n")));
			told++;
		}
	}
	assert_true(told > 0);
	snap_free(s);
}

static void a_full_buffer_is_an_error(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_crowded);
	struct ledger *l = snap_ledger(s);
	struct verdict *v = calloc(1, sizeof *v);
	auto_buf struct buf whole = { .cap = CAP };
	struct err err = { 0 };
	assert_int_equal(report_json(s, l, v, &whole, &err), 0);
	for (size_t cap = 0; cap < whole.len; cap += cap < whole.len - 20 ? 97 : 1) {
		auto_buf struct buf out = { .cap = cap };
		err.kind = ERR_NONE;
		assert_true(report_json(s, l, v, &out, &err) < 0);
		assert_true(err.kind == ERR_NOMEM || err.kind == ERR_LIMIT);
	}
	free(v);
	free(l);
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_the_ledgers),
		cmocka_unit_test(nothing_read_is_null_everywhere),
		cmocka_unit_test(limits_that_are_none_or_told),
		cmocka_unit_test(hostile_names_stay_inside_their_strings),
		cmocka_unit_test(a_full_buffer_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
