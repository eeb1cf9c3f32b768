/* SPDX-License-Identifier: Apache-2.0 */
/* One finding as JSON: the same object in a report and on the wire (docs/report.schema.json, "finding"). */
#ifndef WIRE_PUT_FINDING_H
#define WIRE_PUT_FINDING_H

#include "bankfull/finding.h"
#include "data/js.h"

void put_finding(struct js_out *out, const struct finding *finding);

#endif
