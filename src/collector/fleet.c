/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_parts.h"

/* --- order: two arrays of pointers, sorted, so that pages have a cursor that outlives what comes and goes ------------ */

/* Room for one more pointer in an array of `n`. False: no memory. */
static bool make_room(void *array, size_t n, size_t *room)
{
	void **items;
	if (n < *room)
		return true;
	size_t more = *room ? *room * 2 : 64;
	memcpy(&items, array, sizeof items);
	void *larger = reallocarray(items, more, sizeof *items);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof larger);
	*room = more;
	/* cppcheck-suppress memleak ; the caller's pointer, whatever its type, is the new one */
	return true;
}

size_t fleet_after(const struct fleet *fleet, int64_t agent)
{
	size_t low = 0, high = fleet->n_pods;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (fleet->pods[middle]->agent > agent)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct fleet_pod *fleet_pod(const struct fleet *fleet, int64_t agent)
{
	size_t after = fleet_after(fleet, agent);
	return after > 0 && fleet->pods[after - 1]->agent == agent ? fleet->pods[after - 1] : NULL;
}

const struct fleet_pod *fleet_find(const struct fleet *fleet, int64_t agent)
{
	return fleet_pod(fleet, agent);
}

size_t fleet_pods(const struct fleet *fleet, const struct fleet_pod *const **ret_pods)
{
	*ret_pods = (const struct fleet_pod *const *)fleet->pods;
	return fleet->n_pods;
}

size_t fleet_workloads(const struct fleet *fleet, const struct fleet_workload *const **ret_workloads)
{
	*ret_workloads = (const struct fleet_workload *const *)fleet->workloads;
	return fleet->n_workloads;
}

const struct fleet_findings *fleet_own_findings(const struct fleet *fleet)
{
	return &fleet->own;
}

uint64_t fleet_generation(const struct fleet *fleet)
{
	return fleet->generation;
}

uint64_t fleet_shape(const struct fleet *fleet)
{
	return fleet->shape;
}

void fleet_mark(struct fleet *fleet, struct fleet_pod *pod)
{
	pod->changed = ++fleet->generation;
	if (pod->workload)
		pod->workload->changed = pod->changed;
}

static int compare(const struct fleet_workload *workload, const char *cluster, const char *namespace_, const char *name)
{
	int by = strcmp(workload->cluster, cluster);
	by = by ? by : strcmp(workload->namespace_, namespace_);
	return by ? by : strcmp(workload->name, name);
}

size_t fleet_workload_at(const struct fleet *fleet, const char *cluster, const char *namespace_, const char *name,
			 bool *ret_there)
{
	size_t low = 0, high = fleet->n_workloads;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(fleet->workloads[middle], cluster, namespace_, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_there = low < fleet->n_workloads && compare(fleet->workloads[low], cluster, namespace_, name) == 0;
	return low;
}

/* --- a pod and its workload ------------------------------------------------------------------------------------------ */

static void leave(struct fleet *fleet, struct fleet_pod *pod)
{
	struct fleet_workload *workload = pod->workload;
	struct fleet_pod **at = &workload->pods;
	bool there;
	while (*at != pod)
		at = &(*at)->next;
	*at = pod->next;
	pod->workload = NULL;
	workload->changed = fleet->shape = ++fleet->generation;
	if (--workload->n_pods > 0)
		return;
	size_t i = fleet_workload_at(fleet, workload->cluster, workload->namespace_, workload->name, &there);
	memmove(fleet->workloads + i, fleet->workloads + i + 1,
		(fleet->n_workloads - i - 1) * sizeof(struct fleet_workload *));
	fleet->n_workloads--;
	intern_drop(&fleet->names, workload->cluster);
	intern_drop(&fleet->names, workload->namespace_);
	intern_drop(&fleet->names, workload->name);
	free(workload);
}

/* The workload of this subject, made where it is new. NULL: no memory. */
static struct fleet_workload *workload_of(struct fleet *fleet, const struct wire_subject *subject)
{
	bool there;
	size_t at = fleet_workload_at(fleet, subject->cluster, subject->namespace_, subject->workload, &there);
	if (there)
		return fleet->workloads[at];
	struct fleet_workload *workload = calloc(1, sizeof *workload);
	if (!workload || !make_room(&fleet->workloads, fleet->n_workloads, &fleet->workloads_room)) {
		free(workload);
		return NULL;
	}
	workload->cluster = intern_take(&fleet->names, subject->cluster);
	workload->namespace_ = intern_take(&fleet->names, subject->namespace_);
	workload->name = intern_take(&fleet->names, subject->workload);
	if (!workload->cluster || !workload->namespace_ || !workload->name) {
		intern_drop(&fleet->names, workload->cluster);
		intern_drop(&fleet->names, workload->namespace_);
		intern_drop(&fleet->names, workload->name);
		free(workload);
		return NULL;
	}
	memmove(fleet->workloads + at + 1, fleet->workloads + at,
		(fleet->n_workloads - at) * sizeof(struct fleet_workload *));
	workload->born = ++fleet->generation;
	fleet->workloads[at] = workload;
	fleet->n_workloads++;
	return workload;
}

/* Into the workload that the subject names now. Only a pod that is in none can fail to find its way. */
static int join(struct fleet *fleet, struct fleet_pod *pod, const struct wire_subject *subject, struct err *err)
{
	struct fleet_workload *workload = workload_of(fleet, subject);
	if (!workload)
		return err_set(err, ERR_NOMEM, "no memory for a workload");
	if (pod->workload == workload)
		return 0;
	if (pod->workload)
		leave(fleet, pod);
	pod->workload = workload;
	pod->next = workload->pods;
	workload->pods = pod;
	workload->n_pods++;
	fleet->shape = fleet->generation + 1;
	fleet_mark(fleet, pod);
	return 0;
}

static void pod_free(struct fleet *fleet, struct fleet_pod *pod)
{
	if (pod->workload)
		leave(fleet, pod);
	fleet_subject_drop(fleet, &pod->subject);
	fleet_findings_done(fleet, &pod->findings);
	intern_drop(&fleet->names, pod->agent_id);
	intern_drop(&fleet->names, pod->program);
	intern_drop(&fleet->names, pod->jdk);
	intern_drop(&fleet->names, pod->engine);
	free(pod->composition.bytes);
	fleet_books_drop(fleet, &pod->composition.books);
	free(pod);
}

/* The pod of this agent with this subject, made where it is new: whole, or not there at all. */
static int pod_put(struct fleet *fleet, int64_t agent, const char *agent_id, const struct wire_subject *subject,
		   struct fleet_pod **ret_pod, struct err *err)
{
	size_t at = fleet_after(fleet, agent);
	struct fleet_pod *pod = fleet_pod(fleet, agent);
	bool is_new = !pod;
	if (is_new && fleet->n_pods >= FLEET_PODS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d agents", FLEET_PODS_MAX);
	if (is_new) {
		pod = calloc(1, sizeof *pod);
		if (!pod || !make_room(&fleet->pods, fleet->n_pods, &fleet->pods_room)) {
			free(pod);
			return err_set(err, ERR_NOMEM, "no memory for an agent");
		}
		pod->agent = agent;
		pod->agent_id = intern_take(&fleet->names, agent_id);
		pod->spark_loaded = true;
	}
	int rc = pod->agent_id ? 0 : err_set(err, ERR_NOMEM, "no memory for an agent");
	if (rc == 0)
		rc = fleet_subject_set(fleet, &pod->subject, subject, err);
	if (rc == 0)
		rc = join(fleet, pod, subject, err);
	if (rc < 0) {
		if (is_new)
			pod_free(fleet, pod);
		return rc;
	}
	if (is_new) {
		memmove(fleet->pods + at + 1, fleet->pods + at, (fleet->n_pods - at) * sizeof(struct fleet_pod *));
		fleet->pods[at] = pod;
		fleet->n_pods++;
	}
	*ret_pod = pod;
	return 0;
}

/* --- the doors --------------------------------------------------------------------------------------------------- */

int fleet_new(struct fleet **ret_fleet, struct err *err)
{
	struct fleet *fleet = calloc(1, sizeof *fleet);
	if (!fleet)
		return err_set(err, ERR_NOMEM, "no memory for the fleet");
	*ret_fleet = fleet;
	return 0;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	for (size_t i = 0; i < fleet->n_pods; i++)
		pod_free(fleet, fleet->pods[i]);
	fleet_findings_done(fleet, &fleet->own);
	free(fleet->pods);
	free(fleet->workloads);
	intern_done(&fleet->names);
	free(fleet);
}

/* A name that is worth less than its pod: without memory for it, it is not known. */
static void rename_to(struct fleet *fleet, const char **name, const char *to)
{
	const char *taken = intern_take(&fleet->names, to);
	intern_drop(&fleet->names, *name);
	*name = taken;
}

static void name_versions(struct fleet *fleet, struct fleet_pod *pod, const struct wire_hello *hello)
{
	rename_to(fleet, &pod->program, hello->program);
	rename_to(fleet, &pod->jdk, hello->jdk);
	rename_to(fleet, &pod->engine, hello->engine);
}

int fleet_connected(struct fleet *fleet, int64_t agent, const char *agent_id, const struct wire_hello *hello,
		    int64_t offset_ms, struct wall now, struct err *err)
{
	struct fleet_pod *pod;
	int rc = pod_put(fleet, agent, agent_id, &hello->subject, &pod, err);
	if (rc < 0)
		return rc;
	name_versions(fleet, pod, hello);
	pod->sessions++;
	pod->said_bye = pod->restored = false;
	pod->since = pod->heard = now;
	if (hello->n_epochs)
		pod->epoch = hello->epochs[hello->n_epochs - 1].epoch;
	uint64_t age_ms = hello->mono_ms < (uint64_t)now.ms ? hello->mono_ms : (uint64_t)now.ms;
	pod->epoch_began.ms = now.ms - (int64_t)age_ms;
	pod->alive_since.ms = 0;
	pod->offset_ms = offset_ms;
	fleet_mark(fleet, pod);
	return 0;
}

void fleet_confirmed(struct fleet *fleet, int64_t agent)
{
	struct fleet_pod *pod = fleet_pod(fleet, agent);
	if (!pod || !pod->subject.asserted)
		return;
	pod->subject.asserted = false;
	fleet_mark(fleet, pod);
}

int fleet_restored(struct fleet *fleet, int64_t agent, const char *agent_id, const struct wire_hello *hello,
		   bool said_bye, struct wall heard, struct err *err)
{
	struct fleet_pod *pod;
	int rc = pod_put(fleet, agent, agent_id, &hello->subject, &pod, err);
	if (rc < 0)
		return rc;
	name_versions(fleet, pod, hello);
	pod->said_bye = said_bye;
	pod->restored = true;
	pod->since = pod->heard = heard;
	pod->latest.pid = -1;
	pod->spark_loaded = false;
	fleet_mark(fleet, pod);
	return 0;
}

void fleet_disconnected(struct fleet *fleet, int64_t agent, bool said_bye, struct wall now)
{
	struct fleet_pod *pod = fleet_pod(fleet, agent);
	if (!pod || pod->sessions == 0 || --pod->sessions > 0)
		return;
	pod->said_bye = said_bye;
	pod->since = now;
	/* A line that was given up says nothing; the last word before it does. */
	if (said_bye)
		pod->heard = now;
	fleet_mark(fleet, pod);
}

void fleet_expire(struct fleet *fleet, struct wall now, uint64_t after_ms)
{
	size_t kept = 0;
	for (size_t i = 0; i < fleet->n_pods; i++) {
		struct fleet_pod *pod = fleet->pods[i];
		int64_t silent_ms = now.ms - pod->heard.ms;
		if (pod->sessions == 0 && silent_ms > 0 && (uint64_t)silent_ms > after_ms)
			pod_free(fleet, pod);
		else
			fleet->pods[kept++] = pod;
	}
	fleet->n_pods = kept;
}
