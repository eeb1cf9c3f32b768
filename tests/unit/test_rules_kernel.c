/* SPDX-License-Identifier: Apache-2.0 */
/* socket-memory, kernel-memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static struct snapshot *with_sock(uint64_t sock, uint64_t limit)
{
	const struct snap_shape shape = { .heap = 300, .pool = 50, .cache = 20 };
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(limit);
	s->cgroup.stat.sock_bytes = qty_measured(sock);
	return s;
}

static void socket_levels(void **state)
{
	(void)state;
	static const struct {
		uint64_t sock, limit;
		enum severity severity; /* NONE: silent */
	} table[] = {
		{ 0, GIB, SEVERITY_NONE },
		{ 64 * MIB, GIB, SEVERITY_NONE }, /* just the bytes */
		{ 64 * MIB + 1, GIB, SEVERITY_NOTICE },
		{ 120 * (uint64_t)MIB, 4000 * (uint64_t)MIB, SEVERITY_NONE }, /* just 3 % */
		{ 120 * (uint64_t)MIB + 1, 4000 * (uint64_t)MIB, SEVERITY_NOTICE },
		{ 400 * (uint64_t)MIB, 4000 * (uint64_t)MIB, SEVERITY_NOTICE }, /* just 10 % */
		{ 400 * (uint64_t)MIB + 1, 4000 * (uint64_t)MIB, SEVERITY_WARNING },
		{ 60 * MIB, 100 * MIB, SEVERITY_NONE }, /* much of it, but few bytes */
		{ 500 * (uint64_t)MIB, 100 * GIB, SEVERITY_NONE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask("socket-memory", with_sock(table[i].sock, table[i].limit), &f);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (answer != RULE_FIRED)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, table[i].severity);
		judge_figure(&f, "sock_bytes", table[i].sock);
		assert_true(f.excess_bytes == table[i].sock);
		assert_int_equal(f.owner, OWNER_SOCKETS);
		assert_non_null(strstr(f.change, "net.ipv4.tcp_rmem"));
	}
}

static void socket_without_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with_sock(500 * (uint64_t)MIB, GIB);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask("socket-memory", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");
	s = with_sock(64 * MIB, GIB);
	s->cgroup.max.kind = LIMIT_NONE; /* few bytes need no limit */
	assert_int_equal(ask("socket-memory", s, &f), RULE_SILENT);
	s = with_sock(500 * (uint64_t)MIB, GIB);
	snap_no_cgroup(s);
	s->told_limit = limit_set(GIB);
	assert_int_equal(ask("socket-memory", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat: the memory controller is on cgroup v1");
	s = with_sock(500 * (uint64_t)MIB, GIB);
	s->cgroup.stat.sock_bytes = (struct qty){ 0 };
	snap_gap(s, "cgroup/memory.stat", ERR_DENIED, "permission denied");
	assert_int_equal(ask("socket-memory", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "permission denied");
}

static void socket_extremes(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask("socket-memory", with_sock(UINT64_MAX, INT64_MAX), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(ask("socket-memory", with_sock(UINT64_MAX, 1), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(ask("socket-memory", with_sock(70 * MIB, 0), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(ask("socket-memory", with_sock(70 * MIB, UINT64_MAX), &f), RULE_SILENT);
}

/* Kernel memory of a container with this limit, in MiB. */
static struct snapshot *kernel(const struct snap_shape *parts, uint64_t limit_mib)
{
	struct snap_shape shape = *parts;
	shape.heap = 300;
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(limit_mib * MIB);
	return s;
}

static void kernel_levels(void **state)
{
	(void)state;
	static const struct {
		unsigned held, reclaimable;
		uint64_t limit_mib;
		enum severity severity;
	} table[] = {
		{ 0, 0, 1000, SEVERITY_NONE },
		{ 96, 0, 1000, SEVERITY_NONE }, /* just the bytes */
		{ 97, 0, 1000, SEVERITY_NOTICE },
		{ 97, 900, 1000, SEVERITY_NOTICE }, /* what can be reclaimed does not count */
		{ 96, 900, 1000, SEVERITY_NONE },
		{ 200, 0, 4000, SEVERITY_NONE }, /* just 5 % */
		{ 201, 0, 4000, SEVERITY_NOTICE },
		{ 400, 0, 4000, SEVERITY_NOTICE }, /* just 10 % */
		{ 401, 0, 4000, SEVERITY_WARNING },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		const struct snap_shape parts = { .slab_unreclaimable = table[i].held,
						  .slab_reclaimable = table[i].reclaimable };
		enum rule_answer answer = ask("kernel-memory", kernel(&parts, table[i].limit_mib), &f);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		if (answer != RULE_FIRED)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, table[i].severity);
		judge_figure(&f, "kernel_held_bytes", table[i].held * (uint64_t)MIB);
		assert_true(f.excess_bytes == table[i].held * (uint64_t)MIB);
		assert_int_equal(f.owner, OWNER_SLAB_UNRECLAIMABLE);
	}
}

/* The largest part is the owner, and decides the first cause and the change. */
static void kernel_names_its_largest_part(void **state)
{
	(void)state;
	static const struct {
		struct snap_shape parts;
		enum owner owner;
		const char *change;
	} table[] = {
		{ { .kernel_stack = 90, .pagetables = 60 }, OWNER_KERNEL_STACKS, "pool of threads" },
		{ { .pagetables = 90, .kernel_stack = 60 }, OWNER_PAGE_TABLES, "VmPTE" },
		{ { .slab_unreclaimable = 90, .percpu = 60 }, OWNER_SLAB_UNRECLAIMABLE, "slabtop" },
		{ { .percpu = 90, .kernel_other = 60 }, OWNER_PERCPU, "rmdir" },
		{ { .kernel_other = 90, .pagetables = 60 }, OWNER_KERNEL_OTHER, "restart the process once" },
		/* The largest of all, but it can be reclaimed. */
		{ { .slab_reclaimable = 400, .pagetables = 90, .percpu = 60 }, OWNER_PAGE_TABLES, "VmPTE" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = kernel(&table[i].parts, 1000);
		s->status.n_threads = count_of(1000);
		s->status.vm_pte_bytes = qty_measured(12 * MIB);
		assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
		judge_whole(&f);
		assert_int_equal(f.owner, table[i].owner);
		assert_non_null(strstr(f.change, table[i].change));
		assert_non_null(strstr(f.title, owner_table[f.owner].name));
		judge_figure(&f, "kernel_held_bytes", 150 * (uint64_t)MIB);
		assert_int_equal(strstr(f.observation, "1000 threads; at 16 KiB each the stacks are those of 5760") !=
					 NULL,
				 table[i].owner == OWNER_KERNEL_STACKS);
		assert_int_equal(strstr(f.observation, "12.0 MiB (VmPTE)") != NULL,
				 table[i].owner == OWNER_PAGE_TABLES);
	}
	struct finding f;
	const struct snap_shape other = { .kernel_other = 150 };
	struct snapshot *s = kernel(&other, 1000);
	s->cgroup.stat.vmalloc_bytes = qty_measured(100 * MIB);
	assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.owner, OWNER_VMALLOC);
	assert_non_null(strstr(f.change, "bpftool"));
	judge_figure(&f, "kernel_held_bytes", 150 * (uint64_t)MIB); /* the rest fell to 50: not counted twice */
}

/* zswap's pool is kernel memory without a line: it stands in kernel-other, and is not counted again. */
static void kernel_tells_zswap(void **state)
{
	(void)state;
	struct finding f;
	const struct snap_shape parts = { .kernel_other = 150, .pagetables = 20 };
	struct snapshot *s = kernel(&parts, 1000);
	s->cgroup.stat.zswap_bytes = qty_measured(120 * (uint64_t)MIB);
	assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "kernel_held_bytes", 170 * (uint64_t)MIB);
	judge_figure(&f, "zswap_bytes", 120 * (uint64_t)MIB);
	assert_non_null(strstr(f.title, "zswap's pool"));
	assert_non_null(strstr(f.change, "memory.zswap.max"));
	assert_int_equal(f.turns[0].knob, KNOB_SWAP);
	s = kernel(&parts, 1000);
	s->cgroup.stat.zswap_bytes = qty_measured(10 * MIB);
	assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_null(strstr(f.title, "zswap"));
	assert_non_null(strstr(f.observation, "zswap's pool is inside with 10.0 MiB."));
}

/* Before Linux 5.18 there is no sum: the parts are a lower bound. */
static void kernel_without_its_sum(void **state)
{
	(void)state;
	struct finding f;
	const struct snap_shape parts = { .kernel_stack = 60, .pagetables = 40, .slab_reclaimable = 500 };
	struct snapshot *s = kernel(&parts, 1000);
	s->cgroup.stat.kernel_bytes = (struct qty){ 0 };
	s->cgroup.stat.percpu_bytes = (struct qty){ 0 };
	assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "kernel_held_bytes", 100 * (uint64_t)MIB);
	assert_non_null(strstr(f.title, "at least 100.0 MiB"));
	assert_non_null(strstr(f.observation, "lower bound"));
	s = kernel(&parts, 1000);
	s->cgroup.stat.slab_reclaimable_bytes = (struct qty){ 0 };
	assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "kernel_held_bytes", 600 * (uint64_t)MIB);
	assert_non_null(strstr(f.observation, "no slab_reclaimable"));
}

static void kernel_without_inputs(void **state)
{
	(void)state;
	struct finding f;
	const struct snap_shape parts = { .kernel_stack = 150 };
	struct snapshot *s = kernel(&parts, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask("kernel-memory", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");
	const struct snap_shape few = { .kernel_stack = 90 };
	s = kernel(&few, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask("kernel-memory", s, &f), RULE_SILENT);
	/* The stacks and page tables of this process alone are not the container's. */
	s = kernel(&parts, 1000);
	snap_no_cgroup(s);
	s->told_limit = limit_set(1000 * (uint64_t)MIB);
	s->status.n_threads = count_of(100000);
	s->status.vm_pte_bytes = qty_measured(GIB);
	assert_int_equal(ask("kernel-memory", s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat");
}

/* Extremes come from files that others write; the longest texts are whole. */
static void kernel_extremes(void **state)
{
	(void)state;
	struct finding f;
	const struct snap_shape parts = { .kernel_stack = 150, .pagetables = 30 };
	for (int i = 0; i < 3; i++) {
		struct snapshot *s = kernel(&parts, 1);
		s->cgroup.stat.kernel_bytes = i == 1 ? (struct qty){ 0 } : qty_measured(UINT64_MAX);
		s->cgroup.stat.kernel_stack_bytes = qty_measured(UINT64_MAX);
		s->cgroup.stat.pagetables_bytes = qty_measured(i == 2 ? UINT64_MAX : 5);
		s->cgroup.stat.slab_reclaimable_bytes = i == 2 ? (struct qty){ 0 } : qty_measured(3);
		s->cgroup.stat.zswap_bytes = qty_measured(UINT64_MAX - 1);
		s->cgroup.max = limit_set(UINT64_MAX - 1000000);
		s->status.n_threads = count_of(UINT64_MAX);
		s->status.vm_pte_bytes = qty_measured(UINT64_MAX);
		assert_int_equal(ask("kernel-memory", s, &f), RULE_FIRED);
		judge_whole(&f);
		assert_int_equal(f.owner, OWNER_KERNEL_STACKS);
	}
	struct snapshot *s = kernel(&parts, 0);
	s->cgroup.stat.slab_reclaimable_bytes = qty_measured(UINT64_MAX);
	assert_int_equal(ask("kernel-memory", s, &f), RULE_SILENT);
	assert_int_equal(ask("kernel-memory", kernel(&parts, 0), &f), RULE_FIRED);
	judge_whole(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(socket_levels),
		cmocka_unit_test(socket_without_inputs),
		cmocka_unit_test(socket_extremes),
		cmocka_unit_test(kernel_levels),
		cmocka_unit_test(kernel_names_its_largest_part),
		cmocka_unit_test(kernel_tells_zswap),
		cmocka_unit_test(kernel_without_its_sum),
		cmocka_unit_test(kernel_without_inputs),
		cmocka_unit_test(kernel_extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
