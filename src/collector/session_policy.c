/* SPDX-License-Identifier: Apache-2.0 */
/* What is set at an agent: by the configuration, and by what people silence while its session runs. */
#include "collector/session.h"
#include "collector/silences.h"

enum { LOOKS = 1000 }; /* sessions in one step: each costs some microseconds */

/* By what its credentials say; the fleet has what hello said once that is gone. False: it is not known (any more). */
static bool subject_of(const struct session *session, struct subject_view *ret_view)
{
	if (session->hello) {
		subject_view_of(&session->hello->subject, ret_view);
		return true;
	}
	const struct fleet_pod *pod = fleet_find(session->ingest->fleet, session->agent);
	if (pod)
		*ret_view = pod->subject;
	return pod != NULL;
}

static void left_out(struct ingest *ingest, const struct session *session, size_t n)
{
	ingest->counts.policy_left_out_total += n;
	if (ingest->policy_said == ingest->policy_version)
		return;
	ingest->policy_said = ingest->policy_version; /* once for all agents */
	logger_say(
		ingest->options.log, SAY_WARNING, "policy-too-long",
		"%zu rules that are silenced for %s do not reach its agent: %d at most do; here they are silenced all the same",
		n, session->id, WIRE_SILENCES_MAX);
}

void session_policy(struct session *session, struct wire_policy *ret_policy)
{
	struct ingest *ingest = session->ingest;
	const struct ingest_options *options = &ingest->options;
	struct subject_view subject;
	size_t n;
	*ret_policy = (struct wire_policy){ 0 };
	session->policy_looked = ingest->policy_version;
	if (!subject_of(session, &subject))
		return;
	if (options->policies)
		policies_for(options->policies, subject.namespace_, subject.workload, ret_policy);
	if (!options->silences)
		return;
	silences_policy(options->silences, &subject, ingest->wall, ret_policy, &n);
	if (n)
		left_out(ingest, session, n);
}

/* Nothing is sent to an agent whose policy stays as it is. */
static void look(struct session *session)
{
	struct wire_policy *policy = &session->ingest->answer.welcome.policy; /* work space between two frames */
	session_policy(session, policy);
	if (policy->version == session->policy_sent || policy->version == 0)
		return;
	session->policy_due = true;
	if (session->ws)
		server_ws_want_write(session->ws);
}

bool ingest_policies(struct ingest *ingest)
{
	unsigned looks = 0;
	if (!ingest->options.silences || ingest->policy_done == silences_version(ingest->options.silences))
		return true;
	ingest->policy_version = silences_version(ingest->options.silences);
	for (struct session *s = ingest->sessions; s; s = s->next) {
		/* One that is not welcomed yet will be told then. */
		if (s->state != SESSION_OPEN || s->hello || s->policy_looked == ingest->policy_version)
			continue;
		if (looks++ == LOOKS)
			return false;
		look(s);
	}
	ingest->policy_done = ingest->policy_version;
	return true;
}
