/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which service accounts may be agents: "NAMESPACE[/SERVICEACCOUNT],...", where each half may be a pattern of base/glob.h
 * and a namespace alone means all of its accounts. PURE. No rules at all allow everybody: the reviewed token of any pod
 * of the cluster is an agent then.
 */
#ifndef COLLECTOR_ALLOW_H
#define COLLECTOR_ALLOW_H

#include "bankfull/subject.h"
#include "base/glob.h"

enum { ALLOW_RULES_MAX = 64, ALLOW_NAMESPACE_CAP = 64 };

struct allow_rule {
	char namespace_[ALLOW_NAMESPACE_CAP], account[WIRE_NAME_CAP]; /* the latter "": any */
	struct glob namespace_glob, account_glob;
};

struct allow {
	struct allow_rule *rules;
	size_t n;
};

/* NULL: no rules. USAGE names the part that is none. */
int allow_parse(const char *text, struct allow *ret_allow, struct err *err) __attribute__((warn_unused_result));
void allow_done(struct allow *allow);

bool allow_has(const struct allow *allow, const char *namespace_, const char *account);

#endif
