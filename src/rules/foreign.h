/* SPDX-License-Identifier: Apache-2.0 */
/* The native libraries that are neither the JDK's nor the system's: who may hold native memory nobody claims. Internal to src/rules. */
#ifndef RULES_FOREIGN_H
#define RULES_FOREIGN_H

#include "bankfull/snapshot.h"

enum { FOREIGN_MAX = 4, FOREIGN_NAME_CAP = 48, FOREIGN_TEXT_CAP = FOREIGN_MAX * (FOREIGN_NAME_CAP + 2) };

/* "libvelox.so, libzstd-jni.so": at most FOREIGN_MAX names, in the order of their addresses. Returns how many there are in all. */
size_t foreign_find(const struct snapshot *snapshot, char ret_names[FOREIGN_TEXT_CAP]);

#endif
