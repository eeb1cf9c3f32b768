/* SPDX-License-Identifier: Apache-2.0 */
/* Agents of a node whose pods were not known at their hello, and are told of by Kubernetes later. */
#include "collector/fleet_read.h"
#include "collector/node_agent.h"
#include "collector/session.h"

enum { CONFIRMED_AT_ONCE = 200 }; /* each is a row that is written */

static int confirm(struct session *session, struct err *err)
{
	struct ingest *ingest = session->ingest;
	int rc = ingest_begin(ingest, err);
	if (rc < 0)
		return rc;
	rc = store_agent_confirmed(ingest->store, session->agent, err);
	if (rc < 0) {
		ingest_fail(ingest, err);
		return rc;
	}
	session->asserted = false;
	fleet_confirmed(ingest->fleet, session->agent);
	return 0;
}

/* Negative: nothing can be stored at the moment. */
static int hold(struct session *session, size_t *n)
{
	struct ingest *ingest = session->ingest;
	const struct fleet_pod *pod = fleet_find(ingest->fleet, session->agent);
	enum node_verdict verdict;
	struct err err;
	if (!pod)
		return 0;
	if (node_agent_hold(ingest->options.pods, session->node_proved ? pod->subject.node : "", &pod->subject,
			    &verdict, &err) < 0) {
		session_fail(session, WIRE_ERR_STATE, "%s", err.message);
		return 0;
	}
	if (verdict != NODE_CONFIRMED)
		return 0;
	++*n;
	return confirm(session, &err);
}

void session_pods_told(struct ingest *ingest)
{
	const struct podbook *pods = ingest->options.pods;
	uint64_t version = pods ? podbook_version(pods) : 0;
	size_t n = 0;
	if (version == ingest->pods_version || ingest->unhealthy)
		return;
	for (struct session *s = ingest->sessions, *next; s; s = next) {
		next = s->next;
		/* One whose hello is not committed yet is held against the book of then: the next time, too. */
		if (!s->asserted || s->state != SESSION_OPEN)
			continue;
		if (!s->fleet_told)
			version = ingest->pods_version;
		else if (n == CONFIRMED_AT_ONCE || hold(s, &n) < 0)
			return;
	}
	ingest->pods_version = version;
}
