/* SPDX-License-Identifier: Apache-2.0 */
/* A child that maps a file named libjvm.so: a JVM, as far as anybody looks at its mappings. */
#ifndef BANKFULL_TESTS_FAKEJVM_H
#define BANKFULL_TESTS_FAKEJVM_H

#include <sys/types.h>

#include "support/scratch.h"

/* Returns once it has mapped the file, which is made in `scratch`. It dies with the test. */
pid_t fakejvm_start(const struct scratch *scratch);
/* Kills and reaps it; 0 is none. */
void fakejvm_end(pid_t *pid);

#endif
