/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/slow.h"

#include <stdlib.h>

#include "agent/collect_parts.h"
#include "base/limits.h"
#include "sys/child.h"

enum { LOOK_AGAIN_MS = 10, EXIT_TARGET = 3, EXIT_FULL = 4 };

struct slow {
	struct loop *loop;
	slow_done *done;
	void *context;
	struct loop_timer *deadline, *again;
	struct loop_watch *watch;
	struct child_job job;
	struct buf text;
	unsigned what;
	struct mono began;
	struct slow_counts counts;
};

int slow_work(void *context, int out_fd)
{
	const struct slow_work *work = context;
	struct evidence *evidence = malloc(sizeof *evidence);
	struct err err = { 0 };
	if (!evidence)
		return EXIT_FULL;
	evidence_init(evidence);
	struct collecting c = { .options = work->options,
				.evidence = evidence,
				.pid_fd = -1,
				.root_fd = -1,
				.maps = { .cap = LIMIT_SMAPS } };
	if (collect_begin(&c, &err) < 0 || c.id.start_ticks != work->id.start_ticks)
		return EXIT_TARGET;
	if (work->what & SLOW_JVM && (c.is_jvm || c.denied[0]))
		collect_jvm(&c);
	if (work->what & SLOW_ENGINE)
		collect_engine(&c);
	auto_buf struct buf text = { .cap = SLOW_CAP };
	if (!slowtext_encode(evidence, work->what, &text))
		return EXIT_FULL;
	return child_write(out_fd, buf_str(&text)) ? 0 : EXIT_FULL;
	/* Nothing is given back: the process ends here. */
}

static void stop(struct slow *slow)
{
	struct child_result ignored;
	loop_watch_free(slow->watch);
	slow->watch = NULL;
	loop_timer_cancel(slow->deadline);
	loop_timer_cancel(slow->again);
	child_end(&slow->job, &ignored);
	slow->what = 0;
}

static void finish(struct slow *slow, enum err_kind kind, const char *why)
{
	unsigned what = slow->what;
	struct err err = { 0 };
	stop(slow);
	slow->counts.ms_total += mono_ms_until(slow->began, clock_mono());
	int rc = 0;
	if (kind != ERR_NONE) {
		slow->counts.failed_total++;
		rc = err_set(&err, kind, "%s", why);
	}
	slow->done(slow->context, what, rc, buf_str(&slow->text), &err);
	if (!slow_runs(slow))
		buf_done(&slow->text);
}

static void look(void *context)
{
	struct slow *slow = context;
	struct child_result result;
	if (!slow->what)
		return;
	switch (child_look(&slow->job, &slow->text, &result)) {
	case CHILD_RUNS:
		/* It has closed its pipe and is about to end, or has more to say. */
		loop_timer_set(slow->again, LOOK_AGAIN_MS);
		return;
	case CHILD_DONE:
		if (result.exit_status == EXIT_TARGET)
			finish(slow, ERR_GONE, "the target was gone when it was to be asked");
		else if (result.exit_status != 0)
			finish(slow, ERR_IO, "the child that asks ended early");
		else
			finish(slow, ERR_NONE, "");
		return;
	case CHILD_TOO_MUCH:
		finish(slow, ERR_LIMIT, "the answers are too large");
		return;
	case CHILD_NOMEM:
	default:
		finish(slow, ERR_NOMEM, "no memory for the answers");
	}
}

static void too_late(void *context)
{
	struct slow *slow = context;
	if (!slow->what)
		return;
	slow->counts.killed_total++;
	finish(slow, ERR_TIMEOUT, "no answer in time: the child that asked was ended");
}

int slow_new(struct loop *loop, slow_done *done, void *context, struct slow **ret_slow, struct err *err)
{
	struct slow *slow = calloc(1, sizeof *slow);
	if (!slow)
		return err_set(err, ERR_NOMEM, "no memory");
	slow->loop = loop;
	slow->done = done;
	slow->context = context;
	slow->job.fd = -1;
	slow->text.cap = SLOW_CAP;
	int rc = loop_timer_new(loop, too_late, slow, &slow->deadline, err);
	if (rc == 0)
		rc = loop_timer_new(loop, look, slow, &slow->again, err);
	if (rc < 0)
		slow_free(slow);
	else
		*ret_slow = slow;
	return rc;
}

void slow_free(struct slow *slow)
{
	if (!slow)
		return;
	if (slow->what)
		stop(slow);
	loop_timer_free(slow->deadline);
	loop_timer_free(slow->again);
	buf_done(&slow->text);
	free(slow);
}

bool slow_runs(const struct slow *slow)
{
	return slow->what != 0;
}

void slow_stop(struct slow *slow)
{
	if (slow->what)
		stop(slow);
}

const struct slow_counts *slow_count(const struct slow *slow)
{
	return &slow->counts;
}

bool slow_start(struct slow *slow, const struct collect_options *options, const struct process_id *id, unsigned what)
{
	struct err ignored;
	struct slow_work work = { options, *id, what };
	if (slow->what || !what)
		return false;
	buf_clear(&slow->text);
	if (child_start(slow_work, &work, &slow->job, &ignored) < 0) {
		slow->counts.failed_total++;
		return false;
	}
	slow->what = what;
	slow->began = clock_mono();
	slow->counts.started_total++;
	if (loop_watch_new(slow->loop, slow->job.fd, look, slow, &slow->watch, &ignored) < 0) {
		slow->counts.failed_total++;
		stop(slow);
		return false;
	}
	loop_timer_set(slow->deadline, SLOW_DEADLINE_MS);
	return true;
}
