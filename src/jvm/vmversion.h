/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VM.version (VM_Version command, hotspot/share/services/diagnosticCommand.cpp): the VM's name and build, then
 * "JDK 17.0.15". Pure.
 */
#ifndef JVM_VMVERSION_H
#define JVM_VMVERSION_H

#include "base/err.h"
#include "base/str.h"

struct vmversion {
	char vm[64];  /* "OpenJDK 64-Bit Server VM version 17.0.15+6-Debian-1deb12u1" cut to fit */
	char jdk[64]; /* "17.0.15" */
	int major;    /* 17; 8 for "8.0" and "1.8.0" */
};

/* MALFORMED: no version number. */
int vmversion_parse(struct str text, struct vmversion *ret_version, struct err *err)
	__attribute__((warn_unused_result));

/* Major version of "17.0.15+6", "25-ea", "1.8.0_402", "11.0.2"; 0 if it is none. */
int vmversion_major(struct str version);

#endif
