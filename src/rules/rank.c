/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rank.h"

#include <string.h>

#include "rules/headline.h"

const char *const knob_names[KNOB_COUNT] = {
	"none",   "limit",      "process-size",  "heap",          "managed",   "overhead",
	"direct", "metaspace",  "rocksdb-cache", "write-buffers", "allocator", "memory-high",
	"swap",   "huge-pages", "files",         "application",   "version",   "sight",
};
const char *const turn_names[TURN_COUNT] = { "set", "up", "down" };
const char *const change_when_names[CHANGE_WHEN_COUNT] = { "now", "later", "with-root", "held" };

/*
 * Cause and effect, nearest cause first. What a container does when it is full (SYMPTOMS) can be the effect of
 * whatever fills it; why it is full is in the other rows.
 */
#define SYMPTOMS "oom-kill", "memory-high-throttling", "reclaim-thrash", "pressure-stall", "swap-in-use"
#define FULL     "freeboard-low", SYMPTOMS
/* What will be full if it goes on so is the effect of what grows. */
#define FILLS    "limit-forecast", "demand-over-limit", FULL

enum { EFFECTS_MAX = 14 };

static const struct {
	const char *cause;
	const char *effects[EFFECTS_MAX];
} causes[] = {
	{ "freeboard-low", { SYMPTOMS } },
	{ "limit-forecast", { FULL } },
	{ "native-growth", { "native-unexplained", FILLS } },
	{ "step-growth", { "native-unexplained", "native-growth", FILLS } },
	{ "metaspace-growth", { "metaspace-near-limit", FILLS } },
	{ "thread-growth", { "kernel-memory", "native-growth", FILLS } },
	{ "limit-changed", { "limit-below-process-size", FILLS } },
	{ "demand-over-limit", { "limit-forecast", FULL } },
	{ "limit-below-process-size", { FILLS } },
	{ "heap-sized-from-host", { FILLS } },
	{ "rocksdb-over-budget", { "native-unexplained", FILLS } },
	{ "rocksdb-pinned", { "rocksdb-over-budget", FILLS } },
	{ "rocksdb-unbounded", { "rocksdb-over-budget", "native-unexplained", "native-growth", FILLS } },
	{ "allocator-retention", { "native-unexplained", "native-growth", FILLS } },
	{ "native-unexplained", { FILLS } },
	{ "thp-inflation", { "native-unexplained", FILLS } },
	{ "known-leak",
	  { "native-unexplained", "allocator-retention", "heap-pressure", "native-growth", "step-growth", FILLS } },
	{ "other-process", { FILLS } },
	{ "tmpfs-charged", { FILLS } },
	{ "socket-memory", { FILLS } },
	{ "kernel-memory", { FILLS } },
	{ "dirty-cache", { "reclaim-thrash", "pressure-stall" } },
	{ "swap-in-use", { "pressure-stall" } },
	{ "memory-high-throttling", { "reclaim-thrash", "pressure-stall", "swap-in-use" } },
	{ "reclaim-thrash", { "pressure-stall" } },
	/* Both full at once have one cause, and the heap cannot be it. */
	{ "metaspace-near-limit", { "heap-pressure" } },
};

enum { CAUSE_COUNT = sizeof causes / sizeof causes[0] };

bool rank_explains(const char *a, const char *b)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (strcmp(causes[i].cause, a) != 0)
			continue;
		for (size_t e = 0; e < EFFECTS_MAX && causes[i].effects[e]; e++)
			if (strcmp(causes[i].effects[e], b) == 0)
				return true;
	}
	return false;
}

bool rank_contradicts(const struct finding *a, const struct finding *b)
{
	for (size_t i = 0; i < a->n_turns; i++)
		for (size_t j = 0; j < b->n_turns; j++)
			if (a->turns[i].knob == b->turns[j].knob && a->turns[i].turn != b->turns[j].turn &&
			    a->turns[i].turn != TURN_SET && b->turns[j].turn != TURN_SET)
				return true;
	return false;
}

/* Grave enough to be blamed: a notice explains notices, a warning explains all. */
static bool can_be_blamed(const struct finding *cause, const struct finding *effect)
{
	enum severity least = effect->severity > SEVERITY_WARNING ? SEVERITY_WARNING : effect->severity;
	return cause->severity >= least && cause->severity >= SEVERITY_NOTICE;
}

/* A leak of the heap fills no native memory, and a native one no heap. */
static bool leaks_there(const struct finding *cause, const struct finding *effect)
{
	bool of_heap = cause->owner == OWNER_JAVA_HEAP || cause->owner == OWNER_ZGC_HEAP;
	if (strcmp(cause->rule, "known-leak") != 0)
		return true;
	if (strcmp(effect->rule, "heap-pressure") == 0)
		return of_heap;
	return !of_heap ||
	       (strcmp(effect->rule, "native-unexplained") != 0 && strcmp(effect->rule, "allocator-retention") != 0 &&
		strcmp(effect->rule, "native-growth") != 0 && strcmp(effect->rule, "step-growth") != 0);
}

static bool is_native(int owner)
{
	return owner == OWNER_NATIVE_OTHER || owner == OWNER_ALLOCATOR_RETAINED || owner == OWNER_ROCKSDB_BLOCK_CACHE ||
	       owner == OWNER_ROCKSDB_MEMTABLES || owner == OWNER_ROCKSDB_TABLE_READERS;
}

/* A forecast names who fills the room: another owner is not its cause, but where the sizes do not fit in the first place. */
static bool fills_it(const struct finding *cause, const struct finding *effect)
{
	static const char *const sizes[] = { "demand-over-limit", "limit-below-process-size", "limit-changed" };
	if (strcmp(effect->rule, "limit-forecast") != 0 || cause->owner < 0 || effect->owner < 0)
		return true;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (strcmp(cause->rule, sizes[i]) == 0)
			return true;
	return cause->owner == effect->owner || (is_native(cause->owner) && is_native(effect->owner));
}

static bool stronger(const struct finding *a, const struct finding *b)
{
	if (a->severity != b->severity)
		return a->severity > b->severity;
	return a->excess_bytes > b->excess_bytes;
}

/* The nearest of the finding's causes, or NULL. */
static const struct finding *cause_of(const struct verdict *verdict, const struct finding *effect)
{
	const struct finding *best = NULL;
	for (size_t i = 0; i < verdict->n_findings; i++) {
		const struct finding *cause = &verdict->findings[i];
		if (cause != effect && rank_explains(cause->rule, effect->rule) && can_be_blamed(cause, effect) &&
		    leaks_there(cause, effect) && fills_it(cause, effect) && (!best || stronger(cause, best)))
			best = cause;
	}
	return best;
}

/* From cause to cause up to one that has none. The table has no circle; the count is for who edits it. */
static void find_root(const struct verdict *verdict, struct finding *finding)
{
	const struct finding *root = finding, *cause;
	for (size_t steps = 0; steps < verdict->n_findings && (cause = cause_of(verdict, root)); steps++)
		root = cause;
	finding->root = root == finding ? NULL : root->rule;
}

static enum severity family_severity(const struct verdict *verdict, const char *root)
{
	enum severity worst = SEVERITY_NONE;
	for (size_t i = 0; i < verdict->n_findings; i++) {
		const struct finding *f = &verdict->findings[i];
		if (strcmp(f->root ? f->root : f->rule, root) == 0 && f->severity > worst)
			worst = f->severity;
	}
	return worst;
}

struct place {
	enum severity family, own;
	uint64_t excess_bytes;
	size_t family_at, at; /* of the table: stable, and a family stays together */
	bool is_root;
};

static int compare(const struct place *x, const struct place *y)
{
	if (x->family != y->family)
		return x->family > y->family ? -1 : 1;
	if (x->family_at != y->family_at) {
		if (x->excess_bytes != y->excess_bytes)
			return x->excess_bytes > y->excess_bytes ? -1 : 1;
		return x->family_at < y->family_at ? -1 : 1;
	}
	if (x->is_root != y->is_root)
		return x->is_root ? -1 : 1;
	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Findings are 11 KiB each: cycles of the permutation, with one aside. */
static void permute(struct verdict *verdict, struct place *places)
{
	for (size_t start = 0; start < verdict->n_findings; start++) {
		if (places[start].at == start)
			continue;
		struct finding aside = verdict->findings[start];
		size_t to = start;
		for (size_t from = places[to].at; from != start; from = places[to].at) {
			verdict->findings[to] = verdict->findings[from];
			places[to].at = to;
			to = from;
		}
		verdict->findings[to] = aside;
		places[to].at = to;
	}
}

static void order(struct verdict *verdict)
{
	struct place places[FINDINGS_MAX];
	for (size_t i = 0; i < verdict->n_findings; i++) {
		const struct finding *f = &verdict->findings[i];
		const char *root = f->root ? f->root : f->rule;
		size_t root_at = (size_t)(rules_finding(verdict, root) - verdict->findings);
		places[i] = (struct place){ family_severity(verdict, root),
					    f->severity,
					    verdict->findings[root_at].excess_bytes,
					    root_at,
					    i,
					    f->root == NULL };
	}
	for (size_t i = 1; i < verdict->n_findings; i++) {
		struct place place = places[i];
		size_t to = i;
		for (; to > 0 && compare(&places[to - 1], &place) > 0; to--)
			places[to] = places[to - 1];
		places[to] = place;
	}
	permute(verdict, places);
}

/* The first finding in order that is nobody's effect and asks for something. */
static struct finding *first_root(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->n_findings; i++)
		if (!verdict->findings[i].root && verdict->findings[i].change[0])
			return &verdict->findings[i];
	return NULL;
}

static bool only_shows(const struct finding *finding)
{
	return finding->n_turns > 0 && finding->turns[0].knob == KNOB_SIGHT;
}

static bool is_pressing(const struct finding *finding)
{
	return finding->severity == SEVERITY_CRITICAL || strcmp(finding->rule, "freeboard-low") == 0;
}

/* A change that only shows more does not keep a container alive: where it is about to be full, the relief comes first. */
static struct finding *first_change(struct verdict *verdict)
{
	struct finding *root = first_root(verdict);
	if (!root || !only_shows(root))
		return root;
	for (size_t i = 0; i < verdict->n_findings; i++) {
		struct finding *f = &verdict->findings[i];
		if (f->root == root->rule && is_pressing(f) && f->change[0] && !only_shows(f))
			return f;
	}
	return root;
}

/* It would undo the change to make now, or one of a finding before it that waits. */
static bool undoes_another(const struct verdict *verdict, size_t at, const struct finding *first)
{
	const struct finding *f = &verdict->findings[at];
	if (first && rank_contradicts(first, f))
		return true;
	for (size_t i = 0; i < at; i++)
		if (verdict->findings[i].when == CHANGE_LATER && rank_contradicts(&verdict->findings[i], f))
			return true;
	return false;
}

static void choose_changes(struct verdict *verdict)
{
	const struct finding *first = first_change(verdict);
	for (size_t i = 0; i < verdict->n_findings; i++) {
		struct finding *f = &verdict->findings[i];
		if (f == first)
			f->when = CHANGE_NOW;
		else if (f->root)
			f->when = CHANGE_WITH_ROOT;
		else
			f->when = undoes_another(verdict, i, first) ? CHANGE_HELD : CHANGE_LATER;
	}
}

void rank_run(const struct rule_input *input, struct verdict *verdict)
{
	verdict->worst = SEVERITY_NONE;
	for (size_t i = 0; i < verdict->n_findings; i++) {
		find_root(verdict, &verdict->findings[i]);
		if (verdict->findings[i].severity > verdict->worst)
			verdict->worst = verdict->findings[i].severity;
	}
	order(verdict);
	choose_changes(verdict);
	headline_write(input, verdict);
}
