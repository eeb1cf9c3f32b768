/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we ask a JVM, the evidence name each answer is kept under, and how it is reduced before it is kept: flags
 * may carry
 * commands and paths, System.map thread names and files, NMT detail call stacks. A reducer keeps the lines its
 * parser reads and nothing else that could be a secret. Pure.
 *
 * None of these commands takes a safepoint (VM.metaspace, GC.class_histogram, Thread.print do and are not here).
 */
#ifndef JVM_ANSWER_H
#define JVM_ANSWER_H

#include "base/buf.h"
#include "base/err.h"

enum answer {
	ANSWER_VERSION,     /* VM.version */
	ANSWER_FLAGS,       /* VM.flags */
	ANSWER_HEAP_INFO,   /* GC.heap_info: waits for Heap_lock while a collection runs */
	ANSWER_CODE_CACHE,  /* Compiler.codecache */
	ANSWER_NMT,         /* VM.native_memory summary scale=b */
	ANSWER_NMT_DETAIL,  /* VM.native_memory detail scale=b: only where the level is detail */
	ANSWER_MALLOC_INFO, /* System.native_heap_info: JDK 24+ */
	ANSWER_SYSTEM_MAP,  /* System.map: JDK 24+, 30 to 80 ms, it reads smaps itself */
	ANSWER_COUNT,
};

struct answer_kind {
	const char *evidence; /* "jvm/vm_flags" */
	const char *command;
	int jdk_min; /* major version that has it */
	bool always; /* part of every report; the others are asked for where they help */
	bool (*reduce)(struct str text, struct buf *out); /* false: `out` is full */
};

extern const struct answer_kind answer_kinds[ANSWER_COUNT];

/* Appends what may be kept of the answer. LIMIT, NOMEM. What is reduced twice stays as it is. */
int answer_reduce(enum answer answer, struct str text, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

#endif
