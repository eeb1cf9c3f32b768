/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alert_group.h"

#include <stdlib.h>

#include "collector/fleet_sum.h"

struct grouping {
	const struct alert_grouping *how;
	struct alert_group *groups;
	size_t n, first, left_out; /* first: of the present workload */
};

int alert_key_compare(const char *const a[4], const char *const b[4])
{
	int order = 0;
	for (size_t i = 0; i < 4 && order == 0; i++)
		order = strcmp(a[i], b[i]);
	return order;
}

static int compare_groups(const void *a, const void *b)
{
	const struct alert_group *x = a, *y = b;
	const char *const of_x[4] = { x->cluster, x->namespace_, x->workload, x->rule };
	const char *const of_y[4] = { y->cluster, y->namespace_, y->workload, y->rule };
	return alert_key_compare(of_x, of_y);
}

static struct alert_group *find(struct grouping *g, const struct alert_group *key)
{
	for (size_t i = g->first; i < g->n; i++)
		if (strcmp(g->groups[i].rule, key->rule) == 0)
			return &g->groups[i];
	if (g->n == ALERT_GROUPS_MAX) {
		g->left_out++;
		return NULL;
	}
	g->groups[g->n] = *key;
	g->groups[g->n].figures.silenced = true; /* until one is not */
	g->groups[g->n].figures.owner = -1;
	return &g->groups[g->n++];
}

/* Negative: `a` is worse. One whose freeboard is not known stands behind those of its severity. */
static int compare_worst(const struct alert_worst *a, const struct alert_worst *b)
{
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->freeboard_bp.known != b->freeboard_bp.known)
		return a->freeboard_bp.known ? -1 : 1;
	if (a->freeboard_bp.known && a->freeboard_bp.bytes != b->freeboard_bp.bytes)
		return a->freeboard_bp.bytes < b->freeboard_bp.bytes ? -1 : 1;
	return strcmp(a->pod, b->pod);
}

static void remove_worst(struct alert_figures *figures, size_t at)
{
	memmove(&figures->worst[at], &figures->worst[at + 1], (figures->n_worst - at - 1) * sizeof figures->worst[0]);
	figures->n_worst--;
}

/* Each pod once, with its worst finding. True: it is the worst of all now. */
static bool place_worst(struct alert_figures *figures, const struct alert_worst *worst)
{
	for (size_t i = 0; i < figures->n_worst; i++) {
		if (figures->worst[i].agent != worst->agent)
			continue;
		if (compare_worst(worst, &figures->worst[i]) >= 0)
			return false;
		remove_worst(figures, i);
		break;
	}
	size_t at = 0;
	while (at < figures->n_worst && compare_worst(worst, &figures->worst[at]) >= 0)
		at++;
	if (at == ALERT_WORST_MAX)
		return false;
	if (figures->n_worst == ALERT_WORST_MAX)
		figures->n_worst--;
	memmove(&figures->worst[at + 1], &figures->worst[at], (figures->n_worst - at) * sizeof figures->worst[0]);
	figures->worst[at] = *worst;
	figures->n_worst++;
	return at == 0;
}

static void add(struct alert_group *group, const struct alert_worst *worst, const struct fleet_finding *finding,
		bool silenced)
{
	struct alert_figures *figures = &group->figures;
	if (silenced && !figures->silenced)
		return;
	if (!silenced && figures->silenced) {
		figures->silenced = false;
		figures->n_pods = 0;
		figures->n_worst = 0;
		group->severity = SEVERITY_NONE;
	}
	if (figures->n_pods == 0 || group->last != worst->agent)
		figures->n_pods++;
	group->last = worst->agent;
	if (finding->severity > group->severity)
		group->severity = finding->severity;
	if (!place_worst(figures, worst))
		return;
	str_copy(figures->title, sizeof figures->title, str_of(finding->title));
	figures->owner = finding->owner;
}

static void take_pod(struct grouping *g, const struct alert_group *key, const struct fleet_pod *pod)
{
	const struct alert_grouping *how = g->how;
	for (size_t i = 0; i < pod->findings.n; i++) {
		const struct fleet_finding *finding = &pod->findings.items[i];
		struct alert_group wanted = *key;
		struct alert_worst worst = { .agent = pod->agent,
					     .severity = finding->severity,
					     .freeboard_bytes = pod->latest.freeboard_bytes,
					     .freeboard_bp = fleet_freeboard_bp(&pod->latest) };
		if (finding->severity < how->least)
			continue;
		wanted.rule = finding->rule;
		struct alert_group *group = find(g, &wanted);
		if (!group)
			continue;
		str_copy(worst.pod, sizeof worst.pod, str_of(pod->subject.pod[0] ? pod->subject.pod : pod->agent_id));
		add(group, &worst, finding, how->silenced && how->silenced(how->context, pod, finding));
	}
}

static void take_own(struct grouping *g, const struct fleet_findings *findings)
{
	struct alert_group key = { .cluster = g->how->cluster, .namespace_ = "", .workload = ALERT_OWN_WORKLOAD };
	key.figures.n_workload_pods = 1;
	g->first = g->n;
	for (size_t i = 0; i < findings->n; i++) {
		const struct fleet_finding *finding = &findings->items[i];
		struct alert_worst worst = { .severity = finding->severity, .pod = ALERT_OWN_WORKLOAD };
		key.rule = finding->rule;
		struct alert_group *group = finding->severity < g->how->least ? NULL : find(g, &key);
		if (group)
			add(group, &worst, finding, false);
	}
}

size_t alert_groups(const struct fleet *fleet, const struct alert_grouping *how, struct alert_group *groups,
		    size_t *ret_left_out)
{
	struct grouping g = { .how = how, .groups = groups };
	const struct fleet_workload *const *workloads;
	size_t n = fleet_workloads(fleet, &workloads);
	/* Its own come first: they are few, and tell of what else is left out. */
	take_own(&g, fleet_own_findings(fleet));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_workload *workload = workloads[i];
		struct alert_group key = { .cluster = workload->cluster,
					   .namespace_ = workload->namespace_,
					   .workload = workload->name };
		key.figures.n_workload_pods = (uint32_t)workload->n_pods;
		g.first = g.n;
		for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next)
			if (pod->sessions > 0 || !pod->said_bye)
				take_pod(&g, &key, pod);
	}
	/* Within a workload they stand as they were met, and the collector's own need not be the first by name. */
	qsort(groups, g.n, sizeof groups[0], compare_groups);
	*ret_left_out = g.left_out;
	return g.n;
}
