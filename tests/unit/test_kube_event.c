/* SPDX-License-Identifier: Apache-2.0 */
/* The Event of a finding, as Kubernetes' validation wants it (k8s.io/kubernetes/pkg/apis/core/validation/events.go). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/kube_event.h"
#include "data/js.h"

static struct kube_event example(void)
{
	return (struct kube_event){ .namespace_ = "fraud",
				    .pod = "tm-1",
				    .pod_uid = "u-1",
				    .container = "taskmanager",
				    .finding = "freeboard-low.7.100.5",
				    .rule = "freeboard-low",
				    .title = "4 % are left",
				    .severity = SEVERITY_WARNING,
				    .owner = "java-heap",
				    .instance = "default",
				    .link = "",
				    .at = { INT64_C(1796032800123) } };
}

static void reasons(void **state)
{
	static const char *const cases[][2] = { { "freeboard-low", "FreeboardLow" },
						{ "oom-kill", "OomKill" },
						{ "a--b2-3c-", "AB23c" },
						{ "", "" },
						{ "-\x1b[31m", "31m" } };
	char reason[128], small[4];
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		kube_event_reason(cases[i][0], reason, sizeof reason);
		assert_string_equal(reason, cases[i][1]);
	}
	kube_event_reason("freeboard-low", small, sizeof small);
	assert_string_equal(small, "Fre");
}

/* One name for one finding, severity and pod. */
static void names(void **state)
{
	struct kube_event event = example(), other = example();
	char a[KUBE_EVENT_NAME_CAP], b[KUBE_EVENT_NAME_CAP], long_pod[WIRE_NAME_CAP];
	(void)state;
	kube_event_name(&event, a);
	assert_int_equal(strlen(a), strlen("tm-1.") + 16);
	other.title = "other";
	other.at.ms++;
	kube_event_name(&other, b);
	assert_string_equal(a, b);
	other.severity = SEVERITY_CRITICAL;
	kube_event_name(&other, b);
	assert_string_not_equal(a, b);
	other = example();
	other.finding = "freeboard-low.7.100.6";
	kube_event_name(&other, b);
	assert_string_not_equal(a, b);
	other = example();
	other.pod_uid = "u-2";
	kube_event_name(&other, b);
	assert_string_not_equal(a, b);
	memset(long_pod, 'a', sizeof long_pod - 1);
	long_pod[sizeof long_pod - 1] = '\0';
	long_pod[198] = long_pod[199] = '-';
	event.pod = long_pod;
	kube_event_name(&event, a);
	assert_int_equal(strlen(a), 198 + 1 + 16); /* "a-." is no name */
}

static struct js *encode(const struct kube_event *event)
{
	auto_buf struct buf out = { .cap = KUBE_EVENT_BODY_MAX };
	struct js *root = NULL;
	struct err err;
	assert_int_equal(kube_event_encode(event, &out, &err), 0);
	assert_int_equal(js_parse(buf_str(&out), KUBE_EVENT_BODY_MAX, &root, &err), 0);
	return root;
}

static void text_is(const struct js *root, const char *path, const char *want)
{
	struct str got;
	assert_true(js_str(js_path(root, path), &got));
	assert_true(str_eq(got, str_of(want)));
}

static void bodies(void **state)
{
	struct kube_event event = example();
	auto_js struct js *root = encode(&event);
	(void)state;
	text_is(root, "apiVersion", "events.k8s.io/v1");
	text_is(root, "metadata.namespace", "fraud");
	text_is(root, "eventTime", "2026-11-30T10:00:00.123000Z");
	text_is(root, "type", "Warning");
	text_is(root, "reason", "FreeboardLow");
	text_is(root, "regarding.namespace", "fraud");
	text_is(root, "regarding.uid", "u-1");
	text_is(root, "regarding.fieldPath", "spec.containers{taskmanager}");
	text_is(root, "note", "4 % are left (warning, java-heap; bankfull explain freeboard-low)");
	event.container = "";
	event.owner = NULL;
	event.link = "https://b/#/findings/1";
	auto_js struct js *bare = encode(&event);
	assert_null(js_path(bare, "regarding.fieldPath"));
	text_is(bare, "note", "4 % are left (warning; bankfull explain freeboard-low) https://b/#/findings/1");
}

/* What an agent named is cut and escaped: 1024 bytes of a note, 128 of an instance and a reason, are what is taken. */
static void hostile(void **state)
{
	char huge[2000];
	struct kube_event event = example();
	struct str text;
	(void)state;
	for (size_t i = 0; i < sizeof huge - 1; i++)
		huge[i] = "\x1b\xff\"\n"[i % 4];
	huge[sizeof huge - 1] = '\0';
	event.title = event.instance = event.rule = event.link = huge;
	auto_js struct js *root = encode(&event);
	assert_true(js_str(js_get(root, "note"), &text));
	assert_true(text.len < 1024);
	for (size_t i = 0; i < text.len; i++)
		assert_true((unsigned char)text.ptr[i] >= ' ');
	assert_true(js_str(js_get(root, "reason"), &text));
	assert_true(text.len > 0 && text.len <= 128);
	assert_true(js_str(js_get(root, "reportingInstance"), &text));
	assert_true(text.len > 0 && text.len <= 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(names),
		cmocka_unit_test(bodies),
		cmocka_unit_test(hostile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
