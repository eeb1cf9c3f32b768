/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/room.h"

#include <stdio.h>

#include "rules/text.h"

enum { MIB = 1 << 20, ROUND_BYTES = 64 * MIB };

uint64_t room_round_up(uint64_t bytes)
{
	return bytes > UINT64_MAX - ROUND_BYTES ? bytes : (bytes + ROUND_BYTES - 1) / ROUND_BYTES * ROUND_BYTES;
}

uint64_t room_levels(const struct rule_input *input, uint64_t limit, uint64_t *ret_critical)
{
	uint64_t warning = judged_share(input, T_FREEBOARD_LOW_WARNING, limit);
	uint64_t most = judged_level(input, T_FREEBOARD_LOW_WARNING_MAX);
	*ret_critical = judged_share(input, T_FREEBOARD_LOW_CRITICAL, limit);
	if (warning <= most)
		return warning;
	/* Capped, critical keeps its proportion to it: a pod of 100 GiB is warned first, too. */
	*ret_critical =
		most / judged_level(input, T_FREEBOARD_LOW_WARNING) * judged_level(input, T_FREEBOARD_LOW_CRITICAL);
	return most;
}

struct qty room_expected(const struct rule_input *input)
{
	struct qty expected = input->ledger->expected.bytes;
	if (!qty_known(expected) || !input->history || !input->history->peak_other_bytes.known)
		return expected;
	uint64_t peak = input->history->peak_other_bytes.n, scaled = sat_add(peak, peak / 10);
	for (size_t i = 0; i < input->ledger->expected.n_parts; i++) {
		const struct demand_part *part = &input->ledger->expected.parts[i];
		if ((part->owners >> OWNER_NATIVE_OTHER & 1) && scaled > part->bytes)
			expected.bytes = sat_add(expected.bytes, scaled - part->bytes);
	}
	return expected;
}

bool room_demand_is_over(const struct rule_input *input)
{
	const struct ledger *ledger = input->ledger;
	uint64_t limit = ledger->limit.bytes;
	struct qty expected = room_expected(input);
	return ledger->limit.kind == LIMIT_SET && qty_known(expected) &&
	       expected.bytes > sat_add(limit, judged_share(input, T_DEMAND_OVER_LIMIT_OVER, limit));
}

unsigned long long room_factor_hundredths(uint64_t limit, uint64_t process)
{
	unsigned __int128 hundredths = ((unsigned __int128)limit * 100 + process - 1) / process;
	return hundredths > UINT64_MAX ? UINT64_MAX : (unsigned long long)hundredths;
}

void room_raise_limit(const struct rule_input *input, const struct judged_limit *limit, struct finding *finding,
		      uint64_t wanted)
{
	char now[UNITS_TEXT_CAP], then[UNITS_TEXT_CAP];
	const struct flink_budget *flink = &input->snapshot->engine.flink;
	bool planned = qty_known(flink->process_bytes) && flink->process_bytes.bytes && !limit->is_pod;
	/* Less than what Flink shares out is no remedy, and Flink does not start with a factor below 1. */
	if (planned && wanted < flink->process_bytes.bytes)
		wanted = flink->process_bytes.bytes;
	uint64_t mib = room_round_up(wanted) / MIB;
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	(void)units_format(now, limit->bytes);
	(void)units_format(then, mib * MIB);
	if (!planned) {
		finding_change(
			finding,
			"raise %s from %s to %s (%lluMi), leaving -Xmx as it is (written out, if it is a share of the limit)",
			limit->name, now, then, (unsigned long long)mib);
		return;
	}
	const char *role = input->snapshot->engine.kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : "taskmanager";
	if (mib * MIB == flink->process_bytes.bytes) {
		finding_change(finding, "raise %s from %s to %s (%lluMi), what %s.memory.process.size shares out",
			       limit->name, now, then, (unsigned long long)mib, role);
		return;
	}
	unsigned long long factor = room_factor_hundredths(mib * MIB, flink->process_bytes.bytes);
	/* A larger process size would be shared out by fractions: heap and managed memory would take the room. */
	finding_change(
		finding,
		"raise %s from %s to %s (%lluMi) without giving Flink more to share out: leave "
		"%s.memory.process.size; on native Kubernetes set kubernetes.%s.memory.limit-factor to %llu.%02llu",
		limit->name, now, then, (unsigned long long)mib, role, role, factor / 100, factor % 100);
}

bool room_is_low(const struct rule_input *input)
{
	struct judged_limit judged;
	uint64_t critical;
	return input->ledger->freeboard_bytes.known && judged_freeboard(input, &judged) &&
	       input->ledger->freeboard_bytes.bytes < (int64_t)room_levels(input, judged.bytes, &critical);
}

bool room_is_lacking(const struct rule_input *input)
{
	return room_demand_is_over(input) || room_is_low(input);
}

const char *room_quantity(char dest[ROOM_QUANTITY_CAP], uint64_t bytes)
{
	if (bytes % MIB == 0)
		(void)snprintf(dest, ROOM_QUANTITY_CAP, "%lluMi", (unsigned long long)(bytes / MIB));
	else
		(void)snprintf(dest, ROOM_QUANTITY_CAP, "%llu", (unsigned long long)bytes);
	return dest;
}

void room_raise_request(const struct rule_input *input, struct finding *finding, const char *effect)
{
	const struct ledger *ledger = input->ledger;
	char a[ROOM_QUANTITY_CAP];
	finding_turn(finding, KNOB_MEMORY_HIGH, TURN_UP);
	if (ledger->limit.kind == LIMIT_SET) {
		finding_change(finding, "set resources.requests.memory of the container to %s, equal to its limit: %s",
			       room_quantity(a, ledger->limit.bytes), effect);
	} else if (qty_known(ledger->expected.bytes)) {
		uint64_t expected = ledger->expected.bytes.bytes;
		finding_change(
			finding,
			"set resources.requests.memory and resources.limits.memory of the container both to %s (expected demand and 5 %% more): %s",
			room_quantity(a, room_round_up(sat_add(expected, expected / 20))), effect);
	} else {
		finding_change(
			finding,
			"set resources.requests.memory of the container equal to resources.limits.memory, both to what it holds under full load: %s",
			effect);
	}
}

void room_lift_high(const struct rule_input *input, struct finding *finding)
{
	room_raise_request(
		input, finding,
		"memory.high, by the kubelet's MemoryQoS request + factor x (limit - request), is then the limit or not set; where no kubelet writes it, write max to memory.high (systemd: MemoryHigh=infinity)");
}

void room_end_swap(const struct rule_input *input, struct finding *finding, uint64_t swapped)
{
	const struct ledger *ledger = input->ledger;
	struct judged_limit limit;
	uint64_t critical;
	char a[ROOM_QUANTITY_CAP], request[64] = "its limit";
	if (judged_freeboard(input, &limit) && ledger->freeboard_bytes.known) {
		uint64_t warning = room_levels(input, limit.bytes, &critical);
		int64_t room = ledger->freeboard_bytes.bytes;
		if (room < 0 || (uint64_t)room < sat_add(swapped, warning)) {
			uint64_t held = sat_add(ledger->floor_bytes.bytes, swapped);
			room_raise_limit(input, &limit, finding, sat_add(held, sat_add(warning, warning / 4)));
			return;
		}
	}
	if (ledger->limit.kind == LIMIT_SET)
		(void)snprintf(request, sizeof request, "its limit, %s", room_quantity(a, ledger->limit.bytes));
	finding_turn(finding, KNOB_SWAP, TURN_DOWN);
	finding_change(
		finding,
		"give the container no swap: on Kubernetes set its memory request equal to %s (LimitedSwap then allots none), in Docker --memory-swap equal to --memory, in systemd MemorySwapMax=0",
		request);
}
