/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding is what a good engineer would write in an incident channel: observation, competing causes
 * and what would tell them apart, the settings that matter, one bounded change, how to validate it, and
 * which inputs were missing. A rule without its inputs is inconclusive and names them.
 */
#ifndef BANKFULL_FINDING_H
#define BANKFULL_FINDING_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"

enum severity {
	SEVERITY_NONE = 0,
	SEVERITY_INFO,
	SEVERITY_NOTICE,
	SEVERITY_WARNING,
	SEVERITY_CRITICAL,
	SEVERITY_COUNT
};
extern const char *const severity_names[SEVERITY_COUNT];

/* Caps that hold the longest text a rule writes whole: tests/unit/test_rules_*.c measure it. */
enum {
	FINDING_TEXT_CAP = 640,
	FINDING_MISSING_CAP = 448,
	FINDING_LIST_MAX = 5,
	FINDING_SETTINGS_MAX = 8,
	FINDING_EVIDENCE_MAX = 12,
	FINDINGS_MAX = 48,
	FINDING_TURNS_MAX = 4,
	HEADLINE_CAP = 480
};

/* One figure the finding rests on: name and bytes (or a plain number), so that anybody can re-check it. */
struct evidence_figure {
	const char *name;
	int64_t value;
};

/*
 * What a change turns, and which way: so that a machine can see that two changes contradict each other. The text of
 * a change may turn several knobs ("raise the overhead, and process size and limit by the same").
 */
enum knob {
	KNOB_NONE = 0,
	KNOB_LIMIT,        /* the container's or the pod's memory limit */
	KNOB_PROCESS_SIZE, /* taskmanager.memory.process.size, jobmanager.memory.process.size */
	KNOB_HEAP,         /* -Xmx, MaxRAMPercentage, task.heap.size */
	KNOB_MANAGED,      /* taskmanager.memory.managed.size or .fraction */
	KNOB_OVERHEAD,     /* taskmanager.memory.jvm-overhead.* */
	KNOB_DIRECT,       /* MaxDirectMemorySize, task.off-heap.size */
	KNOB_METASPACE,    /* MaxMetaspaceSize, jvm-metaspace.size */
	KNOB_ROCKSDB_CACHE,
	KNOB_WRITE_BUFFERS,
	KNOB_ALLOCATOR,   /* jemalloc, MALLOC_ARENA_MAX */
	KNOB_MEMORY_HIGH, /* memory.high: requests and the kubelet's throttling factor */
	KNOB_SWAP,
	KNOB_HUGE_PAGES,
	KNOB_FILES,       /* what is written to tmpfs or to disk */
	KNOB_APPLICATION, /* the job, its libraries, another process */
	KNOB_VERSION,     /* upgrade the engine, the JDK, a library */
	KNOB_SIGHT,       /* metrics, NMT, access: changes what is seen, not what runs */
	KNOB_COUNT
};
extern const char *const knob_names[KNOB_COUNT];

enum turn { TURN_SET = 0, TURN_UP, TURN_DOWN, TURN_COUNT }; /* SET contradicts nothing */
extern const char *const turn_names[TURN_COUNT];

struct knob_turn {
	enum knob knob;
	enum turn turn;
};

/* When to make the change: one at a time, that of the root finding first. */
enum change_when {
	CHANGE_NOW = 0,   /* the one to make now */
	CHANGE_LATER,     /* after the one to make now has been validated */
	CHANGE_WITH_ROOT, /* none of its own: the root's change is its remedy */
	CHANGE_HELD,      /* none: it would undo another one that is advised */
	CHANGE_WHEN_COUNT
};
extern const char *const change_when_names[CHANGE_WHEN_COUNT];

struct finding {
	const char *rule; /* stable, kebab-case */
	enum severity severity;
	char title[160];
	char observation[FINDING_TEXT_CAP];
	int owner; /* enum owner, or -1: the container as a whole */
	char competing_causes[FINDING_LIST_MAX][FINDING_TEXT_CAP];
	size_t n_causes;
	struct setting effective_settings[FINDING_SETTINGS_MAX];
	size_t n_settings;
	char change[FINDING_TEXT_CAP];
	struct knob_turn turns[FINDING_TURNS_MAX]; /* what the change turns, the first one foremost */
	size_t n_turns;
	/* How many bytes this finding accounts for: among several causes of one trouble, the largest is its root. 0: not known. */
	uint64_t excess_bytes;
	char validate[FINDING_LIST_MAX][FINDING_TEXT_CAP];
	size_t n_validate;
	struct evidence_figure evidence[FINDING_EVIDENCE_MAX];
	size_t n_evidence;
	char missing[FINDING_LIST_MAX][FINDING_MISSING_CAP];
	size_t n_missing;
	/* By the ranking, not by the rule: */
	const char *root; /* the rule whose consequence this is, or NULL */
	enum change_when when;
};

/* A rule that could not be judged, and the inputs it wanted. */
struct inconclusive {
	const char *rule;
	char missing[FINDING_LIST_MAX][FINDING_MISSING_CAP];
	size_t n_missing;
};

/* A finding that somebody silenced: it is named, and why, and until when. */
struct silenced {
	const char *rule;
	enum severity severity;
	char title[160];
	const char *reason; /* the silence's, alive as long as the silences are */
	struct wall until;
};

struct verdict {
	char headline[HEADLINE_CAP]; /* one sentence to act on */
	enum severity worst;         /* of the findings that are not silenced */
	/* A root, then its consequences; roots by the gravest of each family. The first is the one to act on. */
	struct finding findings[FINDINGS_MAX];
	size_t n_findings;
	struct silenced silenced[FINDINGS_MAX];
	size_t n_silenced;
	struct inconclusive inconclusive[FINDINGS_MAX];
	size_t n_inconclusive;
};

#endif
