/* SPDX-License-Identifier: Apache-2.0 */
/* The faces of a report. Pure: snapshot, ledger and verdict in, bytes out. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "bankfull/finding.h"
#include "base/buf.h"
#include "base/err.h"

/* As docs/report.schema.json says: one document, unknown numbers null. */
int report_json(const struct snapshot *snapshot, const struct ledger *ledger, const struct verdict *verdict,
		struct buf *out, struct err *err) __attribute__((warn_unused_result));

/* For people, in lines of `columns`, but at least 80 and at most 100. */
int report_table(const struct snapshot *snapshot, const struct ledger *ledger, const struct verdict *verdict,
		 bool color, unsigned columns, struct buf *out, struct err *err) __attribute__((warn_unused_result));

/*
 * One picture for a ticket, 800 wide: the charge by owner against the limit, each budget against what is there, what was
 * found. SVG without script, sheet or reference; what is unread is hatched and says so.
 */
int report_svg(const struct snapshot *snapshot, const struct ledger *ledger, const struct verdict *verdict,
	       struct buf *out, struct err *err) __attribute__((warn_unused_result));

#endif
