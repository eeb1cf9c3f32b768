/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One copy of each string, counted: ten thousand pods share a few hundred names of namespaces, workloads and nodes, and
 * a name that nobody uses any more costs nothing. Two interned strings are equal when their addresses are.
 */
#ifndef COLLECTOR_INTERN_H
#define COLLECTOR_INTERN_H

#include "base/str.h"

struct intern {
	struct intern_entry **buckets;
	size_t n_buckets, n; /* a power of two, or 0 */
};

void intern_done(struct intern *intern); /* whoever holds a string of it holds nothing from here on */

/* The one copy of `text`; give it back with intern_drop(). NULL: no memory. */
const char *intern_take(struct intern *intern, const char *text);
void intern_drop(struct intern *intern, const char *taken); /* NULL is fine */

#endif
