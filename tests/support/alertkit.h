/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of alerts need: a configuration from its text, groups without a fleet, and a receiver that is told. For cmocka. */
#ifndef BANKFULL_TESTS_ALERTKIT_H
#define BANKFULL_TESTS_ALERTKIT_H

#include "collector/alert_book.h"

/* "alerts:\n" and two receivers, am (Alertmanager) and hook (a webhook), go before `text`. */
struct alertconf *alertkit_conf(const char *text);
/* Pods "p-0" to "p-<n-1>" of default/ns/`workload`. */
struct alert_group alertkit_group(const char *workload, const char *rule, enum severity severity, unsigned n);
struct mono alertkit_mono(int64_t ms);
struct wall alertkit_wall(int64_t ms);

/* As a step does, without a store: rows from `*row` on, what is due is begun, nothing is unsaved any more. */
void alertkit_save(struct alert_book *book, int64_t now_ms, int64_t *row);
/* Tells one receiver what is due, each with success; a line each: "firing WORKLOAD RULE SEVERITY". Beats are left out. */
size_t alertkit_tell(struct alert_book *book, unsigned receiver, int64_t now_ms, char *lines, size_t cap);

enum { ALERTKIT_AM = 0, ALERTKIT_HOOK };

#endif
