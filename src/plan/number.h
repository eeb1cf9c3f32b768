/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as Flink reads them from a configuration and computes with them, to the byte: MemorySize, Integer, Float and
 * Double of its ConfigurationUtils, and MemorySize.multiply. What Java refuses is refused, with the reason in words.
 */
#ifndef PLAN_NUMBER_H
#define PLAN_NUMBER_H

#include "base/str.h"

/*
 * A value as it stands in the file. `plain`: in YAML and without quotes, so Flink's parser (YAML 1.2, core schema)
 * took what looks like a number for one: 0x10 is 16, +5 is 5, 0.4 is a double that is then narrowed.
 */
struct number_text {
	struct str text;
	bool plain;
};

/* Each: false, and `*ret_why` says what is wrong with it in words that go after "'1.5g' ". */
bool number_size(struct number_text value, uint64_t *ret_bytes, const char **ret_why);
bool number_int(struct number_text value, int32_t *ret_value, const char **ret_why);
/* A float, widened to the double that Flink goes on with: 0.4 gives 0.4000000059604645. */
bool number_float(struct number_text value, double *ret_value, const char **ret_why);
bool number_double(struct number_text value, double *ret_value, const char **ret_why);

/* YAML's null: Flink's loader does not take it as a value. */
bool number_is_null(struct number_text value);

/*
 * bytes x factor, truncated, by the decimal digits that Java prints for the factor (BigDecimal.valueOf). False: past
 * 63 bits, at which Flink throws.
 */
bool number_multiply(uint64_t bytes, double factor, uint64_t *ret_product);

#endif
