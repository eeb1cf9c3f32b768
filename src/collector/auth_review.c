/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/auth_review.h"

#include <stdio.h>

#include "base/esc.h"
#include "collector/allow.h"
#include "collector/review.h"
#include "net/hash.h"

struct review_job {
	struct reviews *owner; /* NULL: nobody waits for it any more */
	struct review_target target;
	uint8_t digest[HASH_SHA256_LEN];
	struct wall expires;
	bool again;
	atomic_bool abandon; /* the only thing that both sides touch while it runs */
	size_t token_len;
	char token[JWT_MAX];
	/* Written by the thread that asks, read after it is done. */
	int rc;
	struct err err;
	struct auth_agent agent;
};

struct refused_row {
	uint8_t digest[HASH_SHA256_LEN];
	struct mono until;
	char why[160];
};

/* Of accounts that are not allowed, how many are named in the log: who makes up tokens makes up names, too. */
enum { STRANGERS_MAX = 32, STRANGER_CAP = ALLOW_NAMESPACE_CAP + WIRE_NAME_CAP };

struct reviews {
	struct loop *loop;
	struct store *store;
	struct logger *log;
	struct auth_counts *counts;
	struct review_target target;
	struct review_job *jobs[REVIEWS_IN_FLIGHT];
	struct refused_row refused[REVIEW_REFUSED_ROWS];
	struct allow allow;
	struct proofs proofs;
	char strangers[STRANGERS_MAX][STRANGER_CAP];
	size_t n_strangers;
};

int reviews_new(struct loop *loop, const struct auth_options *options, struct store *store, struct auth_counts *counts,
		struct reviews **ret_reviews, struct err *err)
{
	struct reviews *reviews = calloc(1, sizeof *reviews);
	if (!reviews)
		return err_set(err, ERR_NOMEM, "no memory for reviews of tokens");
	uint64_t again_ms = options->review_again_ms ? options->review_again_ms : AUTH_REVIEW_AGAIN_MS;
	int rc = review_target_set(options, &reviews->target, err);
	if (rc == 0 && !proofs_init(&reviews->proofs, again_ms))
		rc = err_set(err, ERR_NOMEM, "no memory for reviews of tokens");
	if (rc == 0) {
		rc = allow_parse(options->allow_agents, &reviews->allow, err);
		if (rc < 0)
			err_wrap(err, "--allow-agents");
	}
	if (rc < 0) {
		reviews_free(reviews);
		return rc;
	}
	reviews->loop = loop;
	reviews->store = store;
	reviews->log = options->log;
	reviews->counts = counts;
	*ret_reviews = reviews;
	return 0;
}

void reviews_stop(struct reviews *reviews)
{
	for (int i = 0; i < REVIEWS_IN_FLIGHT; i++)
		if (reviews->jobs[i])
			atomic_store(&reviews->jobs[i]->abandon, true);
}

void reviews_free(struct reviews *reviews)
{
	for (int i = 0; reviews && i < REVIEWS_IN_FLIGHT; i++)
		if (reviews->jobs[i])
			reviews->jobs[i]->owner = NULL;
	if (reviews) {
		allow_done(&reviews->allow);
		proofs_done(&reviews->proofs);
	}
	free(reviews);
}

/* --- refusals ------------------------------------------------------------------------------- */

/* The digest's own bits are the hash; who could choose them to collide could as well send new tokens. */
static struct refused_row *refused_row(struct reviews *reviews, const uint8_t *digest)
{
	return &reviews->refused[(digest[0] | digest[1] << 8) % REVIEW_REFUSED_ROWS];
}

static void keep_refusal(struct reviews *reviews, const uint8_t *digest, const char *why)
{
	struct refused_row *row = refused_row(reviews, digest);
	memcpy(row->digest, digest, sizeof row->digest);
	row->until = mono_add_ms(loop_now(reviews->loop), REVIEW_REFUSED_MS);
	str_copy(row->why, sizeof row->why, str_of(why));
}

static bool is_refused(struct reviews *reviews, const uint8_t *digest, struct review_verdict *verdict)
{
	const struct refused_row *row = refused_row(reviews, digest);
	if (!hash_same(row->digest, digest) || !mono_ms_until(loop_now(reviews->loop), row->until))
		return false;
	verdict->kind = REVIEW_REFUSED;
	str_copy(verdict->why, sizeof verdict->why, str_of(row->why));
	return true;
}

/* --- who may be one --------------------------------------------------------------------------- */

/* True: it was not said before. Past the last place nobody is named any more. */
static bool is_news(struct reviews *reviews, const char *who)
{
	for (size_t i = 0; i < reviews->n_strangers; i++)
		if (strcmp(reviews->strangers[i], who) == 0)
			return false;
	if (reviews->n_strangers == STRANGERS_MAX)
		return false;
	str_copy(reviews->strangers[reviews->n_strangers++], STRANGER_CAP, str_of(who));
	return true;
}

static void say_stranger(struct reviews *reviews, const char *namespace_, const char *account)
{
	char who[STRANGER_CAP], shown[2 * STRANGER_CAP];
	(void)snprintf(who, sizeof who, "%s/%s", namespace_, account);
	if (!is_news(reviews, who))
		return;
	(void)esc_copy(shown, sizeof shown, str_of(who));
	logger_say(
		reviews->log, SAY_WARNING, "agent-not-allowed",
		"agents of the service account %s are refused: --allow-agents does not list it. If it runs JVMs to be "
		"watched, add '%s' there (collector.allowAgents of the chart)%s",
		shown, shown, reviews->n_strangers == STRANGERS_MAX ? "; of further ones only the number is kept" : "");
}

static bool is_allowed(struct reviews *reviews, const char *namespace_, const char *account,
		       struct review_verdict *verdict)
{
	if (allow_has(&reviews->allow, namespace_, account))
		return true;
	say_stranger(reviews, namespace_, account);
	verdict->kind = REVIEW_NOT_ALLOWED;
	return false;
}

/* --- one review ----------------------------------------------------------------------------- */

static void ask(void *context)
{
	struct review_job *job = context;
	job->rc = review_ask(&job->target, (struct str){ job->token, job->token_len }, &job->abandon, &job->agent,
			     &job->err);
}

static void job_free(struct review_job *job)
{
	explicit_bzero(job->token, sizeof job->token);
	free(job);
}

/* What the store had of it is forgotten, or the next run would let it in. */
static void refuse_for_good(struct reviews *reviews, const struct review_job *job, const char *why)
{
	struct err err;
	keep_refusal(reviews, job->digest, why);
	reviews->counts->revoked_total +=
		proofs_settle(&reviews->proofs, job->digest, PROOF_REFUSED, loop_now(reviews->loop));
	if (job->again && reviews->store && store_token_forget(reviews->store, job->digest, &err) < 0)
		logger_say(reviews->log, SAY_WARNING, "review-not-kept", "%s: a refused token is not forgotten",
			   err.message);
}

static void conclude(struct reviews *reviews, struct review_job *job)
{
	struct mono now = loop_now(reviews->loop);
	struct err err;
	char shown[160];
	/* That its claims are those of the answer is for the API server to know, and not to be taken for granted. */
	if (job->rc == 0 && !allow_has(&reviews->allow, job->agent.namespace_, job->agent.account)) {
		refuse_for_good(reviews, job, "its service account is none of --allow-agents");
	} else if (job->rc == 0) {
		(void)proofs_settle(&reviews->proofs, job->digest, PROOF_GOOD, now);
		if (!job->again && reviews->store &&
		    store_token_put(reviews->store, job->digest, job->agent.id, job->expires, &err) < 0)
			logger_say(reviews->log, SAY_WARNING, "review-not-kept", "%s: it will be reviewed again",
				   err.message);
	} else if (job->err.kind == ERR_DENIED) {
		refuse_for_good(reviews, job, esc_copy(shown, sizeof shown, str_of(job->err.message)));
	} else if (!atomic_load(&job->abandon)) {
		reviews->counts->review_failures_total++;
		if (job->again)
			(void)proofs_settle(&reviews->proofs, job->digest, PROOF_NOT_ASKED, now);
		logger_say(reviews->log, SAY_ERROR, "review-failed", "a token could not be reviewed: %s",
			   esc_copy(shown, sizeof shown, str_of(job->err.message)));
	}
}

static void finish(void *context)
{
	struct review_job *job = context;
	struct reviews *reviews = job->owner;
	if (reviews) {
		for (int i = 0; i < REVIEWS_IN_FLIGHT; i++)
			if (reviews->jobs[i] == job)
				reviews->jobs[i] = NULL;
		reviews->counts->reviews_in_flight--;
		conclude(reviews, job);
	}
	job_free(job);
}

static bool is_in_flight(const struct reviews *reviews, const uint8_t *digest)
{
	for (int i = 0; i < REVIEWS_IN_FLIGHT; i++)
		if (reviews->jobs[i] && hash_same(reviews->jobs[i]->digest, digest))
			return true;
	return false;
}

static int begin(struct reviews *reviews, int slot, struct str token, const uint8_t *digest, struct wall expires,
		 bool again, struct err *err)
{
	struct review_job *job = calloc(1, sizeof *job);
	if (!job)
		return err_set(err, ERR_NOMEM, "no memory for a review");
	job->owner = reviews;
	job->target = reviews->target;
	memcpy(job->digest, digest, sizeof job->digest);
	job->expires = expires;
	job->again = again;
	job->token_len = token.len;
	memcpy(job->token, token.ptr, token.len);
	int rc = loop_work(reviews->loop, ask, finish, job, err);
	if (rc < 0) {
		job_free(job);
		return rc;
	}
	reviews->jobs[slot] = job;
	reviews->counts->reviews_total++;
	reviews->counts->reviews_in_flight++;
	return 0;
}

static void begin_or_shed(struct reviews *reviews, struct str token, const uint8_t *digest, struct wall expires,
			  struct review_verdict *verdict)
{
	struct err err;
	int slot = 0;
	verdict->kind = REVIEW_LATER;
	verdict->retry_after_s = 1;
	if (is_in_flight(reviews, digest))
		return;
	while (slot < REVIEWS_IN_FLIGHT && reviews->jobs[slot])
		slot++;
	if (slot < REVIEWS_IN_FLIGHT && begin(reviews, slot, token, digest, expires, false, &err) == 0)
		return;
	reviews->counts->shed_total++;
	verdict->retry_after_s = 5;
}

/* A token that was reviewed says itself whose pod it is: its signature was checked then, and its hash is the same. */
static bool known_good(struct reviews *reviews, const uint8_t *digest, const struct jwt *jwt, struct wall now,
		       struct auth_agent *agent)
{
	struct auth_agent found = { .method = "review" };
	struct err err;
	if (!reviews->store || store_token_get(reviews->store, digest, now, found.id, sizeof found.id, &err) < 0)
		return false;
	memcpy(found.namespace_, jwt->namespace_, sizeof found.namespace_);
	memcpy(found.account, jwt->account, sizeof found.account);
	memcpy(found.pod, jwt->pod, sizeof found.pod);
	memcpy(found.node, jwt->node, sizeof found.node);
	found.expires = jwt->expires;
	*agent = found;
	return true;
}

static void refuse(struct review_verdict *verdict, const char *why)
{
	verdict->kind = REVIEW_REFUSED;
	str_copy(verdict->why, sizeof verdict->why, str_of(why));
}

static void take_in(struct reviews *reviews, struct str token, const uint8_t *digest, struct auth_agent *agent,
		    struct review_verdict *verdict)
{
	reviews->counts->review_hits_total++;
	agent->proof = proof_new(&reviews->proofs, token, digest, agent->expires, loop_now(reviews->loop));
	verdict->kind = agent->proof ? REVIEW_GOOD : REVIEW_LATER;
	verdict->retry_after_s = 5;
}

/* Of a token that could be good. */
static void look_up(struct reviews *reviews, struct str token, const uint8_t *digest, const struct jwt *jwt,
		    struct wall now, struct auth_agent *ret_agent, struct review_verdict *verdict)
{
	if (known_good(reviews, digest, jwt, now, ret_agent))
		take_in(reviews, token, digest, ret_agent, verdict);
	else if (!is_refused(reviews, digest, verdict))
		begin_or_shed(reviews, token, digest, jwt->expires, verdict);
}

void reviews_ask(struct reviews *reviews, struct str token, const uint8_t digest[HASH_SHA256_LEN], struct wall now,
		 struct auth_agent *ret_agent, struct review_verdict *ret_verdict)
{
	struct review_verdict verdict = { 0 };
	struct jwt jwt;
	struct err err;
	char shown[160];
	if (jwt_parse(token, reviews->target.audience, &jwt, &err) < 0)
		refuse(&verdict, esc_copy(shown, sizeof shown, str_of(err.message)));
	else if (!jwt.for_audience)
		refuse(&verdict, "it is made for another audience than ours");
	else if (jwt.expires.ms <= now.ms)
		refuse(&verdict, "it has expired");
	else if (is_allowed(reviews, jwt.namespace_, jwt.account, &verdict))
		look_up(reviews, token, digest, &jwt, now, ret_agent, &verdict);
	*ret_verdict = verdict;
}

/* --- agents that are connected ------------------------------------------------------------------ */

static int free_slot(const struct reviews *reviews)
{
	int n_again = 0, slot = -1;
	for (int i = 0; i < REVIEWS_IN_FLIGHT; i++) {
		n_again += reviews->jobs[i] && reviews->jobs[i]->again;
		slot = reviews->jobs[i] ? slot : i;
	}
	return n_again < REVIEWS_AGAIN_IN_FLIGHT ? slot : -1;
}

void reviews_step(struct reviews *reviews)
{
	struct mono now = loop_now(reviews->loop);
	struct err err;
	for (;;) {
		int slot = free_slot(reviews);
		struct proof *proof = slot < 0 ? NULL : proofs_due(&reviews->proofs, now);
		if (!proof)
			return;
		if (is_in_flight(reviews, proof->digest))
			continue; /* of another session, which tells of this one as well */
		if (begin(reviews, slot, (struct str){ proof->token, proof->len }, proof->digest, proof->expires, true,
			  &err) < 0) {
			(void)proofs_settle(&reviews->proofs, proof->digest, PROOF_NOT_ASKED, now);
			return;
		}
		reviews->counts->reviews_again_total++;
	}
}
