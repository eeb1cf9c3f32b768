/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every configuration key of Flink, by version, as the published jars define them: flinkkeys.inc, which
 * tools/make-flink-keys writes. 1.20 and each minor version of 2.x have a column, of their newest release when it was
 * written. Keys of connectors, formats, SQL, YARN and Python are not in it.
 */
#ifndef PLAN_FLINKKEYS_H
#define PLAN_FLINKKEYS_H

#include "base/err.h"
#include "base/typo.h"

enum flinkkey_type {
	FLINKKEY_STRING = 0,
	FLINKKEY_BOOLEAN,
	FLINKKEY_DOUBLE,
	FLINKKEY_DURATION,
	FLINKKEY_ENUM,
	FLINKKEY_FLOAT,
	FLINKKEY_INTEGER,
	FLINKKEY_LIST,
	FLINKKEY_LONG,
	FLINKKEY_MAP,
	FLINKKEY_MEMORYSIZE,
};

struct flinkkey {
	const char *key;
	const char *current; /* the option this is an older name of; NULL: an option itself */
	unsigned versions;   /* a bit for each */
	enum flinkkey_type type;
};

unsigned flinkkeys_n_versions(void);
const char *flinkkeys_version(unsigned version); /* "2.3.0" */
bool flinkkeys_is_1x(unsigned version);

/* "1.20", "1.20.3", "2", "2.x", "2.3": the newest column of that line. USAGE names those there are. */
int flinkkeys_version_find(struct str said, unsigned *ret_version, struct err *err) __attribute__((warn_unused_result));

/* The row in which this version has the key: as an option before as an older name. NULL: it has it not. */
const struct flinkkey *flinkkeys_find(struct str key, unsigned version);

/* The same in any version; `*ret_version`: the newest that has it. */
const struct flinkkey *flinkkeys_find_any(struct str key, unsigned *ret_version);

/* The n-th older name that this version takes for an option, in no order of theirs. NULL: no more. */
const char *flinkkeys_older(const char *option, unsigned version, unsigned n);

/* Is it below an option that takes a map (`a.b` of `a`), or of a family whose names are made up by who runs it? */
bool flinkkeys_is_open(struct str key, unsigned version);

/* All keys of this version are offered. */
void flinkkeys_offer(struct typo *typo, unsigned version);

#endif
