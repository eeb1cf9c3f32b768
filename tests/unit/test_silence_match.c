/* SPDX-License-Identifier: Apache-2.0 */
/* What a silence covers, as a table, and what of it an agent hears. */
#include "collector/silence_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/silence_json.h"
#include "rules/rules.h"

static const struct wall now = { INT64_C(1764489600000) };

static struct silences *silences;

static int set_up(void **state)
{
	(void)state;
	silences = calloc(1, sizeof *silences);
	return silences ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < silences->n_active; i++)
		free(silences->active[i]);
	free(silences);
	return 0;
}

/* As somebody writes it, for an hour. */
static const struct silence *add(const char *kind, const char *matchers, int64_t ms)
{
	char body[1024];
	struct err err;
	struct silence_entry *entry = calloc(1, sizeof *entry);
	assert_non_null(entry);
	(void)snprintf(body, sizeof body, "{\"kind\":\"%s\",\"matchers\":%s,\"reason\":\"known\",\"until_ms\":%lld}",
		       kind, matchers, (long long)(now.ms + ms));
	if (silence_parse(str_of(body), now, &entry->silence, &err) < 0)
		fail_msg("%s: %s", body, err.message);
	entry->silence.id = (int64_t)silences->n_active + 1;
	silences->n_kind[entry->silence.kind]++;
	silences->active[silences->n_active++] = entry;
	silence_index_add(silences, entry);
	return &entry->silence;
}

static struct subject_view subject_of(const char *cluster, const char *namespace_, const char *workload,
				      const char *pod)
{
	return (struct subject_view){ .cluster = cluster, .namespace_ = namespace_, .workload = workload, .pod = pod };
}

static void what_is_covered(void **state)
{
	(void)state;
	static const struct {
		const char *matchers;
		bool covers; /* {prod, streaming-a, fraud-tm, fraud-tm-1, freeboard-low, warning} */
		bool alert;  /* the alert that its finding belongs to */
	} rows[] = {
		{ "{\"rule\":\"freeboard-low\"}", true, true },
		{ "{\"rule\":\"freeboard-*\"}", true, true },
		{ "{\"rule\":\"*\"}", true, true },
		{ "{\"rule\":\"oom-kill\"}", false, false },
		{ "{\"rule\":\"oom-*\"}", false, false },
		{ "{\"namespace\":\"streaming-a\"}", true, true },
		{ "{\"namespace\":\"streaming-?\"}", true, true },
		{ "{\"namespace\":\"streaming-[bc]\"}", false, false },
		{ "{\"namespace\":\"streaming\"}", false, false },
		{ "{\"namespace\":\"\"}", false, false },
		{ "{\"namespace\":\"STREAMING-A\"}", false, false },
		{ "{\"cluster\":\"prod\"}", true, true },
		{ "{\"cluster\":\"test\"}", false, false },
		{ "{\"workload\":\"fraud-*\",\"rule\":\"freeboard-low\"}", true, true },
		{ "{\"workload\":\"fraud-*\",\"rule\":\"heap-pressure\"}", false, false },
		{ "{\"pod\":\"fraud-tm-1\"}", true, false },
		{ "{\"pod\":\"*\"}", true, false },
		{ "{\"pod\":\"fraud-tm-2\"}", false, false },
		{ "{\"severity\":\"warning\"}", true, true },
		{ "{\"severity\":\"critical\"}", false, false },
		{ "{\"severity\":\"warning\",\"namespace\":\"other\"}", false, false },
		/* A backslash makes a star a star. */
		{ "{\"namespace\":\"streaming\\\\-a\"}", true, true },
		{ "{\"namespace\":\"streaming-\\\\*\"}", false, false },
	};
	const struct subject_view subject = subject_of("prod", "streaming-a", "fraud-tm", "fraud-tm-1");
	const struct silence_alert alert = { "prod", "streaming-a", "fraud-tm", "freeboard-low", SEVERITY_WARNING };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct silence *s = add("silence", rows[i].matchers, 3600000);
		const struct silence *found =
			silences_match(silences, &subject, "freeboard-low", SEVERITY_WARNING, SILENCE_SILENCE, now);
		const struct silence *of_alert = silences_match_alert(silences, &alert, SILENCE_SILENCE, now);
		if ((found == s) != rows[i].covers || (of_alert == s) != rows[i].alert || (found && found != s))
			fail_msg("%s: %d %d", rows[i].matchers, found != NULL, of_alert != NULL);
		assert_ptr_equal(silences_on(silences, &subject, "freeboard-low", SEVERITY_WARNING, now), found);
		assert_null(silences_match(silences, &subject, "freeboard-low", SEVERITY_WARNING,
					   SILENCE_ACKNOWLEDGEMENT, now));
		/* At its end it is over, whoever has put that down. */
		assert_null(silences_match(silences, &subject, "freeboard-low", SEVERITY_WARNING, SILENCE_SILENCE,
					   (struct wall){ now.ms + 3600000 }));
		silence_index_remove(silences, silences->active[0]);
		silences->n_kind[SILENCE_SILENCE]--;
		free(silences->active[--silences->n_active]);
	}
}

/* Of several the one that lasts longest; a silence before an acknowledgement; nothing of another kind. */
static void which_one(void **state)
{
	(void)state;
	const struct subject_view subject = subject_of("prod", "a", "w", "p");
	const struct silence *ack =
		add("acknowledgement",
		    "{\"cluster\":\"prod\",\"namespace\":\"a\",\"workload\":\"w\",\"rule\":\"oom-kill\"}", 9000);
	assert_ptr_equal(silences_on(silences, &subject, "oom-kill", SEVERITY_CRITICAL, now), ack);
	(void)add("silence", "{\"rule\":\"oom-kill\"}", 1000);
	const struct silence *longer = add("silence", "{\"namespace\":\"a\"}", 3000);
	(void)add("silence", "{\"workload\":\"w\"}", 2000);
	assert_ptr_equal(silences_on(silences, &subject, "oom-kill", SEVERITY_CRITICAL, now), longer);
	assert_ptr_equal(silences_on(silences, &subject, "oom-kill", SEVERITY_CRITICAL, (struct wall){ now.ms + 3000 }),
			 ack);
	assert_null(silences_on(silences, &subject, "oom-kill", SEVERITY_CRITICAL, (struct wall){ now.ms + 9000 }));
	assert_null(silences_on(NULL, &subject, "oom-kill", SEVERITY_CRITICAL, now));
}

/* An acknowledgement is of names: a star in one is a star. */
static void acknowledged_by_name(void **state)
{
	(void)state;
	const char *const star = "{\"namespace\":\"a\",\"workload\":\"w*[\",\"rule\":\"oom-kill\"}";
	char body[300];
	struct silence s;
	struct err err;
	(void)snprintf(body, sizeof body, "{\"kind\":\"acknowledgement\",\"matchers\":%s,\"reason\":\"x\"}", star);
	assert_int_equal(silence_parse(str_of(body), now, &s, &err), 0);
	assert_int_equal(s.matchers.patterns, 0);
	assert_int_equal(s.until.ms, now.ms + 24 * 3600 * 1000);
	const struct subject_view one = subject_of("prod", "a", "w*[", "p"),
				  other = subject_of("prod", "a", "wide", "p");
	(void)add("acknowledgement", star, 1000);
	assert_non_null(silences_on(silences, &one, "oom-kill", SEVERITY_CRITICAL, now));
	assert_null(silences_on(silences, &other, "oom-kill", SEVERITY_CRITICAL, now));
}

/* Whatever the index says, it says what a walk over all of them would. */
static void the_index_is_a_walk(void **state)
{
	(void)state;
	static const char *const rules[] = { "oom-kill", "freeboard-low", "freeboard-*", NULL };
	static const char *const namespaces[] = { "a", "b", "[ab]", NULL };
	for (int i = 0; i < 16; i++) {
		char text[128];
		const char *rule = rules[i / 4], *namespace_ = namespaces[i % 4];
		(void)snprintf(text, sizeof text, "{\"cluster\":\"c%d\"%s%s%s%s%s%s}", i % 2,
			       rule ? ",\"rule\":\"" : "", rule ? rule : "", rule ? "\"" : "",
			       namespace_ ? ",\"namespace\":\"" : "", namespace_ ? namespace_ : "",
			       namespace_ ? "\"" : "");
		(void)add("silence", text, 1000 + i);
	}
	for (int i = 0; i < 2 * 3 * 3; i++) {
		const struct subject_view subject =
			subject_of(i % 2 ? "c1" : "c0", (const char *[]){ "a", "b", "" }[i / 2 % 3], "w", "p");
		const char *rule = (const char *[]){ "oom-kill", "freeboard-low", "heap-pressure" }[i / 6];
		const char *values[SILENCE_FIELD_COUNT];
		const struct silence *best = NULL;
		silence_values(&subject, rule, values);
		for (size_t k = 0; k < silences->n_active; k++) {
			const struct silence *s = &silences->active[k]->silence;
			if (silence_covers(&s->matchers, values, SILENCE_ALL_FIELDS) &&
			    (!best || s->until.ms > best->until.ms))
				best = s;
		}
		assert_ptr_equal(silences_match(silences, &subject, rule, SEVERITY_INFO, SILENCE_SILENCE, now), best);
	}
}

static struct wire_policy policy_of(const struct subject_view *subject, size_t *ret_left_out)
{
	struct wire_policy policy = { 0 };
	silences_policy(silences, subject, now, &policy, ret_left_out);
	return policy;
}

static void what_an_agent_hears(void **state)
{
	(void)state;
	const struct subject_view subject = subject_of("prod", "a", "w", "p");
	size_t left_out;
	struct wire_policy empty = policy_of(&subject, &left_out);
	assert_int_equal(empty.n_silences, 0);
	assert_int_not_equal(empty.version, 0); /* or what was silenced before would stay so */
	(void)add("silence", "{\"rule\":\"oom-kill\",\"severity\":\"warning\"}", 1000);
	(void)add("acknowledgement", "{\"namespace\":\"a\",\"workload\":\"w\",\"rule\":\"oom-kill\"}", 1000);
	(void)add("silence", "{\"rule\":\"oom-kill\",\"namespace\":\"b\"}", 1000);
	assert_int_equal(policy_of(&subject, &left_out).version, empty.version);
	(void)add("silence", "{\"rule\":\"freeboard-lo?\",\"namespace\":\"a\"}", 1000);
	struct wire_policy one = policy_of(&subject, &left_out);
	assert_int_equal(one.n_silences, 1);
	assert_string_equal(one.silences[0].rule, "freeboard-low");
	assert_string_equal(one.silences[0].reason, "known");
	assert_int_equal(one.silences[0].until.ms, now.ms + 1000);
	assert_true(one.silences[0].quiet);
	assert_int_not_equal(one.version, empty.version);
	/* The longer one of two; the version is one of the content, not of the order. */
	(void)add("silence", "{\"rule\":\"freeboard-low\"}", 5000);
	struct wire_policy longer = policy_of(&subject, &left_out);
	assert_int_equal(longer.n_silences, 1);
	assert_int_equal(longer.silences[0].until.ms, now.ms + 5000);
	/* What the configuration says of a rule stands. */
	struct wire_policy own = { .version = 9, .n_silences = 1 };
	memcpy(own.silences[0].rule, "freeboard-low", sizeof "freeboard-low");
	silences_policy(silences, &subject, now, &own, &left_out);
	assert_int_equal(own.n_silences, 1);
	assert_false(own.silences[0].quiet);
	/* All rules fit; where the configuration has taken the room, what is left out is counted. */
	(void)add("silence", "{\"workload\":\"w\"}", 500);
	struct wire_policy all = policy_of(&subject, &left_out);
	assert_int_equal(all.n_silences, rule_count);
	assert_int_equal(left_out, 0);
	own = (struct wire_policy){ .version = 9, .n_silences = WIRE_SILENCES_MAX - 2 };
	silences_policy(silences, &subject, now, &own, &left_out);
	assert_int_equal(own.n_silences, WIRE_SILENCES_MAX);
	assert_int_equal(left_out, rule_count - 2);
}

static void bodies(void **state)
{
	(void)state;
#define M "\"kind\":\"silence\",\"matchers\":{\"rule\":\"oom-kill\"}"
#define R "\"reason\":\"x\""
#define U "\"until_ms\":1764489600001"
	static const struct {
		const char *body, *says; /* NULL: it is good */
	} rows[] = {
		{ "{" M "," R "," U "}", NULL },
		{ "", "" },
		{ "nonsense", "" },
		{ "[]", "an object is wanted" },
		{ "{}", "kind: silence or acknowledgement" },
		{ "{\"kind\":\"silent\"}", "kind: silence or acknowledgement" },
		{ "{" M "," R "," U ",\"author\":\"me\"}", "no member 'author' here" },
		{ "{" M "," R "," U ",\"resaon\":\"x\"}", "no member 'resaon' here: did you mean 'reason'?" },
		{ "{" M "," M "," R "," U "}", "" },
		{ "{\"kind\":\"silence\"," R "," U "}", "matchers: an object" },
		{ "{\"kind\":\"silence\",\"matchers\":{}," R "," U "}", "matchers: at least one" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"rule\":1}," R "," U "}", "matchers.rule: a text" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"node\":\"x\"}," R "," U "}", "matchers has no 'node'" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"rule\":\"oom-kil\"}," R "," U "}",
		  "matchers.rule: no rule 'oom-kil': did you mean 'oom-kill'?" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"pod\":\"a[b\"}," R "," U "}",
		  "matchers.pod: a '[' that is not closed" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"pod\":\"*a*a*a*a*a*a*a*a*b\"}," R "," U "}",
		  "matchers.pod: a pattern of more than 16 parts" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"severity\":\"bad\"}," R "," U "}",
		  "matchers.severity: one of" },
		{ "{\"kind\":\"silence\",\"matchers\":{\"severity\":\"none\"}," R "," U "}",
		  "matchers.severity: one of" },
		{ "{" M "," U "}", "reason: a text" },
		{ "{" M ",\"reason\":\" \\t \"," U "}", "reason: 1 to 200 bytes" },
		{ "{" M ",\"reason\":\"a\\u0007\"," U "}", "reason: one line" },
		{ "{" M ",\"reason\":\"a\\nb\"," U "}", "reason: one line" },
		{ "{" M ",\"reason\":\"a\\u202eb\"," U "}", "reason: one line" },
		{ "{" M ",\"reason\":\"a\\u061cb\"," U "}", "reason: one line" },
		{ "{" M ",\"reason\":\"a\\u2067b\"," U "}", "reason: one line" },
		{ "{" M ",\"reason\":\"a\\u0085b\"," U "}", "reason: one line" },
		{ "{" M ",\"reason\":\"\\u05e9\\u05dc\\u05d5\\u05dd\"," U "}", NULL },
		{ "{" M "," R "}", "until_ms: when it ends" },
		{ "{" M "," R ",\"until_ms\":\"tomorrow\"}", "until_ms: when it ends" },
		{ "{" M "," R ",\"until_ms\":1764489600000}", "until_ms: that has passed" },
		{ "{" M "," R ",\"until_ms\":-1}", "until_ms: that has passed" },
		{ "{" M "," R ",\"until_ms\":9223372036854775807}", "until_ms: longer than a year" },
		{ "{\"kind\":\"acknowledgement\",\"matchers\":{\"rule\":\"oom-kill\",\"namespace\":\"a\"}," R "}",
		  "matchers: an acknowledgement is of one alert" },
		{ "{\"kind\":\"acknowledgement\",\"matchers\":{\"rule\":\"oom-kill\",\"namespace\":\"a\",\"workload\":\"w\","
		  "\"pod\":\"p\"}," R "}",
		  "matchers: an acknowledgement is of one alert" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct silence s = { .id = 77 };
		struct err err = { 0 };
		int rc = silence_parse(str_of(rows[i].body), now, &s, &err);
		if ((rc == 0) != (rows[i].says == NULL) ||
		    (rows[i].says && !str_starts(str_of(err.message), str_of(rows[i].says))))
			fail_msg("%s: %s", rows[i].body, err.message);
		assert_int_equal(s.id, rc < 0 ? 77 : 0);
	}
	char longest[600];
	(void)snprintf(longest, sizeof longest, "{" M ",\"reason\":\"%0*d\"," U "}", SILENCE_REASON_MAX, 1);
	struct silence s;
	struct err err;
	assert_int_equal(silence_parse(str_of(longest), now, &s, &err), 0);
	assert_int_equal(strlen(s.reason), SILENCE_REASON_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_covered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(which_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(acknowledged_by_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_index_is_a_walk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_an_agent_hears, set_up, tear_down),
		cmocka_unit_test(bodies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
