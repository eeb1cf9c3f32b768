/* SPDX-License-Identifier: Apache-2.0 */
/* The Markdown of our pages (rules/pages.h) laid out for reading at a terminal. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/paint.h"

/*
 * Lays out what our pages use: headings, paragraphs, lists, tables, fenced and indented code, emphasis, links. Marks go,
 * `code` keeps its own; a link is its text, and its address where that is of the web. Lines hold at most p->columns.
 */
void page_render(struct paint *p, struct str markdown);

#endif
