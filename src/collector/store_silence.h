/* SPDX-License-Identifier: Apache-2.0 */
/* Silences and acknowledgements as rows. What they mean stands in silences.h; their matchers are JSON here. */
#ifndef COLLECTOR_STORE_SILENCE_H
#define COLLECTOR_STORE_SILENCE_H

#include "collector/store.h"

enum { STORE_SILENCES_MAX = 10000 }; /* ended ones that are kept; beyond it the oldest go before their year is over */

struct store_silence_row {
	int64_t row;
	unsigned kind;
	struct str matchers, reason, author; /* valid during the call */
	struct wall created, until, ended;   /* ended.ms 0: active */
	struct str ended_by;
};

/* Within a batch. `row->row`, `ended` and `ended_by` are not looked at. */
int store_silence_add(struct store *store, const struct store_silence_row *row, int64_t *ret_row, struct err *err)
	__attribute__((warn_unused_result));
/* Nothing is done to one that has ended. */
int store_silence_end(struct store *store, int64_t row, struct wall ended, const char *ended_by, struct err *err)
	__attribute__((warn_unused_result));

enum store_silences_of { STORE_SILENCES_ALL = 0, STORE_SILENCES_ACTIVE, STORE_SILENCES_ENDED };
/* Newest first; false stops. `below_row` 0: from the newest. One that is past its time at `now` is taken as ended. */
typedef bool store_silence_fn(void *context, const struct store_silence_row *row);
int store_each_silence(struct store *store, enum store_silences_of which, struct wall now, int64_t below_row,
		       size_t most, store_silence_fn *fn, void *context, struct err *err)
	__attribute__((warn_unused_result));

#endif
