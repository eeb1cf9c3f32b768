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

/* A sentence starts with a capital; a name such as memory.max or -Xmx stays as it is written. */
static void capitalise(char *sentence)
{
	size_t word = strcspn(sentence, " ");
	for (size_t i = 0; i < word; i++)
		if (!((sentence[i] >= 'a' && sentence[i] <= 'z') || (sentence[i] == ',' && i + 1 == word)))
			return;
	if (word)
		sentence[0] = (char)(sentence[0] - 'a' + 'A');
}

static void act(const struct rule_input *input, struct verdict *verdict, const char *room)
{
	const struct finding *first = &verdict->findings[0];
	char owner[64];
	const struct finding *kill = rules_finding(verdict, "oom-kill");
	if (!tells_of_room(verdict))
		(void)snprintf(verdict->headline, sizeof verdict->headline, "%s; %s%s.", first->title,
			       kill && kill != first ? "the kernel has killed a process here already; " : "", room);
	else if (first->owner >= 0)
		(void)snprintf(verdict->headline, sizeof verdict->headline, "%s; to blame first: %s.", first->title,
			       owner_text(owner, input->ledger, first->owner));
	else
		(void)snprintf(verdict->headline, sizeof verdict->headline, "%s.", first->title);
}

/* Silence is not peace: what would have been told is at least counted. */
static void say_silenced(struct verdict *verdict)
{
	size_t used = strlen(verdict->headline);
	if (verdict->n_silenced == 1)
		(void)snprintf(verdict->headline + used, sizeof verdict->headline - used, " Silenced: %s.",
			       verdict->silenced[0].rule);
	else if (verdict->n_silenced)
		(void)snprintf(verdict->headline + used, sizeof verdict->headline - used, " Silenced: %s and %zu more.",
			       verdict->silenced[0].rule, verdict->n_silenced - 1);
}

/* What makes dashboards turn red is named even where something else is worth knowing. */
static void full_of_cache(struct verdict *verdict, const struct finding *benign, const char *room)
{
	char title[sizeof benign->title];
	memcpy(title, benign->title, sizeof title);
	(void)snprintf(verdict->headline, sizeof verdict->headline, "nothing %s: %s; %s.",
		       verdict->worst == SEVERITY_NOTICE ? "urgent" : "to do", title, room);
}

void headline_write(const struct rule_input *input, struct verdict *verdict)
{
	char room[160], owner[64];
	room_clause(room, sizeof room, input);
	int largest = largest_owner(input->ledger);
	const struct finding *benign = rules_finding(verdict, "page-cache-benign");
	if (verdict->worst >= SEVERITY_WARNING)
		act(input, verdict, room);
	else if (benign)
		full_of_cache(verdict, benign, room);
	else if (verdict->worst == SEVERITY_NOTICE)
		(void)snprintf(verdict->headline, sizeof verdict->headline,
			       "nothing urgent: %s%s%s; worth knowing: %s.", room,
			       largest >= 0 ? "; the largest owner is " : "",
			       largest >= 0 ? owner_text(owner, input->ledger, largest) : "",
			       verdict->findings[0].title);
	else if (largest >= 0)
		(void)snprintf(verdict->headline, sizeof verdict->headline,
			       "nothing to do: %s; the largest owner is %s.", room,
			       owner_text(owner, input->ledger, largest));
	else
		(void)snprintf(verdict->headline, sizeof verdict->headline, "no composition could be read; %s.", room);
	capitalise(verdict->headline);
	say_silenced(verdict);
}
