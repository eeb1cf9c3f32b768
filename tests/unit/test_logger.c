/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/logger.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/js.h"

struct fixture {
	int read_fd, write_fd;
	struct logger logger;
};

static void start(struct fixture *f, enum log_level least)
{
	int ends[2];
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	f->read_fd = ends[0];
	f->write_fd = ends[1];
	logger_init(&f->logger, f->write_fd, least);
}

static void end(struct fixture *f)
{
	close(f->read_fd);
	close(f->write_fd);
}

/* All that was written; "" if nothing. */
static const char *said(struct fixture *f, char *text, size_t cap)
{
	ssize_t n = read(f->read_fd, text, cap - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void one_json_object_a_line(void **state)
{
	(void)state;
	struct fixture f;
	char text[LOGGER_LINE_MAX + 1];
	struct err err;
	auto_js struct js *root = NULL;
	struct str value;
	start(&f, SAY_INFO);
	logger_say(&f.logger, SAY_WARNING, "a-thing", "quote \" backslash \\ escape \x1b[31m newline \n %d", 42);
	said(&f, text, sizeof text);
	size_t len = strlen(text);
	assert_int_equal(text[len - 1], '\n');
	assert_null(memchr(text, '\n', len - 1));
	assert_null(strchr(text, 0x1b));
	assert_int_equal(js_parse((struct str){ text, len - 1 }, sizeof text, &root, &err), 0);
	assert_true(js_str(js_get(root, "event"), &value) && str_eq(value, STR("a-thing")));
	assert_true(js_str(js_get(root, "level"), &value) && str_eq(value, STR("warning")));
	assert_true(js_str(js_get(root, "message"), &value) &&
		    str_eq(value, STR("quote \" backslash \\ escape \x1b[31m newline \n 42")));
	assert_true(js_str(js_get(root, "time"), &value));
	assert_int_equal(value.len, strlen("2026-12-31T08:00:00.000Z"));
	end(&f);
}

static void levels_below_the_least_are_not_said(void **state)
{
	(void)state;
	struct fixture f;
	char text[256];
	start(&f, SAY_WARNING);
	logger_say(&f.logger, SAY_INFO, "a-thing", "x");
	assert_string_equal(said(&f, text, sizeof text), "");
	logger_say(NULL, SAY_ERROR, "a-thing", "x");
	end(&f);
}

static void what_repeats_is_counted_not_said(void **state)
{
	(void)state;
	struct fixture f;
	char text[8192];
	start(&f, SAY_INFO);
	for (int i = 0; i < LOGGER_BURST + 7; i++)
		logger_say(&f.logger, SAY_INFO, "often", "x");
	said(&f, text, sizeof text);
	int lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, LOGGER_BURST);
	assert_int_equal(f.logger.suppressed_total, 7);
	logger_say(&f.logger, SAY_INFO, "another", "y");
	assert_non_null(strstr(said(&f, text, sizeof text), "another"));
	/* The window passes: the next one says how many were left out. */
	f.logger.events[0].window_ms -= LOGGER_WINDOW_MS;
	if (f.logger.events[0].window_ms == 0 || f.logger.events[0].window_ms > UINT64_MAX / 2)
		f.logger.events[0].window_ms = 0;
	logger_say(&f.logger, SAY_INFO, "often", "x");
	assert_non_null(strstr(said(&f, text, sizeof text), "\"left_out\":7}"));
	end(&f);
}

static void a_long_message_is_cut_and_stays_json(void **state)
{
	(void)state;
	struct fixture f;
	char text[LOGGER_LINE_MAX + 1], longest[4000];
	struct err err;
	auto_js struct js *root = NULL;
	memset(longest, 1, sizeof longest - 1); /* six bytes each, escaped */
	longest[sizeof longest - 1] = '\0';
	start(&f, SAY_INFO);
	logger_say(&f.logger, SAY_INFO, "long", "%s", longest);
	said(&f, text, sizeof text);
	assert_int_equal(js_parse(str_of(text), sizeof text, &root, &err), 0);
	end(&f);
}

static void a_reader_that_stopped_blocks_nobody(void **state)
{
	(void)state;
	struct fixture f;
	char filler[4096] = { 0 };
	start(&f, SAY_INFO);
	assert_int_equal(fcntl(f.write_fd, F_SETFL, O_NONBLOCK), 0);
	while (write(f.write_fd, filler, sizeof filler) > 0)
		;
	assert_int_equal(fcntl(f.write_fd, F_SETFL, 0), 0); /* a blocking pipe, and full */
	logger_say(&f.logger, SAY_ERROR, "a-thing", "x");
	close(f.read_fd);
	end(&f);
}

static void more_ids_than_rows(void **state)
{
	(void)state;
	static char ids[LOGGER_EVENTS + 8][8];
	struct fixture f;
	char text[256];
	start(&f, SAY_INFO);
	for (int i = 0; i < LOGGER_EVENTS + 8; i++) {
		(void)snprintf(ids[i], sizeof ids[i], "e%d", i);
		logger_say(&f.logger, SAY_INFO, ids[i], "x");
		(void)said(&f, text, sizeof text);
	}
	assert_true(f.logger.suppressed_total > 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_json_object_a_line),
		cmocka_unit_test(levels_below_the_least_are_not_said),
		cmocka_unit_test(what_repeats_is_counted_not_said),
		cmocka_unit_test(a_long_message_is_cut_and_stays_json),
		cmocka_unit_test(a_reader_that_stopped_blocks_nobody),
		cmocka_unit_test(more_ids_than_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
