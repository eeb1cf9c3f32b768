/* SPDX-License-Identifier: Apache-2.0 */
/* The entry every fuzz target defines: libFuzzer's own main or replay.c calls it. */
#ifndef BANKFULL_TESTS_FUZZ_H
#define BANKFULL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
