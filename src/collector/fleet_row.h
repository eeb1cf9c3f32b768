/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the fleet as JSON, as docs/live.md has them. PURE. */
#ifndef COLLECTOR_FLEET_ROW_H
#define COLLECTOR_FLEET_ROW_H

#include "collector/fleet_view.h"
#include "collector/silences.h"
#include "data/js.h"

/* What a row needs beside the fleet. `silences`: or NULL. */
struct row_context {
	const struct silences *silences;
	struct wall now;
};

/* The members of a row, but for `age_ms`: that is of the moment at which it is sent. */
void fleet_put_row(struct js_out *out, const struct row_context *context, enum view_kind kind,
		   const struct view_row *row);
void fleet_put_summary(struct js_out *out, const struct view_summary *summary);
void fleet_put_facets(struct js_out *out, const struct view_facets *facets);

#endif
