/* SPDX-License-Identifier: Apache-2.0 */
/* How a session begins: who it is, what of its epochs is stored, who it replaces, whether its clock is ours. */
#include "collector/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/esc.h"
#include "collector/node_agent.h"

/* False: the session was told why not. True: it speaks for its own pod, or `*ret_asserted` for that of another. */
static bool may_speak(struct session *session, const struct wire_hello *hello, bool *ret_asserted)
{
	const struct ingest_options *options = &session->ingest->options;
	const struct node_claim claim = { .id = session->id,
					  .method = session->method,
					  .namespace_ = session->vouched ? session->vouched->namespace_ : "",
					  .account = session->vouched ? session->vouched->account : "",
					  .node = session->vouched ? session->vouched->node : "" };
	struct err err;
	enum node_verdict verdict;
	*ret_asserted = false;
	if (hello->node_agent != TRISTATE_TRUE)
		return true;
	char id[WIRE_NAME_CAP];
	if (node_agent_judge(options->node_agents, options->pods, &claim, &hello->subject, &verdict, &err) < 0 ||
	    node_agent_id(&claim, &hello->subject, id, &err) < 0) {
		session_fail(session, WIRE_ERR_STATE, "%s", err.message);
		return false;
	}
	memcpy(session->id, id, sizeof id);
	session->of_node = true;
	session->node_proved = claim.node[0] != '\0';
	*ret_asserted = verdict == NODE_ASSERTED;
	return true;
}

/* With no authentication the payload names itself; it proves nothing, and whoever configured that knows. */
static void settle_id(struct session *session, const struct wire_hello *hello)
{
	const struct wire_subject *subject = &hello->subject;
	const uint8_t *epoch = hello->epochs[hello->n_epochs - 1].epoch.bytes;
	if (session->id[0])
		return;
	char raw[2 * WIRE_NAME_CAP];
	if (subject->namespace_[0] && subject->pod[0])
		(void)snprintf(raw, sizeof raw, "%s/%s", subject->namespace_, subject->pod);
	else
		/* by its start, so that a next session of it is no other agent's */
		(void)snprintf(raw, sizeof raw, "anonymous-%s:%02x%02x%02x%02x", session->peer, epoch[0], epoch[1],
			       epoch[2], epoch[3]);
	(void)esc_copy(session->id, sizeof session->id, str_of(raw));
}

static bool vouch_one(char *dest, size_t cap, const char *vouched)
{
	if (!vouched[0] || strcmp(dest, vouched) == 0)
		return false;
	bool other = dest[0] != '\0';
	str_copy(dest, cap, str_of(vouched));
	return other;
}

/*
 * The payload only decorates: pod, namespace and node are what the credentials say, for by them people are let see it,
 * policies are chosen, and nobody speaks for a pod of another node.
 */
static void vouch(struct session *session, struct wire_subject *subject)
{
	const struct auth_agent *agent = session->vouched;
	if (!agent)
		return;
	/* A node agent's credentials name its own pod: of the one that it speaks for the node alone is theirs to say. */
	if (session->of_node) {
		(void)vouch_one(subject->node, sizeof subject->node, agent->node);
		free(session->vouched);
		session->vouched = NULL;
		return;
	}
	bool other = vouch_one(subject->namespace_, sizeof subject->namespace_, agent->namespace_);
	other |= vouch_one(subject->pod, sizeof subject->pod, agent->pod);
	other |= vouch_one(subject->node, sizeof subject->node, agent->node);
	if (strlen(agent->id) < sizeof subject->pod_uid) /* a review's id is the pod's UID */
		other |= vouch_one(subject->pod_uid, sizeof subject->pod_uid, agent->id);
	if (other)
		logger_say(session->ingest->options.log, SAY_WARNING, "agent-says-otherwise",
			   "the hello of %s names another pod, namespace or node than its token: the token's are shown",
			   session->id);
	free(session->vouched);
	session->vouched = NULL;
}

/* An epoch is one start of one agent: who names that of another, which is connected, replays what it has seen. */
static bool is_anothers(const struct session *session, const struct wire_hello *hello)
{
	for (size_t i = 0; i < hello->n_epochs; i++) {
		const struct session *live = ingest_find_live(session->ingest, hello->epochs[i].epoch);
		if (live && strcmp(live->id, session->id) != 0)
			return true;
	}
	return false;
}

static int put_hello(struct session *session, const struct wire_hello *hello, struct err *err)
{
	struct ingest *ingest = session->ingest;
	int64_t agent;
	int rc = store_agent(ingest->store, session->id, hello, ingest->wall, &agent, err);
	if (rc == 0)
		rc = store_epochs_lost(ingest->store, agent, hello->epochs, hello->n_epochs, ingest->wall, err);
	for (size_t i = 0; rc == 0 && i < hello->n_epochs; i++)
		rc = store_epoch(ingest->store, agent, hello->epochs[i].epoch, ingest->wall, &session->epochs[i].stored,
				 err);
	if (rc < 0)
		return rc;
	session->agent = agent;
	rc = session_events_hello(session, hello, session->epochs[hello->n_epochs - 1].stored.is_new, err);
	if (rc < 0)
		return rc;
	session->n_epochs = hello->n_epochs;
	for (size_t i = 0; i < session->n_epochs; i++)
		session->epochs[i].committed = session->epochs[i].stored.acked;
	return 0;
}

static void replace_older(struct session *session)
{
	struct session *older = ingest_find(session->ingest, session->id);
	if (!older)
		return;
	session->ingest->counts.replaced_total++;
	older->replaced = true;
	/* A half-open connection is replaced while its target lives on: what is known of it goes over. */
	session->has_last = older->has_last;
	session->last = older->last;
	session->oom_rose = older->oom_rose;
	session->oom_kill_rose = older->oom_kill_rose;
	session->oom_at = older->oom_at;
	session->happened = older->happened;
	session_fail(older, WIRE_ERR_REPLACED, "another session of %s is newer", session->id);
}

static void judge_clock(struct session *session, const struct wire_hello *hello)
{
	struct ingest *ingest = session->ingest;
	session->offset_ms = ingest->wall.ms - hello->wall.ms; /* both are years 1970 to 9999: the decoder's range */
	session->clock_is_off = session->offset_ms > CLOCK_OFFSET_MS || session->offset_ms < -CLOCK_OFFSET_MS;
	if (!session->clock_is_off)
		return;
	ingest->counts.clock_offset_sessions++;
	logger_say(ingest->options.log, SAY_WARNING, "clock-offset",
		   "the clock of %s is %" PRId64 " s %s ours; its times are shown corrected", session->id,
		   (session->offset_ms < 0 ? -session->offset_ms : session->offset_ms) / 1000,
		   session->offset_ms < 0 ? "ahead of" : "behind");
}

void hello_take(struct session *session, const struct wire_hello *hello)
{
	struct ingest *ingest = session->ingest;
	struct err err;
	if (session->state != SESSION_NEW) {
		session_fail(session, WIRE_ERR_STATE, "a second hello");
		return;
	}
	bool asserted;
	if (!may_speak(session, hello, &asserted))
		return;
	settle_id(session, hello);
	if (is_anothers(session, hello)) {
		session_fail(session, WIRE_ERR_SEQUENCE, "hello: epochs: one is another agent's, which is connected");
		return;
	}
	session->hello = malloc(sizeof *session->hello);
	if (!session->hello) {
		session_fail(session, WIRE_ERR_STORE, "no memory");
		return;
	}
	*session->hello = *hello;
	session->hello->subject.asserted = session->asserted = asserted;
	vouch(session, &session->hello->subject);
	if (ingest->options.cluster)
		str_copy(session->hello->subject.cluster, sizeof session->hello->subject.cluster,
			 str_of(ingest->options.cluster));
	if (ingest_begin(ingest, &err) < 0) {
		session_fail(session, WIRE_ERR_STORE, "nothing can be stored at the moment: %s", err.message);
		return;
	}
	ingest_join(session);
	if (put_hello(session, session->hello, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	replace_older(session);
	ingest_list(session);
	judge_clock(session, hello);
	session->state = SESSION_OPEN;
	logger_say(ingest->options.log, SAY_DEBUG, "agent-came", "%s from %s", session->id, session->peer);
}
