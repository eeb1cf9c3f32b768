/* SPDX-License-Identifier: Apache-2.0 */
/* Agents as they come: hellos and samples with plausible figures, by number. */
#ifndef BANKFULL_TESTS_FLEETFILL_H
#define BANKFULL_TESTS_FLEETFILL_H

#include "bankfull/wire.h"

enum { FLEETFILL_PER_WORKLOAD = 50, FLEETFILL_NAMESPACES = 20 };

#define FLEETFILL_NOW ((struct wall){ INT64_C(1764489600000) })

/* Agent n of workload job-(n / 50) in namespace team-((n / 50) % 20), on one of 400 nodes. */
void fleetfill_hello(struct wire_hello *hello, unsigned n);
/* Limit 4 GiB; freeboard shrinks with n % 50. All owners known but the allocator's, with books. */
void fleetfill_sample(struct wire_sample *sample, unsigned n);
/* An open warning `freeboard-low`, id "f-<n>". */
void fleetfill_finding(struct wire_finding *finding, unsigned n);

#endif
