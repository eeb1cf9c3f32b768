/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/nodebook.h"

void nodebook_init(struct nodebook *book, size_t max)
{
	memset(book, 0, sizeof *book);
	book->max = max < AGENT_TARGETS_MAX ? max : AGENT_TARGETS_MAX;
}

void nodebook_look(struct nodebook *book)
{
	book->left_out = 0;
}

/* A container without a name may be any of its pod: rather one target too few than one pod watched twice. */
static bool is_of(const struct node_target *target, const struct node_pod *pod)
{
	return target->used && strcmp(target->pod.pod_uid, pod->pod_uid) == 0 &&
	       (!target->pod.container[0] || !pod->container[0] || strcmp(target->pod.container, pod->container) == 0);
}

/* kubelet makes the link that names a container just after its start: a moment is worth the name. */
static uint64_t settle_ms(const struct node_pod *pod)
{
	return pod->namespace_[0] && !pod->container[0] ? NODE_SETTLE_MS : 0;
}

bool nodebook_see(struct nodebook *book, const struct node_pod *pod, struct mono now)
{
	struct node_target *free_one = NULL;
	for (size_t i = 0; i < book->max; i++) {
		struct node_target *target = &book->targets[i];
		if (is_of(target, pod)) {
			target->seen = now;
			if (pod->container[0] || !target->pod.container[0])
				target->pod = *pod;
			if (!target->child && !target->failures && !settle_ms(&target->pod))
				target->due = now;
			return true;
		}
		if (!target->used && !free_one)
			free_one = target;
	}
	if (!free_one) {
		book->left_out++;
		return false;
	}
	*free_one =
		(struct node_target){ .used = true, .pod = *pod, .seen = now, .due = mono_add_ms(now, settle_ms(pod)) };
	return true;
}

static uint64_t quiet_ms(const struct node_target *target, struct mono now)
{
	return now.ns > target->seen.ns ? (now.ns - target->seen.ns) / 1000000 : 0;
}

enum node_step nodebook_next(struct nodebook *book, struct mono now, size_t *ret_target)
{
	for (size_t i = 0; i < book->max; i++) {
		struct node_target *target = &book->targets[i];
		if (!target->used)
			continue;
		bool quiet = quiet_ms(target, now) >= NODE_QUIET_MS;
		*ret_target = i;
		if (quiet && target->child && !target->ending) {
			target->ending = true;
			return NODE_END;
		}
		if (quiet && !target->child)
			*target = (struct node_target){ 0 };
		else if (!target->child && !mono_ms_until(now, target->due))
			return NODE_START;
	}
	return NODE_WAIT;
}

void nodebook_started(struct nodebook *book, size_t target, int child, struct mono now)
{
	book->targets[target].child = child;
	book->targets[target].ending = false;
	book->targets[target].started = now;
	book->started_total++;
}

void nodebook_failed(struct nodebook *book, size_t target, struct mono now)
{
	struct node_target *t = &book->targets[target];
	uint64_t wait_ms = NODE_AGAIN_MS;
	for (unsigned i = 0; i < t->failures && wait_ms < NODE_AGAIN_MAX_MS; i++)
		wait_ms *= 2;
	t->failures++;
	t->due = mono_add_ms(now, wait_ms < NODE_AGAIN_MAX_MS ? wait_ms : NODE_AGAIN_MAX_MS);
	book->failed_total++;
}

void nodebook_ended(struct nodebook *book, size_t target, struct mono now)
{
	struct node_target *t = &book->targets[target];
	t->child = 0;
	if (t->ending) {
		book->ended_total++;
		*t = (struct node_target){ 0 };
		return;
	}
	if (!mono_ms_until(now, mono_add_ms(t->started, NODE_STABLE_MS)))
		t->failures = 0;
	nodebook_failed(book, target, now);
}

size_t nodebook_targets(const struct nodebook *book)
{
	size_t n = 0;
	for (size_t i = 0; i < book->max; i++)
		n += book->targets[i].used;
	return n;
}

size_t nodebook_children(const struct nodebook *book)
{
	size_t n = 0;
	for (size_t i = 0; i < book->max; i++)
		n += book->targets[i].child != 0;
	return n;
}
