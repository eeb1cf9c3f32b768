/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "watch/term_parts.h"

static const char *find(const char *capability)
{
	const char *text = tigetstr(capability);
	return text == (const char *)-1 ? NULL : text;
}

int term_look_up(struct err *err)
{
	const char *name = getenv("TERM");
	int status = 0;
	if (!name || !name[0])
		return err_set(err, ERR_UNSUPPORTED, "TERM is not set");
	if (setupterm(name, STDOUT_FILENO, &status) != OK)
		return err_set(err, ERR_UNSUPPORTED, "TERM=%.40s is not known here", name);
	bool able = find("cup") && find("clear");
	(void)del_curterm(cur_term);
	return able ? 0 : err_set(err, ERR_UNSUPPORTED, "TERM=%.40s cannot move its cursor", name);
}

size_t term_way_back(char *dest, size_t cap)
{
	static const char *const names[] = { "sgr0", "rmkx", "rmcup", "cnorm" };
	size_t used = 0;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *text = find(names[i]);
		/* Delays ("$<2>") are for terminals of the seventies: what stands before one is all that is sent. */
		size_t len = text ? strcspn(text, "$") : 0;
		if (len > cap - used)
			continue;
		memcpy(dest + used, text ? text : "", len);
		used += len;
	}
	return used;
}
