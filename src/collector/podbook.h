/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pods there are, by what Kubernetes' API server tells (`--kube-pods`): who has a UID, on which node it runs. In
 * memory alone, and only of the namespaces that are watched. PURE: kube_pods.h fills it.
 *
 * Who is not in it is not known: it may be of another namespace, too new, or long gone. A pod that was deleted stays for
 * PODBOOK_GONE_MS, since agents speak of it a little longer.
 */
#ifndef COLLECTOR_PODBOOK_H
#define COLLECTOR_PODBOOK_H

#include "collector/pod_seen.h"

enum { PODBOOK_MAX = 50000, PODBOOK_GONE_MS = 600000 };

struct podbook;

int podbook_new(struct podbook **ret_book, struct err *err) __attribute__((warn_unused_result));
void podbook_free(struct podbook *book); /* NULL is fine */

/*
 * A pod is there, or (`gone`) was until now. `stream` is who tells so: below 32. False: there is no room, or no memory; it
 * stays unknown.
 */
bool podbook_take(struct podbook *book, unsigned stream, const struct pod_seen *pod, bool gone, struct mono now);
/*
 * What one watch tells begins anew; once it has told all that there is (podbook_settled()), whom it did not name since
 * is gone.
 */
void podbook_begin(struct podbook *book, unsigned stream);
void podbook_settled(struct podbook *book, unsigned stream, struct mono now);
/* Forgets those that have been gone for long enough. */
void podbook_expire(struct podbook *book, struct mono now);
/* Goes up when a pod comes, or is said to be elsewhere or to have another name. */
uint64_t podbook_version(const struct podbook *book);
size_t podbook_count(const struct podbook *book); /* that are not gone */

enum podbook_answer { PODBOOK_UNKNOWN = 0, PODBOOK_YES, PODBOOK_NO };

/*
 * Does the pod of this UID run on this node? UNKNOWN where the book does not have the pod, or no node of it yet. `book`
 * NULL: pods are not watched, nothing is known.
 */
enum podbook_answer podbook_on_node(const struct podbook *book, const char *pod_uid, const char *node);
/* Is the pod of this UID the one of this namespace and name? */
enum podbook_answer podbook_is(const struct podbook *book, const char *pod_uid, const char *namespace_,
			       const char *name);

#endif
