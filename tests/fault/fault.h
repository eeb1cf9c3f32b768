/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing calls on purpose from within a test: tests/fault/fault_<module>.c is linked with the
 * wrapped calls of shim.c, arms one, runs the module, and asks what happened.  The calls of the
 * libraries are not wrapped; tests/fault/run preloads the shim and sees those too.
 */
#ifndef BANKFULL_TESTS_FAULT_H
#define BANKFULL_TESTS_FAULT_H

#include <stdint.h>

/* Makes call number `nth` (from 1) of a kind fail: alloc open stat read write fork. 0 only counts. */
void fault_arm(const char *call, uint64_t nth);

/* Of kind "alloc", while it is armed: the bytes that were asked for. */
uint64_t fault_bytes(void);

/* Ends it, and returns how many calls of the kind there were. */
uint64_t fault_disarm(void);

#endif
