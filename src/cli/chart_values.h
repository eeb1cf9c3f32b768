/* SPDX-License-Identifier: Apache-2.0 */
/* What the values of charts/bankfull say of the sidecar, so that `bankfull inject` adds the same. */
#ifndef CLI_CHART_VALUES_H
#define CLI_CHART_VALUES_H

#include "data/yml.h"
#include "kube/inject.h"

/* Owned: chart_values_done(). */
struct chart_values {
	struct buf text;
	struct yml yml;
	char image[512], collector[512], audience[256];
	char cpu_text[32], memory_text[32];
};

/* `release`: "NAME/NAMESPACE", NULL: bankfull/bankfull. */
int chart_values_read(const char *file, const char *release, struct chart_values *ret_values, struct err *err)
	__attribute__((warn_unused_result));
void chart_values_done(struct chart_values *values);
#define auto_chart_values auto_(chart_values_done)

/* The strings stay those of `values`. */
void chart_values_fill(const struct chart_values *values, struct inject_options *options);

#endif
