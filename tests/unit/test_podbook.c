/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch of Kubernetes' pods says, line by line, and what is known of them by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "collector/podbook.h"
#include "sys/clock.h"

#define METADATA "\"metadata\":{\"name\":\"tm-1\",\"namespace\":\"fraud\",\"uid\":\"u-1\",\"resourceVersion\":\"42\"}"
#define KILLED \
	"{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\",\"startedAt\":\"2026-11-30T09:00:00Z\",\"finishedAt\":\"2026-11-30T10:00:00Z\"}}"

static struct pod_news parse(const char *line)
{
	struct pod_news news;
	struct err err = { 0 };
	if (pod_news_parse(str_of(line), &news, &err) < 0)
		fail_msg("%s", err.message);
	return news;
}

static void an_end(void **state)
{
	struct pod_news news = parse(
		"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\"," METADATA
		",\"spec\":{\"nodeName\":\"node-a\"},\"status\":{\"phase\":\"Running\",\"containerStatuses\":["
		"{\"name\":\"taskmanager\",\"state\":{\"running\":{}},\"lastState\":" KILLED "},"
		"{\"name\":\"log\",\"state\":{\"terminated\":{\"exitCode\":0,\"signal\":9,\"message\":\"a\\u001b[31m\\nb\\n\"}},"
		"\"lastState\":{}}]}}}");
	(void)state;
	assert_int_equal(news.kind, POD_NEWS_SEEN);
	assert_string_equal(news.version, "42");
	assert_string_equal(news.pod.namespace_, "fraud");
	assert_string_equal(news.pod.name, "tm-1");
	assert_string_equal(news.pod.uid, "u-1");
	assert_string_equal(news.pod.node, "node-a");
	assert_string_equal(news.pod.reason, "");
	assert_int_equal(news.pod.n_ends, 2);
	assert_string_equal(news.pod.ends[0].container, "taskmanager");
	assert_string_equal(news.pod.ends[0].reason, "OOMKilled");
	assert_int_equal(news.pod.ends[0].exit_code, 137);
	assert_int_equal(news.pod.ends[0].signal, 0);
	assert_int_equal(news.pod.ends[0].finished.ms, INT64_C(1796032800000));
	assert_int_equal(news.pod.ends[0].started.ms, INT64_C(1796032800000) - 3600000);
	assert_int_equal(news.pod.asked_to_stop.ms, 0);
	assert_string_equal(news.pod.ends[1].container, "log");
	assert_int_equal(news.pod.ends[1].exit_code, 0);
	assert_int_equal(news.pod.ends[1].signal, 9);
	assert_int_equal(news.pod.ends[1].finished.ms, 0);
	assert_null(strpbrk(news.pod.ends[1].message, "\x1b\n"));
	assert_non_null(strstr(news.pod.ends[1].message, "[31m"));
}

/* deletionTimestamp is when the time of grace is over. */
static void a_deletion(void **state)
{
	struct pod_news news =
		parse("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\","
		      "\"uid\":\"c\",\"resourceVersion\":\"1\",\"deletionTimestamp\":"
		      "\"2026-11-30T10:00:30Z\",\"deletionGracePeriodSeconds\":30}}}");
	(void)state;
	assert_int_equal(news.pod.asked_to_stop.ms, INT64_C(1796032800000));
}

static void other_lines(void **state)
{
	struct pod_news news =
		parse("{\"type\":\"DELETED\",\"object\":{" METADATA
		      ",\"status\":{\"reason\":\"Evicted\",\"message\":\"The node was low on resource: memory.\"}}}");
	(void)state;
	assert_int_equal(news.kind, POD_NEWS_GONE);
	assert_string_equal(news.pod.reason, "Evicted");
	assert_string_equal(news.pod.message, "The node was low on resource: memory.");
	assert_string_equal(news.pod.node, "");
	assert_int_equal(news.pod.n_ends, 0);
	news = parse("{\"type\":\"ADDED\",\"object\":{" METADATA
		     ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"no\"},"
		     "{\"type\":\"DisruptionTarget\",\"status\":\"False\",\"reason\":\"no\"},"
		     "{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"EvictionByEvictionAPI\"}]}}}");
	assert_string_equal(news.pod.reason, "EvictionByEvictionAPI");
	news = parse("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"99\"}}}");
	assert_int_equal(news.kind, POD_NEWS_BOOKMARK);
	assert_string_equal(news.version, "99");
	news = parse("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}");
	assert_int_equal(news.kind, POD_NEWS_ERROR);
	assert_int_equal(news.status, 410);
}

static void what_is_none(void **state)
{
	static const struct {
		const char *line;
		enum err_kind kind;
	} cases[] = {
		{ "", ERR_MALFORMED },
		{ "[]", ERR_MALFORMED },
		{ "{\"type\":\"ADDED\"}", ERR_MALFORMED },
		{ "{\"type\":\"ADDED\",\"object\":[]}", ERR_MALFORMED },
		{ "{\"type\":\"SHOUTED\",\"object\":{" METADATA "}}", ERR_MALFORMED },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\",\"uid\":\"c\"}}}",
		  ERR_MALFORMED },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"uid\":\"c\",\"resourceVersion\":\"1\"}}}",
		  ERR_MALFORMED },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\\n\",\"namespace\":\"b\",\"uid\":\"c\",\"resourceVersion\":\"1\"}}}",
		  ERR_MALFORMED },
		{ "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"1234567890123456789012345678901234567890\"}}}",
		  ERR_MALFORMED },
	};
	struct pod_news news = { .status = 7 };
	struct err err;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(pod_news_parse(str_of(cases[i].line), &news, &err) < 0);
		assert_int_equal(err.kind, cases[i].kind);
		assert_int_equal(news.status, 7);
	}
	char *long_one = malloc(POD_LINE_MAX + 1);
	assert_non_null(long_one);
	memset(long_one, ' ', POD_LINE_MAX + 1);
	assert_true(pod_news_parse((struct str){ long_one, POD_LINE_MAX + 1 }, &news, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	free(long_one);
}

/* A pod has more containers than are looked at. */
static void many_containers(void **state)
{
	char line[8192] = "{\"type\":\"ADDED\",\"object\":{" METADATA ",\"status\":{\"containerStatuses\":[";
	(void)state;
	for (int i = 0; i < 3 * POD_ENDS_MAX; i++)
		(void)snprintf(line + strlen(line), sizeof line - strlen(line),
			       "%s{\"name\":\"c%d\",\"state\":" KILLED "}", i ? "," : "", i);
	(void)snprintf(line + strlen(line), sizeof line - strlen(line), "]}}}");
	assert_int_equal(parse(line).pod.n_ends, POD_ENDS_MAX);
}

/* --- the book ------------------------------------------------------------------------------------- */

static struct pod_seen pod(const char *uid, const char *node)
{
	struct pod_seen seen = { .namespace_ = "fraud" };
	(void)snprintf(seen.uid, sizeof seen.uid, "%s", uid);
	(void)snprintf(seen.name, sizeof seen.name, "tm-%s", uid);
	(void)snprintf(seen.node, sizeof seen.node, "%s", node);
	return seen;
}

static void take(struct podbook *book, unsigned stream, const char *uid, const char *node, bool gone, struct mono now)
{
	struct pod_seen seen = pod(uid, node);
	assert_true(podbook_take(book, stream, &seen, gone, now));
}

static void who_is_where(void **state)
{
	struct podbook *book;
	struct err err;
	struct mono now = { 1000 };
	(void)state;
	assert_int_equal(podbook_new(&book, &err), 0);
	assert_int_equal(podbook_on_node(NULL, "b", "node-a"), PODBOOK_UNKNOWN);
	assert_int_equal(podbook_on_node(book, "b", "node-a"), PODBOOK_UNKNOWN);
	take(book, 0, "b", "", false, now);
	assert_int_equal(podbook_on_node(book, "b", "node-a"), PODBOOK_UNKNOWN); /* not scheduled yet */
	take(book, 0, "b", "node-a", false, now);
	take(book, 0, "c", "node-b", false, now);
	take(book, 0, "a", "node-c", false, now);
	assert_int_equal(podbook_count(book), 3);
	assert_int_equal(podbook_on_node(book, "b", "node-a"), PODBOOK_YES);
	assert_int_equal(podbook_on_node(book, "b", "node-b"), PODBOOK_NO);
	assert_int_equal(podbook_on_node(book, "b", ""), PODBOOK_UNKNOWN);
	assert_int_equal(podbook_on_node(book, "a", "node-c"), PODBOOK_YES);
	assert_int_equal(podbook_on_node(book, "", "node-c"), PODBOOK_UNKNOWN);
	assert_int_equal(podbook_is(book, "c", "fraud", "tm-c"), PODBOOK_YES);
	assert_int_equal(podbook_is(book, "c", "other", "tm-c"), PODBOOK_NO);
	assert_int_equal(podbook_is(book, "c", "fraud", "tm-b"), PODBOOK_NO);
	assert_int_equal(podbook_is(book, "d", "fraud", "tm-d"), PODBOOK_UNKNOWN);
	podbook_free(book);
}

static void who_is_gone(void **state)
{
	struct podbook *book;
	struct err err;
	struct mono now = { 1000 }, later = mono_add_ms(now, PODBOOK_GONE_MS - 1),
		    end = mono_add_ms(now, PODBOOK_GONE_MS);
	(void)state;
	assert_int_equal(podbook_new(&book, &err), 0);
	podbook_begin(book, 0);
	take(book, 0, "a", "node-a", false, now);
	take(book, 0, "b", "node-a", false, now);
	take(book, 1, "c", "node-a", false, now);
	take(book, 0, "a", "node-a", true, now);
	take(book, 0, "a", "node-a", true, later); /* said twice: gone since the first time */
	assert_int_equal(podbook_count(book), 2);
	podbook_expire(book, later);
	assert_int_equal(podbook_on_node(book, "a", "node-a"), PODBOOK_YES);
	podbook_expire(book, end);
	assert_int_equal(podbook_on_node(book, "a", "node-a"), PODBOOK_UNKNOWN);
	/* A watch that begins anew does not name b any more; c is another's. */
	podbook_begin(book, 0);
	assert_int_equal(podbook_count(book), 2);
	take(book, 0, "d", "node-a", false, end);
	podbook_settled(book, 0, end);
	assert_int_equal(podbook_count(book), 2);
	podbook_expire(book, mono_add_ms(end, PODBOOK_GONE_MS));
	assert_int_equal(podbook_on_node(book, "b", "node-a"), PODBOOK_UNKNOWN);
	assert_int_equal(podbook_on_node(book, "c", "node-a"), PODBOOK_YES);
	assert_int_equal(podbook_on_node(book, "d", "node-a"), PODBOOK_YES);
	/* One that was taken for gone is named again. */
	podbook_begin(book, 0);
	podbook_settled(book, 0, end);
	assert_int_equal(podbook_count(book), 1);
	take(book, 0, "d", "node-a", false, end);
	assert_int_equal(podbook_count(book), 2);
	podbook_free(book);
}

static void a_full_book(void **state)
{
	struct podbook *book;
	struct err err;
	char uid[16];
	(void)state;
	assert_int_equal(podbook_new(&book, &err), 0);
	for (int i = 0; i < PODBOOK_MAX; i++) {
		(void)snprintf(uid, sizeof uid, "%08d", i);
		take(book, 0, uid, "n", false, (struct mono){ 1 });
	}
	struct pod_seen more = pod("x", "n");
	assert_false(podbook_take(book, 0, &more, false, (struct mono){ 1 }));
	assert_int_equal(podbook_count(book), PODBOOK_MAX);
	assert_int_equal(podbook_on_node(book, "00000000", "n"), PODBOOK_YES);
	assert_int_equal(podbook_on_node(book, "x", "n"), PODBOOK_UNKNOWN);
	podbook_free(book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end),          cmocka_unit_test(other_lines),  cmocka_unit_test(what_is_none),
		cmocka_unit_test(many_containers), cmocka_unit_test(who_is_where), cmocka_unit_test(who_is_gone),
		cmocka_unit_test(a_full_book),     cmocka_unit_test(a_deletion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
