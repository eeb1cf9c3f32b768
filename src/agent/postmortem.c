/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/postmortem_parts.h"

#include <stdio.h>

#include "base/units.h"

int postmortem_owner(const struct wire_sample *first, const struct wire_sample *last, uint64_t *ret_grown_bytes)
{
	if (!first || !last || !first->has_composition || !last->has_composition)
		return -1;
	return death_owner(first->owners, last->owners, ret_grown_bytes);
}

void postmortem_life_of(const struct snapshot *snapshot, const struct wire_subject *subject, const char *image,
			struct postmortem_life *ret_life)
{
	struct postmortem_life *life = ret_life;
	*life = (struct postmortem_life){ .known = true,
					  .pid = snapshot->process.pid,
					  .start_ticks = snapshot->process.start_ticks,
					  .limit = snapshot->cgroup.max.kind != LIMIT_UNREAD ? snapshot->cgroup.max
											     : snapshot->told_limit };
	str_copy(life->image, sizeof life->image, str_of(image ? image : ""));
	str_copy(life->kernel, sizeof life->kernel, str_of(snapshot->kernel));
	str_copy(life->jdk, sizeof life->jdk, str_of(snapshot->jdk));
	str_copy(life->engine, sizeof life->engine, str_of(snapshot->engine.version));
	if (snapshot->thp != THP_UNREAD)
		str_copy(life->thp, sizeof life->thp, str_of(thp_mode_names[snapshot->thp]));
	for (; life->n_jobs < subject->n_jobs && life->n_jobs < WIRE_JOBS_MAX; life->n_jobs++)
		memcpy(life->jobs[life->n_jobs], subject->jobs[life->n_jobs], sizeof life->jobs[0]);
	for (size_t i = 0; i < snapshot->n_settings && life->n_settings < POSTMORTEM_SETTINGS_MAX; i++) {
		struct postmortem_setting *setting = &life->settings[life->n_settings++];
		str_copy(setting->key, sizeof setting->key, str_of(snapshot->settings[i].key));
		str_copy(setting->value, sizeof setting->value, str_of(snapshot->settings[i].value));
	}
}

/* --- what changed ------------------------------------------------------------------------------ */

struct changes {
	struct postmortem_change *list;
	size_t n, most;
};

static void add(struct changes *changes, const char *what, const char *before, const char *now)
{
	if (changes->n == changes->most || strcmp(before, now) == 0)
		return;
	struct postmortem_change *change = &changes->list[changes->n++];
	str_copy(change->what, sizeof change->what, str_of(what));
	str_copy(change->before, sizeof change->before, str_of(before));
	str_copy(change->now, sizeof change->now, str_of(now));
}

static void compare(struct changes *changes, const char *what, const char *before, const char *now)
{
	if (before[0] && now[0])
		add(changes, what, before, now);
}

static const char *limit_text(char dest[UNITS_TEXT_CAP], struct limit limit)
{
	if (limit.kind == LIMIT_SET)
		return units_format(dest, limit.bytes);
	return limit.kind == LIMIT_NONE ? "none" : "";
}

static const char *value_of(const struct postmortem_life *life, const char *key)
{
	for (size_t i = 0; i < life->n_settings; i++)
		if (strcmp(life->settings[i].key, key) == 0)
			return life->settings[i].value;
	return NULL;
}

/* A key that only one of them has is a change if the other one's list is whole. */
static void compare_settings(struct changes *changes, const struct postmortem_life *before,
			     const struct postmortem_life *now)
{
	bool whole = before->n_settings > 0 && now->n_settings > 0 && before->n_settings < POSTMORTEM_SETTINGS_MAX &&
		     now->n_settings < POSTMORTEM_SETTINGS_MAX;
	for (size_t i = 0; i < now->n_settings; i++) {
		const char *key = now->settings[i].key, *old = value_of(before, key);
		if (old || whole)
			add(changes, key, old ? old : "", now->settings[i].value);
	}
	for (size_t i = 0; i < before->n_settings && whole; i++)
		if (!value_of(now, before->settings[i].key))
			add(changes, before->settings[i].key, before->settings[i].value, "");
}

static void jobs_text(char *dest, size_t cap, const struct postmortem_life *life)
{
	size_t len = 0;
	dest[0] = '\0';
	for (size_t i = 0; i < life->n_jobs && len < cap; i++)
		len += (size_t)snprintf(dest + len, cap - len, "%s%s", i ? ", " : "", life->jobs[i]);
}

size_t postmortem_changes(const struct postmortem_life *before, const struct postmortem_life *now,
			  struct postmortem_change *ret_changes, size_t most)
{
	struct changes changes = { .list = ret_changes, .most = most };
	char old_limit[UNITS_TEXT_CAP], new_limit[UNITS_TEXT_CAP], old_jobs[200], new_jobs[200];
	jobs_text(old_jobs, sizeof old_jobs, before);
	jobs_text(new_jobs, sizeof new_jobs, now);
	compare(&changes, "limit", limit_text(old_limit, before->limit), limit_text(new_limit, now->limit));
	compare(&changes, "image", before->image, now->image);
	compare(&changes, "engine", before->engine, now->engine);
	compare(&changes, "jdk", before->jdk, now->jdk);
	compare(&changes, "kernel", before->kernel, now->kernel);
	compare(&changes, "thp", before->thp, now->thp);
	compare(&changes, "jobs", old_jobs, new_jobs);
	compare_settings(&changes, before, now);
	return changes.n;
}

/* --- composing ---------------------------------------------------------------------------------- */

/* Below this the title says "probably". */
enum { LIKELY_PCT = 80 };

static void title_of(const struct postmortem_input *in, int owner, uint64_t grown_bytes, char *dest, size_t cap)
{
	static const char *const causes[DEATH_CAUSE_COUNT] = {
		[DEATH_UNKNOWN] = "Ended, why is not known",
		[DEATH_CONTAINER_LIMIT] = "Killed at its memory limit",
		[DEATH_POD_LIMIT] = "Killed at the pod's memory limit",
		[DEATH_NODE] = "Killed because the node was out of memory",
		[DEATH_OUTSIDE] = "Killed for the pod's limit or the node's want of memory",
		[DEATH_SIGKILL] = "Ended, by no memory limit",
		[DEATH_JAVA_OOM] = "Ended by a Java OutOfMemoryError",
		[DEATH_EXIT] = "Ended by itself",
	};
	const struct limit limit =
		in->verdict->cause == DEATH_POD_LIMIT ? in->evidence->pod_limit : in->evidence->limit;
	bool of_limit = in->verdict->cause == DEATH_CONTAINER_LIMIT || in->verdict->cause == DEATH_POD_LIMIT;
	char bytes[UNITS_TEXT_CAP], grown[UNITS_TEXT_CAP];
	/* What is only likely is not told as a fact. */
	bool likely = in->verdict->confidence_pct < LIKELY_PCT &&
		      (of_limit || in->verdict->cause == DEATH_NODE || in->verdict->cause == DEATH_OUTSIDE ||
		       in->verdict->cause == DEATH_JAVA_OOM);
	const char *cause = causes[in->verdict->cause];
	/* Without memory.events an OOM kill is not excluded. */
	if (in->verdict->cause == DEATH_SIGKILL && !in->evidence->after_read)
		cause = "Killed, by whom is not known";
	else if (in->verdict->stopped)
		cause = in->verdict->node_low ? "Stopped with its pod, as the node was short of memory"
					      : "Stopped with its pod";
	size_t len = (size_t)snprintf(dest, cap, likely ? "Probably %c%s" : "%c%s",
				      likely ? cause[0] + ('a' - 'A') : cause[0], cause + 1);
	if (of_limit && limit.kind == LIMIT_SET)
		len += (size_t)snprintf(dest + len, cap - len, " of %s", units_format(bytes, limit.bytes));
	if (owner >= 0 && len < cap)
		(void)snprintf(dest + len, cap - len, "; %s had grown by %s", owner_table[owner].name,
			       units_format(grown, grown_bytes));
}

int postmortem_compose(const struct postmortem_input *input, struct wire_postmortem *part0, struct buf *body,
		       struct err *err)
{
	uint64_t grown_bytes = 0;
	size_t before = body->len;
	struct wire_postmortem pm = *part0;
	pm.cause = input->verdict->cause;
	pm.owner = postmortem_owner(input->first, input->last, &grown_bytes);
	pm.pid = input->pid;
	pm.died = input->died;
	/* One process dies once: an agent that sees it again after its own restart says the same id. */
	(void)snprintf(pm.id, sizeof pm.id, "death-%d-%llu", input->pid, (unsigned long long)input->start_ticks);
	title_of(input, pm.owner, grown_bytes, pm.title, sizeof pm.title);
	int ret = postmortem_write(input, &pm, body, err);
	if (ret < 0) {
		body->len = before;
		err_wrap(err, "post-mortem");
		return ret;
	}
	*part0 = pm;
	return 0;
}
