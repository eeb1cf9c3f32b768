/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/node_agent.h"

#include <stdio.h>

#include "base/esc.h"
#include "base/str.h"

int node_agents_check(const char *list, struct err *err)
{
	struct str rest = str_of(list), part;
	bool any = false;
	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (!part.len || str_index(part, '*') < part.len || str_index(part, '?') < part.len ||
		    part.ptr[0] == '/' || part.ptr[part.len - 1] == '/')
			return err_set(err, ERR_USAGE,
				       "node-agents wants NAMESPACE/SERVICEACCOUNT or ids of agents, and no patterns");
		any = true;
	}
	return any ? 0 : err_set(err, ERR_USAGE, "node-agents names nobody");
}

static bool is_listed(const char *list, const struct node_claim *claim)
{
	char account[2 * WIRE_NAME_CAP];
	bool review = strcmp(claim->method, "review") == 0;
	struct str rest = str_of(list ? list : ""), part;
	/* With no authentication nobody proves anything, and nobody needs to. */
	if (strcmp(claim->method, "open") == 0)
		return true;
	(void)snprintf(account, sizeof account, "%s/%s", claim->namespace_, claim->account);
	struct str who = str_of(review ? account : claim->id);
	if (review && (!claim->namespace_[0] || !claim->account[0]))
		return false;
	while (str_split(&rest, ',', &part))
		if (str_eq(str_trim(part), who))
			return true;
	return false;
}

int node_agent_hold(const struct podbook *pods, const char *node, const struct subject_view *subject,
		    enum node_verdict *ret_verdict, struct err *err)
{
	char shown[160];
	/* A token that names no node leaves nothing to hold the pod's against. */
	enum podbook_answer here = node[0] ? podbook_on_node(pods, subject->pod_uid, node) : PODBOOK_UNKNOWN;
	enum podbook_answer named = podbook_is(pods, subject->pod_uid, subject->namespace_, subject->pod);
	bool names = subject->namespace_[0] && subject->pod[0];
	if (here == PODBOOK_NO)
		return err_set(err, ERR_DENIED, "pod %s runs on another node than the agent that speaks for it",
			       esc_copy(shown, sizeof shown, str_of(subject->pod_uid)));
	if (names && named == PODBOOK_NO)
		return err_set(err, ERR_DENIED, "pod %s has another name or namespace than the agent of its node says",
			       esc_copy(shown, sizeof shown, str_of(subject->pod_uid)));
	*ret_verdict = here == PODBOOK_YES && named == PODBOOK_YES ? NODE_CONFIRMED : NODE_ASSERTED;
	return 0;
}

int node_agent_judge(const char *list, const struct podbook *pods, const struct node_claim *claim,
		     const struct wire_subject *subject, enum node_verdict *ret_verdict, struct err *err)
{
	char shown[160];
	if (!is_listed(list, claim)) {
		bool account = claim->account[0] != '\0';
		char who[2 * WIRE_NAME_CAP];
		(void)snprintf(who, sizeof who, "%s%s%s", account ? claim->namespace_ : claim->id, account ? "/" : "",
			       claim->account);
		return err_set(err, ERR_DENIED, "%s may speak for its own pod alone: --node-agents does not name it",
			       esc_copy(shown, sizeof shown, str_of(who)));
	}
	if (!subject->pod_uid[0])
		return err_set(err, ERR_MALFORMED, "an agent of a node names no pod's UID");
	struct subject_view view;
	subject_view_of(subject, &view);
	return node_agent_hold(pods, claim->node, &view, ret_verdict, err);
}

int node_agent_id(const struct node_claim *claim, const struct wire_subject *subject, char ret_id[WIRE_NAME_CAP],
		  struct err *err)
{
	char raw[4 * WIRE_NAME_CAP], id[sizeof raw];
	/* Where the credentials name no node the agent itself stands for it. */
	const char *node = claim->node[0] ? claim->node : claim->id[0] ? claim->id : subject->node;
	(void)snprintf(raw, sizeof raw, "node:%s:%s%s%s", node, subject->pod_uid, subject->container[0] ? ":" : "",
		       subject->container);
	(void)esc_copy(id, sizeof id, str_of(raw));
	if (strlen(id) >= WIRE_NAME_CAP)
		return err_set(err, ERR_LIMIT, "node, pod and container make an id of more than %d bytes",
			       WIRE_NAME_CAP - 1);
	str_copy(ret_id, WIRE_NAME_CAP, str_of(id));
	return 0;
}
