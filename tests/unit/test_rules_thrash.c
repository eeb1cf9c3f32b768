/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim-thrash: too little room for what is mapped, and the proof that it happens now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "reclaim-thrash";
static const struct snap_shape plain = { .heap = 600, .pool = 200, .mapped = 60, .cache = 20 };

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct finding f;
};

/* A container of 1000 MiB with 60 MiB of mapped files and this much room, that evicts and waits right now. */
static struct scene scene_of(int64_t room)
{
	struct scene sc = { .s = snap_new(&plain) };
	struct cgroup_memory *cg = &sc.s->cgroup;
	cg->max = limit_set(1000 * MIB);
	cg->high.kind = LIMIT_NONE;
	cg->stat.workingset_refault_file = count_of(1);
	cg->stat.file_dirty_bytes = cg->stat.file_writeback_bytes = qty_measured(MIB);
	cg->pressure.some = (struct cgroup_pressure_line){ 101, 0, 0, 1, true };
	sc.l = snap_ledger(sc.s);
	sc.l->freeboard_bytes = (struct signed_qty){ room, true };
	sc.l->floor_bytes = qty_measured((uint64_t)(1000 * MIB - room));
	return sc;
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

static void borders(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		int64_t room;
		uint32_t avg10_bp;
		uint64_t refaults;
		bool fires;
	} table[] = {
		{ "room for mapped files and 5 %", 110 * MIB, 500, 9, false },
		{ "a byte less", 110 * MIB - 1, 500, 9, true },
		{ "past the limit", -1, 500, 9, true },
		{ "full, and nothing waits", 10 * MIB, 100, 9, false },
		{ "full, and threads wait", 10 * MIB, 101, 9, true },
		{ "full, and nothing was read again", 10 * MIB, 500, 0, false },
		{ "and once", 10 * MIB, 500, 1, true },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(table[i].room);
		sc.s->cgroup.pressure.some.avg10_bp = table[i].avg10_bp;
		sc.s->cgroup.stat.workingset_refault_file = count_of(table[i].refaults);
		enum rule_answer answer = ask(&sc);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			print_error("%s\n", table[i].what);
		assert_int_equal(answer, table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (table[i].fires) {
			judge_whole(&sc.f);
			assert_int_equal(sc.f.severity, SEVERITY_CRITICAL);
			judge_figure(&sc.f, "mapped_files_bytes", 60 * MIB);
			assert_int_equal(sc.f.owner, OWNER_MAPPED_FILES);
		}
		done(&sc);
	}
}

static void texts(void **state)
{
	(void)state;
	struct scene sc = scene_of(50 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_holds(sc.f.title, "50.0 MiB of room for 60.0 MiB of mapped files");
	judge_holds(sc.f.observation, "below the container's memory limit of 1000 MiB");
	judge_holds(sc.f.observation, "threads waited 1.01 % of the last 10 s");
	/* The floor of 950 MiB, 110 of what is needed and a quarter of that. */
	judge_holds(sc.f.change, "from 1000 MiB to 1.06 GiB (1088Mi)");
	assert_int_equal(sc.f.turns[0].knob, KNOB_LIMIT);
	assert_int_equal(sc.f.excess_bytes, 60 * MIB);
	judge_holds(sc.f.competing_causes[3], "2.0 MiB dirty or in writeback");
	done(&sc);
}

/* The kernel reclaims at memory.high as it does at the limit. */
static void memory_high_squeezes_too(void **state)
{
	(void)state;
	struct scene sc = scene_of(200 * MIB);
	assert_int_equal(ask(&sc), RULE_SILENT);
	sc.s->cgroup.high = limit_set(900 * MIB); /* 100 MiB of room; mapped files and 5 % of it are 105 */
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.observation, "100.0 MiB below memory.high of 900.0 MiB");
	assert_int_equal(sc.f.turns[0].knob, KNOB_MEMORY_HIGH);
	sc.s->cgroup.high = limit_set(906 * MIB); /* 106 of 105.3 */
	assert_int_equal(ask(&sc), RULE_SILENT);
	sc.s->cgroup.high = limit_set(700 * MIB);
	sc.l->freeboard_bytes.known = false; /* without a limit it is the only line */
	sc.l->limit.kind = LIMIT_NONE;
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	done(&sc);
}

/* Mapped shared memory (a ZGC heap) is in the floor, and not counted again. */
static void mapped_shared_memory_is_no_file(void **state)
{
	(void)state;
	struct scene sc = scene_of(150 * MIB);
	free(sc.l);
	sc.s->cgroup.stat.shmem_bytes = qty_measured(300 * MIB);
	sc.s->cgroup.stat.file_bytes = qty_measured(380 * MIB);
	sc.s->cgroup.stat.file_mapped_bytes = qty_measured(360 * MIB);
	struct vma *vma = snap_vma(sc.s, VMA_SHMEM, VMA_READ | VMA_WRITE | VMA_SHARED, "/memfd:x", 300 * MIB, 0);
	vma->rss_bytes = vma->pss_bytes = 300 * MIB;
	sc.l = snap_ledger(sc.s);
	sc.l->freeboard_bytes = (struct signed_qty){ 150 * MIB, true };
	assert_int_equal(ask(&sc), RULE_SILENT);
	sc.l->freeboard_bytes.bytes = 100 * MIB;
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_figure(&sc.f, "mapped_files_bytes", 60 * MIB);
	done(&sc);
}

static void inputs(void **state)
{
	(void)state;
	struct scene sc = scene_of(50 * MIB);
	sc.s->cgroup.pressure.some.known = false;
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "CONFIG_PSI, psi=1");
	sc.s->cgroup.stat.workingset_refault_file.known = false;
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "older than 5.9");
	sc.l->freeboard_bytes.bytes = 200 * MIB; /* with room neither matters */
	assert_int_equal(ask(&sc), RULE_SILENT);

	sc.s->cgroup.stat.file_mapped_bytes = (struct qty){ 0 };
	sc.l->freeboard_bytes.known = false;
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "no file_mapped in it");
	judge_missing(&sc.f, "the floor, or its distance to the limit");
	sc.l->limit = (struct limit){ 0 };
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory limit: none");
	sc.l->limit.kind = LIMIT_NONE; /* nothing squeezes */
	assert_int_equal(ask(&sc), RULE_SILENT);
	sc.s->pod_limit = limit_set(GIB);
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	sc.s->pod_limit.kind = LIMIT_UNREAD;
	sc.l->limit.kind = LIMIT_UNREAD;
	sc.s->cgroup.is_root = true;
	assert_int_equal(ask(&sc), RULE_SILENT);

	snap_no_cgroup(sc.s);
	sc.s->told_limit = limit_set(1000 * MIB);
	free(sc.l);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.stat: the memory controller is on cgroup v1");
	done(&sc);
}

static void extremes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 0, 1, 1000 * MIB, INT64_MAX, UINT64_MAX };
	static const int64_t rooms[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	enum { N = sizeof sizes / sizeof sizes[0] };
	for (size_t limit = 0; limit < N; limit++)
		for (size_t mapped = 0; mapped < N; mapped++)
			for (size_t floor = 0; floor < N; floor++)
				for (size_t room = 0; room < N; room++) {
					struct scene sc = scene_of(rooms[room] == INT64_MIN ? 0 : MIB);
					sc.l->limit = limit_set(sizes[limit]);
					sc.s->cgroup.high = limit_set(sizes[N - 1 - limit]);
					sc.l->freeboard_bytes.bytes = rooms[room];
					sc.l->floor_bytes = qty_measured(sizes[floor]);
					sc.l->lines[OWNER_MAPPED_FILES].bytes = qty_measured(sizes[mapped]);
					sc.s->cgroup.stat.workingset_refault_file = count_of(UINT64_MAX);
					sc.s->cgroup.stat.file_dirty_bytes = qty_measured(UINT64_MAX - MIB);
					snap_flink(sc.s, 1, 1, 1, 1, 1, UINT64_MAX);
					if (ask(&sc) == RULE_FIRED)
						judge_whole(&sc.f);
					done(&sc);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders),
		cmocka_unit_test(texts),
		cmocka_unit_test(memory_high_squeezes_too),
		cmocka_unit_test(mapped_shared_memory_is_no_file),
		cmocka_unit_test(inputs),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
