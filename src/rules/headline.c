/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/headline.h"

#include <stdio.h>
#include <string.h>

#include "rules/judged.h"
#include "rules/text.h"

/* "; the container can grow 610 MiB more before the kernel kills it", or what is known of it. */
static void room_clause(char *dest, size_t cap, const struct rule_input *input)
{
	const struct ledger *ledger = input->ledger;
	struct judged_limit limit;
	char size[UNITS_TEXT_CAP];
	int64_t left = ledger->freeboard_bytes.bytes;
	dest[0] = '\0';
	if (!judged_freeboard(input, &limit))
		(void)snprintf(dest, cap, "no limit is known, so neither is the room");
	else if (!ledger->freeboard_bytes.known)
		(void)snprintf(dest, cap, "the room below the limit of %s could not be read",
			       units_format(size, limit.bytes));
	else if (left < 0)
		(void)snprintf(dest, cap, "the %s is %s past its limit", limit.is_pod ? "pod" : "container",
			       units_format(size, (uint64_t)0 - (uint64_t)left));
	else
		(void)snprintf(dest, cap, "the %s can grow %s%s more before the kernel kills it",
			       limit.is_pod ? "pod" : "container",
			       ledger->freeboard_level == FREEBOARD_PROCESSES ? "at most " : "",
			       units_format(size, (uint64_t)left));
}

static bool tells_of_room(const struct verdict *verdict)
{
	return strcmp(verdict->findings[0].rule, "freeboard-low") == 0;
}

void headline_write(const struct rule_input *input, struct verdict *verdict)
{
	char room[160], owner[64];
	room_clause(room, sizeof room, input);
	if (verdict->worst >= SEVERITY_NOTICE) {
		const char *title = verdict->findings[0].title;
		if (tells_of_room(verdict)) {
			int at = verdict->findings[0].owner;
			(void)snprintf(verdict->headline, sizeof verdict->headline, "%s%s%s.", title,
				       at >= 0 ? "; to blame first: " : "",
				       at >= 0 ? owner_text(owner, input->ledger, at) : "");
		} else {
			(void)snprintf(verdict->headline, sizeof verdict->headline, "%s; %s.", title, room);
		}
		return;
	}
	int largest = largest_owner(input->ledger);
	if (largest >= 0)
		(void)snprintf(verdict->headline, sizeof verdict->headline,
			       "Nothing to do: %s; the largest owner is %s.", room,
			       owner_text(owner, input->ledger, largest));
	else
		(void)snprintf(verdict->headline, sizeof verdict->headline, "No composition could be read; %s.", room);
}
