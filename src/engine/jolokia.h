/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jolokia (JMX over HTTP as JSON): what to ask, and the same gauges and claims from its answers as from a metrics
 * page. An answer is {"request":{"mbean":...},"value":...,"status":200} or, for a wildcard, value =
 * {"<ObjectName>":{attributes}}. Nothing else of an answer is kept: attributes by allow-list, numbers only (and
 * Kafka's version).
 */
#ifndef ENGINE_JOLOKIA_H
#define ENGINE_JOLOKIA_H

#include "bankfull/engine.h"
#include "base/buf.h"
#include "engine/notes.h"

/* Paths to append to the endpoint's base URL, one GET each; answers are kept in this order. Ends with NULL. */
extern const char *const jolokia_requests[];

/*
 * Fills state->gauges, state->rocksdb, state->streams, and the version where unread. An answer with an error
 * status is noted.
 */
int jolokia_read(const struct str *answers, const char *const *whats, size_t n_answers, struct engine_state *state,
		 struct engine_notes *notes, struct err *err) __attribute__((warn_unused_result));

int jolokia_reduce(struct str answer, struct buf *ret_answer, struct err *err) __attribute__((warn_unused_result));

#endif
