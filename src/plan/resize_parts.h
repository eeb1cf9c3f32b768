/* SPDX-License-Identifier: Apache-2.0 */
/* What the proposals and their ready lines share. Internal to src/plan. */
#ifndef PLAN_RESIZE_PARTS_H
#define PLAN_RESIZE_PARTS_H

#include "bankfull/ledger.h"
#include "plan/resize.h"

/* Network, and what framework and tasks have beside it: the best that is known by any reading, of the last one's sum. */
struct direct_split resize_split_direct(const struct resize_reading *readings, size_t n);

/* What is set now, with the steps before this one made. */
struct sizes {
	uint64_t bytes[RESIZE_BUDGET_COUNT];
	uint64_t process;
	struct direct_split direct;
};

/* Fragment and what to watch, of a step whose sizes are there. `sizes`: after it; what it takes direct memory from changes. */
void resize_write_step(const struct resize *resize, struct sizes *sizes, struct resize_step *step);

/* "512m", or bytes, as Flink and a JVM take it. Returns dest. */
enum { RESIZE_SIZE_CAP = 32 };
const char *resize_size_text(char dest[RESIZE_SIZE_CAP], uint64_t bytes);

/* Up to the next 16 MiB. */
uint64_t resize_round_up(uint64_t bytes);

/* `values` is sorted. False: there is not one. */
bool resize_percentiles(uint64_t *values, size_t n, struct resize_row *row);

struct qty resize_bytes(const struct js *value);
int resize_budget_find(const struct js *name); /* -1: none of these */
/* Members that `engine` of a report and of the API have alike. */
void resize_read_facts(const struct js *engine, struct engine_facts *facts);
enum state_backend resize_backend_find(const struct js *name);
/* By the configuration nobody takes managed memory. */
bool resize_managed_is_idle(const struct engine_facts *facts);
/*
 * Where nobody takes it, and Flink has given none away now, none is in use. Of another backend, or where a batch job may come,
 * a reservation of 0 says that no job runs at this moment.
 */
void resize_see_reserved(struct resize_reading *reading);
void resize_read_ledger(const struct js *ledger, struct resize_reading *reading);
/* What is set aside is known. */
bool resize_is_sized(const struct resize_reading *reading);

/* USAGE: none or too many; or they are of two engines or configurations, with both figures. */
int resize_same(const struct resize_reading *readings, const char *const *names, size_t n, struct err *err)
	__attribute__((warn_unused_result));

/* In some reading the finding is open. */
bool resize_heap_pressure(const struct resize_reading *readings, size_t n);

void resize_say(struct resize_row *row, uint64_t proposed, const char *why);

#endif
