/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_view.h"

#include <stdlib.h>

const char *const view_kind_names[] = { "workloads", "pods" };
const char *const view_sort_names[] = { "danger", "freeboard", "severity", "name", "namespace", "charge", "heard" };
_Static_assert(sizeof view_kind_names / sizeof view_kind_names[0] == VIEW_KIND_COUNT, "a name each");
_Static_assert(sizeof view_sort_names / sizeof view_sort_names[0] == VIEW_SORT_COUNT, "a name each");

/* --- filter ------------------------------------------------------------------------------------------------------ */

/* A label of Kubernetes is ASCII; of what is not, upper and lower case are two letters. */
static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c;
}

/* Where somebody searches, this is most of what a view costs: most letters are not even the first. */
static bool has_part(const char *text, const char *part)
{
	const char small = lower(part[0]), large = upper(part[0]);
	for (; *text; text++) {
		size_t i = 1;
		if (*text != small && *text != large)
			continue;
		while (part[i] && lower(text[i]) == lower(part[i]))
			i++;
		if (!part[i])
			return true;
	}
	return false;
}

static bool has_own_text(const struct subject_view *subject, const char *q)
{
	if (has_part(subject->pod, q) || has_part(subject->node, q))
		return true;
	for (size_t i = 0; i < subject->n_jobs; i++)
		if (has_part(subject->jobs[i], q))
			return true;
	return false;
}

bool view_has_text(const struct fleet_pod *pod, const char *q)
{
	return !q[0] || has_part(pod->subject.workload, q) || has_part(pod->subject.namespace_, q) ||
	       has_own_text(&pod->subject, q);
}

bool view_is_engine(const char *engine, const char *wanted)
{
	size_t len = strlen(wanted);
	return len == 0 || (engine && strncmp(engine, wanted, len) == 0 && (!engine[len] || engine[len] == ' '));
}

/* What is asked of a pod, less what its workload has answered already. */
struct asked {
	const struct view_filter *filter;
	bool text; /* of the pod itself: its workload does not have it */
	const char *engine;
	bool engine_is; /* the answer for `engine`: pods that follow each other mostly have the same */
};

static bool pod_matches(const struct index_pod *entry, struct asked *asked)
{
	const struct view_filter *filter = asked->filter;
	if (entry->severity < filter->least || (filter->has_state && entry->state != filter->state))
		return false;
	if (filter->engine[0] && entry->engine != asked->engine) {
		asked->engine = entry->engine;
		asked->engine_is = view_is_engine(entry->engine, filter->engine);
	}
	if (filter->engine[0] && !(entry->engine && asked->engine_is))
		return false;
	const struct subject_view *subject = &entry->pod->subject;
	return (!filter->has_role || subject->role == filter->role) &&
	       (!filter->job[0] || subject_has_job(subject, filter->job)) &&
	       (!asked->text || has_own_text(subject, filter->q));
}

static bool is(const char *wanted, const char *there)
{
	return !wanted[0] || strcmp(wanted, there) == 0;
}

/* Of cluster, namespace and name; false: none of its pods can match. */
static bool workload_matches(const struct fleet_workload *workload, struct asked *asked)
{
	const struct view_filter *filter = asked->filter;
	if (!is(filter->cluster, workload->cluster) || !is(filter->namespace_, workload->namespace_) ||
	    !is(filter->workload, workload->name))
		return false;
	asked->text =
		filter->q[0] && !has_part(workload->name, filter->q) && !has_part(workload->namespace_, filter->q);
	return true;
}

/* --- order ------------------------------------------------------------------------------------------------------- */

/* Three numbers that compare as the rows do, whatever is asked for; `rank` is no other row's. */
struct view_key {
	uint64_t first, second;
	uint32_t rank, at; /* at: place in the index */
};

enum { GROUP_BITS = 3 };

static int compare(const void *a, const void *b)
{
	const struct view_key *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* In ascending order. A group comes after those of lower number whichever way the rest goes. */
static struct view_key key_of(unsigned group, uint64_t first, uint64_t second, bool descending)
{
	const uint64_t most = UINT64_MAX >> GROUP_BITS;
	first = first > most ? most : first;
	return (struct view_key){ .first = (uint64_t)group << (64 - GROUP_BITS) | (descending ? most - first : first),
				  .second = descending ? ~second : second };
}

/* Signed, so that it orders as u64. */
static uint64_t biased(int64_t value)
{
	return (uint64_t)value ^ (UINT64_C(1) << 63);
}

static struct view_key key_of_pod(const struct index_pod *entry, enum severity severity, uint32_t namespace_rank,
				  const struct view_query *query)
{
	bool down = query->descending, gone = entry->state == POD_GONE;
	switch (query->sort) {
	case VIEW_DANGER:
	case VIEW_SORT_COUNT:
		break;
	case VIEW_FREEBOARD:
		return key_of((entry->freeboard_bp.known ? 0U : 1U) + (gone ? 2U : 0U), 0,
			      biased(entry->freeboard_bp.bytes), down);
	case VIEW_SEVERITY:
		return key_of(0, (uint64_t)(SEVERITY_COUNT - severity), 0, down);
	case VIEW_NAME:
		return key_of(0, 0, entry->rank, down);
	case VIEW_NAMESPACE:
		return key_of(0, namespace_rank, entry->rank, down);
	case VIEW_CHARGE:
		return key_of(qty_known(entry->charge_bytes) ? 0 : 1, 0, ~entry->charge_bytes.bytes, down);
	case VIEW_HEARD:
		return key_of(0, 0, biased(entry->heard_ms), down);
	}
	return key_of(entry->danger.group, entry->danger.first, entry->danger.second, down);
}

/* By its worst pod, but for names and what counts for all of its pods. */
static struct view_key key_of_workload(const struct fleet_index *index, const struct index_workload *entry,
				       const struct view_query *query)
{
	struct view_key key;
	if (query->sort == VIEW_NAME)
		key = key_of(0, 0, entry->rank, query->descending);
	else if (query->sort == VIEW_NAMESPACE)
		key = key_of(0, entry->namespace_rank, entry->rank, query->descending);
	else
		key = key_of_pod(&index->pods[entry->worst], entry->severity, 0, query);
	key.rank = entry->rank;
	return key;
}

static void swap(struct view_key *a, struct view_key *b)
{
	struct view_key kept = *a;
	*a = *b;
	*b = kept;
}

/*
 * The `n` smallest to the front, in any order: Hoare's selection. No two keys are the same, so that a pivot splits; the
 * median of three keeps sorted input from being the worst case.
 */
static void select_smallest(struct view_key *keys, size_t len, size_t n)
{
	size_t low = 0, high = len;
	while (high - low > 1 && n > low && n < high) {
		size_t middle = low + (high - low) / 2, i = low, j = high - 1;
		if (compare(&keys[middle], &keys[low]) < 0)
			swap(&keys[middle], &keys[low]);
		if (compare(&keys[high - 1], &keys[low]) < 0)
			swap(&keys[high - 1], &keys[low]);
		if (compare(&keys[high - 1], &keys[middle]) < 0)
			swap(&keys[high - 1], &keys[middle]);
		struct view_key pivot = keys[middle];
		while (i <= j) {
			while (compare(&keys[i], &pivot) < 0)
				i++;
			while (compare(&keys[j], &pivot) > 0)
				j--;
			if (i > j)
				break;
			swap(&keys[i++], &keys[j]);
			if (j-- == 0)
				break;
		}
		/* [low, j] <= pivot <= [i, high) */
		if (n <= j + 1)
			high = j + 1;
		else if (n >= i)
			low = i;
		else
			return;
	}
}

/* --- the window -------------------------------------------------------------------------------------------------- */

void view_scratch_done(struct view_scratch *scratch)
{
	free(scratch->keys);
	*scratch = (struct view_scratch){ 0 };
}

struct gathering {
	const struct fleet_index *index;
	const struct view_query *query;
	struct asked asked;
	struct view_key *keys;
	uint64_t total, matching;
};

static void gather(struct gathering *g, size_t w)
{
	const struct index_workload *entry = &g->index->workloads[w];
	bool pods = g->query->kind == VIEW_PODS;
	g->total += pods ? entry->n : 1;
	if (!workload_matches(entry->workload, &g->asked))
		return;
	for (size_t i = entry->first; i < entry->first + entry->n; i++) {
		const struct index_pod *pod = &g->index->pods[i];
		if (!pod_matches(pod, &g->asked))
			continue;
		struct view_key *key = &g->keys[g->matching++];
		if (!pods) {
			*key = key_of_workload(g->index, entry, g->query);
			key->at = (uint32_t)w;
			return;
		}
		*key = key_of_pod(pod, pod->severity, entry->namespace_rank, g->query);
		key->rank = pod->rank;
		key->at = (uint32_t)i;
	}
}

static const struct index_workload *workload_of(const struct fleet_index *index, size_t at)
{
	size_t low = 0, high = index->n_workloads;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (index->workloads[middle].first <= at)
			low = middle;
		else
			high = middle;
	}
	return &index->workloads[low];
}

static void cut(const struct gathering *g, struct view_window *window)
{
	uint64_t from = g->query->from, to = from + g->query->count;
	window->total = g->total;
	window->matching = g->matching;
	window->n = 0;
	if (from >= g->matching)
		return;
	if (to > g->matching)
		to = g->matching;
	select_smallest(g->keys, g->matching, from);
	select_smallest(g->keys + from, g->matching - from, to - from);
	qsort(g->keys + from, to - from, sizeof *g->keys, compare);
	for (uint64_t i = from; i < to; i++) {
		size_t at = g->keys[i].at;
		struct view_row *row = &window->rows[window->n++];
		if (g->query->kind == VIEW_PODS)
			*row = (struct view_row){ workload_of(g->index, at), &g->index->pods[at] };
		else
			*row = (struct view_row){ &g->index->workloads[at],
						  &g->index->pods[g->index->workloads[at].worst] };
	}
}

int fleet_view(const struct fleet_index *index, const struct view_query *query, const struct auth_viewer *viewer,
	       struct view_scratch *scratch, struct view_window *ret_window, struct err *err)
{
	if (scratch->room < index->n_pods) {
		struct view_key *keys = reallocarray(scratch->keys, index->n_pods, sizeof *keys);
		if (!keys)
			return err_set(err, ERR_NOMEM, "no memory for a view of the fleet");
		scratch->keys = keys;
		scratch->room = index->n_pods;
	}
	struct gathering g = { .index = index, .query = query, .asked.filter = &query->filter, .keys = scratch->keys };
	for (size_t w = 0; w < index->n_workloads; w++)
		if (auth_sees(viewer, index->workloads[w].workload->namespace_))
			gather(&g, w);
	cut(&g, ret_window);
	return 0;
}

/* --- above and beside it ----------------------------------------------------------------------------------------- */

void fleet_view_summary(const struct fleet_index *index, const struct auth_viewer *viewer,
			struct view_summary *ret_summary)
{
	struct view_summary sum = { 0 };
	for (size_t w = 0; w < index->n_workloads; w++) {
		const struct index_workload *entry = &index->workloads[w];
		if (!auth_sees(viewer, entry->workload->namespace_))
			continue;
		sum.workloads++;
		sum.pods += entry->n;
		for (unsigned i = 0; i < POD_STATE_COUNT; i++)
			sum.by_state[i] += entry->by_state[i];
		for (unsigned i = 0; i < SEVERITY_COUNT; i++)
			sum.by_severity[i] += entry->by_severity[i];
	}
	*ret_summary = sum;
}

/* In order, each once. Strings of the fleet are the same where their addresses are. */
static void add_value(const char **values, size_t *n, const char *value)
{
	size_t at = *n;
	if (!value || !value[0])
		return;
	while (at > 0 && values[at - 1] != value && strcmp(values[at - 1], value) > 0)
		at--;
	if ((at > 0 && values[at - 1] == value) || *n == VIEW_FACETS_MAX)
		return;
	memmove(values + at + 1, values + at, (*n - at) * sizeof *values);
	values[at] = value;
	++*n;
}

void fleet_view_facets(const struct fleet_index *index, const struct auth_viewer *viewer,
		       struct view_facets *ret_facets)
{
	struct view_facets *facets = ret_facets;
	const char *engine = NULL;
	facets->n_clusters = facets->n_namespaces = facets->n_engines = 0;
	for (size_t w = 0; w < index->n_workloads; w++) {
		const struct index_workload *entry = &index->workloads[w];
		if (!auth_sees(viewer, entry->workload->namespace_))
			continue;
		add_value(facets->clusters, &facets->n_clusters, entry->workload->cluster);
		add_value(facets->namespaces, &facets->n_namespaces, entry->workload->namespace_);
		for (size_t i = entry->first; i < entry->first + entry->n; i++)
			if (index->pods[i].engine != engine) {
				engine = index->pods[i].engine;
				add_value(facets->engines, &facets->n_engines, engine);
			}
	}
}
