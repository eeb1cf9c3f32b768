/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing Prometheus text 0.0.4: a family's HELP and TYPE once, its series behind it. What is unread is left out: a
 * series that is not there, not a 0. Source: prometheus.io/docs/instrumenting/exposition_formats.
 */
#ifndef DATA_PROM_OUT_H
#define DATA_PROM_OUT_H

#include "base/buf.h"

#define PROM_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum prom_type { PROM_GAUGE, PROM_COUNTER };

struct prom_out {
	struct buf *buf;
	const char *name; /* of the open family */
	bool in_labels;
};

void prom_out_start(struct prom_out *out, struct buf *buf);
/* Names are literals: base units, counters end in _total. `help` is one line. */
void prom_out_family(struct prom_out *out, const char *name, enum prom_type type, const char *help);
/* Any number of labels, then the value that ends the series. */
void prom_out_label(struct prom_out *out, const char *name, const char *value);
void prom_out_u64(struct prom_out *out, uint64_t value);
void prom_out_i64(struct prom_out *out, int64_t value);
/* value / per with as many decimals as per has noughts: 12345 / 1000 is 12.345. per: a power of 10. */
void prom_out_parts(struct prom_out *out, int64_t value, uint32_t per);
/* A family of one series without labels. */
void prom_out_gauge(struct prom_out *out, const char *name, const char *help, uint64_t value);
void prom_out_counter(struct prom_out *out, const char *name, const char *help, uint64_t value);

#endif
