/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_parts.h"

void subject_view_of(const struct wire_subject *subject, struct subject_view *ret_view)
{
	*ret_view = (struct subject_view){
		.cluster = subject->cluster,
		.namespace_ = subject->namespace_,
		.workload = subject->workload,
		.pod = subject->pod,
		.pod_uid = subject->pod_uid,
		.node = subject->node,
		.container = subject->container,
		.role = subject->role,
		.asserted = subject->asserted,
		.n_jobs = (uint8_t)subject->n_jobs,
		.n_labels = (uint8_t)subject->n_labels,
	};
	for (size_t i = 0; i < subject->n_jobs; i++)
		ret_view->jobs[i] = subject->jobs[i];
	for (size_t i = 0; i < subject->n_labels; i++) {
		ret_view->labels[i].key = subject->labels[i].key;
		ret_view->labels[i].value = subject->labels[i].value;
	}
}

static bool is(const char *want, const char *there)
{
	return !want || strcmp(want, there) == 0;
}

bool subject_has_job(const struct subject_view *view, const char *job)
{
	for (size_t i = 0; i < view->n_jobs; i++)
		if (strcmp(view->jobs[i], job) == 0)
			return true;
	return false;
}

static bool has_label(const struct subject_view *view, const char *key, const char *value)
{
	for (size_t i = 0; i < view->n_labels; i++)
		if (strcmp(view->labels[i].key, key) == 0)
			return strcmp(view->labels[i].value, value) == 0;
	return false;
}

bool subject_matches(const struct subject_filter *filter, const struct subject_view *view)
{
	if (!is(filter->cluster, view->cluster) || !is(filter->namespace_, view->namespace_) ||
	    !is(filter->workload, view->workload) || !is(filter->pod, view->pod) || !is(filter->node, view->node) ||
	    !is(filter->container, view->container) || (filter->has_role && filter->role != view->role) ||
	    (filter->job && !subject_has_job(view, filter->job)))
		return false;
	for (size_t i = 0; i < filter->n_labels; i++)
		if (!has_label(view, filter->labels[i].key, filter->labels[i].value))
			return false;
	return true;
}

/* Every string of a view, in one order, so that none is forgotten when they are taken and dropped. */
enum { STRINGS_MAX = 7 + WIRE_JOBS_MAX + 2 * WIRE_LABELS_MAX };

static size_t strings_of(struct subject_view *view, const char **ret_strings[STRINGS_MAX])
{
	size_t n = 0;
	const char **const fixed[] = { &view->cluster, &view->namespace_, &view->workload, &view->pod,
				       &view->pod_uid, &view->node,       &view->container };
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		ret_strings[n++] = fixed[i];
	for (size_t i = 0; i < view->n_jobs; i++)
		ret_strings[n++] = &view->jobs[i];
	for (size_t i = 0; i < view->n_labels; i++) {
		ret_strings[n++] = &view->labels[i].key;
		ret_strings[n++] = &view->labels[i].value;
	}
	return n;
}

void fleet_subject_drop(struct fleet *fleet, struct subject_view *subject)
{
	const char **strings[STRINGS_MAX];
	size_t n = strings_of(subject, strings);
	for (size_t i = 0; i < n; i++)
		intern_drop(&fleet->names, *strings[i]);
	*subject = (struct subject_view){ 0 };
}

int fleet_subject_set(struct fleet *fleet, struct subject_view *subject, const struct wire_subject *from,
		      struct err *err)
{
	struct subject_view view;
	const char **strings[STRINGS_MAX];
	bool failed = false;
	subject_view_of(from, &view);
	size_t n = strings_of(&view, strings);
	for (size_t i = 0; i < n; i++) {
		*strings[i] = intern_take(&fleet->names, *strings[i]);
		failed |= !*strings[i];
	}
	if (failed) {
		fleet_subject_drop(fleet, &view);
		return err_set(err, ERR_NOMEM, "no memory for the names of an agent");
	}
	fleet_subject_drop(fleet, subject);
	*subject = view;
	return 0;
}
