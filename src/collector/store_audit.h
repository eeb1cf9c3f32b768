/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who did what, when and from where: one line a deed, in the store, for operators. What was tried and refused belongs
 * into the log: nobody without credentials may push the lines of those who have them out.
 */
#ifndef COLLECTOR_STORE_AUDIT_H
#define COLLECTOR_STORE_AUDIT_H

#include "collector/store.h"

enum { AUDIT_KEPT_MAX = 20000 }; /* some 20 MiB: a deed a minute for two weeks, for as many people as do them */

struct audit_entry {
	struct wall at;
	const char *who, *peer;
	const char *what;         /* "silence-create", "silence-end", "login", "logout" */
	const char *namespace_;   /* operators of other namespaces do not see it; "": only those of all see it */
	struct str before, after; /* JSON; empty: there was nothing, or nothing is left */
};

/* Within a batch of the caller's own (store_begin()). */
int store_audit_put(struct store *store, const struct audit_entry *entry, struct err *err)
	__attribute__((warn_unused_result));
/*
 * A batch of its own (ingest_flush() first), unless this peer did this under this name within `within_ms`: whoever may do it a thousand times must not push
 * out what others did.
 */
int store_audit_once(struct store *store, const struct audit_entry *entry, int64_t within_ms, struct err *err)
	__attribute__((warn_unused_result));

/* Rows below `below_row` (0: all), newest first; `entry` is valid during the call; false stops. */
typedef bool store_audit_fn(void *context, int64_t row, const struct audit_entry *entry);
int store_each_audit(struct store *store, int64_t below_row, size_t most, store_audit_fn *fn, void *context,
		     struct err *err) __attribute__((warn_unused_result));

#endif
