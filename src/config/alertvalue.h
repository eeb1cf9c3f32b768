/* SPDX-License-Identifier: Apache-2.0 */
/* One value of the section `alerts`. Each USAGE says which key it is. Internal to src/config/alertconf.c. */
#ifndef CONFIG_ALERTVALUE_H
#define CONFIG_ALERTVALUE_H

#include "bankfull/finding.h"
#include "base/err.h"
#include "base/str.h"

/* "WHAT has no 'KEY'", with the nearest of `names`, which ends with NULL. */
int value_unknown(struct str key, const char *what, const char *const names[], struct err *err);
int value_text(const char *key, struct str value, char *dest, size_t cap, struct err *err)
	__attribute__((warn_unused_result));
int value_bool(const char *key, struct str value, bool *dest, struct err *err) __attribute__((warn_unused_result));
int value_ms(const char *key, struct str value, uint64_t least, uint64_t most, uint64_t *dest, struct err *err)
	__attribute__((warn_unused_result));
int value_severity(struct str value, enum severity *dest, struct err *err) __attribute__((warn_unused_result));

#endif
