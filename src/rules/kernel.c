/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel holds for the container: socket buffers (`sock`) and its own memory (`kernel` less the slab that can
 * be reclaimed). No budget of the JVM or the engine counts either, and both are in the floor (cgroup-v2.rst, memory.stat).
 */
#include <stdio.h>

#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

enum { KERNEL_STACK_KIB = 16 }; /* THREAD_SIZE of x86-64 and arm64 */

static const char not_read[] = "the container's cgroup v2 was not read";

/* What a rule about `bytes` of the limit does where it does not fire. FIRED: the levels are passed. */
static enum rule_answer pass_levels(const struct rule_input *input, uint64_t bytes, enum threshold floor,
				    enum threshold share, struct judged_limit *ret_limit, struct finding *finding)
{
	if (bytes <= judged_level(input, floor))
		return RULE_SILENT;
	if (!judged_container(input->ledger, ret_limit)) {
		judged_missing(finding);
		return RULE_INCONCLUSIVE;
	}
	return bytes > judged_share(input, share, ret_limit->bytes) ? RULE_FIRED : RULE_SILENT;
}

static void socket_texts(uint64_t sock, const struct judged_limit *limit, struct finding *finding)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding_title(finding, "socket buffers hold %s of the limit of %s", units_format(a, sock),
		      units_format(b, limit->bytes));
	finding_observation(
		finding,
		"sock of memory.stat is %s, %s is %s: data that was received and not yet read, or sent and not yet acknowledged. None of it can be reclaimed, and no budget of the JVM or the engine counts it.",
		a, limit->name, b);
	finding_cause(
		finding,
		"peers that do not read (a slow consumer, a hung client): then ss -tmi in the pod's network namespace shows a few connections with a large Send-Q");
	finding_cause(
		finding,
		"this process does not read (backpressure, long pauses of the collector): then it shows a large Recv-Q");
	finding_cause(
		finding,
		"many connections (a high parallelism, clients that are not closed): then each holds little and ss -s counts thousands");
	finding_cause(
		finding,
		"high maxima in net.ipv4.tcp_rmem and tcp_wmem: then skmem of ss -tmi shows buffers (rb, tb) far above 6 MiB and 4 MiB, the kernel's defaults");
	finding_cause(finding, "a burst, a restore or a rebalance say: then it is gone a minute later");
}

enum rule_answer rule_socket_memory(const struct rule_input *input, struct finding *finding)
{
	const struct qty sock = input->snapshot->cgroup.stat.sock_bytes;
	struct judged_limit limit;
	if (!qty_known(sock)) {
		finding_missing_file(finding, input->snapshot, "memory.stat", not_read);
		return RULE_INCONCLUSIVE;
	}
	enum rule_answer answer =
		pass_levels(input, sock.bytes, T_SOCKET_MEMORY_BYTES, T_SOCKET_MEMORY_NOTICE, &limit, finding);
	if (answer != RULE_FIRED)
		return answer;
	bool grave = sock.bytes > judged_share(input, T_SOCKET_MEMORY_WARNING, limit.bytes);
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = OWNER_SOCKETS;
	finding->excess_bytes = sock.bytes;
	socket_texts(sock.bytes, &limit, finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	finding_bytes(finding, "sock_bytes", sock.bytes);
	finding_bytes(finding, "limit_bytes", limit.bytes);
	finding_turn(finding, KNOB_APPLICATION, TURN_SET);
	finding_change(
		finding,
		"bound each connection to 1 MiB a direction: in the pod's securityContext.sysctls set net.ipv4.tcp_rmem to \"4096 131072 1048576\" and net.ipv4.tcp_wmem to \"4096 16384 1048576\" (allowed without more from Kubernetes 1.32 on; before it the kubelet needs them in allowedUnsafeSysctls)");
	finding_validate(finding, "steady: sock of memory.stat stays below %llu MiB through a full day's peak",
			 (unsigned long long)(judged_both(input, T_SOCKET_MEMORY_NOTICE, T_SOCKET_MEMORY_BYTES,
							  limit.bytes) >>
					      20));
	finding_validate(
		finding,
		"failure: the same while a consumer of the job is stopped for a minute, and throughput afterwards is what it was before the change");
	return RULE_FIRED;
}

/* What fills the kernel's part. zswap's pool is charged as kernel memory too and has no line of its own. */
struct kernel_part {
	enum owner owner;
	bool is_zswap;
	uint64_t bytes;
};

struct kernel_sum {
	uint64_t bytes;
	bool lower_bound; /* no `kernel` key before Linux 5.18 */
	bool with_slab;   /* no slab_reclaimable: what could be reclaimed is inside */
	struct qty zswap;
	struct kernel_part largest;
};

static const enum owner held_lines[] = { OWNER_KERNEL_STACKS, OWNER_PAGE_TABLES, OWNER_SLAB_UNRECLAIMABLE,
					 OWNER_PERCPU,        OWNER_VMALLOC,     OWNER_KERNEL_OTHER };

enum { HELD_LINES = sizeof held_lines / sizeof held_lines[0] };

/* False where no key of it was read. Lines that stand for this process alone, without a cgroup, are no sum. */
static bool take_kernel(const struct rule_input *input, struct kernel_sum *ret)
{
	const struct cgroup_stat *stat = &input->snapshot->cgroup.stat;
	uint64_t sum = 0;
	bool any = qty_known(stat->kernel_bytes);
	*ret = (struct kernel_sum){ .zswap = stat->zswap_bytes, .largest = { .owner = OWNER_KERNEL_OTHER } };
	uint64_t zswap = qty_or(stat->zswap_bytes, 0);
	for (size_t i = 0; i < HELD_LINES && (any || qty_known(stat->anon_bytes)); i++) {
		const struct ledger_line *line = &input->ledger->lines[held_lines[i]];
		if (!input->ledger->listed[held_lines[i]] || !qty_known(line->bytes))
			continue;
		uint64_t bytes = line->bytes.bytes;
		any = true;
		sum = sat_add(sum, bytes);
		if (held_lines[i] == OWNER_KERNEL_OTHER)
			bytes -= zswap < bytes ? zswap : bytes;
		if (bytes > ret->largest.bytes)
			ret->largest = (struct kernel_part){ held_lines[i], false, bytes };
	}
	if (qty_known(stat->kernel_bytes) && zswap > ret->largest.bytes)
		ret->largest = (struct kernel_part){ OWNER_KERNEL_OTHER, true, zswap };
	ret->lower_bound = !qty_known(stat->kernel_bytes);
	ret->with_slab = !ret->lower_bound && !qty_known(stat->slab_reclaimable_bytes);
	uint64_t slab = qty_or(stat->slab_reclaimable_bytes, 0), all = qty_or(stat->kernel_bytes, 0);
	ret->bytes = ret->lower_bound ? sum : all - (slab < all ? slab : all);
	return any;
}

/* What the largest part means, the sign, and the change. */
struct kernel_advice {
	const char *name, *sign, *change;
};

static const struct kernel_advice zswap_advice = {
	"zswap's pool", "zswap keeps swapped pages compressed in memory: then zswap of memory.stat is as large",
	"bound zswap's pool: write half of what it holds now to memory.zswap.max of the container's cgroup (systemd: MemoryZSwapMax=); the rest then goes to the swap device"
};

static const struct kernel_advice *advice_of(const struct kernel_part *part)
{
	static const struct kernel_advice table[] = {
		{ "kernel-stacks",
		  "threads: each has a kernel stack of 16 KiB, whatever its Java stack is; then kernel_stack is 16 KiB x Threads of all processes here",
		  "find the pool of threads that grows (jcmd PID Thread.print, counted by name without the number) and bound it to the number that the cores can run; threads that wait cost as much" },
		{ "page-tables",
		  "page tables: 8 bytes for each page of 4 KiB that is mapped, in every process that maps it; then VmPTE of one process, or the sum over several that share a mapping, is as large",
		  "find the process (grep VmPTE /proc/[0-9]*/status) and let it map less: one process in place of several on one mapping, RocksDB with allow_mmap_reads=false, no heap that is reserved and touched sparsely" },
		{ "slab-unreclaimable",
		  "kernel objects: sockets, epoll entries, open files, cgroups, connection tracking, or a leak of the kernel; then slabtop -o -s c on the node shows one cache far ahead",
		  "find the cache (slabtop -o -s c on the node) and close what it counts: open files and epoll entries of the process (ls /proc/PID/fd | wc -l), connections (ss -s); if nothing here counts it, take a kernel that fixes its leak" },
		{ "percpu",
		  "memory per CPU: cgroups made inside the container, eBPF maps per CPU; it grows with the CPUs of the node",
		  "remove the cgroups that were left over below the container's (rmdir of the empty ones), and the eBPF maps per CPU (bpftool map) that its tools loaded" },
		{ "vmalloc",
		  "memory by vmalloc: eBPF programs and maps, tables of netfilter; then bpftool map of the node shows it",
		  "unload the eBPF maps or programs that tools of this container loaded (bpftool map, bpftool prog on the node), or give them a smaller max_entries" },
		{ "kernel-other",
		  "kernel memory without a counter of its own: pipes, huge tables, drivers; then no key of memory.stat explains it",
		  "find it on the node (slabtop -o -s c, bpftool map, ls -l /proc/PID/fd for pipes), and end what holds it: restart the process once and see whether kernel of memory.stat is back where it began" },
	};
	if (part->is_zswap)
		return &zswap_advice;
	for (size_t i = 0; i < HELD_LINES; i++)
		if (held_lines[i] == part->owner)
			return &table[i];
	return &table[HELD_LINES - 1];
}

static void kernel_observe(const struct rule_input *input, const struct kernel_sum *k, const struct judged_limit *limit,
			   struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const char *name = advice_of(&k->largest)->name;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	finding_title(finding, "kernel memory holds %s%s of the limit of %s, most of it %s",
		      k->lower_bound ? "at least " : "", units_format(a, k->bytes), units_format(b, limit->bytes),
		      name);
	finding_observation(finding, "The kernel holds %s for the container that it cannot reclaim, %s of it %s.", a,
			    units_format(c, k->largest.bytes), name);
	if (k->lower_bound)
		finding_observation(
			finding,
			"It is a lower bound: without a kernel key (before Linux 5.18) only parts are counted.");
	if (k->with_slab)
		finding_observation(
			finding, "What of the slab could be reclaimed is inside: memory.stat has no slab_reclaimable.");
	if (qty_or(k->zswap, 0) && !k->largest.is_zswap)
		finding_observation(finding, "zswap's pool is inside with %s.", units_format(c, k->zswap.bytes));
	if (k->largest.owner == OWNER_KERNEL_STACKS && snapshot->status.n_threads.known)
		finding_observation(
			finding,
			"The JVM has %llu threads; at %d KiB each the stacks are those of %llu threads: the rest are other processes'.",
			(unsigned long long)snapshot->status.n_threads.n, KERNEL_STACK_KIB,
			(unsigned long long)(k->largest.bytes / (KERNEL_STACK_KIB << 10)));
	if (k->largest.owner == OWNER_PAGE_TABLES && qty_known(snapshot->status.vm_pte_bytes))
		finding_observation(finding, "Those of the JVM are %s (VmPTE).",
				    units_format(c, snapshot->status.vm_pte_bytes.bytes));
}

static void kernel_figures(const struct rule_input *input, const struct kernel_sum *k, const struct judged_limit *limit,
			   struct finding *finding)
{
	static const char *const names[HELD_LINES] = {
		"kernel_stacks_bytes", "page_tables_bytes", "slab_unreclaimable_bytes",
		"percpu_bytes",        "vmalloc_bytes",     "kernel_other_bytes"
	};
	finding_bytes(finding, "kernel_held_bytes", k->bytes);
	finding_bytes(finding, "limit_bytes", limit->bytes);
	for (size_t i = 0; i < HELD_LINES; i++) {
		const struct ledger_line *line = &input->ledger->lines[held_lines[i]];
		if (input->ledger->listed[held_lines[i]] && qty_known(line->bytes))
			finding_bytes(finding, names[i], line->bytes.bytes);
	}
	if (qty_known(k->zswap))
		finding_bytes(finding, "zswap_bytes", k->zswap.bytes);
	if (input->snapshot->status.n_threads.known)
		finding_figure(finding, "threads",
			       input->snapshot->status.n_threads.n <= INT64_MAX
				       ? (int64_t)input->snapshot->status.n_threads.n
				       : INT64_MAX);
}

enum rule_answer rule_kernel_memory(const struct rule_input *input, struct finding *finding)
{
	struct kernel_sum k;
	struct judged_limit limit;
	if (!take_kernel(input, &k)) {
		finding_missing_file(finding, input->snapshot, "memory.stat", not_read);
		return RULE_INCONCLUSIVE;
	}
	enum rule_answer answer =
		pass_levels(input, k.bytes, T_KERNEL_MEMORY_BYTES, T_KERNEL_MEMORY_NOTICE, &limit, finding);
	if (answer != RULE_FIRED)
		return answer;
	const struct kernel_advice *advice = advice_of(&k.largest);
	bool grave = k.bytes > judged_share(input, T_KERNEL_MEMORY_WARNING, limit.bytes);
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = (int)k.largest.owner;
	finding->excess_bytes = k.bytes;
	kernel_observe(input, &k, &limit, finding);
	finding_cause(finding, "%s", advice->sign);
	finding_cause(
		finding,
		"threads or connections that are opened and not closed: then the part rises from report to report and falls with a restart of the process");
	finding_cause(
		finding,
		"a node of many CPUs or a kernel that holds more for everybody: then every pod of the node shows as much, however small it is");
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	kernel_figures(input, &k, &limit, finding);
	finding_turn(finding, k.largest.is_zswap ? KNOB_SWAP : KNOB_APPLICATION,
		     k.largest.is_zswap ? TURN_DOWN : TURN_SET);
	finding_change(finding, "%s", advice->change);
	finding_validate(
		finding,
		"steady: kernel less slab_reclaimable of memory.stat stays below %llu MiB through a full day's peak",
		(unsigned long long)(judged_both(input, T_KERNEL_MEMORY_NOTICE, T_KERNEL_MEMORY_BYTES, limit.bytes) >>
				     20));
	finding_validate(finding, "failure: after three restarts of the job it stands where it stood after the first");
	return RULE_FIRED;
}
