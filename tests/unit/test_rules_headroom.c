/* SPDX-License-Identifier: Apache-2.0 */
/* limit-above-process-size: borders, what the room is found to be, texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "limit-above-process-size";
static const struct snap_shape plain = { .heap = 400, .pool = 200 };

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct finding f;
};

/* A TaskManager that plans for `process`, in a container of `limit`. */
static struct scene tm(uint64_t limit, uint64_t process)
{
	struct scene sc = { .s = snap_new(&plain) };
	snap_flink(sc.s, 500 * MIB, 100 * MIB, 0, 100 * MIB, 192 * MIB, process);
	sc.s->engine.gauges.direct_used_bytes = qty_measured(50 * MIB);
	sc.s->cgroup.max = limit_set(limit);
	sc.l = snap_ledger(sc.s);
	return sc;
}

static void set_floor(struct scene *sc, uint64_t floor)
{
	sc->l->floor_bytes = qty_measured(floor);
	sc->l->freeboard_bytes = (struct signed_qty){ (int64_t)(sc->l->limit.bytes - floor), true };
	sc->l->freeboard_level = FREEBOARD_CONTAINER;
}

static void set_demand(struct scene *sc, uint64_t bytes)
{
	sc->l->expected.bytes = qty_of(bytes, QTY_DERIVED);
}

static enum rule_answer ask(struct scene *sc)
{
	return judge(rule, sc->s, sc->l, &sc->f);
}

static void done(struct scene *sc)
{
	free(sc->l);
	snap_free(sc->s);
}

/* Info asks for nothing, but all that it says is whole. */
static void asks_for_nothing(const struct finding *f)
{
	assert_int_equal(f->severity, SEVERITY_INFO);
	assert_string_equal(f->change, "");
	assert_int_equal(f->n_turns, 0);
	assert_true(strlen(f->title) > 0 && strlen(f->title) < sizeof f->title - 1);
	assert_true(strlen(f->observation) < sizeof f->observation - 1);
	assert_int_equal(f->observation[strlen(f->observation) - 1], '.');
	assert_true(f->n_causes > 1);
}

static void borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t process, limit;
		bool fires;
	} table[] = {
		{ 1000 * MIB, 1000 * MIB, false },
		{ 1000 * MIB, 900 * MIB, false },
		{ 1000 * MIB, 1064 * MIB, false }, /* 5 % are 50 MiB: one write buffer is allowed */
		{ 1000 * MIB, 1064 * MIB + 1, true },
		{ 4000 * (uint64_t)MIB, 4200 * (uint64_t)MIB, false }, /* 5 % */
		{ 4000 * (uint64_t)MIB, 4200 * (uint64_t)MIB + 1, true },
		{ UINT64_MAX, UINT64_MAX, false },
		{ UINT64_MAX - 1, UINT64_MAX, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = tm(table[i].limit, table[i].process);
		set_demand(&sc, 900 * MIB); /* room enough: nothing else fires */
		assert_int_equal(ask(&sc), table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (table[i].fires)
			judge_figure(&sc.f, "above_bytes", table[i].limit - table[i].process);
		done(&sc);
	}
}

/* process.size = 0.9 x limit, as old operators wrote it. */
static void a_tenth_hidden(void **state)
{
	(void)state;
	struct scene sc = tm(2000 * MIB, 1800 * MIB);
	set_floor(&sc, 1600 * MIB);
	set_demand(&sc, 1700 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	assert_non_null(strstr(sc.f.observation, "200.0 MiB, 10 % of the limit, belong to no budget"));
	assert_non_null(strstr(sc.f.competing_causes[1], "kubernetes.taskmanager.memory.limit-factor above 1"));
	judge_figure(&sc.f, "limit_bytes", 2000 * MIB);
	judge_figure(&sc.f, "process_size_bytes", 1800 * MIB);
	assert_int_equal(sc.f.n_missing, 0);
	done(&sc);
}

static void idle_borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t floor, demand;
		const char *then; /* NULL: info */
	} table[] = {
		{ 1500 * MIB, 1400 * MIB, NULL }, /* a quarter of 2000 MiB */
		{ 1500 * MIB - 1, 1400 * MIB,
		  "to 1.75 GiB (1792Mi)" }, /* the floor and a quarter more than the warning's room */
		{ 1000 * MIB, 1400 * MIB, "to 1.66 GiB (1700Mi)" },
		{ 1000 * MIB, 1700 * MIB, "to 1.75 GiB (1792Mi)" }, /* demand and 5 %, in steps of 64 MiB */
		{ 1000 * MIB, 1850 * MIB, NULL },                   /* all but wanted: 1984 MiB */
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = tm(2000 * MIB, 1700 * MIB);
		set_floor(&sc, table[i].floor);
		set_demand(&sc, table[i].demand);
		assert_int_equal(ask(&sc), RULE_FIRED);
		if (!table[i].then) {
			asks_for_nothing(&sc.f);
		} else {
			judge_whole(&sc.f);
			assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
			if (!strstr(sc.f.change, table[i].then))
				print_error("%s\n", sc.f.change);
			assert_non_null(strstr(sc.f.change, table[i].then));
			assert_int_equal(sc.f.turns[0].knob, KNOB_LIMIT);
			assert_int_equal(sc.f.turns[0].turn, TURN_DOWN);
			assert_non_null(strstr(sc.f.observation, "One report is one moment."));
			judge_missing(&sc.f, "memory.peak does not tell it");
			judge_figure(&sc.f, "floor_bytes", table[i].floor);
			judge_figure(&sc.f, "expected_demand_bytes", table[i].demand);
		}
		done(&sc);
	}
}

/* Where another finding asks for room, or a kill has shown that it is wanted, nothing is to be taken away. */
static void wanted_room_is_left(void **state)
{
	(void)state;
	struct scene sc = tm(2000 * MIB, 1700 * MIB);
	set_floor(&sc, 1900 * MIB); /* freeboard-low */
	set_demand(&sc, 1400 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	assert_non_null(strstr(sc.f.observation, "nothing of it can be taken away"));

	set_floor(&sc, 1000 * MIB);
	set_demand(&sc, 2000 * MIB + 1); /* demand-over-limit */
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	assert_non_null(strstr(sc.f.observation, "nothing of it can be taken away"));

	set_demand(&sc, 1400 * MIB);
	sc.s->cgroup.events.oom = count_of(1); /* the floor has been at the limit */
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	sc.s->cgroup.events.oom = count_of(0);
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	done(&sc);
}

static void room_in_use_is_not_idle(void **state)
{
	(void)state;
	struct scene sc = tm(4000 * (uint64_t)MIB, 1700 * MIB);
	set_floor(&sc, 1700 * MIB + 1);
	set_demand(&sc, 1800 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	assert_non_null(strstr(sc.f.title, "in use"));
	assert_non_null(strstr(sc.f.observation, "would kill the pod"));
	set_floor(&sc, 1700 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	done(&sc);
}

static void inputs(void **state)
{
	(void)state;
	struct scene sc = tm(2000 * MIB, 1700 * MIB);
	sc.s->engine.kind = ENGINE_KAFKA_STREAMS;
	assert_int_equal(ask(&sc), RULE_SILENT);

	sc.s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	set_floor(&sc, 900 * MIB);
	set_demand(&sc, 1000 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_non_null(strstr(sc.f.change, "jobmanager.memory.process.size"));
	assert_non_null(strstr(sc.f.change, "kubernetes.jobmanager.memory.limit-factor to 1.00"));

	sc.l->expected.bytes = (struct qty){ 0 }; /* idle, but whether it stays so is not known */
	sc.l->expected.missing = "-Xmx";
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	judge_missing(&sc.f, "expected demand: -Xmx unread");

	set_demand(&sc, 1000 * MIB);
	sc.l->freeboard_level = FREEBOARD_PROCESSES; /* one process's floor proves no room */
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	judge_missing(&sc.f, "floor of the container");

	sc.s->engine.flink.process_bytes = (struct qty){ 0 };
	sc.l->limit = (struct limit){ .kind = LIMIT_NONE };
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory limit: none");
	judge_missing(&sc.f, "Flink's budget");
	done(&sc);
}

/* Above the pod's limit there is no room, whatever the container's says. */
static void the_pods_limit_is_the_roof(void **state)
{
	(void)state;
	struct scene sc = tm(4000 * (uint64_t)MIB, 1700 * MIB);
	sc.s->pod_limit = limit_set(1764 * MIB);
	set_floor(&sc, 1000 * MIB);
	set_demand(&sc, 1400 * MIB);
	assert_int_equal(ask(&sc), RULE_SILENT);
	sc.s->pod_limit = limit_set(3000 * (uint64_t)MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f); /* what else runs in the pod is not in sight */
	judge_figure(&sc.f, "limit_bytes", 3000 * (uint64_t)MIB);
	assert_string_equal(sc.f.effective_settings[0].where, "--pod-limit");
	sc.s->pod_limit = limit_set(4000 * (uint64_t)MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	snap_no_cgroup(sc.s); /* then the pod's room, too, is above one process's floor */
	sc.s->pod_limit = limit_set(3000 * (uint64_t)MIB);
	sc.l->freeboard_level = FREEBOARD_POD;
	assert_int_equal(ask(&sc), RULE_FIRED);
	asks_for_nothing(&sc.f);
	judge_missing(&sc.f, "floor of the container");
	done(&sc);
}

static void extremes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 0, 1, 1000 * MIB, INT64_MAX, UINT64_MAX - 1, UINT64_MAX };
	enum { N = sizeof sizes / sizeof sizes[0] };
	for (size_t limit = 0; limit < N; limit++)
		for (size_t process = 0; process < N; process++)
			for (size_t floor = 0; floor < N; floor++)
				for (size_t demand = 0; demand < N; demand++) {
					struct scene sc = tm(2000 * MIB, 1700 * MIB);
					sc.l->limit = limit_set(sizes[limit]);
					sc.s->engine.flink.process_bytes = qty_measured(sizes[process]);
					sc.l->floor_bytes = qty_measured(sizes[floor]);
					sc.l->freeboard_bytes.known = false;
					set_demand(&sc, sizes[demand]);
					if (ask(&sc) == RULE_FIRED) {
						assert_true(sizes[limit] > sizes[process]);
						if (!sc.f.change[0])
							asks_for_nothing(&sc.f);
						else
							assert_true(strlen(sc.f.change) < sizeof sc.f.change - 1);
					}
					done(&sc);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders),
		cmocka_unit_test(a_tenth_hidden),
		cmocka_unit_test(idle_borders),
		cmocka_unit_test(wanted_room_is_left),
		cmocka_unit_test(room_in_use_is_not_idle),
		cmocka_unit_test(inputs),
		cmocka_unit_test(the_pods_limit_is_the_roof),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
