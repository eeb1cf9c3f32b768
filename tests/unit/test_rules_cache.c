/* SPDX-License-Identifier: Apache-2.0 */
/* tmpfs-charged, dirty-cache, page-cache-benign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "support/judge.h"
#include "support/snap.h"

static enum rule_answer ask(const char *rule, struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

static struct snapshot *with_shmem(unsigned mib, uint64_t limit)
{
	const struct snap_shape shape = { .heap = 400, .pool = 100, .shmem = mib, .cache = 50 };
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(limit);
	return s;
}

static void mount(struct snapshot *s, const char *path, uint64_t used)
{
	struct tmpfs_mount *m = &s->tmpfs[s->n_tmpfs++];
	(void)snprintf(m->path, sizeof m->path, "%s", path);
	m->used_bytes = qty_measured(used);
}

static void tmpfs_levels(void **state)
{
	(void)state;
	static const struct {
		unsigned mib;
		uint64_t limit;
		enum severity severity; /* NONE: silent */
	} table[] = {
		{ 0, GIB, SEVERITY_NONE },
		{ 64, GIB, SEVERITY_NONE }, /* just the bytes */
		{ 65, GIB, SEVERITY_NOTICE },
		{ 100, 2000 * MIB, SEVERITY_NONE }, /* just 5 % */
		{ 101, 2000 * MIB, SEVERITY_NOTICE },
		{ 300, 2000 * MIB, SEVERITY_NOTICE }, /* just 15 % */
		{ 301, 2000 * MIB, SEVERITY_WARNING },
		{ 900, 2000 * MIB, SEVERITY_WARNING },
		{ 900, 100 * GIB, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask("tmpfs-charged", with_shmem(table[i].mib, table[i].limit), &f);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (answer != RULE_FIRED)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, table[i].severity);
		judge_figure(&f, "files_in_memory_bytes", table[i].mib * (uint64_t)MIB);
		assert_true(f.excess_bytes == table[i].mib * (uint64_t)MIB);
		assert_int_equal(f.owner, OWNER_TMPFS);
	}
}

static void tmpfs_names_its_mount(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with_shmem(500, GIB);
	mount(s, "/tmp/small", 3 * MIB);
	mount(s, "/opt/flink/state", 490 * (uint64_t)MIB);
	s->tmpfs[1].size = limit_set(GIB);
	s->engine.rocksdb.sst_bytes = qty_measured(480 * (uint64_t)MIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.title, "most of them in /opt/flink/state"));
	assert_non_null(strstr(f.observation, "/opt/flink/state has 490.0 MiB of 1.00 GiB."));
	assert_non_null(strstr(f.observation, "RocksDB's files are 480.0 MiB: most likely they lie there."));
	assert_non_null(strstr(f.change, "ephemeral-storage of 1024Mi"));
	assert_int_equal(f.n_missing, 0);

	s = with_shmem(500, GIB); /* files that would not fit into the mount lie elsewhere */
	mount(s, "/opt/flink/state", 400 * (uint64_t)MIB);
	s->engine.rocksdb.sst_bytes = qty_measured(480 * (uint64_t)MIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	assert_null(strstr(f.observation, "RocksDB"));

	s = with_shmem(500, GIB);
	mount(s, "/dev/shm", 500 * (uint64_t)MIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "remove what is left over in /dev/shm"));

	assert_int_equal(ask("tmpfs-charged", with_shmem(500, GIB), &f), RULE_FIRED);
	judge_whole(&f);
	judge_missing(&f, "mountinfo");
	assert_non_null(strstr(f.change, "find the files"));
}

/* A volume in memory with a size, and room for it when it is full, was planned for: nobody is called at night. */
static void tmpfs_that_is_bounded_is_a_notice(void **state)
{
	(void)state;
	/* 500 MiB of anon and 400 of files in 2000 MiB: 1100 are left, of which freeboard-low wants 200. */
	static const struct {
		unsigned used, size; /* of the mount; 0: no size */
		enum severity severity;
	} table[] = {
		{ 400, 1300, SEVERITY_NOTICE }, /* 900 more to come: just so */
		{ 400, 1301, SEVERITY_WARNING }, { 400, 400, SEVERITY_NOTICE },
		{ 500, 400, SEVERITY_NOTICE },                                  /* a size that was lowered since */
		{ 400, 0, SEVERITY_WARNING },    { 336, 400, SEVERITY_NOTICE }, /* 64 MiB are in no mount */
		{ 335, 400, SEVERITY_WARNING },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = with_shmem(400, 2000 * (uint64_t)MIB);
		mount(s, "/scratch", table[i].used * (uint64_t)MIB);
		s->tmpfs[0].size =
			table[i].size ? limit_set(table[i].size * (uint64_t)MIB) : (struct limit){ 0, LIMIT_NONE };
		assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
		if (f.severity != table[i].severity)
			print_error("%u of %u\n", table[i].used, table[i].size);
		assert_int_equal(f.severity, table[i].severity);
		judge_whole(&f);
		assert_true(!strstr(f.observation, "even full") == (f.severity == SEVERITY_WARNING));
	}
}

/* ZGC's heap is a file in memory, too: without its size nobody knows what of them is the heap. */
static void tmpfs_is_not_zgc(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with_shmem(500, GIB);
	s->gc = GC_Z;
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "ZGC's heap file");
	s = with_shmem(500, GIB);
	s->gc = GC_Z;
	s->memfd_heap_bytes = qty_measured(480 * (uint64_t)MIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_SILENT);
	s = with_shmem(500, GIB);
	s->gc = GC_Z;
	s->memfd_heap_bytes = qty_measured(400 * (uint64_t)MIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	judge_figure(&f, "files_in_memory_bytes", 100 * MIB);
	/* Neither smaps nor a collector: it may be ZGC. */
	s = with_shmem(500, GIB);
	s->vmas_read = false;
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "ZGC's heap file");
	s = with_shmem(500, GIB);
	s->vmas_read = false;
	s->gc = GC_G1;
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	judge_whole(&f);
}

static void tmpfs_longest_names(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with_shmem(500, GIB);
	char path[sizeof s->tmpfs[0].path];
	memset(path, 'x', sizeof path - 1);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	for (int i = 0; i < TMPFS_MOUNTS_MAX; i++) {
		mount(s, path, (500 - (uint64_t)i) * MIB);
		s->tmpfs[i].size = limit_set(UINT64_MAX);
	}
	s->engine.rocksdb.sst_bytes = qty_measured(100 * MIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	judge_whole(&f);
}

static void tmpfs_without_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with_shmem(500, GIB);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");
	s = with_shmem(60, GIB);
	s->cgroup.max.kind = LIMIT_NONE; /* below the bytes nobody asks for a limit */
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_SILENT);
	s = with_shmem(500, GIB);
	snap_no_cgroup(s);
	s->told_limit = limit_set(GIB);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat");
}

/* Extremes come from files that others write. */
static void tmpfs_extremes(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with_shmem(500, UINT64_MAX);
	mount(s, "/x", UINT64_MAX);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_SILENT);
	s = with_shmem(500, 1);
	mount(s, "/x", UINT64_MAX);
	s->engine.rocksdb.sst_bytes = qty_measured(UINT64_MAX);
	assert_int_equal(ask("tmpfs-charged", s, &f), RULE_FIRED);
	judge_whole(&f);
}

/* A container of 1000 MiB at its limit: `dirty` MiB to be written, threads that wait `bp` of the time. */
static struct snapshot *dirty(unsigned mib, uint32_t bp)
{
	const struct snap_shape shape = { .heap = 300, .pool = 50, .cache = 640 };
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(1000 * (uint64_t)MIB);
	s->cgroup.events.max = count_of(7);
	s->cgroup.stat.file_dirty_bytes = qty_measured(mib * (uint64_t)MIB);
	s->cgroup.stat.file_writeback_bytes = qty_measured(0);
	s->cgroup.pressure.some = (struct cgroup_pressure_line){ bp, bp, bp, 1, true };
	return s;
}

static void dirty_levels(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask("dirty-cache", dirty(0, 5000), &f), RULE_SILENT);
	assert_int_equal(ask("dirty-cache", dirty(64, 5000), &f), RULE_SILENT);
	assert_int_equal(ask("dirty-cache", dirty(100, 5000), &f), RULE_SILENT); /* just 10 % */
	assert_int_equal(ask("dirty-cache", dirty(101, 100), &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE); /* nobody waits */
	judge_whole(&f);
	assert_int_equal(ask("dirty-cache", dirty(101, 101), &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	judge_whole(&f);
	judge_figure(&f, "file_dirty_bytes", 101 * (uint64_t)MIB);
	assert_non_null(strstr(f.title, "and threads wait for that"));
	assert_int_equal(f.owner, OWNER_PAGE_CACHE);
	/* Writeback counts as well: 60 + 50. */
	struct snapshot *s = dirty(60, 500);
	s->cgroup.stat.file_writeback_bytes = qty_measured(50 * MIB);
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	judge_figure(&f, "file_writeback_bytes", 50 * MIB);
}

/* The charge is 990 MiB: a tenth of 1100 is left, or a byte less. */
static void dirty_near_the_limit(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = dirty(300, 5000);
	s->cgroup.max = limit_set(1100 * (uint64_t)MIB);
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = dirty(300, 5000);
	s->cgroup.max = limit_set(1100 * (uint64_t)MIB);
	s->cgroup.current_bytes.bytes++;
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	s = dirty(300, 5000); /* past the limit, as a resize leaves it */
	s->cgroup.max = limit_set(900 * (uint64_t)MIB);
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
}

/* A pause of some seconds between two waits is no end of them: the last minute counts as well. */
static void waiting_of_the_last_minute_counts(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = dirty(300, 0);
	s->cgroup.pressure.some.avg60_bp = 1000;
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = dirty(300, 0);
	s->cgroup.pressure.some.avg60_bp = 1001;
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	judge_whole(&f);
	s = dirty(0, 0);
	s->cgroup.pressure.some.avg60_bp = 1000;
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_FIRED);
	s = dirty(0, 0);
	s->cgroup.pressure.some.avg60_bp = 1001;
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
}

/* Far from its limit, or never pushed back there, nobody waits for the disk because of it. */
static void dirty_is_a_notice_away_from_the_limit(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = dirty(300, 5000);
	s->cgroup.max = limit_set(2000 * (uint64_t)MIB);
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = dirty(300, 5000);
	s->cgroup.events.max = count_of(0);
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = dirty(300, 5000);
	s->cgroup.pressure.some.known = false;
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_missing(&f, "memory.pressure");
	judge_whole(&f);
}

static void dirty_without_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = dirty(300, 5000);
	s->cgroup.stat.file_writeback_bytes = (struct qty){ 0 };
	assert_int_equal(ask("dirty-cache", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat");
	s = dirty(300, 5000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask("dirty-cache", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");
	s = dirty(300, 10000);
	s->cgroup.stat.file_dirty_bytes = qty_measured(UINT64_MAX - 1);
	s->cgroup.stat.file_writeback_bytes = qty_measured(1);
	s->cgroup.max = limit_set(1);
	assert_int_equal(ask("dirty-cache", s, &f), RULE_FIRED);
	judge_whole(&f);
}

/* `cache` MiB of page cache over 350 MiB that stay, and a limit. */
static struct snapshot *cached(unsigned cache, uint64_t limit_mib)
{
	const struct snap_shape shape = { .heap = 300, .pool = 50, .cache = cache };
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(limit_mib * MIB);
	s->cgroup.stat.file_dirty_bytes = s->cgroup.stat.file_writeback_bytes = qty_measured(0);
	s->cgroup.pressure.some.known = true;
	return s;
}

static void benign_levels(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask("page-cache-benign", cached(500, 1000), &f), RULE_SILENT); /* just 85 % */
	assert_int_equal(ask("page-cache-benign", cached(501, 1000), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_INFO);
	judge_figure(&f, "charge_bytes", 851 * (uint64_t)MIB);
	judge_figure(&f, "floor_bytes", 350 * (uint64_t)MIB);
	assert_int_equal(ask("page-cache-benign", cached(650, 1000), &f), RULE_FIRED); /* 100 % */
	/* Room of just 20 % is no ample room: 350 of 437.5. */
	struct snapshot *s = cached(85, 437);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
	s = cached(85, 438);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_FIRED);
}

static void benign_is_silent_where_it_harms(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = cached(600, 1000);
	s->cgroup.pressure.some.avg10_bp = 101;
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
	s = cached(600, 1000);
	s->cgroup.pressure.some.avg10_bp = 100;
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_FIRED);
	s = cached(600, 1000);
	s->cgroup.stat.file_dirty_bytes = qty_measured(101 * (uint64_t)MIB);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
	/* The pod is short, though the container is not. */
	s = cached(600, 1000);
	s->pod_limit = limit_set(400 * (uint64_t)MIB);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
	/* The pod has room, as far as can be seen. */
	s = cached(600, 1000);
	s->pod_limit = limit_set(900 * (uint64_t)MIB);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_missing(&f, "the pod's other containers");
	/* Files in memory are no page cache: they are in the floor. */
	const struct snap_shape shape = { .heap = 300, .pool = 50, .cache = 50, .shmem = 550 };
	s = snap_new(&shape);
	s->cgroup.max = limit_set(1000 * (uint64_t)MIB);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
}

static void benign_without_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = cached(600, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_SILENT);
	s = cached(600, 1000);
	s->cgroup.pressure.some.known = false;
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_FIRED);
	judge_missing(&f, "memory.pressure");
	s = cached(600, 1000);
	s->cgroup.current_bytes = (struct qty){ 0 };
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.current");
	s = cached(600, 1000);
	snap_no_cgroup(s);
	s->told_limit = limit_set(1000 * (uint64_t)MIB);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat");
	s = cached(600, 1000);
	s->cgroup.current_bytes = qty_measured(UINT64_MAX);
	s->cgroup.stat.inactive_file_bytes = qty_measured(UINT64_MAX);
	assert_int_equal(ask("page-cache-benign", s, &f), RULE_FIRED);
	judge_whole(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tmpfs_levels),
		cmocka_unit_test(tmpfs_names_its_mount),
		cmocka_unit_test(tmpfs_that_is_bounded_is_a_notice),
		cmocka_unit_test(tmpfs_is_not_zgc),
		cmocka_unit_test(tmpfs_longest_names),
		cmocka_unit_test(tmpfs_without_inputs),
		cmocka_unit_test(tmpfs_extremes),
		cmocka_unit_test(dirty_levels),
		cmocka_unit_test(dirty_near_the_limit),
		cmocka_unit_test(waiting_of_the_last_minute_counts),
		cmocka_unit_test(dirty_is_a_notice_away_from_the_limit),
		cmocka_unit_test(dirty_without_inputs),
		cmocka_unit_test(benign_levels),
		cmocka_unit_test(benign_is_silent_where_it_harms),
		cmocka_unit_test(benign_without_inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
