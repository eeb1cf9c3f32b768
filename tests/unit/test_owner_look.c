/* SPDX-License-Identifier: Apache-2.0 */
/* One look an owner: what pictures draw is what the dashboard draws in its light theme. */
#include "cli/owner_look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sys/file.h"

enum { CAP = 256 * 1024 };

static struct buf text_of(const char *path)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	if (file_read_at(AT_FDCWD, path, CAP, &text, &err) < 0)
		fail_msg("%s: run in the source's directory", err.message);
	return text;
}

static void colours_are_those_of_the_light_theme(void **state)
{
	(void)state;
	auto_buf struct buf sheet = text_of("src/collector/web/app.css");
	char *end = strstr(sheet.ptr, "\n}"); /* the first block is the light theme */
	assert_non_null(end);
	*end = '\0';
	for (int owner = 0; owner <= OWNER_COUNT; owner++) {
		char line[96];
		const char *name = owner < OWNER_COUNT ? owner_table[owner].name : "residual";
		const struct owner_look *look = owner < OWNER_COUNT ? &owner_looks[owner] : &owner_look_residual;
		(void)snprintf(line, sizeof line, "\t--owner-%s: %s;", name, look->fill);
		if (!strstr(sheet.ptr, line))
			fail_msg("app.css has no line '%s'", line);
	}
}

/* The character after `name` in HATCHES, 0 for none. */
static char hatch_in(const char *script, const char *name)
{
	char key[64];
	(void)snprintf(key, sizeof key, "'%s': '", name);
	const char *at = strstr(script, key);
	if (!at && !strchr(name, '-')) {
		(void)snprintf(key, sizeof key, " %s: '", name);
		at = strstr(script, key);
	}
	if (!at)
		return 0;
	return at[strlen(key)];
}

static void hatches_are_those_of_the_dashboard(void **state)
{
	(void)state;
	static const char characters[HATCH_COUNT] = { 0, '/', '\\', 'x', '-', '.', '?' };
	auto_buf struct buf script = text_of("src/collector/web/owners.js");
	char *from = strstr(script.ptr, "const HATCHES = {"), *end = from ? strstr(from, "};") : NULL;
	assert_non_null(end);
	*end = '\0';
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		char theirs = hatch_in(from, owner_table[owner].name), ours = characters[owner_looks[owner].hatch];
		if (theirs != ours)
			fail_msg("%s: '%c' in owners.js, '%c' here", owner_table[owner].name, theirs, ours);
	}
	assert_int_equal(hatch_in(from, "gc"), '\\'); /* it is found at all */
}

/* Two that look alike are not told apart on paper or on a screen. */
static void no_two_owners_look_alike(void **state)
{
	(void)state;
	for (int a = 0; a < OWNER_COUNT; a++)
		for (int b = 0; b < a; b++)
			if (strcmp(owner_looks[a].fill, owner_looks[b].fill) == 0 &&
			    owner_looks[a].hatch == owner_looks[b].hatch)
				fail_msg("%s and %s", owner_table[a].name, owner_table[b].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_are_those_of_the_light_theme),
		cmocka_unit_test(hatches_are_those_of_the_dashboard),
		cmocka_unit_test(no_two_owners_look_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
