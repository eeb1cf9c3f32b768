/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/silence.h"

#include <string.h>

const struct rule_silence *silence_find(const struct rule_silences *silences, const char *rule, struct wall now)
{
	for (size_t i = 0; silences && i < silences->n; i++)
		if (strcmp(silences->items[i].rule, rule) == 0 && now.ms < silences->items[i].until.ms)
			return &silences->items[i];
	return NULL;
}
