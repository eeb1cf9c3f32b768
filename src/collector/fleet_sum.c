/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_sum.h"

#include "base/sat.h"

struct signed_qty fleet_freeboard_bp(const struct fleet_latest *latest)
{
	int64_t scaled;
	if (!latest->freeboard_bytes.known || latest->limit.kind != LIMIT_SET || latest->limit.bytes == 0 ||
	    latest->limit.bytes > INT64_MAX || __builtin_mul_overflow(latest->freeboard_bytes.bytes, 10000, &scaled))
		return (struct signed_qty){ 0 };
	return (struct signed_qty){ scaled / (int64_t)latest->limit.bytes, true };
}

enum severity fleet_worst(const struct fleet_findings *findings)
{
	enum severity worst = SEVERITY_NONE;
	for (size_t i = 0; i < findings->n; i++)
		if (findings->items[i].severity > worst)
			worst = findings->items[i].severity;
	return worst;
}

static void add(struct qty *sum, uint64_t *pods, struct qty part)
{
	if (!qty_known(part))
		return;
	*sum = qty_of(sat_add(sum->bytes, part.bytes), QTY_DERIVED);
	++*pods;
}

static void add_figures(struct fleet_sum *sum, const struct fleet_pod *pod)
{
	const struct fleet_latest *latest = &pod->latest;
	struct signed_qty bp = fleet_freeboard_bp(latest);
	add(&sum->limit_bytes, &sum->limit_pods,
	    latest->limit.kind == LIMIT_SET ? qty_measured(latest->limit.bytes) : (struct qty){ 0 });
	add(&sum->charge_bytes, &sum->charge_pods, latest->charge_bytes);
	add(&sum->floor_bytes, &sum->floor_pods, latest->floor_bytes);
	sum->freeboard_pods += latest->freeboard_bytes.known;
	if (latest->freeboard_bytes.known &&
	    (!sum->worst_freeboard_bytes.known || latest->freeboard_bytes.bytes < sum->worst_freeboard_bytes.bytes))
		sum->worst_freeboard_bytes = latest->freeboard_bytes;
	if (bp.known && (!sum->worst_freeboard_bp.known || bp.bytes < sum->worst_freeboard_bp.bytes)) {
		sum->worst_freeboard_bp = bp;
		sum->worst_pod = pod;
	}
}

void fleet_sum(const struct fleet_workload *workload, struct fleet_sum *sum)
{
	*sum = (struct fleet_sum){ 0 };
	for (const struct fleet_pod *pod = workload->pods; pod; pod = pod->next) {
		sum->pods++;
		sum->roles |= 1U << pod->subject.role;
		if (pod->last_postmortem.ms > sum->last_postmortem.ms)
			sum->last_postmortem = pod->last_postmortem;
		if (pod->sessions > 0) {
			sum->connected++;
			add_figures(sum, pod);
		}
		if (fleet_is_over(pod))
			continue;
		for (size_t i = 0; i < pod->findings.n; i++)
			sum->findings[pod->findings.items[i].severity]++;
		enum severity worst = fleet_worst(&pod->findings);
		if (worst > sum->worst)
			sum->worst = worst;
	}
}
