/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/inferred.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/esc.h"
#include "collector/own_death.h"
#include "ledger/death.h"

enum { TRIES_MAX = 30 };

/* --- what the session saw ------------------------------------------------------------------------- */

static bool rose(struct count before, struct count after)
{
	return before.known && after.known && after.n > before.n;
}

static bool same_process(const struct last_word *a, const struct wire_sample *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static void drop_watches(struct ingest *ingest, int64_t agent, const struct wire_sample *alive, int dead_pid)
{
	struct watch **at = &ingest->watches;
	while (*at) {
		struct watch *watch = *at;
		bool any = watch->last.pid == 0;
		bool over = watch->agent == agent &&
			    (any || (alive ? same_process(&watch->last, alive) : watch->last.pid == dead_pid));
		if (!over) {
			at = &watch->next;
			continue;
		}
		*at = watch->next;
		ingest->n_watches--;
		free(watch);
	}
}

/* `keep`: who owned the bytes is known of an earlier sample alone. */
static void take_word(struct last_word *last, const struct wire_sample *sample, bool keep)
{
	last->head = sample->head;
	last->urgent = sample->urgent;
	last->pid = sample->pid;
	last->start_ticks = sample->start_ticks;
	last->grows = sample->forecast.owner;
	last->limit = sample->limit;
	last->charge_bytes = sample->charge_bytes;
	last->floor_bytes = sample->floor_bytes;
	last->freeboard_bytes = sample->freeboard_bytes;
	last->events = sample->events;
	if (keep)
		return;
	last->has_composition = sample->has_composition;
	last->residual_bytes = sample->residual_bytes;
	memcpy(last->owners, sample->owners, sizeof last->owners);
}

void inferred_sample(struct session *session, const struct wire_sample *sample)
{
	struct ingest *ingest = session->ingest;
	struct last_word *last = &session->last;
	/* Those of an earlier start come from a spool: what they show is past, and says of no process that it lives. */
	if (!wire_epoch_same(sample->head.epoch, session->epochs[session->n_epochs - 1].stored.epoch))
		return;
	if (sample->pid <= 0)
		return; /* its target is gone; what the last one with a target showed is what counts */
	if (ingest->watches)
		drop_watches(ingest, session->agent, sample, 0);
	if (session->has_last) {
		bool oom = rose(last->events.oom, sample->events.oom),
		     kill = rose(last->events.oom_kill, sample->events.oom_kill);
		if (oom || kill)
			session->oom_at = ingest->now;
		session->oom_rose = session->oom_rose || oom;
		session->oom_kill_rose = session->oom_kill_rose || kill;
	}
	bool keep =
		session->has_last && !sample->has_composition && last->has_composition && same_process(last, sample);
	take_word(last, sample, keep);
	session->has_last = true;
}

void inferred_postmortem(struct session *session, const struct wire_postmortem *part)
{
	if (session->ingest->watches)
		drop_watches(session->ingest, session->agent, NULL, part->pid);
	if (part->part != 0 || !session->has_last || session->last.pid != part->pid)
		return;
	session->has_last = false;
	session->oom_rose = session->oom_kill_rose = false;
}

static bool was_near(const struct session *session)
{
	const struct last_word *last = &session->last;
	if (!session->has_last)
		return false;
	bool recent = mono_ms_until(session->oom_at, session->ingest->now) < OOM_RECENT_MS;
	if (last->urgent || (session->oom_kill_rose && recent))
		return true;
	return inferred_is_near(last->limit, last->freeboard_bytes);
}

void inferred_ended(struct session *session)
{
	struct ingest *ingest = session->ingest;
	if (ingest->stopping || session->said_bye || session->replaced || !was_near(session))
		return;
	struct watch *watch = ingest->n_watches < INFER_MAX ? malloc(sizeof *watch) : NULL;
	if (!watch) {
		logger_say(ingest->options.log, SAY_WARNING, "end-not-watched",
			   "%s ended near its limit, as too many did: should it send no post-mortem, there is none",
			   session->id);
		return;
	}
	*watch = (struct watch){
		.next = ingest->watches,
		.agent = session->agent,
		.epoch = session->last.head.epoch,
		.last = session->last,
		.oom_rose = session->oom_rose,
		.oom_kill_rose = session->oom_kill_rose,
		.ended = ingest->wall,
		.due = mono_add_ms(ingest->now, INFER_AFTER_MS),
	};
	memcpy(watch->id, session->id, sizeof watch->id);
	ingest->watches = watch;
	ingest->n_watches++;
}

/* --- the post-mortem ------------------------------------------------------------------------------ */

static void judge(const struct watch *watch, struct death_verdict *verdict)
{
	const struct last_word *last = &watch->last;
	struct death_evidence evidence = {
		.after_read = true,
		.limit = last->limit,
		.charge_bytes = last->charge_bytes,
		.floor_bytes = last->floor_bytes,
	};
	/* What rose while it was still seen is told as it is; what the end itself raised nobody has seen. */
	evidence.before.oom = evidence.before.oom_kill = count_of(0);
	evidence.after.oom = count_of(watch->oom_rose);
	evidence.after.oom_kill = count_of(watch->oom_kill_rose);
	memset(verdict, 0, sizeof *verdict);
	if (watch->oom_kill_rose)
		death_judge(&evidence, 0, verdict);
}

/* One for one process of one start: a collector that infers again after a restart says the same. */
static void name_it(const struct watch *watch, char *dest, size_t cap)
{
	const struct last_word *last = &watch->last;
	char epoch[WIRE_EPOCH_TEXT_CAP];
	if (last->pid)
		(void)snprintf(dest, cap, "inferred-%.16s-%d-%" PRIu64, wire_epoch_format(epoch, watch->epoch),
			       last->pid, last->start_ticks);
	else
		(void)snprintf(dest, cap, "inferred-at-%" PRId64, last->head.wall.ms);
}

static int write_one(struct ingest *ingest, const struct watch *watch, struct err *err)
{
	auto_buf struct buf text = { .cap = WIRE_FRAME_MAX };
	struct death_verdict verdict;
	char at[OWN_DEATH_AT_CAP];
	struct own_death death = {
		.agent = watch->agent,
		.last = &watch->last,
		.verdict = &verdict,
		.stream_ended = watch->ended,
		.until = watch->ended,
		.died = watch->last.head.wall,
		.why = watch->last.pid
			       ? "the agent's stream ended near the limit, without bye, and nothing came of it afterwards"
			       : "the agent was near its limit when last heard of, and did not come back to the collector that started since",
	};
	name_it(watch, death.id, sizeof death.id);
	(void)snprintf(death.title, sizeof death.title,
		       "inferred: the stream ended %s its limit, and nothing came of it afterwards",
		       own_death_at(&watch->last, at));
	judge(watch, &verdict);
	ingest_flush(ingest);
	int rc = own_death_encode(ingest->store, &death, &ingest->answer, &text, err);
	if (rc == 0)
		rc = ingest_begin(ingest, err);
	if (rc < 0)
		return rc;
	rc = store_own_postmortem(ingest->store, watch->agent, &ingest->answer.postmortem, buf_str(&text), ingest->wall,
				  err);
	if (rc < 0) {
		ingest_fail(ingest, err);
		return rc;
	}
	(void)ingest_feed(ingest, watch->agent, WIRE_POSTMORTEM);
	ingest_flush(ingest);
	return ingest->unhealthy ? err_set(err, ERR_IO, "the batch failed") : 0;
}

/* True: it is written, or given up. */
static bool conclude(struct ingest *ingest, struct watch *watch)
{
	struct err err;
	char shown[200];
	if (write_one(ingest, watch, &err) == 0) {
		ingest->counts.inferred_postmortems_total++;
		logger_say(ingest->options.log, SAY_WARNING, "postmortem-inferred",
			   "%s ended near its limit and said nothing more: its post-mortem is inferred", watch->id);
		return true;
	}
	if (++watch->n_tries < TRIES_MAX)
		return false;
	logger_say(ingest->options.log, SAY_ERROR, "postmortem-not-kept", "%s: %s", watch->id,
		   esc_copy(shown, sizeof shown, str_of(err.message)));
	return true;
}

void inferred_step(struct ingest *ingest)
{
	struct watch **at = &ingest->watches;
	while (*at) {
		struct watch *watch = *at;
		if (mono_ms_until(ingest->now, watch->due)) {
			at = &watch->next;
			continue;
		}
		/* Out of the list first: a batch that fails closes sessions, and what they leave is put at its head. */
		*at = watch->next;
		if (conclude(ingest, watch)) {
			ingest->n_watches--;
			free(watch);
		} else {
			watch->due = mono_add_ms(ingest->now, INFER_RETRY_MS);
			watch->next = ingest->watches;
			ingest->watches = watch;
		}
		at = &ingest->watches;
	}
}

void inferred_done(struct ingest *ingest)
{
	while (ingest->watches) {
		struct watch *watch = ingest->watches;
		ingest->watches = watch->next;
		free(watch);
	}
	ingest->n_watches = 0;
}
