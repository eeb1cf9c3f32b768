/* SPDX-License-Identifier: Apache-2.0 */
/* Writing into a finding: bounded, never past a field. Internal to src/rules. */
#ifndef RULES_TEXT_H
#define RULES_TEXT_H

#include "bankfull/finding.h"
#include "base/units.h"

#define PRINTF_LIKE(n) __attribute__((format(printf, n, n + 1)))

void finding_title(struct finding *finding, const char *format, ...) PRINTF_LIKE(2);
void finding_observation(struct finding *finding, const char *format, ...) PRINTF_LIKE(2); /* appends */
void finding_cause(struct finding *finding, const char *format, ...) PRINTF_LIKE(2);
void finding_change(struct finding *finding, const char *format, ...) PRINTF_LIKE(2);
/* What the change turns; the first call names the foremost. */
void finding_turn(struct finding *finding, enum knob knob, enum turn turn);
void finding_validate(struct finding *finding, const char *format, ...) PRINTF_LIKE(2);
void finding_missing(struct finding *finding, const char *format, ...) PRINTF_LIKE(2);
/* A file of the container's cgroup that is unread, and why: the reason of its gap, else `otherwise`. */
void finding_missing_file(struct finding *finding, const struct snapshot *snapshot, const char *file,
			  const char *otherwise);
void finding_figure(struct finding *finding, const char *name, int64_t value);
void finding_bytes(struct finding *finding, const char *name, uint64_t bytes); /* left out where i64 cannot hold it */

/* The setting of this key as it was read, if it was: what matters, with where it stands. */
void finding_setting(struct finding *finding, const struct snapshot *snapshot, const char *key);
void finding_setting_bytes(struct finding *finding, const char *key, uint64_t bytes, const char *where);

/* The owner of most bytes among those that can still grow, or -1; -1 also where neither heap nor native memory was read. */
int largest_owner(const struct ledger *ledger);

/* A line of the ledger as text: "java-heap 512.0 MiB". */
const char *owner_text(char dest[64], const struct ledger *ledger, int owner);

#endif
