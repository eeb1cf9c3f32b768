/* SPDX-License-Identifier: Apache-2.0 */
/* Silences as JSON, as people write them and as the store and the API show them: PURE. */
#ifndef COLLECTOR_SILENCE_JSON_H
#define COLLECTOR_SILENCE_JSON_H

#include "collector/silences.h"

enum {
	SILENCE_LONGEST_DAYS = 366, /* to the same day of the next year, as in the file of an agent */
	SILENCE_ACKNOWLEDGED_MS = 24 * 3600 * 1000,
};

/*
 * The body of a request that asks for one, judged at `now`: without id, author and times of its own. USAGE or MALFORMED,
 * with one line that names the member: whoever wrote it has to mend it.
 */
int silence_parse(struct str body, struct wall now, struct silence *ret_silence, struct err *err)
	__attribute__((warn_unused_result));
/* {"kind": ..., "matchers": {...}} alone: for what would it be? */
int silence_parse_preview(struct str body, struct silence *ret_silence, struct err *err)
	__attribute__((warn_unused_result));
/* The matchers of a row of the store, which is of this kind. */
int silence_matchers_read(struct str text, enum silence_kind kind, struct silence_matchers *ret_matchers,
			  struct err *err) __attribute__((warn_unused_result));

void silence_put_matchers(struct js_out *out, const struct silence_matchers *matchers);
/* The whole of it, as the API and the audit show it. */
void silence_put(struct js_out *out, const struct silence *silence, struct wall now);

#endif
