/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration of Flink before anything runs: its file and what --set puts in place of it. Options are looked up as
 * Flink's Configuration does: the key itself in either, then the older names that this version takes.
 */
#ifndef PLAN_DECLARED_H
#define PLAN_DECLARED_H

#include "engine/flinkconf.h"
#include "plan/number.h"

enum { DECLARED_SETS_MAX = 64, DECLARED_WHERE_CAP = 80 };

struct declared {
	const struct flinkconf *file;                   /* borrowed; NULL: none */
	struct flinkconf_entry sets[DECLARED_SETS_MAX]; /* borrowed texts; the last of a key counts */
	size_t n_sets;
	unsigned version; /* flinkkeys.h */
};

struct declared_value {
	struct number_text value;
	struct str said;                /* the key as written */
	char where[DECLARED_WHERE_CAP]; /* "config.yaml:3", "--set" */
};

/* --set KEY=VALUE. USAGE: no '=', no key, too many. */
int declared_set(struct declared *declared, const char *pair, struct err *err) __attribute__((warn_unused_result));

bool declared_has(const struct declared *declared, const char *key);
bool declared_find(const struct declared *declared, const char *key, struct declared_value *ret_value);

/*
 * The value, or `otherwise` where it is not set. USAGE says where it stands, its key and what is accepted:
 * "config.yaml:3: taskmanager.memory.process.size: '1.5g' has a fraction: ...".
 */
int declared_size(const struct declared *declared, const char *key, uint64_t otherwise, uint64_t *ret_bytes,
		  struct err *err) __attribute__((warn_unused_result));
int declared_int(const struct declared *declared, const char *key, int32_t otherwise, int32_t *ret_value,
		 struct err *err) __attribute__((warn_unused_result));
int declared_float(const struct declared *declared, const char *key, double otherwise, double *ret_value,
		   struct err *err) __attribute__((warn_unused_result));
int declared_double(const struct declared *declared, const char *key, double otherwise, double *ret_value,
		    struct err *err) __attribute__((warn_unused_result));
int declared_bool(const struct declared *declared, const char *key, bool otherwise, bool *ret_value, struct err *err)
	__attribute__((warn_unused_result));

/* "config.yaml:3", "--set", or "Flink's default" for a key that is not set. Returns dest. */
const char *declared_where(const struct declared *declared, const char *key, char dest[DECLARED_WHERE_CAP]);

/* The first key without a value: Flink does not start with such a file. 0, or USAGE. */
int declared_check_file(const struct declared *declared, struct err *err) __attribute__((warn_unused_result));

#endif
