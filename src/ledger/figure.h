/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the books as people read them: "1.73 GiB", and what was not read says "unread". PURE; each returns dest or a literal. */
#ifndef LEDGER_FIGURE_H
#define LEDGER_FIGURE_H

#include "bankfull/quantity.h"
#include "base/units.h"

const char *figure_qty(char dest[UNITS_TEXT_CAP], struct qty qty);
const char *figure_signed(char dest[UNITS_TEXT_CAP], struct signed_qty qty);
const char *figure_limit(char dest[UNITS_TEXT_CAP], struct limit limit); /* "none" too */

#endif
