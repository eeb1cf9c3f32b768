/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/killed.h"

#include "ledger/death.h"

void killed_step(struct killed *killed, const struct cgroup_events *events, const struct ledger *ledger, bool scanned)
{
	const struct count *now = &events->oom_kill;
	if (now->known && killed->oom_kill.known && now->n > killed->oom_kill.n)
		killed->due = true;
	killed->oom_kill = *now;
	if (!scanned)
		return;
	struct qty owners[OWNER_COUNT];
	for (int i = 0; i < OWNER_COUNT; i++)
		owners[i] = ledger->lines[i].bytes;
	uint64_t fell_bytes;
	int owner = killed->due && killed->scanned ? death_owner(owners, killed->before, &fell_bytes) : -1;
	if (owner >= 0) {
		killed->known = true;
		killed->owner = (enum owner)owner;
		killed->fell_bytes = fell_bytes;
	}
	memcpy(killed->before, owners, sizeof owners);
	killed->scanned = true;
	killed->due = false;
}
