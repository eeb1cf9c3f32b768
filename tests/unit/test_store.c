/* SPDX-License-Identifier: Apache-2.0 */
/* What ingest writes is there once, in order, and comes back as it was; a batch is all or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "collector/store_read.h"
#include "support/scratch.h"
#include "support/storekit.h"

static const struct wall at = { 1700000000000 };

struct fixture {
	struct scratch scratch;
	struct store *store;
	int64_t agent;
	struct store_epoch epoch;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct wire_hello hello = storekit_hello(1);
	f->scratch = scratch_new();
	OK(store_open(f->scratch.path, NULL, &f->store, err));
	OK(store_begin(f->store, err));
	OK(store_agent(f->store, "agent-1", &hello, at, &f->agent, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(1), at, &f->epoch, err));
	OK(store_commit(f->store, err));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf report = { .cap = 65536 };
	store_close(f->store);
	if (store_check(f->scratch.path, &report, NULL) < 0)
		fail_msg("%s", buf_str(&report).ptr);
	scratch_done(&f->scratch);
	free(f);
	return 0;
}

static struct store_counts count(struct fixture *f)
{
	struct store_counts counts;
	OK(store_count(f->store, &counts, err));
	return counts;
}

static void put_samples(struct fixture *f, uint64_t last)
{
	struct wire_sample sample = storekit_sample(1);
	struct prng prng = { 5 };
	OK(store_begin(f->store, err));
	for (; sample.head.seq <= last; storekit_next(&prng, &sample, 10000)) {
		struct wall received = { at.ms + (int64_t)sample.head.seq * 10000 };
		OK(store_sample(f->store, f->agent, &f->epoch, &sample, received, err));
	}
	OK(store_commit(f->store, err));
}

/* --- agents ------------------------------------------------------------------------------------- */

static bool first_agent(void *context, const struct store_agent_row *row)
{
	*(struct store_agent_row *)context = *row;
	return false;
}

static void agents(void **state)
{
	struct fixture *f = *state;
	struct store_agent_row row = { 0 };
	OK(store_each_agent(f->store, first_agent, &row, err));
	assert_string_equal(row.agent_id, "agent-1");
	assert_string_equal(row.hello.subject.namespace_, "ns");
	assert_string_equal(row.hello.subject.pod, "pod-1");
	assert_int_equal(row.hello.subject.role, ROLE_TASKMANAGER);
	assert_int_equal(row.hello.subject.n_jobs, 2);
	assert_string_equal(row.hello.subject.jobs[1], "pay\"ments");
	assert_string_equal(row.hello.subject.labels[0].value, "a=b\n");
	const struct wire_hello said = storekit_hello(1);
	assert_true(said.program[0] && said.jdk[0] && said.engine[0]);
	assert_string_equal(row.hello.program, said.program);
	assert_string_equal(row.hello.jdk, said.jdk);
	assert_string_equal(row.hello.engine, said.engine);
	assert_false(row.said_bye);

	struct wire_hello hello = storekit_hello(2);
	int64_t again;
	OK(store_begin(f->store, err));
	OK(store_agent(f->store, "agent-1", &hello, (struct wall){ at.ms + 5 }, &again, err));
	OK(store_bye(f->store, again, &f->epoch, (struct wall){ at.ms + 9 }, err));
	OK(store_commit(f->store, err));
	assert_int_equal(again, f->agent);
	OK(store_agent_read(f->store, again, &row, err));
	assert_string_equal(row.hello.subject.pod, "pod-2");
	assert_int_equal(row.first_seen.ms, at.ms);
	assert_int_equal(row.last_seen.ms, at.ms + 9);
	assert_true(row.said_bye);
	struct err why = { 0 };
	assert_true(store_agent_read(f->store, 99, &row, &why) < 0);
	assert_int_equal(why.kind, ERR_GONE);
	assert_int_equal(count(f).n_agents, 1);
}

/* --- samples ------------------------------------------------------------------------------------ */

struct points {
	struct store_point points[2000];
	size_t n, most;
};

static bool take_point(void *context, const struct store_point *point)
{
	struct points *p = context;
	p->points[p->n++] = *point;
	return p->n < p->most;
}

static struct points *read_points(struct fixture *f, int64_t from, int64_t to, uint64_t step)
{
	static struct points points;
	points.n = 0;
	points.most = 2000;
	OK(store_each_point(f->store, f->agent, (struct wall){ from }, (struct wall){ to }, step, take_point, &points,
			    err));
	return &points;
}

/* "No limit" is an answer, and not the same as one that was not read. */
static void limits(void **state)
{
	struct fixture *f = *state;
	static const enum limit_kind kinds[] = { LIMIT_NONE, LIMIT_SET, LIMIT_UNREAD, LIMIT_NONE };
	OK(store_begin(f->store, err));
	for (unsigned i = 0; i < 4; i++) {
		struct wire_sample sample = storekit_sample(i + 1);
		sample.head.seq = i + 1;
		sample.limit.kind = kinds[i];
		OK(store_sample(f->store, f->agent, &f->epoch, &sample, (struct wall){ at.ms + i * 10000 }, err));
	}
	OK(store_commit(f->store, err));
	struct points *p = read_points(f, 0, 0, 0);
	assert_int_equal(p->n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(store_point_limit(&p->points[i]).kind, kinds[i]);
	/* of what is gathered, the last one's */
	p = read_points(f, 0, 0, 60000);
	assert_int_equal(p->n, 1);
	assert_int_equal(store_point_limit(&p->points[0]).kind, LIMIT_NONE);
}

static void samples(void **state)
{
	struct fixture *f = *state;
	put_samples(f, 30);
	assert_int_equal(f->epoch.acked, 30);
	struct points *p = read_points(f, 0, 0, 0);
	struct wire_sample first = storekit_sample(1);
	assert_int_equal(p->n, 30);
	assert_int_equal(p->points[0].received.ms, at.ms + 10000);
	assert_int_equal(p->points[0].wall.ms, first.head.wall.ms);
	assert_int_equal(p->points[0].charge_bytes.bytes, first.charge_bytes.bytes);
	assert_int_equal(p->points[0].freeboard_bytes.bytes, first.freeboard_bytes.bytes);
	assert_int_equal(p->points[0].limit_bytes.bytes, first.limit.bytes);
	assert_int_equal(p->points[0].owners[3].bytes, first.owners[3].bytes);
	assert_int_equal(p->points[0].owners[5].state, QTY_INFERRED);
	assert_int_equal(p->points[0].owners[OWNER_HUGETLB].state, QTY_UNREAD);
	/* [from, to) */
	assert_int_equal(read_points(f, at.ms + 20000, at.ms + 50000, 0)->n, 3);
	/* a step gathers: none closer, nothing left out, the extremes kept */
	p = read_points(f, 0, 0, 60000);
	assert_int_equal(p->n, 5);
	uint32_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		n += p->points[i].n_samples;
		assert_true(p->points[i].charge_max_bytes.bytes >= p->points[i].charge_bytes.bytes);
		assert_true(p->points[i].freeboard_min_bytes.bytes <= p->points[i].freeboard_bytes.bytes);
		assert_true(i == 0 || p->points[i].received.ms - p->points[i - 1].received.ms >= 60000);
	}
	assert_int_equal(n, 30);
	p->n = 0;
	p->most = 4;
	OK(store_each_point(f->store, f->agent, (struct wall){ 0 }, (struct wall){ 0 }, 0, take_point, p, err));
	assert_int_equal(p->n, 4);
}

/* What is here already does nothing; what leaves a hole, or cannot be a number, is refused and harms nothing else. */
static void order(void **state)
{
	struct fixture *f = *state;
	struct err why = { 0 };
	struct wire_sample sample = storekit_sample(1);
	put_samples(f, 5);
	OK(store_begin(f->store, err));
	OK(store_sample(f->store, f->agent, &f->epoch, &sample, at, err));
	static const uint64_t wrong[] = { 0, 7, 100, INT64_MAX, UINT64_MAX };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		sample.head.seq = wrong[i];
		assert_true(store_sample(f->store, f->agent, &f->epoch, &sample, at, &why) < 0);
		assert_int_equal(why.kind, ERR_MALFORMED);
	}
	struct wire_gap gap = { .from = 6, .to = 5 };
	assert_true(store_gap(f->store, f->agent, &f->epoch, &gap, at, &why) < 0);
	gap.to = UINT64_MAX;
	assert_true(store_gap(f->store, f->agent, &f->epoch, &gap, at, &why) < 0);
	sample.head.seq = 6;
	OK(store_sample(f->store, f->agent, &f->epoch, &sample, at, err));
	OK(store_commit(f->store, err));
	assert_int_equal(count(f).n_samples, 6);
	/* another session of the same epoch, one that saw less */
	struct store_epoch stale = f->epoch;
	stale.acked = 5;
	OK(store_begin(f->store, err));
	OK(store_sample(f->store, f->agent, &stale, &sample, at, err));
	OK(store_commit(f->store, err));
	assert_int_equal(count(f).n_samples, 6);
	assert_int_equal(read_points(f, 0, 0, 0)->n, 6);
}

static void no_batch(void **state)
{
	struct fixture *f = *state;
	struct err why = { 0 };
	struct wire_sample sample = storekit_sample(1);
	assert_true(store_sample(f->store, f->agent, &f->epoch, &sample, at, &why) < 0);
	assert_int_equal(why.kind, ERR_USAGE);
	assert_true(store_commit(f->store, &why) < 0);
	OK(store_begin(f->store, err));
	assert_true(store_begin(f->store, &why) < 0);
	OK(store_sample(f->store, f->agent, &f->epoch, &sample, at, err));
	store_rollback(f->store);
	store_rollback(f->store);
	assert_int_equal(count(f).n_samples, 0);
	assert_int_equal(read_points(f, 0, 0, 0)->n, 0);
	OK(store_begin(f->store, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(1), at, &f->epoch, err));
	assert_int_equal(f->epoch.acked, 0); /* what the caller had ran ahead */
	OK(store_commit(f->store, err));
}

/* --- gaps and epochs ---------------------------------------------------------------------------- */

struct gaps {
	struct store_gap_row rows[10];
	size_t n;
};

static bool take_gap(void *context, const struct store_gap_row *row)
{
	struct gaps *gaps = context;
	gaps->rows[gaps->n++] = *row;
	return true;
}

static void gaps(void **state)
{
	struct fixture *f = *state;
	struct gaps g = { .n = 0 };
	put_samples(f, 4);
	OK(store_begin(f->store, err));
	struct wire_gap gap = { .from = 3, .to = 9, .reason = "spool-full" }; /* 3 and 4 are here: no gap */
	OK(store_gap(f->store, f->agent, &f->epoch, &gap, at, err));
	OK(store_gap(f->store, f->agent, &f->epoch, &gap, at, err));
	assert_int_equal(f->epoch.acked, 9);
	OK(store_commit(f->store, err));
	OK(store_each_gap(f->store, f->agent, take_gap, &g, err));
	assert_int_equal(g.n, 1);
	assert_int_equal(g.rows[0].from, 5);
	assert_int_equal(g.rows[0].to, 9);
	assert_string_equal(g.rows[0].reason, "spool-full");
	assert_memory_equal(g.rows[0].epoch.bytes, f->epoch.epoch.bytes, 16);

	/* A hello that does not name an epoch any more: what it had beyond 9 is lost; one that said bye lost nothing. */
	struct store_epoch other, live;
	struct wire_held held = { .epoch = storekit_epoch(3) };
	OK(store_begin(f->store, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(2), at, &other, err));
	OK(store_bye(f->store, f->agent, &other, at, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(3), at, &live, err));
	OK(store_epochs_lost(f->store, f->agent, &held, 1, at, err));
	OK(store_epochs_lost(f->store, f->agent, &held, 1, at, err)); /* once */
	OK(store_commit(f->store, err));
	g.n = 0;
	OK(store_each_gap(f->store, 0, take_gap, &g, err));
	assert_int_equal(g.n, 2);
	assert_int_equal(g.rows[1].from, 10);
	assert_true(g.rows[1].to == UINT64_MAX);
	assert_string_equal(g.rows[1].reason, "lost-with-agent");

	/* Two agents of one identity: the first comes again with its epoch, and nothing of it was lost. */
	struct wire_sample sample = storekit_sample(1);
	sample.head.seq = 10;
	OK(store_begin(f->store, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(1), at, &f->epoch, err));
	assert_true(f->epoch.finished);
	assert_int_equal(f->epoch.acked, 9);
	OK(store_sample(f->store, f->agent, &f->epoch, &sample, at, err));
	assert_false(f->epoch.finished);
	OK(store_commit(f->store, err));
	assert_int_equal(count(f).n_gaps, 1);
	g.n = 0;
	OK(store_each_gap(f->store, f->agent, take_gap, &g, err));
	assert_int_equal(g.n, 1);
}

/* --- findings ------------------------------------------------------------------------------------- */

struct findings {
	struct store_finding_row rows[10];
	char texts[10][100];
	size_t n;
};

static bool take_finding(void *context, const struct store_finding_row *row)
{
	struct findings *findings = context;
	str_copy(findings->texts[findings->n], sizeof findings->texts[0], row->text);
	findings->rows[findings->n++] = *row;
	return findings->n < 10;
}

static struct findings *find(struct fixture *f, struct store_filter filter)
{
	static struct findings findings;
	findings.n = 0;
	OK(store_each_finding(f->store, &filter, take_finding, &findings, err));
	return &findings;
}

static void put_finding(struct fixture *f, uint64_t seq, const char *id, enum wire_edge edge, const char *text)
{
	struct wire_finding finding = storekit_finding(seq, id, edge);
	OK(store_finding(f->store, f->agent, &f->epoch, &finding, str_of(text), at, err));
}

static void findings(void **state)
{
	struct fixture *f = *state;
	OK(store_begin(f->store, err));
	put_finding(f, 1, "a", WIRE_OPENED, "{\"type\":\"finding\",\"finding\": {\"n\":1}}");
	put_finding(f, 2, "a", WIRE_UPDATED, "{\"type\":\"finding\",\"finding\":{\"n\":2}}");
	put_finding(f, 2, "a", WIRE_UPDATED, "{\"type\":\"finding\",\"finding\":{\"n\":3}}"); /* sent again */
	put_finding(f, 3, "a", WIRE_CLEARED, "{\"type\":\"finding\",\"title\":\"\\\"finding\\\":{\"}");
	put_finding(f, 4, "b", WIRE_OPENED, "{\"finding\":{}}");
	struct wire_finding own = storekit_finding(0, "agent-silent.1", WIRE_OPENED);
	own.severity = SEVERITY_NOTICE;
	OK(store_own_finding(f->store, 0, &own, STR("{\"finding\":{\"own\":1}}"), at, err));
	OK(store_own_finding(f->store, 0, &own, STR("{\"finding\":{\"own\":2}}"), at, err));
	OK(store_commit(f->store, err));
	assert_int_equal(count(f).n_findings, 3);
	assert_int_equal(f->epoch.acked, 4);

	struct findings *got = find(f, (struct store_filter){ .with_text = true });
	assert_int_equal(got->n, 3); /* newest first */
	assert_int_equal(got->rows[0].agent, 0);
	assert_string_equal(got->texts[0], "{\"finding\":{\"own\":2}}");
	assert_string_equal(got->rows[2].id, "a");
	assert_string_equal(got->rows[2].rule, "freeboard-low");
	assert_int_equal(got->rows[2].edge, WIRE_CLEARED);
	assert_int_equal(got->rows[2].severity, SEVERITY_WARNING);
	assert_int_equal(got->rows[2].n_updates, 3);
	assert_int_equal(got->rows[2].opened.ms, 1700000000500);
	assert_int_equal(got->rows[2].cleared.ms, 1700000003000);
	assert_string_equal(got->texts[2], "{\"type\":\"finding\",\"finding\":{\"n\":2}}");

	assert_int_equal(find(f, (struct store_filter){ .agent = f->agent })->n, 2);
	assert_int_equal(find(f, (struct store_filter){ .agent_is_collector = true })->n, 1);
	assert_int_equal(find(f, (struct store_filter){ .open_only = true })->n, 2);
	assert_int_equal(find(f, (struct store_filter){ .least = SEVERITY_CRITICAL })->n, 1);
	assert_int_equal(find(f, (struct store_filter){ .rule = "freeboard-low' OR 1" })->n, 0);
	assert_int_equal(find(f, (struct store_filter){ .from = { 1700000003001 } })->n, 2);
	assert_int_equal(find(f, (struct store_filter){ .to = { 1700000000500 } })->n, 0);
	got = find(f, (struct store_filter){ .most = 1 });
	assert_int_equal(got->n, 1);
	assert_int_equal(find(f, (struct store_filter){ .below_row = got->rows[0].row })->n, 2);
	assert_int_equal(find(f, (struct store_filter){ .with_text = false })->rows[0].text.len, 0);
}

/* --- post-mortems --------------------------------------------------------------------------------- */

struct deaths {
	struct store_postmortem_row rows[10];
	char texts[10][40];
	size_t n;
};

static bool take_death(void *context, const struct store_postmortem_row *row)
{
	struct deaths *deaths = context;
	str_copy(deaths->texts[deaths->n], sizeof deaths->texts[0], row->text);
	deaths->rows[deaths->n++] = *row;
	return true;
}

static struct deaths *deaths_of(struct fixture *f)
{
	static struct deaths deaths;
	deaths.n = 0;
	OK(store_each_postmortem(f->store, &(struct store_filter){ .with_text = true }, take_death, &deaths, err));
	assert_int_equal(count(f).n_postmortems, deaths.n);
	return &deaths;
}

static void put_part(struct fixture *f, struct wire_postmortem death, const char *text)
{
	OK(store_begin(f->store, err));
	OK(store_postmortem(f->store, f->agent, &f->epoch, &death, str_of(text), at, err));
	OK(store_commit(f->store, err));
}

static void put_inferred(struct fixture *f, const char *id, int64_t died_ms)
{
	struct wire_postmortem death = storekit_death(0, id, 0, 1, died_ms);
	OK(store_begin(f->store, err));
	OK(store_own_postmortem(f->store, f->agent, &death, STR("inferred"), at, err));
	OK(store_commit(f->store, err));
}

static void deaths(void **state)
{
	struct fixture *f = *state;
	put_part(f, storekit_death(1, "d1", 0, 3, at.ms), "part 0");
	put_part(f, storekit_death(2, "d1", 2, 3, at.ms), "part 2");
	put_part(f, storekit_death(2, "d1", 2, 3, at.ms), "part 2 again");
	struct deaths *got = deaths_of(f);
	assert_int_equal(got->n, 1);
	assert_int_equal(got->rows[0].parts, 3);
	assert_int_equal(got->rows[0].parts_here, 2);
	assert_int_equal(got->rows[0].cause, DEATH_CONTAINER_LIMIT);
	assert_int_equal(got->rows[0].pid, 7);
	assert_string_equal(got->texts[0], "part 0");
	got->n = 0;
	OK(store_postmortem_parts(f->store, f->agent, "d1", take_death, got, err));
	assert_int_equal(got->n, 2);
	assert_string_equal(got->texts[1], "part 2");
	struct err why = { 0 };
	assert_true(store_postmortem_parts(f->store, f->agent + 1, "d1", take_death, got, &why) < 0);
	assert_int_equal(why.kind, ERR_GONE);
	assert_true(store_postmortem_parts(f->store, f->agent, "none", take_death, got, &why) < 0);
	assert_int_equal(why.kind, ERR_GONE);
}

/* Whichever comes first, one stays, and it is the agent's own; another death is another one. */
static void inferred(void **state)
{
	struct fixture *f = *state;
	put_inferred(f, "i1", at.ms - 8000);
	put_inferred(f, "i1", at.ms - 8000);
	struct deaths *got = deaths_of(f);
	assert_int_equal(got->n, 1);
	assert_true(got->rows[0].inferred);
	put_part(f, storekit_death(1, "d1", 0, 1, at.ms), "own");
	got = deaths_of(f);
	assert_int_equal(got->n, 1);
	assert_false(got->rows[0].inferred);
	assert_string_equal(got->texts[0], "own");
	put_inferred(f, "i2", at.ms + 3000); /* of the same death */
	put_inferred(f, "d1", at.ms + 9000000);
	assert_int_equal(deaths_of(f)->n, 1);
	put_inferred(f, "i3", at.ms + STORE_SAME_DEATH_MS + 1);
	assert_int_equal(deaths_of(f)->n, 2);
	put_part(f, storekit_death(2, "i3", 0, 1, at.ms + 9000000), "own");
	got = deaths_of(f);
	assert_int_equal(got->n, 2);
	assert_false(got->rows[0].inferred);
}

static void tell(struct fixture *f, const char *id, enum death_cause cause, const char *text)
{
	OK(store_begin(f->store, err));
	OK(store_postmortem_told(f->store, f->agent, id, cause, (struct wall){ 0 }, str_of(text), err));
	OK(store_commit(f->store, err));
}

/* What Kubernetes tells is none of the agent's parts, and goes with a guess that gives way. */
static void told(void **state)
{
	struct fixture *f = *state;
	struct err why = { 0 };
	put_inferred(f, "i1", at.ms - 8000);
	tell(f, "i1", DEATH_NODE, "told");
	tell(f, "i1", DEATH_NODE, "told again");
	struct deaths *got = deaths_of(f);
	assert_int_equal(got->n, 1);
	assert_true(got->rows[0].told);
	assert_int_equal(got->rows[0].cause, DEATH_NODE);
	assert_int_equal(got->rows[0].parts_here, 1);
	assert_string_equal(got->texts[0], "inferred");
	got->n = 0;
	OK(store_postmortem_parts(f->store, f->agent, "i1", take_death, got, err));
	assert_int_equal(got->n, 2);
	assert_string_equal(got->texts[1], "told");
	put_part(f, storekit_death(1, "d1", 0, 1, at.ms), "own");
	got = deaths_of(f);
	assert_int_equal(got->n, 1);
	assert_false(got->rows[0].told);
	OK(store_begin(f->store, err));
	assert_true(store_postmortem_told(f->store, f->agent, "none", DEATH_NODE, (struct wall){ 0 }, STR("told"),
					  &why) < 0);
	assert_int_equal(why.kind, ERR_GONE);
	store_rollback(f->store);
}

/* --- tokens ---------------------------------------------------------------------------------------- */

static void tokens(void **state)
{
	struct fixture *f = *state;
	uint8_t one[32] = { 1 }, two[32] = { 2 };
	char id[WIRE_NAME_CAP] = "as it was";
	struct err why = { 0 };
	OK(store_token_put(f->store, one, "uid-1", (struct wall){ 100 }, err));
	OK(store_token_put(f->store, one, "uid-2", (struct wall){ 200 }, err));
	OK(store_token_get(f->store, one, (struct wall){ 199 }, id, sizeof id, err));
	assert_string_equal(id, "uid-2");
	assert_true(store_token_get(f->store, one, (struct wall){ 200 }, id, sizeof id, &why) < 0);
	assert_int_equal(why.kind, ERR_GONE);
	assert_true(store_token_get(f->store, two, (struct wall){ 1 }, id, sizeof id, &why) < 0);
	assert_string_equal(id, "uid-2");
	OK(store_token_forget(f->store, two, err)); /* never known */
	OK(store_token_forget(f->store, one, err));
	assert_true(store_token_get(f->store, one, (struct wall){ 1 }, id, sizeof id, &why) < 0);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH(agents),   WITH(samples), WITH(limits),   WITH(order), WITH(no_batch), WITH(gaps),
		WITH(findings), WITH(deaths),  WITH(inferred), WITH(told),  WITH(tokens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
