/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of docs/rules/, which the program carries (build/<variant>/pages.c, made of them by tools/embed-pages), and
 * their Markdown laid out for reading.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/paint.h"

struct page {
	const char *name; /* of the rule */
	const char *text; /* Markdown */
};

extern const struct page page_table[];
extern const size_t page_count;

/* The page of this rule, or NULL. */
const struct page *page_find(const char *rule);

/*
 * Lays out what our pages use: headings, paragraphs, lists, tables, fenced and indented code, emphasis, links. Marks go,
 * `code` keeps its own; a link is its text, and its address where that is of the web. Lines hold at most p->columns.
 */
void page_render(struct paint *p, struct str markdown);

#endif
