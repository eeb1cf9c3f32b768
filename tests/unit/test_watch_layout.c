/* SPDX-License-Identifier: Apache-2.0 */
/* The picture in many sizes, without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "support/watchkit.h"
#include "watch/layout.h"

enum { CAP = 1 << 20 };

static struct screen screen;
static struct story *story;
static struct reading *reading;
static struct history_view history;
static struct view view;
static const char *trouble;
static uint64_t age_ms;

static int set_up(void **state)
{
	(void)state;
	history = (struct history_view){ .span_ms = 3600000,
					 .forecast = { .kind = FORECAST_REACHES,
						       .earliest_s = 3000,
						       .likely_s = 5400,
						       .latest_s = 9000,
						       .owner = OWNER_JAVA_HEAP } };
	struct snapshot *s = watchkit_crowded();
	reading = watchkit_reading(s, &history, 100);
	snap_free(s);
	story = calloc(1, sizeof *story);
	story_feed(story, reading);
	view = (struct view){ 0 };
	trouble = "";
	age_ms = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(reading);
	free(story);
	return 0;
}

/* The text; every row within the screen, every cell a character or the second half of one. */
static char *draw(unsigned columns, unsigned rows, bool utf8)
{
	struct buf out = { .cap = CAP };
	const struct layout_input input = { reading, story, &view, age_ms, trouble };
	/* Whatever stands there from before does not shine through. */
	memset(&screen, 'X', sizeof screen);
	(void)layout_draw(&input, columns, rows, utf8, &screen);
	assert_int_equal(screen.rows, rows < SCREEN_ROWS_MAX ? rows : SCREEN_ROWS_MAX);
	assert_true(screen_text(&screen, &out));
	struct str rest = buf_str(&out), line;
	for (unsigned n = 0; str_line(&rest, &line); n++) {
		if (glyph_columns(line, utf8) > columns)
			fail_msg("%u x %u, row %u is too long: %.*s", columns, rows, n, (int)line.len, line.ptr);
		for (size_t i = 0; i < line.len; i++)
			assert_true((unsigned char)line.ptr[i] >= 0x20 && line.ptr[i] != 0x7f &&
				    (utf8 || (unsigned char)line.ptr[i] < 0x7f));
	}
	return out.ptr;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in\n%s", part, text);
}

static void shows(unsigned columns, unsigned rows, const char *const parts[])
{
	char *text = draw(columns, rows, false);
	for (size_t i = 0; parts[i]; i++)
		has(text, parts[i]);
	free(text);
}

static void what_matters_stands_on_any_terminal(void **state)
{
	(void)state;
	shows(20, 5, (const char *const[]){ "limit in 90 min", "free 2", "java-heap", "q quit", NULL });
	shows(40, 12,
	      (const char *const[]){ "time to limit", "in about 90 min", "freeboard", "limit 1.07 GiB", "floor",
				     "java-heap", "q quit", NULL });
	shows(80, 24,
	      (const char *const[]){ "pid 42", "flink-taskmanager", "do first", "time to limit in about 90 min",
				     "freeboard", "limit 1.07 GiB", "high 1.03 GiB", "[owners]", "findings", "events",
				     "java-heap", "native-other", "BYTES", "MAY HAVE", "MINUTE", "s sort", NULL });
	shows(100, 40, (const char *const[]){ "budget managed", "budget heap", NULL });
	shows(250, 60,
	      (const char *const[]){ "[owners]", "findings", "events", "limit-below-process-size", "NOTE",
				     "watching process 42", "scans", NULL });
	shows(100, 60, (const char *const[]){ "[owners]", "findings", "events", "limit-below-process-size", NULL });
}

/* The golden screen: a person reads the diff. */
static void a_whole_screen(void **state)
{
	(void)state;
	char *text = draw(20, 5, false);
	assert_string_equal(text, "limit in 90 min\n"
				  "free 263.0 MiB\n"
				  "java-heap  400.0 MiB\n"
				  "! limit-below-proces\n"
				  "q quit  larger: more\n");
	free(text);
}

static void every_size(void **state)
{
	(void)state;
	static const unsigned sizes[] = { 1,  2,  3,  5,  10, 11,  12,  19,  20,  24, 39,
					  40, 43, 44, 61, 80, 132, 169, 170, 200, 512 };
	enum { N = sizeof sizes / sizeof sizes[0] };
	for (unsigned help = 0; help < 3; help++)
		for (size_t x = 0; x < N; x++)
			for (size_t y = 0; y < N; y++) {
				view.help = help == 1;
				view.whole = help == 2;
				view.pane = (enum pane)((x + y) % PANE_COUNT);
				view.scroll = (unsigned)(x * y) % 30;
				free(draw(sizes[x], sizes[y], (x + y) % 2));
			}
	free(draw(10000, 10000, true));
}

static void findings_open_whole(void **state)
{
	(void)state;
	view.pane = PANE_FINDINGS;
	char *text = draw(100, 30, false);
	has(text, "1  ");
	has(text, reading->verdict.findings[0].rule);
	free(text);
	view.whole = true;
	text = draw(100, 60, false);
	has(text, "seen");
	has(text, "validate");
	has(text, "evidence");
	free(text);
	view.selected = 40; /* it has cleared meanwhile */
	text = draw(100, 30, false);
	has(text, "no longer found");
	free(text);
}

/* All of a long finding can be scrolled to: what the rows of one page do not show, the next ones do. */
static void a_small_page_scrolls_through_all(void **state)
{
	(void)state;
	view.pane = PANE_FINDINGS;
	view.whole = true;
	const struct layout_input input = { reading, story, &view, age_ms, trouble };
	unsigned lines = layout_draw(&input, 80, 200, false, &screen).lines;
	assert_true(lines > 10);
	size_t found = 0;
	const char *last = reading->verdict.findings[0].evidence[reading->verdict.findings[0].n_evidence - 1].name;
	for (view.scroll = 0; view.scroll < lines; view.scroll++) {
		char *text = draw(80, 14, false);
		found += strstr(text, last) != NULL;
		free(text);
	}
	assert_true(found > 0);
}

/* Scrolled as far as it goes, a pane shows its last line, whatever stands above it and beside it. */
static void the_last_page_ends_with_the_last_line(void **state)
{
	(void)state;
	static const struct {
		unsigned columns, rows;
	} sizes[] = { { 44, 24 }, { 80, 24 }, { 100, 30 }, { 100, 44 }, { 100, 60 }, { 200, 24 }, { 250, 50 } };
	static const char *const last[PANE_COUNT] = {
		[PANE_OWNERS] = "stalling", [PANE_EVENTS] = "watching process 42"
	};
	reading->skipped = BUDGET_PRESSURE;
	for (int i = 0; i < STORY_EVENTS_MAX - 10; i++)
		story_tell(story, reading->at, SEVERITY_NONE, "event %d", i);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (unsigned pane = 0; pane < PANE_COUNT; pane += PANE_EVENTS) {
			view = (struct view){ .pane = (enum pane)pane };
			const struct layout_input input = { reading, story, &view, age_ms, trouble };
			struct layout_extent extent =
				layout_draw(&input, sizes[i].columns, sizes[i].rows, false, &screen);
			assert_true(extent.page > 0);
			view.scroll = extent.lines > extent.page ? extent.lines - extent.page : 0;
			char *text = draw(sizes[i].columns, sizes[i].rows, false);
			has(text, last[pane]);
			free(text);
		}
}

/* One line further, each line stands a row higher, also those of a text that began above. Returns how often it could go. */
static unsigned moves_by_one(unsigned columns, unsigned rows, unsigned fixed)
{
	static struct screen before;
	const struct layout_input input = { reading, story, &view, age_ms, trouble };
	struct layout_extent extent = layout_draw(&input, columns, rows, false, &screen);
	unsigned top = rows - 1 - extent.page, times = 0;
	for (view.scroll = 1; view.scroll + extent.page <= extent.lines; view.scroll++, times++) {
		before = screen;
		free(draw(columns, rows, false));
		for (unsigned y = top + fixed; y + 2 < rows; y++)
			if (memcmp(screen.cells[y], before.cells[y + 1], columns * sizeof(struct cell)) != 0)
				fail_msg("%u x %u: row %u after %u lines", columns, rows, y, view.scroll);
	}
	return times;
}

static void scrolling_moves_each_line(void **state)
{
	(void)state;
	static const struct {
		struct view view;
		unsigned fixed; /* rows that stay: the heads of columns */
	} cases[] = { { { .help = true }, 0 },
		      { { .pane = PANE_FINDINGS, .whole = true }, 0 },
		      { { .pane = PANE_OWNERS }, 1 },
		      { { .pane = PANE_EVENTS }, 0 } };
	reading->skipped = BUDGET_PRESSURE;
	for (int i = 0; i < 40; i++)
		story_tell(story, reading->at, SEVERITY_NONE, "event %d", i);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (unsigned columns = 40; columns < 160; columns += 7) {
			view = cases[i].view;
			assert_true(moves_by_one(columns, 18, cases[i].fixed) > 0 || columns > 100);
		}
}

static void trouble_and_age_are_told(void **state)
{
	(void)state;
	trouble = "no reading for 12 s: the reader waits";
	age_ms = 12000;
	char *text = draw(80, 24, false);
	has(text, "no reading for 12 s");
	has(text, "STALE 12 s");
	free(text);
	text = draw(20, 5, false);
	has(text, "no reading for 12 s");
	free(text);
	trouble = "";
	view.paused = true;
	text = draw(80, 24, false);
	has(text, "PAUSED 12 s");
	free(text);
}

static void nothing_is_read_yet(void **state)
{
	(void)state;
	free(reading);
	reading = NULL;
	for (unsigned pane = 0; pane < PANE_COUNT; pane++) {
		view.pane = (enum pane)pane;
		char *text = draw(80, 24, false);
		has(text, "the first reading is being made");
		free(text);
		free(draw(20, 5, true));
	}
}

static void no_target(void **state)
{
	(void)state;
	free(reading);
	reading = watchkit_reading(NULL, NULL, 200);
	story_feed(story, reading);
	view.pane = PANE_EVENTS;
	char *text = draw(80, 24, false);
	has(text, "another one is awaited");
	has(text, "process 42 has ended");
	assert_null(strstr(text, "java-heap "));
	free(text);
	view.whole = true;
	view.pane = PANE_FINDINGS;
	free(draw(80, 24, false));
}

/* Nor what the kernel takes back before it kills. */
static void the_largest_is_not_cache(void **state)
{
	(void)state;
	static const enum owner taken_back[] = { OWNER_MAPPED_FILES, OWNER_PAGE_CACHE, OWNER_SLAB_RECLAIMABLE,
						 OWNER_THP_UNMAPPED };
	for (size_t i = 0; i < sizeof taken_back / sizeof taken_back[0]; i++) {
		reading->ledger.listed[taken_back[i]] = true;
		reading->ledger.lines[taken_back[i]].bytes = qty_measured(10 * GIB);
		assert_int_equal(reading_largest(reading), OWNER_JAVA_HEAP);
	}
}

/* Unread is said so, and is no figure. */
static void unread_is_not_zero(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	snap_no_cgroup(s);
	free(reading);
	reading = watchkit_reading(s, NULL, 300);
	snap_free(s);
	char *text = draw(100, 30, false);
	has(text, "limit unread");
	has(text, "charged unread");
	has(text, "no limit is known");
	assert_null(strstr(text, " 0 B"));
	free(text);
}

static void hostile_names(void **state)
{
	(void)state;
	static char name[64] = "\033]0;x\007\xe2\x80\xae\xe6\x8a\xa5\xff\n\xf0\x9f\x98\x80";
	str_copy(reading->jobs[0], sizeof reading->jobs[0], str_of(name));
	reading->n_jobs = 1;
	str_copy(reading->version, sizeof reading->version,
		 STR("\x9b"
		     "31m"));
	memset(reading->verdict.findings[0].title, '\xe6', sizeof reading->verdict.findings[0].title - 1);
	memset(reading->verdict.headline, '\033', sizeof reading->verdict.headline - 1);
	memset(reading->waiting, '\b', sizeof reading->waiting - 1);
	for (unsigned columns = 20; columns < 260; columns += 9)
		for (unsigned rows = 5; rows < 70; rows += 13) {
			free(draw(columns, rows, true));
			free(draw(columns, rows, false));
		}
}

static void owners_are_sorted(void **state)
{
	(void)state;
	char *text = draw(100, 40, false);
	const char *heap = strstr(text, "java-heap  "), *stacks = strstr(text, "thread-stacks  ");
	assert_true(heap && stacks && heap < stacks);
	free(text);
	view.sort = SORT_NAME;
	text = draw(100, 40, false);
	const char *code = strstr(text, "code-cache  ");
	heap = strstr(text, "java-heap  ");
	assert_true(code && heap && code < heap);
	has(text, "by name");
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_matters_stands_on_any_terminal),
		TEST(a_whole_screen),
		TEST(every_size),
		TEST(findings_open_whole),
		TEST(a_small_page_scrolls_through_all),
		TEST(the_last_page_ends_with_the_last_line),
		TEST(scrolling_moves_each_line),
		TEST(trouble_and_age_are_told),
		TEST(nothing_is_read_yet),
		TEST(no_target),
		TEST(the_largest_is_not_cache),
		TEST(unread_is_not_zero),
		TEST(hostile_names),
		TEST(owners_are_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
