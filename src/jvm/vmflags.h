/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VM.flags (JVMFlag::printSetFlags): "-XX:..." joined by blanks, only those that differ from the default, so an
 * absent one is
 * unread. Commands and paths may stand in them (OnOutOfMemoryError, HeapDumpPath): answer.h reduces first. Pure.
 */
#ifndef JVM_VMFLAGS_H
#define JVM_VMFLAGS_H

#include "bankfull/jvm.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Sets what the text tells in `flags` and leaves the rest: fill it from the command line first. MALFORMED: no -XX:
 * in it.
 */
int vmflags_parse(struct str text, struct jvm_flags *flags, struct err *err) __attribute__((warn_unused_result));

#endif
