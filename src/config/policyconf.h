/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector's configuration sets at its agents, by namespace and workload:
 *
 *     policies:
 *       - namespace: streaming-*     a shell pattern; absent: all
 *         workload: fraud-*
 *         interval: 10s
 *         rules: { freeboard-low: { warning: 15% } }
 *         silences: [ { rule: page-cache-benign, reason: "known", until: 2026-12-31 } ]
 *
 * All that match a subject apply, in the order of the file, a later one over an earlier one.
 */
#ifndef CONFIG_POLICYCONF_H
#define CONFIG_POLICYCONF_H

#include "bankfull/policy.h"
#include "bankfull/subject.h"
#include "config/ruleconf.h"
#include "data/yml.h"

enum { POLICIES_MAX = 32 };

struct policies {
	struct policy_row {
		char namespace_[64], workload[WIRE_NAME_CAP]; /* patterns; "": all */
		struct wire_policy policy;
	} * rows;
	size_t n;
	uint64_t version; /* hash of the whole: changes when anything of it does; 0: no policies */
};

/* Does the key belong to this section? */
bool policyconf_is_key(struct str key);

int policyconf_parse(const struct yml *yml, const char *name, struct policies *ret_policies, struct err *err)
	__attribute__((warn_unused_result));
void policyconf_done(struct policies *policies);

/* What holds for one subject. */
void policies_for(const struct policies *policies, const char *namespace_, const char *workload,
		  struct wire_policy *ret_policy);

/*
 * The agent's side: a policy over the levels and silences that hold without one. What the agent's own file says wins:
 * whoever runs the pod knows it. Rules and levels that this version does not know are left out and counted in
 * `*ret_unknown`; levels that contradict each other refuse the whole (USAGE), and the last good policy stays.
 */
int policy_apply(const struct wire_policy *policy, const struct ruleconf *own, struct wall now,
		 struct ruleconf *ret_conf, size_t *ret_unknown, struct err *err) __attribute__((warn_unused_result));

#endif
