/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus text 0.0.4 and OpenMetrics 1.0, sample by sample, with no allocation.
 *
 * Sources: prometheus.io/docs/instrumenting/exposition_formats and the OpenMetrics 1.0 text. Accepted beyond
 * them, because Flink's reporter (simpleclient 0.8) writes it: a trailing comma inside the braces and Java's
 * double notation (1.34217728E8, NaN, Infinity, -Infinity).
 *
 * Contract: input need not end in NUL; nothing past page.len is read. A bad line is skipped and counted, never
 * guessed at. A last line without its LF is a truncated one and is not a sample: its number may have lost digits.
 * Exemplars are skipped; `# EOF` ends the page. Does not group families, does not drop duplicates: whoever sums
 * must look (the same series twice with two values is no number at all).
 */
#ifndef DATA_PROM_H
#define DATA_PROM_H

#include "base/err.h"
#include "base/str.h"

enum { PROM_LABELS_MAX = 40, PROM_LINE_MAX = 64 * 1024 };

struct prom_label {
	struct str name;
	struct str value; /* as written, escapes and all: see prom_unescape() */
};

struct prom_sample {
	struct str name;
	struct prom_label labels[PROM_LABELS_MAX];
	size_t n_labels;
	struct str text; /* the value as written */
	double value;
	bool is_u64; /* whole, not negative, and within u64: then `u64` is exact */
	uint64_t u64;
	bool has_timestamp;
	double timestamp; /* ms in 0.0.4, seconds in OpenMetrics: as written */
};

enum prom_kind { PROM_END = 0, PROM_SAMPLE, PROM_COMMENT, PROM_BAD };

struct prom {
	struct str rest;
	size_t n_lines, n_samples, n_bad, first_bad_line;
	bool eof_seen;  /* OpenMetrics' own end mark */
	bool truncated; /* the last line had no LF */
	char why[96];   /* of the first bad line */
};

void prom_start(struct prom *prom, struct str page);

/* Next sample; false at the end. Views live as long as the page. */
bool prom_next(struct prom *prom, struct prom_sample *ret_sample);

/*
 * After the last sample. MALFORMED when the page was no metrics page: HTML, JSON, binary, or bad lines only. An
 * empty page is fine.
 */
int prom_end(const struct prom *prom, struct err *err) __attribute__((warn_unused_result));

/*
 * One line without its LF. COMMENT for HELP, TYPE, UNIT, EOF, blank lines; BAD says why in `ret_why` (a constant;
 * may be NULL).
 */
enum prom_kind prom_line(struct str line, struct prom_sample *ret_sample, const char **ret_why);

/* The raw value of this label; false if there is none. An empty value equals an absent label. */
bool prom_label(const struct prom_sample *sample, struct str name, struct str *ret_value);

/* \\, \" and \n undone into dest[cap], cut to fit, NUL at the end. Returns the view of it. */
struct str prom_unescape(char *dest, size_t cap, struct str raw);

/*
 * A number as Prometheus and Java write them; all of `text`. `*ret_is_u64` as in prom_sample. Integers are exact,
 * other values within one unit of the last place.
 */
bool prom_number(struct str text, double *ret_value, bool *ret_is_u64, uint64_t *ret_u64);

/*
 * What the first bytes of a body are when they are no metrics: "HTML", "JSON", "XML", "binary data"; NULL if they
 * may be metrics.
 */
const char *prom_looks_like(struct str head);

#endif
