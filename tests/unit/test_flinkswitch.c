/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engine/flinkrest.h"
#include "engine/flinkswitch.h"
#include "support/tight.h"

#define TM "java\0org.apache.flink.runtime.taskexecutor.TaskManagerRunner\0"

static struct engine_notes notes;

/* The switches of a command line, and of a legacy configuration if one is given. */
static struct engine_state read_all(struct str cmdline, const char *conf_text, enum state_backend backend)
{
	auto_flinkconf struct flinkconf conf = { 0 };
	struct engine_state state = { .kind = ENGINE_FLINK_TASKMANAGER, .backend = backend };
	memset(&notes, 0, sizeof notes);
	if (conf_text)
		assert_int_equal(flinkconf_parse(str_of(conf_text), FLINKCONF_LEGACY, "f", &conf, NULL), 0);
	struct str tight = tight_of(cmdline);
	flink_switches_read(tight, STR(""), conf_text ? &conf : NULL, &state, &notes);
	tight_free(tight);
	return state;
}

static struct engine_state read_conf(const char *conf_text)
{
	return read_all(STR(TM), conf_text, BACKEND_ROCKSDB);
}

static const struct setting *setting(const char *key)
{
	for (size_t i = 0; i < notes.n_settings; i++)
		if (strcmp(notes.settings[i].key, key) == 0)
			return &notes.settings[i];
	return NULL;
}

static void defaults_need_a_configuration(void **state)
{
	(void)state;
	struct engine_state s = read_conf(NULL);
	assert_false(qty_known(s.write_buffer_bytes));
	assert_int_equal(s.tickers, TRISTATE_UNREAD);
	assert_int_equal(s.manual_compaction, TRISTATE_UNREAD);
	assert_int_equal(s.batch, TRISTATE_UNREAD);
	assert_int_equal(s.python, TRISTATE_UNREAD);
	s = read_conf("");
	assert_int_equal(s.write_buffer_bytes.bytes, 64 << 20);
	assert_int_equal(s.write_buffer_bytes.state, QTY_INFERRED);
	assert_int_equal(s.tickers, TRISTATE_FALSE);
	assert_int_equal(s.manual_compaction, TRISTATE_FALSE);
	assert_int_equal(s.batch, TRISTATE_FALSE);
	assert_int_equal(s.python, TRISTATE_FALSE);
	assert_int_equal(notes.n + notes.n_settings, 0);
}

static void values(void **state)
{
	(void)state;
	struct engine_state s = read_conf("state.backend.rocksdb.writebuffer.size: 32 mb\n"
					  "state.backend.rocksdb.manual-compaction.min-interval: 1 min\n"
					  "execution.runtime-mode: batch\n"
					  "state.backend.rocksdb.metrics.bytes-read: true\n"
					  "state.backend.rocksdb.metrics.stall-micros: false\n"
					  "python.executable: /opt/secret\n");
	assert_int_equal(s.write_buffer_bytes.bytes, 32 << 20);
	assert_int_equal(s.write_buffer_bytes.state, QTY_MEASURED);
	assert_int_equal(s.manual_compaction, TRISTATE_TRUE);
	assert_int_equal(s.batch, TRISTATE_TRUE);
	assert_int_equal(s.tickers, TRISTATE_TRUE);
	assert_int_equal(s.python, TRISTATE_TRUE);
	assert_string_equal(setting("state.backend.rocksdb.metrics.bytes-read")->where, "f:4");
	assert_string_equal(setting("execution.runtime-mode")->value, "batch");
	assert_null(setting("state.backend.rocksdb.metrics.stall-micros"));
	assert_null(setting("python.executable"));
	static const struct {
		const char *text;
		enum tristate manual, batch;
	} cases[] = {
		{ "state.backend.rocksdb.manual-compaction.min-interval: 0 ms\n", TRISTATE_FALSE, TRISTATE_FALSE },
		{ "state.backend.rocksdb.manual-compaction.min-interval: soon\n", TRISTATE_UNREAD, TRISTATE_FALSE },
		{ "execution.runtime-mode: STREAMING\n", TRISTATE_FALSE, TRISTATE_FALSE },
		{ "execution.runtime-mode: AUTOMATIC\n", TRISTATE_FALSE, TRISTATE_UNREAD },
		{ "execution.runtime-mode: batches\n", TRISTATE_FALSE, TRISTATE_UNREAD },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s = read_conf(cases[i].text);
		if (s.manual_compaction != cases[i].manual || s.batch != cases[i].batch)
			fail_msg("%s", cases[i].text);
	}
	s = read_conf("state.backend.rocksdb.writebuffer.size: 99999999999999999999\n");
	assert_false(qty_known(s.write_buffer_bytes));
	assert_int_equal(notes.n, 1);
}

/* Set to what was taken out is not the default. */
static void hidden_is_unread(void **state)
{
	(void)state;
	struct engine_state s = read_conf("state.backend.rocksdb.writebuffer.size: <redacted>\n"
					  "state.backend.rocksdb.manual-compaction.min-interval: <redacted>\n"
					  "execution.runtime-mode: <redacted>\n"
					  "state.backend.rocksdb.metrics.bytes-read: <redacted>\n");
	assert_false(qty_known(s.write_buffer_bytes));
	assert_int_equal(s.manual_compaction, TRISTATE_UNREAD);
	assert_int_equal(s.batch, TRISTATE_UNREAD);
	assert_int_equal(s.tickers, TRISTATE_UNREAD);
	s = read_conf("state.backend.rocksdb.metrics.bytes-read: <redacted>\n"
		      "state.backend.rocksdb.metrics.block-cache-hit: true\n"
		      "state.backend.rocksdb.metrics.stall-micros: <redacted>\n");
	assert_int_equal(s.tickers, TRISTATE_TRUE);
}

static void the_command_line_goes_first(void **state)
{
	(void)state;
	struct engine_state s =
		read_all(STR(TM "-D\0state.backend.rocksdb.metrics.block-cache-hit=true\0"
				"-Dstate.backend.rocksdb.writebuffer.size=1mb\0-D\0python.files=<redacted>\0"),
			 NULL, BACKEND_ROCKSDB);
	assert_int_equal(s.tickers, TRISTATE_TRUE);
	assert_int_equal(s.python, TRISTATE_TRUE);
	assert_int_equal(s.batch, TRISTATE_UNREAD);
	assert_int_equal(s.write_buffer_bytes.bytes, 1 << 20);
	s = read_all(STR(TM "-D\0state.backend.rocksdb.metrics.block-cache-hit=false\0"),
		     "state.backend.rocksdb.metrics.block-cache-hit: true\n", BACKEND_ROCKSDB);
	assert_int_equal(s.tickers, TRISTATE_FALSE);
	/* ForSt has switches of its own. */
	s = read_all(STR(TM),
		     "state.backend.rocksdb.metrics.bytes-read: true\nstate.backend.forst.writebuffer.size: 8mb\n",
		     BACKEND_FORST);
	assert_int_equal(s.tickers, TRISTATE_FALSE);
	assert_int_equal(s.write_buffer_bytes.bytes, 8 << 20);
}

static void python_shows(void **state)
{
	(void)state;
	struct engine_state s =
		read_all(STR("java\0-cp\0flink-dist-1.20.4.jar:flink-python-1.20.4.jar\0x.TaskManagerRunner\0"), "",
			 BACKEND_UNKNOWN);
	assert_int_equal(s.python, TRISTATE_TRUE);
	struct engine_state mapped = { .kind = ENGINE_FLINK_TASKMANAGER };
	flink_switches_read(STR(TM), STR("/usr/lib/libpython3.11.so.1.0\n"), NULL, &mapped, NULL);
	assert_int_equal(mapped.python, TRISTATE_TRUE);
	flink_switches_read(STR(""), STR("/usr/lib/libjvm.so\n"), NULL, &mapped, NULL);
	assert_int_equal(mapped.python, TRISTATE_UNREAD);
}

/* The process's own file first; what it has not, the JobManager's. */
static void two_configurations(void **state)
{
	(void)state;
	auto_flinkconf struct flinkconf own = { 0 }, jm = { 0 };
	auto_buf struct buf text = { .cap = 4096 };
	struct engine_state s = { .kind = ENGINE_FLINK_TASKMANAGER };
	assert_int_equal(flinkrest_config_reduce(
				 STR("[{\"key\":\"state.backend.rocksdb.metrics.bytes-read\",\"value\":\"true\"},"
				     "{\"key\":\"execution.runtime-mode\",\"value\":\"BATCH\"}]"),
				 &text, NULL),
			 0);
	assert_int_equal(flinkrest_config_parse(buf_str(&text), &jm, NULL), 0);
	assert_int_equal(flinkconf_parse(STR("execution.runtime-mode: STREAMING\n"), FLINKCONF_LEGACY, "f", &own, NULL),
			 0);
	own.below = &jm;
	memset(&notes, 0, sizeof notes);
	flink_switches_read(STR(TM), STR(""), &own, &s, &notes);
	assert_int_equal(s.batch, TRISTATE_FALSE);
	assert_int_equal(s.tickers, TRISTATE_TRUE);
	assert_string_equal(setting("execution.runtime-mode")->where, "f:1");
	assert_string_equal(setting("state.backend.rocksdb.metrics.bytes-read")->where, "REST /jobmanager/config");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_need_a_configuration),
		cmocka_unit_test(values),
		cmocka_unit_test(hidden_is_unread),
		cmocka_unit_test(the_command_line_goes_first),
		cmocka_unit_test(python_shows),
		cmocka_unit_test(two_configurations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
