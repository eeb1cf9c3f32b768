/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_index.h"

#include <stdlib.h>

#include "collector/fleet_sum.h"

const char *const pod_state_names[] = { "connected", "stale", "gone" };
_Static_assert(sizeof pod_state_names / sizeof pod_state_names[0] == POD_STATE_COUNT, "a name each");

enum { DANGER_KNOWN = 0, DANGER_FREEBOARD, DANGER_UNREAD, DANGER_GONE };

/* --- one pod ----------------------------------------------------------------------------------------------------- */

static int64_t stale_at(const struct fleet_pod *pod)
{
	int64_t after_ms = (int64_t)pod->latest.interval_ms * FLEET_STALE_INTERVALS;
	return pod->heard.ms + (after_ms > FLEET_STALE_MS ? after_ms : FLEET_STALE_MS);
}

enum pod_state pod_state(const struct fleet_pod *pod, struct wall now)
{
	if (pod->sessions == 0)
		return POD_GONE;
	return now.ms >= stale_at(pod) ? POD_STALE : POD_CONNECTED;
}

enum severity pod_severity(const struct fleet_pod *pod)
{
	return fleet_is_over(pod) ? SEVERITY_NONE : fleet_worst(&pod->findings);
}

/* Time to the limit, then freeboard, then severity. */
static struct index_danger danger_of(const struct fleet_pod *pod, struct signed_qty bp, enum severity severity)
{
	const struct fleet_latest *latest = &pod->latest;
	struct index_danger danger = {
		.group = latest->forecast.likely_s.known ? DANGER_KNOWN
			 : bp.known                      ? DANGER_FREEBOARD
							 : DANGER_UNREAD,
		.first = latest->forecast.likely_s.known ? latest->forecast.likely_s.n : 0,
		.second = (uint64_t)(SEVERITY_COUNT - severity),
	};
	/* 2^59 and more basis points are of a limit of some bytes. */
	const int64_t most = INT64_C(1) << 59;
	int64_t part = !bp.known || bp.bytes > most ? most : bp.bytes < -most ? -most : bp.bytes;
	danger.second |= (uint64_t)(part + most) << 3;
	if (pod->sessions == 0)
		danger.group = (uint8_t)(danger.group + DANGER_GONE);
	return danger;
}

/* < 0: `a` is in more danger. */
static int compare_danger(const struct index_pod *a, const struct index_pod *b)
{
	if (a->danger.group != b->danger.group)
		return a->danger.group < b->danger.group ? -1 : 1;
	if (a->danger.first != b->danger.first)
		return a->danger.first < b->danger.first ? -1 : 1;
	if (a->danger.second != b->danger.second)
		return a->danger.second < b->danger.second ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void fill_pod(struct index_pod *entry, struct wall now)
{
	const struct fleet_pod *pod = entry->pod;
	entry->engine = pod->engine;
	entry->changed = pod->changed;
	entry->stale_at_ms = pod->sessions ? stale_at(pod) : INT64_MAX;
	entry->state = pod_state(pod, now);
	entry->severity = pod_severity(pod);
	entry->heard_ms = pod->heard.ms;
	entry->charge_bytes = pod->latest.charge_bytes;
	entry->freeboard_bp = fleet_freeboard_bp(&pod->latest);
	entry->danger = danger_of(pod, entry->freeboard_bp, entry->severity);
}

/* --- one workload ------------------------------------------------------------------------------------------------ */

static void sum_up(struct fleet_index *index, struct index_workload *entry)
{
	memset(entry->by_state, 0, sizeof entry->by_state);
	memset(entry->by_severity, 0, sizeof entry->by_severity);
	entry->worst = entry->first;
	entry->severity = SEVERITY_NONE;
	entry->stale_at_ms = INT64_MAX;
	for (size_t i = entry->first; i < entry->first + entry->n; i++) {
		const struct index_pod *pod = &index->pods[i];
		entry->by_state[pod->state]++;
		entry->by_severity[pod->severity]++;
		if (pod->severity > entry->severity)
			entry->severity = pod->severity;
		if (pod->state == POD_CONNECTED && pod->stale_at_ms < entry->stale_at_ms)
			entry->stale_at_ms = pod->stale_at_ms;
		if (compare_danger(pod, &index->pods[entry->worst]) < 0)
			entry->worst = i;
	}
	entry->changed = entry->workload->changed;
}

/* False: a pod has another name than the order was made by. */
static bool update_workload(struct fleet_index *index, struct index_workload *entry, struct wall now)
{
	for (size_t i = entry->first; i < entry->first + entry->n; i++) {
		struct index_pod *pod = &index->pods[i];
		if (pod->changed != pod->pod->changed) {
			if (pod->pod->subject.pod != pod->name)
				return false;
			fill_pod(pod, now);
		} else if (pod->state == POD_CONNECTED && now.ms >= pod->stale_at_ms) {
			pod->state = POD_STALE;
		}
	}
	sum_up(index, entry);
	return true;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

static bool make_room(void *array, size_t n, size_t size, size_t *room)
{
	void *items;
	if (n <= *room)
		return true;
	memcpy(&items, array, sizeof items);
	size_t more = n + n / 4 + 64;
	void *larger = reallocarray(items, more, size);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof larger);
	*room = more;
	/* cppcheck-suppress memleak ; the caller's pointer, whatever its type, is the new one */
	return true;
}

static int by_pod_name(const void *a, const void *b, void *context)
{
	const struct index_pod *pods = context;
	const struct fleet_pod *x = pods[*(const uint32_t *)a].pod, *y = pods[*(const uint32_t *)b].pod;
	int by = x->subject.pod == y->subject.pod ? 0 : strcmp(x->subject.pod, y->subject.pod);
	return by ? by : x->agent < y->agent ? -1 : x->agent > y->agent;
}

/* Their own order is cluster, namespace, name: that decides where names are the same. */
static int by_workload_name(const void *a, const void *b, void *context)
{
	const struct index_workload *workloads = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int by = strcmp(workloads[x].workload->name, workloads[y].workload->name);
	return by ? by : x < y ? -1 : x > y;
}

static int by_namespace(const void *a, const void *b, void *context)
{
	const struct index_workload *workloads = context;
	const char *x = workloads[*(const uint32_t *)a].workload->namespace_;
	const char *y = workloads[*(const uint32_t *)b].workload->namespace_;
	return x == y ? 0 : strcmp(x, y);
}

static void rank(struct fleet_index *index)
{
	for (uint32_t i = 0; i < index->n_pods; i++)
		index->order[i] = i;
	qsort_r(index->order, index->n_pods, sizeof *index->order, by_pod_name, index->pods);
	for (uint32_t i = 0; i < index->n_pods; i++)
		index->pods[index->order[i]].rank = i;
	for (uint32_t i = 0; i < index->n_workloads; i++)
		index->order[i] = i;
	qsort_r(index->order, index->n_workloads, sizeof *index->order, by_workload_name, index->workloads);
	for (uint32_t i = 0; i < index->n_workloads; i++)
		index->workloads[index->order[i]].rank = i;
	qsort_r(index->order, index->n_workloads, sizeof *index->order, by_namespace, index->workloads);
	uint32_t n = 0;
	for (uint32_t i = 0; i < index->n_workloads; i++) {
		n += i > 0 && by_namespace(&index->order[i - 1], &index->order[i], index->workloads) != 0;
		index->workloads[index->order[i]].namespace_rank = n;
	}
}

static void list(struct fleet_index *index, const struct fleet_workload *const *workloads, size_t n_workloads)
{
	index->n_pods = 0;
	index->n_workloads = n_workloads;
	for (size_t w = 0; w < n_workloads; w++) {
		struct index_workload *entry = &index->workloads[w];
		*entry = (struct index_workload){ .workload = workloads[w], .first = index->n_pods };
		for (const struct fleet_pod *pod = workloads[w]->pods; pod; pod = pod->next)
			index->pods[index->n_pods++] = (struct index_pod){ .pod = pod, .name = pod->subject.pod };
		entry->n = index->n_pods - entry->first;
	}
}

static int make(struct fleet_index *index, struct wall now, struct err *err)
{
	const struct fleet_pod *const *pods;
	const struct fleet_workload *const *workloads;
	size_t n_pods = fleet_pods(index->fleet, &pods), n_workloads = fleet_workloads(index->fleet, &workloads);
	index->made = false;
	index->n_pods = index->n_workloads = 0;
	/* A workload has a pod, so there are never more of them. */
	if (!make_room(&index->pods, n_pods, sizeof *index->pods, &index->pods_room) ||
	    !make_room(&index->workloads, n_workloads, sizeof *index->workloads, &index->workloads_room) ||
	    !make_room(&index->order, n_pods, sizeof *index->order, &index->order_room))
		return err_set(err, ERR_NOMEM, "no memory for an index of the fleet");
	list(index, workloads, n_workloads);
	if (index->n_pods > 0)
		rank(index);
	for (size_t i = 0; i < index->n_pods; i++)
		fill_pod(&index->pods[i], now);
	for (size_t i = 0; i < index->n_workloads; i++)
		sum_up(index, &index->workloads[i]);
	index->made = true;
	return 0;
}

static bool is_due(const struct index_workload *entry, struct wall now)
{
	return entry->changed != entry->workload->changed || now.ms >= entry->stale_at_ms;
}

static bool update(struct fleet_index *index, struct wall now)
{
	for (size_t i = 0; i < index->n_workloads; i++)
		if (is_due(&index->workloads[i], now) && !update_workload(index, &index->workloads[i], now))
			return false;
	return true;
}

int fleet_index_refresh(struct fleet_index *index, struct wall now, struct err *err)
{
	uint64_t generation = fleet_generation(index->fleet), shape = fleet_shape(index->fleet);
	bool same = index->made && shape == index->shape, due = generation != index->generation;
	for (size_t i = 0; same && !due && i < index->n_workloads; i++)
		due = now.ms >= index->workloads[i].stale_at_ms;
	int rc = 0;
	if (!same || due) {
		index->version++;
		if (!same || !update(index, now))
			rc = make(index, now, err);
	}
	index->generation = generation;
	index->shape = shape;
	return rc;
}

void fleet_index_init(struct fleet_index *index, const struct fleet *fleet)
{
	*index = (struct fleet_index){ .fleet = fleet, .version = 1 };
}

void fleet_index_done(struct fleet_index *index)
{
	free(index->pods);
	free(index->workloads);
	free(index->order);
	fleet_index_init(index, index->fleet);
}
