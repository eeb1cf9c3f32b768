/* SPDX-License-Identifier: Apache-2.0 */
#include "base/typo.h"

#include <stdio.h>

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;
	return ab < c ? ab : c;
}

unsigned typo_slips(struct str a, struct str b)
{
	unsigned row[TYPO_NAME_CAP + 1];
	const unsigned far = TYPO_SLIPS_MAX + 1;
	if (a.len > TYPO_NAME_CAP || b.len > TYPO_NAME_CAP)
		return far;
	for (unsigned j = 0; j <= b.len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			unsigned above = row[j];
			row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a.ptr[i - 1] != b.ptr[j - 1]));
			diagonal = above;
		}
	}
	return row[b.len] < far ? row[b.len] : far;
}

void typo_offer(struct typo *typo, const char *name)
{
	struct str meant = str_of(name);
	unsigned slips = typo_slips(typo->said, meant);
	/* Of a name of three letters two slips leave one: that is no hint. */
	if (slips > TYPO_SLIPS_MAX || 2 * slips >= meant.len || (typo->meant && slips >= typo->slips))
		return;
	typo->meant = name;
	typo->slips = slips;
}

const char *typo_hint(const struct typo *typo, char dest[TYPO_HINT_CAP])
{
	if (typo->meant)
		(void)snprintf(dest, TYPO_HINT_CAP, ": did you mean '%s'?", typo->meant);
	else
		dest[0] = '\0';
	return dest;
}
