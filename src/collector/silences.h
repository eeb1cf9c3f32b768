/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Silences and acknowledgements: what somebody has looked at, why, and until when. All active ones are in memory, in an
 * index by rule and namespace, so that a question costs four short lists; the store has them all, and what was done.
 *
 *   silence          covers findings by matchers, each a name or a shell pattern. One without a severity also reaches the
 *                    agents, which then do not speak of it in their logs and metrics.
 *   acknowledgement  covers one alert: cluster, namespace, workload and rule by their names, perhaps a severity. "I am at
 *                    it": it ends by itself when no such finding is open any more.
 *
 * Neither hides a finding: it is shown with who silenced it, and why. docs/silences.md says what people see of this.
 */
#ifndef COLLECTOR_SILENCES_H
#define COLLECTOR_SILENCES_H

#include "base/glob.h"
#include "collector/fleet_read.h"
#include "collector/store.h"
#include "data/js.h"
#include "sys/logger.h"

struct silences;

enum silence_kind { SILENCE_SILENCE = 0, SILENCE_ACKNOWLEDGEMENT, SILENCE_KIND_COUNT };
extern const char *const silence_kind_names[SILENCE_KIND_COUNT]; /* "silence", "acknowledgement" */

enum silence_field {
	SILENCE_CLUSTER = 0,
	SILENCE_NAMESPACE,
	SILENCE_WORKLOAD,
	SILENCE_POD,
	SILENCE_RULE,
	SILENCE_FIELD_COUNT
};
extern const char *const silence_field_names[SILENCE_FIELD_COUNT];

enum {
	SILENCES_ACTIVE_MAX = 1000, /* a list that nobody reads is as good as a rule switched off */
	/*
	 * Parts of the patterns of all that are active ("fraud-*" has two): each is compared with each finding, every two seconds.
	 * The worst that this lets in takes 0.5 ms a finding; a thousand of the worst patterns took fnmatch 300 ms.
	 */
	SILENCES_PARTS_MAX = 1000,
	SILENCE_REASON_MAX = 200, /* bytes */
	SILENCE_BODY_MAX = 16 << 10,
};

struct silence {
	int64_t id; /* the store's row; 0: not stored */
	enum silence_kind kind;
	struct silence_matchers {
		char text[SILENCE_FIELD_COUNT][WIRE_NAME_CAP];
		unsigned given;         /* bits 1 << enum silence_field; what is not given matches all */
		unsigned patterns;      /* those of them that are shell patterns; the others are names */
		enum severity severity; /* of the finding as it stands; SEVERITY_NONE: any */
		struct glob globs[SILENCE_FIELD_COUNT]; /* of those that are patterns */
	} matchers;
	char reason[SILENCE_REASON_MAX + 1], author[128];
	struct wall created, until, ended; /* ended.ms 0: active; it ends at `until` at the latest */
	char ended_by[128];                /* "expired", "resolved", or who ended it */
};

/* Who does something, for the record. */
struct deed {
	const char *who, *peer;
	struct wall at;
};

int silences_new(struct store *store, struct logger *log, struct silences **ret_silences, struct err *err)
	__attribute__((warn_unused_result));
void silences_free(struct silences *silences);

/*
 * Each is a batch of its own in the store, with its line in the audit: ingest_flush() first. USAGE: there is one of these
 * very matchers and kind already, or SILENCES_ACTIVE_MAX are active, or SILENCES_PARTS_MAX is passed; `*ret_other` is the
 * one in the way, or 0.
 */
int silences_add(struct silences *silences, const struct silence *draft, const struct deed *deed, int64_t *ret_id,
		 int64_t *ret_other, struct err *err) __attribute__((warn_unused_result));
/* Of one that is not active nothing is done. */
int silences_end(struct silences *silences, int64_t id, const struct deed *deed, struct err *err)
	__attribute__((warn_unused_result));
/* Ends what has expired, and acknowledgements of what is not open any more. */
int silences_step(struct silences *silences, const struct fleet *fleet, struct mono now, struct wall wall,
		  struct err *err) __attribute__((warn_unused_result));

/*
 * The silence of this kind that covers a finding of `rule` and `severity` about `subject`, the longest-lived of them, or
 * NULL. Borrowed until the next call that adds, ends or steps.
 */
const struct silence *silences_match(const struct silences *silences, const struct subject_view *subject,
				     const char *rule, enum severity severity, enum silence_kind kind, struct wall now);
/* The silence that covers it, or else the acknowledgement: what stands beside a finding. */
const struct silence *silences_on(const struct silences *silences, const struct subject_view *subject, const char *rule,
				  enum severity severity, struct wall now);

struct silence_alert {
	const char *cluster, *namespace_, *workload, *rule;
	enum severity severity;
};
/* The same for an alert as a whole. One that names pods never covers it: leave out its pods' findings before. */
const struct silence *silences_match_alert(const struct silences *silences, const struct silence_alert *alert,
					   enum silence_kind kind, struct wall now);

/* Another number once what the questions above answer may be another: only `now` passing `until` is not counted. */
uint64_t silences_version(const struct silences *silences);
size_t silences_active(const struct silences *silences, enum silence_kind kind);

/* All that the store has, newest first, from below `below` (0: the newest) on; false stops. */
enum silences_of { SILENCES_ALL = 0, SILENCES_ACTIVE, SILENCES_ENDED };
typedef bool silences_fn(void *context, const struct silence *silence);
int silences_each(struct silences *silences, enum silences_of which, struct wall now, int64_t below, silences_fn *fn,
		  void *context, struct err *err) __attribute__((warn_unused_result));
/* GONE: there is none of this id. */
int silences_read(struct silences *silences, int64_t id, struct silence *ret_silence, struct err *err)
	__attribute__((warn_unused_result));

/*
 * What of them reaches the agent of this subject: silences whose matchers it meets wholly, without those of a severity,
 * one for each rule that is meant. Added to `policy`, whose version is then one of its content. Past WIRE_SILENCES_MAX
 * they are left out and counted.
 */
void silences_policy(const struct silences *silences, const struct subject_view *subject, struct wall now,
		     struct wire_policy *policy, size_t *ret_left_out);

/* "silenced": {"id","kind","reason","author","until_ms"}, or null for NULL. */
void silence_put_brief(struct js_out *out, const char *key, const struct silence *silence);

#endif
