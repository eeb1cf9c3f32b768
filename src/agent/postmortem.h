/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a death: the body of a post-mortem's part 0, from what the agent kept. PURE. The timeline is not here:
 * the outbox adds it from the flight recorder, and outbox_recall() gives the samples that growth is measured between.
 */
#ifndef AGENT_POSTMORTEM_H
#define AGENT_POSTMORTEM_H

#include "bankfull/wire.h"
#include "base/buf.h"
#include "base/err.h"
#include "ledger/death.h"

enum {
	POSTMORTEM_SETTINGS_MAX = 24,
	POSTMORTEM_FINDINGS_MAX = 16,
	POSTMORTEM_BODY_MAX = 48 * 1024, /* a frame is 64 KiB and has a head */
};

/*
 * One life of a target, as far as another one may differ from it. Fill it while it lives (at each scan is enough) and
 * keep that of the life before: {0} is "not known", and what is not known on either side is no difference.
 */
struct postmortem_life {
	bool known;
	int pid;
	uint64_t start_ticks;
	struct limit limit;
	char image[200]; /* name or digest, where known; "" */
	char kernel[96], jdk[64], engine[32], thp[16];
	char jobs[WIRE_JOBS_MAX][64];
	size_t n_jobs;
	struct postmortem_setting {
		char key[80], value[80];
	} settings[POSTMORTEM_SETTINGS_MAX];
	size_t n_settings;
};
void postmortem_life_of(const struct snapshot *snapshot, const struct wire_subject *subject, const char *image,
			struct postmortem_life *ret_life);

struct postmortem_finding {
	char rule[48];
	enum severity severity;
	int owner; /* or -1 */
	char title[160];
	struct wall opened;
};

struct postmortem_input {
	const struct death_evidence *evidence;
	const struct death_verdict *verdict;
	const struct wire_subject *subject;
	struct wall died; /* when it was seen to be gone */
	int pid;
	uint64_t start_ticks;
	uint64_t spike_bytes; /* 0: not known */
	/* From outbox_recall(); either may be NULL. Between these growth is measured. */
	const struct wire_sample *first, *last;
	const struct ledger *ledger;               /* the last one closed, or NULL */
	uint32_t ledger_age_ms;                    /* before the death */
	const struct postmortem_finding *findings; /* open at death */
	size_t n_findings;
	struct postmortem_life life, before;
	unsigned deaths;            /* of this workload that this agent has seen, this one included; 0: not counted */
	unsigned deaths_same_owner; /* of those, with the same cause and the same owner growing; 0: not counted */
	struct str deep;            /* the last deeper reading (deep.h), JSON text; empty: none was made */
	const char *access;         /* of access-degraded: what could not be seen, or NULL */
};

/* The owner that grew most between `first` and `last`; -1: none did, or it is not known. */
int postmortem_owner(const struct wire_sample *first, const struct wire_sample *last, uint64_t *ret_grown_bytes);

/* Sets all of `part0` but head, part, parts and body; the body is appended to `body`. */
int postmortem_compose(const struct postmortem_input *input, struct wire_postmortem *part0, struct buf *body,
		       struct err *err) __attribute__((warn_unused_result));

#endif
