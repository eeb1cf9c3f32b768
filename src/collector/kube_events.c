/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/esc.h"
#include "collector/api_query.h"
#include "collector/kube_event.h"

enum { SEND_MS = 10000, BACKOFF_MAX_MS = 60000, DENIED_MS = 600000, ANSWER_MAX = 64 * 1024, LINK_CAP = 400 };

/* What was told of one open finding. */
struct told {
	int64_t agent;
	char id[WIRE_ID_CAP];
	enum severity severity; /* NONE: nothing yet */
	bool of_start;          /* it was open when the collector started */
	struct mono not_before;
};

/* One Event under way; its thread has all of it but what `told` it is. */
struct job {
	struct kube_events *owner;
	struct told told; /* as it will be */
	char path[256];
	struct buf body;
	long status;
	int rc;
	struct err err;
};

struct kube_events {
	struct loop *loop;
	struct kube_events_options options;
	const struct fleet *fleet;
	const struct silences *silences;
	const struct podbook *book;
	struct told *told, *spare; /* KUBE_TOLD_MAX of each; told: by agent, then in the fleet's order */
	size_t n_told;
	bool starting;
	atomic_bool stopped;
	struct job *job; /* NULL: none is under way */
	unsigned failures;
	bool failing;
	struct mono next;
	struct kube_events_counts counts;
};

/* --- whom it is about ----------------------------------------------------------------------------- */

static bool is_watched(const struct kube_events *events, const char *namespace_)
{
	for (size_t i = 0; i < events->options.n_namespaces; i++)
		if (strcmp(events->options.namespaces[i], namespace_) == 0)
			return true;
	return events->options.n_namespaces == 0;
}

/* What an agent says of itself only decorates; an Event stands under a pod's name for all who see that namespace. */
static bool is_vouched(const struct kube_events *events, const struct fleet_pod *pod)
{
	const struct subject_view *subject = &pod->subject;
	if (!subject->namespace_[0] || !subject->pod[0] || !subject->pod_uid[0])
		return false;
	enum podbook_answer answer = podbook_is(events->book, subject->pod_uid, subject->namespace_, subject->pod);
	/* A review's id is the pod's UID. */
	return answer == PODBOOK_YES || (answer == PODBOOK_UNKNOWN && strcmp(pod->agent_id, subject->pod_uid) == 0);
}

/* What was read back of a pod that may be long gone waits until somebody has word of it: its agent, or Kubernetes. */
static bool is_stale(const struct kube_events *events, const struct fleet_pod *pod, const struct told *told)
{
	const struct subject_view *subject = &pod->subject;
	return told->of_start && pod->restored &&
	       podbook_is(events->book, subject->pod_uid, subject->namespace_, subject->pod) != PODBOOK_YES;
}

static bool is_silenced(const struct kube_events *events, const struct fleet_pod *pod,
			const struct fleet_finding *finding, struct wall wall)
{
	return events->silences &&
	       silences_match(events->silences, &pod->subject, finding->rule, finding->severity, SILENCE_SILENCE, wall);
}

/* --- one Event ------------------------------------------------------------------------------------ */

static void job_free(struct job *job)
{
	buf_done(&job->body);
	free(job);
}

static struct told *find_told(struct kube_events *events, const struct told *of)
{
	for (size_t i = 0; i < events->n_told; i++)
		if (events->told[i].agent == of->agent && strcmp(events->told[i].id, of->id) == 0)
			return &events->told[i];
	return NULL;
}

static void send(void *context)
{
	struct job *job = context;
	auto_buf struct buf answer = { .cap = ANSWER_MAX };
	const struct kube_request request = { .method = "POST",
					      .path = job->path,
					      .body = buf_str(&job->body),
					      .cap = ANSWER_MAX,
					      .timeout_ms = SEND_MS,
					      .abandon = &job->owner->stopped };
	job->rc = kube_call(&job->owner->options.api, &request, &answer, &job->status, &job->err);
}

static bool is_there(const struct job *job)
{
	/* 409: of the same name, which is the same finding and severity. A cut answer of 2xx was taken all the same. */
	return job->rc == 0 || job->status == 409 || (job->status >= 200 && job->status < 300);
}

static void complain(struct kube_events *events, const struct job *job)
{
	char shown[2 * sizeof job->err.message];
	if (events->failing)
		return;
	events->failing = true;
	logger_say(events->options.log, SAY_WARNING, "kube-event-failing", "an Event is not taken: %s%s",
		   esc_copy(shown, sizeof shown, str_of(job->err.message)),
		   job->status == 403 ? "; the right is the chart's rbac.events" : "");
}

static void conclude(struct kube_events *events, const struct job *job, struct mono now)
{
	struct told *told = find_told(events, &job->told);
	uint64_t pause = 1000;
	if (is_there(job)) {
		if (events->failing)
			logger_say(events->options.log, SAY_INFO, "kube-event-well", "Events are taken again");
		events->failing = false;
		events->failures = 0;
		events->counts.events_total += job->status != 409;
	} else if (job->status >= 400 && job->status < 500 && job->status != 401 && job->status != 429) {
		/* About this one: a namespace that ends, a right that is missing there. Others may be taken. */
		complain(events, job);
		events->counts.refused_total += job->status != 403;
		events->counts.failures_total += job->status == 403;
		if (told && job->status == 403)
			told->not_before = mono_add_ms(now, DENIED_MS);
		if (job->status == 403)
			told = NULL;
	} else {
		complain(events, job);
		events->counts.failures_total++;
		events->failures++;
		for (unsigned i = 1; i < events->failures && pause < BACKOFF_MAX_MS; i++)
			pause *= 2;
		told = NULL;
	}
	if (told)
		told->severity = job->told.severity;
	events->next = mono_add_ms(now, pause < BACKOFF_MAX_MS ? pause : BACKOFF_MAX_MS);
}

static void done(void *context)
{
	struct job *job = context;
	struct kube_events *events = job->owner;
	events->job = NULL;
	if (!atomic_load(&events->stopped))
		conclude(events, job, loop_now(events->loop));
	job_free(job);
}

static void link_to(const struct kube_events *events, const struct fleet_pod *pod, const struct fleet_finding *finding,
		    char dest[LINK_CAP])
{
	auto_buf struct buf id = { .cap = LINK_CAP };
	struct str url = str_of(events->options.public_url ? events->options.public_url : "");
	while (url.len && url.ptr[url.len - 1] == '/')
		url.len--;
	dest[0] = '\0';
	if (url.len && url.len < LINK_CAP / 2 && api_finding_id(&id, pod->agent, finding->id) && id.len < LINK_CAP / 3)
		(void)snprintf(dest, LINK_CAP, "%.*s/#/findings/%s", (int)url.len, url.ptr, id.ptr);
}

static int fill(struct kube_events *events, const struct fleet_pod *pod, const struct fleet_finding *finding,
		struct wall wall, struct job *job, struct err *err)
{
	char link[LINK_CAP];
	link_to(events, pod, finding, link);
	const struct kube_event event = {
		.namespace_ = pod->subject.namespace_,
		.pod = pod->subject.pod,
		.pod_uid = pod->subject.pod_uid,
		.container = pod->subject.container,
		.finding = finding->id,
		.rule = finding->rule,
		.title = finding->title,
		.severity = finding->severity,
		.owner = finding->owner >= 0 && finding->owner < OWNER_COUNT ? owner_table[finding->owner].name : NULL,
		.instance = events->options.instance,
		.link = link,
		.at = wall,
	};
	(void)snprintf(job->path, sizeof job->path, "/apis/events.k8s.io/v1/namespaces/%.63s/events",
		       pod->subject.namespace_);
	return kube_event_encode(&event, &job->body, err);
}

static void begin(struct kube_events *events, const struct fleet_pod *pod, const struct fleet_finding *finding,
		  struct mono now, struct wall wall)
{
	struct err err;
	struct job *job = calloc(1, sizeof *job);
	if (!job)
		return; /* in a second again */
	job->owner = events;
	job->body.cap = KUBE_EVENT_BODY_MAX;
	job->told.agent = pod->agent;
	job->told.severity = finding->severity;
	str_copy(job->told.id, sizeof job->told.id, str_of(finding->id));
	int rc = fill(events, pod, finding, wall, job, &err);
	if (rc == 0)
		rc = loop_work(events->loop, send, done, job, &err);
	if (rc < 0) {
		job->err = err;
		conclude(events, job, now);
		job_free(job);
		return;
	}
	events->job = job;
}

/* --- a look ---------------------------------------------------------------------------------------- */

struct candidate {
	const struct fleet_pod *pod;
	const struct fleet_finding *finding;
};

/* What was told of it before; those of one agent stand together from `from` on. */
static const struct told *told_before(const struct kube_events *events, size_t from, int64_t agent, const char *id)
{
	for (size_t i = from; i < events->n_told && events->told[i].agent == agent; i++)
		if (strcmp(events->told[i].id, id) == 0)
			return &events->told[i];
	return NULL;
}

static bool concerns(const struct fleet_finding *finding)
{
	return finding->severity >= SEVERITY_WARNING && finding->severity < SEVERITY_COUNT;
}

/* One pod's open findings: into the new list of what was told, and the gravest that was not into `best`. */
static size_t look_at(struct kube_events *events, const struct fleet_pod *pod, size_t from, size_t n, struct mono now,
		      struct wall wall, struct candidate *best)
{
	bool here = is_watched(events, pod->subject.namespace_) && !fleet_is_over(pod),
	     vouched = is_vouched(events, pod);
	for (size_t k = 0; k < pod->findings.n && n < KUBE_TOLD_MAX; k++) {
		const struct fleet_finding *finding = &pod->findings.items[k];
		if (!concerns(finding))
			continue;
		struct told *entry = &events->spare[n++];
		const struct told *before = told_before(events, from, pod->agent, finding->id);
		*entry = before ? *before
				: (struct told){ .agent = pod->agent,
						 .severity = SEVERITY_NONE,
						 .of_start = events->starting };
		if (!before)
			str_copy(entry->id, sizeof entry->id, str_of(finding->id));
		if (!here || finding->severity <= entry->severity || is_stale(events, pod, entry))
			continue;
		events->counts.unvouched += !vouched;
		if (!vouched || mono_ms_until(now, entry->not_before) || is_silenced(events, pod, finding, wall))
			continue;
		if (!best->finding || finding->severity > best->finding->severity)
			*best = (struct candidate){ pod, finding };
	}
	return n;
}

static void look(struct kube_events *events, struct mono now, struct wall wall, struct candidate *best)
{
	const struct fleet_pod *const *pods;
	size_t n_pods = fleet_pods(events->fleet, &pods), n = 0, from = 0;
	events->counts.unvouched = 0;
	for (size_t i = 0; i < n_pods; i++) {
		while (from < events->n_told && events->told[from].agent < pods[i]->agent)
			from++;
		n = look_at(events, pods[i], from, n, now, wall, best);
	}
	struct told *former = events->told;
	events->told = events->spare;
	events->spare = former;
	events->n_told = n;
}

void kube_events_step(struct kube_events *events, struct mono now, struct wall wall)
{
	struct candidate best = { 0 };
	if (events->job || atomic_load(&events->stopped) || mono_ms_until(now, events->next))
		return;
	look(events, now, wall, &best);
	if (best.finding)
		begin(events, best.pod, best.finding, now, wall);
}

/* --- life ------------------------------------------------------------------------------------------- */

int kube_events_new(struct loop *loop, const struct kube_events_options *options, const struct fleet *fleet,
		    const struct silences *silences, const struct podbook *book, struct kube_events **ret_events,
		    struct err *err)
{
	struct candidate nobody = { 0 };
	struct kube_events *events = calloc(1, sizeof *events);
	if (!events)
		return err_set(err, ERR_NOMEM, "no memory for Events");
	events->loop = loop;
	events->options = *options;
	events->fleet = fleet;
	events->silences = silences;
	events->book = book;
	events->told = calloc(KUBE_TOLD_MAX, sizeof *events->told);
	events->spare = calloc(KUBE_TOLD_MAX, sizeof *events->spare);
	if (!events->told || !events->spare) {
		kube_events_free(events);
		return err_set(err, ERR_NOMEM, "no memory for Events");
	}
	events->starting = true;
	look(events, loop_now(loop), (struct wall){ 0 }, &nobody);
	events->starting = false;
	*ret_events = events;
	return 0;
}

void kube_events_stop(struct kube_events *events)
{
	atomic_store(&events->stopped, true);
}

unsigned kube_events_in_flight(const struct kube_events *events)
{
	return events->job != NULL;
}

void kube_events_free(struct kube_events *events)
{
	if (!events)
		return;
	free(events->told);
	free(events->spare);
	free(events);
}

void kube_events_count(const struct kube_events *events, struct kube_events_counts *ret_counts)
{
	*ret_counts = events->counts;
}
