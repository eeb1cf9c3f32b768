/* SPDX-License-Identifier: Apache-2.0 */
#include "base/globs.h"

#include "base/glob.h"

int globs_check(struct str patterns, struct err *err)
{
	struct str part;
	struct glob glob;
	bool any = false;
	while (str_split(&patterns, ',', &part)) {
		int rc = glob_parse(str_trim(part), &glob, err);
		if (rc < 0)
			return rc;
		any = true;
	}
	return any ? 0 : err_set(err, ERR_USAGE, "no pattern");
}

bool globs_match(struct str patterns, struct str text)
{
	struct str part;
	struct glob glob;
	struct err ignored;
	while (str_split(&patterns, ',', &part)) {
		part = str_trim(part);
		if (glob_parse(part, &glob, &ignored) == 0 && glob_match(&glob, part.ptr, text))
			return true;
	}
	return false;
}
