/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engine/flinkjobs.h"
#include "support/tight.h"

#define ID_A "0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210"
#define JOB(id, state) \
	"{\"jid\":\"" id "\",\"name\":\"CANARY\",\"start-time\":1,\"state\":\"" state "\",\"tasks\":{\"total\":2}}"
#define JOBS(list) "{\"jobs\":[" list "]}"

static void which_job(void **state)
{
	static const struct {
		const char *overview;
		const char *job_state; /* "": none is ours */
		const char *id;        /* of the path; NULL: there is none */
	} cases[] = {
		{ JOBS(JOB(ID_A, "RUNNING")), "running", ID_A },
		{ JOBS(JOB(ID_A, "RESTARTING") "," JOB(ID_B, "FINISHED")), "restarting", ID_A },
		{ JOBS(JOB(ID_B, "CANCELED") "," JOB(ID_A, "CREATED")), "created", ID_A },
		{ JOBS(JOB(ID_A, "RUNNING") "," JOB(ID_B, "RUNNING")), "", NULL }, /* which of them runs here? */
		{ JOBS(JOB(ID_A, "FAILED")), "failed", NULL },
		{ JOBS(JOB(ID_A, "FAILED") "," JOB(ID_B, "FINISHED")), "", NULL },
		{ JOBS(""), "", NULL },
		{ JOBS(JOB(ID_A, "OF_A_LATER_VERSION")), "", NULL },
		{ JOBS(JOB("../config", "RUNNING")), "", NULL },
		{ JOBS("7,null,{\"jid\":1}"), "", NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf reduced = { .cap = 4096 }, again = { .cap = 4096 };
		struct err err = { 0 };
		assert_int_equal(flinkjobs_reduce(str_of(cases[i].overview), &reduced, &err), 0);
		assert_null(strstr(reduced.ptr, "CANARY"));
		assert_int_equal(flinkjobs_reduce(buf_str(&reduced), &again, &err), 0);
		assert_string_equal(again.ptr, reduced.ptr);
		struct str text = tight_of(buf_str(&reduced));
		struct engine_context context = { 0 };
		char path[FLINKJOBS_PATH_CAP] = "";
		flinkjobs_read(text, STR(""), &context);
		if (strcmp(context.job_state, cases[i].job_state) != 0)
			fail_msg("case %zu: \"%s\"", i, context.job_state);
		assert_int_equal(flinkjobs_metrics_path(text, path), cases[i].id != NULL);
		if (cases[i].id) {
			char want[FLINKJOBS_PATH_CAP];
			(void)snprintf(want, sizeof want,
				       "/jobs/%s/metrics?get=numRestarts,numberOfInProgressCheckpoints", cases[i].id);
			assert_string_equal(path, want);
		}
		tight_free(text);
	}
}

static void its_metrics(void **state)
{
	static const struct {
		const char *metrics;
		bool has_restarts;
		uint64_t restarts;
		enum tristate checkpointing;
	} cases[] = {
		{ "[{\"id\":\"numRestarts\",\"value\":\"3\"},{\"id\":\"numberOfInProgressCheckpoints\",\"value\":\"1\"}]",
		  true, 3, TRISTATE_TRUE },
		{ "[{\"id\":\"numberOfInProgressCheckpoints\",\"value\":\"0\"},{\"id\":\"numRestarts\",\"value\":\"0\"}]",
		  true, 0, TRISTATE_FALSE },
		{ "[]", false, 0, TRISTATE_UNREAD }, /* JobManagers say so for some seconds after a start */
		{ "[{\"id\":\"numRestarts\",\"value\":\"-1\"},{\"id\":\"CANARY\",\"value\":\"CANARY\"}]", false, 0,
		  TRISTATE_UNREAD },
		{ "[{\"id\":\"numRestarts\"},7,null,{\"id\":\"numberOfInProgressCheckpoints\",\"value\":4}]", false, 0,
		  TRISTATE_UNREAD },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf reduced = { .cap = 4096 };
		struct err err = { 0 };
		assert_int_equal(flinkjobs_metrics_reduce(str_of(cases[i].metrics), &reduced, &err), 0);
		assert_null(strstr(reduced.ptr, "CANARY"));
		struct engine_context context = { 0 };
		flinkjobs_read(STR(JOBS(JOB(ID_A, "RUNNING"))), buf_str(&reduced), &context);
		assert_string_equal(context.job_state, "running");
		assert_int_equal(context.restarts.known, cases[i].has_restarts);
		assert_int_equal(context.restarts.n, cases[i].restarts);
		assert_int_equal(context.checkpointing, cases[i].checkpointing);
	}
}

/* What is known stays. */
static void only_what_is_not_known(void **state)
{
	(void)state;
	struct engine_context context = { .job_state = "failing",
					  .restarts = count_of(9),
					  .checkpointing = TRISTATE_FALSE };
	flinkjobs_read(
		STR(JOBS(JOB(ID_A, "RUNNING"))),
		STR("[{\"id\":\"numRestarts\",\"value\":\"3\"},{\"id\":\"numberOfInProgressCheckpoints\",\"value\":\"1\"}]"),
		&context);
	assert_string_equal(context.job_state, "failing");
	assert_int_equal(context.restarts.n, 9);
	assert_int_equal(context.checkpointing, TRISTATE_FALSE);
}

static void what_is_no_answer(void **state)
{
	static const char *const bad[] = { "", "7", "<html>", "[", "{\"errors\":[\"CANARY\"]}", "{\"jobs\":{}}" };
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		auto_buf struct buf out = { .cap = 4096 };
		struct engine_context context = { 0 };
		char path[FLINKJOBS_PATH_CAP];
		struct err err = { 0 };
		assert_true(flinkjobs_reduce(str_of(bad[i]), &out, &err) < 0);
		assert_true(flinkjobs_metrics_reduce(str_of(bad[i]), &out, &err) < 0);
		assert_int_equal(out.len, 0);
		assert_null(strstr(err.message, "CANARY"));
		flinkjobs_read(str_of(bad[i]), str_of(bad[i]), &context);
		assert_string_equal(context.job_state, "");
		assert_false(flinkjobs_metrics_path(str_of(bad[i]), path));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_job),
		cmocka_unit_test(its_metrics),
		cmocka_unit_test(only_what_is_not_known),
		cmocka_unit_test(what_is_no_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
