/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and times as people and configuration files write them. All units are binary unless the
 * name says otherwise; nothing here accepts fractions or signs.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/err.h"
#include "base/str.h"

/*
 * What a command line of ours takes: digits and an optional unit. k m g t and Ki Mi Gi Ti (with
 * or without B, any case) are 1024-based; kB MB GB TB with an explicit B and no i likewise, as
 * in Flink and Java. A bare k is 1024 too: what a Kubernetes manifest calls 4G (decimal) must be given as bytes or Gi.
 */
int units_parse(struct str text, uint64_t *ret_bytes, struct err *err) __attribute__((warn_unused_result));

/* A JVM's -Xmx and -XX:...= sizes: digits and one of k m g t (any case), 1024-based. */
bool units_parse_jvm(struct str text, uint64_t *ret_bytes);

/* Flink's MemorySize: digits, blanks, then b|bytes|k|kb|kibibytes|m|mb|mebibytes|..., any case; no unit is bytes. */
bool units_parse_flink(struct str text, uint64_t *ret_bytes);

/* A time as a configuration writes it: digits and one of ms s m h d. Without a unit it is no time. */
int units_parse_ms(struct str text, uint64_t *ret_ms, struct err *err) __attribute__((warn_unused_result));

enum { UNITS_TEXT_CAP = 24 };

/* "0 B", "512 B", "1.2 KiB", "34.0 MiB", "1.73 GiB": at most 4 significant digits. Returns dest. */
const char *units_format(char dest[UNITS_TEXT_CAP], uint64_t bytes);
const char *units_format_signed(char dest[UNITS_TEXT_CAP], int64_t bytes);

#endif
