/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/grow.h"

#include "rules/room.h"
#include "rules/text.h"

unsigned long long grow_mib(uint64_t bytes)
{
	return (bytes >> 20) + (bytes % (1 << 20) != 0);
}

uint64_t grow_step(uint64_t bytes)
{
	uint64_t step = room_round_up(bytes / 4);
	return step ? step : room_round_up(1);
}

bool grow_fits(const struct rule_input *input, uint64_t more)
{
	const struct ledger *ledger = input->ledger;
	uint64_t critical;
	struct qty expected = room_expected(input);
	if (ledger->limit.kind != LIMIT_SET || !qty_known(expected))
		return false;
	uint64_t left = room_levels(input, ledger->limit.bytes, &critical);
	return sat_add(sat_add(expected.bytes, more), left) <= ledger->limit.bytes;
}

const char *grow_role(const struct snapshot *snapshot)
{
	if (snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER)
		return "taskmanager";
	return snapshot->engine.kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : NULL;
}

static void grow_option(const struct snapshot *snapshot, struct finding *finding, const struct grow_part *part,
			uint64_t now, uint64_t more)
{
	const char *role = grow_role(snapshot);
	const struct qty *process = &snapshot->engine.flink.process_bytes;
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	if (qty_known(*process))
		finding_change(
			finding,
			"set %s.memory.%s to %llum (%llum more than now), and raise %s.memory.process.size to %llum and the container's memory limit by the same %llum: the heap then gives up little, for Flink shares out by fractions what is added",
			role, part->option, grow_mib(sat_add(now, more)), grow_mib(more), role,
			grow_mib(sat_add(process->bytes, more)), grow_mib(more));
	else
		finding_change(
			finding,
			"set %s.memory.%s to %llum (%llum more than now), and raise %s.memory.process.size and the container's memory limit by the same %llum: the heap then gives up little, for Flink shares out by fractions what is added",
			role, part->option, grow_mib(sat_add(now, more)), grow_mib(more), role, grow_mib(more));
}

void grow_part(const struct rule_input *input, struct finding *finding, const struct grow_part *part, uint64_t now,
	       uint64_t more)
{
	finding_turn(finding, part->knob, TURN_UP);
	if (part->option && grow_role(input->snapshot)) {
		grow_option(input->snapshot, finding, part, now, more);
		return;
	}
	if (grow_fits(input, more)) {
		finding_change(
			finding,
			"start the JVM with %s%llum (%llum more than now); the container's limit has room for it",
			part->flag, grow_mib(sat_add(now, more)), grow_mib(more));
		return;
	}
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	finding_change(
		finding,
		"start the JVM with %s%llum (%llum more than now), and raise the container's memory limit by the same %llu MiB%s",
		part->flag, grow_mib(sat_add(now, more)), grow_mib(more), grow_mib(more),
		part->knob == KNOB_HEAP ? "" : ", leaving -Xmx as it is (written out, if it is a share of the limit)");
}
