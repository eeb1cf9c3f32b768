/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JVM options of a (redacted) command line, as the java launcher reads it (java.base/share/native/libjli/java.c):
 * options end
 * at the main class, at -jar FILE or at -m MODULE. The last of two equal options wins. Pure.
 */
#ifndef JVM_VMARGS_H
#define JVM_VMARGS_H

#include "bankfull/jvm.h"
#include "base/str.h"

struct vmargs {
	struct jvm_flags flags;
	char program[16];     /* basename of argv[0]: "java" */
	char main_class[160]; /* or module/class, or the jar's basename */
	bool is_jar;
	size_t args_at; /* where the program's own arguments start in the text; its length if there are none */
	bool is_java;   /* argv[0] is a launcher named java */
};

/* NUL-separated arguments; any bytes are taken. */
void vmargs_parse(struct str cmdline, struct vmargs *ret_args);

/* Options joined by blanks: java.rt.vmArgs, JAVA_TOOL_OPTIONS. Applied over `flags`. */
void vmargs_apply_words(struct str words, struct jvm_flags *flags);

/* The same where `words` are all options there are, whoever gave them: a heap that none of them sizes is the default. */
void vmargs_apply_all(struct str words, struct jvm_flags *flags);

#endif
