/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent tells of itself: what it costs, and whether what it says arrives. */
#include "agent/expose_parts.h"

static void put_seconds(struct prom_out *out, const char *name, enum prom_type type, const char *help, uint64_t ns)
{
	prom_out_family(out, name, type, help);
	prom_out_parts(out, (int64_t)(ns / 1000 & INT64_MAX), 1000000);
}

static void put_process(struct prom_out *out, const struct expose_input *in)
{
	const struct usage *usage = in->usage;
	prom_out_family(out, "bankfull_build_info", PROM_GAUGE, "The agent's version.");
	prom_out_label(out, "version", in->version);
	prom_out_u64(out, 1);
	put_seconds(out, "process_cpu_seconds_total", PROM_COUNTER, "User and system time of the agent.",
		    usage->cpu_ms * 1000000);
	expose_qty(out, "process_resident_memory_bytes", "Resident bytes of the agent.", usage->resident_bytes);
	if (usage->open_fds.known)
		prom_out_gauge(out, "process_open_fds", "Open descriptors.", usage->open_fds.n);
	if (usage->max_fds.known)
		prom_out_gauge(out, "process_max_fds", "Most descriptors that may be open.", usage->max_fds.n);
	prom_out_family(out, "process_start_time_seconds", PROM_GAUGE, "Start of the agent since 1970.");
	prom_out_parts(out, (int64_t)(in->start_ms & INT64_MAX), 1000);
}

static void put_loop(struct prom_out *out, const struct expose_input *in)
{
	prom_out_counter(out, "bankfull_agent_ticks_total", "Ticks.", in->ticks_total);
	put_seconds(out, "bankfull_agent_tick_seconds_total", PROM_COUNTER, "Time inside ticks.", in->tick_ns_total);
	put_seconds(out, "bankfull_agent_longest_tick_seconds", PROM_GAUGE, "The longest tick.", in->longest_tick_ns);
	prom_out_counter(out, "bankfull_agent_wakes_total", "Times that memory.events woke the agent.",
			 in->wakes_total);
	prom_out_gauge(out, "bankfull_agent_urgent", "1 while samples are taken each second.", in->urgent);
	prom_out_counter(out, "bankfull_agent_targets_total", "JVMs watched, one after the other.", in->lives_total);
	prom_out_counter(out, "bankfull_agent_target_deaths_total", "JVMs that ended while watched.", in->deaths_total);
	prom_out_counter(out, "bankfull_agent_cgroups_reopened_total", "Cgroups that were replaced under the target.",
			 in->reopened_total);
	prom_out_counter(out, "bankfull_agent_log_lines_suppressed_total", "Log lines left out for their number.",
			 in->log_suppressed_total);
	prom_out_gauge(out, "bankfull_agent_policy_version", "Policy of the collector in force; 0: none.",
		       in->policy_version);
	prom_out_counter(out, "bankfull_agent_policies_refused_total", "Policies that contradict themselves.",
			 in->policies_refused_total);
}

static void put_budget(struct prom_out *out, const struct budget *budget)
{
	prom_out_counter(out, "bankfull_agent_smaps_walks_total", "Scans of the target's mappings.",
			 budget->walks_total);
	put_seconds(out, "bankfull_agent_smaps_walk_seconds_total", PROM_COUNTER,
		    "Time inside the kernel's walk of the target's mappings: the stall budget spent.",
		    budget->walk_ns_total);
	put_seconds(out, "bankfull_agent_smaps_longest_walk_seconds", PROM_GAUGE, "The longest scan.",
		    budget->longest_walk_ns);
	put_seconds(out, "bankfull_agent_smaps_longest_hold_seconds", PROM_GAUGE,
		    "The longest time that the target's address space was held at once.", budget->longest_hold_ns);
	prom_out_counter(out, "bankfull_agent_smaps_throttled_total",
			 "Scans during which our own CPU quota throttled us.", budget->throttled_total);
	prom_out_family(out, "bankfull_agent_smaps_skipped_total", PROM_COUNTER, "Scans that were due and not made.");
	for (int i = BUDGET_SHARE; i < BUDGET_ANSWER_COUNT; i++) {
		prom_out_label(out, "reason", budget_answer_names[i]);
		prom_out_u64(out, budget->skipped_total[i]);
	}
}

static void put_slow(struct prom_out *out, const struct slow_counts *slow)
{
	prom_out_counter(out, "bankfull_agent_slow_readings_total", "Children that asked JVM or engine.",
			 slow->started_total);
	prom_out_counter(out, "bankfull_agent_slow_failed_total", "Of those, how many brought nothing.",
			 slow->failed_total);
	prom_out_counter(out, "bankfull_agent_slow_killed_total", "Of those, how many were ended at their deadline.",
			 slow->killed_total);
	put_seconds(out, "bankfull_agent_slow_seconds_total", PROM_COUNTER, "Time that they took.",
		    slow->ms_total * 1000000);
}

static void put_token(struct prom_out *out, struct wall expires)
{
	if (!expires.ms)
		return;
	prom_out_family(out, "bankfull_agent_token_expiry_timestamp_seconds", PROM_GAUGE,
			"When the token ends that was shown to the collector last.");
	prom_out_parts(out, expires.ms, 1000);
}

static void put_outbox(struct prom_out *out, const struct outbox_counts *counts)
{
	const struct {
		const char *name, *help;
		uint64_t value;
	} gauges[] = {
		{ "bankfull_agent_connected", "1 while a session with the collector is open.", counts->connected },
		{ "bankfull_agent_spool_on_disk", "1 while the spool is in the state directory.", counts->on_disk },
		{ "bankfull_agent_spool_messages", "Messages not acked yet.", counts->spooled_messages },
		{ "bankfull_agent_spool_bytes", "Bytes of the spool.", counts->spooled_bytes },
		{ "bankfull_agent_postmortems_unacked", "Post-mortems not acked yet.", counts->postmortems_unacked },
	};
	const struct {
		const char *name, *help;
		uint64_t value;
	} counters[] = {
		{ "bankfull_agent_samples_dropped_total", "Samples dropped from a full spool.",
		  counts->dropped_samples_total },
		{ "bankfull_agent_gaps_total", "Gaps declared.", counts->gaps_total },
		{ "bankfull_agent_messages_sent_total", "Messages sent.", counts->sent_total },
		{ "bankfull_agent_messages_resent_total", "Of those, sent again.", counts->resent_total },
		{ "bankfull_agent_messages_acked_total", "Messages acked.", counts->acked_total },
		{ "bankfull_agent_sessions_total", "Sessions with the collector.", counts->sessions_total },
		{ "bankfull_agent_connects_failed_total", "Attempts that led to no session.",
		  counts->failed_connects_total },
		{ "bankfull_agent_collector_errors_total", "Errors that the collector answered with.",
		  counts->errors_total },
		{ "bankfull_agent_state_failures_total", "Writes to the state directory that failed.",
		  counts->state_failures_total },
		{ "bankfull_agent_policy_settings_refused_total", "Settings of a policy that no collector may set.",
		  counts->policy_refused_total },
		{ "bankfull_agent_postmortems_total", "Post-mortems.", counts->postmortems_total },
	};
	for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
		prom_out_gauge(out, gauges[i].name, gauges[i].help, gauges[i].value);
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		prom_out_counter(out, counters[i].name, counters[i].help, counters[i].value);
	prom_out_family(out, "bankfull_agent_backoff_seconds", PROM_GAUGE, "Pause before the next attempt.");
	prom_out_parts(out, (int64_t)(counts->backoff_ms & INT64_MAX), 1000);
}

void expose_self(struct prom_out *out, const struct expose_input *input)
{
	put_process(out, input);
	put_loop(out, input);
	put_budget(out, input->budget);
	put_slow(out, input->slow);
	put_outbox(out, input->outbox);
	put_token(out, input->outbox->token_expires);
}
