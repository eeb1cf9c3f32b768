/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published leaks that this version has, judged by the condition of each: a version alone accuses nobody. Several are
 * one finding: the gravest, and the names of the others.
 */
#include <stdio.h>
#include <string.h>

#include "rules/all.h"
#include "rules/judged.h"
#include "rules/leaktable.h"
#include "rules/retained.h"
#include "rules/text.h"

enum { NAMES_CAP = 160 };

struct look {
	const struct leak *worst;
	enum leak_answer answer;
	enum severity severity;
	char others[NAMES_CAP];
};

static const char *engine_name(enum engine engine)
{
	return engine == ENGINE_KAFKA_STREAMS ? "Kafka Streams" : "Flink";
}

/*
 * Native memory that nothing explains, as native-unexplained has it, or that allocator-retention only concludes to be
 * malloc's: a leak looks like either. 0 where neither would warn.
 */
static uint64_t unexplained(const struct rule_input *input)
{
	struct finding other = { .owner = -1 };
	struct retained retained;
	if (rule_native_unexplained(input, &other) == RULE_FIRED)
		return other.severity >= SEVERITY_WARNING ? other.excess_bytes : 0;
	return retained_find(input, &retained) && !retained.is_exact ? retained.bytes : 0;
}

/* What the leak would fill is full: then it is no advice any more, but the likely cause. */
static bool shows(const struct rule_input *input, enum leak_kind kind)
{
	const struct snapshot *snapshot = input->snapshot;
	if (kind == LEAK_HEAP)
		return snapshot->perf_read && qty_known(snapshot->perf.heap_used_bytes) &&
		       qty_known(snapshot->flags.max_heap_bytes) && snapshot->flags.max_heap_bytes.bytes > 0 &&
		       snapshot->perf.heap_used_bytes.bytes >
			       judged_share(input, T_HEAP_PRESSURE_WARNING, snapshot->flags.max_heap_bytes.bytes);
	return unexplained(input) > 0;
}

static enum severity severity_of(const struct rule_input *input, const struct leak *leak, enum leak_answer answer)
{
	if (answer != LEAK_PRESENT)
		return SEVERITY_INFO;
	return shows(input, leak->kind) ? SEVERITY_WARNING : SEVERITY_NOTICE;
}

static void append(char dest[NAMES_CAP], const char *name)
{
	size_t used = strlen(dest);
	(void)snprintf(dest + used, NAMES_CAP - used, "%s%s", used ? ", " : "", name);
}

/* All rows of this version: the gravest is kept, others that hold are named, unread ones go to the missing inputs. */
static void look_at(const struct rule_input *input, const struct version *version, struct finding *finding,
		    struct look *look)
{
	for (size_t i = 0; i < leak_count; i++) {
		const struct leak *leak = &leak_table[i];
		if (!leak_covers(leak, input->snapshot->engine.kind, version))
			continue;
		enum leak_answer answer = leak->condition(input);
		if (answer == LEAK_UNREAD)
			finding_missing(finding, "%s: %s", leak->id, leak->wants);
		if (answer < LEAK_LATENT)
			continue;
		/* A vendor's patches are not Kafka's: the fix may be in. */
		if (version->own_patches)
			answer = LEAK_LATENT;
		enum severity severity = severity_of(input, leak, answer);
		bool worse = severity > look->severity;
		if (look->worst)
			append(look->others, worse ? look->worst->id : leak->id);
		if (worse) {
			look->worst = leak;
			look->answer = answer;
			look->severity = severity;
		}
	}
}

static void observe(const struct rule_input *input, const struct look *look, const struct version *version,
		    struct finding *finding)
{
	const struct leak *leak = look->worst;
	const struct engine_state *engine = &input->snapshot->engine;
	char a[UNITS_TEXT_CAP];
	finding_title(finding, "%s %s %s %s: %s", engine_name(engine->kind), engine->version,
		      look->answer == LEAK_PRESENT ? "leaks" : "can leak",
		      leak->kind == LEAK_HEAP ? "heap" : "native memory", leak->id);
	finding_observation(finding, "%s %s", leak->what,
			    look->answer == LEAK_PRESENT ? "The condition for it is met here."
							 : "Whether that happens here one reading does not show.");
	if (leak->released)
		finding_observation(finding, "Fixed in %s %s.", engine_name(engine->kind), leak->fixed_in);
	else
		finding_observation(finding, "The fix is on the way to %s %s; no release had it when this was written.",
				    engine_name(engine->kind), leak->fixed_in);
	if (version->own_patches)
		finding_observation(finding, "%s has patches of its own: ask for this one.", engine->version);
	if (version->snapshot)
		finding_observation(finding, "A snapshot may have the fix already.");
	if (look->others[0])
		finding_observation(finding, "Also in this version: %s.", look->others);
	uint64_t bytes = leak->kind == LEAK_NATIVE ? unexplained(input) : 0;
	finding->owner = leak->kind == LEAK_NATIVE               ? OWNER_NATIVE_OTHER
			 : input->ledger->listed[OWNER_ZGC_HEAP] ? OWNER_ZGC_HEAP
								 : OWNER_JAVA_HEAP;
	if (leak->kind == LEAK_NATIVE && look->severity == SEVERITY_WARNING) {
		finding->excess_bytes = bytes;
		finding_observation(finding, "%s of native memory has no other explanation.", units_format(a, bytes));
		finding_bytes(finding, "unexplained_bytes", bytes);
	}
	if (leak->kind == LEAK_HEAP && look->severity == SEVERITY_WARNING) {
		finding_observation(finding, "The heap held %s after its last collection.",
				    units_format(a, input->snapshot->perf.heap_used_bytes.bytes));
		finding_bytes(finding, "heap_used_bytes", input->snapshot->perf.heap_used_bytes.bytes);
	}
	finding_figure(finding, "condition_met", look->answer == LEAK_PRESENT);
}

static void advise(const struct rule_input *input, const struct leak *leak, struct finding *finding)
{
	const char *name = engine_name(input->snapshot->engine.kind);
	finding_cause(finding, "the leak: %s", leak->watch);
	finding_cause(finding,
		      "a leak of the application or of a library: growth then goes on when nothing restarts or moves");
	finding_cause(
		finding,
		leak->kind == LEAK_HEAP
			? "state or windows that are held on purpose: the heap after a collection then follows the number of keys"
			: "memory that malloc keeps: growth then ends by itself, and jemalloc shows less of it");
	finding_setting(finding, input->snapshot, "state.backend.type");
	finding_setting(finding, input->snapshot, "state.backend.rocksdb.manual-compaction.min-interval");
	/* The setting works today, and an upgrade is a change of everything. */
	finding_turn(finding, leak->change ? leak->knob : KNOB_VERSION, TURN_SET);
	if (leak->change)
		finding_change(finding, "%s", leak->change);
	else
		finding_change(finding, "upgrade to %s %s or a later release", name, leak->fixed_in);
	finding_validate(finding, leak->kind == LEAK_HEAP
					  ? "steady: the heap after full collections is level through a day"
					  : "steady: native-other is level through a day with the load it has now");
	finding_validate(
		finding,
		"failure: restart a job or instance five times: the same line is no higher after the fifth than after the first");
}

enum rule_answer rule_known_leak(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	struct version version;
	struct look look = { 0 };
	if (engine->kind != ENGINE_FLINK_TASKMANAGER && engine->kind != ENGINE_KAFKA_STREAMS)
		return RULE_SILENT;
	if (!version_parse(engine->version, &version)) {
		if (engine->version[0])
			finding_missing(finding, "the version of %s: \"%s\" is none", engine_name(engine->kind),
					engine->version);
		else
			finding_missing(
				finding,
				"the version of %s: no jar that is mapped has it, and no REST address was given",
				engine_name(engine->kind));
		return RULE_INCONCLUSIVE;
	}
	look_at(input, &version, finding, &look);
	if (!look.worst)
		return finding->n_missing ? RULE_INCONCLUSIVE : RULE_SILENT;
	finding->severity = look.severity;
	observe(input, &look, &version, finding);
	advise(input, look.worst, finding);
	return RULE_FIRED;
}
