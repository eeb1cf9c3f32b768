/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 300 */
/*
 * Windows of a fleet that changes: each is a cut of the whole list, filtered and sorted by code that shares nothing with
 * ours; an index that was brought up to date is the one that is made anew; nothing of another namespace is in anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "collector/fleet_sum.h"
#include "collector/fleet_view.h"
#include "support/fleetfill.h"
#include "support/prng.h"

enum { ROUNDS = 60, STEPS = 40, PODS_MAX = 160, QUERIES = 12 };

static const struct wall t0 = { INT64_C(1764489600000) };

/* --- a fleet that changes ------------------------------------------------------------------------------------------ */

static const char *const namespaces[] = { "a", "b", "team-x", "" };
static const char *const engines[] = { "flink 1.20.0", "flink 2.1.0", "kafka-streams 4.0.0", "" };

static void connect_one(struct fleet *fleet, struct prng *prng, unsigned n, struct wall now)
{
	struct wire_hello hello;
	struct err err;
	char id[16];
	fleetfill_hello(&hello, n);
	/* Mostly the same workload again, perhaps under another name of the pod. */
	unsigned of = prng_one_in(prng, 4) ? (unsigned)prng_below(prng, 36) : n % 36;
	(void)snprintf(hello.subject.namespace_, sizeof hello.subject.namespace_, "%s", namespaces[of % 4]);
	(void)snprintf(hello.subject.workload, sizeof hello.subject.workload, "Job-%u", of / 4);
	/* Few names, so that some are the same. */
	(void)snprintf(hello.subject.pod, sizeof hello.subject.pod, "pod-%u", (unsigned)prng_below(prng, 40));
	(void)snprintf(hello.subject.cluster, sizeof hello.subject.cluster, "c%u", of % 2);
	(void)snprintf(hello.engine, sizeof hello.engine, "%s", engines[prng_below(prng, 4)]);
	(void)snprintf(id, sizeof id, "uid-%u", n);
	hello.subject.role = (enum wire_role)prng_below(prng, ROLE_COUNT);
	assert_int_equal(fleet_connected(fleet, n + 1, id, &hello, 0, now, &err), 0);
}

static void sample_one(struct fleet *fleet, struct prng *prng, unsigned n, struct wall now)
{
	struct wire_sample sample;
	fleetfill_sample(&sample, n);
	sample.interval_ms = prng_one_in(prng, 3) ? 20000 : 5000;
	sample.freeboard_bytes = (struct signed_qty){ (int64_t)prng_below(prng, 4000) - 100, !prng_one_in(prng, 4) };
	sample.limit = prng_one_in(prng, 5) ? (struct limit){ .kind = LIMIT_NONE } : limit_set(4000);
	sample.charge_bytes = prng_one_in(prng, 4) ? (struct qty){ 0 } : qty_measured(prng_below(prng, 9));
	sample.forecast.likely_s = (struct count){ prng_below(prng, 6), prng_one_in(prng, 2) };
	fleet_sample(fleet, n + 1, &sample, now);
}

static void change(struct fleet *fleet, struct prng *prng, struct wall now)
{
	unsigned n = (unsigned)prng_below(prng, PODS_MAX);
	struct wire_finding finding;
	struct err err;
	const struct fleet_pod *pod = fleet_find(fleet, n + 1);
	switch (prng_below(prng, 8)) {
	case 0:
		fleetfill_finding(&finding, n);
		finding.severity = (enum severity)(1 + prng_below(prng, 4));
		finding.edge = prng_one_in(prng, 3) ? WIRE_CLEARED : WIRE_OPENED;
		assert_int_equal(fleet_finding(fleet, n + 1, &finding, now, &err), 0);
		break;
	case 1:
		if (pod && pod->sessions)
			fleet_disconnected(fleet, n + 1, prng_one_in(prng, 2), now);
		break;
	case 2:
		if (prng_one_in(prng, 10))
			fleet_expire(fleet, now, prng_below(prng, 200000));
		break;
	case 3:
		if (!pod || pod->sessions < 2)
			connect_one(fleet, prng, n, now);
		break;
	default:
		sample_one(fleet, prng, n, now);
		break;
	}
}

/* --- what a view should be ----------------------------------------------------------------------------------------- */

struct expected {
	const struct fleet_pod *pod; /* of a workload: the worst */
	const struct fleet_workload *workload;
	enum severity severity;
};

static struct wall judged_at;
static const struct view_query *judged;

static int by_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_name(const struct expected *a, const struct expected *b)
{
	if (judged->kind == VIEW_PODS) {
		int by = strcmp(a->pod->subject.pod, b->pod->subject.pod);
		return by ? by : by_i64(a->pod->agent, b->pod->agent);
	}
	int by = strcmp(a->workload->name, b->workload->name);
	by = by ? by : strcmp(a->workload->cluster, b->workload->cluster);
	return by ? by : strcmp(a->workload->namespace_, b->workload->namespace_);
}

/* What is known before what is not, whichever way it goes: 0 to go on. */
static int by_known(bool a, bool b)
{
	return a == b ? 0 : a ? -1 : 1;
}

static int by_danger(const struct fleet_pod *a, const struct fleet_pod *b, enum severity of_a, enum severity of_b,
		     int sign)
{
	const struct count x = a->latest.forecast.likely_s, y = b->latest.forecast.likely_s;
	struct signed_qty p = fleet_freeboard_bp(&a->latest), q = fleet_freeboard_bp(&b->latest);
	int by = by_known(a->sessions > 0, b->sessions > 0);
	by = by ? by : by_known(x.known, y.known);
	by = by || !x.known ? by : sign * by_u64(x.n, y.n);
	by = by || x.known ? by : by_known(p.known, q.known);
	int last = by_known(p.known, q.known);
	last = last || !p.known ? last : by_i64(p.bytes, q.bytes);
	last = last ? last : by_i64(of_b, of_a);
	return by ? by : sign * last;
}

static int in_order(const void *left, const void *right)
{
	const struct expected *a = left, *b = right;
	int sign = judged->descending ? -1 : 1, by = 0;
	struct signed_qty p = fleet_freeboard_bp(&a->pod->latest), q = fleet_freeboard_bp(&b->pod->latest);
	struct qty x = a->pod->latest.charge_bytes, y = b->pod->latest.charge_bytes;
	switch (judged->sort) {
	case VIEW_DANGER:
	case VIEW_SORT_COUNT:
		by = by_danger(a->pod, b->pod, pod_severity(a->pod), pod_severity(b->pod), sign);
		break;
	case VIEW_FREEBOARD:
		by = by_known(a->pod->sessions > 0, b->pod->sessions > 0);
		by = by ? by : by_known(p.known, q.known);
		by = by || !p.known ? by : sign * by_i64(p.bytes, q.bytes);
		break;
	case VIEW_SEVERITY:
		by = sign * by_i64(b->severity, a->severity);
		break;
	case VIEW_NAME:
		return sign * by_name(a, b);
	case VIEW_NAMESPACE:
		by = strcmp(a->workload->namespace_, b->workload->namespace_);
		return sign * (by ? by : by_name(a, b));
	case VIEW_CHARGE:
		by = by_known(qty_known(x), qty_known(y));
		by = by || !qty_known(x) ? by : sign * by_u64(y.bytes, x.bytes);
		break;
	case VIEW_HEARD:
		by = sign * by_i64(a->pod->heard.ms, b->pod->heard.ms);
		break;
	}
	return by ? by : by_name(a, b);
}

static bool has(const char *text, const char *part)
{
	size_t len = strlen(part);
	for (; *text; text++)
		if (strncasecmp(text, part, len) == 0)
			return true;
	return false;
}

static bool should_match(const struct fleet_pod *pod, const struct view_filter *f)
{
	const struct subject_view *s = &pod->subject;
	bool job = !f->job[0], text = !f->q[0] || has(s->pod, f->q) || has(s->workload, f->q) ||
				      has(s->namespace_, f->q) || has(s->node, f->q);
	for (size_t i = 0; i < s->n_jobs; i++) {
		job = job || strcmp(s->jobs[i], f->job) == 0;
		text = text || has(s->jobs[i], f->q);
	}
	char word[80];
	(void)snprintf(word, sizeof word, "%s ", f->engine);
	bool engine =
		!f->engine[0] || strcmp(pod->engine, f->engine) == 0 || strncmp(pod->engine, word, strlen(word)) == 0;
	return job && text && engine && (!f->cluster[0] || strcmp(f->cluster, s->cluster) == 0) &&
	       (!f->namespace_[0] || strcmp(f->namespace_, s->namespace_) == 0) &&
	       (!f->workload[0] || strcmp(f->workload, s->workload) == 0) && (!f->has_role || f->role == s->role) &&
	       (!f->has_state || f->state == pod_state(pod, judged_at)) && pod_severity(pod) >= f->least;
}

static size_t expect(const struct fleet *fleet, const struct auth_viewer *viewer, struct expected *rows, size_t *total)
{
	const struct fleet_workload *const *workloads;
	size_t n_workloads = fleet_workloads(fleet, &workloads), n = 0;
	*total = 0;
	for (size_t w = 0; w < n_workloads; w++) {
		struct expected row = { .workload = workloads[w] };
		bool any = false;
		if (!auth_sees(viewer, workloads[w]->namespace_))
			continue;
		*total += judged->kind == VIEW_PODS ? workloads[w]->n_pods : 1;
		for (const struct fleet_pod *pod = workloads[w]->pods; pod; pod = pod->next) {
			bool matches = should_match(pod, &judged->filter);
			any = any || matches;
			if (judged->kind == VIEW_PODS && matches)
				rows[n++] = (struct expected){ pod, workloads[w], pod_severity(pod) };
			int by = row.pod ? by_danger(pod, row.pod, pod_severity(pod), pod_severity(row.pod), 1) : -1;
			int name = row.pod ? strcmp(pod->subject.pod, row.pod->subject.pod) : 0;
			if (by < 0 || (by == 0 && (name < 0 || (name == 0 && pod->agent < row.pod->agent))))
				row.pod = pod;
			if (pod_severity(pod) > row.severity)
				row.severity = pod_severity(pod);
		}
		if (judged->kind == VIEW_WORKLOADS && any)
			rows[n++] = row;
	}
	qsort(rows, n, sizeof *rows, in_order);
	return n;
}

/* --- a query at random --------------------------------------------------------------------------------------------- */

static void query_of(struct prng *prng, struct view_query *query)
{
	struct view_filter *f = &query->filter;
	memset(query, 0, sizeof *query);
	query->kind = (enum view_kind)prng_below(prng, VIEW_KIND_COUNT);
	query->sort = (enum view_sort)prng_below(prng, VIEW_SORT_COUNT);
	query->descending = prng_one_in(prng, 2);
	query->from = prng_one_in(prng, 2) ? 0 : (uint32_t)prng_below(prng, PODS_MAX);
	query->count = (uint32_t)prng_below(prng, prng_one_in(prng, 3) ? VIEW_COUNT_MAX : 10);
	if (prng_one_in(prng, 5))
		(void)snprintf(f->cluster, sizeof f->cluster, "c1");
	if (prng_one_in(prng, 5))
		(void)snprintf(f->namespace_, sizeof f->namespace_, "%s", namespaces[prng_below(prng, 3)]);
	if (prng_one_in(prng, 8))
		(void)snprintf(f->workload, sizeof f->workload, "Job-%u", (unsigned)prng_below(prng, 9));
	if (prng_one_in(prng, 8))
		(void)snprintf(f->job, sizeof f->job, "job-%u", (unsigned)prng_below(prng, 4));
	static const char *const some[] = { "flink", "flink 1.20.0", "flink 1.20", "kafka", "kafka-streams" };
	if (prng_one_in(prng, 6))
		(void)snprintf(f->engine, sizeof f->engine, "%s", some[prng_below(prng, 5)]);
	static const char *const parts[] = { "POD-1", "-2", "jOb-3", "team", "INTERNAL", "node-1.", "nothing", "b" };
	if (prng_one_in(prng, 3))
		(void)snprintf(f->q, sizeof f->q, "%s", parts[prng_below(prng, 8)]);
	f->least = prng_one_in(prng, 4) ? (enum severity)prng_below(prng, SEVERITY_COUNT) : SEVERITY_NONE;
	f->has_role = prng_one_in(prng, 6);
	f->role = f->has_role ? (enum wire_role)prng_below(prng, ROLE_COUNT) : 0;
	f->has_state = prng_one_in(prng, 5);
	f->state = f->has_state ? (enum pod_state)prng_below(prng, POD_STATE_COUNT) : 0;
}

static void viewer_of(struct prng *prng, struct auth_viewer *viewer)
{
	memset(viewer, 0, sizeof *viewer);
	viewer->role = AUTH_VIEWER;
	for (size_t i = prng_below(prng, 3); i > 0; i--)
		(void)snprintf(viewer->namespaces[viewer->n_namespaces++], 64, "%s", namespaces[prng_below(prng, 3)]);
}

static void check(const struct fleet *fleet, const struct fleet_index *index, struct view_scratch *scratch,
		  struct prng *prng)
{
	static struct expected rows[PODS_MAX + 1];
	static struct view_window window;
	struct view_query query;
	struct auth_viewer viewer;
	struct err err;
	size_t total;
	query_of(prng, &query);
	viewer_of(prng, &viewer);
	judged = &query;
	size_t n = expect(fleet, &viewer, rows, &total);
	assert_int_equal(fleet_view(index, &query, &viewer, scratch, &window, &err), 0);
	assert_int_equal(window.total, total);
	assert_int_equal(window.matching, n);
	size_t shown = query.from < n ? n - query.from : 0;
	shown = shown < query.count ? shown : query.count;
	assert_int_equal(window.n, shown);
	for (size_t i = 0; i < shown; i++) {
		assert_ptr_equal(window.rows[i].workload->workload, rows[query.from + i].workload);
		assert_ptr_equal(window.rows[i].pod->pod, rows[query.from + i].pod);
	}
}

static void check_above(const struct fleet *fleet, const struct fleet_index *index, struct prng *prng)
{
	const struct fleet_workload *const *workloads;
	size_t n = fleet_workloads(fleet, &workloads);
	struct view_summary sum, want = { 0 };
	static struct view_facets facets;
	struct auth_viewer viewer;
	viewer_of(prng, &viewer);
	for (size_t w = 0; w < n; w++) {
		if (!auth_sees(&viewer, workloads[w]->namespace_))
			continue;
		want.workloads++;
		for (const struct fleet_pod *pod = workloads[w]->pods; pod; pod = pod->next) {
			want.pods++;
			want.by_state[pod_state(pod, judged_at)]++;
			want.by_severity[pod_severity(pod)]++;
		}
	}
	fleet_view_summary(index, &viewer, &sum);
	assert_memory_equal(&sum, &want, sizeof sum);
	fleet_view_facets(index, &viewer, &facets);
	for (size_t i = 0; i < facets.n_namespaces; i++) {
		assert_true(auth_sees(&viewer, facets.namespaces[i]));
		assert_true(i == 0 || strcmp(facets.namespaces[i - 1], facets.namespaces[i]) < 0);
	}
	for (size_t i = 1; i < facets.n_engines; i++)
		assert_true(strcmp(facets.engines[i - 1], facets.engines[i]) < 0);
	assert_true(facets.n_clusters <= 2 && facets.n_engines <= 3);
}

static void a_window_is_a_cut_of_the_whole(void **state)
{
	(void)state;
	struct prng prng = prng_start("a_window_is_a_cut_of_the_whole");
	struct view_scratch scratch = { 0 };
	for (int round = 0; round < ROUNDS; round++) {
		struct fleet *fleet = NULL;
		struct fleet_index index;
		struct err err;
		assert_int_equal(fleet_new(&fleet, &err), 0);
		fleet_index_init(&index, fleet);
		judged_at = t0;
		for (unsigned n = 0; n < prng_below(&prng, PODS_MAX); n++)
			connect_one(fleet, &prng, n, judged_at);
		for (int step = 0; step < STEPS; step++) {
			for (uint64_t i = prng_below(&prng, 20); i > 0; i--)
				change(fleet, &prng, judged_at);
			judged_at.ms += (int64_t)prng_below(&prng, prng_one_in(&prng, 4) ? 40000 : 300);
			assert_int_equal(fleet_index_refresh(&index, judged_at, &err), 0);
			for (int i = 0; i < QUERIES; i++)
				check(fleet, &index, &scratch, &prng);
			check_above(fleet, &index, &prng);
		}
		fleet_index_done(&index);
		fleet_free(fleet);
	}
	view_scratch_done(&scratch);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_a_cut_of_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
