/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of JVM options that may keep their values, and what each means to struct jvm_flags. Redaction
 * (cmdline.h,
 * answer.h) and parsing (vmargs.h, vmflags.h) both go by it, so nothing is parsed that is not kept. Pure.
 */
#ifndef JVM_OPTION_H
#define JVM_OPTION_H

#include "bankfull/jvm.h"
#include "base/buf.h"

/*
 * Appends one JVM option (-X..., -XX:...) if the table has it and its value has the right shape; else appends
 * nothing: false.
 */
bool option_keep(struct str option, struct buf *out);

/* Applies one option to `flags`, later ones over earlier ones as HotSpot does. False if it is none that we use. */
bool option_apply(struct str option, struct jvm_flags *flags);

#endif
