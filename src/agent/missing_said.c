/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/missing_said.h"

#include <string.h>

bool missing_said_step(struct missing_said *said, const struct finding *finding)
{
	/* The observation begins with the gravest input's name: rules/access.c. */
	const char *text = finding ? finding->observation : "";
	const char *colon = strstr(text, ": ");
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	if (len >= sizeof(said->what))
		len = sizeof(said->what) - 1;
	if (said->times == MISSING_SAID_MAX ||
	    (said->times > 0 && strlen(said->what) == len && memcmp(said->what, text, len) == 0))
		return false;
	memcpy(said->what, text, len);
	said->what[len] = '\0';
	said->times++;
	return true;
}
