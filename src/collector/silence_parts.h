/* SPDX-License-Identifier: Apache-2.0 */
/* Silences from inside. For src/collector/silence*.c, their tests, and what the API shows beforehand. */
#ifndef COLLECTOR_SILENCE_PARTS_H
#define COLLECTOR_SILENCE_PARTS_H

#include "collector/silences.h"

enum { SILENCE_BUCKETS = 256 };

struct silence_entry {
	struct silence silence;
	struct silence_entry *next; /* of the same bucket */
	size_t place;               /* in active[] */
	struct mono not_open_since; /* of an acknowledgement; ns 0: there is a finding, or nobody has looked */
};

struct silences {
	struct store *store;
	struct logger *log;
	struct silence_entry *active[SILENCES_ACTIVE_MAX];
	size_t n_active, n_kind[SILENCE_KIND_COUNT], n_parts; /* SILENCES_PARTS_MAX */
	struct silence_entry *buckets[SILENCE_BUCKETS]; /* by rule and namespace, "" where they are no plain names */
	uint64_t version;
};

/* PURE: does it cover what has these values, as far as `fields` (bits of enum silence_field) are concerned? */
enum { SILENCE_ALL_FIELDS = (1 << SILENCE_FIELD_COUNT) - 1 };
bool silence_covers(const struct silence_matchers *matchers, const char *const values[SILENCE_FIELD_COUNT],
		    unsigned fields);
/* Parts of all its patterns. */
size_t silence_parts(const struct silence_matchers *matchers);
bool silence_same(const struct silence_matchers *a, const struct silence_matchers *b);
void silence_values(const struct subject_view *subject, const char *rule, const char *values[SILENCE_FIELD_COUNT]);

/* The index. An entry is in it once. */
void silence_index_add(struct silences *silences, struct silence_entry *entry);
void silence_index_remove(struct silences *silences, struct silence_entry *entry);

#endif
