/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities. Missing data is not an error, and never zero: `{0}` means "not read".
 *
 * Only bytes leave a parser: kB, pages and ticks stay inside it.
 */
#ifndef BANKFULL_QUANTITY_H
#define BANKFULL_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* In order of trust; a sum is as weak as its weakest part. */
enum qty_state {
	QTY_UNREAD = 0, /* not read: prints as "unread", null in JSON */
	QTY_MEASURED,   /* the kernel or the JVM counted exactly this */
	QTY_DERIVED,    /* exact arithmetic on measured values */
	QTY_INFERRED,   /* attribution by a rule that can err: the note says which */
	QTY_STATE_COUNT,
};

extern const char *const qty_state_names[QTY_STATE_COUNT];

struct qty {
	uint64_t bytes;
	enum qty_state state;
};

static inline struct qty qty_of(uint64_t bytes, enum qty_state state)
{
	return (struct qty){ bytes, state };
}

static inline struct qty qty_measured(uint64_t bytes)
{
	return (struct qty){ bytes, QTY_MEASURED };
}

static inline bool qty_known(struct qty q)
{
	return q.state != QTY_UNREAD;
}

/* The bytes where known, else `otherwise`: for a caller that has already decided what unread means to it. */
static inline uint64_t qty_or(struct qty q, uint64_t otherwise)
{
	return qty_known(q) ? q.bytes : otherwise;
}

/* Sum; unread if either is unread or the sum passes u64. */
struct qty qty_add(struct qty a, struct qty b);

/* a - b, 0 when b is larger; unread if either is. The caller accounts for the deficit. */
struct qty qty_sub(struct qty a, struct qty b);

/* The smaller; unread if either is. */
struct qty qty_min(struct qty a, struct qty b);

/* A signed figure that may be unknown: residuals. Never clamped. */
struct signed_qty {
	int64_t bytes;
	bool known;
};

/* A limit file holds a number or "max": no sentinel leaves the parser. */
enum limit_kind { LIMIT_UNREAD = 0, LIMIT_NONE, LIMIT_SET };

struct limit {
	uint64_t bytes; /* with LIMIT_SET only */
	enum limit_kind kind;
};

static inline struct limit limit_set(uint64_t bytes)
{
	return (struct limit){ bytes, LIMIT_SET };
}

/* A count that is no number of bytes. */
struct count {
	uint64_t n;
	bool known;
};

static inline struct count count_of(uint64_t n)
{
	return (struct count){ n, true };
}

/* A yes or no that may be unread. */
enum tristate { TRISTATE_UNREAD = 0, TRISTATE_FALSE, TRISTATE_TRUE };

/* Two clocks that cannot be mixed: passing one for the other does not compile. */
struct mono {
	uint64_t ns;
};
struct wall {
	int64_t ms; /* since 1970-01-01 UTC */
};

/* [start, end) in a process's address space. */
struct addr_range {
	uint64_t start, end;
};

#endif
