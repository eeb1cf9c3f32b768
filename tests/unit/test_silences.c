/* SPDX-License-Identifier: Apache-2.0 */
/* The life of silences in a real store: made, found again after a restart, ended, expired, resolved; and the audit. */
#include "collector/silences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/silence_json.h"
#include "collector/store_audit.h"
#include "collector/store_silence.h"
#include "support/fleetfill.h"
#include "support/scratch.h"

#define DAY_MS INT64_C(86400000)

static const struct wall t0 = { INT64_C(1764489600000) };

struct rig {
	struct scratch scratch;
	struct store *store;
	struct fleet *fleet;
	struct silences *silences;
	struct mono mono;
	struct wall wall;
};

static void must(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->message);
}

static void start(struct rig *r)
{
	struct err err;
	must(store_open(r->scratch.path, &(struct store_options){ 0 }, &r->store, &err), &err);
	must(fleet_new(&r->fleet, &err), &err);
	must(silences_new(r->store, NULL, &r->silences, &err), &err);
}

static void stop(struct rig *r)
{
	silences_free(r->silences);
	fleet_free(r->fleet);
	store_close(r->store);
}

static struct rig begin(void)
{
	struct rig r = { .scratch = scratch_new(), .mono = { UINT64_C(5000000000000) }, .wall = t0 };
	start(&r);
	return r;
}

static void end(struct rig *r)
{
	auto_buf struct buf report = { .cap = 4096 };
	struct err err;
	stop(r);
	if (store_check(r->scratch.path, &report, &err) < 0)
		fail_msg("%s", err.message);
	scratch_done(&r->scratch);
}

static void pass(struct rig *r, int64_t ms)
{
	struct err err;
	r->mono = mono_add_ms(r->mono, (uint64_t)ms);
	r->wall.ms += ms;
	must(silences_step(r->silences, r->fleet, r->mono, r->wall, &err), &err);
}

static struct deed by(const struct rig *r, const char *who)
{
	return (struct deed){ .who = who, .peer = "10.0.0.1", .at = r->wall };
}

static int try_add(struct rig *r, const char *kind, const char *matchers, int64_t ms, int64_t *ret_id,
		   int64_t *ret_other, struct err *err)
{
	char body[600];
	struct silence draft;
	const struct deed deed = by(r, "ops");
	(void)snprintf(body, sizeof body,
		       "{\"kind\":\"%s\",\"matchers\":%s,\"reason\":\"a \\\"known\\\" one\",\"until_ms\":%lld}", kind,
		       matchers, (long long)(r->wall.ms + ms));
	must(silence_parse(str_of(body), r->wall, &draft, err), err);
	return silences_add(r->silences, &draft, &deed, ret_id, ret_other, err);
}

static int64_t add(struct rig *r, const char *kind, const char *matchers, int64_t ms)
{
	int64_t id, other;
	struct err err;
	must(try_add(r, kind, matchers, ms, &id, &other, &err), &err);
	return id;
}

static struct silence read_one(struct rig *r, int64_t id)
{
	struct silence silence;
	struct err err;
	must(silences_read(r->silences, id, &silence, &err), &err);
	return silence;
}

static const struct silence *on(const struct rig *r, const char *namespace_)
{
	const struct subject_view subject = {
		.cluster = "prod", .namespace_ = namespace_, .workload = "w", .pod = "p"
	};
	return silences_on(r->silences, &subject, "oom-kill", SEVERITY_CRITICAL, r->wall);
}

struct deeds {
	unsigned n;
	char text[600];
};

static bool take_deed(void *context, int64_t row, const struct audit_entry *entry)
{
	struct deeds *deeds = context;
	size_t len = strlen(deeds->text);
	(void)row;
	deeds->n++;
	(void)snprintf(deeds->text + len, sizeof deeds->text - len, "%s %s@%s [%s] %s%s; ", entry->what, entry->who,
		       entry->peer, entry->namespace_, entry->before.len ? "b" : "-", entry->after.len ? "a" : "-");
	return true;
}

static const char *deeds_of(struct rig *r)
{
	static struct deeds deeds;
	struct err err;
	deeds = (struct deeds){ 0 };
	must(store_each_audit(r->store, 0, 100, take_deed, &deeds, &err), &err);
	return deeds.text;
}

static bool count(void *context, const struct silence *silence)
{
	(void)silence;
	++*(unsigned *)context;
	return true;
}

static unsigned n_of(struct rig *r, enum silences_of which)
{
	unsigned n = 0;
	struct err err;
	must(silences_each(r->silences, which, r->wall, 0, count, &n, &err), &err);
	return n;
}

static void made_and_ended(void **state)
{
	(void)state;
	struct rig r = begin();
	struct err err;
	uint64_t version = silences_version(r.silences);
	int64_t id = add(&r, "silence", "{\"namespace\":\"a\"}", 3600000);
	assert_int_not_equal(silences_version(r.silences), version);
	assert_int_equal(silences_active(r.silences, SILENCE_SILENCE), 1);
	assert_int_equal(on(&r, "a")->id, id);
	assert_null(on(&r, "b"));
	struct silence silence = read_one(&r, id);
	assert_string_equal(silence.reason, "a \"known\" one");
	assert_string_equal(silence.author, "ops");
	assert_int_equal(silence.created.ms, t0.ms);
	assert_int_equal(silence.until.ms, t0.ms + 3600000);
	assert_int_equal(silence.ended.ms, 0);
	assert_string_equal(silence.matchers.text[SILENCE_NAMESPACE], "a");

	pass(&r, 1000);
	version = silences_version(r.silences);
	const struct deed deed = by(&r, "other");
	must(silences_end(r.silences, id, &deed, &err), &err);
	assert_int_not_equal(silences_version(r.silences), version);
	assert_null(on(&r, "a"));
	silence = read_one(&r, id);
	assert_int_equal(silence.ended.ms, t0.ms + 1000);
	assert_string_equal(silence.ended_by, "other");
	/* Ended is ended, by whom it was. */
	const struct deed later = by(&r, "third");
	must(silences_end(r.silences, id, &later, &err), &err);
	assert_string_equal(read_one(&r, id).ended_by, "other");
	assert_string_equal(deeds_of(&r), "silence-end other@10.0.0.1 [a] ba; silence-create ops@10.0.0.1 [a] -a; ");
	assert_true(silences_read(r.silences, id + 1, &silence, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE);
	end(&r);
}

static void through_a_restart(void **state)
{
	(void)state;
	struct rig r = begin();
	struct err err;
	int64_t ended = add(&r, "silence", "{\"namespace\":\"b\"}", 1000);
	int64_t pattern = add(&r, "silence", "{\"namespace\":\"a*\",\"severity\":\"critical\"}", 3600000);
	int64_t ack =
		add(&r, "acknowledgement",
		    "{\"cluster\":\"prod\",\"namespace\":\"c\",\"workload\":\"w\",\"rule\":\"oom-kill\"}", 3600000);
	const struct deed deed = by(&r, "ops");
	must(silences_end(r.silences, ended, &deed, &err), &err);
	stop(&r);
	start(&r);
	assert_int_equal(silences_active(r.silences, SILENCE_SILENCE), 1);
	assert_int_equal(silences_active(r.silences, SILENCE_ACKNOWLEDGEMENT), 1);
	assert_int_equal(on(&r, "abc")->id, pattern);
	assert_int_equal(on(&r, "c")->id, ack);
	assert_null(on(&r, "b"));
	assert_int_equal(read_one(&r, pattern).matchers.severity, SEVERITY_CRITICAL);
	end(&r);
}

/* Nobody ends it: it is over at its time, and is put down as of then however late that is done. */
static void expired(void **state)
{
	(void)state;
	struct rig r = begin();
	int64_t id = add(&r, "silence", "{\"namespace\":\"a\"}", 60000);
	pass(&r, 59999);
	assert_non_null(on(&r, "a"));
	assert_int_equal(n_of(&r, SILENCES_ACTIVE), 1);
	r.wall.ms++;
	assert_null(on(&r, "a"));
	assert_int_equal(n_of(&r, SILENCES_ACTIVE), 0);
	assert_int_equal(n_of(&r, SILENCES_ENDED), 1);
	pass(&r, 30000);
	struct silence silence = read_one(&r, id);
	assert_int_equal(silence.ended.ms, t0.ms + 60000);
	assert_string_equal(silence.ended_by, "expired");
	assert_int_equal(silences_active(r.silences, SILENCE_SILENCE), 0);
	/* The same may be silenced again. */
	(void)add(&r, "silence", "{\"namespace\":\"a\"}", 60000);
	end(&r);
}

static void in_the_way(void **state)
{
	(void)state;
	struct rig r = begin();
	struct err err;
	int64_t id, other, first = add(&r, "silence", "{\"namespace\":\"n0\"}", 60000);
	assert_true(try_add(&r, "silence", "{\"namespace\":\"n0\"}", 90000, &id, &other, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(other, first);
	/* Another kind, one matcher more, or one that has expired and is not put down yet: none is in the way. */
	(void)add(&r, "silence", "{\"namespace\":\"n0\",\"severity\":\"warning\"}", 60000);
	r.wall.ms += 60000;
	(void)add(&r, "silence", "{\"namespace\":\"n0\"}", 60000);
	pass(&r, 0);
	for (unsigned i = 1; silences_active(r.silences, SILENCE_SILENCE) < SILENCES_ACTIVE_MAX; i++) {
		char matchers[64];
		(void)snprintf(matchers, sizeof matchers, "{\"namespace\":\"n%u\"}", i);
		(void)add(&r, "silence", matchers, 60000);
	}
	assert_true(try_add(&r, "silence", "{\"namespace\":\"more\"}", 60000, &id, &other, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(other, 0);
	assert_string_equal(err.message, "1000 are active already: end some of them");
	pass(&r, 60000); /* all of them at once */
	assert_int_equal(silences_active(r.silences, SILENCE_SILENCE), 0);
	end(&r);
}

/* The patterns of all together are limited, for each is compared with each finding; names are not. */
static void too_many_patterns(void **state)
{
	(void)state;
	struct rig r = begin();
	struct err err;
	int64_t id, other, last = 0;
	char matchers[64];
	for (unsigned i = 0; i < SILENCES_PARTS_MAX / 4; i++) { /* of four parts each */
		(void)snprintf(matchers, sizeof matchers, "{\"workload\":\"*w%u*\",\"pod\":\"*\"}", i);
		last = add(&r, "silence", matchers, 60000);
	}
	stop(&r);
	start(&r);
	assert_true(try_add(&r, "silence", "{\"pod\":\"?\"}", 60000, &id, &other, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(other, 0);
	assert_string_equal(err.message, "too many patterns are active already: give names, or end some of them");
	(void)add(&r, "silence", "{\"pod\":\"p\"}", 60000);
	const struct deed deed = by(&r, "ops");
	must(silences_end(r.silences, last, &deed, &err), &err);
	(void)add(&r, "silence", "{\"pod\":\"?\"}", 60000);
	(void)add(&r, "silence", "{\"pod\":\"p*?\"}", 60000);
	assert_true(try_add(&r, "silence", "{\"pod\":\"q\\\\*\"}", 60000, &id, &other, &err) < 0);
	end(&r);
}

static void connect_agent(struct rig *r, int64_t agent, unsigned n)
{
	static struct wire_hello hello;
	struct err err;
	fleetfill_hello(&hello, n);
	must(fleet_connected(r->fleet, agent, "agent", &hello, 0, r->wall, &err), &err);
}

static void finding(struct rig *r, int64_t agent, enum wire_edge edge)
{
	static struct wire_finding f;
	struct err err;
	fleetfill_finding(&f, 0);
	f.edge = edge;
	must(fleet_finding(r->fleet, agent, &f, r->wall, &err), &err);
}

/* It covers what is open at any pod of its workload, and ends a minute after nothing is. */
static void resolved(void **state)
{
	(void)state;
	struct rig r = begin();
	static struct wire_hello hello;
	char matchers[600];
	fleetfill_hello(&hello, 0);
	(void)snprintf(matchers, sizeof matchers,
		       "{\"cluster\":\"%s\",\"namespace\":\"%s\",\"workload\":\"%s\",\"rule\":\"freeboard-low\"}",
		       hello.subject.cluster, hello.subject.namespace_, hello.subject.workload);
	connect_agent(&r, 1, 0);
	connect_agent(&r, 2, 1);
	finding(&r, 1, WIRE_OPENED);
	finding(&r, 2, WIRE_OPENED);
	int64_t id = add(&r, "acknowledgement", matchers, DAY_MS);
	pass(&r, 120000);
	finding(&r, 1, WIRE_CLEARED);
	pass(&r, 5000);
	pass(&r, 120000);
	assert_int_equal(read_one(&r, id).ended.ms, 0); /* the other pod has it still */
	finding(&r, 2, WIRE_CLEARED);
	pass(&r, 5000);
	pass(&r, 50000);
	finding(&r, 1, WIRE_OPENED); /* it came again: nothing was resolved */
	pass(&r, 20000);
	assert_int_equal(read_one(&r, id).ended.ms, 0);
	finding(&r, 1, WIRE_CLEARED);
	pass(&r, 5000);
	pass(&r, 59999);
	assert_int_equal(read_one(&r, id).ended.ms, 0);
	pass(&r, 1);
	assert_string_equal(read_one(&r, id).ended_by, "resolved");
	assert_int_equal(read_one(&r, id).ended.ms, r.wall.ms);
	assert_int_equal(silences_active(r.silences, SILENCE_ACKNOWLEDGEMENT), 0);
	end(&r);
}

/* What has ended, and what was done, is kept as long as findings; what is active stays whatever it takes. */
static void kept_for_a_year(void **state)
{
	(void)state;
	struct rig r = begin();
	struct err err;
	bool more;
	int64_t old = add(&r, "silence", "{\"namespace\":\"a\"}", 1000);
	(void)add(&r, "silence", "{\"namespace\":\"b\"}", 365 * DAY_MS);
	pass(&r, 1000);
	assert_int_equal(n_of(&r, SILENCES_ALL), 2);
	assert_int_equal(n_of(&r, SILENCES_ACTIVE), 1);
	assert_int_equal(n_of(&r, SILENCES_ENDED), 1);
	(void)store_age(r.store, r.mono, r.wall);
	must(store_keep(r.store, r.wall, &more, &err), &err);
	assert_int_equal(read_one(&r, old).id, old);
	for (int day = 0; day < 367; day++) { /* retention does not run away with a clock that jumps */
		r.mono = mono_add_ms(r.mono, (uint64_t)DAY_MS);
		r.wall.ms += DAY_MS;
		(void)store_age(r.store, r.mono, r.wall);
	}
	for (more = true; more;)
		must(store_keep(r.store, r.wall, &more, &err), &err);
	assert_int_equal(n_of(&r, SILENCES_ALL), 1); /* its time is over too, but nobody has put that down */
	assert_string_equal(deeds_of(&r), "");
	end(&r);
}

/* A row that a later version wrote, or that is damaged, holds nothing up. */
static void a_row_that_is_none(void **state)
{
	(void)state;
	struct rig r = begin();
	struct err err;
	int64_t row;
	static const char *const texts[] = { "{\"mood\":\"bad\"}", "{", "{}", "[]" };
	must(store_begin(r.store, &err), &err);
	for (size_t i = 0; i < 4; i++) {
		const struct store_silence_row bad = { .matchers = str_of(texts[i]),
						       .reason = STR("x"),
						       .author = STR("y"),
						       .created = t0,
						       .until = { t0.ms + DAY_MS } };
		must(store_silence_add(r.store, &bad, &row, &err), &err);
	}
	must(store_commit(r.store, &err), &err);
	(void)add(&r, "silence", "{\"namespace\":\"a\"}", 1000);
	stop(&r);
	start(&r);
	assert_int_equal(silences_active(r.silences, SILENCE_SILENCE), 1);
	assert_int_equal(n_of(&r, SILENCES_ALL), 1);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_and_ended),  cmocka_unit_test(through_a_restart),  cmocka_unit_test(expired),
		cmocka_unit_test(in_the_way),      cmocka_unit_test(too_many_patterns),  cmocka_unit_test(resolved),
		cmocka_unit_test(kept_for_a_year), cmocka_unit_test(a_row_that_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
