/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/peers.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/limits.h"
#include "kernel/memstat.h"
#include "ledger/floor.h"
#include "sys/file.h"
#include "sys/proc.h"

enum { LOOK_EVERY_S = 30 };

void peers_done(struct peers *peers)
{
	cgpeers_done(&peers->found);
	*peers = (struct peers){ 0 };
}

static void look(struct peers *peers, int pid, struct mono now)
{
	struct err ignored;
	struct cgpeers found;
	auto_close int proc = -1;
	if (peers->pid == pid && now.ns - peers->looked.ns < LOOK_EVERY_S * UINT64_C(1000000000))
		return;
	peers->pid = pid;
	peers->looked = now;
	/* What was found before is as good as what is left of it. */
	if (proc_root_open("/proc", &proc, &ignored) < 0 || cgpeers_open(proc, pid, false, &found, &ignored) < 0)
		return;
	cgpeers_done(&peers->found);
	peers->found = found;
}

struct qty peers_floor(struct peers *peers, int pid, struct mono now)
{
	struct qty sum = { 0 };
	auto_buf struct buf text = { 0 };
	look(peers, pid, now);
	for (size_t i = 0; i < peers->found.n; i++) {
		struct err ignored;
		struct cgroup_stat stat;
		if (file_read_at(peers->found.dirfds[i], "memory.stat", LIMIT_CGROUP_FILE, &text, &ignored) < 0 ||
		    memstat_parse(buf_str(&text), &stat, &ignored) < 0)
			continue;
		struct qty floor = floor_of_stat(&stat, 0);
		if (qty_known(floor))
			sum = qty_add(qty_of(qty_or(sum, 0), QTY_INFERRED), floor);
	}
	return sum;
}
