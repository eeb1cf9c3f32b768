/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/pages.h"

#include <string.h>

const struct page *page_find(const char *rule)
{
	for (size_t i = 0; i < page_count; i++)
		if (strcmp(page_table[i].name, rule) == 0)
			return &page_table[i];
	return NULL;
}
