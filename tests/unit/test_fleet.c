/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>

#include "collector/fleet_sum.h"
#include "collector/intern.h"
#include "rules/collector_rules.h"
#include "support/fleetfill.h"
#include "support/prng.h"

static const struct wall t0 = { INT64_C(1764489600000) };

static struct wall later(int64_t ms)
{
	return (struct wall){ t0.ms + ms };
}

static struct fleet *fleet_of(unsigned n)
{
	struct fleet *fleet = NULL;
	struct err err;
	assert_int_equal(fleet_new(&fleet, &err), 0);
	for (unsigned i = 0; i < n; i++) {
		struct wire_hello hello;
		char id[40];
		fleetfill_hello(&hello, i);
		(void)snprintf(id, sizeof id, "uid-%u", i);
		assert_int_equal(fleet_connected(fleet, i + 1, id, &hello, 250, t0, &err), 0);
	}
	return fleet;
}

static void feed(struct fleet *fleet, unsigned n, int64_t at_ms)
{
	struct wire_sample sample;
	fleetfill_sample(&sample, n);
	fleet_sample(fleet, n + 1, &sample, later(at_ms));
}

static void a_life(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(2);
	const struct fleet_pod *pod = fleet_find(fleet, 2);
	struct wire_sample sample;
	assert_non_null(pod);
	assert_string_equal(pod->agent_id, "uid-1");
	assert_string_equal(pod->subject.pod, "job-0-taskmanager-1-1");
	assert_string_equal(pod->subject.labels[1].value, "silver");
	assert_int_equal(pod->offset_ms, 250);
	assert_int_equal(pod->latest.received.ms, 0);
	assert_int_equal(fleet_owner(&pod->composition, OWNER_JAVA_HEAP).state, QTY_UNREAD);
	assert_null(fleet_find(fleet, 3));
	assert_null(fleet_find(fleet, 0));

	feed(fleet, 1, 1000);
	fleetfill_sample(&sample, 1);
	assert_int_equal(pod->latest.wall.ms, sample.head.wall.ms + 250);
	assert_int_equal(pod->latest.received.ms, later(1000).ms);
	assert_int_equal(pod->composition.taken.ms, later(1000 - 1500).ms);
	assert_int_equal(pod->heard.ms, later(1000).ms);
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		struct qty got = fleet_owner(&pod->composition, (enum owner)i);
		assert_int_equal(got.state, sample.owners[i].state);
		assert_int_equal(got.bytes, sample.owners[i].bytes);
	}

	/* A tick without a scan keeps the composition; another process does not. */
	sample.has_composition = false;
	sample.charge_bytes = qty_measured(7);
	fleet_sample(fleet, 2, &sample, later(2000));
	assert_int_equal(pod->latest.charge_bytes.bytes, 7);
	assert_int_equal(fleet_owner(&pod->composition, OWNER_JAVA_HEAP).state, QTY_INFERRED);
	sample.start_ticks++;
	fleet_sample(fleet, 2, &sample, later(3000));
	assert_int_equal(pod->composition.known, 0);
	assert_false(pod->composition.residual_bytes.known);
	/* Fewer owners than before, then more. */
	sample.has_composition = true;
	memset(sample.owners, 0, sizeof sample.owners);
	sample.owners[OWNER_HUGETLB] = qty_measured(99);
	fleet_sample(fleet, 2, &sample, later(4000));
	assert_int_equal(fleet_owner(&pod->composition, OWNER_HUGETLB).bytes, 99);
	assert_int_equal(fleet_owner(&pod->composition, OWNER_SOCKETS).state, QTY_UNREAD);
	feed(fleet, 1, 5000);
	assert_int_equal(fleet_owner(&pod->composition, OWNER_HUGETLB).bytes, (OWNER_HUGETLB + 1) * 1048576 + 1);
	fleet_postmortem(fleet, 2, later(6000));
	assert_int_equal(pod->last_postmortem.ms, later(6000).ms);
	/* Of an agent that is not known: nothing. */
	fleet_sample(fleet, 77, &sample, t0);
	fleet_postmortem(fleet, 77, t0);
	fleet_disconnected(fleet, 77, true, t0);
	fleet_free(fleet);
}

/* What a composition is compared with stays until it is told anew, the process is another one, or nobody tells it. */
static void books(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(1);
	const struct fleet_composition *composition = &fleet_find(fleet, 1)->composition;
	struct wire_sample sample;
	fleetfill_sample(&sample, 0);
	feed(fleet, 0, 1000);
	const struct fleet_books *b = fleet_books(composition);
	assert_non_null(b);
	assert_int_equal(b->taken.ms, later(1000 - 1500).ms);
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		assert_int_equal(fleet_bound(b, (enum owner)i).kind, sample.books.bounds[i].kind);
		assert_int_equal(fleet_bound(b, (enum owner)i).bytes, sample.books.bounds[i].bytes);
		assert_int_equal(fleet_claim(b, (enum owner)i).state, sample.books.claims[i].state);
		assert_int_equal(fleet_claim(b, (enum owner)i).bytes, sample.books.claims[i].bytes);
	}
	assert_int_equal(b->unread, 1 << OWNER_ALLOCATOR_RETAINED);
	assert_int_equal(b->n_budgets, 5);
	assert_string_equal(b->budgets[2].name, "managed");
	/* The sum of what its owners hold now, and nothing where one of them is unread. */
	assert_int_equal(fleet_budget_used(composition, &b->budgets[2]).bytes,
			 sample.owners[OWNER_ROCKSDB_BLOCK_CACHE].bytes + sample.owners[OWNER_ROCKSDB_MEMTABLES].bytes +
				 sample.owners[OWNER_ROCKSDB_TABLE_READERS].bytes);
	assert_false(qty_known(fleet_budget_used(composition, &b->budgets[4])));

	sample.has_books = false;
	sample.owners[OWNER_METASPACE] = qty_measured(77);
	fleet_sample(fleet, 1, &sample, later(2000));
	assert_ptr_equal(fleet_books(composition), b);
	assert_int_equal(fleet_budget_used(composition, &b->budgets[3]).bytes, 77);
	fleet_sample(fleet, 1, &sample, later(1000 + FLEET_BOOKS_STALE_MS));
	assert_non_null(fleet_books(composition));
	fleet_sample(fleet, 1, &sample, later(1001 + FLEET_BOOKS_STALE_MS));
	assert_null(fleet_books(composition));
	feed(fleet, 0, 5000 + FLEET_BOOKS_STALE_MS);
	assert_non_null(fleet_books(composition));
	sample.start_ticks++;
	fleet_sample(fleet, 1, &sample, later(6000 + FLEET_BOOKS_STALE_MS));
	assert_true(composition->known);
	assert_null(fleet_books(composition));
	fleet_free(fleet);
}

static void sessions_change_in_either_order(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(1);
	const struct fleet_pod *pod = fleet_find(fleet, 1);
	struct wire_hello hello;
	struct err err;
	fleetfill_hello(&hello, 0);
	assert_int_equal(fleet_connected(fleet, 1, "uid-0", &hello, -90, later(50), &err), 0);
	fleet_disconnected(fleet, 1, false, later(60)); /* the older one */
	assert_int_equal(pod->sessions, 1);
	assert_int_equal(pod->since.ms, later(50).ms);
	fleet_disconnected(fleet, 1, true, later(70));
	assert_int_equal(pod->sessions, 0);
	assert_true(pod->said_bye);
	assert_int_equal(pod->since.ms, later(70).ms);
	fleet_disconnected(fleet, 1, false, later(80)); /* one too many */
	assert_true(pod->said_bye);
	assert_int_equal(fleet_connected(fleet, 1, "uid-0", &hello, 0, later(90), &err), 0);
	assert_false(pod->said_bye);
	fleet_free(fleet);
}

static void workloads_hold_their_pods(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(120);
	const struct fleet_workload *const *workloads;
	bool there;
	assert_int_equal(fleet_workloads(fleet, &workloads), 3);
	size_t at = fleet_workload_at(fleet, "prod", "team-1", "job-1", &there);
	assert_true(there);
	assert_int_equal(workloads[at]->n_pods, 50);
	assert_int_equal(fleet_workload_at(fleet, "prod", "team-1", "job-10", &there), at + 1);
	assert_false(there);

	/* A pod that says it belongs elsewhere moves, and an empty workload goes. */
	struct wire_hello hello;
	struct err err;
	for (unsigned i = 100; i < 120; i++) {
		fleetfill_hello(&hello, i);
		(void)snprintf(hello.subject.workload, sizeof hello.subject.workload, "job-1");
		(void)snprintf(hello.subject.namespace_, sizeof hello.subject.namespace_, "team-1");
		assert_int_equal(fleet_connected(fleet, i + 1, "x", &hello, 0, t0, &err), 0);
	}
	assert_int_equal(fleet_workloads(fleet, &workloads), 2);
	at = fleet_workload_at(fleet, "prod", "team-1", "job-1", &there);
	assert_int_equal(workloads[at]->n_pods, 70);
	size_t n = 0;
	for (const struct fleet_pod *pod = workloads[at]->pods; pod; pod = pod->next, n++)
		assert_ptr_equal(pod->workload, workloads[at]);
	assert_int_equal(n, 70);
	fleet_free(fleet);
}

static void filters(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(1);
	const struct fleet_pod *pod = fleet_find(fleet, 1);
	static const struct {
		struct subject_filter filter;
		bool want;
	} rows[] = {
		{ { 0 }, true },
		{ { .cluster = "prod" }, true },
		{ { .cluster = "test" }, false },
		{ { .namespace_ = "team-0", .workload = "job-0", .node = "node-0.internal" }, true },
		{ { .namespace_ = "team" }, false },
		{ { .pod = "job-0-taskmanager-1-0", .container = "flink-main-container" }, true },
		{ { .container = "sidecar" }, false },
		{ { .job = "job-0" }, true },
		{ { .job = "job-1" }, false },
		{ { .has_role = true, .role = ROLE_TASKMANAGER }, true },
		{ { .has_role = true, .role = ROLE_UNKNOWN }, false },
		{ { .labels = { { "tier", "silver" } }, .n_labels = 1 }, true },
		{ { .labels = { { "tier", "silver" }, { "app.kubernetes.io/name", "job-0" } }, .n_labels = 2 }, true },
		{ { .labels = { { "tier", "silver" }, { "app.kubernetes.io/name", "job-1" } }, .n_labels = 2 }, false },
		{ { .labels = { { "no", "" } }, .n_labels = 1 }, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (subject_matches(&rows[i].filter, &pod->subject) != rows[i].want)
			fail_msg("row %zu", i);
	fleet_free(fleet);
}

static void findings_open_and_close(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(1);
	const struct fleet_pod *pod = fleet_find(fleet, 1);
	struct wire_finding finding;
	struct err err;
	enum { MOST = FLEET_FINDINGS_MAX - COLLECTOR_RULE_COUNT };
	for (unsigned i = 0; i < MOST + 3; i++) {
		fleetfill_finding(&finding, i);
		assert_int_equal(fleet_finding(fleet, 1, &finding, t0, &err), 0);
	}
	assert_int_equal(pod->findings.n, MOST);
	assert_int_equal(pod->findings.left_out, 3);
	/* What the collector finds has a place all the same. */
	(void)snprintf(finding.rule, sizeof finding.rule, "agent-silent");
	assert_int_equal(fleet_finding(fleet, 1, &finding, t0, &err), 0);
	assert_int_equal(pod->findings.n, MOST + 1);
	finding.edge = WIRE_CLEARED;
	assert_int_equal(fleet_finding(fleet, 1, &finding, t0, &err), 0);
	fleetfill_finding(&finding, 5);
	finding.edge = WIRE_UPDATED;
	finding.severity = SEVERITY_CRITICAL;
	assert_int_equal(fleet_finding(fleet, 1, &finding, later(9), &err), 0);
	assert_int_equal(pod->findings.items[5].severity, SEVERITY_CRITICAL);
	assert_int_equal(pod->findings.items[5].updated.ms, later(9).ms);
	for (unsigned i = 0; i < MOST; i++) {
		fleetfill_finding(&finding, i);
		finding.edge = WIRE_CLEARED;
		assert_int_equal(fleet_finding(fleet, 1, &finding, t0, &err), 0);
		assert_int_equal(fleet_finding(fleet, 1, &finding, t0, &err), 0);
	}
	assert_int_equal(pod->findings.n, 0);
	/* An update of what was never opened here is open. */
	fleetfill_finding(&finding, 9);
	finding.edge = WIRE_UPDATED;
	assert_int_equal(fleet_finding(fleet, 1, &finding, t0, &err), 0);
	assert_int_equal(pod->findings.n, 1);
	assert_int_equal(fleet_finding(fleet, 0, &finding, t0, &err), 0);
	assert_int_equal(fleet_own_findings(fleet)->n, 1);
	assert_int_equal(fleet_finding(fleet, 999, &finding, t0, &err), 0);
	fleet_free(fleet);
}

static void who_is_silent_is_forgotten(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(10);
	struct wire_hello hello;
	struct err err;
	fleetfill_hello(&hello, 500);
	assert_int_equal(fleet_restored(fleet, 500, "old", &hello, true, later(-5000), &err), 0);
	assert_int_equal(fleet_find(fleet, 500)->latest.pid, -1);
	assert_string_equal(fleet_find(fleet, 500)->program, hello.program);
	assert_string_equal(fleet_find(fleet, 500)->jdk, hello.jdk);
	assert_string_equal(fleet_find(fleet, 500)->engine, hello.engine);
	for (int64_t agent = 1; agent <= 10; agent += 2)
		fleet_disconnected(fleet, agent, false, t0);
	feed(fleet, 2, 3000); /* agent 3: heard after its end, resent by another way */
	fleet_expire(fleet, later(1000), 1000);
	const struct fleet_pod *const *pods;
	assert_int_equal(fleet_pods(fleet, &pods), 10);
	fleet_expire(fleet, later(1001), 1000);
	assert_int_equal(fleet_pods(fleet, &pods), 6);
	assert_null(fleet_find(fleet, 1));
	assert_non_null(fleet_find(fleet, 2));
	assert_non_null(fleet_find(fleet, 3));
	fleet_expire(fleet, later(-1000000), 1); /* a clock that went back forgets nobody */
	assert_int_equal(fleet_pods(fleet, &pods), 6);
	fleet_free(fleet);
}

/* Figures are of who is there; findings of who did not leave on purpose; a sum says of how many it is. */
/* A clock that was set back does not make a connected agent heard of in the future, and so never silent. */
static void heard_by_the_clock_of_now(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(1);
	const struct fleet_pod *pod = fleet_find(fleet, 1);
	feed(fleet, 0, 86400000);
	feed(fleet, 0, 5000);
	assert_int_equal(pod->heard.ms, later(5000).ms);
	fleet_disconnected(fleet, 1, true, later(6000));
	feed(fleet, 0, 4000); /* stored before, loaded after */
	assert_int_equal(pod->heard.ms, later(6000).ms);
	fleet_free(fleet);
}

/* A session with another offset says nothing of the sample that an earlier one brought. */
static void a_time_is_corrected_once(void **state)
{
	(void)state;
	struct fleet *fleet = fleet_of(1);
	const struct fleet_pod *pod = fleet_find(fleet, 1);
	struct wire_hello hello;
	struct err err;
	feed(fleet, 0, 1000);
	int64_t taken = pod->latest.wall.ms;
	fleet_disconnected(fleet, 1, false, later(2000));
	fleetfill_hello(&hello, 0);
	assert_int_equal(fleet_connected(fleet, 1, "uid-0", &hello, 3600000, later(3000), &err), 0);
	assert_int_equal(pod->latest.wall.ms, taken);
	feed(fleet, 0, 4000);
	assert_int_equal(pod->latest.wall.ms, taken - 250 + 3600000);
	fleet_free(fleet);
}

static void a_workload_is_its_pods(void **state)
{
	(void)state;
	enum { MIB = 1 << 20 };
	struct fleet *fleet = fleet_of(6);
	const struct fleet_workload *const *workloads;
	static struct wire_sample sample;
	struct wire_finding finding;
	struct fleet_sum sum;
	struct err err;
	assert_int_equal(fleet_workloads(fleet, &workloads), 1);
	fleet_sum(workloads[0], &sum);
	assert_int_equal(sum.pods, 6);
	assert_false(qty_known(sum.limit_bytes));
	assert_false(sum.worst_freeboard_bytes.known);
	assert_null(sum.worst_pod);
	for (unsigned i = 0; i < 5; i++) { /* of the sixth nothing is known */
		fleetfill_sample(&sample, i);
		if (i == 1) { /* the smallest part of its limit, though more bytes than another */
			sample.limit = limit_set(UINT64_C(40960) * MIB);
			sample.freeboard_bytes.bytes = INT64_C(2000) * MIB;
		}
		if (i == 2)
			sample.charge_bytes = (struct qty){ 0 };
		fleet_sample(fleet, i + 1, &sample, t0);
		fleetfill_finding(&finding, i);
		finding.severity = i == 4 ? SEVERITY_CRITICAL : SEVERITY_NOTICE;
		assert_int_equal(fleet_finding(fleet, i + 1, &finding, t0, &err), 0);
	}
	fleet_disconnected(fleet, 4, false, t0); /* freeboard 1036 MiB: the least but that of the next */
	fleet_disconnected(fleet, 5, true, t0);  /* freeboard 1016 MiB */
	fleet_sum(workloads[0], &sum);
	assert_int_equal(sum.pods, 6);
	assert_int_equal(sum.connected, 4);
	assert_int_equal(sum.roles, 1U << ROLE_TASKMANAGER);
	assert_int_equal(sum.limit_pods, 3);
	assert_int_equal(sum.limit_bytes.bytes, (UINT64_C(40960) + 2 * 4096) * MIB);
	assert_int_equal(sum.charge_pods, 2);
	assert_int_equal(sum.floor_pods, 3);
	assert_int_equal(sum.freeboard_pods, 3);
	assert_int_equal(sum.worst_freeboard_bytes.bytes, INT64_C(1056) * MIB);
	assert_int_equal(sum.worst_freeboard_bp.bytes, 10000 * 2000 / 40960);
	assert_int_equal(sum.worst_pod->agent, 2);
	assert_int_equal(sum.findings[SEVERITY_NOTICE], 4); /* that of who is lost stands */
	assert_int_equal(sum.findings[SEVERITY_CRITICAL], 0);
	assert_int_equal(sum.worst, SEVERITY_NOTICE);
	/* Sums of other people's numbers stay at the end. */
	fleetfill_sample(&sample, 0);
	sample.charge_bytes = qty_measured(UINT64_MAX);
	sample.limit = limit_set(UINT64_MAX);
	sample.freeboard_bytes.bytes = INT64_MIN;
	fleet_sample(fleet, 1, &sample, t0);
	fleet_sum(workloads[0], &sum);
	assert_true(sum.charge_bytes.bytes == UINT64_MAX);
	assert_true(sum.worst_freeboard_bytes.bytes == INT64_MIN);
	assert_int_equal(sum.worst_pod->agent, 2); /* no part can be told of such a limit */
	fleet_free(fleet);
}

/* Agents come, move and go in any order: the arrays stay sorted, every pod stands in its workload, no name is lost. */
static void any_order(void **state)
{
	(void)state;
	struct prng prng = prng_start("any_order");
	struct fleet *fleet = NULL;
	struct err err;
	assert_int_equal(fleet_new(&fleet, &err), 0);
	for (unsigned step = 0; step < 3000; step++) {
		unsigned n = (unsigned)prng_below(&prng, 40);
		struct wire_hello hello;
		fleetfill_hello(&hello, (unsigned)prng_below(&prng, 400));
		if (prng_one_in(&prng, 3))
			fleet_disconnected(fleet, n + 1, false, later(step));
		else
			assert_int_equal(fleet_connected(fleet, n + 1, "a", &hello, 0, later(step), &err), 0);
		if (prng_one_in(&prng, 2))
			feed(fleet, n, step);
		if (prng_one_in(&prng, 50))
			fleet_expire(fleet, later(step), 20);
		const struct fleet_pod *const *pods;
		const struct fleet_workload *const *workloads;
		size_t n_pods = fleet_pods(fleet, &pods), n_workloads = fleet_workloads(fleet, &workloads), in = 0;
		for (size_t i = 1; i < n_pods; i++)
			assert_true(pods[i - 1]->agent < pods[i]->agent);
		for (size_t i = 0; i < n_workloads; i++) {
			assert_true(workloads[i]->n_pods > 0);
			in += workloads[i]->n_pods;
			assert_true(i == 0 || strcmp(workloads[i - 1]->namespace_, workloads[i]->namespace_) < 0 ||
				    (strcmp(workloads[i - 1]->namespace_, workloads[i]->namespace_) == 0 &&
				     strcmp(workloads[i - 1]->name, workloads[i]->name) < 0));
		}
		assert_int_equal(in, n_pods);
		for (size_t i = 0; i < n_pods; i++) {
			assert_string_equal(pods[i]->subject.workload, pods[i]->workload->name);
			assert_int_equal(fleet_after(fleet, pods[i]->agent), i + 1);
		}
	}
	fleet_free(fleet);
}

static void names_are_shared(void **state)
{
	(void)state;
	struct intern intern = { 0 };
	char text[32];
	const char *taken[1000];
	const char *a = intern_take(&intern, "a");
	assert_ptr_equal(intern_take(&intern, "a"), a);
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof text, "name-%u", i);
		taken[i] = intern_take(&intern, text);
	}
	assert_int_equal(intern.n, 1001);
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof text, "name-%u", i);
		assert_string_equal(taken[i], text);
		intern_drop(&intern, taken[i]);
	}
	intern_drop(&intern, a);
	assert_int_equal(intern.n, 1);
	intern_drop(&intern, a);
	assert_int_equal(intern.n, 0);
	intern_done(&intern);
}

/* Ten thousand pods with everything known and a finding each, in under 3 KiB a pod. */
static void ten_thousand(void **state)
{
	(void)state;
	enum { N = 10000 };
	size_t before = mallinfo2().uordblks;
	struct fleet *fleet = fleet_of(N);
	struct err err;
	for (unsigned i = 0; i < N; i++) {
		struct wire_finding finding;
		feed(fleet, i, 10);
		fleetfill_finding(&finding, i);
		assert_int_equal(fleet_finding(fleet, i + 1, &finding, t0, &err), 0);
	}
	size_t used = mallinfo2().uordblks - before;
	print_message("# %zu bytes a pod\n", used / N);
	assert_true(used / N < 3072); /* 0 under a sanitizer, which has an allocator of its own */
	const struct fleet_workload *const *workloads;
	assert_int_equal(fleet_workloads(fleet, &workloads), N / FLEETFILL_PER_WORKLOAD);
	fleet_free(fleet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life),
		cmocka_unit_test(books),
		cmocka_unit_test(sessions_change_in_either_order),
		cmocka_unit_test(workloads_hold_their_pods),
		cmocka_unit_test(filters),
		cmocka_unit_test(findings_open_and_close),
		cmocka_unit_test(who_is_silent_is_forgotten),
		cmocka_unit_test(heard_by_the_clock_of_now),
		cmocka_unit_test(a_time_is_corrected_once),
		cmocka_unit_test(a_workload_is_its_pods),
		cmocka_unit_test(any_order),
		cmocka_unit_test(names_are_shared),
		cmocka_unit_test(ten_thousand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
