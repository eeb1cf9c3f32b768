/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of docs/rules/, which each program carries: build/<variant>/pages.c, made of them by tools/embed-pages. */
#ifndef RULES_PAGES_H
#define RULES_PAGES_H

#include <stddef.h>

struct page {
	const char *name; /* of the rule */
	const char *text; /* Markdown */
};

extern const struct page page_table[];
extern const size_t page_count;

/* The page of this rule, or NULL. */
const struct page *page_find(const char *rule);

#endif
