/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "agent/postmortem.h"
#include "data/js.h"
#include "support/snap.h"

static struct wire_sample sample_of(uint64_t heap, uint64_t native, uint64_t cache)
{
	struct wire_sample s = { .has_composition = true, .pid = 7, .forecast.owner = -1 };
	s.owners[OWNER_JAVA_HEAP] = qty_measured(heap * MIB);
	s.owners[OWNER_NATIVE_OTHER] = qty_measured(native * MIB);
	s.owners[OWNER_PAGE_CACHE] = qty_measured(cache * MIB);
	s.groups[GROUP_ANON] = qty_measured((heap + native) * MIB);
	s.head.wall.ms = 1700000000000;
	return s;
}

static void who_grew(void **state)
{
	(void)state;
	struct wire_sample first = sample_of(500, 100, 10), last = sample_of(510, 400, 900);
	uint64_t grown = 77;
	/* Page cache grew most, and the kernel takes it back: it killed nobody. */
	assert_int_equal(postmortem_owner(&first, &last, &grown), OWNER_NATIVE_OTHER);
	assert_int_equal(grown, 300 * MIB);
	/* Noise is no growth, and what is unread did not grow from 0. */
	last = sample_of(503, 100, 10);
	last.owners[OWNER_GC] = qty_measured(100 * MIB);
	assert_int_equal(postmortem_owner(&first, &last, &grown), -1);
	last.has_composition = false;
	last.owners[OWNER_NATIVE_OTHER].bytes = GIB;
	assert_int_equal(postmortem_owner(&first, &last, &grown), -1);
	assert_int_equal(postmortem_owner(NULL, &last, &grown), -1);
}

static struct js *compose(const struct postmortem_input *input, struct wire_postmortem *pm)
{
	auto_buf struct buf body = { .cap = POSTMORTEM_BODY_MAX };
	struct err err = { 0 };
	struct js *root = NULL;
	if (postmortem_compose(input, pm, &body, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(js_parse(buf_str(&body), POSTMORTEM_BODY_MAX, &root, &err), 0);
	return root;
}

static void is_text(const struct js *root, const char *path, const char *want)
{
	struct str text;
	if (!js_str(js_path(root, path), &text) || !str_eq(text, str_of(want)))
		fail_msg("%s is not %s", path, want);
}

static void is_number(const struct js *root, const char *path, uint64_t want)
{
	uint64_t value = 0;
	if (!js_u64(js_path(root, path), &value) || value != want)
		fail_msg("%s is %llu", path, (unsigned long long)value);
}

static struct postmortem_life life_of(const char *image, uint64_t limit)
{
	struct postmortem_life life = { .known = true, .limit = limit_set(limit), .n_settings = 2 };
	str_copy(life.image, sizeof life.image, str_of(image));
	str_copy(life.kernel, sizeof life.kernel, STR("6.1"));
	str_copy(life.settings[0].key, sizeof life.settings[0].key, STR("-Xmx"));
	str_copy(life.settings[0].value, sizeof life.settings[0].value, STR("1g"));
	str_copy(life.settings[1].key, sizeof life.settings[1].key, STR("a"));
	str_copy(life.settings[1].value, sizeof life.settings[1].value, STR("b"));
	return life;
}

static void a_whole_one(void **state)
{
	(void)state;
	struct wire_sample first = sample_of(500, 100, 10), last = sample_of(510, 400, 900);
	struct snapshot *snapshot = snap_new(&snap_crowded);
	struct ledger *ledger = snap_ledger(snapshot);
	const struct death_evidence evidence = { .after_read = true,
						 .limit = limit_set(GIB),
						 .before.oom_kill = count_of(0),
						 .after.oom_kill = count_of(2),
						 .floor_bytes = qty_measured(900 * MIB) };
	struct death_verdict verdict = { .cause = DEATH_CONTAINER_LIMIT, .confidence_pct = 99, .why = "it did" };
	const struct postmortem_finding findings[2] = {
		{ .rule = "native-growth",
		  .severity = SEVERITY_CRITICAL,
		  .owner = OWNER_NATIVE_OTHER,
		  .title = "it grows" },
		{ .rule = "freeboard-low", .severity = SEVERITY_WARNING, .owner = -1, .title = "\x1b[31mlow" }
	};
	struct postmortem_input in = { .evidence = &evidence,
				       .verdict = &verdict,
				       .pid = 7,
				       .start_ticks = 99,
				       .first = &first,
				       .last = &last,
				       .ledger = ledger,
				       .ledger_age_ms = 1500,
				       .findings = findings,
				       .n_findings = 2,
				       .deaths = 3,
				       .deaths_same_owner = 2,
				       .life = life_of("app:2", 2 * GIB),
				       .before = life_of("app:1", GIB) };
	str_copy(in.life.settings[0].value, sizeof in.life.settings[0].value, STR("2g"));
	str_copy(in.life.settings[1].key, sizeof in.life.settings[1].key, STR("c"));
	struct wire_postmortem pm = { 0 };
	struct js *root = compose(&in, &pm);
	assert_string_equal(pm.title, "Killed at its memory limit of 1.00 GiB; native-other had grown by 300.0 MiB");
	assert_string_equal(pm.id, "death-7-99");
	assert_int_equal(pm.owner, OWNER_NATIVE_OTHER);
	is_text(root, "cause", "container-limit");
	is_number(root, "confidence_pct", 99);
	is_number(root, "deaths", 3);
	is_number(root, "deaths_same_owner", 2);
	is_number(root, "limit_bytes", GIB);
	is_number(root, "floor_bytes", 900 * MIB);
	assert_int_equal(js_kind(js_path(root, "charge_bytes")), JS_NULL); /* unread is no zero */
	is_number(root, "events.after.oom_kill", 2);
	is_number(root, "composition.age_ms", 1500);
	assert_true(js_len(js_path(root, "composition.lines")) >= 10);
	const struct js *grown = js_path(root, "growth.owners");
	assert_int_equal(js_len(grown), 3);
	is_text(js_at(grown, 0), "owner", "page-cache");
	is_text(js_at(grown, 1), "owner", "native-other");
	is_number(js_at(grown, 1), "grown_bytes", 300 * MIB);
	assert_int_equal(js_len(js_path(root, "growth.groups")), 1);
	assert_int_equal(js_len(js_get(root, "findings")), 2);
	/* limit, image, -Xmx, c is new, a is gone; the kernel is the same. */
	const struct js *changed = js_get(root, "changed");
	static const char *const rows[][3] = { { "limit", "1.00 GiB", "2.00 GiB" },
					       { "image", "app:1", "app:2" },
					       { "-Xmx", "1g", "2g" },
					       { "c", NULL, "b" },
					       { "a", "b", NULL } };
	assert_int_equal(js_len(changed), 5);
	for (size_t i = 0; i < 5; i++) {
		is_text(js_at(changed, i), "what", rows[i][0]);
		if (rows[i][1])
			is_text(js_at(changed, i), "before", rows[i][1]);
		if (rows[i][2])
			is_text(js_at(changed, i), "now", rows[i][2]);
	}
	js_free(root);

	/* By what was seen before the end alone it is no fact. */
	verdict.confidence_pct = 75;
	root = compose(&in, &pm);
	assert_string_equal(pm.title,
			    "Probably killed at its memory limit of 1.00 GiB; native-other had grown by 300.0 MiB");
	js_free(root);
	/* "By no memory limit" takes memory.events to say. */
	struct death_evidence blind = evidence;
	blind.after_read = false;
	in.evidence = &blind;
	verdict.cause = DEATH_SIGKILL;
	root = compose(&in, &pm);
	assert_string_equal(pm.title, "Killed, by whom is not known; native-other had grown by 300.0 MiB");
	js_free(root);
	free(ledger);
	snap_free(snapshot);
}

static void nothing_known(void **state)
{
	(void)state;
	const struct death_evidence evidence = { 0 };
	const struct death_verdict verdict = { 0 };
	const struct postmortem_input in = { .evidence = &evidence, .verdict = &verdict, .pid = 1 };
	struct wire_postmortem pm = { 0 };
	struct js *root = compose(&in, &pm);
	static const char *const unread[] = { "owner",  "limit_bytes",  "floor_bytes", "composition",
					      "growth", "context",      "changed",     "deaths",
					      "life",   "events.after", "spike_bytes" };
	for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
		if (js_kind(js_path(root, unread[i])) != JS_NULL)
			fail_msg("%s is not null", unread[i]);
	assert_string_equal(pm.title, "Ended, why is not known");
	assert_int_equal(pm.owner, -1);
	js_free(root);
	/* Too small a place: nothing is left behind, and part 0 is as it was. */
	auto_buf struct buf body = { .cap = 100 };
	struct wire_postmortem same = { .pid = 5 };
	struct err err = { 0 };
	assert_true(postmortem_compose(&in, &same, &body, &err) < 0);
	assert_int_equal(body.len, 0);
	assert_int_equal(same.pid, 5);
}

static void the_largest_fits(void **state)
{
	(void)state;
	struct wire_sample first = sample_of(1, 1, 1), last = sample_of(2, 2, 2);
	struct postmortem_finding findings[POSTMORTEM_FINDINGS_MAX];
	struct ledger *ledger = calloc(1, sizeof *ledger);
	struct death_verdict verdict = { 0 };
	const struct death_evidence evidence = { 0 };
	struct postmortem_input in = { .evidence = &evidence,
				       .verdict = &verdict,
				       .first = &first,
				       .last = &last,
				       .ledger = ledger,
				       .findings = findings,
				       .n_findings = POSTMORTEM_FINDINGS_MAX };
	memset(findings, 0, sizeof findings);
	/* Control bytes are six times as long in JSON. */
	memset(verdict.why, 1, sizeof verdict.why - 1);
	for (int i = 0; i < POSTMORTEM_FINDINGS_MAX; i++)
		memset(findings[i].title, 1, sizeof findings[i].title - 1);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		ledger->listed[owner] = true;
		ledger->lines[owner].bytes = ledger->lines[owner].claim_bytes = qty_measured(UINT64_MAX);
		ledger->lines[owner].budget_bytes = qty_measured(UINT64_MAX);
		ledger->lines[owner].bound = limit_set(UINT64_MAX);
		first.owners[owner] = qty_measured(0);
		last.owners[owner] = qty_measured(UINT64_MAX);
	}
	in.life = in.before = life_of("x", 1);
	in.life.n_settings = in.before.n_settings = POSTMORTEM_SETTINGS_MAX - 1;
	for (int i = 0; i < POSTMORTEM_SETTINGS_MAX - 1; i++) {
		memset(in.life.settings[i].key, 'k', 79);
		in.life.settings[i].key[0] = (char)('a' + i);
		in.before.settings[i] = in.life.settings[i];
		memset(in.life.settings[i].value, 2, 79);
		memset(in.before.settings[i].value, 3, 79);
	}
	struct wire_postmortem pm = { 0 };
	js_free(compose(&in, &pm));
	free(ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_grew),
		cmocka_unit_test(a_whole_one),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(the_largest_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
